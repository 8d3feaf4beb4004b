"""Whether what stands where a queue's name is expected can be one, or is a row of another list."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prefetch_advisor.sources.fields import shown
from prefetch_advisor.sources.rabbitmqctl_columns import COLUMNS

#: AMQP carries names in short strings
LONGEST = 255
_COLUMNS = frozenset(name for columns in COLUMNS.values() for name in columns)
_KEY = re.compile(r"\s*([a-z_.]+):(?: .*)?")
#: what stands in other columns than that of the name
_FIGURE = re.compile(r"-?\d+(?:\.\d+)?|true|false|<[^<>\s]+>?|\[.*\]", re.DOTALL)
#: rows of JSON, Erlang terms, kvp, CSV and drawn tables
_OTHER_FORM = re.compile(
    r"""\s*,?\[?\{"\w+":.*
      | [\s\[\]{},]*\{(?:<<|[a-z_]+,).*
      | [\w.]+=".*"\ [\w.]+=?.*
      | "(?:[^"]|"")*",".*
      | \s*[|│].*[|│]\s* | \ [\w.]+\s*\|\ .* | [^|]*\ \|\ [^|]*\ \|\ .*
      | [\s╭╮╰╯├┤┌┐└┘┬┴┼─│+|:.=-]{5,} | Listing\ [a-z]+(?:\ .*)? | Timeout:.*
      | \x1b\(0.*
    """,
    re.VERBOSE,
)


def too_long(name: str) -> bool:
    """Whether no queue can have this name."""
    return len(name) > LONGEST or len(name.encode("utf-8", "replace")) > LONGEST


def no_name(cell: str) -> tuple[str, str] | None:
    """What was expected in place of a cell that is no name, and what was found."""
    if not cell:
        return "a name", "an empty cell"
    if too_long(cell):
        return f"a name of at most {LONGEST} bytes", shown(cell)
    if cell[-1] == ":" and cell[:-1] in _COLUMNS:
        return "a name", f"the name of a column: {shown(cell)}"
    parts = cell.split("\t")
    figures = any(_FIGURE.fullmatch(part) for part in parts if part)
    # a name may hold a tab, but these are cells
    if len(parts) > 3 or (len(parts) > 1 and figures):
        return "a name", f"cells of another list: {shown(cell)}"
    return None


def bracket(line: str) -> bool:
    """Whether a line is one end of a JSON list rather than a name."""
    return line in ("[", "]")


def names_end(lines: Sequence[str]) -> int:
    """How many lines of a list of nothing but names come before rows of another form."""
    for at, line in enumerate(lines):
        found = _KEY.fullmatch(line)
        # four blanks part cells, and so do two, again and again
        if (
            _OTHER_FORM.fullmatch(line) is not None
            or "    " in line
            or line.strip().count("  ") > 2
            or (found is not None and (found[1] in _COLUMNS or "." in found[1]))
        ):
            return at
    return len(lines)
