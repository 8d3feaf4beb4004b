"""The first and the last time that each of many queues shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from prefetch_advisor.sources.overlap import Nanoseconds
    from prefetch_advisor.sources.tally import Integers

_LIMITS = np.iinfo(np.int64)


class Periods:
    """First and last times by the id of the queue."""

    def __init__(self) -> None:
        self._first: Nanoseconds = np.full(16, _LIMITS.max)
        self._last: Nanoseconds = np.full(16, _LIMITS.min)

    def add(self, queues: Integers, moments: Nanoseconds) -> None:
        """Times since the epoch, each with the queue whose row bears it."""
        if not len(queues):
            return
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
