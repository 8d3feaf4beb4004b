"""How far the fed prefetch could be off, because the samples are few: bootstrap replays."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from prefetch_advisor import engine
from prefetch_advisor.config import MAX_PREFETCH
from prefetch_advisor.feeding import CLOSE, smallest
from prefetch_advisor.replay import Lane, ReplayFeeding
from prefetch_advisor.statistics import drawn_indices

if TYPE_CHECKING:
    from prefetch_advisor.model.timing import Floats

#: replications where they run side by side, and where messages are simulated one by one
_SIDE_BY_SIDE = 100
_ONE_BY_ONE = 40
_FEWEST = 20
#: messages, and rounds of the tokens, in each
_MESSAGES = 2_000
_ROUNDS = 20
#: messages of all replications together, where rounds of many tokens would make more
_AT_MOST = 1_000_000
_FEWEST_ROUNDS = 8
#: fed prefetch from which on no replication needs to be replayed
_MANY = 500
#: ends of the 90 % interval
_LOW, _HIGH = 0.05, 0.95
_SEED = 90


def fed_range(feeding: ReplayFeeding, target: float, fed: int) -> tuple[int, int]:
    """90 % interval of the prefetch that reaches ``target``, around ``fed``.

    Each replication draws every consumer's rows anew, with replacement, and replays them. Many
    tokens average the variation out: above 500 only the mean of what was drawn counts.
    """
    if fed > _MANY:
        return _range_of_means(feeding, fed)
    replications = _Replications(feeding, target)
    return (min(replications.end(_LOW, fed), fed), max(replications.end(_HIGH, fed), fed))


def _range_of_means(feeding: ReplayFeeding, fed: int) -> tuple[int, int]:
    """The same interval where the fed prefetch is in proportion to 1 + R / P."""
    import numpy as np

    generator = random.Random(_SEED)
    drawn = [_resample(lane, _SIDE_BY_SIDE, generator) for lane in feeding.lanes]
    work = np.concatenate([processing for processing, _ in drawn], axis=1).mean(axis=1)
    trips = [
        np.full((_SIDE_BY_SIDE, 1), trips) if isinstance(trips, float) else trips
        for _, trips in drawn
    ]
    ratio = np.concatenate(trips, axis=1).mean(axis=1) / np.maximum(work, np.finfo(float).tiny)
    steady = feeding.steady
    each = np.sort(fed * (1 + ratio) / (1 + steady.rtt / steady.processing))
    low, high = (float(each[math.ceil(end * len(each)) - 1]) for end in (_LOW, _HIGH))
    return min(fed, math.ceil(low)), max(fed, math.ceil(min(high, MAX_PREFETCH)))


class _Replications:
    """Resampled consumers, and between which prefetch values each of them becomes fed."""

    def __init__(self, feeding: ReplayFeeding, target: float) -> None:
        self._target = target
        self._workers = feeding.workers
        fast = feeding.workers == 1 and all(isinstance(x.rtt, float) for x in feeding.lanes)
        many = _SIDE_BY_SIDE if fast else _ONE_BY_ONE
        self.count = max(_FEWEST, many // math.isqrt(len(feeding.lanes)))
        generator = random.Random(_SEED)
        self._drawn = [_resample(lane, self.count, generator) for lane in feeding.lanes]
        #: largest prefetch known to starve, and smallest known to feed, each replication
        self._starved = [0] * self.count
        self._fed = [MAX_PREFETCH + 1] * self.count

    def end(self, share: float, near: int) -> int:
        """The smallest prefetch that feeds this share of the replications."""
        enough = math.ceil(share * self.count)
        found = smallest(lambda prefetch: self._fed_by(prefetch) >= enough, near, 1)
        return MAX_PREFETCH if found is None else found

    def _fed_by(self, prefetch: int) -> int:
        """How many replications this prefetch feeds; those known already are not run again."""
        unknown = [i for i in range(self.count) if self._starved[i] < prefetch < self._fed[i]]
        if unknown:
            for i, share in zip(unknown, self._shares(unknown, prefetch), strict=True):
                if share >= self._target - CLOSE:
                    self._fed[i] = prefetch
                else:
                    self._starved[i] = prefetch
        return sum(fed <= prefetch for fed in self._fed)

    def _shares(self, chosen: list[int], prefetch: int) -> list[float]:
        """Busy shares of the chosen replications: those of their consumers, weighted by work."""
        import numpy as np

        most = _AT_MOST // (prefetch * self.count * len(self._drawn))
        rounds = min(_ROUNDS, max(_FEWEST_ROUNDS, most))
        shares = np.zeros(len(chosen))
        works = np.zeros(len(chosen))
        for processing, trips in self._drawn:
            own = processing[chosen]
            messages = max(_MESSAGES / len(self._drawn), own.shape[1] / (1 - engine.WARM_UP))
            length = engine.span(prefetch, math.ceil(messages), rounds)
            work = own.sum(axis=1)
            delays = trips if isinstance(trips, float) else trips[chosen]
            shares += work * _busy(own, delays, prefetch, self._workers, length)
            works += work
        # a replication that drew no work at all is fed by anything
        divided = np.divide(shares, works, out=np.ones_like(works), where=works > 0)
        return [float(share) for share in divided]


def _busy(
    processing: Floats, trips: float | Floats, prefetch: int, workers: int, length: engine.Span
) -> Floats:
    """Busy share of each row."""
    import numpy as np

    if workers == 1 and isinstance(trips, float):
        return engine.busy_shares(processing, trips, prefetch, length)
    delays = [trips] * len(processing) if isinstance(trips, float) else list(trips)
    pairs = zip(processing, delays, strict=True)
    return np.array([engine.busy_share(row, r, prefetch, workers, length) for row, r in pairs])


def _resample(lane: Lane, count: int, generator: random.Random) -> tuple[Floats, float | Floats]:
    """``count`` rows, each as many of the consumer's samples as there are, drawn anew."""
    size = len(lane.processing)
    drawn = drawn_indices(count * size, size, generator).reshape(count, size)
    processing: Floats = lane.processing[drawn]
    if isinstance(lane.rtt, float):
        return processing, lane.rtt
    if len(lane.rtt) != size:  # not one for each message: their own draws
        size = len(lane.rtt)
        drawn = drawn_indices(count * size, size, generator).reshape(count, size)
    trips: Floats = lane.rtt[drawn]
    return processing, trips
