"""One row, cell by cell: its figures, or what is wrong with it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.cells import (
    MAX_SECONDS,
    PER_SECOND,
    Decimal,
    parse_moment,
    parse_number,
    parse_seconds,
)
from prefetch_advisor.sources.columns import NUMBERS, Column, Layout, Role, read_name
from prefetch_advisor.sources.tabular.bad_rows import BadCell, show
from prefetch_advisor.sources.tabular.rows import Rows, text_of

INTERVAL = (Role.STARTED, Role.FINISHED)


class Figures(NamedTuple):
    """The figures of one row; NaN: it has none. ``None``: no row has."""

    processing: float
    rtt: float | None
    bytes: float | None
    #: nanoseconds; both 0: the row does not tell
    started: int | None
    finished: int | None


class UnreadTimes:
    """Times that could not be read: their rows count, but not for the period."""

    def __init__(self, where: str, strict: bool) -> None:
        self.strict = strict
        self.count = 0
        self.first = ""
        self._where = where

    def add(self, text: str, line: int) -> None:
        """Count a time that is not empty.

        Raises:
            InputError: the reading is strict.
        """
        if text.strip():
            if self.strict:
                raise InputError(
                    f"{self._where}:{line}: expected a time (ISO 8601 or epoch), found {show(text)}"
                )
            self.count += 1
            self.first = self.first or f"line {line}: {show(text)}"


class RowReader:
    """Reads single rows; arithmetic and meaning are those of whole columns."""

    def __init__(
        self, layout: Layout, decimal: Decimal, unit: str | None, unread: UnreadTimes
    ) -> None:
        self._layout = layout
        self._decimal = decimal
        self._unit = unit
        self._unread = unread
        self._figures = [column for column in layout.columns if column.role in NUMBERS]
        self._interval_columns = [
            column for column in layout.columns if column.role in INTERVAL and layout.has_interval
        ]
        self._from_cycle, self._from_interval = layout.from_cycle, layout.from_interval

    def required(self, role: Role) -> bool:
        """Whether a row without this figure is of no use."""
        return role is Role.PROCESSING or (self._from_cycle and role is not Role.BYTES)

    def moment(self, column: Column, text: str) -> int:
        return parse_moment(text, column.unit, self._unit)

    def read(self, rows: Rows, at: int) -> Figures:
        """The figures of the row at position ``at``.

        Raises:
            BadCell: the row cannot be used.
        """
        found: dict[Role, Any] = {}
        for column in self._figures:
            try:
                found[column.role] = self._figure(column, rows.columns[column.index][at])
            except BadCell as bad:
                raise _within(column, bad) from bad
        for column in self._interval_columns:
            try:
                text = text_of(rows.columns[column.index][at])
                found[column.role] = self._time(column, text, rows.lines[at])
            except BadCell as bad:
                raise _within(column, bad) from bad
        started, finished = self._interval(found)
        processing, rtt = figures(found)
        if processing < 0 or (rtt is not None and rtt < 0):
            whole = f"{found[Role.CYCLE]:.6g} s"
            raise BadCell("a cycle no shorter than the processing time and round trip in it", whole)
        if processing > MAX_SECONDS:
            raise BadCell("a duration below ten years", f"{processing:.3g} s")
        return Figures(processing, rtt, found.get(Role.BYTES), started, finished)

    def _interval(self, found: dict[Role, Any]) -> tuple[int | None, int | None]:
        if not self._interval_columns:
            return None, None
        started, finished = found[Role.STARTED], found[Role.FINISHED]
        if self._from_interval:
            if finished < started:
                early = f"{(started - finished) / 1e9:.6g} s before it"
                raise BadCell("a row that finished after it started", early)
        elif finished < started or not (started and finished):
            return 0, 0
        return started, finished

    def _figure(self, column: Column, cell: object) -> float:
        if column.unit in PER_SECOND and isinstance(cell, bytes) and self._decimal != ",":
            # most cells of a part with a bad row are good, and plain
            try:
                seconds = float(cell) / PER_SECOND[column.unit]
                if 0 <= seconds <= MAX_SECONDS:
                    return seconds
            except ValueError:
                pass
        text = text_of(cell)
        if not text.strip() and not self.required(column.role):
            return math.nan
        # a JSON number has no thousands separators
        decimal = None if isinstance(cell, (int, float)) else self._decimal
        if column.role is not Role.BYTES:
            return parse_seconds(text, column.unit, decimal)
        value = parse_number(text, decimal)
        if not 0 <= value < math.inf:
            raise BadCell("a finite number of 0 or more", show(text))
        return value

    def _time(self, column: Column, text: str, line: int) -> int:
        try:
            return self.moment(column, text)
        except BadCell:
            if self._from_interval:
                raise
            self._unread.add(text, line)
            return 0

    def is_header(self, rows: Rows, at: int, where: str) -> bool:
        """Whether the row is the header again, as in files put one after the other.

        Raises:
            InputError: it is a header, but another one.
        """
        names = [column.name for column in self._layout.columns]
        columns = self._layout.columns
        texts = [text_of(rows.columns[column.index][at]).strip() for column in columns]
        if texts == names and any(names):
            return True
        if len(texts) > 1 and all(read_name(text)[0] for text in texts):
            raise InputError(
                f"{where}:{rows.lines[at]}: a second header with other columns: "
                f"{', '.join(map(show, texts))}: give the files one by one"
            )
        return False


def _within(column: Column, bad: BadCell) -> BadCell:
    named = f" in {show(column.name)}" if column.name else ""
    return BadCell(bad.expected + named, bad.found)


def figures(found: dict[Role, Any]) -> tuple[Any, Any]:
    """P and R of one row (floats) or of many (arrays); R is ``None`` where no column tells it."""
    rtt, delay, cycle = found.get(Role.RTT), found.get(Role.ACK_DELAY), found.get(Role.CYCLE)
    # an ack that is held back frees its place that much later
    trip: Any = rtt if delay is None else delay if rtt is None else rtt + delay
    if Role.PROCESSING in found:
        processing = found[Role.PROCESSING]
    elif Role.STARTED in found:
        processing = (found[Role.FINISHED] - found[Role.STARTED]) / 1e9
    else:
        return found[Role.CYCLE] - trip, trip
    return processing, trip if cycle is None else cycle - processing
