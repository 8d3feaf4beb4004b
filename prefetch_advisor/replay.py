"""Replay: measured (or drawn) times run through the simulator, each consumer apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prefetch_advisor import engine
from prefetch_advisor.config import FEW_SAMPLES, MAX_PREFETCH
from prefetch_advisor.feeding import ConstantFeeding
from prefetch_advisor.model.record import record
from prefetch_advisor.model.timing import Run
from prefetch_advisor.statistics import lognormal_sample, permutation

if TYPE_CHECKING:
    from prefetch_advisor.model.timing import Floats

_SHUFFLE_SEED = 20_000
#: messages where only mean and CV are known
_DRAWN = 20_000
_DRAW_SEED = 3
#: a loop over messages that overtake one another is slow: from here on fewer rounds of the tokens
_LONG = 100_000
#: rounds of the tokens for each of several consumers, who together make many more
_ROUNDS_EACH = 20


@record
class Lane:
    """What one consumer does: its processing times in order, and its round trips."""

    processing: Floats
    #: seconds; constant, or one after the other
    rtt: float | Floats

    @property
    def work(self) -> float:
        return float(self.processing.sum())

    @property
    def samples(self) -> int:
        """How many messages it takes to have seen all of them."""
        trips = 0 if isinstance(self.rtt, float) else len(self.rtt)
        return max(len(self.processing), trips)


@dataclass(frozen=True, eq=False, slots=True)
class ReplayFeeding:
    """Replay of measured times, each consumer apart, their shares weighted by their work."""

    lanes: tuple[Lane, ...]
    workers: int
    steady: ConstantFeeding
    #: messages acked together
    batch: int = 1
    _known: dict[int, float] = field(default_factory=dict, repr=False)

    def guess(self, target: float) -> int:
        return self.steady.guess(target) + self.batch - 1

    def busy_share(self, prefetch: int) -> float:
        if prefetch < self.batch:  # never acked
            return 0.0
        if prefetch > MAX_PREFETCH:  # so many tokens average any variation out
            return self.steady.busy_share(prefetch)
        if prefetch not in self._known:
            self._known[prefetch] = self._replay(prefetch)
        return self._known[prefetch]

    def _replay(self, prefetch: int) -> float:
        lanes = self.lanes
        rounds = engine.MESSAGES_PER_TOKEN
        if len(lanes) > 1:
            rounds = max(_ROUNDS_EACH, rounds // len(lanes))
        if self.workers > 1 or self.batch > 1 or not isinstance(lanes[0].rtt, float):
            rounds = min(rounds, max(10, _LONG // prefetch))
        shares = 0.0
        for lane in lanes:
            # the measured part holds every sample at least once
            messages = max(engine.MESSAGES / len(lanes), lane.samples / (1 - engine.WARM_UP))
            length = engine.span(prefetch, math.ceil(messages), rounds)
            share = engine.busy_share(
                lane.processing, lane.rtt, prefetch, self.workers, length, self.batch
            )
            shares += share * lane.work
        return shares / sum(lane.work for lane in lanes)


def replay_feeding(
    runs: Sequence[Run],
    rtt: float,
    rtt_samples: Floats | None = None,
    workers: int = 1,
    shuffle: bool = False,
    batch: int = 1,
) -> ReplayFeeding | None:
    """Replay of the runs of a queue; ``None`` where they hold no work at all.

    Consumers with too few samples of their own are replayed as one. Round trips are those
    measured with the very rows, else ``rtt_samples`` in order, else the constant ``rtt``.
    """
    lanes = _lanes(runs, float(rtt), rtt_samples, shuffle)
    if not lanes:
        return None
    count = sum(len(lane.processing) for lane in lanes)
    processing = sum(lane.work for lane in lanes) / count
    trip = rtt if rtt_samples is None else float(rtt_samples.mean())
    return ReplayFeeding(lanes, workers, ConstantFeeding(processing, trip, workers), batch)


def _lanes(
    runs: Sequence[Run], rtt: float, rtt_samples: Floats | None, shuffle: bool
) -> tuple[Lane, ...]:
    import numpy as np

    by_consumer: dict[str | None, list[Run]] = {}
    for run in runs:
        by_consumer.setdefault(run.consumer, []).append(run)
    few = [
        name
        for name, own in by_consumer.items()
        if name is not None and sum(len(run.processing) for run in own) < FEW_SAMPLES
    ]
    for name in few:
        by_consumer.setdefault(None, []).extend(by_consumer.pop(name))
    lanes = []
    for own in by_consumer.values():
        processing = np.concatenate([run.processing for run in own])
        trips: float | Floats = rtt
        if rtt_samples is not None:
            measured = [run.rtt for run in own if run.rtt is not None]
            trips = np.concatenate(measured) if len(measured) == len(own) else rtt_samples
        if shuffle:
            order = permutation(len(processing), _SHUFFLE_SEED)
            if not isinstance(trips, float) and len(trips) == len(processing):
                trips = trips[order]
            processing = processing[order]
        lane = Lane(processing, trips)
        if lane.work > 0:
            lanes.append(lane)
    return tuple(lanes)


def drawn_runs(mean: float, cv: float | None) -> tuple[Run, ...]:
    """Times of this mean and CV: lognormal, one constant time without a CV."""
    import numpy as np

    if not cv:
        return (Run(None, np.array([mean])),)
    return (Run(None, lognormal_sample(mean, cv, _DRAWN, _DRAW_SEED)),)
