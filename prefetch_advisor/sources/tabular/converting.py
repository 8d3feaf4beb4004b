"""Rows of cells into arrays of seconds: whole columns where all is well, else row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from prefetch_advisor.sources.cells import MAX_SECONDS, Decimal
from prefetch_advisor.sources.collect import Arrays, Collector
from prefetch_advisor.sources.columns import DURATIONS, Layout, Role
from prefetch_advisor.sources.tabular import columns_at_once
from prefetch_advisor.sources.tabular.bad_rows import BadCell, BadRows
from prefetch_advisor.sources.tabular.names import Names
from prefetch_advisor.sources.tabular.one_row import (
    INTERVAL,
    Figures,
    RowReader,
    UnreadTimes,
    figures,
)
from prefetch_advisor.sources.tabular.rows import Rows, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefetch_advisor.sources.tally import Integers

#: a part of this many rows in which something is odd is looked at row by row
_FEW = 32
#: rows whose times are all read; later, only those of each queue's first and last row in a part
_TIMED_ROWS = 5_000


class Converter:
    """Takes rows as they stand, hands usable ones to the collector and the others to the bad.

    Times: all are read in the first 5,000 rows; after them, of every some thousand rows only the
    first and the last of each queue, which for a file in any order of time is exact. In a
    shuffled file the ends of the period may be missed by a few rows. Started and finished are
    always read, and all times where the reading is strict.
    """

    def __init__(
        self,
        layout: Layout,
        reader: RowReader,
        names: Names,
        collector: Collector,
        bad: BadRows,
        unread: UnreadTimes,
        decimal: Decimal,
    ) -> None:
        self._layout = layout
        self._reader = reader
        self._names = names
        self._collector = collector
        self._bad = bad
        self._unread = unread
        self._decimal = decimal
        self._clock = layout.of(Role.TIMESTAMP) or (
            None if layout.has_interval else layout.of(Role.FINISHED) or layout.of(Role.STARTED)
        )
        #: queues, lines and times of rows that are used, until their times are read
        self._timed: list[tuple[Integers, Sequence[int], list[Any]]] = []
        #: lines that repeat the header
        self.headers = 0

    def take(self, rows: Rows) -> None:
        """Use what can be used of ``rows``."""
        if not len(rows):
            return
        wanted = self._unread.strict or self._collector.periods.keeps
        early = wanted or self._collector.rows < _TIMED_ROWS
        self._part(rows)
        if self._timed:
            self._read_clock(early)

    def _part(self, rows: Rows) -> None:
        try:
            arrays = self._whole(rows)
        except BadCell:
            if len(rows) <= _FEW:
                self._each(rows)
                return
            middle = len(rows) // 2
            self._part(rows.part(0, middle))
            self._part(rows.part(middle, len(rows)))
        else:
            self._keep(arrays, rows)

    def _keep(self, arrays: Arrays, rows: Rows) -> None:
        if self._clock:
            self._timed.append((arrays.queue, rows.lines, rows.columns[self._clock.index]))
        self._collector.add(arrays)

    def _whole(self, rows: Rows) -> Arrays:
        found: dict[Role, Any] = {}
        for column in self._layout.columns:
            cells = rows.columns[column.index]
            if column.role in DURATIONS:
                required = self._reader.required(column.role)
                found[column.role] = columns_at_once.seconds(
                    cells, column.unit, self._decimal, required
                )
            elif column.role is Role.BYTES:
                found[column.role] = columns_at_once.numbers(cells, self._decimal, required=False)
            elif column.role in INTERVAL and self._layout.has_interval:
                moments = [self._reader.moment(column, text_of(cell)) for cell in cells]
                found[column.role] = np.array(moments, np.int64)
        processing, rtt = figures(found)
        for values in (processing, rtt):
            if values is not None and ((values < 0) | (values > MAX_SECONDS)).any():
                raise BadCell("", "")
        started, finished = found.get(Role.STARTED), found.get(Role.FINISHED)
        if started is not None and (finished < started).any():
            raise BadCell("", "")
        queue, consumer = self._names.of(rows)
        return Arrays(queue, processing, rtt, consumer, found.get(Role.BYTES), started, finished)

    def _each(self, rows: Rows) -> None:
        taken: list[tuple[int, int, int | None, Figures]] = []
        for at in range(len(rows)):
            try:
                taken.append((at, *self._names.at(rows, at), self._reader.read(rows, at)))
            except BadCell as bad:
                if self._reader.is_header(rows, at, self._bad.where):
                    self.headers += 1
                else:
                    self._bad.add(rows.lines[at], bad.expected, bad.found)
        if not taken:
            return
        kept, queues, consumers, found = zip(*taken, strict=True)
        arrays = Arrays(
            queue=np.array(queues),
            consumer=_array(consumers),
            **dict(zip(Figures._fields, map(_array, zip(*found, strict=True)), strict=True)),
        )
        self._keep(arrays, rows.some(kept))

    def _read_clock(self, early: bool) -> None:
        assert self._clock is not None
        queues, lines, times = self._timed[0]
        if len(self._timed) > 1:
            queues = np.concatenate([part[0] for part in self._timed])
            lines = [line for part in self._timed for line in part[1]]
            times = [cell for part in self._timed for cell in part[2]]
        self._timed.clear()
        known, moments = [], []
        for position in range(len(times)) if early else _ends(queues):
            text = text_of(times[position])
            try:
                moments.append(self._reader.moment(self._clock, text))
                known.append(position)
            except BadCell:
                self._unread.add(text, lines[position])
        self._collector.periods.add(queues[known], np.array(moments, np.int64))


def _array(values: Sequence[Any]) -> Any:
    return None if values[0] is None else np.array(values)


def _ends(queues: Integers) -> list[int]:
    """The first and the last position of each queue."""
    positions = np.arange(len(queues))
    last = np.full(int(queues.max()) + 1, -1)
    first = last.copy()
    last[queues] = positions
    first[queues[::-1]] = positions[::-1]
    found: list[int] = np.unique(np.concatenate((first[first >= 0], last[last >= 0]))).tolist()
    return found
