"""Rows that could not be used: counted, the first few kept."""

from __future__ import annotations

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import BadRow

KEPT = 5
_SHOWN = 60


class BadCell(Exception):
    """A cell that cannot be used: what was expected, and what was found (already made safe)."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expected, found)
        self.expected = expected
        self.found = found


def show(text: str) -> str:
    """``text`` quoted, escaped and shortened to at most 60 characters, for a message."""
    if not text.strip():
        return "nothing" if not text else "only blanks"
    quoted = ascii(text[: 2 * _SHOWN]) if not text.isprintable() else repr(text[: 2 * _SHOWN])
    if len(text) <= 2 * _SHOWN and len(quoted) <= _SHOWN:
        return quoted
    return quoted[: _SHOWN - 3].rstrip("\\") + "..."


class BadRows:
    """The bad rows of one input, the first five of them by line."""

    def __init__(self, where: str, strict: bool) -> None:
        self.where = where
        self.count = 0
        self._strict = strict
        self._first: list[BadRow] = []

    def add(self, line: int, expected: str, found: str) -> None:
        self.count += 1
        if len(self._first) == KEPT and line >= self._first[-1].line:
            return
        self._first.append(BadRow(self.where, line, expected, found))
        self._first.sort(key=lambda row: row.line)
        del self._first[KEPT:]

    @property
    def first(self) -> tuple[BadRow, ...]:
        return tuple(self._first)

    def check(self) -> None:
        """Called when all rows up to some line have been looked at.

        Raises:
            InputError: there is a bad row, and the reading is strict.
        """
        if self._strict and self._first:
            row = self._first[0]
            raise InputError(f"{row.where}:{row.line}: expected {row.expected}, found {row.found}")

    def describe(self) -> str:
        """The first bad rows in one line; what several expected is said once."""
        by_expected: dict[str, list[BadRow]] = {}
        for row in self._first:
            by_expected.setdefault(row.expected, []).append(row)
        told = [
            f"line{'s' if len(rows) > 1 else ''} {', '.join(str(row.line) for row in rows)}: "
            f"expected {expected}, found {', '.join(dict.fromkeys(row.found for row in rows))}"
            for expected, rows in by_expected.items()
        ]
        more = self.count - len(self._first)
        return "; ".join(told) + (f"; and {more:,} more" if more else "")
