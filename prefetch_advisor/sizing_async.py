"""The prefetch of a client that starts every delivery at once: there it is the concurrency."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from prefetch_advisor.bounds import Bound, lower_bounds, tightest
from prefetch_advisor.config import Policy
from prefetch_advisor.model.figures import Figure, ProcessingTime, RoundTrip
from prefetch_advisor.sizing import NotSized, Sizing, contradiction, lacks, unbounded
from prefetch_advisor.units import duration, percent, plural, rate

_NOISE = 1e-9
#: a present prefetch this near to the advised one is kept
_NEAR = 0.10


def size_async(
    processing: ProcessingTime | None,
    rtt: RoundTrip | None,
    arrival: Figure | None,
    policy: Policy,
    *,
    consumers: int | None,
    present: int | None = None,
    backlog: int | None = None,
    redelivered_share: float = 0.0,
    batch: int = 1,
    bounds: Callable[[ProcessingTime], Sequence[Bound]] = unbounded,
) -> Sizing | NotSized:
    """N = ceil(A (P + R) / (u c)), as N messages in hand leave each of c consumers at N / (P + R).

    u is the highest utilisation; A holds retries, and the backlog where it is to drain in time.
    Without known consumers the prefetch is that of a single one.

    Raises:
        ConflictError: options that no prefetch can satisfy together.
    """
    lacking = lacks(processing, rtt)
    if lacking is not None:
        return lacking
    assert processing is not None
    assert rtt is not None
    if arrival is None or not arrival.usable:
        return NotSized(
            "a client that starts every delivery at once needs as much prefetch as messages are"
            " to be in hand, which the arrival rate decides: give --arrival-rate",
            ("arrival rate: --arrival-rate",),
        )
    lower, upper = lower_bounds(1, batch), bounds(processing)
    clash = contradiction(lower, upper)
    if clash is not None:
        return clash
    cycle = processing.mean + rtt.mean
    demand = arrival.value * (1 + redelivered_share)
    made = rate(demand)
    if policy.drain_within and backlog is not None:
        demand += backlog / policy.drain_within
        made = f"({made} + {backlog:,} in {duration(policy.drain_within)})"
    count = consumers or 1
    need = demand * cycle / policy.max_utilisation / count
    least = max(lower, key=lambda bound: bound.value)
    most = tightest(upper)
    feeds = max(1, math.ceil(need * (1 - _NOISE)))
    wanted = max(feeds, least.value)
    advised = min(wanted, most.value)
    words = (
        f"the prefetch is how many messages this client has in hand: {made} x"
        f" {duration(cycle)} / {percent(policy.max_utilisation)}"
        f" / {plural(count, 'consumer')} = {feeds:,}; what they call must bear"
        f" {advised * count:,} at once"
    )
    limited = most if wanted > advised else None
    if limited is not None:
        words += f"; but {limited.words}: {advised:,}"
    raised = least if least.value > feeds else None
    if raised is not None and limited is None:
        words += f"; but {raised.words}: {advised:,}"
    near = present is not None and abs(present - advised) <= max(1, _NEAR * advised)
    keep = bool(present) and near and present is not None and present * count > demand * cycle
    return Sizing(
        rule=None,
        fed=None,
        prefetch=advised,
        keep=keep,
        busy_share=None,
        buffered_time=0.0,
        lower_bound_by=raised.name if raised else None,
        limited_by=limited.name if limited else None,
        reason=words,
        feeding=None,
    )
