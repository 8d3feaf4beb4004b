"""The times that each of many queues shows: the first and the last, or all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from prefetch_advisor.model.timing import Floats
    from prefetch_advisor.sources.overlap import Nanoseconds
    from prefetch_advisor.sources.tally import Integers

_LIMITS = np.iinfo(np.int64)


class Periods:
    """First and last times by the id of the queue; all times where they are kept."""

    def __init__(self, keeps: bool = False) -> None:
        self.keeps = keeps
        self._all: list[tuple[Integers, Nanoseconds]] = []
        self._first: Nanoseconds = np.full(16, _LIMITS.max)
        self._last: Nanoseconds = np.full(16, _LIMITS.min)

    def add(self, queues: Integers, moments: Nanoseconds) -> None:
        """Times since the epoch, each with the queue whose row bears it."""
        if not len(queues):
            return
        if self.keeps:
            self._all.append((queues, moments))
        missing = int(queues.max()) + 1 - len(self._first)
        if missing > 0:
            more = max(missing, len(self._first))
            self._first = np.concatenate((self._first, np.full(more, _LIMITS.max)))
            self._last = np.concatenate((self._last, np.full(more, _LIMITS.min)))
        np.minimum.at(self._first, queues, moments)
        np.maximum.at(self._last, queues, moments)

    def of(self, queue: int) -> tuple[float | None, float | None]:
        """Seconds since the epoch; ``None`` where the queue shows no time."""
        if queue >= len(self._first) or self._first[queue] > self._last[queue]:
            return None, None
        return float(self._first[queue] / 1e9), float(self._last[queue] / 1e9)

    def every(self, queue: int) -> Floats | None:
        """All of its times in order, seconds from the first on; ``None`` where none are kept."""
        own = [moments[queues == queue] for queues, moments in self._all]
        found = np.sort(np.concatenate(own)) if own else np.empty(0)
        return (found - found[0]) / 1e9 if len(found) else None
