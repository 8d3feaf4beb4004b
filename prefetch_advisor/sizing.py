"""The prefetch of a consumer: the rule, the smallest that feeds it, and the one to set."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from prefetch_advisor.config import ENOUGH_SAMPLES, MAX_PREFETCH, Policy
from prefetch_advisor.errors import UsageError
from prefetch_advisor.feeding import (
    ConstantFeeding,
    ExponentialFeeding,
    Feeding,
    fed_prefetch,
)
from prefetch_advisor.inference import processing_range, solve_processing
from prefetch_advisor.model.advice import Fed, Rule
from prefetch_advisor.model.figures import ProcessingTime, RoundTrip
from prefetch_advisor.replay import ReplayFeeding, drawn_runs, replay_feeding
from prefetch_advisor.sizing_words import Choice, reason_for
from prefetch_advisor.units import duration

__all__ = [
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


@dataclass(frozen=True, slots=True)
class NotSized:
    """No prefetch can be advised."""

    reason: str
    #: figures that would be needed, each with the option that supplies it
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sizing:
    """The prefetch of one consumer and what it rests on."""

    rule: Rule
    fed: Fed
    #: the advice
    prefetch: int
    #: the present prefetch is good enough
    keep: bool
    #: at the advised prefetch
    busy_share: float
    #: seconds the last prefetched message waits in the client, at the advised prefetch
    buffered_time: float
    #: "concurrency" where that, not feeding, decides
    lower_bound_by: str | None
    #: "protocol" where that decides
    limited_by: str | None
    #: why this prefetch, with its numbers
    reason: str
    #: how busy any other prefetch keeps the consumer
    feeding: Feeding = field(repr=False, compare=False)
    processing: float
    concurrency: int

    def busy_share_at(self, prefetch: int) -> float:
        """Busy share of a saturated consumer with this prefetch; 0 is unlimited."""
        return 1.0 if prefetch == 0 else self.feeding.busy_share(prefetch)

    def buffered_time_at(self, prefetch: int) -> float:
        """Seconds the last of ``prefetch`` messages (limited, so not 0) waits in the client."""
        return buffered_time(prefetch, self.processing, self.concurrency)


def rule_prefetch(processing: float, rtt: float, concurrency: int = 1) -> int:
    """ceil(k (P + R) / P), where rounding never adds one; seconds, ``processing`` above 0."""
    extra = concurrency * rtt / processing
    return concurrency + math.ceil(extra * (1 - _NOISE))


def buffered_time(prefetch: int, processing: float, concurrency: int = 1) -> float:
    """(N - k) P / k: seconds the last prefetched message waits in the client."""
    return max(0, prefetch - concurrency) * processing / concurrency


def size(
    processing: ProcessingTime | None,
    rtt: RoundTrip | None,
    concurrency: int,
    policy: Policy,
    present: int | None = None,
    *,
    exponential: bool = False,
) -> Sizing | NotSized:
    """The prefetch for one consumer.

    Measured times are replayed; of a mean and a CV lognormal times are; a mean alone is taken
    as constant, or where ``exponential`` as exponential (for an inferred P, whose variation nobody
    saw). ``present`` is today's prefetch, 0 unlimited.

    Raises:
        UsageError: the workers need more than the protocol can carry.
    """
    if concurrency > MAX_PREFETCH:
        raise UsageError(
            f"a concurrency of {concurrency:,} needs a prefetch of as many,"
            f" and the protocol carries at most {MAX_PREFETCH:,}"
        )
    lacking = _not_sized(processing, rtt)
    if lacking is not None:
        return lacking
    assert processing is not None
    assert rtt is not None
    model = _model(processing, rtt, concurrency, exponential)
    feeding = model.feeding
    rule_n = rule_prefetch(processing.mean, rtt.mean, concurrency)
    rule = Rule(rule_n, feeding.busy_share(rule_n))
    fed = _fed(model, policy.target_busy_share)
    wide = _is_wide(fed)
    feeds = fed.range[1] if wide and fed.range is not None else fed.prefetch
    wanted = max(feeds, concurrency)
    advised = min(wanted, MAX_PREFETCH)
    share = feeding.busy_share(advised)
    keep = _good_enough(present, advised, feeding, processing.mean, concurrency, policy)
    choice = Choice(
        processing=processing.mean,
        rtt=rtt.mean,
        concurrency=concurrency,
        rule=rule,
        fed=fed,
        wanted=wanted,
        advised=advised,
        busy_share=share,
        few_samples=model.samples if wide else None,
        kept=present if keep else None,
        kept_share=feeding.busy_share(present) if keep and present else None,
    )
    return Sizing(
        rule=rule,
        fed=fed,
        prefetch=advised,
        keep=keep,
        busy_share=share,
        buffered_time=buffered_time(advised, processing.mean, concurrency),
        lower_bound_by="concurrency" if concurrency > feeds else None,
        limited_by="protocol" if wanted > MAX_PREFETCH else None,
        reason=reason_for(choice),
        feeding=feeding,
        processing=processing.mean,
        concurrency=concurrency,
    )


_NEEDS = {
    "processing time": "--processing-time, or a file of timings",
    "round trip": "--rtt (a time, or probe), or a column rtt in the timings",
}


def _not_sized(processing: ProcessingTime | None, rtt: RoundTrip | None) -> NotSized | None:
    """What is missing, or only known as a bound, which never feeds a recommendation."""
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


class _Model(NamedTuple):
    """How the consumer is taken to behave."""

    feeding: Feeding
    #: how many samples it rests on; ``None``: on a formula or on drawn times
    samples: int | None
    #: nothing but the mean of the processing time is known
    bare: bool


def _model(
    processing: ProcessingTime, rtt: RoundTrip, concurrency: int, exponential: bool
) -> _Model:
    trips = rtt.samples if rtt.samples is not None and len(rtt.samples) else None
    if processing.runs:
        replay = replay_feeding(processing.runs, rtt.mean, trips, concurrency, processing.shuffle)
        if replay is not None:
            return _Model(replay, sum(len(run.processing) for run in processing.runs), False)
    cv = processing.cv
    if trips is not None:
        replay = replay_feeding(drawn_runs(processing.mean, cv), rtt.mean, trips, concurrency)
        if replay is not None:
            return _Model(replay, None if cv else len(trips), cv is None)
    if cv:
        return _Model(_lognormal(cv, rtt.mean / processing.mean, concurrency), None, False)
    steady = ConstantFeeding(processing.mean, rtt.mean, concurrency)
    if exponential:
        return _Model(ExponentialFeeding(steady), None, False)
    return _Model(steady, None, cv is None)


@lru_cache(maxsize=64)
def _lognormal(cv: float, ratio: float, concurrency: int) -> ReplayFeeding:
    """Replay in units of the mean, shared by the queues for which P, R and CV are given."""
    feeding = replay_feeding(drawn_runs(1.0, cv), ratio, None, concurrency)
    if feeding is None:
        raise ValueError(f"no times with a CV of {cv}")
    return feeding


def _fed(model: _Model, target: float) -> Fed:
    """The fed prefetch, how sure it is, and what an exponential would make of a bare mean."""
    feeding = model.feeding
    fed = fed_prefetch(feeding, target)
    varied = fed_prefetch(ExponentialFeeding(feeding.steady), target) if model.bare else None
    few = model.samples is not None and model.samples < ENOUGH_SAMPLES
    if not few or not isinstance(feeding, ReplayFeeding):
        return Fed(fed, (fed, fed), varied)
    if model.samples == 1:
        return Fed(fed, None, varied)
    from prefetch_advisor.bootstrap import fed_range

    return Fed(fed, fed_range(feeding, target, fed), varied)


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
    concurrency: int,
    policy: Policy,
) -> bool:
    """Whether a change is not worth it: near the advice, or fed without anything to wait for.

    Never below the workers' number, never unlimited, never well below the target, and never
    where a consumer that needs no buffer holds a long task back.
    """
    if not present or present < concurrency:
        return False
    share = feeding.busy_share(present)
    waits = buffered_time(present, processing, concurrency)
    if advised <= concurrency < present and waits >= _LONG_WAIT:
        return False
    target = policy.target_busy_share
    if abs(present - advised) <= max(1, _NEAR * advised):
        return share >= min(target, feeding.busy_share(advised)) - _SLACK
    if share < max(_BUSY_ENOUGH, target - _SLACK):
        return False
    return waits < _SHORT_WAIT or waits < processing
