"""From observations to advice: the whole flow of one queue on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prefetch_advisor.case import Case, Outcome, make_case
from prefetch_advisor.config import Given, Policy
from prefetch_advisor.consumer_count import ConsumerCount, count_consumers
from prefetch_advisor.diagnosis import diagnose
from prefetch_advisor.estimate import arrival_disagrees, estimate
from prefetch_advisor.findings import inputs
from prefetch_advisor.hints import Judged, hints
from prefetch_advisor.hints.consumers import channel_rate
from prefetch_advisor.limits import in_force
from prefetch_advisor.model.advice import (
    ConsumerAdvice,
    Current,
    Finding,
    Observed,
    QueueAdvice,
    Recommended,
    Report,
    Verdict,
)
from prefetch_advisor.model.figures import Estimates
from prefetch_advisor.model.observation import Broker, ChannelRow, QueueObservation
from prefetch_advisor.saturation import rtt_covered
from prefetch_advisor.sizing import NotSized, Sizing, buffered_time, size
from prefetch_advisor.units import duration, rate
from prefetch_advisor.window import look

_ARRIVAL = "--arrival-rate"
#: what more prefetch or more consumers cannot mend
_NEITHER_HELPS = "acks are not sent: neither prefetch nor consumers help until they are"


def advise(
    queues: Sequence[QueueObservation],
    broker: Broker,
    given: Given,
    policy: Policy,
    *,
    unused_channels: Sequence[ChannelRow] = (),
    generated_at: str = "",
    inputs: Sequence[str] = (),
) -> Report:
    """Advice for every queue, in the order given.

    Raises:
        UsageError: two options that cannot both hold.
    """
    return Report(
        broker=broker,
        queues=tuple(advise_queue(q, given, policy, unused_channels) for q in queues),
        findings=tuple(_about_broker(broker)),
        generated_at=generated_at,
        inputs=tuple(inputs),
    )


def advise_queue(
    observation: QueueObservation,
    given: Given,
    policy: Policy,
    unused_channels: Sequence[ChannelRow] = (),
) -> QueueAdvice:
    """Advice for one queue: observation, estimates, verdict, sizing, findings."""
    window = look(observation)
    force = in_force(observation, window)
    estimates = estimate(observation, window, given)
    case = make_case(observation, window, force, estimates, policy)
    outcome = diagnose(case)
    estimates = _learnt(estimates, outcome)
    sizing = _size(case, outcome, estimates)
    count = _count(case, estimates)
    current = _current(case, estimates, sizing, count)
    recommended = _recommended(outcome, sizing, count)
    judged = Judged(case, outcome, estimates, current, recommended, unused_channels)
    sized = sizing if isinstance(sizing, Sizing) else None
    return QueueAdvice(
        key=observation.key,
        type=case.row.type if case.row else None,
        verdict=outcome.verdict,
        verdict_reason=outcome.reason,
        confidence=outcome.confidence,
        snapshot=window.snapshot and case.row is not None,
        missing=_missing(outcome, sizing, count),
        observed=_observed(case),
        limit=force.limit,
        processing_time=estimates.processing,
        rtt=estimates.rtt,
        concurrency=estimates.concurrency,
        arrival_rate=estimates.arrival_rate,
        offered_load=count.offered_load,
        drain_time=count.drain_time,
        current=current,
        rule=sized.rule if sized else None,
        fed=sized.fed if sized else None,
        recommended=recommended,
        consumers=_consumers(case, recommended),
        findings=(*outcome.findings, *hints(judged)),
        notes=tuple(_notes(case)),
    )


def _learnt(estimates: Estimates, outcome: Outcome) -> Estimates:
    """The estimates with what the diagnosis inferred."""
    if outcome.processing is not None:
        estimates = replace(estimates, processing=outcome.processing)
    if outcome.rtt is not None:
        estimates = replace(estimates, rtt=outcome.rtt)
    return estimates


def _present(case: Case) -> int | None:
    """Today's prefetch of one server: 0 unlimited, ``None`` unknown."""
    if case.force.unlimited:
        return 0
    each = case.force.per_server
    return None if each is None else round(each)


def _size(case: Case, outcome: Outcome, estimates: Estimates) -> Sizing | NotSized:
    processing = estimates.processing
    if outcome.scattered is not None and processing is not None:
        processing = replace(processing, mean=outcome.scattered)
    return size(
        processing,
        estimates.rtt,
        case.concurrency,
        case.policy,
        _present(case),
        exponential=outcome.scattered is not None,
    )


def _count(case: Case, estimates: Estimates) -> ConsumerCount:
    processing = estimates.processing
    barred = None
    if case.force.single_active:
        barred = "a single active consumer queue is worked off by one consumer"
    elif any(c.row.exclusive for c in case.force.active):
        barred = "an exclusive consumer allows no other"
    elif case.row is not None and case.row.type == "stream":
        barred = "each reader of a stream reads all of it"
    return count_consumers(
        estimates.arrival_rate,
        processing.mean if processing is not None and processing.usable else None,
        case.concurrency,
        case.policy,
        present=case.servers or None,
        backlog=None if case.ready is None else case.ready + (case.unacked or 0),
        redelivered_share=estimates.redelivered_share,
        barred=barred,
    )


def _current(
    case: Case, estimates: Estimates, sizing: Sizing | NotSized, count: ConsumerCount
) -> Current:
    present, k, x = _present(case), case.concurrency, case.server_rate
    processing = estimates.processing
    mean = processing.mean if processing is not None and processing.usable else None
    busy = None
    if case.saturated and x and mean:
        busy = min(1.0, x * mean / k)
    elif present is not None and isinstance(sizing, Sizing):
        busy = sizing.busy_share_at(present)
    buffered = None
    if mean is not None and present:
        buffered = buffered_time(present, mean, k)
    elif mean is not None and case.unacked and case.servers:
        buffered = buffered_time(round(case.unacked / case.servers), mean, k)
    return Current(
        prefetch=_listed_prefetch(case),
        consumers=case.consumer_count,
        busy_share=busy,
        utilisation=count.utilisation_present,
        buffered_time=buffered,
        rtt_covered=rtt_covered(present, k, x) if case.saturated and x and present else None,
    )


def _listed_prefetch(case: Case) -> int | None:
    """The prefetch that all active consumers have; their channel's where that is shared."""
    if case.force.limit.kind == "channel":
        return case.force.limit.value
    values = {c.row.prefetch for c in case.force.active}
    return values.pop() if len(values) == 1 else None


def _recommended(outcome: Outcome, sizing: Sizing | NotSized, count: ConsumerCount) -> Recommended:
    if outcome.verdict is Verdict.STALLED:
        return Recommended(reason=_NEITHER_HELPS, consumers_reason=_NEITHER_HELPS)
    if outcome.try_prefetch is not None:
        reason = "the processing time is too short to tell: raise the prefetch and measure again"
        return _advice(count, reason, outcome.try_prefetch)
    if isinstance(sizing, NotSized):
        return _advice(count, sizing.reason)
    return replace(
        _advice(count, sizing.reason, sizing.prefetch),
        keep=sizing.keep,
        limited_by=sizing.limited_by,
        lower_bound_by=sizing.lower_bound_by,
        busy_share=sizing.busy_share,
        buffered_time=sizing.buffered_time,
    )


def _advice(count: ConsumerCount, reason: str, prefetch: int | None = None) -> Recommended:
    return Recommended(
        prefetch=prefetch,
        consumers=count.recommended,
        least_consumers=count.least,
        utilisation=count.utilisation_recommended,
        reason=reason,
        consumers_reason=count.reason,
        keep_consumers=count.keep,
    )


def _missing(outcome: Outcome, sizing: Sizing | NotSized, count: ConsumerCount) -> tuple[str, ...]:
    needs = list(outcome.missing)
    if isinstance(sizing, NotSized) and outcome.verdict is not Verdict.STALLED:
        said = " ".join(needs)
        # "round trip: --rtt, or ..." is not said twice
        needs += [m for m in sizing.missing if m.partition(": ")[2].partition(",")[0] not in said]
    if count.recommended is None and _ARRIVAL in count.reason:
        needs.append(f"arrival rate: {_ARRIVAL}")
    return tuple(needs)


def _observed(case: Case) -> Observed:
    window, rates = case.window, case.window.rates
    gets = [v for v in (rates.get, rates.get_no_ack) if v is not None]
    listed = {c.row.prefetch for c in case.observation.consumers or ()}
    return Observed(
        consumers=case.consumer_count,
        prefetch=tuple(sorted(p for p in listed if p is not None)),
        ready=case.ready,
        unacked=case.unacked,
        ack_rate=rates.ack,
        deliver_rate=rates.deliver,
        deliver_no_ack_rate=rates.deliver_no_ack,
        get_rate=sum(gets) if gets else None,
        publish_rate=rates.publish,
        redeliver_rate=rates.redeliver,
        growth=window.growth,
        window=window.span if window.lengths else None,
        samples=len(window.lengths),
        full_share=case.fill.full_share if case.fill and case.fill.samples else None,
    )


def _consumers(case: Case, recommended: Recommended) -> tuple[ConsumerAdvice, ...]:
    return tuple(
        ConsumerAdvice(
            tag=c.row.tag,
            channel=c.row.channel,
            prefetch=c.row.prefetch,
            ack=c.row.ack,
            active=c.row.active,
            rate=channel_rate(c.channel) if c.channel and len(c.channel.queues) == 1 else None,
            recommended_prefetch=recommended.prefetch,
        )
        for c in case.observation.consumers or ()
    )


def _notes(case: Case) -> list[str]:
    notes = []
    differ = arrival_disagrees(case.observation, case.window)
    if differ is not None:
        notes.append(
            f"{rate(differ[0])} are published, but departures and growth make {rate(differ[1])}: "
            "messages expire, are dead-lettered, dropped or returned"
        )
    if case.window.dropped:
        span = duration(case.window.span)
        notes.append(
            f"{case.window.dropped} samples are older than the newest consumer and were left out; "
            f"{len(case.window.lengths)} remain over {span}"
        )
    if case.observation.vhost_assumed:
        notes.append(f"the input names no vhost: {case.observation.key.vhost!r} is assumed")
    if case.observation.broker.alarms:
        alarms = ", ".join(case.observation.broker.alarms)
        notes.append(f"alarm: {alarms}: publishers are held back, so arrivals are less than wanted")
    return notes


def _about_broker(broker: Broker) -> list[Finding]:
    if broker.statistics_off:
        message = "the broker collects no statistics: no rates, no consumers in the API"
    elif broker.rates_mode == "none":
        message = "rates_mode is none: the broker keeps no message rates"
    else:
        return []
    return [inputs.NO_RATES.finding("broker", message)]
