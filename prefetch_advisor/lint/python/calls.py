"""Calls: of the program's own functions, which are followed, and of what libraries offer."""

from __future__ import annotations

import ast

from prefetch_advisor.lint.python.machine import Frame, Machine
from prefetch_advisor.lint.python.names import method_of
from prefetch_advisor.lint.python.offered import method, reference
from prefetch_advisor.lint.python.own import inline, instance_of
from prefetch_advisor.lint.python.unresolved import unresolved
from prefetch_advisor.lint.python.values import (
    UNKNOWN,
    Arguments,
    Class,
    Func,
    Instance,
    Method,
    Partial,
    Ref,
    Unknown,
    Value,
)


def call(m: Machine, func: Value, args: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Follow a call."""
    if isinstance(func, Partial):
        return call(m, func.func, _joined(func.args, args), node, frame)
    if isinstance(func, Func):
        return inline(m, func, args, node, frame)
    if isinstance(func, Class):
        return instance_of(m, func, args, node, frame)
    if isinstance(func, Instance):
        found = method_of(m, func.cls, "__call__")
        if found and isinstance(found[0], ast.FunctionDef | ast.AsyncFunctionDef):
            target = Func(found[0], found[1].module, found[1], func)
            return inline(m, target, args, node, frame)
    if isinstance(func, Method):
        known = method(m, func, args, node, frame)
        return unresolved(m, func.name, func.owner, args, node, frame) if known is None else known
    if isinstance(func, Ref):
        known = reference(m, func.name, args, node, frame)
        if known is not None:
            return known
        return unresolved(m, func.name, UNKNOWN, args, node, frame)
    name = ""
    if isinstance(node, ast.Call):
        target_node = node.func
        name = (
            target_node.attr
            if isinstance(target_node, ast.Attribute)
            else getattr(target_node, "id", "")
        )
        if isinstance(target_node, ast.Attribute) and isinstance(func, Unknown):
            return unresolved(m, name, func, args, node, frame)
    return unresolved(m, name, func, args, node, frame)


def _joined(first: Arguments, second: Arguments) -> Arguments:
    return Arguments(
        [*first.positional, *second.positional],
        {**first.named, **second.named},
        first.open or second.open,
    )
