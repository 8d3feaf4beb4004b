"""Where following a file begins: its top, and each function that concerns consumers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from prefetch_advisor.lint.python.module import Module

#: what stands in text that concerns consumers; the rest of a file is looked at when it is called
_EVENT = re.compile(
    r"basic_(?:qos|consume|get)\b|set_qos\b|\.(?:qos|consume|iterator|subscriber)\(|\.qos\b"
    r"|build_inbound_messages|\bConsumer\(|\.Consumer\b|basic\.get\b|await\s+[\w.]+\.get\("
    r"|RabbitBroker\(|RabbitmqBroker\(|\basync\s+for\b|method\w*[^,\n]*,\s*\w*prop|\.consume\b"
)
#: what makes or settles what such text is about
_MAKES = re.compile(
    r"\.channel\(|Connection\(|\bconnect(?:_robust)?\(|_queue\(|queue_declare|\bChannel\("
    r"|\.(?:basic_)?(?:n?ack|reject|requeue)\(|Queue\(|Executor\(|create_task|\.process\("
)
_TAKES = re.compile(r"\.(?:get|get_nowait|popleft|receive)\(")
#: names that are too common to look for those who call them
_COMMON = frozenset({"__init__", "main", "run", "start", "get", "close", "stop", "call"})
_ROUNDS = 3


@dataclass(slots=True)
class Root:
    """A function to be followed from its beginning; without one, the top of the file."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | None
    cls: ast.ClassDef | None = None
    body: list[ast.stmt] = field(default_factory=list)


def concerns(text: str) -> bool:
    """Whether there is anything to follow in a file."""
    return _EVENT.search(text) is not None


@dataclass(slots=True)
class Relevant:
    """The parts of a file that concern consumers."""

    #: where following begins
    roots: list[Root]
    #: functions, and classes with such methods, that are worth following when they are called
    nodes: set[ast.AST]


def relevant(module: Module) -> Relevant:
    """What is to be followed, the top of the file first."""
    functions = list(_functions(module))
    lines = _lines(module, _EVENT)
    chosen = {id(root.node): root for root in functions if _within(root.node, lines, module)}
    names = _names(chosen.values())
    for _ in range(_ROUNDS):
        if not names:
            break
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})\b")
        callers = _lines(module, pattern)
        lines |= callers
        added = {
            id(root.node): root
            for root in functions
            if id(root.node) not in chosen and _within(root.node, callers, module)
        }
        chosen |= added
        names = _names(added.values())
    if any(word in module.file.text for word in ("Queue(", "deque(", "memory")):
        takers = _lines(module, _TAKES)
        for root in functions:
            if id(root.node) not in chosen and _within(root.node, takers, module):
                chosen[id(root.node)] = root
    makes = _lines(module, _MAKES)
    nodes: set[ast.AST] = set()
    for root in functions:
        if root.node is not None and (
            id(root.node) in chosen or _within(root.node, makes, module)
        ):
            nodes.add(root.node)
            if root.cls is not None:
                nodes.add(root.cls)
    top = Root(None, None, _top(module, lines | makes))
    return Relevant([top, *(root for root in functions if id(root.node) in chosen)], nodes)


def _names(found: Iterable[Root]) -> set[str]:
    names = set()
    for root in found:
        if root.node is None:
            continue
        if root.node.name not in _COMMON:
            names.add(root.node.name)
        elif root.cls is not None:
            names.add(root.cls.name)
        elif root.node.name == "main":
            names.add("main")
    return names


def _functions(module: Module) -> Iterator[Root]:
    for every in module.names.values():
        for node in every:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield Root(node)
            elif isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                        yield Root(inner, node)


def _lines(module: Module, pattern: re.Pattern[str]) -> set[int]:
    if module.is_notebook:
        return set()
    text, found, line, last = module.file.text, set(), 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", last, match.start())
        last = match.start()
        found.add(line)
    if "\r" in text:  # which end lines, too, where they stand alone
        found = {module.file.place_at(match.start()).line for match in pattern.finditer(text)}
    return found


def _within(node: ast.AST | None, lines: set[int], module: Module) -> bool:
    if module.is_notebook:
        return True
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
    return any(first <= line <= last for line in lines)


def _top(module: Module, lines: set[int]) -> list[ast.stmt]:
    """Statements of the file's top that matter: functions only for their decorators."""
    if module.is_notebook:
        return module.tree.body
    found = []
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(_within(each, lines, module) for each in node.decorator_list):
                found.append(node)
        elif not isinstance(node, ast.ClassDef | ast.Import | ast.ImportFrom):
            found.append(node)
    return found
