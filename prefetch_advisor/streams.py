"""A stream keeps its messages: ready is its length, and unacked of the queue is always 0.

So its readers are judged by what their channels hold of their credit.
"""

from prefetch_advisor.case import Case, Outcome
from prefetch_advisor.findings import inputs
from prefetch_advisor.model.advice import Verdict
from prefetch_advisor.saturation import RATES_MISSING
from prefetch_advisor.units import rate


def judge(case: Case) -> Outcome | None:
    """The verdict of a stream; ``None`` for every other type of queue."""
    row = case.row
    if row is None or row.type != "stream":
        return None
    if not case.consumer_count:
        reason = "a stream without readers; it keeps its messages whether they are read or not"
        return Outcome(Verdict.IDLE, reason, case.confidence())
    if case.observation.consumers is None or not case.force.active:
        finding = inputs.NO_DATA.finding(
            case.observation.key.name, "rabbitmqctl list_consumers does not list stream consumers"
        )
        reason = "stream consumers are not in the input, and a stream's depth tells nothing"
        missing = ("/api/consumers and /api/channels",)
        return Outcome(Verdict.UNKNOWN, reason, "low", missing, findings=(finding,))
    credit = sum(c.row.prefetch or 0 for c in case.force.active)
    seen = {c.channel.row.id: c.channel.row.unacked for c in case.force.active if c.channel}
    held = sum(u for u in seen.values() if u is not None)
    acked, published = case.window.rates.ack, case.window.rates.publish
    if not credit or held < credit:
        reason = f"readers hold {held} of the {credit} messages their credit allows"
        return Outcome(Verdict.KEEPING_UP, reason, case.confidence())
    if acked is None or published is None:
        finding = inputs.NO_RATES.finding(case.observation.key.name, "readers are at their credit")
        reason = f"readers hold all {credit} messages of their credit; no ack rate is known"
        missing = (RATES_MISSING,)
        return Outcome(Verdict.AT_LIMIT, reason, "low", missing, findings=(finding,))
    if acked >= 0.95 * published:
        reason = f"readers ack {rate(acked)} while {rate(published)} are published"
        return Outcome(Verdict.KEEPING_UP, reason, case.confidence())
    reason = (
        f"readers hold all {credit} messages of their credit and ack {rate(acked)}, "
        f"slower than the {rate(published)} published"
    )
    return Outcome(Verdict.PROCESSING_BOUND, reason, case.confidence())
