"""Lists of ``rabbitmqctl`` and ``rabbitmqadmin`` as CSV, or drawn with rules and bars."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources.admin_cells import as_printed, entries, joined
from prefetch_advisor.sources.fields import Doubts, shown
from prefetch_advisor.sources.queue_names import no_name
from prefetch_advisor.sources.rabbitmqctl import build, named
from prefetch_advisor.sources.rabbitmqctl_columns import (
    COLUMNS,
    EXPECTED,
    IDENTITY,
    column_types,
    fits,
    header_list,
    value,
)

#: DEC line drawing, as pretty_table prints it into a pipe too
_DRAWN = re.compile(r"\x1b\(0([a-x]+)\x1b\(B")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_RULE = re.compile(r"[\s╭╮╰╯├┤┌┐└┘┬┴┼─│+|:=-]*[─=-]{2,}[\s╭╮╰╯├┤┌┐└┘┬┴┼─│+|:=-]*")
_BARS = ("│", "|")
#: what rabbitmqadmin calls the columns of rabbitmqctl
OTHER_NAMES = {
    "queue": "queue_name",
    "queue.name": "queue_name",
    "queue.vhost": "vhost",
    "channel_details.name": "channel_pid",
    "queue_type": "type",
    "message_count": "messages",
    "unacknowledged_message_count": "messages_unacknowledged",
    "manual_ack": "ack_required",
}
#: a channel is known by its name there, which is no pid
_TEXTS = ("channel_details.name",)
#: the same name for different things in two lists
_OF_QUEUES = {"consumer_count": "consumers"}
_LISTING = re.compile(r"Listing \w[\w ]*? (?:for|in) vhost (.*?) \.\.\.")


@dataclass(slots=True)
class Grid:
    """One list: its columns as printed, and its rows with their line numbers."""

    columns: list[str]
    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    vhost: str | None = None
    #: rows that are none: line, what was expected, what was found
    bad: list[tuple[int, str, str]] = field(default_factory=list)


def drawn(text: str) -> bool:
    """Whether a text is, or begins with, a table that is drawn."""
    lines = (line for line in text.split("\n")[:50] if line.strip())
    previous = ""
    for line in map(_plain, lines):
        if _is_row(line) and (_RULE.fullmatch(previous) or list_of(_cells(line)) is not None):
            return True
        previous = line
    return False


def is_csv(text: str) -> bool:
    """Whether a text is a list with quoted or bare cells between commas, under its header."""
    first = next((line for line in text.split("\n")[:5] if line.strip() and "," in line), "")
    try:
        cells = next(csv.reader([first.strip("\r")]), [])
    except csv.Error:
        return False
    # by rabbitmqctl's own names alone: timings have a column queue too
    return len(cells) > 1 and header_list(cells) is not None and list_of(cells) is not None


def is_tsv(text: str) -> bool:
    """Whether a text is consumers with tabs between cells, under rabbitmqadmin's own names."""
    return any(_is_tsv_header(line) for line in text.split("\n")[:5])


def _is_tsv_header(line: str) -> bool:
    cells = line.strip("\r").split("\t")
    return "queue.name" in cells and list_of(cells) == "consumers"


def read_drawn(text: str, where: str, strict: bool = False) -> list[Intake]:
    """The lists of a text with drawn tables, in order.

    Raises:
        InputError: no table has a header that names a list, or no row of them can be used.
    """
    return intakes(list(_grids(text)), where, strict)


def read_csv(text: str, where: str, strict: bool = False) -> list[Intake]:
    """The one list of a CSV.

    Raises:
        InputError: it is broken as CSV, or no row of it can be used.
    """
    # strict: a quote out of place would make one name of two
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    grid: Grid | None = None
    try:
        for cells in reader:
            if grid is None:
                if list_of(cells) is not None:
                    grid = Grid(cells)
            elif any(cells):
                grid.rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise InputError(f"{where}:{reader.line_num}: expected CSV, found {error}") from None
    return intakes([grid] if grid is not None else [], where, strict)


def read_tsv(text: str, where: str, strict: bool = False) -> list[Intake]:
    """The one list of a text with tabs between cells.

    Raises:
        InputError: no row of it can be used.
    """
    grid: Grid | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if _is_tsv_header(line):
            grid = grid or Grid(line.strip("\r").split("\t"))
        elif grid is not None and line.strip("\r"):
            grid.rows.append((number, line.removesuffix("\r").split("\t")))
    return intakes([grid] if grid is not None else [], where, strict)


def _grids(text: str) -> Iterator[Grid]:
    grid: Grid | None = None
    vhost = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = _plain(raw.removesuffix("\r"))
        announced = _LISTING.fullmatch(line.strip())
        if announced is not None:
            vhost = announced[1]
        if not _is_row(line):
            if grid is not None and line.strip() and not _RULE.fullmatch(line):
                yield grid
                grid = None
            continue
        cells = _cells(line)
        if _RULE.fullmatch(line):
            continue
        if grid is None or list_of(cells) is not None:
            if grid is not None:
                yield grid
            grid = Grid(cells, vhost=vhost)
        else:
            grid.rows.append((number, cells))
    if grid is not None:
        yield grid


def _plain(line: str) -> str:
    """A line without styles, its drawn bars and rules as characters."""
    if "\x1b" not in line:
        return line
    plain = _DRAWN.sub(lambda found: "│" if found[1] == "x" else "─" * len(found[1]), line)
    # the header of what is drawn so is bold; elsewhere an escape is a part of a name
    return _STYLE.sub("", plain) if plain != line and "\x1b[1m" in line else plain


def _is_row(line: str) -> bool:
    line = line.strip()
    return len(line) > 1 and line[0] in _BARS and line[-1] == line[0]


def _cells(line: str) -> list[str]:
    line = line.strip()
    bar = line[0]
    # a bar in a name cannot be told from one between cells: such a row does not fit
    return [cell.strip(" ") for cell in line[1:-1].split(bar)]


def list_of(cells: Sequence[str]) -> str | None:
    """The list whose header the cells are, whatever other columns stand among them."""
    found = _header(cells)
    return found[0] if found is not None else None


def _header(cells: Sequence[str]) -> tuple[str, dict[int, str]] | None:
    """A list and its columns by their place, by the names that rabbitmqctl has for them."""
    named_cells = [cell.strip() for cell in cells if cell.strip()]
    if len(set(named_cells)) != len(named_cells):
        return None
    renamed = [OTHER_NAMES.get(cell.strip(), cell.strip()) for cell in cells]
    for listed in ("consumers", "channels", "queues"):
        names = [_OF_QUEUES.get(name, name) if listed == "queues" else name for name in renamed]
        known = {i: name for i, name in enumerate(names) if name in COLUMNS[listed]}
        # of a name with a dot, the entry of a column, there may be any number
        others = sum(cell.strip() != "" and "." not in cell for cell in cells) - len(known)
        half = len(known) >= others
        if half and _identity(listed, known) and header_list(list(known.values())) == listed:
            return listed, known
    return None


def _identity(listed: str, known: Mapping[int, str]) -> str | None:
    """The column that says whose a row is."""
    names = (IDENTITY[listed], "name") if listed == "channels" else (IDENTITY[listed],)
    return next((name for name in names if name in known.values()), None)


def intakes(grids: Sequence[Grid], where: str, strict: bool) -> list[Intake]:
    """An intake for each grid under a header.

    Raises:
        InputError: there is none, or no row of them can be used.
    """
    found = []
    for grid in grids:
        header = _header(grid.columns)
        if header is None:
            continue
        doubts = Doubts(where, strict)
        rows = [row for row in _rows(grid, *header, doubts) if named(row, header[0])]
        found.append(build(rows, header[0], grid.vhost, doubts))
    if not found:
        columns = ", ".join(grids[0].columns) if grids else "none"
        raise InputError(
            f"{where}: no table of queues, consumers or channels: expected columns such as name "
            "and messages, or queue_name (rabbitmqadmin: queue.name) and prefetch_count, found "
            f"{shown(columns)}"
        )
    usable = any(i.queues or i.consumers or i.channels or i.connections for i in found)
    bad = [row for intake in found for row in intake.bad_rows]
    if bad and not usable:
        first = bad[0]
        raise InputError(
            f"{where}:{first.line}: no usable row: expected {first.expected}, found {first.found}"
        )
    return found


def _rows(
    grid: Grid, listed: str, known: Mapping[int, str], doubts: Doubts
) -> Iterator[dict[str, object]]:
    names = list(known.values())
    types = [
        "text" if grid.columns[at] in _TEXTS else kind
        for at, kind in zip(known, column_types(listed, names), strict=True)
    ]
    for number, wanted, found in grid.bad:
        doubts.bad_row(number, wanted, found)
    identity = names.index(_identity(listed, known) or names[0])
    for number, cells in joined(grid.rows, grid.columns):
        if len(cells) != len(grid.columns):
            wanted = f"{len(grid.columns)} cells ({_listed(grid.columns)})"
            doubts.bad_row(number, wanted, f"{len(cells)}: {shown('|'.join(cells))}")
            continue
        kept = [as_printed(cells[at], kind) for at, kind in zip(known, types, strict=True)]
        wrong = [at for at, kind in enumerate(types) if not fits(kept[at], kind)]
        if wrong:
            at = wrong[0]
            doubts.bad_row(number, f"{EXPECTED[types[at]]} in {names[at]}", shown(kept[at]))
        elif not kept[identity]:
            doubts.bad_row(number, f"a name in {names[identity]}", "an empty cell")
        elif listed != "channels" and (missing := no_name(kept[identity])) is not None:
            doubts.bad_row(number, f"{missing[0]} in {names[identity]}", missing[1])
        else:
            row = dict(zip(names, map(value, kept, types), strict=True))
            yield _with_ready(row | entries(cells, grid.columns))


def _listed(columns: Sequence[str]) -> str:
    """The columns in one line, whatever a spoilt header holds."""
    return ", ".join(name if name.isprintable() else shown(name) for name in columns)


def _with_ready(row: dict[str, object]) -> dict[str, object]:
    """rabbitmqadmin shows all messages and the unacked ones; the rest is ready."""
    every, unacked = row.get("messages"), row.get("messages_unacknowledged")
    if "messages_ready" not in row and isinstance(every, int) and isinstance(unacked, int):
        row["messages_ready"] = max(0, every - unacked)
    return row
