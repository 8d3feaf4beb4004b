"""What a bench is to measure, what it measured, and what the model says to it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from prefetch_advisor.config import Policy
from prefetch_advisor.feeding import Handling
from prefetch_advisor.model.figures import ClientKind, FigureSource, RoundTrip
from prefetch_advisor.probe import ProbePlan, ProbeResult, round_trip
from prefetch_advisor.simulate import Consumers, Plan, Setting, Work, advise_for, around, capacity
from prefetch_advisor.sizing import NotSized, Sizing

if TYPE_CHECKING:
    from collections.abc import Sequence

#: how the client works: one handler at a time that acks at once; k threads; every delivery started
#: as it comes; acks that leave when all deliveries at hand are handled
Style = Literal["blocking", "threads", "async", "loop"]
STYLES: tuple[Style, ...] = ("blocking", "threads", "async", "loop")
#: messages that are measured at a prefetch, unless said
MESSAGES = 2_000
#: rounds of the prefetch that pass before measuring starts, and that are measured at least
WARM_ROUNDS, LEAST_ROUNDS = 2, 5
#: share of the messages that pass before measuring starts, at least
_WARM_SHARE = 0.1
#: measured messages without which a prefetch says nothing
LEAST_MESSAGES = 20
#: without a limit all is in the client's memory at once: nothing of it is steady
_UNLIMITED_WARM = 0.2


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """What to measure, where, and for how long."""

    #: connection, kind of queue, size of a message, patience
    probe: ProbePlan
    work: Work
    style: Style = "blocking"
    #: threads of the style that has them
    workers: int = 1
    #: messages acked together
    batch: int = 1
    #: 0: no limit; empty: a few around the advised one
    prefetches: tuple[int, ...] = ()
    #: measured at each prefetch
    messages: int = MESSAGES
    #: seconds to measure at each prefetch, at most
    duration: float = 20.0
    seed: int = 1

    @property
    def handling(self) -> Handling:
        """The client as the model has it."""
        kinds: dict[Style, ClientKind] = {"async": "async", "loop": "loop"}
        kind = kinds.get(self.style, "workers")
        return Handling(self.workers if self.style == "threads" else 1, kind, self.batch)

    def counts(self, prefetch: int) -> tuple[int, int]:
        """Messages that pass at first, and that are measured, at a prefetch."""
        if not prefetch:
            return math.ceil(self.messages * _UNLIMITED_WARM), self.messages
        warm = max(WARM_ROUNDS * prefetch, math.ceil(self.messages * _WARM_SHARE))
        return warm, max(self.messages, LEAST_ROUNDS * prefetch)


@dataclass(frozen=True, slots=True)
class Measured:
    """One prefetch, on the broker. Seconds."""

    prefetch: int
    #: messages finished in ``elapsed``
    messages: int
    elapsed: float
    #: in handlers, of the messages that were measured
    worked: float
    #: what handlers took, message by message, as a recorder would have it
    durations: Sequence[float]
    #: time ran out before all messages were done
    cut: bool = False

    @property
    def throughput(self) -> float:
        """Messages a second."""
        return self.messages / self.elapsed


@dataclass(frozen=True, slots=True)
class BenchPoint:
    """A prefetch: what the broker and the client did, and what the model says."""

    measured: Measured
    #: messages a second; ``None``: the model does not know
    predicted: float | None
    #: seconds that the last prefetched message waits
    buffered_time: float


@dataclass(frozen=True, slots=True)
class BenchResult:
    """A bench that is over."""

    plan: BenchPlan
    #: the round trip and the client's cost, measured first on a queue of the same kind
    probe: ProbeResult
    points: tuple[BenchPoint, ...]
    #: the prefetch for handlers as they were measured, and the probe's round trip
    advice: Sizing | NotSized
    #: the times that both rest on
    work: Work
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def best(self) -> BenchPoint | None:
        """The finite prefetch with the highest throughput."""
        finite = [point for point in self.points if point.measured.prefetch]
        return max(finite, key=lambda point: point.measured.throughput, default=None)


def model(plan: BenchPlan, probe: ProbeResult, work: Work) -> Plan:
    """The same as a simulation: its sizing and capacities are the prediction.

    What a blocking handler takes contains the ack, and so nearly all that the client spends on a
    message; beside threads the client works at the same time. A loop decodes and acks between its
    handlers: there the client's own cost is added to every time.
    """
    cost = (probe.client_cost or 0.0) if plan.style == "loop" else 0.0
    with_cost = replace(work, mean=work.mean + cost, values=[value + cost for value in work.values])
    trip = round_trip(probe)
    consumers = Consumers(plan.handling, RoundTrip(trip.mean, FigureSource.MEASURED, trip.origin))
    if trip.samples is not None:
        consumers = replace(consumers, rtt=trip)
    return Plan(with_cost, None, consumers, (Setting(1, 1),), policy=Policy())


def around_advised(plan: BenchPlan, probe: ProbeResult) -> tuple[int, ...]:
    """Where none are given: a few around what is advised for the times that were asked for."""
    advice = advise_for(model(plan, probe, plan.work))
    least = max(plan.handling.workers, plan.batch)
    advised = advice.prefetch if isinstance(advice, Sizing) else least
    return around(advised, least)


def judge(plan: BenchPlan, probe: ProbeResult, measured: Sequence[Measured]) -> BenchResult:
    """The points beside what the model predicts, and what is advised."""
    work = recorded(plan, measured)
    simulated = model(plan, probe, work)
    advice = advise_for(simulated)
    workers = plan.handling.workers
    points = []
    for point in measured:
        setting = Setting(point.prefetch, 1)
        predicted = capacity(simulated, setting, advice)
        if predicted is not None and not math.isfinite(predicted):
            predicted = None
        waits = max(0, point.prefetch - workers) * simulated.work.mean / workers
        points.append(BenchPoint(point, predicted, 0.0 if plan.style == "async" else waits))
    return BenchResult(plan, probe, tuple(points), advice, work)


def recorded(plan: BenchPlan, measured: Sequence[Measured]) -> Work:
    """What handlers really took: a sleep is longer than what is asked for."""
    values = [value for point in measured for value in point.durations]
    if not values:
        return plan.work
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    cv = math.sqrt(variance) / mean if mean else 0.0
    origin = f"{len(values):,} handlers, measured"
    return Work(mean, cv, origin, values)
