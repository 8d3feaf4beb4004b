"""The processing time of a saturated consumer, from its departures: the sizing models reversed."""

from __future__ import annotations

import math
from collections.abc import Callable

from prefetch_advisor.statistics import tandem_busy_share

#: share of the round trip below which N / x - R is a difference of what cannot be told apart
_TOO_NEAR = 0.25
_PRECISION = 1e-9


def solve_processing(
    rate: float, prefetch: int, rtt: float, concurrency: int, *, exponential: bool
) -> float | None:
    """P in seconds from ``rate``, the departures per second of one saturated server.

    Constant times: x = min(k / P, N / (P + R)), so P = k / x while R* = (N - k) / x covers the
    round trip, else N / x - R. Exponential ones: x = busy_share(N; P) k / P, solved for P.
    ``prefetch`` 0 is unlimited: the round trip never shows.

    ``None`` where P is not known (it is at most N / x): without R* covering the round trip,
    N / x - R comes out below a quarter of R.
    """
    if not 0 < rate < math.inf:
        return None
    if prefetch == 0:
        return concurrency / rate
    covered = (prefetch - concurrency) / rate
    rest = prefetch / rate - rtt
    if covered >= rtt * (1 - _PRECISION):
        constant = concurrency / rate
    elif rest <= 0 or rest < rtt * _TOO_NEAR:
        return None
    else:
        constant = rest
    if not exponential or prefetch < concurrency:
        return constant

    def excess(processing: float) -> float:
        share = tandem_busy_share(prefetch, processing, rtt, concurrency)
        return share * concurrency / (processing * rate) - 1

    return _root(excess, constant)


def processing_range(
    rate: float, prefetch: float, rtt: float, concurrency: int, error: float, *, loop: bool = False
) -> tuple[float, float]:
    """The least and the most P, constant times, for a round trip off by the share ``error``.

    P = min(k / x, N / x - R): the error of R is that of P in full where R is not covered, and
    none where it stays covered. 0 where the longer round trip leaves no time. In a loop
    P = 1 / x - R / N.
    """
    most = concurrency / rate
    ends = (rtt * (1 + error), rtt * (1 - error))
    if loop:
        least, longest = (max(0.0, 1 / rate - trip / prefetch) for trip in ends)
        return least, longest
    least, longest = (max(0.0, min(most, prefetch / rate - trip)) for trip in ends)
    return least, longest


def _root(excess: Callable[[float], float], upper: float) -> float | None:
    """Where the falling ``excess`` crosses 0 at or below ``upper``, by the Illinois method.

    Variation only slows a consumer, so the constant answer is the upper end of the bracket;
    the lower end is halved until it encloses the root. ``None`` where no time fits.
    """
    high, above = upper, excess(upper)
    if above >= -_PRECISION:
        return upper
    low, below = upper, above
    while below < 0:
        high, above = low, below
        low /= 2
        if low < upper * _PRECISION:
            return None
        below = excess(low)
    for _ in range(100):
        middle = high - above * (high - low) / (above - below)
        value = excess(middle)
        if abs(value) < _PRECISION or high - low < _PRECISION * high:
            return middle
        if value < 0:
            high, above, below = middle, value, below / 2
        else:
            low, below, above = middle, value, above / 2
    return (low + high) / 2
