"""Lines of cells with a delimiter between them: whole blocks at once where nothing is quoted."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from prefetch_advisor.sources.tabular.bad_rows import BadRows, show
from prefetch_advisor.sources.tabular.blocks import MAX_LINE, text
from prefetch_advisor.sources.tabular.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: stands for the delimiter of a file with one column
NO_DELIMITER = "\x1f"
#: lines of one row; a quote that stays open longer was never meant to be closed
_MOST_LINES = 100


@dataclass(frozen=True, slots=True)
class Form:
    """How rows are written."""

    #: one character; NO_DELIMITER where there is one column
    delimiter: str
    #: cells in a row
    width: int
    #: blanks after the delimiter are there for the eye
    padded: bool = False


class Delimited:
    """CSV and its relatives. Blank lines are skipped, and comments.

    A line that begins with # is a comment unless it has the cells of a row: a queue's name may
    begin so. In a lone column, of figures, it always is one.
    """

    def __init__(self, form: Form, used: Sequence[int], bad: BadRows) -> None:
        self._width = form.width
        self._delimiter = form.delimiter
        self._padded = form.padded
        self._used = used
        self._bad = bad
        blanks = " *" if form.padded else ""
        self._opens = re.compile(rf'(?:^|{re.escape(form.delimiter)}){blanks}"')
        #: the first lines of a row whose quote is still open at the end of a block
        self._unfinished: list[str] = []
        #: lines skipped because they begin with #, and the first of them
        self.comments = 0
        self.first_comment = 0

    def rows(self, line: int, block: bytes) -> Rows:
        """The rows of whole lines, of which ``line`` is the first."""
        if not self._unfinished and (plain := self._split(line, block)) is not None:
            return plain
        lines = text(block).split("\n")
        lines.pop()
        line -= len(self._unfinished)
        lines = self._unfinished + lines
        self._unfinished = []
        return self._table(line, lines, last=False)

    def finish(self, line: int) -> Rows:
        """The rows of lines that waited for a closing quote; ``line`` follows the last of them."""
        lines, self._unfinished = self._unfinished, []
        return self._table(line - len(lines), lines, last=True)

    def _split(self, line: int, block: bytes) -> Rows | None:
        """The fast way: no cell is quoted and every line has the right number of delimiters."""
        if b'"' in block or b"\0" in block:
            return None
        count = block.count(b"\n")
        if self._width == 1:
            if b"#" in block or b" " in block or b"\n\n" in block or block.startswith(b"\n"):
                return None
            cells = block.split(b"\n")
            cells.pop()
            return Rows(range(line, line + count), {0: cells})
        delimiter = self._delimiter.encode()
        data = np.frombuffer(block, np.uint8)
        found = data[(data == delimiter[0]) | (data == 10)]
        if len(found) != count * self._width:
            return None
        grid = found.reshape(count, self._width)
        if not (grid[:, -1] == 10).all() or (grid[:, :-1] == 10).any():
            return None
        cells = block.replace(b"\n", delimiter).split(delimiter)
        cells.pop()
        columns = {index: cells[index :: self._width] for index in self._used}
        return Rows(range(line, line + count), columns)

    def _table(self, line: int, lines: list[str], last: bool) -> Rows:
        numbers: list[int] = []
        rows: list[list[str]] = []
        for number, cells in self._records(line, lines, last):
            if len(cells) == self._width:
                numbers.append(number)
                rows.append(cells)
            else:
                found = show(self._delimiter.join(cells)[:1_000])
                cell = "cell" if self._width == 1 else "cells"
                self._bad.add(number, f"{self._width} {cell}", f"{len(cells)}: {found}")
        return Rows(numbers, {index: [row[index] for row in rows] for index in self._used})

    def _records(self, line: int, lines: list[str], last: bool) -> Iterator[tuple[int, list[str]]]:
        at = 0
        while at < len(lines):
            raw = lines[at]
            if not raw.strip(" "):
                at += 1
            elif raw.lstrip()[:1] == "#" and self._is_comment(raw):
                self.comments += 1
                self.first_comment = self.first_comment or line + at
                at += 1
            elif "\0" in raw:
                self._bad.add(line + at, "text", f"a NUL byte in {show(raw[:200])}")
                at += 1
            elif '"' not in raw:
                yield line + at, raw.split(self._delimiter)
                at += 1
            else:
                extent = self._extent(lines, at)
                if not extent and not last:
                    self._unfinished = lines[at:]
                    return
                try:
                    cells = self._quoted(lines[at : at + max(1, extent)])
                    expected = "a closing quote"
                except csv.Error:
                    cells, expected = None, f"cells of at most {csv.field_size_limit():,} bytes"
                if cells is None or extent <= 0:
                    self._bad.add(line + at, expected, show(raw[:200]))
                    extent = 1
                else:
                    yield line + at, cells
                at += extent

    def _is_comment(self, raw: str) -> bool:
        if self._width == 1:
            return True
        if '"' not in raw or not self._opens.search(raw):
            return raw.count(self._delimiter) != self._width - 1
        # a row whose quoted cell goes on in the next line is none
        if raw.count('"') % 2:
            return False
        try:
            return len(self._quoted([raw]) or ()) != self._width
        except csv.Error:
            return False

    def _extent(self, lines: list[str], at: int) -> int:
        """How many lines the row has; 0: its quote is not closed in what is here, -1: nor later."""
        if lines[at].count('"') % 2 == 0 or not self._opens.search(lines[at]):
            return 1
        size = 0
        for end in range(at, len(lines)):
            size += len(lines[end])
            if end > at and lines[end].count('"') % 2:
                return end - at + 1
            if end - at >= _MOST_LINES or size > MAX_LINE:
                return -1
        return 0

    def _quoted(self, lines: list[str]) -> list[str] | None:
        """The cells of one row; ``None``: several lines that are not one row of the right width."""
        ended = [f"{raw}\n" for raw in lines]
        rows = list(csv.reader(ended, delimiter=self._delimiter, skipinitialspace=self._padded))
        if len(lines) > 1 and (len(rows) != 1 or len(rows[0]) != self._width):
            return None
        return rows[0]
