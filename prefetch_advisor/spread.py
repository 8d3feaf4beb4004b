"""Mean and percentiles of any number of values in bounded memory."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass

#: values that are kept as they are; above, buckets of which each is 1 % wide
EXACT = 100_000
_WIDTH = math.log(1.01)


@dataclass(frozen=True, slots=True)
class Summary:
    """Of the values that were added; all 0 where there was none."""

    mean: float = 0.0
    p50: float = 0.0
    p95: float = 0.0
    p99: float = 0.0
    max: float = 0.0


class Spread:
    """Takes values one by one: exact up to 100,000, percentiles within 0.5 % above."""

    __slots__ = ("_buckets", "_largest", "_total", "_values", "_zeros", "count")

    def __init__(self) -> None:
        self.count = 0
        self._total = 0.0
        self._largest = 0.0
        self._values = array("d")
        #: after the first 100,000: how many in each bucket of the logarithm
        self._buckets: dict[int, int] = {}
        self._zeros = 0

    def extend(self, values: array[float]) -> None:
        """Add values, none of them negative."""
        if not values:
            return
        self.count += len(values)
        self._total += math.fsum(values)
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
        return Summary(mean, p50, p95, p99, self._largest)

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
