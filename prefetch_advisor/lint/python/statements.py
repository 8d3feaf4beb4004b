"""Statements, one after the other, with the ways that lead out of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from prefetch_advisor.lint.python import batches, decorators, deliveries
from prefetch_advisor.lint.python.expressions import bind, closure_of, element
from prefetch_advisor.lint.python.machine import Frame, Machine, Paths, TooLong
from prefetch_advisor.lint.python.module import bindings
from prefetch_advisor.lint.python.names import imported
from prefetch_advisor.lint.python.values import (
    TAG,
    UNKNOWN,
    Class,
    Const,
    Func,
    Instance,
    Kind,
    Obj,
    Ref,
    Unknown,
    Value,
    carried,
    constant,
    taint,
)

_BROAD = frozenset({"Exception", "BaseException"})


def execute(m: Machine, body: Sequence[ast.stmt], frame: Frame) -> None:
    """Follow statements until none can be reached."""
    for node in body:
        if not m.paths:
            return
        m.left -= 1
        if m.left < 0:
            raise TooLong
        found = _STATEMENTS.get(type(node))
        if found is not None:
            found(m, node, frame)


def _expression(m: Machine, node: ast.Expr, frame: Frame) -> None:
    m.evaluate(node.value, frame)


def _assign(m: Machine, node: ast.Assign, frame: Frame) -> None:
    value = m.evaluate(node.value, frame)
    for target in node.targets:
        bind(m, target, value, frame)


def _annotated(m: Machine, node: ast.AnnAssign, frame: Frame) -> None:
    if node.value is not None:
        bind(m, node.target, m.evaluate(node.value, frame), frame)


def _augmented(m: Machine, node: ast.AugAssign, frame: Frame) -> None:
    parts = taint(m.evaluate(node.value, frame))
    batches.collected(m, node, parts)
    if isinstance(node.target, ast.Name):
        frame.env[node.target.id] = Unknown(None, parts)
    elif isinstance(node.target, ast.Attribute):
        bind(m, node.target, UNKNOWN, frame)


def _return(m: Machine, node: ast.Return, frame: Frame) -> None:
    value = m.evaluate(node.value, frame) if node.value is not None else UNKNOWN
    frame.returned.append(value)
    if len(m.active) <= 1 and not (frame.func and frame.func.name == "get_consumers"):
        m.escape(value)
    m.leave("return")


def _raise(m: Machine, node: ast.Raise, frame: Frame) -> None:
    m.evaluate(node.exc, frame)
    m.leave("raise")


def _jump(kind: str) -> Callable[[Machine, ast.stmt, Frame], None]:
    return lambda m, node, frame: m.leave(kind)


def _function(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
    owner = frame.func.owner if frame.func else None
    func = Func(node, frame.module, owner, frame.instance, closure_of(frame))
    for decorator in node.decorator_list:
        if decorators.name_of(decorator) not in decorators.PLAIN:
            deliveries.decorated(m, m.evaluate(decorator, frame), func, frame)
    frame.env[node.name] = decorators.applied(m, func, frame)


def _class(m: Machine, node: ast.ClassDef, frame: Frame) -> None:
    frame.env[node.name] = Class(node, frame.module)


def _import(m: Machine, node: ast.Import | ast.ImportFrom, frame: Frame) -> None:
    for name, source in bindings([node]):
        if isinstance(source, tuple):
            frame.env[name] = imported(m, frame.module, source)


def _global(m: Machine, node: ast.Global, frame: Frame) -> None:
    frame.shared.update(node.names)


def _if(m: Machine, node: ast.If, frame: Frame) -> None:
    m.evaluate(node.test, frame)
    waits = batches.waits_for(m, node, frame)
    known = constant(m.evaluate(node.test, frame)) if isinstance(node.test, ast.Name) else UNKNOWN
    arms = [node.body, node.orelse]
    if isinstance(known, bool):
        arms = [node.body] if known else [node.orelse]
    before = len(m.doing.ops)
    _arms(m, arms, frame)
    batches.acked(m, node, waits, before)


def _arms(m: Machine, arms: Sequence[Sequence[ast.stmt]], frame: Frame) -> None:
    """Follow each of several ways; afterwards what they have in common is known."""
    branch = m.branch()
    start, env = m.paths, frame.env
    ends: list[tuple[Paths, dict[str, Value]]] = []
    for number, arm in enumerate(arms):
        m.paths, frame.env = set(start), dict(env)
        with m.arm(branch, number):
            m.execute(list(arm), frame)
        ends.append((m.paths, frame.env))
    reached = [(paths, names) for paths, names in ends if paths]
    m.paths = set[tuple[bool, object]]().union(*(paths for paths, _ in reached))  # type: ignore
    _become(env, merged([names for _, names in reached]) if reached else env)
    frame.env = env


def _become(env: dict[str, Value], other: dict[str, Value]) -> None:
    """In place: functions that are written in it see what it holds later."""
    if env is not other:
        env.clear()
        env.update(other)


def merged(ends: Sequence[dict[str, Value]]) -> dict[str, Value]:
    """What is known whichever way was taken."""
    if len(ends) == 1:
        return ends[0]
    found: dict[str, Value] = {}
    for name in dict.fromkeys(name for end in ends for name in end):
        values = [end[name] for end in ends if name in end]
        said = [value for value in values if constant(value) is not None] or values
        first = said[0]
        same = all(
            value is first
            or (
                isinstance(value, Const) and isinstance(first, Const) and value.value == first.value
            )
            for value in said
        )
        parts = frozenset[str]().union(*map(taint, said))
        found[name] = first if same else Unknown(None, parts)
    return found


def _loop(m: Machine, node: ast.While | ast.For | ast.AsyncFor, frame: Frame) -> None:
    endless = False
    if isinstance(node, ast.While):
        endless = bool(constant(m.evaluate(node.test, frame))) and isinstance(
            node.test, ast.Constant
        )
    else:
        value = m.evaluate(node.iter, frame)
        if deliveries.loop(m, value, node, frame):
            return
        bind(m, node.target, element(value), frame)
        endless = isinstance(value, Obj) and value.kind is Kind.LOOP
    start, env = set(m.paths), dict(frame.env)
    m.loops.append(node)
    with m.catching("break", "continue") as out:
        m.execute(node.body, frame)
    m.loops.pop()
    ended = m.paths | out.of("continue")
    m.paths = out.of("break") | (set() if endless else start | ended)
    _become(frame.env, merged([env, frame.env]))
    if m.paths and node.orelse:
        m.execute(node.orelse, frame)


def _try(m: Machine, node: ast.Try, frame: Frame) -> None:
    if not node.finalbody:
        _guarded(m, node, frame)
        return
    with m.catching("return", "raise", "break", "continue") as out:
        _guarded(m, node, frame)
    ends = {"": m.paths, **{kind: out.of(kind) for kind in sorted(out.found)}}
    after: Paths = set()
    first = True
    for kind, paths in ends.items():
        if not paths:
            continue
        m.paths = set(paths)
        if first:
            m.execute(node.finalbody, frame)
        else:  # again, for what it settles; what it does was seen
            kept, facts = len(m.doing.ops), len(m.facts)
            m.execute(node.finalbody, frame)
            del m.doing.ops[kept:]
            del m.facts[facts:]
        first = False
        if kind and m.paths:
            m.take(kind)
        elif not kind:
            after = m.paths
    m.paths = after


def _guarded(m: Machine, node: ast.Try, frame: Frame) -> None:
    """The body of a ``try``, its ``except`` and ``else``."""
    branch, env = m.branch(), dict(frame.env)
    with m.catching("raise") as out, m.arm(branch, 0):
        m.execute(node.body, frame)
    raised = out.of("raise")
    if m.paths and node.orelse:
        with m.arm(branch, 0):
            m.execute(node.orelse, frame)
    if not any(_is_broad(handler.type) for handler in node.handlers):
        m.take("raise", raised)
    ends = [(m.paths, frame.env)] if m.paths else []
    for number, handler in enumerate(node.handlers, 1):
        place = frame.module.place(handler)
        m.paths = {(settled, caught or place) for settled, caught in raised}
        m.paths = m.paths or {(True, place)}
        frame.env = merged([env, dict(ends[0][1] if ends else env)])
        if handler.name:
            frame.env[handler.name] = UNKNOWN
        with m.arm(branch, number):
            m.execute(handler.body, frame)
        if m.paths:
            ends.append((m.paths, frame.env))
    m.paths = set().union(*(paths for paths, _ in ends))
    _become(env, merged([names for _, names in ends]) if ends else env)
    frame.env = env


def _is_broad(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Tuple):
        return any(_is_broad(each) for each in node.elts)
    return node is None or (isinstance(node, ast.Name) and node.id in _BROAD)


def _with(m: Machine, node: ast.With | ast.AsyncWith, frame: Frame) -> None:
    entered: list[Value] = []
    for item in node.items:
        value = m.evaluate(item.context_expr, frame)
        entered.append(value)
        given = deliveries.entered(m, value, item.context_expr, frame)
        if isinstance(value, Instance) and TAG in carried(value):
            m.given_away()  # what its __exit__ does is not followed
        if item.optional_vars is not None:
            bind(m, item.optional_vars, given, frame)
    suppresses = any(isinstance(v, Ref) and v.name == "suppress" for v in entered)
    settling = [v for v in entered if isinstance(v, Obj) and v.kind is Kind.PROCESS]
    if not settling and not suppresses:
        m.execute(node.body, frame)
        return
    place = frame.module.place(node)
    with m.catching("return", "raise", "break", "continue") as out:
        m.execute(node.body, frame)
    if settling:
        m.settle("ack", place)
        for kind, paths in out.found.items():
            m.take(kind, {(True, caught) for _, caught in paths})
        return
    m.paths = m.paths | {(settled, place) for settled, _ in out.of("raise")}
    for kind in ("return", "break", "continue"):
        m.take(kind, out.of(kind))


def _match(m: Machine, node: ast.Match, frame: Frame) -> None:
    value = m.evaluate(node.subject, frame)
    parts = Unknown(None, taint(value))
    for case in node.cases:
        for each in ast.walk(case.pattern):
            name = getattr(each, "name", None) or getattr(each, "rest", None)
            if isinstance(name, str):
                frame.env[name] = parts
    _arms(m, [*(case.body for case in node.cases), []], frame)


def _assert(m: Machine, node: ast.Assert, frame: Frame) -> None:
    m.evaluate(node.test, frame)
    m.take("raise")


_STATEMENTS: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _jump("break"),
    ast.Continue: _jump("continue"),
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Global: _global,
    ast.If: _if,
    ast.While: _loop,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Match: _match,
    ast.Assert: _assert,
}
