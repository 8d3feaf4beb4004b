"""Lines of a ``rabbitmqctl`` table into values by column: widths, types, a tab inside a name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.fields import Doubts, shown
from prefetch_advisor.sources.queue_names import bracket, names_end, no_name
from prefetch_advisor.sources.rabbitmqctl_columns import (
    DEFAULTS,
    EXPECTED,
    IDENTITY,
    PID,
    column_types,
    fits,
    value,
)
from prefetch_advisor.sources.recognise import split_cells

#: of consumers before 3.8: up to 3.2, of some builds of 3.2 and 3.3, and from 3.3 on
_BEFORE_3_8 = (
    ("queue_name", "channel_pid", "consumer_tag", "ack_required"),
    ("queue_name", "channel_pid", "consumer_tag", "ack_required", "arguments"),
    ("queue_name", "channel_pid", "consumer_tag", "ack_required", "prefetch_count", "arguments"),
)
#: 3.6.1 prints such a row for a queue that has no consumers
_NO_CONSUMERS = re.compile(r"\s*\[\](?:\s+\[\])+\s*")


@dataclass(frozen=True, slots=True)
class Line:
    """A row as printed."""

    number: int
    text: str


def parse_rows(
    lines: Sequence[Line], listed: str, columns: Sequence[str], doubts: Doubts
) -> list[dict[str, object]]:
    """The rows that fit the columns; the others are bad rows."""
    types = column_types(listed, columns)
    identity = columns.index(IDENTITY[listed]) if IDENTITY[listed] in columns else -1
    if identity < 0 and listed == "channels" and "name" in columns:
        identity = columns.index("name")
    rows = []
    joined: list[tuple[int, str, str]] = []
    # tabs are kept or expanded in all rows alike: a row without any is none of theirs
    tabbed = len(columns) > 1 and len(lines) > 0 and "\t" in lines[0].text
    alone = len(columns) == 1 and listed in ("queues", "consumers")
    names = names_end([line.text for line in lines]) if alone else len(lines)
    for place, line in enumerate(lines):
        if listed == "consumers" and _NO_CONSUMERS.fullmatch(line.text):
            continue
        cells = None if tabbed and "\t" not in line.text else _cells(line.text, types)
        if cells is None:
            doubts.bad_row(line.number, *_wrong(line.text, columns, types))
            continue
        wrong = _no_name(cells[identity], listed) if identity >= 0 else None
        # the header again, whole or cut
        header = identity >= 0 and all(
            cell in ("", column) for cell, column in zip(cells, columns, strict=True)
        )
        if wrong is None and (place >= names or header or (alone and bracket(line.text))):
            wrong = "a name", f"a row of another list: {shown(line.text)}"
        if wrong is not None:
            doubts.bad_row(line.number, f"{wrong[0]} in {columns[identity]}", wrong[1])
            continue
        if "\t" in line.text and (at := _with_tab(cells)) is not None:
            joined.append((line.number, columns[at], cells[at]))
        rows.append(dict(zip(columns, map(value, cells, types), strict=True)))
    if joined and len(columns) > 1:
        number, column, cell = joined[0]
        more = f" (and in {len(joined) - 1:,} more)" if len(joined) > 1 else ""
        doubts.remarks.append(
            f"line {number}: a cell too many: its tab is taken for part of the {column} "
            f"{shown(cell)}{more}"
        )
    return rows


def _no_name(cell: str, listed: str) -> tuple[str, str] | None:
    """What was expected where a row names nothing, and what was found."""
    if listed in ("queues", "consumers"):
        return no_name(cell)
    return None if cell else ("a name", "an empty cell")


def _with_tab(cells: Sequence[str]) -> int | None:
    return next((at for at, cell in enumerate(cells) if "\t" in cell), None)


def _wrong(line: str, columns: Sequence[str], types: Sequence[str]) -> tuple[str, str]:
    """What was expected of a row that does not fit, and what was found."""
    cells = [line] if len(columns) == 1 else split_cells(line)
    if len(cells) != len(columns):
        few = "field" if len(columns) == 1 else "fields"
        return f"{len(columns)} {few} ({', '.join(columns)})", f"{len(cells)}: {shown(line)}"
    for column, kind, cell in zip(columns, types, cells, strict=True):
        if not fits(cell, kind):
            return f"{EXPECTED[kind]} in {column}", shown(cell)
    return "cells of their types", shown(line)


def _cells(line: str, types: Sequence[str]) -> list[str] | None:
    """As many cells as columns, each of its type; ``None`` when that is not possible or certain."""
    wanted = len(types)
    if wanted == 1:
        return [line] if fits(line, types[0]) else None
    cells = split_cells(line)
    if len(cells) == wanted:
        return cells if all(map(fits, cells, types)) else None
    if "\t" not in line:
        # expanded tabs may leave a single space; certain only where nothing else holds spaces
        cells = line.split()
        return cells if len(cells) == wanted and all(map(fits, cells, types)) else None
    if len(cells) < wanted:
        return None
    return _with_tab_inside(cells, types)


def _with_tab_inside(cells: Sequence[str], types: Sequence[str]) -> list[str] | None:
    """Give the surplus to the one text column that makes every other fit.

    Unless the row also fits with the surplus left out behind that column: then a cell may have
    slipped in there, and the name be shorter than it looks.
    """
    surplus = len(cells) - len(types)
    found = []
    for index, kind in enumerate(types):
        if kind != "text":
            continue
        end = index + surplus + 1
        joined = [*cells[:index], "\t".join(cells[index:end]), *cells[end:]]
        if all(map(fits, joined, types)):
            found.append((index, joined))
    if len(found) != 1:
        return None
    index, joined = found[0]
    for start in range(index + surplus + 1, len(cells) - surplus + 1):
        if all(map(fits, (*cells[:start], *cells[start + surplus :]), types)):
            return None
    return joined


def _pasted(line: str, listed: str) -> bool:
    return listed == "consumers" and "\t" not in line


def list_of_rows(lines: Sequence[Line]) -> str:
    """The list that rows without preamble and header are of, by where their pid stands."""
    for line in lines:
        cells = split_cells(line.text)
        if len(cells) > 1 and PID.fullmatch(cells[0]):
            return "channels"
        if any(PID.fullmatch(cell) for cell in cells[1:]):
            return "consumers"
    return "queues"


def guess_columns(lines: Sequence[Line], listed: str, where: str) -> tuple[str, ...]:
    """The default columns of this or that version, where the rows can be such.

    Raises:
        InputError: they cannot; the message asks for the header.
    """
    rows = [line for line in lines if not _NO_CONSUMERS.fullmatch(line.text)] or lines
    known: tuple[tuple[str, ...], ...] = (
        DEFAULTS[listed],
        *(_BEFORE_3_8 if listed == "consumers" else ()),
    )
    for columns in known:
        types = column_types(listed, columns)
        # single blanks are left where tabs were expanded: a pid among the cells makes it certain
        fitting = sum(
            (len(split_cells(line.text)) == len(columns) or _pasted(line.text, listed))
            and any((_cells(line.text, types) or ("",))[1:])
            for line in rows
        )
        if fitting * 2 > len(rows):
            return columns
    place = f"{where}:{rows[0].number}"
    width = len(split_cells(rows[0].text))
    raise InputError(
        f"{place}: cannot tell the {width} columns of list_{listed} without their header: run it "
        "without -s and --no-table-headers, or put the command line with its columns before the "
        f"rows (rabbitmqctl list_{listed} {' '.join(known[0])}); found {shown(rows[0].text)}"
    )
