"""How many messages a consumer works on at once, from when each was started and finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from prefetch_advisor.model.timing import Floats

    Nanoseconds = npt.NDArray[np.int64]

#: levels above this are counted as this
_MOST = 4_096
#: the level must be reached for this share of the busy time: clocks that overlap by a tick do not
_SHARE = 0.05


class Levels:
    """Time spent with 1, 2, 3 ... messages in progress at one consumer.

    Intervals are compared within the part of the file they come in (some 100,000 rows); those
    that reach over its end count up to there.
    """

    def __init__(self) -> None:
        self._seconds: Floats = np.zeros(2)

    def add(self, started: Nanoseconds, finished: Nanoseconds) -> None:
        """Intervals of one consumer, in any order."""
        times = np.concatenate((started, finished))
        steps = np.concatenate((np.ones(len(started)), -np.ones(len(finished))))
        # at the same instant the end of one message comes before the start of the next
        order = np.lexsort((steps, times))
        levels = np.clip(np.cumsum(steps[order])[:-1], 0, _MOST).astype(np.int64)
        lengths = np.diff(times[order]) / 1e9
        seconds = np.zeros(max(len(self._seconds), int(levels.max()) + 1))
        seconds[: len(self._seconds)] = self._seconds
        np.add.at(seconds, levels, lengths)
        self._seconds = seconds

    @property
    def concurrency(self) -> float | None:
        """The highest level that is reached for 5 % of the busy time; ``None``: never busy."""
        at_least = np.cumsum(self._seconds[:0:-1])[::-1]
        if not len(at_least) or at_least[0] <= 0:
            return None
        return float(np.flatnonzero(at_least >= _SHARE * at_least[0])[-1] + 1)
