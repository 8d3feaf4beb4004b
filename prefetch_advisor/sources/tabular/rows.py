"""Rows as they stand in the input, column by column, before anything in them is understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prefetch_advisor.sources.tabular.blocks import text


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in file order, each with all its cells: bytes, text, or (JSON) any value."""

    #: line of each row
    lines: Sequence[int]
    #: cells by the index of their column; only columns that are used
    columns: Mapping[int, list[Any]]

    def __len__(self) -> int:
        return len(self.lines)

    def part(self, start: int, end: int) -> Rows:
        columns = {index: cells[start:end] for index, cells in self.columns.items()}
        return Rows(self.lines[start:end], columns)

    def some(self, positions: Sequence[int]) -> Rows:
        columns = {i: [cells[at] for at in positions] for i, cells in self.columns.items()}
        return Rows([self.lines[at] for at in positions], columns)


def text_of(cell: object) -> str:
    """A cell as text: what CSV would show for it."""
    if isinstance(cell, bytes):
        return text(cell)
    if isinstance(cell, str):
        return cell
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, (int, float)):
        return repr(cell)
    return "an object" if isinstance(cell, dict) else "a list"
