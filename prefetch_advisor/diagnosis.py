"""The verdict of a queue: an ordered tuple of tests, the first that holds decides."""

import math
from collections.abc import Callable

from prefetch_advisor import hoarding, known_processing, saturation, silence, streams, unjudged
from prefetch_advisor.case import HELD_PER_WORKER, Case, Outcome
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.findings import inputs
from prefetch_advisor.model.advice import Finding, Severity, Verdict
from prefetch_advisor.units import duration, percent, rate
from prefetch_advisor.window import trend


def diagnose(case: Case) -> Outcome:
    """The first verdict whose test holds."""
    for test in TESTS:
        outcome = test(case)
        if outcome is not None:
            return outcome
    raise AssertionError("the last test always holds")


def _idle(case: Case) -> Outcome | None:
    depth = (case.ready or 0) + (case.unacked or 0)
    row = case.row
    if row is not None and case.consumer_count == 0 and _delays(row.settings):
        reason = "a delay queue: a time to live with a dead-letter exchange, and no consumers"
        return Outcome(Verdict.IDLE, reason, "high")
    if depth or any((s.ready or s.unacked) for s in case.window.lengths):
        return None
    rates = case.window.rates
    moved = (rates.publish, rates.deliver, rates.deliver_no_ack, rates.get, rates.get_no_ack)
    if any(moved) or rates.ack:
        return None
    if case.window.rates_span == 0:
        broker = case.observation.broker
        if row is None or not row.full or broker.statistics_off or broker.rates_mode == "none":
            return None
        # management leaves message_stats out until something happens
        reason = "no message is ready or unacked, and the broker shows no traffic for it"
        return Outcome(Verdict.IDLE, reason, "low")
    if rates.publish is None and rates.deliver is None:
        return None
    reason = (
        f"nothing published, delivered or acked in {duration(case.window.rates_span)}, "
        "no message ready or unacked"
    )
    return Outcome(Verdict.IDLE, reason, case.confidence())


def _delays(settings: object) -> bool:
    return isinstance(settings, dict) and (
        "message-ttl" in settings and "dead-letter-exchange" in settings
    )


def _no_consumers(case: Case) -> Outcome | None:
    if case.consumer_count != 0 or not case.ready or _polled(case):
        return None
    where = case.observation.dead_letter_target
    finding = rules.NO_CONSUMERS.finding(
        case.observation.key.name,
        f"{case.ready:,} messages ready, no consumers",
        "Expected for a parking place; watch its length." if where else None,
        Severity.INFO if where else None,
    )
    reason = f"{case.ready:,} messages are ready and nobody consumes"
    if where:
        reason += "; it is the dead-letter target of another queue"
    return Outcome(Verdict.NO_CONSUMERS, reason, "high", findings=(finding,))


def _polled(case: Case) -> bool:
    rates = case.window.rates
    return bool(case.unacked or rates.get or rates.get_no_ack)


def _polling(case: Case) -> Outcome | None:
    if case.consumer_count != 0 or not _polled(case):
        return None
    gets = (case.window.rates.get or 0.0) + (case.window.rates.get_no_ack or 0.0)
    words = []
    if case.unacked:
        words.append(f"{case.unacked:,} messages are unacked without a consumer")
    if gets:
        words.append(f"{rate(gets)} are fetched with basic.get")
    reason = " and ".join(words)
    finding = rules.POLLING.finding(case.observation.key.name, reason)
    return Outcome(Verdict.POLLING, reason, case.confidence(), findings=(finding,))


def _nothing_to_consume(case: Case) -> Outcome | None:
    """No consumers and nothing ready; but what moved before is not idle."""
    if case.consumer_count != 0:
        return None
    rates = case.window.rates
    done = (rates.deliver or 0.0) + (rates.deliver_no_ack or 0.0) + (rates.ack or 0.0)
    if not rates.publish and not done:
        reason = "no consumers, and no message waits now"
        return Outcome(Verdict.IDLE, reason, case.confidence())
    if done:
        reason = "its consumers have left within the window; no message waits now"
    else:
        reason = f"{rate(rates.publish or 0.0)} are published, nobody consumes and none stays"
    finding = rules.NO_CONSUMERS.finding(
        case.observation.key.name,
        reason,
        None,
        Severity.INFO if done or case.observation.dead_letter_target else None,
    )
    return Outcome(Verdict.NO_CONSUMERS, reason, case.confidence(), findings=(finding,))


def _limit_unknown(case: Case) -> Outcome | None:
    """Consumers are there, but not how much each may hold."""
    limit, name = case.force.limit, case.observation.key.name
    if limit.value is not None or limit.kind == "none" or limit.kind == "internal":
        return None
    if case.observation.consumers and not case.force.active:
        return _none_active(case)
    if case.window.rates.deliver_no_ack:
        reason = (
            f"{rate(case.window.rates.deliver_no_ack)} are delivered with automatic ack, where any "
            "prefetch is ignored"
        )
        finding = rules.AUTO_ACK.finding(name, reason)
        return Outcome(Verdict.UNBOUNDED, reason, case.confidence(), findings=(finding,))
    busy = _busy_at_any_credit(case)
    if busy is not None:
        return busy
    waiting = case.ready or (case.unacked and not case.window.rates_span)
    if not waiting and (limit.kind == "credit" or case.window.snapshot):
        reason = f"nothing waits now; {limit.origin}"
        missing = () if limit.kind == "credit" else (unjudged.CONSUMERS_MISSING,)
        return silence.judge(case) or Outcome(Verdict.KEEPING_UP, reason, "low", missing)
    missing = (case.force.unclear or unjudged.CONSUMERS_MISSING,)
    if limit.kind == "credit":
        missing = ("the credit of its links, which only its clients know, and --processing-time",)
    known = missing == (unjudged.CONSUMERS_MISSING,)
    help_ = None if known else f"What is missing: {missing[0]}."
    finding = inputs.NO_DATA.finding(name, limit.origin, help_)
    return Outcome(Verdict.UNKNOWN, limit.origin, "low", missing, findings=(finding,))


def _busy_at_any_credit(case: Case) -> Outcome | None:
    """Link credit does not show, but consumers that are busy by a known P need no more of it."""
    x, processing = case.server_rate, case.estimates.processing
    if case.force.limit.kind != "credit" or x is None or processing is None:
        return None
    if not all(s.ready for s in case.window.lengths) or not known_processing.busy(case, x):
        return None
    full = f"messages are ready in all of {len(case.window.lengths)} samples"
    return known_processing.judge(case, processing, x, math.inf, full)


def _none_active(case: Case) -> Outcome | None:
    if not case.ready:
        return None
    total = len(case.observation.consumers or ())
    states = sorted({c.row.status or "inactive" for c in case.observation.consumers or ()})
    reason = f"{case.ready:,} messages are ready and none of {total} consumers is active"
    reason += f" ({', '.join(states)})"
    findings = _undelivered(case, f"none of {total} consumers active")
    return Outcome(Verdict.DELIVERY_LIMITED, reason, case.confidence(), findings=findings)


def _undelivered(case: Case, although: str) -> tuple[Finding, ...]:
    span = silence.undelivered(case)
    if not span:
        return ()
    message = f"{case.ready:,} ready, {although}, and nothing delivered in {duration(span)}"
    return (rules.NOTHING_DELIVERED.finding(case.observation.key.name, message),)


def _unbounded(case: Case) -> Outcome | None:
    if not case.force.unlimited:
        return None
    held = case.unacked or 0
    reason = f"no limit is in force: {case.force.limit.origin}"
    if held:
        reason += f"; {held:,} messages sit in the clients"
        if case.ready_about_zero and held > HELD_PER_WORKER:
            reason += ', so "no message ready" does not mean no backlog'
    return Outcome(Verdict.UNBOUNDED, reason, "high", processing=hoarding.inferred_from_held(case))


def _saturated(case: Case) -> Outcome | None:
    return saturation.judge(case) if case.saturated else None


def _delivery_limited(case: Case) -> Outcome | None:
    fill = case.fill
    if fill is None or not fill.samples or fill.open_share < 0.5:
        return None
    room = (case.force.limit.value or 0) - (case.unacked or 0)
    return Outcome(
        Verdict.DELIVERY_LIMITED,
        f"messages are ready and unacked is below the limit in {fill.open} of {fill.samples} "
        f"samples: {_why_open(case)}",
        case.confidence(),
        findings=_undelivered(case, f"room for {room:,}"),
    )


def _why_open(case: Case) -> str:
    if case.force.single_active:
        return "the single active consumer is changing, or slow to be chosen"
    listed = case.observation.consumers or ()
    if len(case.force.active) < len(listed):
        return f"{len(listed) - len(case.force.active)} of {len(listed)} consumers are inactive"
    if len({c.row.priority for c in listed}) > 1:
        return "consumers of low priority wait for those of high priority"
    if any(c.channel and c.channel.row.state == "flow" for c in listed):
        return "a channel is in flow control"
    span = silence.undelivered(case)
    if span:
        return f"nothing is delivered in {duration(span)}, so a client does not read"
    if case.row is not None and case.row.settings.get("queue-mode") == "lazy":
        return "a lazy queue, which reads its messages from disk (or the broker's own core)"
    return "the broker does not deliver as fast as it may (its own core, a blocked connection)"


def _at_limit_lately(case: Case) -> Outcome | None:
    """The last sample is full, the others too seldom to judge by, and the backlog stays.

    It does not where it shrinks, nor, unless it grows, where one that lasted as long was worked
    off before.
    """
    fill, window = case.fill, case.window
    if fill is None or not fill.standing:
        return None
    change = trend(window)
    comes_and_goes = change == 0 and window.departures and fill.standing <= fill.worked_off
    if change < 0 or (comes_and_goes and not case.loops):
        return None
    missing = ["a look in a minute, or --window 60s: whether the backlog stays"]
    if window.departures is None:
        missing.append(saturation.RATES_MISSING)
    lately = "the last sample" if fill.standing == 1 else f"the last {fill.standing}"
    return Outcome(
        Verdict.AT_LIMIT,
        f"unacked stands at {case.force.limit.origin} with {case.ready:,} messages ready, but only "
        f"since {lately} of {fill.samples} samples: too short to tell what is short",
        "low",
        missing=tuple(missing),
    )


def _keeping_up(case: Case) -> Outcome:
    fill = case.fill
    if case.window.rates_span == 0 and case.held_by_clients:
        return hoarding.perhaps(case)
    if case.force.limit.kind == "internal":
        reason = f"read by {case.force.limit.origin}"
    elif fill is None or not fill.samples:
        reason = "nothing waits that its consumers could take"
    elif fill.samples == 1:
        most = case.force.limit.value
        reason = f"{case.ready:,} ready, {case.unacked:,} unacked of at most {most:,}"
    else:
        reason = f"full in {fill.full} of {fill.samples} samples"
        if fill.full:
            reason += f" ({percent(fill.full_share)})"
    if fill is not None and fill.standing:
        reason += ", and in the last one, but the backlog is worked off"
    if case.window.ready_growth and case.window.ready_growth > 0 and not case.ready_about_zero:
        reason += f"; ready grows by {rate(case.window.ready_growth)}"
    return Outcome(Verdict.KEEPING_UP, reason, case.confidence())


TESTS: tuple[Callable[[Case], Outcome | None], ...] = (
    unjudged.timings_only,
    unjudged.unknown,
    _idle,
    streams.judge,
    _no_consumers,
    _polling,
    _nothing_to_consume,
    _limit_unknown,
    _unbounded,
    silence.stalled,
    _saturated,
    hoarding.judge,  # a few messages that are just ready do not make a hoard delivery-limited
    _delivery_limited,
    _at_limit_lately,
    silence.judge,
    _keeping_up,
)
