"""Mean and percentiles of any number of values in bounded memory."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass

from prefetch_advisor.statistics import mean_interval

#: values that are kept as they are; above, buckets of which each is 1 % wide
EXACT = 100_000
_WIDTH = math.log(1.01)
#: means of blocks that are kept to tell how sure the mean is; at twice as many, pairs are joined
_BLOCKS = 32
#: fewer do not tell
_FEWEST = 10


@dataclass(frozen=True, slots=True)
class Summary:
    """Of the values that were added; all 0 where there was none."""

    mean: float = 0.0
    p50: float = 0.0
    p95: float = 0.0
    p99: float = 0.0
    max: float = 0.0
    #: 95 % confidence interval of the mean, by the means of blocks; ``None``: too few of them
    ci95: tuple[float, float] | None = None


class Spread:
    """Takes blocks of values: exact up to 100,000, percentiles within 0.5 % above.

    Neighbours may depend on each other, as waits do; the means of long blocks hardly do, so the
    confidence interval is theirs (method of batch means).
    """

    __slots__ = ("_block", "_buckets", "_largest", "_means", "_total", "_values", "_zeros", "count")

    def __init__(self) -> None:
        self.count = 0
        self._total = 0.0
        self._largest = 0.0
        self._values = array("d")
        #: after the first 100,000: how many in each bucket of the logarithm
        self._buckets: dict[int, int] = {}
        self._zeros = 0
        self._means: list[float] = []
        #: length of the first block; shorter ones are not compared with it
        self._block = 0

    def extend(self, values: array[float]) -> None:
        """Add values, none of them negative."""
        if not values:
            return
        total = math.fsum(values)
        self._block = self._block or len(values)
        if len(values) == self._block:
            self._means.append(total / len(values))
        self.count += len(values)
        self._total += total
        self._largest = max(self._largest, max(values))
        self._values.extend(values)
        if len(self._values) > EXACT:
            self._sort_into_buckets()

    def _sort_into_buckets(self) -> None:
        buckets, log, width = self._buckets, math.log, _WIDTH
        for value in self._values:
            if value > 0:
                number = math.floor(log(value) / width)
                buckets[number] = buckets.get(number, 0) + 1
            else:
                self._zeros += 1
        self._values = array("d")

    def summary(self) -> Summary:
        """Of what was added; a percentile is a value that was there, or within 0.5 % of one."""
        if not self.count:
            return Summary()
        if self._buckets or self._zeros:
            self._sort_into_buckets()
        mean = self._total / self.count
        p50, p95, p99 = self._percentiles((0.5, 0.95, 0.99))
        return Summary(mean, p50, p95, p99, self._largest, self._interval(mean))

    def _interval(self, mean: float) -> tuple[float, float] | None:
        means = self._means
        while len(means) >= 2 * _BLOCKS:
            pairs = zip(means[::2], means[1::2], strict=False)
            means = [(one + other) / 2 for one, other in pairs]
        if len(means) < _FEWEST or not mean:
            return None
        middle = math.fsum(means) / len(means)
        variance = math.fsum((value - middle) ** 2 for value in means) / (len(means) - 1)
        return mean_interval(mean, math.sqrt(variance) / mean, len(means))

    def _percentiles(self, shares: tuple[float, ...]) -> list[float]:
        ranks = [max(1, math.ceil(share * self.count)) for share in shares]
        if not (self._buckets or self._zeros):
            ordered = sorted(self._values)
            return [ordered[rank - 1] for rank in ranks]
        found, seen, wanted = [], self._zeros, iter(ranks)
        rank = next(wanted)
        try:
            while rank <= seen:
                found.append(0.0)
                rank = next(wanted)
            for number in sorted(self._buckets):
                seen += self._buckets[number]
                while rank <= seen:
                    # the middle of the bucket
                    found.append(min(self._largest, math.exp((number + 0.5) * _WIDTH)))
                    rank = next(wanted)
        except StopIteration:
            pass
        return found
