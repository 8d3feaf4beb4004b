"""No acks: consumers that hold messages and finish none of them."""

from prefetch_advisor.case import SILENCE, Case, Outcome
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.model.advice import Confidence, Verdict
from prefetch_advisor.units import duration
from prefetch_advisor.window import quiet

#: share of the deliveries that may look finished while none is: the samples' different moments
_SLACK = 0.05


def lasts(case: Case) -> float:
    """Seconds in which consumers held messages all the time and finished none; else 0.

    What was given back without an ack is finished too; that shows only where the growth of
    unacked is known.
    """
    window = case.window
    if window.departures != 0 or not case.servers or not window.lengths:
        return 0.0
    delivered = (window.rates.deliver or 0.0) + (window.rates.get or 0.0)
    if (window.handled or 0.0) >= _SLACK * max(delivered, 1.0):
        return 0.0
    if not all(s.unacked for s in window.lengths):
        return 0.0
    return max(quiet(window), window.rates_span if window.traffic else 0.0)


def stalled(case: Case) -> Outcome | None:
    """Messages are ready, every consumer is at its limit, and none acks."""
    fill, window = case.fill, case.window
    if fill is None or not (case.saturated or fill.standing):
        return None
    span = lasts(case)
    if not span or span < case.patience:
        return None
    if window.handled or (window.rates.deliver and window.growth is None):
        return None  # delivered, and perhaps given back
    stands = "stays" if case.saturated else "stands"
    reason = f"unacked {stands} at the limit ({case.force.limit.origin})"
    return _outcome(case, f"{reason} and nothing was acked in {duration(span)}", span)


def judge(case: Case) -> Outcome | None:
    """Room is left or nothing waits, but what the consumers hold does not get done.

    No more in hand than they may be working on at once is a stall only where P says so.
    """
    span = lasts(case)
    if not span or span < case.patience:
        return None
    held = f"{case.unacked:,} unacked all the time and nothing was acked in {duration(span)}"
    if case.batch > 1 and (case.unacked or 0) < case.batch * case.servers and not case.ready:
        held += f"; they wait for a batch of {case.batch} to fill, and nothing is ready"
        help_ = "Ack by a timer too, well within the delivery acknowledgement timeout."
        return _outcome(case, held, span, help_)
    at_work = case.concurrency * case.servers
    if not _known(case) and (case.unacked or 0) <= at_work and not case.ready:
        reason = f"nothing waits; {held}: normal only if one task takes longer"
        return Outcome(Verdict.KEEPING_UP, reason, "low", ("--processing-time (or timings)",))
    return _outcome(case, held, span)


def undelivered(case: Case) -> float:
    """Seconds in which messages were ready, consumers had room and nothing was delivered; else 0.

    Without rates, nothing unacked in three samples shows it: what is delivered is unacked first.
    """
    window = case.window
    if not case.consumer_count or not all(s.ready for s in window.lengths):
        return 0.0
    rates = window.rates
    if rates.deliver is not None:
        still = not rates.deliver and not rates.deliver_no_ack
        span = window.rates_span
    else:
        still = len(window.lengths) >= 3 and all(s.unacked == 0 for s in window.lengths)
        span = window.span
    return span if still and span >= SILENCE else 0.0


def _known(case: Case) -> bool:
    processing = case.estimates.processing
    return processing is not None and processing.usable


def _help(case: Case) -> str | None:
    """For the client of Celery (a hint, no more), a cause that no error path shows."""
    products = {c.connection.product for c in case.force.active if c.connection is not None}
    if "py-amqp" not in products:
        return None
    return (
        f"{rules.NO_ACKS.fix} With Celery: tasks with an ETA or countdown are held unacked until "
        "they are due; move them to a queue of their own."
    )


def _outcome(case: Case, reason: str, span: float, help_: str | None = None) -> Outcome:
    confidence: Confidence = case.confidence()
    if not _known(case):
        reason += f"; normal only if one task takes longer than {duration(span)}"
        confidence = "low"
    message = f"{case.unacked:,} unacked and no ack in {duration(span)}"
    finding = rules.NO_ACKS.finding(case.observation.key.name, message, help_ or _help(case))
    return Outcome(Verdict.STALLED, reason, confidence, findings=(finding,))
