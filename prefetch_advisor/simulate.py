"""What would happen if: one queue, its consumers, every prefetch and count that is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice

from prefetch_advisor.config import MAX_PREFETCH, Policy
from prefetch_advisor.dispatch import Dealt, Server, Step, deal, poisson_process
from prefetch_advisor.draws import Shape, draws
from prefetch_advisor.feeding import Handling
from prefetch_advisor.model.figures import Figure, FigureSource, ProcessingTime, RoundTrip
from prefetch_advisor.model.timing import Run
from prefetch_advisor.sizing import NotSized, Sizing, size
from prefetch_advisor.sizing_async import size_async

#: prefetch values tried where none are given
_LADDER = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
#: messages of a setting where nothing says how many
MESSAGES = 40_000
#: rounds of the prefetch that a backlog takes at least
_ROUNDS = 20
#: share of a backlog that passes before measuring starts
_WARM = 0.2
#: tasks of which every step is kept, for a timeline
_FEW_TASKS = 200
#: messages up to which those rounds are taken
_MOST = 400_000


@dataclass(frozen=True, slots=True)
class Work:
    """The times that messages take: measured ones, a list of tasks, or a distribution. Seconds."""

    mean: float
    cv: float
    #: for a person: "1,000 rows of timings.csv", "exponential, 20 ms"
    origin: str
    #: used in turn; empty: drawn from ``shape``
    values: Sequence[float] = field(default=(), repr=False)
    shape: Shape | None = None
    #: exactly these, each once
    tasks: bool = False

    def times(self, seed: int) -> Iterable[float]:
        """As many as are wanted."""
        if self.shape is None:
            return self.values if self.tasks else cycle(self.values)
        drawn = self.cv if self.shape not in ("constant", "exponential") else None
        return draws(self.shape, self.mean, drawn, seed)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """When messages come; seconds."""

    #: a second
    rate: float
    origin: str
    #: measured ones from 0 on; empty: a Poisson process
    times: Sequence[float] = field(default=(), repr=False)

    def process(self, seed: int) -> Iterable[float]:
        """Ascending times; measured ones are repeated end to end."""
        if not self.times:
            return poisson_process(self.rate, seed)
        return _again_and_again(self.times, 1 / self.rate)


def _again_and_again(times: Sequence[float], gap: float) -> Iterator[float]:
    start = 0.0
    while True:
        yield from (start + time for time in times)
        start += times[-1] + gap


@dataclass(frozen=True, slots=True)
class Consumers:
    """All that is the same for every setting."""

    handling: Handling = field(default_factory=Handling)
    rtt: RoundTrip | None = None
    #: one for each consumer; used in turn
    speeds: tuple[float, ...] = (1.0,)
    priorities: tuple[int, ...] = (0,)
    #: when the last one begins to consume, seconds; ``None``: with the others
    join: float | None = None
    #: when the first one is killed, seconds
    kill: float | None = None
    single_active: bool = False
    failure_rate: float = 0.0

    def servers(self, setting: Setting) -> list[Server]:
        """The consumers of one setting."""
        trips: float | Sequence[float] = 0.0
        if self.rtt is not None:
            samples = self.rtt.samples
            trips = self.rtt.mean if samples is None or not len(samples) else samples.tolist()
        last = setting.consumers - 1
        return [
            Server(
                setting.prefetch,
                self.handling.workers,
                trips,
                self.handling.kind,
                self.handling.batch,
                self.speeds[number % len(self.speeds)],
                self.priorities[number % len(self.priorities)],
                joins=self.join if self.join is not None and number == last else 0.0,
                dies=self.kill if self.kill is not None and not number else math.inf,
            )
            for number in range(setting.consumers)
        ]

    def speed(self, count: int) -> float:
        """Of so many consumers together: of those that work at the same time."""
        if self.single_active:
            return self.speeds[0]
        return math.fsum(islice(cycle(self.speeds), count))


@dataclass(frozen=True, slots=True)
class Setting:
    """What is varied."""

    #: 0: no limit
    prefetch: int
    consumers: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A simulation."""

    work: Work
    #: ``None``: a backlog, all of it there at the start
    arrivals: Arrivals | None
    consumers: Consumers
    settings: tuple[Setting, ...]
    #: of each setting; ``None``: as many as it takes
    messages: int | None = None
    message_bytes: float | None = None
    seed: int = 1
    policy: Policy = field(default_factory=Policy)


@dataclass(frozen=True, slots=True)
class Row:
    """What one setting makes of it."""

    setting: Setting
    dealt: Dealt
    #: messages a second that these consumers can do at most; ``None``: not known
    capacity: float | None
    #: messages a second by which the backlog grows; 0: it does not
    growth: float
    #: the prefetch that is advised
    advised: bool
    #: every delivery, of few tasks
    steps: tuple[Step, ...] = ()

    @property
    def skew(self) -> float | None:
        """Work of the busiest consumer by that of the least busy; ``None``: one had none."""
        work = [share.work for share in self.dealt.consumers]
        return max(work) / min(work) if len(work) > 1 and min(work) > 0 else None


@dataclass(frozen=True, slots=True)
class Simulation:
    """The answer: a row for each setting, and what is advised and why."""

    plan: Plan
    rows: tuple[Row, ...]
    advice: Sizing | NotSized


def simulate(plan: Plan, progress: Callable[[float, float], None] | None = None) -> Simulation:
    """Run every setting with the same messages.

    ``progress`` is told how many messages are done, of how many.

    Raises:
        UsageError: a prefetch that no setting can have with this client.
    """
    advice = advise_for(plan)
    counts = [_messages(plan, setting) for setting in plan.settings]
    total = sum(counts)
    rows: list[Row] = []
    for setting, count in zip(plan.settings, counts, strict=True):
        before = sum(counts[: len(rows)])
        tell = None if progress is None else partial(_tell, progress, before, total)
        rows.append(_row(plan, setting, count, advice, tell))
    return Simulation(plan, tuple(rows), advice)


def _tell(progress: Callable[[float, float], None], before: int, total: int, done: int) -> None:
    progress(before + done, total)


def _row(
    plan: Plan,
    setting: Setting,
    count: int,
    advice: Sizing | NotSized,
    progress: Callable[[int], None] | None,
) -> Row:
    work, consumers = plan.work, plan.consumers
    steps: list[Step] = []
    keeps = count <= _FEW_TASKS
    dealt = deal(
        None if plan.arrivals is None else plan.arrivals.process(plan.seed + 1),
        iter(work.times(plan.seed)),
        consumers.servers(setting),
        count=count,
        warm=0 if work.tasks else None if plan.arrivals else _warm_up(setting, count),
        single_active=consumers.single_active,
        failure_rate=consumers.failure_rate,
        steps=steps.append if keeps else None,
        progress=progress,
    )
    most = capacity(plan, setting, advice)
    growth = 0.0
    if plan.arrivals is not None and most is not None:
        growth = max(0.0, plan.arrivals.rate / (1 - consumers.failure_rate) - most)
    advised = isinstance(advice, Sizing) and setting.prefetch == advice.prefetch
    return Row(setting, dealt, most, growth, advised, tuple(steps))


def capacity(plan: Plan, setting: Setting, advice: Sizing | NotSized) -> float | None:
    """Messages a second that these consumers do while there always are some; ``None``: unknown.

    k / P of each, times its busy share at this prefetch; of the kind async N / (P + R).
    """
    consumers, mean = plan.consumers, plan.work.mean
    rtt = 0.0 if consumers.rtt is None else consumers.rtt.mean
    speed = consumers.speed(setting.consumers)
    if consumers.handling.kind == "async":
        return setting.prefetch * speed / (mean + rtt) if setting.prefetch else math.inf
    if not isinstance(advice, Sizing):
        return None
    share = advice.busy_share_at(setting.prefetch)
    return None if share is None else share * consumers.handling.workers * speed / mean


def _round(setting: Setting) -> int:
    return max(1, setting.prefetch) * setting.consumers


def _messages(plan: Plan, setting: Setting) -> int:
    """As many as were asked for; of a backlog whole rounds of what the consumers may hold.

    Whole rounds make constant times come out exactly.
    """
    if plan.work.tasks:
        return len(plan.work.values)
    if plan.arrivals is not None and plan.arrivals.times and plan.messages is None:
        return len(plan.arrivals.times)
    if plan.messages is not None or plan.arrivals is not None:
        return plan.messages or MESSAGES
    whole = _round(setting)
    return whole * max(math.ceil(MESSAGES / whole), min(_ROUNDS, math.ceil(_MOST / whole)), 2)


def _warm_up(setting: Setting, count: int) -> int:
    whole = _round(setting)
    return whole * math.ceil(count * _WARM / whole)


def advise_for(plan: Plan) -> Sizing | NotSized:
    """The prefetch that ``advise`` would advise for the same figures."""
    work, consumers = plan.work, plan.consumers
    rtt = consumers.rtt or RoundTrip(0.0, FigureSource.ASSUMED, "none given")
    processing = ProcessingTime(
        work.mean,
        FigureSource.MEASURED if work.values else FigureSource.GIVEN,
        work.origin,
        samples=len(work.values) or None,
        # a mean alone is taken as constant
        cv=work.cv if work.shape == "lognormal" else None,
        runs=_runs(work, plan.seed),
    )
    handling = consumers.handling
    if handling.kind == "async":
        rate = None
        if plan.arrivals is not None:
            rate = Figure(plan.arrivals.rate, FigureSource.GIVEN, plan.arrivals.origin)
        most = max(setting.consumers for setting in plan.settings)
        return size_async(processing, rtt, rate, plan.policy, consumers=most, batch=handling.batch)
    exponential = work.shape == "exponential"
    return size(processing, rtt, handling, plan.policy, exponential=exponential)


def _runs(work: Work, seed: int) -> tuple[Run, ...]:
    """Times to replay: measured ones, and those of shapes for which there is no formula."""
    values = work.values
    if work.shape in ("gamma", "bimodal"):
        values = list(islice(work.times(seed), MESSAGES // 2))
    if not values or work.tasks:
        return ()
    import numpy as np

    return (Run(None, np.asarray(values, dtype=np.float64)),)


def around(advised: int, least: int) -> tuple[int, ...]:
    """Prefetch values from ``least`` to well above the advised one, and no limit."""
    top = next((step for step in _LADDER if step >= 4 * advised), MAX_PREFETCH)
    steps = {step for step in _LADDER if least <= step <= top} | {advised, least}
    return (*sorted(steps), 0)
