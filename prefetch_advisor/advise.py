"""From observations to advice: the whole flow of one queue on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prefetch_advisor.case import Case, Outcome, channel_rate, make_case
from prefetch_advisor.client_cost import cost_note
from prefetch_advisor.config import Given, Policy
from prefetch_advisor.consumer_count import ConsumerCount
from prefetch_advisor.diagnosis import diagnose
from prefetch_advisor.estimate import arrival_disagrees, estimate
from prefetch_advisor.findings import inputs
from prefetch_advisor.hints import Judged, hints
from prefetch_advisor.limits import in_force
from prefetch_advisor.model.advice import (
    ConsumerAdvice,
    Finding,
    Observed,
    QueueAdvice,
    Recommended,
    Report,
    Verdict,
)
from prefetch_advisor.model.figures import Estimates
from prefetch_advisor.model.observation import Broker, ChannelRow, QueueObservation
from prefetch_advisor.recommend import (
    barred_because,
    count_for,
    current_settings,
    recommend,
    size_for,
    too_early,
    with_waiting,
)
from prefetch_advisor.sizing import NotSized, Sizing
from prefetch_advisor.unequal import Own, own_prefetches
from prefetch_advisor.units import duration, rate
from prefetch_advisor.window import above, look

_ARRIVAL = "--arrival-rate"
#: queues for which waits are simulated without being asked for
FEW_QUEUES = 10


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
        queues=tuple(
            advise_queue(q, given, policy, unused_channels, len(queues) <= FEW_QUEUES)
            for q in queues
        ),
        findings=tuple(_about_broker(broker)),
        generated_at=generated_at,
        inputs=tuple(inputs),
    )


def advise_queue(
    observation: QueueObservation,
    given: Given,
    policy: Policy,
    unused_channels: Sequence[ChannelRow] = (),
    waits: bool = False,
) -> QueueAdvice:
    """Advice for one queue: observation, estimates, verdict, sizing, findings.

    ``waits``: simulate how long its messages wait, a tenth of a second, also where no longest
    wait was asked for.
    """
    judged, sizing, count = work_out(observation, given, policy, unused_channels, waits)
    case, outcome, estimates = judged.case, judged.outcome, judged.estimates
    window, force, recommended = case.window, case.force, judged.recommended
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
        limit=force.limit if force.active or observation.consumers is None else None,
        processing_time=estimates.processing,
        rtt=estimates.rtt,
        concurrency=estimates.concurrency,
        arrival_rate=estimates.arrival_rate,
        offered_load=count.offered_load,
        drain_time=count.drain_time,
        current=judged.current,
        rule=sized.rule if sized else None,
        fed=sized.fed if sized else None,
        recommended=recommended,
        consumers=_consumers(case, recommended, judged.own),
        findings=(*outcome.findings, *hints(judged)),
        notes=tuple(_notes(case, estimates, given)),
    )


def work_out(
    observation: QueueObservation,
    given: Given,
    policy: Policy,
    unused_channels: Sequence[ChannelRow] = (),
    waits: bool = False,
) -> tuple[Judged, Sizing | NotSized, ConsumerCount]:
    """Everything computed of one queue: what its findings look at, and what was sized.

    Raises:
        ConflictError: two options that cannot both hold.
    """
    window = look(observation)
    force = in_force(observation, window)
    most = force.limit.value if force.limit.kind == "per-consumer" else None
    changed = above(window, most) if most else None
    if changed is not None:
        window = look(observation, changed)
    estimates = estimate(observation, window, given)
    case = make_case(observation, window, force, estimates, policy)
    outcome = diagnose(case)
    outcome = replace(outcome, no_count=outcome.no_count or too_early(case))
    estimates = _learnt(estimates, outcome)
    sizing = size_for(case, outcome, estimates)
    barred = barred_because(case)
    count = count_for(case, outcome, estimates, barred)
    if waits or policy.max_wait is not None:
        count = with_waiting(case, estimates, sizing, count)
    current = current_settings(case, estimates, sizing, count)
    recommended = recommend(case, outcome, estimates, sizing, count, current)
    sized = sizing if isinstance(sizing, Sizing) else None
    conflict = sizing.conflict if isinstance(sizing, NotSized) else None
    own = own_prefetches(
        case, estimates, sized.prefetch if sized else None, outcome.scattered is not None
    )
    judged = Judged(
        case, outcome, estimates, current, recommended, unused_channels, barred, conflict, own
    )
    return judged, sizing, count


def _learnt(estimates: Estimates, outcome: Outcome) -> Estimates:
    """The estimates with what the diagnosis inferred."""
    if outcome.processing is not None:
        estimates = replace(estimates, processing=outcome.processing)
    if outcome.rtt is not None:
        estimates = replace(estimates, rtt=outcome.rtt)
    return estimates


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
        prefetch=tuple(sorted([p for p in listed if p is not None])),
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


def _consumers(case: Case, recommended: Recommended, own: Own | None) -> tuple[ConsumerAdvice, ...]:
    rates = _own_rates(case)
    advised = recommended.prefetch
    each = own.prefetches if own is not None and advised is not None else {}
    if case.observation.consumers is None:
        # those of the timings, where they must be told apart
        return tuple(
            ConsumerAdvice(name, None, None, None, None, None, n) for name, n in each.items()
        )
    rows = [c.row for c in case.observation.consumers or ()]
    return tuple(
        [
            ConsumerAdvice(
                row.tag,
                row.channel,
                row.prefetch,
                row.ack,
                row.active,
                rates.get(row.channel),
                each.get(row.channel or "", advised),
            )
            for row in rows
        ]
    )


def _own_rates(case: Case) -> dict[str | None, float | None]:
    """Rates of channels that serve this queue alone; none where they do not add up to it.

    A channel shows the broker's 5-second average, which can say 0 beside steady acks.
    """
    channels = {c.row.channel: c.channel for c in case.observation.consumers or () if c.channel}
    if not channels:
        return {}
    rates = {i: channel_rate(c) for i, c in channels.items() if len(c.queues) == 1}
    gone, total = case.window.departures, sum(r for r in rates.values() if r is not None)
    if gone is not None and abs(total - gone) > 0.2 * max(total, gone):
        return {}
    return rates


def _notes(case: Case, estimates: Estimates, given: Given) -> list[str]:
    notes = []
    cost = cost_note(estimates.processing, estimates.rtt, given.client_cost)
    if cost is not None:
        notes.append(cost)
    differ = arrival_disagrees(case.observation, case.window)
    if differ is not None:
        notes.append(
            f"{rate(differ[0])} are published, but departures and growth make {rate(differ[1])}: "
            "messages expire, are dead-lettered, dropped or returned"
        )
    if case.window.dropped:
        span = duration(case.window.span)
        notes.append(
            f"{case.window.dropped} samples are older than the last change of its consumers and "
            "were left out; "
            f"{len(case.window.lengths)} remain over {span}"
        )
    if case.observation.vhost_assumed:
        notes.append(f"the input names no vhost: '{case.observation.key.vhost}' is assumed")
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
