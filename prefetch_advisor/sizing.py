"""The prefetch of a consumer: the rule, the smallest that feeds it, and the one to set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import lru_cache
from typing import NamedTuple

from prefetch_advisor.bounds import (
    PROTOCOL,
    Bound,
    ConflictError,
    conflict,
    conflict_words,
    highest,
    lower_bounds,
    tightest,
)
from prefetch_advisor.config import ENOUGH_SAMPLES, Policy
from prefetch_advisor.feeding import (
    ConstantFeeding,
    ExponentialFeeding,
    Feeding,
    Handling,
    LoopFeeding,
    fed_prefetch,
)
from prefetch_advisor.inference import processing_range, solve_processing
from prefetch_advisor.model.advice import BoundName, Fed, Rule
from prefetch_advisor.model.figures import ProcessingTime, RoundTrip
from prefetch_advisor.model.record import record
from prefetch_advisor.replay import ReplayFeeding, drawn_runs, replay_feeding
from prefetch_advisor.sizing_words import Choice, reason_for
from prefetch_advisor.units import duration

__all__ = [
    "Handling",
    "NotSized",
    "Sizing",
    "buffered_time",
    "processing_range",
    "rule_prefetch",
    "size",
    "solve_processing",
]

#: relative rounding that must not push a ceiling up by one
_NOISE = 1e-11
#: seconds; no work takes less
_TINIEST = 1e-12
#: the 90 % interval is wide when its ends differ by more than 1 and by more than this share
_WIDE = 0.10
#: a present prefetch this near to the advised one is kept ...
_NEAR = 0.10
#: ... unless it stays further below the target than this
_SLACK = 0.03
#: busy share that is enough where nothing waits for long
_BUSY_ENOUGH = 0.95
#: seconds that may wait in a client without anybody noticing
_SHORT_WAIT = 0.005
#: seconds in the hands of a busy consumer that another one could have begun
_LONG_WAIT = 1.0


@record
class NotSized:
    """No prefetch can be advised."""

    reason: str
    #: figures that would be needed, each with the option that supplies it
    missing: tuple[str, ...] = ()
    #: a lower bound above an upper one
    conflict: tuple[Bound, Bound] | None = None


@record
class Sizing:
    """The prefetch of one consumer and what it rests on."""

    #: ``None`` where the prefetch is the concurrency: no rule applies then
    rule: Rule | None
    fed: Fed | None
    #: the advice
    prefetch: int
    #: the present prefetch is good enough
    keep: bool
    #: at the advised prefetch; ``None`` where the prefetch is the concurrency
    busy_share: float | None
    #: seconds the last prefetched message waits in the client, at the advised prefetch
    buffered_time: float
    #: the lower and the upper bound that decided, if one did
    lower_bound_by: BoundName | None
    limited_by: BoundName | None
    #: why this prefetch, with its numbers
    reason: str
    #: how busy any other prefetch keeps the consumer
    feeding: Feeding | None = field(repr=False, compare=False)

    def busy_share_at(self, prefetch: int) -> float | None:
        """Busy share of a saturated consumer with this prefetch; 0 is unlimited."""
        if self.feeding is None:
            return None
        return 1.0 if prefetch == 0 else self.feeding.busy_share(prefetch)


def rule_prefetch(processing: float, rtt: float, concurrency: int = 1) -> int:
    """ceil(k (P + R) / P), where rounding never adds one; seconds, ``processing`` above 0."""
    extra = concurrency * rtt / processing
    return concurrency + math.ceil(extra * (1 - _NOISE))


def buffered_time(prefetch: int, processing: float, concurrency: int = 1) -> float:
    """(N - k) P / k: seconds the last prefetched message waits in the client."""
    return max(0, prefetch - concurrency) * processing / concurrency


def unbounded(_: ProcessingTime) -> Sequence[Bound]:
    """The protocol's bound alone."""
    return [PROTOCOL]


def size(
    processing: ProcessingTime | None,
    rtt: RoundTrip | None,
    handling: Handling,
    policy: Policy,
    present: int | None = None,
    *,
    exponential: bool = False,
    bounds: Callable[[ProcessingTime], Sequence[Bound]] = unbounded,
) -> Sizing | NotSized:
    """The prefetch for one consumer that is not async.

    Measured times are replayed; of a mean and a CV lognormal times are; a mean alone is taken
    as constant, or where ``exponential`` as exponential (for an inferred P, whose variation nobody
    saw). ``present`` is today's prefetch, 0 unlimited. ``bounds`` gives the upper bounds of a
    processing time.

    Raises:
        ConflictError: options that no prefetch can satisfy together.
    """
    lacking = lacks(processing, rtt)
    if lacking is not None:
        return lacking
    assert processing is not None
    assert rtt is not None
    k = handling.workers
    lower = lower_bounds(k, handling.batch)
    upper = bounds(processing)
    clash = contradiction(lower, upper)
    if clash is not None:
        return clash
    model = _model(processing, rtt, handling, exponential)
    feeding = model.feeding
    rule_n = rule_prefetch(processing.mean, rtt.mean, k)
    rule = Rule(rule_n, feeding.busy_share(rule_n))
    fed = _fed(model, policy.target(handling.kind), processing)
    wide = _is_wide(fed)
    feeds = fed.range[1] if wide and fed.range is not None else fed.prefetch
    least, most = highest(lower), tightest(upper)
    wanted = max(feeds, least.value)
    advised = min(wanted, most.value)
    share = feeding.busy_share(advised)
    keep = _good_enough(present, advised, feeding, processing.mean, handling, policy)
    if present and not least.value <= present <= most.value:
        keep = False
    limited = most if wanted > advised else None
    raised = least if least.value > feeds else None
    choice = Choice(
        processing=processing.mean,
        rtt=rtt.mean,
        handling=handling,
        rule=rule,
        fed=fed,
        wanted=wanted,
        advised=advised,
        busy_share=share,
        few_samples=model.samples if wide else None,
        kept=present if keep else None,
        kept_share=feeding.busy_share(present) if keep and present else None,
        limited=limited,
        raised=raised,
    )
    return Sizing(
        rule=rule,
        fed=fed,
        prefetch=advised,
        keep=keep,
        busy_share=share,
        buffered_time=buffered_time(advised, processing.mean, k),
        lower_bound_by=raised.name if raised else None,
        limited_by=limited.name if limited else None,
        reason=reason_for(choice),
        feeding=feeding,
    )


def contradiction(lower: Sequence[Bound], upper: Sequence[Bound]) -> NotSized | None:
    """Bounds that no prefetch can keep.

    Raises:
        ConflictError: options alone make them.
    """
    clash = conflict(lower, upper)
    if clash is None:
        return None
    if all(bound.by_options for bound in clash):
        raise ConflictError(*clash)
    return NotSized(conflict_words(*clash), conflict=clash)


_NEEDS = {
    "processing time": "--processing-time, or a file of timings",
    "round trip": "--rtt (a time, or probe), or a column rtt in the timings",
}


def lacks(processing: ProcessingTime | None, rtt: RoundTrip | None) -> NotSized | None:
    """What is missing, or only known as a bound, which never feeds a recommendation."""
    if processing is None and rtt is None:
        return _NOTHING_KNOWN
    reasons, missing = [], []
    for name, figure in (("processing time", processing), ("round trip", rtt)):
        if figure is None:
            reasons.append(f"the {name} is not known")
        elif not figure.usable:
            side = figure.side or "near"
            reasons.append(
                f"the {name} is only known to be {side} {duration(figure.mean)} ({figure.origin})"
            )
        elif not 0 <= figure.mean < math.inf or (figure is processing and figure.mean < _TINIEST):
            reasons.append(f"a {name} of {figure.mean:g} s cannot be sized for ({figure.origin})")
        else:
            continue
        missing.append(f"{name}: {_NEEDS[name]}")
    return NotSized(" and ".join(reasons), tuple(missing)) if reasons else None


_NOTHING_KNOWN = NotSized(
    "the processing time is not known and the round trip is not known",
    tuple(f"{name}: {needs}" for name, needs in _NEEDS.items()),
)


class _Model(NamedTuple):
    """How the consumer is taken to behave."""

    feeding: Feeding
    #: how many samples it rests on; ``None``: on a formula or on drawn times
    samples: int | None
    #: nothing but the mean of the processing time is known
    bare: bool


def _model(
    processing: ProcessingTime, rtt: RoundTrip, handling: Handling, exponential: bool
) -> _Model:
    k, batch = handling.workers, handling.batch
    samples = sum(len(run.processing) for run in processing.runs) or None
    if handling.kind == "loop":
        # its work and the round trip take turns, however the times vary
        loop = LoopFeeding(ConstantFeeding(processing.mean, rtt.mean, 1))
        return _Model(loop, samples, False)
    trips = rtt.samples if rtt.samples is not None and len(rtt.samples) else None
    if samples:
        replay = replay_feeding(processing.runs, rtt.mean, trips, k, processing.shuffle, batch)
        if replay is not None:
            return _Model(replay, samples, False)
    cv = 1.0 if exponential and batch > 1 else processing.cv
    if trips is not None:
        runs = drawn_runs(processing.mean, cv)
        replay = replay_feeding(runs, rtt.mean, trips, k, batch=batch)
        if replay is not None:
            return _Model(replay, None if cv else len(trips), cv is None and batch == 1)
    if cv or batch > 1:
        relative = _relative(cv or 0.0, rtt.mean / processing.mean, k, batch)
        return _Model(relative, None, False)
    steady = ConstantFeeding(processing.mean, rtt.mean, k)
    if exponential:
        return _Model(ExponentialFeeding(steady), None, False)
    return _Model(steady, None, cv is None)


@lru_cache(maxsize=64)
def _relative(cv: float, ratio: float, workers: int, batch: int) -> ReplayFeeding:
    """Replay in units of the mean, shared by the queues for which P, R and CV are given."""
    feeding = replay_feeding(drawn_runs(1.0, cv), ratio, None, workers, batch=batch)
    if feeding is None:
        raise ValueError(f"no times with a CV of {cv}")
    return feeding


def _fed(model: _Model, target: float, processing: ProcessingTime) -> Fed:
    """The fed prefetch, how sure it is, and what an exponential would make of a bare mean."""
    feeding = model.feeding
    fed = fed_prefetch(feeding, target)
    varied = fed_prefetch(ExponentialFeeding(feeding.steady), target) if model.bare else None
    few = model.samples is not None and model.samples < ENOUGH_SAMPLES
    if few and isinstance(feeding, LoopFeeding):
        return Fed(fed, _range_of_loop(feeding, target, processing, fed), None)
    if not few or not isinstance(feeding, ReplayFeeding):
        return Fed(fed, (fed, fed), varied)
    if model.samples == 1:
        return Fed(fed, None, varied)
    from prefetch_advisor.bootstrap import fed_range

    return Fed(fed, fed_range(feeding, target, fed), varied)


def _range_of_loop(
    feeding: LoopFeeding, target: float, processing: ProcessingTime, fed: int
) -> tuple[int, int] | None:
    """What the interval of the mean makes of the fed prefetch, which is in proportion to R / P."""
    if processing.ci95 is None or processing.ci95[0] <= 0:
        return None
    rtt = feeding.steady.rtt
    ends = [fed_prefetch(LoopFeeding(ConstantFeeding(p, rtt, 1)), target) for p in processing.ci95]
    return min(*ends, fed), max(*ends, fed)


def _is_wide(fed: Fed) -> bool:
    """Whether the samples are too few to tell: then the upper end is advised."""
    if fed.range is None:
        return False
    low, high = fed.range
    return high - low > max(1, _WIDE * fed.prefetch)


def _good_enough(
    present: int | None,
    advised: int,
    feeding: Feeding,
    processing: float,
    handling: Handling,
    policy: Policy,
) -> bool:
    """Whether a change is not worth it: near the advice, or fed without anything to wait for.

    Never below the workers' number, never unlimited, never well below the target, and never
    where a consumer that needs no buffer holds a long task back.
    """
    k = handling.workers
    if not present or present < k:
        return False
    share = feeding.busy_share(present)
    waits = buffered_time(present, processing, k)
    if advised <= k < present and waits >= _LONG_WAIT:
        return False
    target = policy.target(handling.kind)
    if abs(present - advised) <= max(1, _NEAR * advised):
        return share >= min(target, feeding.busy_share(advised)) - _SLACK
    if share < max(_BUSY_ENOUGH, target - _SLACK):
        return False
    return waits < _SHORT_WAIT or waits < processing
