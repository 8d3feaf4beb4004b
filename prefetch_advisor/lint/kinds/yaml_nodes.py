"""The nodes of a YAML text, with their places, and what their scalars mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A value as it is written, unquoted."""

    text: str
    #: counted from 1, as everywhere
    line: int
    column: int
    #: neither quoted nor a block: only then is ``1`` a number and ``~`` null
    plain: bool = True
    #: as written, such as ``!vault``; empty: none
    tag: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A sequence."""

    items: tuple[Node, ...]
    line: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A key and its value; of an alias or a merge key, where the anchor has them."""

    key: Scalar
    value: Node


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A mapping, merge keys merged; keys that are no scalars are left out."""

    entries: Mapping[str, Entry]
    line: int
    column: int
    #: keys that stand in it again: the last one counts
    again: tuple[Scalar, ...] = ()


Node: TypeAlias = Scalar | Items | Table


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the text."""
    yield node
    if isinstance(node, Items):
        for item in node.items:
            yield from walk(item)
    elif isinstance(node, Table):
        for entry in node.entries.values():
            yield from walk(entry.value)


def again(node: Node) -> Iterator[Scalar]:
    """Every key that its mapping has twice."""
    for each in walk(node):
        if isinstance(each, Table):
            yield from each.again


def get(node: Node | None, *keys: str) -> Node | None:
    """What stands at these keys, one below the other."""
    for key in keys:
        if not isinstance(node, Table) or key not in node.entries:
            return None
        node = node.entries[key].value
    return node


def string(node: Node | None) -> str | None:
    """The text of a scalar that is not null and has no tag of its own."""
    if not isinstance(node, Scalar) or node.tag.startswith("!"):
        return None
    return None if node.plain and node.text in ("", "~", "null", "Null", "NULL") else node.text


_INTEGER = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|[0-9][0-9_]*)")
_BASES = {"0b": 2, "0x": 16, "0o": 8}


def integer(node: Node | None) -> int | None:
    """The whole number that YAML 1.1 reads there, or the decimal one within quotes."""
    text = string(node)
    if text is None or len(text) > 40 or not isinstance(node, Scalar):
        return None
    if not node.plain:
        return int(text) if re.fullmatch(r"[-+]?[0-9]+", text) else None
    if not _INTEGER.fullmatch(text):
        return None
    sign, digits = (-1 if text[0] == "-" else 1), text.lstrip("-+").replace("_", "")
    base = _BASES.get(digits[:2], 8 if digits.startswith("0") and len(digits) > 1 else 10)
    try:
        return sign * int(digits.removeprefix(digits[:2]) if digits[:2] in _BASES else digits, base)
    except ValueError:
        return None


_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on"), True),
    **dict.fromkeys(("false", "no", "off"), False),
}


def boolean(node: Node | None) -> bool | None:
    """The truth value there, quoted or not: most frameworks read a quoted ``"true"`` as such."""
    text = string(node)
    return None if text is None else _BOOLEANS.get(text.lower())
