"""What an input is, told by its content and never by its name."""

from __future__ import annotations

import json
import re
from enum import StrEnum

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import SourceKind
from prefetch_advisor.sources import celery_log, histograms
from prefetch_advisor.sources.columns import Role, read_name
from prefetch_advisor.sources.fixed_width import is_fixed, refuse_untold
from prefetch_advisor.sources.grids import drawn, is_csv, is_tsv
from prefetch_advisor.sources.json_kinds import document_list
from prefetch_advisor.sources.json_text import decode
from prefetch_advisor.sources.key_values import is_keyed
from prefetch_advisor.sources.pasted import looks_like_json, segments
from prefetch_advisor.sources.rabbitmqctl_columns import COLUMNS, PID, header_list
from prefetch_advisor.sources.shell_lines import LONGEST_PROSE, command

EXPECTED = (
    "timings (CSV, JSON Lines or a column of numbers), lists of queues, consumers or channels of "
    "rabbitmqctl or rabbitmqadmin, or JSON saved from the management API"
)
_PREAMBLE = re.compile(r"Listing (\w[\w ]*?)(?: (?:for|in) vhost (.*?))? \.\.\.")
_DECORATION = re.compile(r"Timeout: [\d.]+ seconds \.\.\.")
_ERROR = re.compile(r"(?:Error(?: \([^)\t]*\))?:|\*\* \()[^\t]*")
_USAGE = re.compile(r"Usage\b[: ]*")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: non-blank lines among which an error or a usage text begins
_ERROR_LINES = 3
_CRASHED = "--formatter=pretty_table crashed"
_CRASH = re.compile(r"Stack trace:$")
_NAMES = "|".join(sorted({name for columns in COLUMNS.values() for name in columns}))
#: where a list begins as Erlang terms: proplists in brackets, an empty one of a queue without any
ERLANG = re.compile(
    rf"^[ \t]*(?=\[[\[\]\s,]{{0,200}}#?\{{\s*(?:{_NAMES})\s*(?:,|=>))", re.MULTILINE
)
ERLANG_EMPTY = re.compile(r"[ \t]*\[[\[\]\s,]*\][ \t\r]*(?:\n|\Z)")
_ERLANG_NONE = re.compile(r"^Listing [^\n]* \.\.\.\r?\n\s*\[[\[\]\s,]*\]", re.MULTILINE)
_OTHER_FORMAT = (
    (_CRASH, _CRASHED),
    (re.compile(r"\x1b\(0|┌"), "--formatter=pretty_table output"),
    (re.compile(r"\+-{3,}|\| *name |[╭│├]"), "rabbitmqadmin's table"),
)
#: a first cell that is a figure or a time: a row of timings, not of queues
_FIGURE = re.compile(
    # possessive: a long run of blanks would be divided in every way
    r"[\s\"']*+[-+]?\.?\d[\d.,:TZ/_ eE+-]*+\s*+(?:ns|us|µs|ms|sec|s|min|m|h)?+[\s\"']*+"
)
#: what only the broker's own metrics hold; and what they, or an exporter of them, hold too
_OF_BROKER = re.compile(rb"^(?:# \w+ )?(?:erlang_vm_|rabbitmq_(?:build|identity)_info)", re.M)
_OF_QUEUES = re.compile(rb"^(?:# \w+ )?rabbitmq_(?:detailed_)?(?:queue|channel)s?_", re.M)
_HEAD_LINES = 200
#: most rows of timings: neither a header, nor prose, nor a command
_NO_LISTING = re.compile(r"[^\s,;]*[,;]\S*|[\d.,]+")
_TIMES = {Role.PROCESSING, Role.CYCLE, Role.STARTED, Role.FINISHED}


class Form(StrEnum):
    """What reads an input."""

    TIMINGS = "timings"
    TEXT = "rabbitmqctl text"
    DRAWN = "drawn tables"
    CSV = "rabbitmqctl CSV"
    TSV = "rabbitmqadmin's tsv"
    FIXED = "rabbitmqadmin's columns"
    KEYED = "rabbitmqadmin's kvp or long"
    CELERY = "the log of a Celery worker"
    HISTOGRAMS = "histograms"
    JSON = "json"


def recognise_input(
    head: bytes, where: str, kind: str | None = None, columns: bool = False
) -> Form:
    """The form of an input that begins with ``head``; ``kind`` is what the user says it is.

    With ``columns``, the user named those of timings that have no header.

    Raises:
        InputError: it is nothing that can be read; the message says what was expected.
    """
    text = decode(head).lstrip("\ufeff")
    start = text.lstrip()
    if _OF_BROKER.search(head):
        raise _broker_metrics(where)  # its histograms are of sizes
    if kind in (None, SourceKind.TIMINGS) and celery_log.looks_like(head):
        return Form.CELERY
    if kind in (None, SourceKind.TIMINGS) and histograms.looks_like(head):
        return Form.HISTOGRAMS
    if kind in (None, SourceKind.MANAGEMENT) and _OF_QUEUES.search(head):
        raise _broker_metrics(where)
    if kind == SourceKind.TIMINGS:
        return Form.TIMINGS
    if not start:
        raise InputError(
            f"{where}: is empty: expected {EXPECTED} (rabbitmqctl prints its errors on stderr, "
            "and -q prints nothing for a vhost without queues)"
        )
    if kind != SourceKind.MANAGEMENT and (ERLANG.search(text) or _ERLANG_NONE.search(text)):
        return Form.TEXT
    if start[:1] in "{[" and looks_like_json(start):
        return Form.TIMINGS if kind is None and _is_timing(start) else Form.JSON
    if any(segment.json for segment in segments(text)):
        return Form.TEXT
    if drawn(text):
        return Form.DRAWN
    if is_csv(text):
        return Form.CSV
    if is_tsv(text):
        return Form.TSV
    if is_keyed(text):
        return Form.KEYED
    if is_fixed(text):
        return Form.FIXED
    if kind == SourceKind.MANAGEMENT:
        raise InputError(f"{where}: expected JSON of the management API, found {_first(start)!r}")
    lines = [line.rstrip("\r") for line in text.lstrip("\r\n").split("\n")[:_HEAD_LINES]]
    if kind == SourceKind.RABBITMQCTL:
        _refuse_complaint(lines, where)
        return Form.TEXT
    return _text_form(text, lines, where, columns)


def _broker_metrics(where: str) -> InputError:
    return InputError(
        f"{where}: expected {EXPECTED}, found the broker's own Prometheus metrics, which show no "
        "consumer's prefetch: save /api/queues, /api/consumers and /api/channels instead"
    )


def _text_form(text: str, lines: list[str], where: str, columns: bool) -> Form:
    first = next((line for line in lines if line.strip()), "")
    _refuse_complaint(lines, where)
    if any(is_listing(line) for line in lines):
        return Form.TEXT
    if re.match(r"\s*<(?:!doctype|html|\?xml|head|body)", first, re.IGNORECASE):
        raise InputError(
            f"{where}: expected {EXPECTED}, found an HTML page: a login page or the management UI "
            "itself; save what its /api/queues answers"
        )
    if "\0" in text:
        raise InputError(f"{where}: expected {EXPECTED}, found binary data")
    refuse_other_format(first, where)
    refuse_untold(text, where)
    if _with_pids(lines) or (not columns and _counts(lines)):
        return Form.TEXT
    if re.search(r"[,;\t]", first) or _FIGURE.fullmatch(first) or re.fullmatch(r"\W*\w+\W*", first):
        return Form.TIMINGS
    raise InputError(f"{where}: expected {EXPECTED}, found {_first(first)!r}")


def is_error(line: str) -> bool:
    """Whether a line is an error of rabbitmqctl's."""
    return _ERROR.fullmatch(line) is not None


def _refuse_complaint(lines: list[str], where: str) -> None:
    complaint = _complaint(lines)
    # an error between lists is the reader's business
    if complaint and not any(is_listing(line) for line in lines if not command(line)):
        raise InputError(f"{where}: {complaint}")


def _complaint(lines: list[str]) -> str:
    """What rabbitmqctl prints in place of a list, if the lines begin so."""
    begun = [_ESCAPES.sub("", line).strip() for line in lines if line.strip()][:_ERROR_LINES]
    if begun and _CRASH.fullmatch(begun[0]):
        return ""
    for line in begun:
        if is_error(line):
            return f"rabbitmqctl printed an error and lists nothing: {_first(line, 200)}"
    if any(_USAGE.fullmatch(line) for line in begun):
        return "rabbitmqctl printed its usage text and lists nothing"
    return ""


def preamble(line: str) -> re.Match[str] | None:
    """List and vhost of a line that announces a list."""
    if line.startswith("Listing ") and len(line) <= LONGEST_PROSE:
        return _PREAMBLE.fullmatch(line)
    return None


def is_listing(line: str) -> bool:
    """Whether a line is what only ``rabbitmqctl list_*`` or its shell prompt prints."""
    line = line.strip()
    if _NO_LISTING.fullmatch(line):
        return False
    if preamble(line) or _DECORATION.fullmatch(line) or command(line):
        return True
    return header_list(split_cells(line)) is not None


def is_decoration(line: str) -> bool:
    """Whether a line is there for the eye only."""
    return _DECORATION.fullmatch(line) is not None or line in ("...done.", "...done")


def split_cells(line: str) -> list[str]:
    """The cells of a row: tabs, or the runs of spaces that copy and paste makes of them."""
    return line.split("\t") if "\t" in line else re.split(r" {2,}", line.strip(" "))


def refuse_other_format(line: str, where: str) -> None:
    """Name the formats of the tools that are not read.

    Raises:
        InputError: the line begins one of them.
    """
    for pattern, name in _OTHER_FORMAT:
        if pattern.match(line.strip()):
            raise InputError(_not_read(where, name))
    for separator in (",", ";"):
        cells = [cell.strip().strip('"') for cell in line.split(separator)]
        every = all(any(cell in known for known in COLUMNS.values()) for cell in cells)
        if line.count(separator) and every and header_list(cells):
            raise InputError(_not_read(where, "rabbitmqctl --formatter=csv output"))


def _not_read(where: str, name: str) -> str:
    instead = "use the default table or --formatter=json"
    if name == _CRASHED:
        return f"{where}: rabbitmqctl {name}: {instead}"
    if name.startswith("rabbitmqadmin"):
        instead = "use its raw_json format or rabbitmqctl"
    elif name.startswith("--"):
        name = "rabbitmqctl " + name
    return f"{where}: {name} is not read yet: {instead}"


def _with_pids(lines: list[str]) -> bool:
    """Whether these are rows of consumers or channels."""
    cells = [split_cells(line) for line in lines if line.strip()]
    return any(len(row) > 1 and any(PID.fullmatch(cell) for cell in row) for row in cells)


def _counts(lines: list[str]) -> bool:
    """Whether these are rows of names and whole numbers."""
    rows = [line for line in lines if line.strip()][:-1] or [line for line in lines if line.strip()]
    cells = [split_cells(line) for line in rows]
    counted = sum(
        len(row) > 1
        and "\t" in line
        and all(cell.isdecimal() for cell in row[1:] if cell)
        and row[-1].isdecimal()
        and not _FIGURE.fullmatch(row[0])
        for line, row in zip(rows, cells, strict=True)
    )
    # not every row: a name may hold a tab
    return counted > 0 and counted * 5 >= len(rows) * 4


def _is_timing(start: str) -> bool:
    """Whether the first object is a row of timings: flat, and nothing that a broker prints.

    A list of objects has to name a time as well: much else comes in lists.
    """
    listed = start[0] == "["
    try:
        first, _ = json.JSONDecoder().raw_decode(start[1:].lstrip() if listed else start)
    except (ValueError, RecursionError):
        return False
    if not isinstance(first, dict) or not first or document_list(first)[1] != "unknown":
        return False
    if any(isinstance(value, dict | list) for value in first.values()):
        return False
    return not listed or any(read_name(name)[0] in _TIMES for name in first)


def _first(text: str, width: int = 60) -> str:
    line = text.strip().split("\n", 1)[0].strip()
    return line if len(line) <= width else line[: width - 3] + "..."
