"""Tables of rabbitmqadmin v2 whose columns are told by their place: some styles, and scripts'.

``--non-interactive`` prints neither names of columns nor lines. Between two columns there are two
blanks, and two more for each column in between that is empty throughout, so the columns can be
counted; a table is read where count and types are those of a list that is known.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources.fields import shown
from prefetch_advisor.sources.grids import OTHER_NAMES, Grid, intakes, list_of
from prefetch_advisor.sources.rabbitmqctl_columns import COLUMNS, fits
from prefetch_advisor.sources.shell_lines import is_prompt

#: what rabbitmqadmin 2 lists when no columns are asked for
_LISTS = {
    "queues": (
        *("name", "vhost", "queue_type", "durable", "auto_delete", "exclusive", "arguments"),
        *("node", "state", "leader", "members", "online", "memory", "consumer_count"),
        *("consumer_utilisation", "policy", "operator_policy", "message_bytes", "message_count"),
        "unacknowledged_message_count",
    ),
    "consumers": (
        *("vhost", "queue", "consumer_tag", "manual_ack", "prefetch_count", "active", "exclusive"),
        *("arguments", "delivery_ack_timeout"),
    ),
    "channels": (
        *("id", "name", "vhost", "state", "consumer_count", "has_publisher_confirms_enabled"),
        *("prefetch_count", "messages_unacknowledged", "messages_unconfirmed"),
    ),
}
#: types of columns that rabbitmqctl has not, or not in that list
_TYPES = {
    **dict.fromkeys(("exclusive", "has_publisher_confirms_enabled"), "boolean"),
    **dict.fromkeys(("id", "consumer_count", "delivery_ack_timeout"), "integer"),
}
#: columns that are never empty, by which a list is told
_TOLD_BY = ("boolean", "word")
_OWN_NAMES = ("queue_type", "message_count", "manual_ack", "has_publisher_confirms_enabled")
_PSQL = re.compile(r"-+(?:\+-+)+")
_DOTS = re.compile(r":\.+(?::\.+)+:")
_FRAME = re.compile(r"[.:]{5,}|[-+]{5,}")
_FIRST_LINES = 50
_BITS = str.maketrans({code: "1" for code in range(128) if code != 32} | {32: "0"})


@dataclass(frozen=True, slots=True)
class _Ruler:
    """Where the columns of a table stand: the first place of each, and the one behind it."""

    columns: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    #: lines above its rows
    above: int = 0
    #: what stands between two columns, but for blanks
    between: str = ""
    #: the list whose columns they are taken for; "" where a header names them
    listed: str = ""

    def cut(self, places: Sequence[str]) -> list[str] | None:
        """The cells of a row; ``None``: something else stands between two columns."""
        end = 0
        cells: list[str] = []
        for start, stop in self.spans:
            gap = "".join(places[end:start]).strip(" ")
            # the outermost bars are not drawn in every style
            if gap != self.between and (cells or gap):
                return None
            cells.append("".join(places[start:stop]))
            end = stop
        return cells if "".join(places[end:]).strip(" ") in ("", self.between) else None


def is_fixed(text: str) -> bool:
    """Whether a text is a table of a style that is told by place, or of a known list."""
    return _ruler(_lines(text)) is not None


def refuse_untold(text: str, where: str) -> None:
    """Say what to do with a table without names of columns that cannot be told.

    Raises:
        InputError: it is one.
    """
    lines = [line for _, line in _lines(text)]
    widths = {len(_places(line)) for line in lines}
    if len(widths) == 1 and all(line.endswith(" ") for line in lines) and len(_regions(lines)) > 1:
        raise InputError(
            f"{where}: a table without names of columns, as rabbitmqadmin --non-interactive "
            "prints it, and they cannot be told for certain: expected all columns of queues, "
            "consumers or channels (no --columns, no double blanks in every name): run it without "
            f"--non-interactive; found {shown(lines[0])}"
        )


def read_fixed(text: str, where: str, strict: bool = False) -> list[Intake]:
    """The one list of a text.

    Raises:
        InputError: its columns cannot be told, or no row of it can be used.
    """
    lines = _lines(text, whole=True)
    ruler = _ruler(lines)
    if ruler is None:
        refuse_untold(text, where)
        raise InputError(f"{where}: expected a table of rabbitmqadmin, found {shown(text)}")
    grid = Grid(list(ruler.columns))
    for number, line in lines[ruler.above :]:
        if _FRAME.fullmatch(line.strip()):
            continue
        cells = ruler.cut(_places(line))
        told = not ruler.listed or _fits(ruler.listed, ruler.columns, cells)
        if cells is None or not told or not any(map(str.strip, cells[1:])):
            grid.bad.append((number, "cells in their columns, as in other rows", shown(line)))
        else:
            grid.rows.append((number, [cell.rstrip(" ") for cell in cells]))
    return intakes([grid], where, strict)


def _lines(text: str, whole: bool = False) -> list[tuple[int, str]]:
    """Lines that say something, without prompts at either end."""
    raw = text.split("\n")
    if not whole:
        # the last one may be cut
        raw = raw[:-1] if len(raw) > 1 else raw
    numbered = [(n, line.removesuffix("\r")) for n, line in enumerate(raw, 1)]
    numbered = [(n, line) for n, line in numbered if line.strip()]
    while numbered and not numbered[0][1].endswith(" ") and is_prompt(numbered[0][1].strip()):
        del numbered[0]
    while numbered and not numbered[-1][1].endswith(" ") and is_prompt(numbered[-1][1].strip()):
        numbered.pop()
    return numbered


def _ruler(lines: Sequence[tuple[int, str]]) -> _Ruler | None:
    return next(iter(_rulers([line for _, line in lines])), None)


def _rulers(lines: Sequence[str]) -> Iterator[_Ruler]:
    for at, line in enumerate(lines[:3]):
        bar = "|" if _PSQL.fullmatch(line.strip()) else ":" if _DOTS.fullmatch(line.strip()) else ""
        if at and bar:
            spans = [
                (m.start(), m.end()) for m in re.finditer(r"-+" if bar == "|" else r"\.+", line)
            ]
            spans = [(start + 1, end) for start, end in spans]
            yield from _under_header(lines[at - 1], spans, at + 1, bar)
    if lines and lines[0].startswith(" "):
        starts = [found.start() for found in re.finditer(r"\S+", lines[0])]
        spans = list(zip(starts, [*(start - 3 for start in starts[1:]), 10_000], strict=True))
        if any(name in lines[0].split() for name in _OWN_NAMES):
            yield from _under_header(lines[0], spans, 1, "")
    yield from _without_header(lines)


def _under_header(
    header: str, spans: Sequence[tuple[int, int]], above: int, bar: str
) -> Iterator[_Ruler]:
    ruler = _Ruler((), tuple(spans), above, bar)
    cells = ruler.cut(_places(header))
    names = tuple(cell.strip() for cell in cells or ())
    if cells is not None and all(names) and list_of(names) is not None:
        yield _Ruler(names, tuple(spans), above, bar)


def _without_header(lines: Sequence[str]) -> Iterator[_Ruler]:
    """The ruler of a known list whose columns these can be, and of no other."""
    regions = _regions(lines)
    if len(regions) < 5 or regions[0][0] != 0:
        return
    widths = Counter(len(_places(line)) for line in lines)
    (usual, often), *_ = widths.most_common(1)
    width = usual if often * 2 > len(lines) else max(widths)
    gaps = [b - a for (_, a), (b, _) in itertools.pairwise(regions)]
    # what is empty at the end shows only where the blanks at the ends of the lines were kept
    behind = width - regions[-1][1] - 1
    if any(gap % 2 for gap in gaps) or (behind > 0 and behind % 2):
        return
    spans = []
    for (start, end), gap in zip(regions, [*gaps, max(behind, 0) + 2], strict=True):
        spans.append((start, end))
        spans += [(end + 2 * n, end + 2 * n) for n in range(1, gap // 2)]
    rows = [_places(line) for line in lines]
    for listed, columns in _LISTS.items():
        missing = len(columns) - len(spans)
        if missing == 0 or (behind < 0 < missing):
            filled = [*spans, *[(width, width)] * missing]
            ruler = _Ruler(columns, tuple(filled), listed=listed)
            fitting = sum(_fits(listed, columns, ruler.cut(row)) for row in rows)
            # spoilt rows are told, each by its line
            if fitting * 10 >= len(rows) * 9:
                yield ruler


def _fits(listed: str, columns: Sequence[str], cells: Sequence[str] | None) -> bool:
    if cells is None:
        return False
    for column, cell in zip(columns, cells, strict=True):
        name = OTHER_NAMES.get(column, column)
        kind = _TYPES.get(column) or COLUMNS[listed].get(name, "text")
        found = cell.rstrip(" ")
        if kind != "list" and (not fits(found, kind) or (kind in _TOLD_BY and not found)):
            return False
    return True


def _regions(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The places where something stands in any line, as far as no two blanks part them."""
    places = [_places(line) for line in lines]
    # a row that is longer or shorter than most is out of place
    (usual, often), *_ = Counter(map(len, places)).most_common(1) or [(0, 0)]
    if often * 2 > len(lines):
        lines = [line for line, row in zip(lines, places, strict=True) if len(row) == usual]
        places = [row for row in places if len(row) == usual]
    width = max(map(len, places), default=0)
    taken = 0
    for line, row in zip(lines, places, strict=True):
        if line.isascii():
            bits = line.translate(_BITS)
        else:
            bits = "".join("0" if place == " " else "1" for place in row)
        taken |= int(bits.ljust(width, "0") or "0", 2)
    drawn = f"{taken:0{width}b}" if width else ""
    return [found.span() for found in re.finditer(r"1+(?:01+)*", drawn)]


def _places(line: str) -> Sequence[str]:
    """What stands at each place of a terminal: a wide character takes two, an accent none."""
    if line.isascii():
        return line
    places: list[str] = []
    # an accent joins the character before it, but at the beginning of a cell the one behind it
    before = ""
    for character in line:
        if not character.isascii() and unicodedata.category(character) in ("Mn", "Me", "Cf"):
            if places and places[-1] != " ":
                places[-1] += character
            else:
                before += character
            continue
        places.append(before + character)
        before = ""
        if unicodedata.east_asian_width(character) in "WF":
            places.append("")
    if before:
        places.append(before)
    return places
