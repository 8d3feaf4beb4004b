"""A stream keeps its messages: ready is its length, and unacked of the queue is always 0.

So each of its readers is judged by what its channel holds of its credit.
"""

from dataclasses import replace

from prefetch_advisor import saturation
from prefetch_advisor.case import SILENCE, Case, Outcome, channel_rate
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.findings import inputs
from prefetch_advisor.model.advice import Verdict
from prefetch_advisor.model.observation import Consumer
from prefetch_advisor.units import duration, plural, rate

#: a reader that acks this share of what is published keeps up
KEEPS_UP = 0.95


def judge(case: Case) -> Outcome | None:
    """The verdict of a stream; ``None`` for every other type of queue."""
    row = case.row
    if row is None or row.type != "stream":
        return None
    if not case.consumer_count:
        reason = "a stream without readers; it keeps its messages whether they are read or not"
        return Outcome(Verdict.IDLE, reason, case.confidence())
    readers = case.force.active
    if case.observation.consumers is None or not readers:
        what = "rabbitmqctl list_consumers does not list stream consumers"
        return _not_judged(case, what, "/api/consumers and /api/channels")
    held = [c.channel.row.unacked if c.channel is not None else None for c in readers]
    if any(h is None for h in held) or any(c.row.prefetch is None for c in readers):
        return _not_judged(case, "what its readers hold is not in the input", "/api/channels")
    full = [c for c, h in zip(readers, held, strict=True) if _at_credit(c, h)]
    if not full:
        most = sum(c.row.prefetch or 0 for c in readers)
        there = sum(h for h in held if h is not None)
        reason = f"readers hold {there:,} of the {plural(most, 'message')} their credit allows"
        if not most:
            reason = f"readers hold {plural(there, 'message')}; their credit is not shown"
        return Outcome(Verdict.KEEPING_UP, reason, case.confidence())
    return _at_their_credit(case, full)


def _at_credit(reader: Consumer, held: int | None) -> bool:
    return bool(reader.row.prefetch) and (held or 0) >= (reader.row.prefetch or 0)


def _not_judged(case: Case, what: str, missing: str) -> Outcome:
    finding = inputs.NO_DATA.finding(case.observation.key.name, what)
    return Outcome(Verdict.UNKNOWN, what, "low", (missing,), findings=(finding,))


def _at_their_credit(case: Case, full: list[Consumer]) -> Outcome:
    """Readers with no room left: the slowest decides, by what it acks."""
    published = case.window.rates.publish
    rates = [channel_rate(c.channel) if c.channel is not None else None for c in full]
    if len(case.force.active) == 1 and case.window.handled is not None:
        rates = [case.window.handled]  # over the window, not the last seconds
    slowest = min((r for r in rates if r is not None), default=None)
    if published is None or slowest is None or None in rates:
        finding = inputs.NO_RATES.finding(case.observation.key.name, "readers are at their credit")
        reason = "readers hold all the messages of their credit; no ack rate is known"
        missing = (saturation.RATES_MISSING,)
        return Outcome(Verdict.AT_LIMIT, reason, "low", missing, findings=(finding,))
    at_credit = f"{len(full)} of {plural(len(case.force.active), 'reader')} at the credit"
    span = case.window.rates_span
    if slowest == 0 and span >= SILENCE:
        message = f"{at_credit}, and no ack in {duration(span)}"
        finding = rules.NO_ACKS.finding(case.observation.key.name, message)
        return Outcome(Verdict.STALLED, message, case.confidence(), findings=(finding,))
    if slowest >= KEEPS_UP * published and slowest > 0:
        reason = f"readers ack {rate(slowest)} while {rate(published)} are published"
        return Outcome(Verdict.KEEPING_UP, reason, case.confidence())
    reason = f"{at_credit}, acking {rate(slowest)}, slower than the {rate(published)} published"
    if slowest == 0:
        return Outcome(Verdict.AT_LIMIT, reason, "low", ("60 s of history",))
    credit = min(c.row.prefetch or 0 for c in full)
    at_limit = replace(
        case, server_rate=slowest, force=replace(case.force, smallest=credit), shared_thread=False
    )
    outcome = saturation.judge(at_limit)
    if outcome.verdict is Verdict.ROUND_TRIP_BOUND:
        return replace(outcome, reason=f"{reason}; {outcome.reason}")
    # who is read by one reader at its own pace: without a round trip that explains it, its work
    return replace(outcome, verdict=Verdict.PROCESSING_BOUND, reason=reason)
