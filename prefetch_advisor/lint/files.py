"""A file as the kinds of files see it: its printed path and its text, with places made easily."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from prefetch_advisor.model.lint import Place

_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class SourceFile:
    """A file that was read."""

    #: as it is printed: relative, with slashes
    path: str
    text: str
    #: where it lies; for files that another one names
    location: Path

    @cached_property
    def lines(self) -> list[str]:
        """Its lines without their ends; only ``\\n``, ``\\r\\n`` and ``\\r`` end a line."""
        return _LINE_END.split(self.text)

    def place(self, line: int, column: int = 1) -> Place:
        """A place in it, counted from 1."""
        return Place(self.path, line, column)

    def place_at(self, offset: int) -> Place:
        """The place of a character of its text."""
        line = bisect_right(self._starts, offset)
        return Place(self.path, line, offset - self._starts[line - 1] + 1)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(end.end() for end in _LINE_END.finditer(self.text))]
