"""The program's own functions and classes, followed with what they are called with."""

from __future__ import annotations

import ast

from prefetch_advisor.lint.python import decorators
from prefetch_advisor.lint.python.machine import DEEPEST, SHORT, Frame, Machine, Op
from prefetch_advisor.lint.python.names import method_of
from prefetch_advisor.lint.python.unresolved import LOGS, only_reads
from prefetch_advisor.lint.python.values import (
    BODY,
    NOTHING,
    TAG,
    UNKNOWN,
    Arguments,
    Class,
    Const,
    Func,
    Instance,
    Items,
    Key,
    Kind,
    Obj,
    Partial,
    Ref,
    Unknown,
    Value,
    carried,
    constant,
    taint,
)
from prefetch_advisor.lint.source.facts import Client

# the program's own


def inline(m: Machine, func: Func, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Follow a function of the program with what it is called with."""
    code = func.node
    parts = NOTHING.union(*map(taint, args.values()))
    held = parts | carried(func.instance)
    unknown = code in m.active or len(m.active) > DEEPEST or _left_open(code)
    unknown = unknown or (TAG in held and decorators.manages(code))
    if unknown or not _matters(m, func, args):
        for value in args.values():
            m.escape(value)
        if TAG in held:
            m.given_away()
        return Unknown(None, parts)
    if not m.silent:
        m.called.add(code)
    inner = Frame(func.module, parameters(m, func, args, frame), func)
    kept_chain, kept_calls, kept_awaited = m.chain, m.calls, m.awaited
    m.chain = (*m.chain, frame.module.file.path, getattr(node, "lineno", 0))
    m.calls = (*m.calls, frame.module.place(node))
    m.awaited = None
    m.active.append(code)
    before = len(m.doing.ops), m.doing.settles()
    wrapped = func.wrapped and TAG in held
    try:
        with m.catching("return", *(("raise",) if wrapped else ())) as out:
            if isinstance(code, ast.Lambda):
                inner.returned.append(m.evaluate(code.body, inner))
            else:
                m.execute(code.body, inner)
        m.paths = m.paths | out.of("return")
        if wrapped:
            m.given_away()
            m.take("raise", {(True, caught) for _, caught in out.of("raise")})
    finally:
        m.active.pop()
        m.chain, m.calls, m.awaited = kept_chain, kept_calls, kept_awaited
    _own_work(m, func, args, node, frame, before)
    return _returned(inner, args)


def _left_open(code: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """A method that others are to write: it says nothing of what theirs will do."""
    if isinstance(code, ast.Lambda):
        return False
    if any("abstract" in ast.unparse(decorator) for decorator in code.decorator_list):
        return True
    last = code.body[-1]
    if not isinstance(last, ast.Raise) or last.exc is None or len(code.body) > SHORT:
        return False
    raised = last.exc.func if isinstance(last.exc, ast.Call) else last.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _matters(m: Machine, func: Func, args: Arguments) -> bool:
    """A function that is worth following, with these arguments."""
    code = func.node
    if isinstance(code, ast.Lambda) or func.closure is not None:
        return True
    if len(code.body) <= SHORT or m.worth(func.module, code):
        return True
    if TAG in carried(func.instance):
        return True
    return any(taint(value) or isinstance(value, Obj | Func | Partial) for value in args.values())


def _own_work(
    m: Machine,
    func: Func,
    args: Arguments,
    node: ast.AST,
    frame: Frame,
    before: tuple[int, bool],
) -> None:
    """A function of the program that takes the message's body and does not ack it is work."""
    ops = m.doing.ops[before[0] :]
    parts = NOTHING.union(*map(taint, args.values()))
    if BODY in parts and not ops and func.name not in LOGS and not only_reads(func.name):
        m.doing.ops.append(
            Op("work", frame.module.place(node), m.step(), m.paths == {(True, None)})
        )


def _returned(frame: Frame, args: Arguments) -> Value:
    del args
    values = [value for value in frame.returned if constant(value) is not None]
    if not values:
        return UNKNOWN
    first = values[0]
    if all(value is first for value in values):
        return first
    if isinstance(first, Const) and all(constant(value) == first.value for value in values):
        return first
    objects = [value for value in values if isinstance(value, Obj)]
    if len(objects) == len(values) and len({(o.kind, o.key) for o in objects}) == 1:
        return first
    return Unknown(None, NOTHING.union(*map(taint, values)))


def parameters(m: Machine, func: Func, args: Arguments, frame: Frame | None) -> dict[str, Value]:
    """What the parameters of a function stand for in a call."""
    given = func.node.args
    names = [*given.posonlyargs, *given.args]
    env: dict[str, Value] = {}
    key: Key = (func.module.file.path, func.node.lineno, func.name)
    start = 0
    if func.owner is not None and names and not isinstance(func.node, ast.Lambda):
        static = any(
            isinstance(each, ast.Name) and each.id == "staticmethod"
            for each in func.node.decorator_list
        )
        if func.instance is not None and not static and func.closure is None:
            env[names[0].arg] = func.instance
            start = 1
    values = [_fixed(value) for value, _ in args.positional]
    for name, value in zip(names[start:], values, strict=False):
        env[name.arg] = value
    if given.vararg is not None:
        env[given.vararg.arg] = Items(values[len(names) - start :])
    known = {each.arg for each in (*names, *given.kwonlyargs)}
    env.update({name: _fixed(value) for name, (value, _) in args.named.items() if name in known})
    defaults = dict(zip([n.arg for n in reversed(names)], reversed(given.defaults), strict=False))
    defaults |= {
        name.arg: each
        for name, each in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if each is not None
    }
    for each in (*names, *given.kwonlyargs):
        if each.arg in env and not (env[each.arg] is UNKNOWN and each.annotation):
            continue
        default = defaults.get(each.arg)
        if default is not None and frame is not None and not args.open:
            with m.quiet():
                env[each.arg] = _fixed(m.evaluate(default, Frame(func.module, {})))
        else:
            env[each.arg] = annotated(m, each, (*key, each.arg), func)
    return env


def _fixed(value: Value) -> Value:
    """A constant that is an argument is wrong where it is written."""
    if isinstance(value, Const) and not value.fixed:
        return Const(value.value, value.at, value.name, fixed=True)
    return value


def annotated(m: Machine, name: ast.arg, key: Key, func: Func) -> Value:
    """A parameter whose value is not known, by what its annotation says."""
    found = Unknown(key)
    hint = name.annotation
    if hint is None or not isinstance(hint, ast.Name | ast.Attribute):
        return found
    with m.quiet():
        value = m.evaluate(hint, Frame(func.module, {}))
    if not isinstance(value, Ref):
        return found
    top, last = value.name.partition(".")[0], value.name.rpartition(".")[2]
    client = {"aio_pika": Client.AIO_PIKA, "pika": Client.PIKA, "aiormq": Client.AIORMQ}.get(top)
    if client is None:
        return found
    for word, kind in (
        ("Connection", Kind.CONNECTION),
        ("Channel", Kind.CHANNEL),
        ("Queue", Kind.QUEUE),
        ("Message", Kind.MESSAGE),
    ):
        if last.endswith(word):
            return Obj(kind, key, client)
    return found


def instance_of(m: Machine, cls: Class, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    instance = Instance(cls)
    found = method_of(m, cls, "__init__")
    if found is not None and isinstance(found[0], ast.FunctionDef):
        inline(m, Func(found[0], found[1].module, found[1], instance), args, node, frame)
    else:
        instance.attributes.update({name: _fixed(v) for name, (v, _) in args.named.items()})
    return instance
