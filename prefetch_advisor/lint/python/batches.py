"""Messages that are collected and acked together: ``if len(batch) >= 100: ... ack``."""

from __future__ import annotations

import ast

from prefetch_advisor.lint.python.machine import Frame, Machine
from prefetch_advisor.lint.python.values import Const, constant
from prefetch_advisor.model.lint import Located

_REACHED = (ast.GtE, ast.Gt, ast.Eq)
_MISSED = (ast.Lt, ast.LtE, ast.NotEq)


def waits_for(m: Machine, node: ast.If, frame: Frame) -> Located[int] | None:
    """The number of messages at which a branch is taken; or below which the rest is not."""
    test = node.test
    if isinstance(test, ast.BoolOp):
        test = next((each for each in test.values if isinstance(each, ast.Compare)), test)
    found = _compared(m, test, frame)
    if found is None:
        return None
    number, operation = found
    if isinstance(operation, _REACHED):
        return number
    leaves = isinstance(node.body[-1], ast.Return | ast.Continue) and not node.orelse
    if isinstance(operation, _MISSED) and leaves:
        m.doing.waits_for = number
    return None


def _compared(m: Machine, test: ast.expr, frame: Frame) -> tuple[Located[int], ast.cmpop] | None:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, right = test.left, test.comparators[0]
    limit = right
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
        limit = left.right  # count % 100 == 0
    elif not _counts(left):
        return None
    with m.quiet():
        value = m.evaluate(limit, frame)
    number = constant(value)
    if type(number) is not int or number < 2 or not isinstance(value, Const):
        return None
    if isinstance(test.ops[0], ast.Gt) and limit is right:
        number += 1
    place = value.place if value.fixed else frame.module.place(limit)
    return Located(number, place), test.ops[0]


def _counts(node: ast.expr) -> bool:
    """``len(batch)``, or a counter."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "len"
    return isinstance(node, ast.Name | ast.Attribute)


def collected(m: Machine, node: ast.AugAssign, parts: frozenset[str]) -> None:
    """A list or a counter grows."""
    if parts and isinstance(node.op, ast.Add):
        m.doing.escapes = True


def acked(m: Machine, node: ast.If, waits: Located[int] | None, before: int) -> None:
    """After a branch: it is the batch when the branch acks several messages."""
    if waits is None or m.doing.batch is not None:
        return
    if any(op.kind == "ack" and op.several for op in m.doing.ops[before:]):
        m.doing.batch = waits


def several(m: Machine) -> None:
    """Several messages are acked at once here."""
    if m.doing.batch is None and m.doing.waits_for is not None:
        m.doing.batch = m.doing.waits_for
