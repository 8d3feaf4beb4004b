"""What is wrong with declared consumers: the hints of ``advise``, at the value that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from prefetch_advisor.bounds import ConflictError
from prefetch_advisor.config import MAX_PREFETCH, QUORUM_UNLIMITED
from prefetch_advisor.findings import consumers as twins
from prefetch_advisor.findings import declared as rules
from prefetch_advisor.hints import Judged, bounds, consistency, consumers, kinds, prefetch
from prefetch_advisor.lint.declared import DeclaredQueue
from prefetch_advisor.lint.declared.observed import alike, judged_as
from prefetch_advisor.lint.declared.placing import finding, told, with_advised
from prefetch_advisor.lint.declared.words import numbers
from prefetch_advisor.model.advice import Finding, Severity, Verdict
from prefetch_advisor.model.lint import LintFinding, Located
from prefetch_advisor.model.timing import TimingRow
from prefetch_advisor.units import plural, rate

#: what the numbers of a rule come from
_FROM = {
    "PA103": ("processing_time", "cv", "rtt", "concurrency"),
    "PA104": ("processing_time", "cv", "rtt", "concurrency"),
    "PA109": ("processing_time", "cv", "concurrency"),
    "PA113": ("processing_time", "rtt"),
    "PA117": ("priorities", "processing_time", "concurrency"),
    "PA118": ("message_bytes", "memory_budget"),
    "PA119": ("concurrency",),
    "PA120": ("batch",),
}


def of_prefetch(queue: DeclaredQueue, timings: TimingRow | None = None) -> Iterator[LintFinding]:
    """What is wrong with the prefetch of one kind of consumer, and with when it acks."""
    ack, limit = queue.ack, alike(queue.prefetch)
    if ack is not None and ack.value == "auto":
        yield _auto_ack(queue, ack)
        return
    if ack is not None and ack.value == "early":
        message = "messages are acked before their work"
        yield finding(rules.EARLY_ACK, queue, message, ack)
    if limit is not None and limit.value > MAX_PREFETCH:
        message = f"prefetch {limit.value:,}, the protocol carries at most {MAX_PREFETCH:,}"
        yield finding(rules.ABOVE_PROTOCOL, queue, message, limit)
        return
    none = limit if limit is not None and limit.value == 0 else None
    if queue.global_qos is not None and queue.global_qos.value:
        # who shares a limit is not said
        yield from _unlimited(queue, none)
        return
    try:
        judged, _ = judged_as(queue, timings)
    except ConflictError as error:
        yield from _unlimited(queue, none)
        yield told(bounds.clash_of(queue.name.value, *error.clash), queue)
        return
    processing, advised = judged.estimates.processing, judged.recommended.prefetch
    yield from _unlimited(queue, none, advised)
    for found in _hints(judged, queue):
        from_ = numbers(queue, _FROM.get(found.code, ()), processing)
        at_work = found.code == twins.ACK_TIMEOUT_RISK.code and _holds_no_more(judged)
        if at_work and not judged.conflict:
            found = replace(found, help="Raise consumer-timeout, or make a message cheaper.")
            at = queue.consumer_timeout or queue.processing_time or queue.timings
            yield told(found, queue, from_, at=at)
        else:
            yield told(found, queue, from_, advised)


def _holds_no_more(judged: Judged) -> bool:
    """No prefetch buffers a message behind those in work."""
    return (judged.current.prefetch or 0) <= judged.case.concurrency


def _hints(judged: Judged, queue: DeclaredQueue) -> Iterator[Finding]:
    """What ``advise`` says beside a verdict; settings have none."""
    judged = replace(judged, outcome=replace(judged.outcome, verdict=Verdict.KEEPING_UP))
    early = queue.ack is not None and queue.ack.value == "early"
    yield from bounds.clash(judged)
    yield from bounds.batch(judged)
    yield from bounds.memory(judged)
    if not early or (judged.current.prefetch or 0) > judged.case.concurrency:
        yield from bounds.ack_timeout(judged)
    for found in kinds.queue_kind(judged):
        # told with what is no limit, and with the number of consumers
        if found.code not in (twins.QUORUM_2000.code, twins.SINGLE_ACTIVE.code):
            yield found
    if judged.current.prefetch:
        yield from consumers.unequal(judged)
    yield from consistency.samples(judged)
    yield from _low(judged, queue)
    yield from prefetch.prefetch_high(judged)


def _low(judged: Judged, queue: DeclaredQueue) -> Iterator[Finding]:
    present, advised = judged.current.prefetch, judged.recommended
    if judged.case.client == "async":
        # there the prefetch is the concurrency, which the arrivals of each consumer decide
        known = present and advised.prefetch and queue.consumers is not None
        if known and not advised.keep and (advised.prefetch or 0) > (present or 0):
            message = f"prefetch {present} is too little for the work in hand: {advised.reason}"
            help_ = f"Set prefetch {advised.prefetch}."
            yield twins.PREFETCH_BELOW_ROUND_TRIP.finding(judged.name, message, help_)
        return
    for found in prefetch.prefetch_low(judged):
        if found.code != twins.PREFETCH_BELOW_ROUND_TRIP.code:
            yield found
            continue
        bound = replace(judged.outcome, verdict=Verdict.ROUND_TRIP_BOUND)
        severity, more = _wanted(judged, queue)
        for sure in prefetch.prefetch_low(replace(judged, outcome=bound)):
            yield replace(sure, severity=severity, message=sure.message + more)


def _wanted(judged: Judged, queue: DeclaredQueue) -> tuple[Severity, str]:
    """Whether the declared load wants more than a small prefetch lets through."""
    arrival, processing = judged.estimates.arrival_rate, judged.estimates.processing
    busy = judged.current.busy_share
    if arrival is None or processing is None or not busy or queue.consumers is None:
        return Severity.WARNING, ""
    case = judged.case
    most = case.servers * case.concurrency * busy / processing.mean
    words = f"; {plural(case.servers, 'consumer')} can do {rate(most)} so"
    words += f", {rate(arrival.value)} arrive"
    enough = arrival.value <= case.policy.max_utilisation * most
    return (Severity.INFO if enough else Severity.WARNING), words


def _auto_ack(queue: DeclaredQueue, ack: Located[Any]) -> LintFinding:
    limit = alike(queue.prefetch)
    message = "automatic ack: no limit is in force"
    if limit is not None and limit.value:
        message = f"automatic ack: the prefetch of {limit.value} is ignored"
    if queue.type is not None and queue.type.value == "stream":
        message += ", and a stream refuses such a consumer (540)"
    return finding(rules.AUTO_ACK, queue, message + numbers(queue, ("prefetch",)), ack)


def _unlimited(
    queue: DeclaredQueue, limit: Located[int] | None, advised: int | None = None
) -> Iterator[LintFinding]:
    if limit is None:
        return
    kind = queue.type.value if queue.type else None
    many = alike(queue.consumers)
    each = f" for {plural(many.value, 'consumer')}" if many else ""
    if kind == "stream":
        message = f"prefetch 0{each} on a stream: refused with 406"
        yield finding(rules.STREAM_NEEDS_PREFETCH, queue, message, limit)
        return
    from_ = numbers(queue, ("type", "processing_time", "rtt")) if advised else ""
    if kind == "quorum":
        message = f"prefetch 0{each} on a quorum queue lets each hold {QUORUM_UNLIMITED:,}"
        set_ = with_advised(rules.QUORUM_2000.fix, advised)
        yield finding(rules.QUORUM_2000, queue, message + from_, limit, set_)
        return
    message = f"prefetch 0 is no limit{each}"
    if kind is None:
        message += f" ({QUORUM_UNLIMITED:,} each on a quorum queue)"
    help_ = f"Set prefetch {advised:,} before consuming." if advised else None
    yield finding(rules.UNBOUNDED_PREFETCH, queue, message + from_, limit, help_)
