"""The values of expressions; calls in them are followed on the way."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable

from prefetch_advisor.lint.python import inprocess
from prefetch_advisor.lint.python.machine import Frame, Machine
from prefetch_advisor.lint.python.names import attribute, look_up
from prefetch_advisor.lint.python.values import (
    NOTHING,
    TAG,
    UNKNOWN,
    Arguments,
    Const,
    Func,
    Instance,
    Items,
    Mapping,
    Unknown,
    Value,
    constant,
    taint,
)

_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
#: larger ones are no prefetch, and would take time to compute
_LARGEST = 2**40


def evaluate(m: Machine, node: ast.expr | None, frame: Frame) -> Value:
    """The value of an expression."""
    if node is None:
        return UNKNOWN
    found = _EVALUATORS.get(type(node))
    return found(m, node, frame) if found is not None else _parts(m, node, frame)


def _constant(m: Machine, node: ast.Constant, frame: Frame) -> Value:
    if node.value is None or isinstance(node.value, bool | int | str):
        return Const(node.value, (frame.module, node))
    return UNKNOWN


def _name(m: Machine, node: ast.Name, frame: Frame) -> Value:
    return look_up(m, node.id, node, frame)


def _attribute(m: Machine, node: ast.Attribute, frame: Frame) -> Value:
    return attribute(m, evaluate(m, node.value, frame), node.attr, node, frame)


def _call(m: Machine, node: ast.Call, frame: Frame) -> Value:
    waited, m.awaited = m.awaited is node, None
    func = evaluate(m, node.func, frame)
    if isinstance(node.func, ast.Call):
        waited = False
    if inprocess.starts(m, func, node):
        return inprocess.start(m, func, node, frame, waited)
    return m.call(func, arguments(m, node, frame), node, frame)


def arguments(m: Machine, node: ast.Call, frame: Frame) -> Arguments:
    """The arguments of a call, those in written-out lists and dicts included."""
    found = Arguments()
    for each in node.args:
        if isinstance(each, ast.Starred):
            value = evaluate(m, each.value, frame)
            if isinstance(value, Items):
                found.positional += [(item, each) for item in value.items]
            else:
                found.open = True
        else:
            found.positional.append((evaluate(m, each, frame), each))
    for keyword in node.keywords:
        value = evaluate(m, keyword.value, frame)
        if keyword.arg is not None:
            found.named[keyword.arg] = (value, keyword.value)
        elif isinstance(value, Mapping):
            found.named.update({key: (item, keyword.value) for key, item in value.items.items()})
        else:
            found.open = True
    return found


def _await(m: Machine, node: ast.Await, frame: Frame) -> Value:
    m.awaited = node.value
    value = evaluate(m, node.value, frame)
    m.awaited = None
    return inprocess.waited_for(m, value)


def _binary(m: Machine, node: ast.BinOp, frame: Frame) -> Value:
    left, right = evaluate(m, node.left, frame), evaluate(m, node.right, frame)
    compute = _ARITHMETIC.get(type(node.op))
    one, other = constant(left), constant(right)
    if compute is not None and type(one) is int and type(other) is int:
        fits = max(abs(one), abs(other)) < _LARGEST
        if fits and (other or not isinstance(node.op, ast.FloorDiv)):
            return Const(compute(one, other), (frame.module, node))
    return Unknown(None, taint(left) | taint(right))


def _unary(m: Machine, node: ast.UnaryOp, frame: Frame) -> Value:
    value = evaluate(m, node.operand, frame)
    known = constant(value)
    if isinstance(node.op, ast.USub) and type(known) is int:
        return Const(-known, (frame.module, node))
    if isinstance(node.op, ast.Not) and isinstance(known, bool):
        return Const(not known, (frame.module, node))
    return Unknown(None, taint(value))


def _either(m: Machine, nodes: Iterable[ast.expr], frame: Frame) -> Value:
    """One of several: known when they say the same."""
    branch = m.branch()
    values = []
    for number, node in enumerate(nodes):
        with m.arm(branch, number):
            values.append(evaluate(m, node, frame))
    first = values[0]
    if all(value is first for value in values):
        return first
    if isinstance(first, Const) and all(constant(value) == first.value for value in values):
        return first
    return Unknown(None, NOTHING.union(*map(taint, values)))


def _if_expression(m: Machine, node: ast.IfExp, frame: Frame) -> Value:
    evaluate(m, node.test, frame)
    return _either(m, (node.body, node.orelse), frame)


def _items(m: Machine, node: ast.Tuple | ast.List | ast.Set, frame: Frame) -> Value:
    found: list[Value] = []
    for each in node.elts:
        value = evaluate(m, each.value if isinstance(each, ast.Starred) else each, frame)
        if isinstance(each, ast.Starred) and isinstance(value, Items):
            found += value.items
        else:
            found.append(value)
    return Items(found)


def _mapping(m: Machine, node: ast.Dict, frame: Frame) -> Value:
    found: dict[str, Value] = {}
    known = True
    for key, each in zip(node.keys, node.values, strict=True):
        value = evaluate(m, each, frame)
        name = constant(evaluate(m, key, frame)) if key is not None else None
        if isinstance(name, str):
            found[name] = value
        elif key is None and isinstance(value, Mapping):
            found.update(value.items)
        else:
            known = False
    return Mapping(found) if known else Unknown(None, taint(Mapping(found)))


def _subscript(m: Machine, node: ast.Subscript, frame: Frame) -> Value:
    value, index = evaluate(m, node.value, frame), evaluate(m, node.slice, frame)
    at = constant(index)
    if isinstance(value, Items) and type(at) is int and -len(value.items) <= at < len(value.items):
        return value.items[at]
    if isinstance(value, Mapping) and isinstance(at, str):
        return value.items.get(at, UNKNOWN)
    key = value.key if isinstance(value, Unknown) else None
    return Unknown((*key, "[]", str(at)) if key and at is not UNKNOWN else None, taint(value))


def _lambda(m: Machine, node: ast.Lambda, frame: Frame) -> Value:
    owner = frame.func.owner if frame.func else None
    return Func(node, frame.module, owner, frame.instance, closure_of(frame))


def closure_of(frame: Frame) -> dict[str, Value]:
    """What a function sees of the one it is written in."""
    outer = frame.func.closure if frame.func else None
    if frame.func is None:
        return frame.env
    return {**outer, **frame.env} if outer else frame.env


def _named(m: Machine, node: ast.NamedExpr, frame: Frame) -> Value:
    value = evaluate(m, node.value, frame)
    frame.env[node.target.id] = value
    return value


def _yield(m: Machine, node: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
    value = evaluate(m, node.value, frame)
    frame.returned.append(value)
    if TAG in taint(value):
        m.given_away()
    return UNKNOWN


def _comprehension(
    m: Machine, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, frame: Frame
) -> Value:
    inner = Frame(frame.module, dict(frame.env), frame.func, frame.shared)
    for part in node.generators:
        value = evaluate(m, part.iter, inner)
        bind(m, part.target, element(value), inner)
        for test in part.ifs:
            evaluate(m, test, inner)
    if isinstance(node, ast.DictComp):
        evaluate(m, node.key, inner)
        return Unknown(None, taint(evaluate(m, node.value, inner)))
    value = evaluate(m, node.elt, inner)
    return Items([value]) if isinstance(node, ast.ListComp) else Unknown(None, taint(value))


def element(value: Value) -> Value:
    """One of what is looped over."""
    if isinstance(value, Items) and len(value.items) == 1:
        return value.items[0]
    return Unknown(None, taint(value))


def bind(m: Machine, target: ast.AST, value: Value, frame: Frame) -> None:
    """Let a target stand for a value."""
    if isinstance(target, ast.Name):
        frame.env[target.id] = value
        if target.id in frame.shared:
            m.stored(("global", frame.module.file.path), target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        parts = value.items if isinstance(value, Items) else None
        if parts is None or len(parts) != len(target.elts):
            parts = [Unknown(None, taint(value))] * len(target.elts)
        for each, part in zip(target.elts, parts, strict=True):
            bind(m, each, part, frame)
    elif isinstance(target, ast.Starred):
        bind(m, target.value, Unknown(None, taint(value)), frame)
    elif isinstance(target, ast.Attribute):
        owner = evaluate(m, target.value, frame)
        if isinstance(owner, Instance):
            set_attribute(m, owner, target.attr, value)
        elif taint(value):
            m.doing.escapes = True
    elif isinstance(target, ast.Subscript):
        evaluate(m, target.slice, frame)
        owner = evaluate(m, target.value, frame)
        if taint(value):
            m.doing.escapes = True
        if not isinstance(owner, Mapping):
            m.escape(value)


def set_attribute(m: Machine, owner: Instance, name: str, value: Value) -> None:
    """Let an attribute of an object of the program stand for a value."""
    from prefetch_advisor.lint.python.machine import class_key

    if taint(value):
        m.doing.escapes = True
    owner.attributes[name] = value
    m.stored(class_key(owner.cls), name, value)


def _parts(m: Machine, node: ast.expr, frame: Frame) -> Value:
    """What is not known: its parts are followed nevertheless."""
    found = NOTHING
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.expr):
            found |= taint(evaluate(m, each, frame))
    return Unknown(None, found) if found else UNKNOWN


_EVALUATORS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Await: _await,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: lambda m, node, frame: _either(m, node.values, frame),
    ast.IfExp: _if_expression,
    ast.Tuple: _items,
    ast.List: _items,
    ast.Set: _items,
    ast.Dict: _mapping,
    ast.Subscript: _subscript,
    ast.Lambda: _lambda,
    ast.NamedExpr: _named,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
}
