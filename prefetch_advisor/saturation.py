"""A saturated queue: processing-bound or round-trip-bound? Every window is full in either case.

With prefetch 1 and a long round trip unacked also stands at prefetch x consumers, while the
consumer is busy a few per cent of its time; so the question is settled by P, by R, or not at all.
"""

import math
from dataclasses import replace

from prefetch_advisor import known_processing
from prefetch_advisor.case import Case, Outcome, inferred_processing
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.findings import inputs
from prefetch_advisor.model.advice import Confidence, Severity, Verdict
from prefetch_advisor.model.figures import ClientKind, FigureSource, ProcessingTime, RoundTrip
from prefetch_advisor.sizing import processing_range, rule_prefetch, solve_processing
from prefetch_advisor.units import duration, number, percent, rate

#: raising the prefetch must gain this much to be worth a verdict
LEAST_GAIN = 0.05
#: a given round trip may exceed the whole cycle by this factor before it is refused
IMPOSSIBLE_CYCLE = 1.2
#: an unmeasured round trip is taken as covered from this R* on
SURELY_COVERED = 0.010
#: how far off a round trip is taken to be: it was measured elsewhere, or at another time
RTT_ERROR = 0.1
#: errors of P from such a round trip above which it is no longer certain, and uncertain
BLURRED, VERY_BLURRED = 0.1, 0.2
RATES_MISSING = (
    "the ack rate: save /api/queues with "
    "lengths_age=60&lengths_incr=5&msg_rates_age=60&msg_rates_incr=5"
)
RTT_OR_P = (
    "--rtt (a time, or probe) or --processing-time (or timings); or double the prefetch and "
    "compare the ack rate"
)


def rtt_covered(
    prefetch: float, concurrency: int, server_rate: float, client: ClientKind = "workers"
) -> float:
    """R*: the longest round trip that a prefetch covers, seconds, for constant times.

    (N - k) / x. In a loop every round trip costs: there it is the R of which a larger prefetch
    would save no more than 5 %, R / N = (1 - 1 / 1.05) / x.
    """
    if client == "loop":
        return prefetch / server_rate * (1 - 1 / (1 + LEAST_GAIN))
    return max(0.0, (prefetch - concurrency) / server_rate)


def judge(case: Case) -> Outcome:
    """The verdict of a saturated queue."""
    x, n = case.server_rate, case.force.per_server
    if n is None:  # saturated implies a finite limit and a server
        raise AssertionError("a saturated queue has a limit")
    if x is None and case.shared_thread:
        return _shared_thread(case)
    if x is None:
        return _without_rates(case, n)
    full = f"{_full(case)}: unacked stays at {case.force.limit.origin}"
    if x == 0:
        seen = "in the one sample" if case.window.snapshot else duration(case.window.rates_span)
        return Outcome(
            Verdict.AT_LIMIT,
            f"{full}, and no ack in {seen.removeprefix('in ')}; too short to call it stalled",
            "low",
            missing=(
                f"{duration(max(60.0, case.patience))} of history: no ack in that time means the "
                "acks are not sent",
            ),
        )
    if case.force.limit.source == "inferred":
        reason = f"{full} (inferred). {rate(x)} leave each channel"
        return Outcome(Verdict.AT_LIMIT, reason, "low", missing=(RTT_OR_P,))
    processing, rtt = case.estimates.processing, case.estimates.rtt
    if case.batch > n and not known_processing.busy(case, x):
        return _partial_batches(case, x, n, full)
    if case.client == "async":
        return _all_at_once(case, x, n, full)
    if processing is not None and processing.usable and processing.mean > 0:
        return known_processing.judge(case, processing, x, n, full)
    if rtt is not None and rtt.usable:
        return _with_round_trip(case, rtt, x, n, full)
    return _with_neither(case, x, n, full)


def _all_at_once(case: Case, x: float, n: float, full: str) -> Outcome:
    """An async client: N / (P + R) leave, so its prefetch is all that bounds it."""
    processing, rtt = case.estimates.processing, case.estimates.rtt
    cycle = n / x
    reason = (
        f"{full}; this client works on all that it holds, so its prefetch is its concurrency: "
        f"{number(n)} at once, {duration(cycle)} each, round trip included"
    )
    if (processing is not None and processing.usable) or rtt is None or not rtt.usable:
        return Outcome(Verdict.ROUND_TRIP_BOUND, reason, case.confidence())
    if cycle - rtt.mean < rtt.mean / 4:
        return _processing_unknown(case, rtt, x, n, full)
    acks = case.window.finished / max(1, case.servers)
    origin = f"prefetch {number(n)} / {rate(x)} a consumer - round trip {duration(rtt.mean)}"
    seen = inferred_processing(cycle - rtt.mean, acks, case.servers, origin)
    return Outcome(Verdict.ROUND_TRIP_BOUND, reason, case.confidence(), processing=seen)


def _partial_batches(case: Case, x: float, n: float, full: str) -> Outcome:
    """Acks leave although no batch can fill: by the client's timer, which is what it waits for."""
    processing, rtt = case.estimates.processing, case.estimates.rtt
    sized = processing is not None and processing.usable and rtt is not None and rtt.usable
    return Outcome(
        Verdict.ROUND_TRIP_BOUND,
        f"{full}, so a batch of {case.batch} never fills: what leaves ({rate(x)} a consumer) waits "
        "for the client's timer, not for work",
        case.confidence(),
        try_prefetch=None if sized else 2 * case.batch,
        try_because=f"twice the batch of {case.batch}: one in work while the next one fills",
        no_count="consumers that wait for batches to fill show neither work nor demand",
    )


def _shared_thread(case: Case) -> Outcome:
    reason = (
        f"{_full(case)}, but its consumers' channels serve other queues too, and what those "
        "channels do in all is not in the input"
    )
    missing = ("/api/channels, for the rates of whole channels",)
    finding = inputs.NO_RATES.finding(
        case.observation.key.name,
        "at the limit, and what its consumers' channels do for all their queues is not known",
        "Save /api/channels too.",
    )
    return Outcome(Verdict.AT_LIMIT, reason, "low", missing, findings=(finding,))


def _full(case: Case) -> str:
    if case.fill is None or case.fill.samples <= 1:
        return "full in the one sample there is"
    return f"full in {case.fill.full} of {case.fill.samples} samples"


def _with_round_trip(case: Case, rtt: RoundTrip, x: float, n: float, full: str) -> Outcome:
    """Only R known: P from x with the simulator of the sizing."""
    k, r = case.concurrency, rtt.mean
    covered = rtt_covered(n, k, x, case.client)
    if r > IMPOSSIBLE_CYCLE * n / x:
        return _slower_than_possible(case, rtt, x, n, full)
    if covered < r and n / x - r < r / 4:
        return _processing_unknown(case, rtt, x, n, full)
    loop = case.client == "loop"
    constant = 1 / x - r / n if loop else solve_processing(x, round(n), r, k, exponential=False)
    if constant is None or constant <= 0:
        return _with_neither(case, x, n, full)
    outcome = _solved(case, constant, rtt, x, n, full)
    least_and_most = processing_range(x, n, r, k, RTT_ERROR, loop=loop)
    return _as_sure_as_the_round_trip(outcome, constant, r, k, least_and_most)


def _solved(case: Case, constant: float, rtt: RoundTrip, x: float, n: float, full: str) -> Outcome:
    """The verdict by P, which is ``constant`` for constant times."""
    k, r = case.concurrency, rtt.mean
    covered = rtt_covered(n, k, x, case.client)
    scattered = None
    if case.client != "loop":
        scattered = solve_processing(x, round(n), r, k, exponential=True)
    acks = case.window.finished / max(1, case.servers)
    origin = f"{rate(x)} a consumer at prefetch {number(n)}, round trip {duration(r)}"
    seen = inferred_processing(constant, acks, case.servers, origin)
    gain = k / (x * constant) - 1
    if gain >= LEAST_GAIN:
        reason = (
            f"{full}; with a round trip of {duration(r)} a message takes {duration(constant)}, so "
            f"consumers are busy {percent(x * constant / k)} of their time and wait otherwise"
        )
        return Outcome(
            Verdict.ROUND_TRIP_BOUND,
            reason,
            case.confidence(),
            processing=seen,
            scattered=scattered,
        )
    reason = (
        f"{full}, and the prefetch covers round trips up to {duration(covered)}, above the "
        f"{duration(r)} there are: consumers are busy"
    )
    if covered < r:
        reason = (
            f"{full}; with a round trip of {duration(r)} a message takes {duration(constant)}, so "
            f"consumers are busy {percent(x * constant / k)} of their time"
        )
    more = k / (x * scattered) - 1 if scattered else 0.0
    if more >= LEAST_GAIN:
        finding = rules.PREFETCH_BELOW_ROUND_TRIP.finding(
            case.observation.key.name,
            f"enough for constant times; if they vary like an exponential, more prefetch would add "
            f"up to {percent(more)}",
            "Record timings, or raise the prefetch to the advised value and compare the ack rate.",
            Severity.INFO,
        )
        return Outcome(
            Verdict.PROCESSING_BOUND,
            reason,
            "low",
            processing=seen,
            scattered=scattered,
            findings=(finding,),
        )
    return Outcome(
        Verdict.PROCESSING_BOUND,
        reason,
        case.confidence(),
        processing=seen,
        scattered=scattered,
    )


def _as_sure_as_the_round_trip(
    outcome: Outcome, constant: float, rtt: float, k: int, ends: tuple[float, float]
) -> Outcome:
    """What the round trip may be off by, P is off by as much; said where that matters to P."""
    least, most = ends
    blur = max(constant - least, most - constant) / constant
    if blur <= BLURRED or outcome.processing is None:
        return outcome
    low, high = outcome.processing.ci95 or (constant, constant)
    longer = f"; were the round trip {percent(RTT_ERROR)} longer, "
    if least > 0:
        rule = rule_prefetch(least, rtt * (1 + RTT_ERROR), k)
        longer += f"that would be {duration(least)}, and the rule would ask for {rule}"
    else:
        longer += "next to none of the time would be work"
    certain: Confidence = "low" if blur > VERY_BLURRED or outcome.confidence == "low" else "medium"
    return replace(
        outcome,
        reason=outcome.reason + longer,
        confidence=certain,
        processing=replace(outcome.processing, ci95=(min(low, least), max(high, most))),
        missing=(
            *outcome.missing,
            "--processing-time (or timings): what the broker shows blurs it",
        ),
    )


def _slower_than_possible(case: Case, rtt: RoundTrip, x: float, n: float, full: str) -> Outcome:
    """More leaves than prefetch / R lets through: the R given is not this queue's."""
    message = (
        f"{rate(x)} a consumer at prefetch {number(n)} is a round trip of at most "
        f"{duration(n / x)}, not {duration(rtt.mean)} ({rtt.origin})"
    )
    finding = inputs.INCONSISTENT_INPUT.finding(
        case.observation.key.name, message, "Measure the round trip where the consumers run."
    )
    outcome = _with_neither(case, x, n, full)
    return replace(
        outcome,
        confidence="low",
        findings=(finding,),
        no_prefetch="the round trip given is longer than what the broker shows",
    )


def _processing_unknown(case: Case, rtt: RoundTrip, x: float, n: float, full: str) -> Outcome:
    """N / x - R below R / 4: nearly all of the cycle is round trip, and P drowns in it."""
    most = ProcessingTime(
        mean=n / x,
        source=FigureSource.BOUND,
        side="at most",
        origin=f"prefetch {number(n)} / {rate(x)}: the whole cycle, round trip included",
    )
    reason = (
        f"{full}; {rate(x)} a consumer is hardly more than the round trip of {duration(rtt.mean)} "
        f"lets through at prefetch {number(n)}, so processing takes almost none of the time"
    )
    return Outcome(
        Verdict.ROUND_TRIP_BOUND,
        reason,
        case.confidence(),
        missing=("--processing-time (or timings): too short to tell from the ack rate",),
        processing=most,
        try_prefetch=max(math.ceil(2 * n), 4),
    )


def _with_neither(case: Case, x: float, n: float, full: str) -> Outcome:
    """R unknown or only bounded: processing-bound where R* is beyond any likely round trip."""
    k, trip = case.concurrency, case.estimates.rtt
    covered = rtt_covered(n, k, x, case.client)
    bound = trip.mean if trip is not None and not trip.usable else 0.0
    if covered >= SURELY_COVERED and covered >= 10 * bound:
        acks = case.window.finished / max(1, case.servers)
        origin = f"concurrency / {rate(x)} a consumer, which holds while it is busy all the time"
        confidence = case.confidence()
        return Outcome(
            Verdict.PROCESSING_BOUND,
            f"{full}; holds while the round trip is below {duration(covered)}, "
            "which the present prefetch covers",
            "medium" if confidence == "high" else confidence,
            missing=("--rtt (a time, or probe), for the prefetch",),
            processing=inferred_processing(k / x, acks, case.servers, origin),
        )
    return Outcome(
        Verdict.AT_LIMIT,
        f"{full}, at {rate(x)} a consumer; the prefetch covers {_covers(covered)}, so it cannot be "
        "told whether prefetch or consumers are short",
        case.confidence(),
        missing=(RTT_OR_P,),
    )


def _covers(covered: float) -> str:
    return f"round trips up to {duration(covered)} only" if covered else "no round trip at all"


def _without_rates(case: Case, n: float) -> Outcome:
    """As ``rabbitmqctl`` alone shows it: dead, starved and busy consumers look alike."""
    reason = f"{_full(case)}: unacked stays at {case.force.limit.origin}, but no ack rate is known"
    fall = case.window.ready_growth
    if fall is not None and fall < 0:
        reason += f"; ready falls by {rate(-fall)}, so acks do flow"
    processing, rtt = case.estimates.processing, case.estimates.rtt
    if (processing and processing.usable and processing.mean > 0) and (rtt and rtt.usable):
        rule = rule_prefetch(processing.mean, rtt.mean, case.concurrency)
        if n >= rule:
            reason += f"; if acks flow it is processing-bound: the rule asks for {rule}"
        else:
            reason += f"; if acks flow it is round-trip-bound: the rule asks for {rule}"
    finding = inputs.NO_RATES.finding(
        case.observation.key.name, "at the limit, and no ack rate is known"
    )
    return Outcome(Verdict.AT_LIMIT, reason, "low", missing=(RATES_MISSING,), findings=(finding,))
