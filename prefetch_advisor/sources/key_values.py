"""Lists as rabbitmqadmin's formats kvp and long: the names of the columns stand in every row."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources.fields import shown
from prefetch_advisor.sources.grids import Grid, intakes, list_of
from prefetch_advisor.sources.shell_lines import LONGEST_PROSE, is_prompt

_KEY = r"[A-Za-z_][\w.@\-]*"
#: one row of kvp; the values are as they are: a quote in one is not escaped
_ROW = re.compile(rf'\s*{_KEY}="')
_KEYS = re.compile(rf'(?:\A|" )({_KEY})="')
#: one value of long
_LINE = re.compile(rf" *({_KEY}):(?: (.*))?")
_RULE = re.compile(r" *-{20,} *")
#: enough of a text to tell what it is
_FIRST_LINES = 500


@dataclass(frozen=True, slots=True)
class _Record:
    """One row: its first line, the columns that it seems to name, and its text or its values."""

    line: int
    keys: tuple[str, ...]
    text: str
    values: tuple[str, ...] | None = None


def is_keyed(text: str) -> bool:
    """Whether a text is a list in either format: most of its lines are."""
    lines = [line.rstrip("\r") for line in text.split("\n")[:_FIRST_LINES] if line.strip()]
    rules = sum(_RULE.fullmatch(line) is not None for line in lines)
    rows = sum(_ROW.match(line) is not None for line in lines)
    if rules:
        rows += rules + sum(_LINE.fullmatch(line) is not None for line in lines)
    if 2 * rows < len(lines):
        return False
    return any(len(set(one.keys)) > 1 for run in _runs(lines) for one in run)


def read_keyed(text: str, where: str, strict: bool = False) -> list[Intake]:
    """The lists of a text, in order.

    Raises:
        InputError: none of them is read, or no row can be used.
    """
    return intakes([_grid(run) for run in _runs(text.split("\n"))], where, strict)


def _runs(lines: Sequence[str]) -> Iterator[list[_Record]]:
    """Rows that follow each other and may be of one list."""
    run: list[_Record] = []
    listed = None
    for record in _records(lines):
        found = _list_of(record.keys) if record is not None else None
        if record is None or (found is not None and listed is not None and found != listed):
            if run:
                yield run
            run, listed = [], None
        if record is not None:
            run.append(record)
            listed = found or listed
    if run:
        yield run


def _records(lines: Sequence[str]) -> Iterator[_Record | None]:
    """Every row; ``None`` where something else stands between two lists."""
    pairs: list[tuple[str, str]] = []
    start = 0
    ruled = any(_RULE.fullmatch(line.rstrip("\r")) for line in lines)
    for number, raw in enumerate(lines, 1):
        line = raw.removesuffix("\r")
        if ruled and (found := _LINE.fullmatch(line)) is not None and not _ROW.match(line):
            start = start if pairs else number
            pairs.append((found[1], found[2] or ""))
            continue
        if pairs:
            yield _long(start, pairs)
            pairs = []
        if _ROW.match(line):
            text = line.strip()
            yield _Record(number, tuple(_KEYS.findall(text)), text)
        elif len(line) <= LONGEST_PROSE and is_prompt(line.strip()):
            yield None
        elif line.strip() and not _RULE.fullmatch(line):
            yield _Record(number, (), line)
    if pairs:
        yield _long(start, pairs)


def _long(start: int, pairs: Sequence[tuple[str, str]]) -> _Record:
    keys, values = zip(*pairs, strict=True)
    return _Record(start, keys, f"{keys[0]}: {values[0]}", values)


def _grid(run: Sequence[_Record]) -> Grid:
    """Rows by the columns that most of them name: a name may look like one more column."""
    named = Counter(one.keys for one in run if _list_of(one.keys) and _distinct(one.keys))
    # of as many, the longer: a row that was cut names fewer
    columns = max(named, key=lambda keys: (named[keys], len(keys))) if named else run[0].keys
    grid = Grid(list(columns))
    for one in run:
        cells: Sequence[str] | None = one.values if one.keys == columns else None
        # columns that no second row confirms say nothing of others
        if one.values is None and (one.keys == columns or named[columns] > 1):
            cells = _split(one.text, columns)
        if cells is None:
            wanted = f"values of {', '.join(columns[:8])}{', ...' if columns[8:] else ''}"
            grid.bad.append((one.line, wanted, shown(one.text)))
        else:
            grid.rows.append((one.line, list(cells)))
    return grid


@functools.lru_cache(maxsize=256)
def _list_of(keys: tuple[str, ...]) -> str | None:
    return list_of(keys)


def _distinct(keys: Sequence[str]) -> bool:
    return len(set(keys)) == len(keys)


def _split(text: str, columns: Sequence[str]) -> Sequence[str] | None:
    """The values of a row of kvp; ``None``: it is none, or a quote in a value leaves a choice."""
    begin = f'{columns[0]}="' if columns else ""
    if not begin or not text.startswith(begin) or not text.endswith('"') or text == begin:
        return None
    marks = [f'" {column}="' for column in columns[1:]]
    first: list[tuple[int, int]] = []
    position = len(begin)
    for mark in marks:
        at = text.find(mark, position)
        if at < 0:
            return None
        position = at + len(mark)
        first.append((at, position))
    end = len(text) - 1
    for (at, _), mark in zip(reversed(first), reversed(marks), strict=True):
        if text.rfind(mark, 0, end + 1) != at:
            return None
        end = at
    starts = [len(begin), *(after for _, after in first)]
    ends = [*(at for at, _ in first), len(text) - 1]
    return [text[a:b] for a, b in zip(starts, ends, strict=True)]
