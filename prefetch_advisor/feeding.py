"""How busy a prefetch keeps one consumer whose queue is never empty, and the least that does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from prefetch_advisor.config import MAX_PREFETCH
from prefetch_advisor.model.figures import ClientKind
from prefetch_advisor.model.record import record
from prefetch_advisor.statistics import erlang_servers, tandem_busy_share

#: shares nearer than this are equal: the rounding of the figures they come from
CLOSE = 1e-9


@record
class Handling:
    """How one consumer works on messages."""

    #: k; 1 for a handler that blocks its loop
    workers: int = 1
    kind: ClientKind = "workers"
    #: messages acked together
    batch: int = 1


class Feeding(Protocol):
    """Busy share of one saturated consumer as a function of its prefetch; never falling."""

    @property
    def steady(self) -> ConstantFeeding:
        """The same means without variation: no prefetch does better."""
        ...

    def guess(self, target: float) -> int:
        """A prefetch near the smallest that reaches ``target``: where to begin looking."""
        ...

    def busy_share(self, prefetch: int) -> float:
        """Share of its time that its workers work; ``prefetch`` is 1 or more."""
        ...


@record
class ConstantFeeding:
    """Constant times: min(1, N P / (k (P + R)))."""

    processing: float
    rtt: float
    workers: int

    def __post_init__(self) -> None:
        if not (0 < self.processing < math.inf and 0 <= self.rtt < math.inf and self.workers >= 1):
            raise ValueError(f"no consumer works like {self}")

    @property
    def steady(self) -> ConstantFeeding:
        return self

    def busy_share(self, prefetch: int) -> float:
        need = self.workers * (self.processing + self.rtt) / self.processing
        share = prefetch / need
        return share if share < 1 - CLOSE else 1.0

    def guess(self, target: float) -> int:
        """Exact here: target k (P + R) / P."""
        need = target * self.workers * (1 + self.rtt / self.processing)
        return max(1, math.ceil(need * (1 - CLOSE)))


@record
class ExponentialFeeding:
    """Exponential processing times, round trips of any distribution: product form."""

    steady: ConstantFeeding

    def busy_share(self, prefetch: int) -> float:
        mean = self.steady
        return tandem_busy_share(prefetch, mean.processing, mean.rtt, mean.workers)

    def guess(self, target: float) -> int:
        """Exact for one worker."""
        mean = self.steady
        load = mean.workers * mean.rtt / mean.processing
        return max(mean.guess(target), erlang_servers(load, 1 - target, MAX_PREFETCH))


@record
class LoopFeeding:
    """A handler that blocks its event loop: acks leave when all buffered messages are handled.

    So N messages and one round trip take turns, N P / (N P + R), however the times vary: of one
    worker only. Measured on pika's SelectConnection.
    """

    steady: ConstantFeeding

    def busy_share(self, prefetch: int) -> float:
        work = prefetch * self.steady.processing
        return work / (work + self.steady.rtt)

    def guess(self, target: float) -> int:
        """Exact: target / (1 - target) R / P."""
        mean = self.steady
        need = target / (1 - target) * mean.rtt / mean.processing
        return max(1, math.ceil(need * (1 - CLOSE)))


def fed_prefetch(feeding: Feeding, target: float, lower: int = 1) -> int:
    """The smallest prefetch of at least ``lower`` whose busy share reaches ``target``.

    May exceed what the protocol can carry.
    """
    steady = max(lower, feeding.steady.guess(target))
    if steady > MAX_PREFETCH:
        return steady
    start = max(lower, feeding.guess(target))
    found = smallest(lambda n: feeding.busy_share(n) >= target - CLOSE, start, lower)
    return found if found is not None else MAX_PREFETCH + 1


def smallest(
    reached: Callable[[int], bool], start: int, lower: int, upper: int = MAX_PREFETCH
) -> int | None:
    """The smallest of ``lower`` ... ``upper`` for which ``reached`` holds; ``None``: none.

    Gallops from ``start``, then bisects; ``reached`` must not become false again as it grows.
    """
    start = min(max(start, lower), upper)
    step = 1
    if reached(start):
        high = start
        while (low := high - step) >= lower and reached(low):
            high, step = low, 2 * step
        low = max(low, lower - 1)
    else:
        low, high = start, start + 1
        while high <= upper and not reached(high):
            step *= 2
            low, high = high, high + step
        if high > upper:
            if low >= upper or not reached(upper):
                return None
            high = upper
    while high - low > 1:
        middle = (low + high) // 2
        if reached(middle):
            high = middle
        else:
            low = middle
    return high
