"""What is kept of one queue's rows while they pass."""

from __future__ import annotations

import math
from array import array
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from prefetch_advisor.sources.overlap import Levels
from prefetch_advisor.sources.sampling import (
    KeptRun,
    Moments,
    Reservoir,
    Sketch,
    exact,
    sketched,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from prefetch_advisor.model.timing import Distribution, Floats
    from prefetch_advisor.sources.overlap import Nanoseconds

    Integers = npt.NDArray[np.int64]

#: beyond it the sample is kept without telling consumers apart
MOST_CONSUMERS = 64
#: and beyond this they are no longer counted
COUNTED_CONSUMERS = 1_000
#: fewest rows that can be called sorted
_SORTED_ROWS = 20
#: the id of rows that name no consumer, and of consumers that are not told apart
UNNAMED = 0
TOGETHER = -1


class Tally:
    """One queue: every row while there are few, then moments, sketches and a sample of runs."""

    __slots__ = (
        *("rows", "zeros", "consumers", "bytes_total", "bytes_rows"),
        *("_accuracy", "_falling", "_held_consumers", "_held_processing", "_held_rtt", "_last"),
        *("_levels", "_limit", "_random", "_range", "_rising", "_sampled"),
    )

    def __init__(self, rows: int, random: Random, accuracy: float) -> None:
        self.rows = 0
        self.zeros = 0
        self.consumers: set[int] = set()
        self.bytes_total = 0.0
        self.bytes_rows = 0
        self._limit = rows
        self._random = random
        self._accuracy = accuracy
        self._levels: Levels | None = None
        self._held_processing = array("d")
        self._held_rtt = array("d")
        self._held_consumers = array("q")
        self._sampled: _Sampled | None = None
        self._rising = self._falling = True
        self._last = math.nan
        self._range = (math.inf, -math.inf)

    def add(self, processing: Floats, rtt: Floats | None, consumers: Integers | None) -> None:
        """Rows of the queue in file order; an ``rtt`` of NaN is one that the row does not have."""
        self.rows += len(processing)
        self.zeros += int(np.count_nonzero(processing == 0))
        self._watch_order(processing)
        if consumers is not None:
            consumers = self._watch_consumers(consumers)
        if self._sampled is not None:
            self._sampled.add(processing, rtt, consumers)
            return
        self._held_processing.frombytes(processing.tobytes())
        if rtt is not None:
            self._held_rtt.frombytes(rtt.tobytes())
        if consumers is not None:
            self._held_consumers.frombytes(consumers.tobytes())
        if self.rows > self._limit:
            self._start_sampling()

    def _watch_order(self, processing: Floats) -> None:
        low, high = self._range
        self._range = min(low, float(processing.min())), max(high, float(processing.max()))
        if self._rising or self._falling:
            former = processing[0] if math.isnan(self._last) else self._last
            steps = np.diff(processing, prepend=former)
            self._rising = self._rising and bool((steps >= 0).all())
            self._falling = self._falling and bool((steps <= 0).all())
            self._last = float(processing[-1])

    def _watch_consumers(self, consumers: Integers) -> Integers | None:
        together = len(self.consumers) > MOST_CONSUMERS
        if len(self.consumers) < COUNTED_CONSUMERS:
            self.consumers.update(np.unique(consumers).tolist())
            self.consumers.discard(UNNAMED)
        if together:
            return None
        if len(self.consumers) <= MOST_CONSUMERS:
            return consumers
        del self._held_consumers[:]
        if self._sampled is not None:
            self._sampled.forget_consumers()
        return None

    def _start_sampling(self) -> None:
        self._sampled = _Sampled(Reservoir(self._limit, self._random), self._accuracy)
        processing, rtt, consumers = self._held()
        self._sampled.add(processing, rtt, consumers)
        self._held_processing = array("d")
        self._held_rtt = array("d")
        self._held_consumers = array("q")

    def _held(self) -> tuple[Floats, Floats | None, Integers | None]:
        # copies: an array that is looked at cannot grow
        return (
            np.array(self._held_processing),
            np.array(self._held_rtt) if self._held_rtt else None,
            np.array(self._held_consumers) if self._held_consumers else None,
        )

    def overlap(self, started: Nanoseconds, finished: Nanoseconds) -> None:
        """Intervals of one consumer of the queue."""
        self._levels = self._levels or Levels()
        self._levels.add(started, finished)

    @property
    def concurrency(self) -> float | None:
        return self._levels.concurrency if self._levels else None

    @property
    def kept(self) -> int:
        """Rows that are held in memory."""
        if self._sampled is None:
            return len(self._held_processing)
        return self._sampled.reservoir.rows

    def shrink(self, rows: int) -> None:
        """Keep at most ``rows``."""
        self._limit = rows
        if self._sampled is not None:
            self._sampled.reservoir.shrink(rows)
        elif self.rows > rows:
            self._start_sampling()

    @property
    def sorted_by_duration(self) -> bool:
        low, high = self._range
        return self.rows >= _SORTED_ROWS and low < high and (self._rising or self._falling)

    def runs(self) -> list[KeptRun]:
        """The sample; while all rows are held, all of them."""
        if self._sampled is not None:
            return self._sampled.reservoir.runs
        everything = Reservoir(10 * self.rows + 1_000 * (MOST_CONSUMERS + 1), self._random)
        _add_runs(everything, *self._held())
        return everything.runs

    def distributions(self) -> tuple[Distribution, Distribution | None]:
        """Of the processing times and of the round trips."""
        if self._sampled is not None:
            return self._sampled.distributions()
        processing, rtt, _ = self._held()
        return exact(processing), None if rtt is None else self._trips(rtt)

    def _trips(self, rtt: Floats) -> Distribution | None:
        present = rtt[~np.isnan(rtt)]
        if not len(present):
            return None
        if len(present) == len(rtt):
            return exact(present)
        # runs fill the gaps in, so they cannot tell which values there were
        sketch = Sketch(self._accuracy)
        sketch.add(present)
        return exact(present, sketch.buckets())


class _Sampled:
    """Moments, sketches and a sample of a queue with many rows."""

    def __init__(self, reservoir: Reservoir, accuracy: float) -> None:
        self.reservoir = reservoir
        self._moments = Moments()
        self._sketch = Sketch(accuracy)
        self._rtt_moments = Moments()
        self._rtt_sketch = Sketch(accuracy)

    def add(self, processing: Floats, rtt: Floats | None, consumers: Integers | None) -> None:
        self._moments.add(processing)
        self._sketch.add(processing)
        if rtt is not None:
            present = rtt[~np.isnan(rtt)]
            self._rtt_moments.add(present)
            self._rtt_sketch.add(present)
        _add_runs(self.reservoir, processing, rtt, consumers)

    def forget_consumers(self) -> None:
        self.reservoir.forget_consumers()

    def distributions(self) -> tuple[Distribution, Distribution | None]:
        rtt = self._rtt_moments.count
        return (
            sketched(self._moments, self._sketch),
            sketched(self._rtt_moments, self._rtt_sketch) if rtt else None,
        )


def _add_runs(
    reservoir: Reservoir, processing: Floats, rtt: Floats | None, consumers: Integers | None
) -> None:
    if consumers is None:
        reservoir.add(TOGETHER, processing, rtt)
        return
    order = np.argsort(consumers, kind="stable")
    for consumer, rows in groups(consumers, order):
        reservoir.add(consumer, processing[rows], None if rtt is None else rtt[rows])


def groups(ids: Integers, order: Integers) -> Iterator[tuple[int, Integers]]:
    """Each id with the positions of its rows, in file order; ``order`` sorts ``ids`` stably."""
    in_order = ids[order]
    ends = np.flatnonzero(np.diff(in_order)) + 1
    starts = [0, *ends.tolist()]
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        yield int(in_order[start]), order[start:end]
