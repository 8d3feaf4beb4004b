"""How many consumers a queue needs, from its offered load."""

from __future__ import annotations

import math

from prefetch_advisor.config import Policy
from prefetch_advisor.model.figures import Figure
from prefetch_advisor.model.record import record
from prefetch_advisor.units import duration, number, percent, rate

#: relative rounding that must not make a load look higher than it is
_NOISE = 1e-9
#: how far a present count may leave the target utilisation and still be kept
_ABOVE, _BELOW = 0.05, 0.20


@record
class ConsumerCount:
    """How many consumers, and what the present ones do. ``None`` where it cannot be told."""

    #: the advice
    recommended: int | None
    #: floor(a / k) + 1: below it the backlog grows for ever
    least: int | None
    #: offered load per worker at the present count
    utilisation_present: float | None
    #: at the recommended count
    utilisation_recommended: float | None
    #: A x P x (1 + redeliveries per message), in busy workers
    offered_load: float | None
    #: seconds until the present consumers have worked off the backlog; ``None``: never, or unknown
    drain_time: float | None
    #: the present count is good enough
    keep: bool
    #: why this count, or why none
    reason: str
    #: seconds until a message is begun, on average, at the recommended count and prefetch
    wait: float | None = None


def count_consumers(
    arrival: Figure | None,
    mean: float | None,
    concurrency: int,
    policy: Policy,
    present: int | None = None,
    backlog: int | None = None,
    redelivered_share: float = 0.0,
    barred: str | None = None,
) -> ConsumerCount:
    """Consumers for offered load a = A P (1 + redeliveries per message), in busy workers.

    The smallest c with a / (c k) within the target utilisation; to drain the backlog in time,
    with A + backlog / time in place of A. The present count is kept while its utilisation is
    near the target. ``mean`` is a usable P in seconds, ``None`` when there is none; ``barred``
    says why more consumers would not share the work (single active consumer, exclusive).
    """
    if arrival is None:
        return _unknown(
            "the arrival rate is not known (acks of a saturated queue are capacity, not demand):"
            " give --arrival-rate"
        )
    if mean is None or not 0 < mean < math.inf:
        return _unknown("the processing time is not known: give --processing-time or timings")
    work = mean * (1 + redelivered_share)
    load = arrival.value * work
    least = math.floor(load / concurrency * (1 + _NOISE)) + 1
    if not arrival.usable:
        return _bounded(arrival, least)
    workers = None if present is None else present * concurrency
    used = load / workers if workers else None
    drain = _drain_time(backlog, work, workers, load)
    if barred is not None:
        return ConsumerCount(None, None, used, None, load, drain, False, barred)
    wanted, demand = _demand(arrival.value, load, work, backlog, policy)
    smallest = wanted / concurrency / policy.max_utilisation
    fewest = recommended = max(least, math.ceil(smallest * (1 - _NOISE)))
    keep = present is not None and _near_target(wanted, concurrency, present, recommended, policy)
    if keep and present is not None:
        recommended = present
    share = load / (recommended * concurrency)
    reason = _reason(demand, wanted, concurrency, recommended, policy, fewest)
    return ConsumerCount(recommended, least, used, share, load, drain, keep, reason)


def _unknown(reason: str) -> ConsumerCount:
    return ConsumerCount(None, None, None, None, None, None, False, reason)


def _bounded(arrival: Figure, least: int) -> ConsumerCount:
    """A bound says how many at least, and advises nothing."""
    if arrival.side == "at most":
        reason = (
            f"arrivals are at most {rate(arrival.value)} ({arrival.origin}): {least:,}"
            f" consumer{'s' * (least > 1)} would keep up with that; give --arrival-rate"
        )
        return _unknown(reason)
    reason = (
        f"at least {least:,}: arrivals are at least {rate(arrival.value)} ({arrival.origin});"
        " give --arrival-rate to know how many"
    )
    return ConsumerCount(None, least, None, None, None, None, False, reason)


def _drain_time(backlog: int | None, work: float, workers: int | None, load: float) -> float | None:
    """Backlog / (departures at full speed - arrivals), seconds."""
    if backlog is None or workers is None:
        return None
    if backlog == 0:
        return 0.0
    spare = workers - load
    return backlog * work / spare if spare > workers * _NOISE else None


def _demand(
    arrivals: float, load: float, work: float, backlog: int | None, policy: Policy
) -> tuple[float, str]:
    """The load to provide for, in busy workers, and its making in words."""
    made = f"{rate(arrivals)} x {duration(work)}"
    if policy.drain_within is None:
        return load, made
    if backlog is None:
        return load, f"{made}, the backlog not known"
    if policy.drain_within <= 0:
        return load, made
    wanted = load + backlog / policy.drain_within * work
    return wanted, (
        f"({rate(arrivals)} + {backlog:,} in {duration(policy.drain_within)}) x {duration(work)}"
    )


def _near_target(
    wanted: float, concurrency: int, present: int, recommended: int, policy: Policy
) -> bool:
    """Whether the present count may stay.

    Its utilisation lies in the range to keep, which a target set lower or higher moves along.
    """
    if present < 1:
        return False
    if present == recommended:
        return True
    used = wanted / (present * concurrency)
    low, high = policy.keep_utilisation
    low = min(low, policy.max_utilisation - _BELOW)
    high = min(high, policy.max_utilisation + _ABOVE)
    return low <= used <= high * (1 + _NOISE)


def _reason(
    demand: str, wanted: float, concurrency: int, recommended: int, policy: Policy, fewest: int
) -> str:
    each = f" of {concurrency} workers" if concurrency > 1 else ""
    load = percent(wanted / (recommended * concurrency))
    are = "consumer" + each + " is" if recommended == 1 else "consumers" + each + " are"
    text = f"{demand} is {number(wanted)} busy workers: {recommended:,} {are} loaded {load}"
    target = percent(policy.max_utilisation)
    if recommended == fewest:
        return f"{text}, the fewest within {target}"
    return f"{text}, near enough to the target of {target} to stay"
