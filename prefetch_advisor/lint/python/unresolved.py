"""Calls of what is not followed: what they may do to a delivery, a channel, a function."""

from __future__ import annotations

import ast

from prefetch_advisor.lint.python.machine import Frame, Machine, Op
from prefetch_advisor.lint.python.values import (
    BODY,
    DELIVERY,
    TAG,
    Arguments,
    Func,
    Instance,
    Partial,
    Unknown,
    Value,
    taint,
)

LOGS = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "echo"}
)
#: these neither fail nor do anything with what they are given
PLAIN = frozenset(
    {
        *("len", "str", "repr", "isinstance", "range", "enumerate", "zip", "min", "max", "format"),
        *("id", "type", "bool", "hasattr", "getattr", "strip", "split", "lower", "upper", "join"),
        *("startswith", "endswith", "items", "keys", "values", "sorted", "list", "tuple", "set"),
        *("dict", "monotonic", "perf_counter", "time", "now", "utcnow", "sum", "any", "all"),
        *("isoformat", "hex", "encode"),
    }
)
#: part of a name that only reads what it is given
READS = (
    *("decode", "loads", "parse", "deserial", "unpack", "unmarshal", "validate", "from_", "int"),
    *("float", "copy"),
)


def callbacks(m: Machine, args: Arguments, node: ast.AST, frame: Frame) -> None:
    """Functions that are given away are called some time later, with what nobody knows."""
    if m.silent:
        return
    for value in args.values():
        if isinstance(value, Func | Partial):
            m.later.append((value, Arguments(open=True), node, frame))


def unresolved(
    m: Machine, name: str, owner: Value, args: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """A call of what is not followed."""
    last = name.rpartition(".")[2]
    values = args.values()
    parts = taint(owner).union(*map(taint, values))
    if last in LOGS or (last in PLAIN and owner is not frame.instance):
        return Unknown(None, parts)
    if not only_reads(last):
        if BODY in parts:
            place = frame.module.place(node)
            m.doing.ops.append(Op("work", place, m.step(), m.paths == {(True, None)}))
        if TAG in parts:
            m.given_away()  # also where it fails: it may have seen to the message before
    m.take("raise")
    for value in values:
        m.escape(value)
    if isinstance(owner, Instance):
        m.escape(owner)
    callbacks(m, args, node, frame)
    if not parts or only_reads(last):
        return Unknown(None, parts) if parts else Unknown(m.key(frame, node))
    return Unknown(None, parts & DELIVERY)


def only_reads(name: str) -> bool:
    lower = name.lower()
    return name[:1].isupper() or any(part in lower for part in READS)
