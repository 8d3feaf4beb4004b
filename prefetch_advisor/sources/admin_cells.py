"""Cells as ``rabbitmqadmin`` writes them, old and new, where ``rabbitmqctl`` writes others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from prefetch_advisor.sources.rabbitmqctl_columns import fits, value

#: what the old tool prints the entries of as columns of their own, with -d 2 and more
_NESTED = ("arguments", "effective_policy_definition")
#: columns of which the new one draws a cell over several lines
_OF_LINES = ("arguments", "members", "online")
_ARGUMENT = re.compile(r"([\w.\-]+): ")
_DECODER = json.JSONDecoder()

Rows = Sequence[tuple[int, list[str]]]


def as_printed(cell: str, kind: str) -> str:
    """A cell as rabbitmqctl prints it: the old tool writes True and None."""
    if cell == "None" and kind != "text":
        return ""
    if kind == "boolean":
        return cell.lower()
    if kind == "list" and not cell.startswith(("[", "{", "#")):
        return ""
    return cell


def joined(rows: Rows, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Rows with the lines below them that go on in cells of arguments or nodes, and only there."""
    last: tuple[int, list[str]] | None = None
    goes_on = {at for at, column in enumerate(columns) if column in _OF_LINES}
    for number, cells in rows:
        filled = {at for at, cell in enumerate(cells) if cell.strip()}
        whole = last is not None and len(last[1]) == len(cells) == len(columns)
        if last is not None and whole and filled and filled <= goes_on:
            for at in filled:
                last[1][at] += f",{cells[at].strip()}"
            continue
        if last is not None:
            yield last
        last = number, list(cells)
    if last is not None:
        yield last


def entries(cells: Sequence[str], columns: Sequence[str]) -> dict[str, object]:
    """Arguments, and what a policy defines, by name."""
    found: dict[str, dict[str, object]] = {}
    for cell, column in zip(cells, columns, strict=True):
        name, _, entry = column.partition(".")
        if not cell or name not in _NESTED:
            continue
        if entry:
            found.setdefault(name, {})[entry] = _entry(cell)
        elif name == "arguments" and (known := _arguments(cell)):
            found[name] = known
    return dict(found)


def _entry(cell: str) -> object:
    """A value among arguments, as Python prints it."""
    if cell in ("True", "False"):
        return cell == "True"
    return value(cell, "integer") if fits(cell, "integer") else cell


def _arguments(cell: str) -> dict[str, object] | None:
    """``x-queue-type: "quorum",x-max-length: 5`` by name; ``None``: it is nothing such."""
    found: dict[str, object] = {}
    position = 0
    while (name := _ARGUMENT.match(cell, position)) is not None:
        try:
            found[name[1]], position = _DECODER.raw_decode(cell, name.end())
        except (ValueError, RecursionError):
            return None
        if position == len(cell):
            return found
        if cell[position] != ",":
            return None
        position += 1
    return None
