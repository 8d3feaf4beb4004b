"""A backlog that sits in the clients: nothing is ready, because they hold it all."""

from prefetch_advisor.case import HELD_PER_WORKER, Case, Outcome, inferred_processing
from prefetch_advisor.findings import inputs
from prefetch_advisor.model.advice import Verdict
from prefetch_advisor.model.figures import ProcessingTime
from prefetch_advisor.saturation import RATES_MISSING
from prefetch_advisor.units import duration, rate


def judge(case: Case) -> Outcome | None:
    """Nothing is ready while what the clients hold grows, or waits in them for long."""
    if not case.unacked or not case.servers or not case.ready_about_zero:
        return None
    if case.unacked <= case.concurrency * case.servers:
        return None  # no more than may be in work
    if case.fill is not None and case.fill.standing:
        return None  # what is ready now waits for room in the clients
    grows, waits = _unacked_grows(case), _waits(case)
    if not grows and waits is None:
        return None
    reason = f"nothing is ready because the clients hold {case.unacked:,} messages"
    if waits is not None:
        reason += f": each waits about {duration(waits)} in a client"
    if grows:
        reason += ", and what they hold grows"
    return Outcome(
        Verdict.HOARDING,
        reason + '; "no backlog" is not true',
        case.confidence(),
        processing=inferred_from_held(case),
    )


def _unacked_grows(case: Case) -> bool:
    """Unacked rises over the window by more than 10 k a server and a fifth of what it was."""
    lengths = case.window.lengths
    first, last = lengths[0].unacked, lengths[-1].unacked
    if case.window.span <= 0 or first is None or last is None:
        return False
    return last - first > max(HELD_PER_WORKER * case.concurrency * case.servers, 0.2 * first)


def _waits(case: Case) -> float | None:
    """How long a message waits in a client, where that is the sign of a hoard; else ``None``.

    Little's law gives the time in the client; P of it is work. Waiting counts as hoarding above
    1 s and 10 times P; with P unknown, above 10 s with more than 10 k unacked per server.
    """
    gone, held = case.window.departures, case.window.mean_unacked
    if not gone or not held:
        return None
    in_client = held / gone
    processing = case.estimates.processing
    if processing is not None and processing.usable:
        waiting = in_client - processing.mean
        return waiting if waiting > max(1.0, 10 * processing.mean) else None
    many = held > HELD_PER_WORKER * case.concurrency * case.servers
    return in_client if many and in_client > 10 else None


def inferred_from_held(case: Case) -> ProcessingTime | None:
    """P = k / x while the backlog sits in the clients: they are busy all the time."""
    x = case.server_rate
    known = case.estimates.processing
    if (known is not None and known.usable) or not x or not case.held_by_clients:
        return None
    if any(c.row.ack == "auto" for c in case.force.active):
        return None
    acks = case.window.finished / max(1, case.servers)
    origin = f"concurrency / {rate(x)} a consumer, busy all the time with what it holds"
    return inferred_processing(case.concurrency / x, acks, case.servers, origin)


def perhaps(case: Case) -> Outcome:
    """Nothing ready and many unacked, without rates: how long they wait cannot be told."""
    reason = (
        f"nothing is ready, but {case.unacked:,} messages are unacked; how long they wait in the "
        "clients cannot be told without an ack rate"
    )
    finding = inputs.NO_RATES.finding(
        case.observation.key.name, f"{case.unacked:,} unacked, and no ack rate is known"
    )
    missing = (RATES_MISSING,)
    return Outcome(Verdict.UNKNOWN, reason, "low", missing, findings=(finding,))
