"""Where following a file begins: its top, and each function that concerns consumers."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from prefetch_advisor.lint.python.module import Module

#: what stands in text that concerns consumers; the rest of a file is looked at when it is called.
#: Few plain strings: a pattern takes ten times as long to look for, and every string counts
_EVENTS = (
    *("qos", "onsume", "basic_get", ".iterator(", ".subscriber(", "build_inbound_messages"),
    *("Broker(", "async for", "basic.get("),
)
#: what must stand before some of these
_BEFORE = {"onsume": (".c", "_c", "C"), "qos": (".", "_")}
#: the same, where another word stands in that line
_EVENTS_BESIDE = ((".get(", "await "), ("prop", "method"))
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
    #: it may take messages out of a buffer
    takes: bool = False


def concerns(text: str) -> bool:
    """Whether there is anything to follow in a file."""
    return any(word in text for word in _EVENTS) or any(
        one in text and other in text for one, other in _EVENTS_BESIDE
    )


_Function = tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.ClassDef | None]


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
    functions = list(_functions(module))
    firsts = [node.lineno for node, _ in functions]
    lines = _lines(module, _EVENTS) | _lines_beside(module)
    chosen = _chosen(module, functions, firsts, lines)
    names = _names(chosen.values())
    for _ in range(_ROUNDS):
        if not names:
            break
        callers = _lines(module, names)
        lines |= callers
        added = {
            key: root
            for key, root in _chosen(module, functions, firsts, callers).items()
            if key not in chosen
        }
        chosen |= added
        names = _names(added.values())
    if any(word in module.file.text for word in ("Queue(", "deque(", "memory")):
        for number, root in _chosen(module, functions, firsts, _lines(module, _TAKES)).items():
            chosen.setdefault(number, root).takes = True
    nodes: set[ast.AST] = set()
    for root in chosen.values():
        if root.node is not None:
            nodes.add(root.node)
    top = Root(None, None, _top(module, sorted(lines)))
    return Relevant([top, *(chosen[number] for number in sorted(chosen))], nodes)


def makes(module: Module, node: ast.AST) -> bool:
    """Whether a function makes or settles what consumers are about."""
    if module.is_notebook:
        return True
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    text = "\n".join(module.file.lines[first - 1 : last])
    return any(word in text for word in _MAKES)


def _chosen(
    module: Module, functions: Sequence[_Function], firsts: Sequence[int], lines: set[int]
) -> dict[int, Root]:
    """The functions that have one of these lines, by their number."""
    if module.is_notebook:
        return {number: Root(*each) for number, each in enumerate(functions)}
    found: dict[int, Root] = {}
    for line in sorted(lines):
        at = bisect_right(firsts, line) - 1
        if at >= 0 and at not in found and line <= (functions[at][0].end_lineno or 0):
            found[at] = Root(*functions[at])
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


def _functions(module: Module) -> Iterator[_Function]:
    """Those of the top level and of its classes, in the order of the text."""
    for node in module.definitions:
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield inner, node
        else:
            yield node, None


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
    before = _BEFORE.get(word)
    at = text.find(word)
    while at >= 0:
        if before is None or text.endswith(before, 0, at):
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
