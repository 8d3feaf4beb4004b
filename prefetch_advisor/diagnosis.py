"""The verdict of a queue: an ordered tuple of tests, the first that holds decides."""

from collections.abc import Callable

from prefetch_advisor import hoarding, saturation, silence, streams
from prefetch_advisor.case import HELD_PER_WORKER, Case, Outcome
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.findings import inputs
from prefetch_advisor.model.advice import Severity, Verdict
from prefetch_advisor.units import duration, percent, rate
from prefetch_advisor.window import trend

#: states in which a queue's figures mean nothing
DOWN = frozenset({"down", "crashed", "stopped", "minority", "terminated", "nodedown"})
_DEPTH_MISSING = "messages_ready and messages_unacknowledged of the queue"
_CONSUMERS_MISSING = "the queue's consumers: rabbitmqctl list_consumers or /api/consumers"


def diagnose(case: Case) -> Outcome:
    """The first verdict whose test holds."""
    for test in TESTS:
        outcome = test(case)
        if outcome is not None:
            return outcome
    raise AssertionError("the last test always holds")


def _timings_only(case: Case) -> Outcome | None:
    if case.row is not None or case.observation.consumers is not None:
        return None
    return Outcome(
        Verdict.UNKNOWN,
        "no broker figures were read for it, so only the sizing is judged",
        "low",
        missing=("the queue's depth, consumers and rates, for a verdict",),
        findings=(
            inputs.NOT_JUDGED.finding(
                case.observation.key.name,
                "sized from its processing time alone; whether it is limited today is not known",
                "Read /api/queues and /api/consumers (or rabbitmqctl list_queues and "
                "list_consumers) beside it.",
                Severity.INFO,
            ),
        ),
    )


def _unknown(case: Case) -> Outcome | None:
    row, name = case.row, case.observation.key.name
    if row is not None and row.state is not None and row.state.lower() in DOWN:
        finding = inputs.NOT_JUDGED.finding(name, f"the queue is {row.state}")
        reason = f"the queue is {row.state}: its figures mean nothing until it runs"
        return Outcome(Verdict.UNKNOWN, reason, "high", findings=(finding,))
    if case.ready is None or case.unacked is None:
        finding = inputs.NO_DATA.finding(name, "its depth (ready and unacked) is not in the input")
        reason = "how many messages are ready and unacked is not in the input"
        return Outcome(Verdict.UNKNOWN, reason, "low", (_DEPTH_MISSING,), findings=(finding,))
    if case.consumer_count is None:
        finding = inputs.NO_DATA.finding(name, "its consumers are not in the input")
        reason = "how many consumers it has is not in the input"
        return Outcome(Verdict.UNKNOWN, reason, "low", (_CONSUMERS_MISSING,), findings=(finding,))
    return None


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
    waiting = case.ready or (case.unacked and not case.window.rates_span)
    if not waiting and (limit.kind == "credit" or case.window.snapshot):
        reason = f"nothing waits now; {limit.origin}"
        missing = () if limit.kind == "credit" else (_CONSUMERS_MISSING,)
        return silence.judge(case) or Outcome(Verdict.KEEPING_UP, reason, "low", missing)
    missing = (case.force.unclear or _CONSUMERS_MISSING,)
    finding = inputs.NO_DATA.finding(name, limit.origin)
    return Outcome(Verdict.UNKNOWN, limit.origin, "low", missing, findings=(finding,))


def _none_active(case: Case) -> Outcome | None:
    if not case.ready:
        return None
    total = len(case.observation.consumers or ())
    states = sorted({c.row.status or "inactive" for c in case.observation.consumers or ()})
    reason = f"{case.ready:,} messages are ready and none of {total} consumers is active"
    reason += f" ({', '.join(states)})"
    return Outcome(Verdict.DELIVERY_LIMITED, reason, case.confidence())


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
    return Outcome(
        Verdict.DELIVERY_LIMITED,
        f"messages are ready and unacked is below the limit in {fill.open} of {fill.samples} "
        f"samples: {_why_open(case)}",
        case.confidence(),
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
    _timings_only,
    _unknown,
    _idle,
    streams.judge,
    _no_consumers,
    _polling,
    _nothing_to_consume,
    _limit_unknown,
    _unbounded,
    silence.stalled,
    _saturated,
    _delivery_limited,
    hoarding.judge,
    _at_limit_lately,
    silence.judge,
    _keeping_up,
)
