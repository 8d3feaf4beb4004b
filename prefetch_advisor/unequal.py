"""Consumers that are not equally fast: a prefetch for each, and what it gains over one for all."""

from __future__ import annotations

from collections.abc import Mapping

from prefetch_advisor.case import Case, channel_rate
from prefetch_advisor.config import FEW_SAMPLES, MAX_PREFETCH, Policy
from prefetch_advisor.feeding import (
    ConstantFeeding,
    ExponentialFeeding,
    Feeding,
    Handling,
    fed_prefetch,
)
from prefetch_advisor.inference import solve_processing
from prefetch_advisor.model.figures import Estimates, ProcessingTime, RoundTrip
from prefetch_advisor.model.observation import Channel
from prefetch_advisor.model.record import record
from prefetch_advisor.model.timing import Run
from prefetch_advisor.replay import replay_feeding
from prefetch_advisor.sizing import buffered_time

#: rates, or processing times, of equal consumers differ by less than this factor
UNEQUAL_FACTOR = 2.0
#: a prefetch of its own is worth it from this share of the shared one on, and from two
_APART = 0.10


@record
class Own:
    """Prefetches by consumer (of the timings) or by channel; seconds."""

    prefetches: Mapping[str, int]
    processing: Mapping[str, float]
    #: what one prefetch for all was compared
    shared: int
    #: messages per second of all while messages wait, relative to one prefetch for all, less 1
    gain: float
    #: how long the last prefetched message waits at the slowest: with the shared prefetch, its own
    waits: tuple[float, float]


def own_prefetches(
    case: Case, estimates: Estimates, shared: int | None, exponential: bool
) -> Own | None:
    """A prefetch for each consumer where they differ enough for it, and it is known."""
    rtt, processing = estimates.rtt, estimates.processing
    if shared is None or rtt is None or not rtt.usable or processing is None:
        return None
    if case.client != "workers" or case.batch > 1:
        return None
    handling = Handling(case.concurrency)
    if processing.runs:
        feedings = _timed(processing, rtt, handling)
    elif exponential:
        feedings = _seen(case, rtt, handling)
    else:
        feedings = {}
    if len(feedings) < 2:
        return None
    return _compared(feedings, handling, case.policy, shared)


def of_times(
    processing: Mapping[str, float], rtt: float, workers: int, policy: Policy, shared: int
) -> Own | None:
    """A prefetch for each machine, of the seconds a message takes there, where they differ."""
    feedings = {name: ConstantFeeding(each, rtt, workers) for name, each in processing.items()}
    return _compared(feedings, Handling(workers), policy, shared) if len(feedings) > 1 else None


def _timed(processing: ProcessingTime, rtt: RoundTrip, handling: Handling) -> dict[str, Feeding]:
    runs: dict[str, list[Run]] = {}
    for run in processing.runs:
        if run.consumer is not None:
            runs.setdefault(run.consumer, []).append(run)
    found: dict[str, Feeding] = {}
    for name, own in runs.items():
        if sum(len(run.processing) for run in own) >= FEW_SAMPLES:
            replay = replay_feeding(
                own, rtt.mean, rtt.samples, handling.workers, processing.shuffle
            )
            if replay is not None:
                found[name] = replay
    return found


def _seen(case: Case, rtt: RoundTrip, handling: Handling) -> dict[str, Feeding]:
    """From what each channel acks while it holds all it may, times varying like an exponential."""
    limits = full_channels(case)
    found: dict[str, Feeding] = {}
    for name, (channel, limit) in limits.items():
        x = channel_rate(channel)
        work = (
            solve_processing(x, limit, rtt.mean, handling.workers, exponential=True) if x else None
        )
        if work is None:
            return {}
        steady = ConstantFeeding(work, rtt.mean, handling.workers)
        found[name] = ExponentialFeeding(steady)
    return found


def full_channels(case: Case) -> dict[str, tuple[Channel, int]]:
    """The channels of the active consumers with their limits, where each alone is at its own.

    Empty where one serves other queues, is not known, or not full, or priorities differ.
    """
    channels: dict[str, tuple[Channel, int]] = {}
    for consumer in case.force.active:
        channel, prefetch = consumer.channel, consumer.row.prefetch
        if channel is None or not prefetch or len(channel.queues) > 1:
            return {}
        held = channels[channel.row.id][1] if channel.row.id in channels else 0
        channels[channel.row.id] = (channel, held + prefetch)
    if len(channels) < 2 or len({c.row.priority for c in case.force.active}) > 1:
        return {}
    for channel, limit in channels.values():
        if channel.row.unacked is None or channel.row.unacked < 0.9 * limit:
            return {}
    return channels


def _compared(
    feedings: Mapping[str, Feeding], handling: Handling, policy: Policy, shared: int
) -> Own | None:
    k = handling.workers
    processing = {name: feeding.steady.processing for name, feeding in feedings.items()}
    slowest, fastest = max(processing.values()), min(processing.values())
    if slowest < UNEQUAL_FACTOR * fastest:
        return None
    target = policy.target(handling.kind)
    own = {
        name: min(MAX_PREFETCH, max(k, fed_prefetch(feeding, target)))
        for name, feeding in feedings.items()
    }
    if all(abs(n - shared) <= max(1, _APART * shared) for n in own.values()):
        return None
    apart = together = 0.0
    for name, feeding in feedings.items():
        apart += feeding.busy_share(own[name]) * k / processing[name]
        together += feeding.busy_share(shared) * k / processing[name]
    slow = max(processing, key=lambda name: processing[name])
    waits = tuple(buffered_time(n, slowest, k) for n in (shared, own[slow]))
    return Own(own, processing, shared, apart / together - 1, (waits[0], waits[1]))
