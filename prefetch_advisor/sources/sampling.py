"""Bounded state over any number of rows: moments, a quantile sketch, and a sample of whole runs."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from prefetch_advisor.model.timing import Buckets, Distribution

if TYPE_CHECKING:
    import numpy.typing as npt

    from prefetch_advisor.model.timing import Floats

    Integers = npt.NDArray[np.integer[Any]]

#: rows of a run, the unit that is kept or dropped whole
RUN_ROWS = 1_000
#: most rows kept of one queue, and of all inputs together
QUEUE_ROWS = 20_000
TOTAL_ROWS = 2_000_000
#: relative error of a quantile from the sketch
ACCURACY = 0.005


class SampleBudget:
    """How many sample rows all inputs of a run may keep together."""

    def __init__(self, total: int = TOTAL_ROWS, inputs: int | None = None) -> None:
        self._left = total
        self._inputs = inputs

    def share(self) -> int:
        """The rows that the next input may keep: half the rest where more inputs may come."""
        return self._left // max(1, 2 if self._inputs is None else self._inputs)

    def spend(self, rows: int) -> None:
        """One input is done and keeps ``rows``."""
        self._left = max(0, self._left - rows)
        if self._inputs is not None:
            self._inputs -= 1


class Moments:
    """Count, mean, variance and range of values that come in parts.

    Parts are merged by the pairwise update of Chan, Golub and LeVeque (1983), "Algorithms for
    computing the sample variance", The American Statistician 37(3).
    """

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self.minimum = math.inf
        self.maximum = -math.inf
        self._squares = 0.0

    def add(self, values: Floats) -> None:
        count = len(values)
        if not count:
            return
        mean = float(values.mean())
        squares = float(np.square(values - mean).sum())
        total = self.count + count
        step = mean - self.mean
        self._squares += squares + step * step * self.count * count / total
        self.mean += step * count / total
        self.count = total
        self.minimum = min(self.minimum, float(values.min()))
        self.maximum = max(self.maximum, float(values.max()))

    @property
    def cv(self) -> float:
        """Sample standard deviation (n - 1) over the mean; 0 for one value or a mean of 0."""
        if self.count < 2 or not self.mean:
            return 0.0
        return math.sqrt(self._squares / (self.count - 1)) / self.mean


class Sketch:
    """Quantiles of values of 0 or more, each within ``accuracy`` of the true one, relatively.

    Bucket i holds the values in (g^(i-1), g^i], g = (1 + accuracy) / (1 - accuracy), and stands
    for 2 g^i / (g + 1): C. Masson, J. E. Rim, H. K. Lee (2019), "DDSketch: a fast and
    fully-mergeable quantile sketch with relative-error guarantees", PVLDB 12(12). Between two
    ranks it interpolates as numpy does, which keeps the error.
    """

    def __init__(self, accuracy: float = ACCURACY) -> None:
        self.accuracy = accuracy
        self._log_gamma = _log_gamma(accuracy)
        self._zeros = 0
        self._lowest = 0
        self._counts: npt.NDArray[np.int64] = np.zeros(0, np.int64)

    def add(self, values: Floats) -> None:
        positive = values[values > 0]
        self._zeros += len(values) - len(positive)
        if not len(positive):
            return
        buckets = np.ceil(np.log(positive) / self._log_gamma).astype(np.int64)
        lowest = int(buckets.min())
        counts = np.bincount(buckets - lowest)
        if not len(self._counts):
            self._lowest, self._counts = lowest, counts
            return
        start = min(lowest, self._lowest)
        end = max(lowest + len(counts), self._lowest + len(self._counts))
        if end - start > len(self._counts):
            wider = np.zeros(end - start, np.int64)
            at = self._lowest - start
            wider[at : at + len(self._counts)] = self._counts
            self._lowest, self._counts = start, wider
        at = lowest - self._lowest
        self._counts[at : at + len(counts)] += counts

    def buckets(self) -> Buckets:
        """What it has counted, small enough to be kept."""
        filled = np.flatnonzero(self._counts)
        numbers = (filled + self._lowest).astype(np.int32)
        return Buckets(self.accuracy, self._zeros, numbers, self._counts[filled])

    def quantile(self, share: float) -> float:
        """The value below which ``share`` of the values lie."""
        cumulated = self._zeros + np.cumsum(self._counts)
        total = int(cumulated[-1]) if len(cumulated) else self._zeros
        rank = share * (total - 1)
        below, above = (
            self._value(rounded, cumulated) for rounded in (math.floor(rank), math.ceil(rank))
        )
        return below + (above - below) * (rank - math.floor(rank))

    def _value(self, rank: int, cumulated: npt.NDArray[np.int64]) -> float:
        if rank < self._zeros:
            return 0.0
        bucket = self._lowest + int(np.searchsorted(cumulated, rank, side="right"))
        return float(bucket_values(np.array([bucket]), self.accuracy)[0])


def counted(values: Floats, counts: Integers) -> Buckets:
    """The buckets of a sketch that has seen each value so many times."""
    there = (values > 0) & (counts > 0)
    places = np.ceil(np.log(values[there]) / _log_gamma(ACCURACY)).astype(np.int32)
    numbers, which = np.unique(places, return_inverse=True)
    zeros = int(counts[(values <= 0) & (counts > 0)].sum())
    totals = np.bincount(which, weights=counts[there]).astype(np.int64)
    return Buckets(ACCURACY, zeros, numbers.astype(np.int32), totals)


def bucket_values(numbers: Integers, accuracy: float) -> Floats:
    """What each bucket stands for: 2 g^i / (g + 1)."""
    log_gamma = _log_gamma(accuracy)
    # in logarithms: g^i alone may be too large for a float
    half = math.log1p(math.exp(log_gamma)) - math.log(2)
    values: Floats = np.exp(np.minimum(numbers * log_gamma - half, 709.78))
    return values


def _log_gamma(accuracy: float) -> float:
    return math.log((1 + accuracy) / (1 - accuracy))


def exact(values: Floats, buckets: Buckets | None = None) -> Distribution:
    """The distribution of values that are all at hand; there must be some.

    ``buckets`` are needed where the sample does not hold just these values.
    """
    moments = Moments()
    moments.add(values)
    in_order = np.sort(values)
    p50, p95, p99 = (_quantile(in_order, share) for share in (0.5, 0.95, 0.99))
    return _distribution(moments, p50, p95, p99, 0.0, buckets)


def _quantile(in_order: Floats, share: float) -> float:
    """As numpy's, which takes much longer for the few values of one of many queues."""
    rank = share * (len(in_order) - 1)
    below = in_order[math.floor(rank)]
    return float(below + (in_order[math.ceil(rank)] - below) * (rank - math.floor(rank)))


def sketched(moments: Moments, sketch: Sketch) -> Distribution:
    """The distribution of values that were only counted; there must be some."""
    p50, p95, p99 = (
        min(max(sketch.quantile(share), moments.minimum), moments.maximum)
        for share in (0.5, 0.95, 0.99)
    )
    return _distribution(moments, p50, p95, p99, sketch.accuracy, sketch.buckets())


def _distribution(
    moments: Moments,
    p50: float,
    p95: float,
    p99: float,
    error: float,
    buckets: Buckets | None = None,
) -> Distribution:
    return Distribution(
        count=moments.count,
        mean=moments.mean,
        cv=moments.cv,
        minimum=moments.minimum,
        maximum=moments.maximum,
        p50=p50,
        p95=p95,
        p99=p99,
        quantile_error=error,
        buckets=buckets,
    )


@dataclass(slots=True, eq=False)
class KeptRun:
    """A run in the sample."""

    #: how many runs began before it
    order: int
    consumer: int
    processing: array[float] = field(default_factory=lambda: array("d"))
    #: NaN where a row has none
    rtt: array[float] = field(default_factory=lambda: array("d"))

    def extend(self, processing: Floats, rtt: Floats | None) -> None:
        self.processing.frombytes(processing.tobytes())
        if rtt is not None:
            self.rtt.frombytes(rtt.tobytes())

    def cut(self, rows: int) -> None:
        del self.processing[rows:], self.rtt[rows:]


class Reservoir:
    """Whole runs of at most 1,000 contiguous rows of one consumer, chosen evenly over the file.

    Each run that begins is as likely to be kept as any other (algorithm R: Vitter (1985), "Random
    sampling with a reservoir", ACM TOMS 11(1)); whether it is, is drawn when it begins, so that
    rows which will be dropped are never held.
    """

    def __init__(self, rows: int, random: Random) -> None:
        self._random = random
        self._begun = 0
        self._kept: list[KeptRun] = []
        #: of each consumer, the run it is in (``None``: not kept) and the rows that still takes
        self._open: dict[int, tuple[KeptRun | None, int]] = {}
        self._length, self._slots = _shape(rows)

    def add(self, consumer: int, processing: Floats, rtt: Floats | None) -> None:
        at = 0
        while at < len(processing):
            run, left = self._open.get(consumer, (None, 0))
            if not left:
                run, left = self._begin(consumer), self._length
            end = min(at + left, len(processing))
            if run is not None:
                run.extend(processing[at:end], None if rtt is None else rtt[at:end])
            self._open[consumer] = run, left - (end - at)
            at = end

    def _begin(self, consumer: int) -> KeptRun | None:
        self._begun += 1
        run = KeptRun(self._begun, consumer)
        if len(self._kept) < self._slots:
            self._kept.append(run)
            return run
        slot = self._random.randrange(self._begun)
        if slot >= self._slots:
            return None
        self._drop(slot)
        self._kept.insert(slot, run)
        return run

    def _drop(self, slot: int) -> None:
        run = self._kept.pop(slot)
        open_run, left = self._open.get(run.consumer, (None, 0))
        if open_run is run:
            self._open[run.consumer] = None, left

    def shrink(self, rows: int) -> None:
        """Keep at most ``rows`` from now on."""
        longest = self._length
        self._length, self._slots = _shape(rows)
        while len(self._kept) > self._slots:
            self._drop(self._random.randrange(len(self._kept)))
        for run in self._kept:
            run.cut(self._length)
        shorter = longest - self._length
        self._open = {
            consumer: (run, max(0, left - shorter)) for consumer, (run, left) in self._open.items()
        }

    def forget_consumers(self) -> None:
        """From here on rows are not told apart by consumer."""
        self._open.clear()

    @property
    def rows(self) -> int:
        return sum(len(run.processing) for run in self._kept)

    @property
    def runs(self) -> list[KeptRun]:
        """The kept runs, those that began first in front."""
        return sorted(self._kept, key=lambda run: run.order)


def _shape(rows: int) -> tuple[int, int]:
    length = max(1, min(RUN_ROWS, rows))
    return length, max(1, rows // length)
