"""Where following a file begins: its top, and each function that concerns consumers."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from prefetch_advisor.lint.python.module import Module

#: what stands in text that concerns consumers; the rest of a file is looked at when it is called.
#: Plain strings: a pattern takes ten times as long to look for
_EVENTS = (
    *("basic_qos", "basic_consume", "basic_get", "set_qos", ".qos", ".consume", ".iterator("),
    *(".subscriber(", "build_inbound_messages", "Consumer(", ".Consumer", "RabbitBroker("),
    *("RabbitmqBroker(", "async for", "basic.get("),
)
#: the same, where another word stands in that line
_EVENTS_BESIDE = ((".get(", "await "), (" prop", "method"), ("_prop", "method"))
#: what makes or settles what such text is about
_MAKES = (
    *(".channel(", "Connection(", "connect(", "connect_robust(", "_queue(", "queue_declare"),
    *("Channel(", "ack(", "reject(", "requeue(", "Queue(", "Executor(", "create_task", ".process("),
    *("Pool(",),
)
_TAKES = (".get(", ".get_nowait(", ".popleft(", ".receive(")
#: names that are too common to look for those who call them
_COMMON = frozenset({"__init__", "main", "run", "start", "get", "close", "stop", "call"})
_ROUNDS = 3


@dataclass(slots=True)
class Root:
    """A function to be followed from its beginning; without one, the top of the file."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | None
    cls: ast.ClassDef | None = None
    body: list[ast.stmt] = field(default_factory=list)
    first: int = 0
    last: int = 0
    #: it may take messages out of a buffer
    takes: bool = False


def concerns(text: str) -> bool:
    """Whether there is anything to follow in a file."""
    return any(word in text for word in _EVENTS) or any(
        one in text and other in text for one, other in _EVENTS_BESIDE
    )


@dataclass(slots=True)
class Relevant:
    """The parts of a file that concern consumers."""

    #: where following begins
    roots: list[Root]
    #: functions that are worth following when they are called
    nodes: set[ast.AST]
    #: those that are not
    others: set[ast.AST] = field(default_factory=set)


def relevant(module: Module) -> Relevant:
    """What is to be followed, the top of the file first."""
    functions = sorted(_functions(module), key=lambda root: root.first)
    lines = _lines(module, _EVENTS) | _lines_beside(module)
    chosen = _chosen(module, functions, lines)
    names = _names(chosen.values())
    for _ in range(_ROUNDS):
        if not names:
            break
        callers = _lines(module, names)
        lines |= callers
        added = {
            key: root
            for key, root in _chosen(module, functions, callers).items()
            if key not in chosen
        }
        chosen |= added
        names = _names(added.values())
    if any(word in module.file.text for word in ("Queue(", "deque(", "memory")):
        takers = _chosen(module, functions, _lines(module, _TAKES))
        for root in takers.values():
            root.takes = True
        chosen |= takers
    nodes: set[ast.AST] = set()
    for root in chosen.values():
        if root.node is not None:
            nodes.add(root.node)
    top = Root(None, None, _top(module, sorted(lines)))
    return Relevant([top, *(root for root in functions if id(root.node) in chosen)], nodes)


def makes(module: Module, node: ast.AST) -> bool:
    """Whether a function makes or settles what consumers are about."""
    if module.is_notebook:
        return True
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    text = "\n".join(module.file.lines[first - 1 : last])
    return any(word in text for word in _MAKES)


def _chosen(module: Module, functions: Sequence[Root], lines: set[int]) -> dict[int, Root]:
    """The functions that have one of these lines, by id of their node."""
    if module.is_notebook:
        return {id(root.node): root for root in functions}
    found: dict[int, Root] = {}
    firsts = [root.first for root in functions]
    for line in lines:
        at = bisect_right(firsts, line) - 1
        if at >= 0 and line <= functions[at].last:
            found[id(functions[at].node)] = functions[at]
    return found


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
                yield Root(node, None, [], node.lineno, node.end_lineno or 0)
            elif isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                        yield Root(inner, node, [], inner.lineno, inner.end_lineno or 0)


def _lines(module: Module, words: Iterable[str]) -> set[int]:
    """Lines in which one of these words stands."""
    return _numbers(module, (at for word in words for at in _places(module.file.text, word)))


def _numbers(module: Module, offsets: Iterable[int]) -> set[int]:
    text = module.file.text
    if "\r" in text:  # which ends lines, too, where it stands alone
        return {module.file.place_at(at).line for at in offsets}
    found, line, last = set(), 1, 0
    for at in sorted(offsets):
        line += text.count("\n", last, at)
        last = at
        found.add(line)
    return found


def _places(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _lines_beside(module: Module) -> set[int]:
    """Lines in which two words stand."""
    text = module.file.text
    found = set[int]()
    for word, other in _EVENTS_BESIDE:
        if other in text and word in text:
            numbers = _numbers(module, _places(text, word))
            found |= {number for number in numbers if other in module.file.lines[number - 1]}
    return found


def _within(node: ast.AST | None, lines: list[int], module: Module) -> bool:
    """Whether one of these lines, which are in order, is the node's."""
    if module.is_notebook:
        return True
    at = bisect_left(lines, getattr(node, "lineno", 0))
    return at < len(lines) and lines[at] <= (getattr(node, "end_lineno", 0) or 0)


def _top(module: Module, lines: list[int]) -> list[ast.stmt]:
    """Statements of the file's top that matter: functions only for their decorators."""
    if module.is_notebook:
        return module.tree.body
    found: list[ast.stmt] = []
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(_within(each, lines, module) for each in node.decorator_list):
                found.append(node)
        elif not isinstance(node, ast.ClassDef | ast.Import | ast.ImportFrom):
            found.append(node)
    return found
