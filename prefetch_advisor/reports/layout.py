"""Columns fitted to a width: numbers are never cut, names lose their middle, the rest gives way."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from prefetch_advisor.model.record import record
from prefetch_advisor.reports.escape import isolated, isolated_runs, units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    #: cells that a text takes in a terminal
    Measure = Callable[[str], int]

#: cells between two columns: with one, "- → 2" and its neighbour run together
GAP = 2
#: a name is shown to this length where no column has to leave for it
_NAME = 24
#: and to this one before there is a column of prose
_NAME_BEFORE_PROSE = 32
#: names are not made longer than this only to tell them apart
_TELL_APART = 40
#: more rows than this are not compared with each other
_COMPARED = 200
_LAST_RESORT = 8


class Cell(NamedTuple):
    """Text and the style it has where there is colour."""

    text: str
    style: str = ""


@record
class Entry:
    """A label and its text, of which ``head`` comes first and carries the style."""

    label: str
    text: str
    head: str = ""
    style: str = ""
    #: wrapped at the width; a URL is not, so that it can be copied
    wrap: bool = True


@record
class Column:
    """One column of a grid."""

    title: str
    right: bool = False
    #: ``name`` loses its middle, ``prose`` its end; ``fixed`` is never cut
    kind: str = "fixed"
    #: least cells of a name or prose
    least: int = 0
    #: the highest leaves first where the width does not do; 0 never
    leaves: int = 0


@record
class Grid:
    """Rows of cells under their columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    #: cells before each line
    indent: int = 0


@record
class Fitted:
    """The columns that fit, by position, with their widths."""

    kept: tuple[int, ...]
    widths: tuple[int, ...]


def fit(grid: Grid, width: int, measure: Measure) -> Fitted:
    """Which columns fit into ``width``, and how wide each is."""
    natural = [
        max(measure(column.title), *(measure(row[index].text) for row in grid.rows), 0)
        for index, column in enumerate(grid.columns)
    ]
    least = [
        min(wide, _least(grid, index, measure)) if column.kind != "fixed" else wide
        for index, (column, wide) in enumerate(zip(grid.columns, natural, strict=True))
    ]
    kept = list(range(len(grid.columns)))
    while True:
        prose = any(grid.columns[index].kind == "prose" for index in kept)
        for wish in (_NAME_BEFORE_PROSE,) if prose else (_NAME, 0):
            needed = {
                index: max(least[index], min(natural[index], wish))
                if grid.columns[index].kind == "name"
                else least[index]
                for index in kept
            }
            room = width - GAP * (len(kept) - 1) - sum(needed.values())
            if room >= 0:
                return Fitted(tuple(kept), _widths(kept, needed, natural, room))
        leaving = max(kept, key=lambda index: grid.columns[index].leaves)
        if grid.columns[leaving].leaves == 0:
            return _squeezed(grid, kept, needed, width)
        kept.remove(leaving)


def _least(grid: Grid, index: int, measure: Measure) -> int:
    """Cells that a name needs to be told from the others, within reason."""
    column = grid.columns[index]
    if column.kind != "name" or len(grid.rows) > _COMPARED:
        return column.least
    names = {row[index].text for row in grid.rows}
    for size in range(column.least, _TELL_APART):
        if len({shortened(name, size, "\0", measure) for name in names}) == len(names):
            return size
    return column.least


def _widths(
    kept: Sequence[int], needed: dict[int, int], natural: Sequence[int], room: int
) -> tuple[int, ...]:
    widths = []
    for index in kept:
        more = min(room, natural[index] - needed[index])
        widths.append(needed[index] + more)
        room -= more
    return tuple(widths)


def _squeezed(grid: Grid, kept: Sequence[int], needed: dict[int, int], width: int) -> Fitted:
    """Nothing may leave any more: names give up what they have, and a line may be too long."""
    over = sum(needed.values()) + GAP * (len(kept) - 1) - width
    for index in kept:
        if grid.columns[index].kind != "fixed" and over > 0:
            less = min(over, max(0, needed[index] - _LAST_RESORT))
            needed[index] -= less
            over -= less
    return Fitted(tuple(kept), tuple(needed[index] for index in kept))


def shortened(shown: str, width: int, ellipsis: str, measure: Measure) -> str:
    """``shown`` within ``width`` cells, its middle replaced; no escape and no letter is cut."""
    if measure(shown) <= width:
        return shown
    parts = units(shown)
    sizes = [measure(part) for part in parts]
    room = width - len(ellipsis)
    head, tail = 0, len(parts)
    left, right = room - room // 2, room // 2
    while tail > 0 and sizes[tail - 1] <= right:
        tail -= 1
        right -= sizes[tail]
    left += right
    while head < tail and sizes[head] <= left:
        left -= sizes[head]
        head += 1
    return "".join([*parts[:head], ellipsis, *parts[tail:]])


def clipped(text: str, width: int, ellipsis: str, measure: Measure) -> str:
    """Prose within ``width`` cells, cut at the end, between words where that loses little."""
    if measure(text) <= width:
        return text
    room = width - len(ellipsis)
    kept = ""
    for part in units(text):
        room -= measure(part)
        if room < 0:
            break
        kept += part
    whole = kept.rpartition(" ")[0]
    return (whole if len(whole) * 3 >= len(kept) * 2 else kept).rstrip(" ,;:") + ellipsis


def laid_out(grid: Grid, fitted: Fitted, ellipsis: str, measure: Measure) -> list[list[Cell]]:
    """The lines of a grid, its titles first, as padded cells; the last one has no padding."""
    titles = tuple(Cell(column.title, "title") for column in grid.columns)
    last = len(fitted.kept) - 1
    lines = []
    for row in (titles, *grid.rows):
        line = []
        for place, (index, width) in enumerate(zip(fitted.kept, fitted.widths, strict=True)):
            column = grid.columns[index]
            text = row[index].text
            if column.kind == "name":
                text = shortened(text, width, ellipsis, measure)
            elif column.kind == "prose":
                text = clipped(text, width, ellipsis, measure)
            padding = " " * (width - measure(text))
            if column.kind == "name":
                text = isolated(text)
            elif column.kind == "prose":
                text = isolated_runs(text)
            if column.right:
                text = padding + text
            elif place != last:
                text += padding
            line.append(Cell(text if place == last else text + " " * GAP, row[index].style))
        lines.append(line)
    return lines
