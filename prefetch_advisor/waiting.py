"""How long messages wait before work on them begins, and how many consumers keep that short."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from prefetch_advisor.consumer_count import ConsumerCount
from prefetch_advisor.dispatch import Dealt, Server, deal, poisson
from prefetch_advisor.feeding import Handling, smallest
from prefetch_advisor.statistics import erlang_c, lognormal_sample, permutation
from prefetch_advisor.units import duration, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefetch_advisor.model.figures import ProcessingTime

#: messages of one simulation
MESSAGES = 40_000
_TIMES_SEED, _ARRIVALS_SEED = 41, 42
#: more consumers than this many times those that the load needs are not tried
_MOST = 8
#: a prefetch adds to the wait from this factor, and these seconds, on
_MUCH, _LITTLE = 1.2, 0.001


def formula_wait(rate: float, processing: float, workers: int) -> float:
    """Mean wait of M/M/c in seconds, C(c, a) P / (c - a): one line, no prefetch, no round trip.

    ``inf`` where the workers cannot keep up. Erlang C; for exponential times.
    """
    load = rate * processing
    if load >= workers:
        return math.inf
    return erlang_c(workers, load) * processing / (workers - load)


class Waiting:
    """Poisson arrivals dealt out to equal consumers, simulated once for each count and prefetch.

    Measured times in random order; of a mean and a CV lognormal times; of a mean alone
    exponential ones, as the formula has them.
    """

    def __init__(
        self, rate: float, processing: ProcessingTime, rtt: float, handling: Handling
    ) -> None:
        self.rate = rate
        self.mean = processing.mean
        self._rtt = rtt
        self.workers = handling.workers
        self._times = _times(processing)
        self._arrivals = poisson(rate, MESSAGES, _ARRIVALS_SEED)
        self._known: dict[tuple[int, int], Dealt] = {}

    def dealt(self, consumers: int, prefetch: int) -> Dealt:
        """What so many consumers with this prefetch make of it."""
        key = consumers, prefetch
        if key not in self._known:
            servers = [Server(prefetch, self.workers, self._rtt)] * consumers
            self._known[key] = deal(self._arrivals, self._times, servers)
        return self._known[key]

    def keeps_up(self, consumers: int) -> bool:
        """Whether the workers can do what arrives; a mean wait exists only then."""
        return self.rate * self.mean < consumers * self.workers

    def fewest(self, longest: float, prefetch: int, least: int) -> int | None:
        """The fewest consumers, of ``least`` or more, whose mean wait is at most ``longest``.

        Begins with the formula, and goes by the simulation, which knows what a prefetch adds: a
        message in the buffer of a busy consumer waits although another one idles. ``None``: not
        even with eight times as many.
        """
        most = _MOST * least
        start = smallest(lambda c: self._by_formula(c) <= longest, least, least, most)
        return smallest(
            lambda c: self.dealt(c, prefetch).wait <= longest, start or least, least, most
        )

    def _by_formula(self, consumers: int) -> float:
        return formula_wait(self.rate, self.mean, consumers * self.workers)


def with_wait(
    count: ConsumerCount, waiting: Waiting, prefetch: int, longest: float | None
) -> ConsumerCount:
    """The count with the mean wait it makes, or the larger one that keeps it within ``longest``."""
    enough = count.recommended
    if enough is None or not waiting.keeps_up(enough):
        return count
    chosen = enough if longest is None else waiting.fewest(longest, prefetch, enough)
    if chosen is None:
        return _out_of_reach(count, waiting, prefetch, enough)
    dealt = waiting.dealt(chosen, prefetch)
    words = f"a message waits {duration(dealt.wait)} on average until it is begun"
    least = waiting.dealt(chosen, min(prefetch, waiting.workers)).wait
    if dealt.wait > _MUCH * least + _LITTLE:
        words += (
            f" ({duration(least)} with prefetch {waiting.workers}: what is buffered waits for a"
            " busy consumer while another idles)"
        )
    if chosen == enough:
        return replace(count, wait=dealt.wait, reason=f"{count.reason}; {words}")
    load = waiting.rate * waiting.mean / (chosen * waiting.workers)
    return replace(
        count,
        recommended=chosen,
        utilisation_recommended=load,
        keep=False,
        wait=dealt.wait,
        reason=(
            f"{chosen:,} keep the mean wait within {duration(longest or 0.0)}: {words}, consumers"
            f" loaded {percent(load)}; the load alone needs {enough:,}"
        ),
    )


def _out_of_reach(
    count: ConsumerCount, waiting: Waiting, prefetch: int, enough: int
) -> ConsumerCount:
    most = waiting.dealt(_MOST * enough, prefetch)
    reason = (
        f"no count is known to keep the wait so short: with {_MOST * enough:,} consumers it is"
        f" {duration(most.wait)}, {duration(most.wait - most.queued)} of it on the way and in a"
        " consumer's buffer"
    )
    return replace(count, recommended=None, utilisation_recommended=None, keep=False, reason=reason)


def _times(processing: ProcessingTime) -> Sequence[float]:
    if processing.runs:
        import numpy as np

        values = np.concatenate([run.processing for run in processing.runs])
        shuffled: list[float] = values[permutation(len(values), _TIMES_SEED)].tolist()
        return shuffled
    if processing.cv is None:
        draw = random.Random(_TIMES_SEED)
        drawn = [draw.expovariate(1.0) for _ in range(MESSAGES)]
        scale = processing.mean * len(drawn) / math.fsum(drawn)
        return [value * scale for value in drawn]
    varied: list[float] = lognormal_sample(
        processing.mean, processing.cv, MESSAGES, _TIMES_SEED
    ).tolist()
    return varied
