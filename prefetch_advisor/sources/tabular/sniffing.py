"""How the rows of a file are written, and what its columns are, from its first lines."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.cells import (
    Decimal,
    decimal_evidence,
    parse_moment,
    parse_number,
    split_unit,
    to_seconds,
)
from prefetch_advisor.sources.columns import (
    DURATIONS,
    NUMBERS,
    Column,
    Layout,
    Role,
    lay_out,
    read_name,
)
from prefetch_advisor.sources.tabular.bad_rows import BadCell, show
from prefetch_advisor.sources.tabular.delimited import NO_DELIMITER, Form

_DELIMITERS = ("\t", ";", ",", "|")
#: Excel's way to tell the delimiter
_DIRECTIVE = re.compile(r"sep=([\t;,|])", re.I)
_PLAIN = re.compile(r"\d*(?:[.,](\d+))?")
#: names of a lone column that tell nothing but "a figure"
_FIGURES = ("value", "values", "sample", "samples")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file with one row in a line."""

    form: Form
    layout: Layout
    #: the first line that is not data is this many lines from the start of the block
    header_lines: int


def read_header(
    lines: Sequence[str], where: str, line: int, columns: Sequence[str] = ()
) -> Sheet | None:
    """What the first lines tell; ``None``: only blank lines and comments.

    With ``columns`` there is no header: these are their names.

    Raises:
        InputError: several columns without a header, or none with a processing time.
    """
    only: str | None = None
    for at, raw in enumerate(lines):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        if only is None and (directive := _DIRECTIVE.fullmatch(raw.strip(" "))):
            only = directive[1]
            continue
        if columns:
            return _named(columns, raw, f"{where}:{line + at}", at, only)
        return _read_header(raw, f"{where}:{line + at}", at, only)
    return None


def _named(columns: Sequence[str], raw: str, where: str, at: int, only: str | None) -> Sheet:
    layout = lay_out([name.strip() for name in columns], "--columns")
    if len(columns) == 1:
        return Sheet(Form(NO_DELIMITER, 1), layout, at)
    for delimiter in only or _DELIMITERS:
        if len(_cells(raw, delimiter)) == len(columns):
            padded = any(cell != cell.strip() for cell in raw.split(delimiter))
            return Sheet(Form(delimiter, len(columns), padded), layout, at)
    raise InputError(
        f"{where}: expected {len(columns)} cells, as --columns names "
        f"({', '.join(map(show, columns))}), between tabs, semicolons, commas or bars; "
        f"found {show(raw)}"
    )


def _read_header(raw: str, where: str, at: int, only: str | None) -> Sheet:
    splits = [(delimiter, _cells(raw, delimiter)) for delimiter in (only or _DELIMITERS)]
    delimiter, cells = max(splits, key=lambda split: (_known(split[1]), len(split[1])))
    if len(cells) == 1:
        return _single(cells[0], where, at)
    if not _known(cells) and any(map(_is_figure, cells)):
        raise InputError(
            f"{where}: expected a header line that names the columns, such as "
            f"queue,processing_ms,rtt_ms, or --columns with their names; found {show(raw)}"
        )
    padded = any(cell != cell.strip() for cell in raw.split(delimiter))
    names = [cell.strip() for cell in cells]
    try:
        layout = lay_out(names, where)
    except InputError as error:
        if any(map(_is_figure, cells)):
            raise InputError(f"{error}; is the header line missing?") from error
        raise
    return Sheet(Form(delimiter, len(cells), padded), layout, at + 1)


def _single(cell: str, where: str, at: int) -> Sheet:
    form = Form(NO_DELIMITER, 1)
    name = cell.strip()
    if _is_figure(name):
        return Sheet(form, Layout((Column(Role.PROCESSING, "", 0),), ("",)), at)
    _, unit, base = read_name(name)
    if base not in _FIGURES:
        # a unit alone says no more than "a figure" either; any other name says what it is
        role, unit, _ = read_name(f"p_{name.strip(' ()[]')}")
        if role is not Role.PROCESSING or unit is None:
            return Sheet(form, lay_out([name], where), at + 1)
    return Sheet(form, Layout((Column(Role.PROCESSING, name, 0, unit),), (name,)), at + 1)


def _cells(raw: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([raw], delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        return [raw]


def _known(cells: Iterable[str]) -> int:
    return sum(read_name(cell)[0] is not None for cell in cells)


def _is_figure(cell: str) -> bool:
    decimals: tuple[Decimal, ...] = (".", ",")
    for decimal in decimals:
        try:
            parse_number(split_unit(cell)[0], decimal)
        except BadCell:
            continue
        return True
    try:
        parse_moment(cell)
    except BadCell:
        return False
    return True


def settle(
    layout: Layout,
    sample: Mapping[int, Sequence[str]],
    unit: str | None,
    where: str,
) -> tuple[Layout, Decimal]:
    """The layout with its units, and the decimal separator, from the cells of the first rows.

    Raises:
        InputError: neither the name of a duration nor its cells nor ``unit`` bring a unit.
    """
    columns = []
    for column in layout.columns:
        if column.role in DURATIONS and column.unit is None:
            if not any(split_unit(cell)[1] for cell in sample[column.index]):
                if unit is None:
                    _refuse_unitless(column, sample[column.index], where)
                column = replace(column, unit=unit)
            elif unit is not None:
                column = replace(column, unit=unit)
        columns.append(column)
    figures = (
        cell for column in columns if column.role in NUMBERS for cell in sample[column.index]
    )
    return replace(layout, columns=tuple(columns)), decimal_evidence(figures)


def _refuse_unitless(column: Column, cells: Sequence[str], where: str) -> None:
    """A column without any unit, unless nothing in it is a number anyway."""
    first = next((cell for cell in cells if _is_figure(cell)), None)
    if first is not None:
        named = f"column {show(column.name)}" if column.name else "the column of numbers"
        raise InputError(
            f"{where}: no unit: {named} has figures such as {show(first)}: give --unit ms (or s, "
            "us, ns), or name the column with its unit, such as processing_ms"
        )


def printed_step(column: Column | None, cells: Sequence[str]) -> float | None:
    """The last digit that the cells of a duration show, seconds; ``None``: it cannot be told.

    One decimal is how "0.0" is written for a plain 0, so it tells no more than none.
    """
    if column is None or column.unit is None:
        return None
    digits = 0
    for cell in cells:
        if not (found := _PLAIN.fullmatch(cell.strip())):
            return None
        digits = max(digits, len(found[1] or ""))
    return to_seconds(1.0, column.unit) * 10.0 ** -(digits if digits > 1 else 0)
