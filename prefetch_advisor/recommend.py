"""What to run: the prefetch and the consumers advised, beside today's, and why."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from prefetch_advisor.bounds import upper_bounds
from prefetch_advisor.case import LEAST_HISTORY, Case, Outcome
from prefetch_advisor.consumer_count import ConsumerCount, count_consumers
from prefetch_advisor.feeding import Handling
from prefetch_advisor.hints.consistency import contradiction
from prefetch_advisor.model.advice import Current, Recommended, Verdict
from prefetch_advisor.model.figures import Estimates, FigureSource
from prefetch_advisor.saturation import rtt_covered
from prefetch_advisor.sizing import NotSized, Sizing, buffered_time, size
from prefetch_advisor.sizing_async import size_async
from prefetch_advisor.units import duration, rate
from prefetch_advisor.waiting import Waiting, with_wait

#: what more prefetch or more consumers cannot mend
_NEITHER_HELPS = "acks are not sent: neither prefetch nor consumers help until they are"
_LOOPS = "nearly every delivery is a redelivery: what the rates show is not demand"
#: seconds of history that settle what flows: later, messages that do not add up were dropped
FULL_HISTORY = 55.0
#: share of the flow by which what came, less what left, may differ from what stayed
_UNBALANCED = 0.2
#: messages that are no flow yet
_FEW = 10
#: seconds; a buffer this short is not worth a change on an assumption
_LITTLE = 1.0


def size_for(case: Case, outcome: Outcome, estimates: Estimates) -> Sizing | NotSized:
    """The prefetch of one consumer; an inferred P is sized as if it varied like an exponential."""
    processing = estimates.processing
    if outcome.scattered is not None and processing is not None:
        processing = replace(processing, mean=outcome.scattered)
    exponential = outcome.scattered is not None
    bounds = partial(
        upper_bounds,
        workers=case.concurrency,
        policy=case.policy,
        message_bytes=estimates.message_bytes,
        ack_timeout=estimates.ack_timeout,
        exponential=exponential,
        at_once=case.client == "async",
    )
    if case.client == "async":
        return size_async(
            processing,
            estimates.rtt,
            estimates.arrival_rate,
            case.policy,
            consumers=case.servers or None,
            present=_present(case),
            backlog=case.backlog,
            redelivered_share=estimates.redelivered_share,
            batch=case.batch,
            bounds=partial(bounds, workers=1),
        )
    return size(
        processing,
        estimates.rtt,
        Handling(case.concurrency, case.client, case.batch),
        case.policy,
        _present(case),
        exponential=exponential,
        bounds=bounds,
    )


def too_early(case: Case) -> str | None:
    """Why its history is too short for a count of consumers; ``None`` where it is not.

    The first looks at a queue show its messages and what was counted at different moments.
    """
    arrival, window = case.estimates.arrival_rate, case.window
    if arrival is not None and arrival.source is FigureSource.GIVEN:
        return None
    if case.changing:
        return "its consumers changed while they were listed: ask again in 15 s"
    span = min(window.span, window.rates_span)
    if case.begins:
        usable = f"only {duration(span)}" if span else "a single sample"
        return (
            f"{usable} of its history can be used, too little to tell what arrives: ask again in "
            f"{duration(max(5.0, LEAST_HISTORY - span))}, or give --arrival-rate"
        )
    if arrival is None or not arrival.usable or not case.clocked:
        return None
    published, gone, growth = window.rates.publish, window.departures, window.growth
    if published is None or gone is None or growth is None or span >= FULL_HISTORY:
        return None
    if case.row is not None and case.row.type == "stream":
        return None
    gap = abs(published - gone - growth)
    if gap <= _UNBALANCED * max(published, gone + growth) or gap * span < _FEW:
        return None
    return (
        f"{rate(published)} published and {rate(gone)} gone do not fit a growth by {rate(growth)} "
        f"in the {duration(span)} of its history: ask again in {duration(60 - span)}, or give "
        "--arrival-rate"
    )


def barred_because(case: Case) -> str | None:
    """Why more consumers would not share the work; ``None`` where they would."""
    if case.policy.ordered:
        return "messages must be handled in order (--ordered): one consumer, one at a time"
    if case.client == "async":
        return "each of these consumers starts as much at once as its prefetch lets it: raise that"
    if case.force.single_active:
        return "a single active consumer queue is worked off by one consumer"
    if any(c.row.exclusive for c in case.force.active):
        return "an exclusive consumer allows no other"
    if _is_stream(case):
        return "each reader of a stream reads all of it"
    if case.force.limit.kind == "internal":
        return "the broker's own consumers are not counted"
    return None


def count_for(
    case: Case, outcome: Outcome, estimates: Estimates, barred: str | None
) -> ConsumerCount:
    """How many consumers, in servers: channels with a thread of their own."""
    processing = estimates.processing
    count = count_consumers(
        estimates.arrival_rate,
        processing.mean if processing is not None and processing.usable else None,
        case.concurrency,
        case.policy,
        present=None if case.shared_thread else case.servers or None,
        backlog=case.backlog,
        redelivered_share=estimates.redelivered_share,
        barred=barred,
    )
    doubt = outcome.no_count or contradiction(case) or (_LOOPS if case.loops else None)
    if doubt is None or barred is not None:
        return _while_all_are_busy(case, outcome, count)
    return replace(count, recommended=None, utilisation_recommended=None, keep=False, reason=doubt)


def with_waiting(
    case: Case, estimates: Estimates, sizing: Sizing | NotSized, count: ConsumerCount
) -> ConsumerCount:
    """The count with the wait that it makes of Poisson arrivals; a larger one where that is long.

    Nothing is said of clients that hold their acks back (loop, batches): what they make of
    arrivals is not simulated.
    """
    processing, arrival, rtt = estimates.processing, estimates.arrival_rate, estimates.rtt
    if count.recommended is None or not isinstance(sizing, Sizing) or case.client != "workers":
        return count
    if processing is None or rtt is None or arrival is None or not arrival.value or case.batch > 1:
        return count
    rate = arrival.value * (1 + estimates.redelivered_share)
    waiting = Waiting(rate, processing, rtt.mean, Handling(case.concurrency))
    prefetch = (_present(case) if sizing.keep else None) or sizing.prefetch
    return with_wait(count, waiting, prefetch, case.policy.max_wait)


def _while_all_are_busy(case: Case, outcome: Outcome, count: ConsumerCount) -> ConsumerCount:
    """No fewer than there are while all of them work on a backlog."""
    there = case.servers
    if outcome.verdict is not Verdict.PROCESSING_BOUND or case.shared_thread:
        return count
    if count.recommended is None or count.recommended >= there:
        return count
    reason = f"{count.reason}; the {there} there are work on the backlog: fewer when it is gone"
    return replace(
        count,
        recommended=there,
        utilisation_recommended=count.utilisation_present,
        wait=None,
        keep=True,
        reason=reason,
    )


def current_settings(
    case: Case, estimates: Estimates, sizing: Sizing | NotSized, count: ConsumerCount
) -> Current:
    """Today's settings and what they give."""
    present, k, x = _present(case), case.concurrency, case.server_rate
    processing = estimates.processing
    mean = processing.mean if processing is not None and processing.usable else None
    busy = None
    if case.saturated and x is not None and mean:
        # k / x is P only while it is busy all the time: no news then
        known = processing is not None and processing.source is not FigureSource.INFERRED
        trip = estimates.rtt is not None and estimates.rtt.usable
        busy = min(1.0, x * mean / k) if known or trip else None
    elif present is not None and isinstance(sizing, Sizing) and not _is_stream(case):
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
        rtt_covered=(
            rtt_covered(present, k, x, case.client)
            if case.saturated and x and present and case.client != "async"
            else None
        ),
    )


def recommend(
    case: Case,
    outcome: Outcome,
    estimates: Estimates,
    sizing: Sizing | NotSized,
    count: ConsumerCount,
    current: Current,
) -> Recommended:
    """The advice; where a figure is missing or doubtful, none, with the reason."""
    if outcome.verdict is Verdict.STALLED:
        return Recommended(reason=_NEITHER_HELPS, consumers_reason=_NEITHER_HELPS)
    if outcome.try_prefetch is not None:
        return _advice(count, outcome.try_because, outcome.try_prefetch)
    if outcome.no_prefetch is not None:
        return _advice(count, outcome.no_prefetch)
    if isinstance(sizing, NotSized):
        return _advice(count, sizing.reason)
    present = _present(case)
    if outcome.verdict is Verdict.HOARDING and present and sizing.prefetch >= present:
        return _advice(count, _hoards_all_the_same(sizing.prefetch, present))
    advice = replace(
        _advice(count, sizing.reason, sizing.prefetch),
        keep=sizing.keep,
        limited_by=sizing.limited_by,
        lower_bound_by=sizing.lower_bound_by,
        busy_share=sizing.busy_share,
        buffered_time=sizing.buffered_time,
    )
    return _without_known_concurrency(case, estimates, sizing, advice, current)


def _hoards_all_the_same(wanted: int, present: int) -> str:
    return (
        f"by these figures {wanted} feed a consumer, no less than the {present} there are, and yet "
        "messages wait in the clients: the acks are held by the client, or the processing time is "
        "not of this queue; settle that first"
    )


def _without_known_concurrency(
    case: Case, estimates: Estimates, sizing: Sizing, advice: Recommended, current: Current
) -> Recommended:
    """k / x is one figure: a consumer with k workers looks k times as fast as it is.

    So where both P is inferred and k assumed, a prefetch is not lowered for little, and the advice
    says what k would add to it.
    """
    processing, present = estimates.processing, _present(case)
    if processing is None or processing.source is not FigureSource.INFERRED:
        return advice
    if estimates.concurrency.source is not FigureSource.ASSUMED:
        return advice
    buffered = current.buffered_time
    if present and present > sizing.prefetch and buffered is not None and buffered < _LITTLE:
        reason = (
            f"{sizing.prefetch} would feed a consumer that works on one message at a time, but how "
            f"many it works on is not known: lowering {present} gains little (--concurrency)"
        )
        return replace(
            advice,
            prefetch=present,
            keep=True,
            busy_share=sizing.busy_share_at(present),
            buffered_time=buffered,
            reason=reason,
        )
    reason = f"{advice.reason}; that is for one message at a time: add k - 1 for k at once"
    return replace(advice, reason=reason)


def _is_stream(case: Case) -> bool:
    """A stream's credit is for chunks, so no prefetch models what its reader does."""
    return case.row is not None and case.row.type == "stream"


def _present(case: Case) -> int | None:
    """Today's prefetch of one server: 0 unlimited, ``None`` unknown."""
    if case.force.unlimited:
        return 0
    each = case.force.per_server
    return None if each is None else max(1, round(each))


def _listed_prefetch(case: Case) -> int | None:
    """The prefetch that all active consumers have; their channel's where that is shared."""
    if case.force.limit.kind == "channel":
        return case.force.limit.value
    values = {c.row.prefetch for c in case.force.active}
    return values.pop() if len(values) == 1 else None


def _advice(count: ConsumerCount, reason: str, prefetch: int | None = None) -> Recommended:
    return Recommended(
        prefetch=prefetch,
        consumers=count.recommended,
        least_consumers=count.least,
        utilisation=count.utilisation_recommended,
        reason=reason,
        consumers_reason=count.reason,
        keep_consumers=count.keep,
        wait=count.wait,
    )
