"""What the calls in a Python file say of Celery: apps, their settings, tasks, delayed calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from prefetch_advisor.lint.kinds.celery import names
from prefetch_advisor.lint.kinds.celery.command_line import workers_of
from prefetch_advisor.lint.kinds.celery.facts import (
    UNKNOWN,
    CeleryApp,
    CeleryTask,
    DelayedCall,
    Form,
    Loads,
    QuorumQueue,
    Variable,
)
from prefetch_advisor.lint.kinds.celery.python_file import Source
from prefetch_advisor.lint.kinds.celery.shell_words import Word
from prefetch_advisor.lint.kinds.celery.values import Values, last_name
from prefetch_advisor.model.lint import Located, Place

#: what stands below these may or may not happen
_BRANCHES = (
    *(ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.IfExp, ast.BoolOp, ast.Match),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda),
)
_SENDERS = {"apply_async", "send_task", "retry", "set", "signature", "subtask"}
_DELAYS = ("countdown", "eta")
_DECORATORS = {"task", "shared_task", "periodic_task"}


class Calls:
    """One pass over a file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._values: Values = source.values
        self._classes = {n.name for n in source.nodes if isinstance(n, ast.ClassDef)}
        self._modules = dict(_imported(source.nodes))
        self._app: Place | None = None
        self._made = False
        self._closed = True
        self._loads: list[Loads] = []
        self._mappings: set[int] = set()

    def facts(self) -> Iterator[object]:
        """In the order of the text, the app last."""
        waiting: list[tuple[ast.AST, bool]] = [(self._source.tree, False)]
        while waiting:
            node, branched = waiting.pop()
            yield from self._of(node, branched)
            below = branched or isinstance(node, _BRANCHES)
            waiting += [(child, below) for child in reversed(list(ast.iter_child_nodes(node)))]
        if self._app is not None:
            yield CeleryApp(self._app, self._made, tuple(self._loads), self._closed)

    def _of(self, node: ast.AST, branched: bool) -> Iterator[object]:
        if isinstance(node, ast.Call):
            yield from self._call(node, branched)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                yield from self._target(target, node.value, branched)
        elif isinstance(node, ast.Dict):
            yield from self._mapping(node, branched, only_own=True)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                yield from self._task(node.name, decorator)
        elif isinstance(node, ast.ClassDef):
            yield from self._class(node)

    # settings on the app

    def _set(self, name: str, value: ast.expr, branched: bool) -> Iterator[object]:
        yield from (
            self._source.said(name, value, value, Form.APP)
            if not branched
            else (self._source.said(name, value, None, Form.APP))
        )

    def _target(self, target: ast.expr, value: ast.expr, branched: bool) -> Iterator[object]:
        name = ""
        if isinstance(target, ast.Attribute) and _is_conf(target.value):
            name = target.attr
        elif isinstance(target, ast.Subscript):
            key = target.slice.value if isinstance(target.slice, ast.Constant) else None
            if _is_conf(target.value) and isinstance(key, str):
                name = key
            elif last_name(target.value) == "environ" and isinstance(key, str):
                yield from self._variable(key, value, branched)
        if names.app_setting(name):
            self._configured(target)
            yield from self._set(name, value, branched)

    def _variable(self, name: str, value: ast.expr, branched: bool) -> Iterator[object]:
        if name.lower().startswith("dramatiq_"):
            known = UNKNOWN if branched else self._values.of(value)
            text = known if isinstance(known, str) else None
            yield Variable(name, Located(text, self._source.place(value)))

    def _mapping(
        self, node: ast.expr | None, branched: bool, only_own: bool = False
    ) -> Iterator[object]:
        """Settings in a mapping that is written out; with ``only_own`` if it is one of Celery's."""
        items: list[tuple[str, ast.expr]] = []
        if isinstance(node, ast.Dict):
            items = [
                (key.value, value)
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            ]
        elif isinstance(node, ast.Call):
            items = [(each.arg, each.value) for each in node.keywords if each.arg]
        if node is None or id(node) in self._mappings:
            return
        if only_own and not any(names.distinctive(key) and key.islower() for key, _ in items):
            if isinstance(node, ast.Dict):
                yield from self._quorum_argument(node, items)
            return
        self._mappings.add(id(node))
        for key, value in items:
            if names.app_setting(key):
                yield from self._set(key, value, branched)

    def _quorum_argument(
        self, node: ast.Dict, items: list[tuple[str, ast.expr]]
    ) -> Iterator[object]:
        """A queue that is written as a mapping in ``task_queues``."""
        for key, value in items:
            if key == "queue_arguments" and self._is_quorum(value):
                kind = dict(items).get("exchange_type")
                known = self._values.of(kind) if kind is not None else ""
                yield QuorumQueue(
                    self._source.place(value), known if isinstance(known, str) else None
                )

    def _configured(self, node: ast.AST, made: bool = False) -> None:
        if self._app is None or (made and not self._made):
            self._app = self._source.place(node)
        self._made = self._made or made

    # calls

    def _call(self, node: ast.Call, branched: bool) -> Iterator[object]:
        name = last_name(node.func)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "Celery" and self._source.celery:
            yield from self._celery(node, branched)
        elif name in ("update", "add_defaults") and _is_conf(owner):
            yield from self._update(node, branched)
        elif name in ("config_from_object", "config_from_envvar"):
            self._configured(node)
            self._loads.append(self._load(node) if name.endswith("object") else Loads(None, None))
        elif name == "dict":
            yield from self._mapping(node, branched, only_own=True)
        elif name == "Queue":
            yield from self._queue(node)
        elif name == "setdefault" and last_name(owner or node) == "environ" and len(node.args) == 2:
            key = self._values.of(node.args[0])
            if isinstance(key, str):
                yield from self._variable(key, node.args[1], branched)
        elif name in ("worker_main", "start") and owner is not None:
            yield from self._worker(node)
        elif name in _SENDERS and owner is not None:
            yield from self._delayed(node)

    def _worker(self, node: ast.Call) -> Iterator[object]:
        """``app.worker_main([...])`` and ``app.start([...])`` take a command line."""
        given = [*node.args, *(each.value for each in node.keywords if each.arg == "argv")]
        line = self._values.expression(given[0]) if len(given) == 1 else None
        if not isinstance(line, ast.List | ast.Tuple):
            return
        words = [Word("celery", self._source.place(node))]
        for each in line.elts:
            text = self._values.of(each)
            known = isinstance(text, str)
            words.append(Word(str(text) if known else "", self._source.place(each), known))
        yield from workers_of(words, last_name(node.func))

    def _celery(self, node: ast.Call, branched: bool) -> Iterator[object]:
        self._configured(node, made=True)
        for each in node.keywords:
            if each.arg is None:
                self._closed = False
            elif each.arg == "broker":
                yield from self._source.said("broker_url", each.value, each.value, Form.APP)
            elif each.arg == "changes":
                yield from self._mapping(self._values.expression(each.value), branched)
            elif each.arg == "config_source":
                self._loads.append(self._source_of(each.value, ""))
            elif names.app_setting(each.arg):
                yield from self._set(each.arg, each.value, branched)

    def _update(self, node: ast.Call, branched: bool) -> Iterator[object]:
        self._configured(node)
        for each in node.keywords:
            if each.arg is None:
                yield from self._whole(each.value, branched)
            elif names.app_setting(each.arg):
                yield from self._set(each.arg, each.value, branched)
        for argument in node.args:
            yield from self._whole(argument, branched)

    def _whole(self, node: ast.expr, branched: bool) -> Iterator[object]:
        """A mapping that is given to the app as a whole."""
        mapping = self._values.expression(node)
        written = isinstance(mapping, ast.Dict) and None not in mapping.keys
        called = isinstance(mapping, ast.Call) and last_name(mapping.func) == "dict"
        if not written and not called:
            self._closed = False
        yield from self._mapping(mapping, branched)

    def _load(self, node: ast.Call) -> Loads:
        arguments = {each.arg: each.value for each in node.keywords if each.arg}
        source = node.args[0] if node.args else arguments.get("obj")
        named = node.args[3] if len(node.args) > 3 else arguments.get("namespace")
        known = self._values.of(named) if named is not None else ""
        return self._source_of(source, known if isinstance(known, str) else None)

    def _source_of(self, node: ast.expr | None, namespace: str | None) -> Loads:
        if isinstance(node, ast.Name) and node.id in self._classes:
            return Loads(f":{node.id}", namespace)
        if isinstance(node, ast.Name) and node.id in self._modules:
            return Loads(self._modules[node.id], namespace)
        value = self._values.of(node)
        return Loads(value if isinstance(value, str) else None, namespace)

    def _queue(self, node: ast.Call) -> Iterator[object]:
        arguments = {each.arg: each.value for each in node.keywords if each.arg}
        if not self._source.celery or not self._is_quorum(arguments.get("queue_arguments")):
            return
        exchange = node.args[1] if len(node.args) > 1 else arguments.get("exchange")
        yield QuorumQueue(self._source.place(node), self._exchange_type(exchange))

    def _is_quorum(self, node: ast.expr | None) -> bool:
        mapping = self._values.expression(node)
        return isinstance(mapping, ast.Dict) and any(
            isinstance(key, ast.Constant)
            and key.value == "x-queue-type"
            and self._values.of(value) == "quorum"
            for key, value in zip(mapping.keys, mapping.values, strict=True)
        )

    def _exchange_type(self, node: ast.expr | None) -> str | None:
        """Empty for no exchange, ``None`` for one that is not known."""
        if node is None:
            return ""
        exchange = self._values.expression(node)
        if not isinstance(exchange, ast.Call) or last_name(exchange.func) != "Exchange":
            return None
        arguments = {each.arg: each.value for each in exchange.keywords}
        kind = exchange.args[1] if len(exchange.args) > 1 else arguments.get("type")
        known = self._values.of(kind) if kind is not None else "direct"
        return known if isinstance(known, str) and None not in arguments else None

    # tasks

    def _delayed(self, node: ast.Call) -> Iterator[object]:
        for each in node.keywords:
            if each.arg in _DELAYS and self._values.of(each.value) not in (None, 0):
                yield DelayedCall(self._source.place(each.value), each.arg)
                return

    def _task(self, name: str, decorator: ast.expr) -> Iterator[object]:
        if isinstance(decorator, ast.Call) and last_name(decorator.func) in _DECORATORS:
            options = {each.arg: each.value for each in decorator.keywords if each.arg}
            yield from self._options(name, decorator, options)

    def _class(self, node: ast.ClassDef) -> Iterator[object]:
        if any(last_name(base).endswith("Task") for base in node.bases):
            options = {
                target.id: statement.value
                for statement in node.body
                if isinstance(statement, ast.Assign)
                for target in statement.targets
                if isinstance(target, ast.Name)
            }
            yield from self._options(node.name, node, options)

    def _options(
        self, name: str, node: ast.AST, options: dict[str, ast.expr]
    ) -> Iterator[CeleryTask]:
        late = self._number(options.get("acks_late"))
        soft, hard = (self._number(options.get(f"{key}time_limit")) for key in ("soft_", ""))
        if late or soft or hard:
            acks_late = Located(bool(late.value), late.place) if late else None
            yield CeleryTask(name, self._source.place(node), acks_late, soft or hard)

    def _number(self, node: ast.expr | None) -> Located[float] | None:
        value = self._values.of(node)
        if node is None or not isinstance(value, int | float):
            return None
        return Located(float(value), self._source.place(node))


def _is_conf(node: ast.AST | None) -> bool:
    """``app.conf``, whatever the app is called."""
    return isinstance(node, ast.Attribute) and node.attr == "conf"


def _imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Names that imports bind, with what may be their module's dotted name."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0], alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module = f"{node.module}.{alias.name}" if node.module else alias.name
                yield alias.asname or alias.name, module
