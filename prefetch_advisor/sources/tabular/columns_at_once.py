"""Whole columns of cells into arrays at once, or not at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from prefetch_advisor.sources.cells import MAX_SECONDS, PER_SECOND, Decimal, unit_named
from prefetch_advisor.sources.tabular.bad_rows import BadCell
from prefetch_advisor.sources.tabular.rows import text_of
from prefetch_advisor.units import SECONDS

if TYPE_CHECKING:
    from prefetch_advisor.model.timing import Floats

_UNIT = re.compile(r"[A-Za-zµμ]+$")


def seconds(cells: list[Any], unit: str | None, decimal: Decimal, required: bool) -> Floats:
    """Durations, seconds; NaN for an empty cell that is not ``required``.

    Raises:
        BadCell: something in them is not plain; which, only a look at each cell tells.
    """
    if unit is None or (isinstance(cells[0], bytes | str) and cells[0][-1:].isalpha()):
        cells, unit = _without_unit(cells)
    values = numbers(cells, decimal, required)
    with np.errstate(over="ignore"):
        values = values / PER_SECOND[unit] if unit in PER_SECOND else values * SECONDS[unit]
    if (values > MAX_SECONDS).any():
        raise BadCell("", "")
    return values


def numbers(cells: list[Any], decimal: Decimal, required: bool) -> Floats:
    """Finite numbers of 0 or more; otherwise as :func:`seconds`."""
    cells = _plain(cells, decimal)
    missing = 0
    if not required:
        empty = (b"",) if isinstance(cells[0], bytes) else ("", None)
        if missing := sum(map(cells.count, empty)):
            cells = ["nan" if cell in empty else cell for cell in cells]
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except (ValueError, TypeError, OverflowError):
        raise BadCell("", "") from None
    if np.count_nonzero(np.isnan(values)) != missing:
        raise BadCell("", "")
    if missing < len(cells):
        low, high = np.fmin.reduce(values), np.fmax.reduce(values)
        if low < 0 or high == np.inf:
            raise BadCell("", "")
    return values


def _plain(cells: list[Any], decimal: Decimal) -> list[Any]:
    """Cells that ``float`` reads as they are meant."""
    if type(cells[0]) is bytes:  # as are all, then
        if decimal != ",":
            return cells
        joined = b"\n".join(cells)
        if b"." in joined:
            raise BadCell("", "")
        return joined.replace(b",", b".").split(b"\n")
    kinds = set(map(type, cells))
    if kinds == {str}:
        joined_text = "\n".join(cells)
        if not joined_text.isascii() or (decimal == "," and "." in joined_text):
            raise BadCell("", "")
        return joined_text.replace(",", ".").split("\n") if decimal == "," else cells
    if not kinds <= {int, float, type(None)}:
        raise BadCell("", "")
    return cells


def _without_unit(cells: list[Any]) -> tuple[list[Any], str]:
    """Cells that all end with the same unit, without it."""
    found = _UNIT.search(text_of(cells[0]))
    unit = unit_named(found[0]) if found else None
    if found is None or unit is None or not isinstance(cells[0], bytes | str):
        raise BadCell("", "")
    ending = found[0].encode() if isinstance(cells[0], bytes) else found[0]
    try:
        same = all(cell.endswith(ending) for cell in cells)
    except (AttributeError, TypeError):  # JSON: something else than text
        same = False
    if not same:
        raise BadCell("", "")
    return [cell[: -len(ending)] for cell in cells], unit
