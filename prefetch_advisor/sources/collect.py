"""Rows of many queues, gathered and handed to each queue's tally in large parts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, fields
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.timing import Run, TimingRow
from prefetch_advisor.sources.period import Periods
from prefetch_advisor.sources.resolution import resolution
from prefetch_advisor.sources.sampling import ACCURACY, QUEUE_ROWS
from prefetch_advisor.sources.tabular.bad_rows import show
from prefetch_advisor.sources.tally import (
    COUNTED_CONSUMERS,
    MOST_CONSUMERS,
    Tally,
    groups,
)

if TYPE_CHECKING:
    from prefetch_advisor.model.timing import Floats
    from prefetch_advisor.sources.overlap import Nanoseconds
    from prefetch_advisor.sources.sampling import KeptRun
    from prefetch_advisor.sources.tally import Integers

MOST_QUEUES = 100_000
#: rows that are gathered before the queues get theirs
_PART = 131_072
#: with more queues than this, sketches are coarser so that all of them stay small
_MANY_QUEUES = 2_000
_COARSE = 0.02
#: names of consumers that are remembered, over all queues
_MOST_NAMES = 100_000


@dataclass(frozen=True, slots=True)
class Arrays:
    """Usable rows in file order, one element for each; seconds. NaN: the row has none."""

    queue: Integers
    processing: Floats
    rtt: Floats | None = None
    #: 0: the row names none
    consumer: Integers | None = None
    bytes: Floats | None = None
    #: both 0: not known of this row
    started: Nanoseconds | None = None
    finished: Nanoseconds | None = None

    def __len__(self) -> int:
        return len(self.processing)


class Collector:
    """All queues of one input."""

    def __init__(self, where: str, rows: int, times: bool = False) -> None:
        self._where = where
        self._rows = rows
        # the same input gives the same sample
        self._random = Random(1)
        self._limit = min(QUEUE_ROWS, rows)
        self._keys: dict[tuple[str | None, str | None], int] = {}
        self._tallies: deque[Tally] = deque()
        self._consumers: dict[str, int] = {"": 0}
        self._pending: list[Arrays] = []
        self._pending_rows = 0
        self.rows = 0
        #: what times are known of
        self.periods = Periods(times)

    def queue(self, vhost: str | None, name: str | None) -> int:
        """The id of a queue.

        Raises:
            InputError: there are too many to be queues.
        """
        key = vhost, name
        found = self._keys.get(key)
        if found is None:
            if len(self._keys) == MOST_QUEUES:
                raise InputError(
                    f"{self._where}: more than {MOST_QUEUES:,} different queues, the last "
                    f"{show(name or '')}: is the queue column the right one?"
                )
            found = self._keys[key] = len(self._keys)
            accuracy = ACCURACY if found < _MANY_QUEUES else _COARSE
            self._tallies.append(Tally(self._limit, self._random, accuracy))
        return found

    def consumer(self, name: str) -> int:
        """The id of a consumer; past a bound they are taken for unnamed ones."""
        if len(self._consumers) >= _MOST_NAMES:
            return self._consumers.get(name, 0)
        return self._consumers.setdefault(name, len(self._consumers))

    def add(self, rows: Arrays) -> None:
        self.rows += len(rows)
        self._pending.append(rows)
        self._pending_rows += len(rows)
        if self._pending_rows >= _PART:
            self.flush()

    def flush(self) -> None:
        """Hand over what was gathered."""
        if not self._pending:
            return
        rows = _joined(self._pending)
        self._pending, self._pending_rows = [], 0
        if rows.finished is not None:
            known = rows.finished != 0
            self.periods.add(rows.queue[known], rows.finished[known])
        # 16 bits are sorted by radix, several times faster
        small = len(self._tallies) <= 65_536
        order = np.argsort(rows.queue.astype(np.uint16) if small else rows.queue, kind="stable")
        tallies = list(self._tallies)
        for queue, own in groups(rows.queue, order):
            self._hand_over(tallies[queue], rows, own)
        while sum(tally.kept for tally in self._tallies) > self._rows and self._limit > 1:
            self._limit //= 2
            for tally in self._tallies:
                tally.shrink(self._limit)

    def _hand_over(self, tally: Tally, rows: Arrays, own: Integers) -> None:
        consumer = None if rows.consumer is None else rows.consumer[own]
        tally.add(rows.processing[own], None if rows.rtt is None else rows.rtt[own], consumer)
        if rows.bytes is not None:
            sizes = rows.bytes[own]
            sizes = sizes[~np.isnan(sizes)]
            tally.bytes_rows += len(sizes)
            tally.bytes_total += float(sizes.sum())
        if rows.started is not None and rows.finished is not None:
            started, finished = rows.started[own], rows.finished[own]
            if consumer is None or len(tally.consumers) > MOST_CONSUMERS:
                tally.overlap(started, finished)
                return
            for _, mine in groups(consumer, np.argsort(consumer, kind="stable")):
                tally.overlap(started[mine], finished[mine])

    def finish(self, printed: float | None, has_consumers: bool) -> tuple[TimingRow, ...]:
        """Every queue in the order of appearance; ``printed`` as in `resolution`. Empties it."""
        names = list(self._consumers)
        rows = []
        for queue, (vhost, name) in enumerate(self._keys):
            # each is dropped as soon as it is done: there may be very many
            tally = self._tallies.popleft()
            if not tally.rows:
                continue
            processing, rtt = tally.distributions()
            runs = tuple(_run(run, names) for run in tally.runs())
            sample = np.concatenate([run.processing for run in runs])
            first, last = self.periods.of(queue)
            rows.append(
                TimingRow(
                    where=self._where,
                    vhost=vhost,
                    name=name,
                    rows=tally.rows,
                    processing=processing,
                    rtt=rtt,
                    runs=runs,
                    sorted_by_duration=tally.sorted_by_duration,
                    first_at=first,
                    last_at=last,
                    times=self.periods.every(queue),
                    concurrency=_concurrency(tally, has_consumers),
                    consumers=len(tally.consumers) if has_consumers else None,
                    mean_bytes=tally.bytes_total / tally.bytes_rows if tally.bytes_rows else None,
                    zeros=tally.zeros,
                    resolution=resolution(sample, printed),
                )
            )
        return tuple(rows)

    @property
    def kept(self) -> int:
        return sum(tally.kept for tally in self._tallies)

    def notes(self, has_consumers: bool) -> list[str]:
        """What a person should know of the queues."""
        crowded, overlapping = [], []
        for (_, name), tally in zip(self._keys, self._tallies, strict=True):
            if len(tally.consumers) > MOST_CONSUMERS:
                crowded.append((name, len(tally.consumers)))
            level = tally.concurrency
            if level is not None and level > 1 and not has_consumers:
                overlapping.append((name, level))
        notes = []
        if crowded:
            name, count = max(crowded, key=lambda pair: pair[1])
            most = "at least " if count >= COUNTED_CONSUMERS else ""
            notes.append(
                f"{self._where}: more than {MOST_CONSUMERS} consumers in {_queues(crowded)} "
                f"({most}{count:,} in {show(name or 'the input')}): their rows are sampled "
                "without telling them apart"
            )
        if overlapping:
            name, level = max(overlapping, key=lambda pair: pair[1])
            notes.append(
                f"{self._where}: up to {level:.0f} messages at once in "
                f"{show(name or 'the input')}, but no consumer column: whether one consumer "
                "works on several is not known (--concurrency)"
            )
        return notes


def _queues(found: list[tuple[str | None, int]]) -> str:
    return "1 queue" if len(found) == 1 else f"{len(found):,} queues"


def _concurrency(tally: Tally, has_consumers: bool) -> float | None:
    level = tally.concurrency
    together = not has_consumers or len(tally.consumers) > MOST_CONSUMERS
    return None if level is None or (together and level > 1) else level


def _joined(parts: list[Arrays]) -> Arrays:
    """Parts of one input, which all have the same columns, one after the other."""
    if len(parts) == 1:
        return parts[0]
    columns: dict[str, Any] = {}
    for column in fields(Arrays):
        values = [getattr(part, column.name) for part in parts]
        columns[column.name] = None if values[0] is None else np.concatenate(values)
    return Arrays(**columns)


def _run(run: KeptRun, names: list[str]) -> Run:
    rtt = np.array(run.rtt)
    present = ~np.isnan(rtt)
    if not present.any():
        return Run(_name(run.consumer, names), np.array(run.processing))
    # a row without R repeats the one before it (the first: the next one), so that both stay aligned
    at = np.maximum.accumulate(np.where(present, np.arange(len(rtt)), -1))
    at[at < 0] = int(np.argmax(present))
    return Run(_name(run.consumer, names), np.array(run.processing), rtt[at])


def _name(consumer: int, names: list[str]) -> str | None:
    return names[consumer] if consumer > 0 else None
