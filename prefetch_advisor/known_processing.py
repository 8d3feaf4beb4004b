"""A saturated queue whose processing time is known: busy = x P / k decides."""

import math

from prefetch_advisor.case import Case, Outcome
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.findings import inputs
from prefetch_advisor.model.advice import Finding, Verdict
from prefetch_advisor.model.figures import FigureSource, ProcessingTime, RoundTrip
from prefetch_advisor.units import duration, number, percent, rate

#: busy share from which a consumer with known P is bound by processing
BUSY = 0.9
#: modelled busy share from which more prefetch cannot be what is missing
FED = 0.95
#: an effective round trip so many times the known one is no round trip
FAR = 10
#: seconds; what a network and a broker together may take at the very most
LONGEST_ROUND_TRIP = 1.0
#: a busy share above this cannot be: the concurrency must be higher
IMPOSSIBLY_BUSY = 1.15


def busy(case: Case, x: float) -> bool:
    """Whether P is known and consumers are busy by it, whatever their limit is."""
    processing = case.estimates.processing
    if processing is None or not processing.usable:
        return False
    return x * processing.mean / case.concurrency >= BUSY


def judge(case: Case, processing: ProcessingTime, x: float, n: float, full: str) -> Outcome:
    """Processing-bound from 90 % on; below it the rest of the cycle is the round trip.

    ``x`` departures a second and ``n`` prefetch of one server; ``full`` says how it is saturated.
    """
    k = case.concurrency
    busy = x * processing.mean / k
    each = f"{rate(x)} a consumer x {duration(processing.mean)}" + (f" / {k}" if k > 1 else "")
    if busy > IMPOSSIBLY_BUSY:
        return _busier_than_possible(case, busy, each, full)
    if busy >= BUSY:
        reason = f"{full}, and consumers are busy {percent(min(busy, 1.0))} of their time ({each})"
        return Outcome(Verdict.PROCESSING_BOUND, reason, case.confidence())
    effective = max(0.0, n / x - processing.mean * (n if case.client == "loop" else 1))
    reason = (
        f"{full}, but consumers are busy only {percent(busy)} of their time ({each}): they wait "
        f"{duration(effective)} for the next delivery"
    )
    given = case.estimates.rtt
    if given is None or not given.usable:
        doubt = _no_round_trip_is(effective)
        return _waiting(case, reason, doubt, (), _seen(effective, n, x))
    if effective > 2 * given.mean + 0.001:
        held = _acks_held(case, effective, given)
        covers = _share(case, processing.mean, given.mean, n)
        doubt = _doubt(effective, given)
        far = covers >= FED or effective > FAR * given.mean
        return _waiting(
            case, reason, doubt if far else None, (held,), _seen(effective, n, x), doubt
        )
    # the measured one is as good, and may carry its spread; not where it would leave no one waiting
    near = effective >= 0.5 * given.mean and _share(case, processing.mean, given.mean, n) < FED
    return _waiting(case, reason, None, (), None if near else _seen(effective, n, x))


def _share(case: Case, processing: float, rtt: float, n: float) -> float:
    """The busy share that constant times make, or a loop; above 1 where n is more than enough."""
    if case.client == "loop":
        return n * processing / (n * processing + rtt)
    return n * processing / (case.concurrency * (processing + rtt))


def _seen(effective: float, n: float, x: float) -> RoundTrip:
    origin = f"prefetch {number(n)} / {rate(x)} - processing time"
    return RoundTrip(effective, FigureSource.INFERRED, origin)


def _waiting(
    case: Case,
    reason: str,
    doubt: str | None,
    findings: tuple[Finding, ...],
    rtt: RoundTrip | None,
    no_count: str | None = None,
) -> Outcome:
    """Round-trip-bound by P; with a doubt, without numbers to set."""
    return Outcome(
        Verdict.ROUND_TRIP_BOUND,
        reason if doubt is None else f"{reason}; {doubt}",
        case.confidence() if doubt is None else "low",
        rtt=rtt,
        no_prefetch=doubt,
        no_count=doubt or no_count,
        findings=findings,
    )


def _no_round_trip_is(effective: float) -> str | None:
    if effective <= LONGEST_ROUND_TRIP:
        return None
    return (
        f"no network takes {duration(effective)}: the acks are held by the client, or the "
        "processing time is not of this queue; settle that first"
    )


def _doubt(effective: float, given: RoundTrip) -> str:
    return (
        f"{duration(effective)} where the round trip is {duration(given.mean)} ({given.source}): "
        "the acks are held by the client, or the processing time is not of this queue; settle "
        "that first"
    )


def _busier_than_possible(case: Case, busy: float, each: str, full: str) -> Outcome:
    least = math.ceil(busy * case.concurrency - 1e-9)
    message = (
        f"{each} is {number(busy * case.concurrency)} messages worked on at once by a consumer, "
        f"more than the concurrency of {case.concurrency} ({case.estimates.concurrency.source})"
    )
    finding = inputs.INCONSISTENT_INPUT.finding(
        case.observation.key.name,
        message,
        f"Give --concurrency {least} if consumers work on that "
        "many at once; otherwise the processing times are not of this queue.",
    )
    unknown = (
        f"a consumer works on {least} messages at once, or the processing times are not of this "
        "queue: --concurrency"
    )
    return Outcome(
        Verdict.PROCESSING_BOUND,
        f"{full}, and more work leaves than one worker could do ({each})",
        "low",
        missing=("--concurrency",),
        no_prefetch=unknown,
        no_count=unknown,
        findings=(finding,),
    )


def _acks_held(case: Case, effective: float, given: RoundTrip) -> Finding:
    return rules.ACKS_HELD.finding(
        case.observation.key.name,
        f"the broker sees {duration(effective)} from ack to next delivery, "
        f"the round trip is {duration(given.mean)} ({given.source})",
    )
