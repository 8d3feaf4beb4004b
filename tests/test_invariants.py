"""What must never be said together, whatever a queue, its consumers and the options look like."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from invented import channel, consumer, queue

from prefetch_advisor.advise import advise
from prefetch_advisor.config import MAX_PREFETCH, Given, Policy
from prefetch_advisor.model.advice import Finding, QueueAdvice, Severity, Verdict
from prefetch_advisor.model.figures import FigureSource
from prefetch_advisor.sources.combine import combine
from prefetch_advisor.sources.json_documents import read_json

COUNTERS = ("publish", "deliver", "deliver_no_ack", "get", "get_no_ack", "ack", "redeliver")
#: at the limit, each window full
SATURATED = {
    Verdict.PROCESSING_BOUND,
    Verdict.ROUND_TRIP_BOUND,
    Verdict.AT_LIMIT,
    Verdict.STALLED,
}
#: nothing is said of what its consumers could do
LIMIT_ASIDE = {Verdict.UNBOUNDED, Verdict.UNKNOWN, Verdict.IDLE}


def course(values: list[int]) -> Callable[[int], float]:
    return lambda i: values[i]


def running(steps: list[int]) -> list[int]:
    """The sums of the first 1, 2 ... steps."""
    return [sum(steps[: i + 1]) for i in range(len(steps))]


@st.composite
def lived(draw: st.DrawFn) -> dict[str, Any]:
    """A queue that keeps its books: arrivals, deliveries within the limit, acks, a life's turns."""
    samples = draw(st.sampled_from([1, 2, 3, 7, 13, 25]))
    count, each = draw(st.integers(0, 4)), draw(st.sampled_from([1, 2, 10, 100, 2000]))
    arrivals, turn = draw(_arrivals()), draw(st.integers(0, 2 * samples))
    capacity = draw(st.sampled_from([0, 1, 20, 300, 3000]))
    after = draw(st.sampled_from([capacity, 0, 2 * capacity + 1]))
    ready, unacked = draw(st.integers(0, 5000)), draw(st.integers(0, count * each))
    rows: dict[str, list[int]] = {name: [] for name in ("ready", "unacked", *COUNTERS)}
    for i in range(samples):
        published = arrivals[i % len(arrivals)]
        acked = min(unacked, capacity if i < turn else after)
        unacked -= acked
        ready += published
        delivered = min(ready, count * each - unacked)
        ready, unacked = ready - delivered, unacked + delivered
        for name, value in (
            ("ready", ready),
            ("unacked", unacked),
            ("publish", published),
            ("deliver", delivered),
            ("ack", acked),
        ):
            rows[name].append(value)
    counters = {name: running(rows[name]) for name in ("publish", "deliver", "ack")}
    return _lists(draw, rows["ready"], rows["unacked"], counters, count, each)


@st.composite
def strange(draw: st.DrawFn) -> dict[str, Any]:
    """A queue whose figures need not agree: read at different moments, half missing, gone back."""
    samples = draw(st.sampled_from([1, 2, 3, 7, 13]))
    count, each = draw(st.integers(0, 4)), draw(st.sampled_from([0, 1, 2, 10, 100, 2000]))
    near = st.sampled_from([0, 0, 1, count * each, max(0, count * each - 1), 40, 1000])
    depths = st.lists(near, min_size=samples, max_size=samples)
    still = near.map(lambda value: [value] * samples)
    ready, unacked = draw(still | depths), draw(still | depths)
    steps = st.lists(st.sampled_from([0, 1, 30, 700]), min_size=samples, max_size=samples)
    even = st.sampled_from([0, 1, 30, 700]).map(lambda value: [value] * samples)
    chosen = draw(st.sets(st.sampled_from(COUNTERS)))
    counters = {name: running(draw(even | steps)) for name in COUNTERS if name in chosen}
    return _lists(draw, ready, unacked, counters, count, each)


def _arrivals() -> st.SearchStrategy[list[int]]:
    one = st.sampled_from([0, 1, 20, 290, 310, 5000])
    return st.lists(one, min_size=1, max_size=4)


def _lists(
    draw: st.DrawFn,
    ready: list[int],
    unacked: list[int],
    counters: dict[str, list[int]],
    count: int,
    each: int,
) -> dict[str, Any]:
    """The lists of the management API for one queue; those of consumers and channels may lack."""
    more: dict[str, Any] = {}
    settings_ = draw(
        st.sampled_from(
            [
                {},
                {},
                {"x-max-length": 1000},
                {"x-max-priority": 5},
                {"x-single-active-consumer": True},
                {"x-message-ttl": 1000, "x-dead-letter-exchange": "d"},
            ]
        )
    )
    more["type"] = draw(st.sampled_from(["classic", "classic", "quorum", "stream"]))
    one = queue(
        course(ready),
        course(unacked),
        consumers=count,
        samples=len(ready),
        arguments=settings_,
        **{name: course(values) for name, values in counters.items()},
        **more,
    )
    if draw(st.booleans()) and len(ready) > 1:
        for key in [key for key in one if key.endswith("_details")]:
            del one[key]
        one["message_stats"] = {
            key: value if not isinstance(value, dict) else {"rate": value["rate"]}
            for key, value in one["message_stats"].items()
        }
    auto = draw(st.sampled_from([False, False, False, True]))
    consumers = [consumer(each, i, ack_required=not auto) for i in range(count)]
    if count > 1 and draw(st.booleans()):
        consumers[0]["prefetch_count"] = draw(st.sampled_from([0, 1, 50]))
    if count and draw(st.booleans()):
        consumers[-1].update(active=False, activity_status="suspected_down")
    rows: dict[str, Any] = {"queues": [one]}
    if count:
        rows["consumers"] = consumers
    if count and draw(st.booleans()):
        held = [unacked[-1] // count] * count
        acked = counters.get("ack", [0])[-1] // count
        rows["channels"] = [channel(i, held[i], acked=acked) for i in range(count)]
    return rows


some_time = st.sampled_from([None, None, 1e-5, 6e-4, 0.02, 0.5, 30.0])
givens = st.builds(
    Given,
    processing_time=some_time,
    rtt=st.sampled_from([None, None, 0.0, 0.0003, 0.011, 0.3]),
    concurrency=st.sampled_from([None, None, 1, 4]),
    arrival_rate=st.sampled_from([None, None, None, 0.0, 5.0, 600.0]),
)
policies = st.builds(
    Policy,
    drain_within=st.sampled_from([None, None, 60.0]),
    max_wait=st.sampled_from([None, None, None, 0.5]),
    max_buffered_time=st.sampled_from([None, None, None, 0.1]),
    ordered=st.sampled_from([False, False, False, True]),
)


class Said(NamedTuple):
    """The advice for one queue, and the queue that it is for."""

    advice: QueueAdvice
    queue: dict[str, Any]
    policy: Policy

    @property
    def verdict(self) -> Verdict:
        return self.advice.verdict

    @property
    def streams(self) -> bool:
        """A stream keeps its messages: what is ready waits for nobody."""
        return self.advice.type == "stream"

    def found(self, name: str) -> list[Finding]:
        return [finding for finding in self.advice.findings if finding.name == name]

    def depths(self, name: str) -> list[int]:
        """The samples of the depth called ``name``, oldest first; without history, the one."""
        history = self.queue.get(f"{name}_details", {}).get("samples", [])
        return [one["sample"] for one in reversed(history)] or [self.queue[name]]

    def full(self) -> list[bool]:
        """Which samples have messages ready and unacked at the limit that is known."""
        limit = self.advice.limit
        least = limit.value - int(0.02 * limit.value) if limit and limit.value else None
        ready = self.depths("messages_ready")
        pairs = zip(ready, self.depths("messages_unacknowledged"), strict=True)
        return [least is not None and r > 0 and u >= least for r, u in pairs]


def judge(rows: dict[str, Any], options: Given, policy: Policy) -> Said:
    intakes = [
        one
        for name, items in rows.items()
        for one in read_json(json.dumps(items), name, "management")
    ]
    fleet = combine(intakes)
    (advice,) = advise(fleet.queues, fleet.broker, options, policy).queues
    return Said(advice, rows["queues"][0], policy)


def at_the_limit_is_not_keeping_up(said: Said) -> bool:
    """Unless the backlog shrinks, or one as lasting was worked off before."""
    full = said.full()
    if said.verdict is not Verdict.KEEPING_UP or said.streams or not full[-1]:
        return True
    if (said.advice.observed.growth or 0) < 0:
        return True
    last_other = len(full) - 1 - full[::-1].index(False)
    return any(full[:last_other]) and 0 in said.depths("messages_ready")


def silence_is_no_work(said: Said) -> bool:
    """No ack of any consumer; that one among others acks none is another matter."""
    silent = any("no ack in" in finding.message for finding in said.found("no-acks"))
    working = {Verdict.KEEPING_UP, Verdict.PROCESSING_BOUND, Verdict.ROUND_TRIP_BOUND, Verdict.IDLE}
    return not silent or said.verdict not in working


def a_hoard_leaves_nothing_ready(said: Said) -> bool:
    return said.verdict is not Verdict.HOARDING or not said.full()[-1]


def idle_moves_nothing(said: Said) -> bool:
    seen = said.advice.observed
    if said.verdict is not Verdict.IDLE or said.streams:
        return True
    if "delay queue" in said.advice.verdict_reason:
        return seen.consumers == 0
    flows = (seen.publish_rate, seen.deliver_rate, seen.deliver_no_ack_rate, seen.get_rate)
    return not any((*flows, seen.ack_rate, seen.ready, seen.unacked))


def nobody_consumes_where_it_is_said(said: Said) -> bool:
    none = said.advice.observed.consumers == 0
    if said.verdict in (Verdict.NO_CONSUMERS, Verdict.POLLING):
        return none
    if said.found("no-consumers") or said.found("polling-consumer"):
        return False
    return not none or said.verdict in (Verdict.IDLE, Verdict.UNKNOWN)


def busy_consumers_are_not_too_many(said: Said) -> bool:
    wanted = said.advice.recommended.consumers
    active = [one for one in said.advice.consumers if one.active]
    if said.verdict in SATURATED and said.found("more-consumers-than-needed"):
        return False
    return said.verdict is not Verdict.PROCESSING_BOUND or wanted is None or wanted >= len(active)


def more_are_called_for_only_where_they_are_short(said: Said) -> bool:
    if not said.found("add-consumers"):
        return True
    if said.found("more-consumers-than-needed") or said.advice.recommended.keep_consumers:
        return False
    return said.verdict is Verdict.PROCESSING_BOUND


def a_backlog_that_drains_is_no_warning(said: Said) -> bool:
    seen, used = said.advice.observed, said.advice.current.utilisation
    arrivals = said.advice.arrival_rate
    if said.policy.drain_within or not seen.growth or not seen.ack_rate or not usable(arrivals):
        return True
    moved = (seen.ack_rate + (seen.deliver_rate or 0)) * (seen.window or 0)
    drains = -seen.growth * (seen.window or 0) > max(0.2 * moved, 6 * moved**0.5)
    calls = any(one.severity > Severity.INFO for one in said.found("add-consumers"))
    return not (drains and calls) or used is None or used >= 1


def the_count_does_not_fall_behind(said: Said) -> bool:
    wanted = said.advice.recommended
    if wanted.consumers is None or wanted.least_consumers is None:
        return True
    return wanted.consumers >= wanted.least_consumers


def the_prefetch_is_within_its_bounds(said: Said) -> bool:
    wanted = said.advice.recommended
    if wanted.prefetch is None:
        return wanted.limited_by is None and not wanted.keep
    if wanted.limited_by == "protocol" and wanted.prefetch != MAX_PREFETCH:
        return False
    return said.advice.concurrency.value <= wanted.prefetch <= MAX_PREFETCH


def the_buffer_is_within_what_it_may_wait(said: Said) -> bool:
    wanted, most = said.advice.recommended, said.policy.max_buffered_time
    if most is None or wanted.prefetch is None or wanted.buffered_time is None:
        return True
    # a measured time is kept on average, and what is kept already is left
    return wanted.buffered_time <= most * 1.001 or wanted.keep


def what_is_in_order_is_done_by_one(said: Said) -> bool:
    return not said.policy.ordered or said.advice.recommended.consumers in (None, 1)


def a_prefetch_is_not_both_too_small_and_too_large(said: Said) -> bool:
    small, large = said.found("prefetch-below-round-trip"), said.found("prefetch-too-large")
    now, wanted = said.advice.current.prefetch, said.advice.recommended.prefetch
    if small and large:
        return False
    if not now or wanted is None:
        return True
    short = small or said.verdict is Verdict.ROUND_TRIP_BOUND
    if short and wanted <= now and said.advice.recommended.limited_by is None:
        return False
    return not ((large or said.verdict is Verdict.HOARDING) and wanted >= now)


def what_is_short_is_not_kept(said: Said) -> bool:
    wanted = said.advice.recommended
    short = said.verdict is Verdict.ROUND_TRIP_BOUND and wanted.limited_by is None
    return not (short and wanted.keep)


def the_busy_share_agrees(said: Said) -> bool:
    busy = said.advice.current.busy_share
    if busy is None:
        return True
    if said.verdict is Verdict.ROUND_TRIP_BOUND:
        return 0 <= busy < 0.96
    return (0.85 if said.verdict is Verdict.PROCESSING_BOUND else 0) <= busy <= 1


def a_stall_gets_no_number(said: Said) -> bool:
    wanted = said.advice.recommended
    if said.verdict is not Verdict.STALLED:
        return True
    return wanted.prefetch is wanted.consumers is None and bool(said.found("no-acks"))


def what_is_not_judged_is_said_so(said: Said) -> bool:
    told = [one for one in said.advice.findings if one.code.startswith("PA0")]
    if said.verdict is not Verdict.UNKNOWN:
        return True
    return bool(said.advice.missing) and any(one.severity >= Severity.WARNING for one in told)


def at_the_limit_asks_for_what_tells(said: Said) -> bool:
    return said.verdict is not Verdict.AT_LIMIT or bool(said.advice.missing)


def no_limit_is_unbounded(said: Said) -> bool:
    none = said.found("unbounded-prefetch") + said.found("auto-ack-ignores-prefetch")
    if said.verdict is Verdict.UNBOUNDED:
        return bool(none)
    return not none or said.streams or said.verdict in LIMIT_ASIDE


def a_bound_feeds_nothing(said: Said) -> bool:
    wanted, processing = said.advice.recommended, said.advice.processing_time
    if not usable(processing):
        tries = "measure again" in wanted.reason
        return wanted.consumers is None and (wanted.prefetch is None or tries)
    return wanted.consumers is None or usable(said.advice.arrival_rate)


def every_word_has_its_number(said: Said) -> bool:
    wanted = said.advice.recommended
    words = [said.advice.verdict_reason, wanted.reason, wanted.consumers_reason]
    words += [one.message for one in said.advice.findings]
    return all(text and not {"nan", "inf", "None"} & set(text.split()) for text in words)


def a_snapshot_is_not_certain(said: Said) -> bool:
    certain = said.advice.snapshot and said.advice.confidence == "high"
    return not certain or said.verdict not in SATURATED | {Verdict.KEEPING_UP, Verdict.HOARDING}


def usable(figure: Any) -> bool:
    return figure is not None and figure.source is not FigureSource.BOUND


RULES = (
    at_the_limit_is_not_keeping_up,
    silence_is_no_work,
    a_hoard_leaves_nothing_ready,
    idle_moves_nothing,
    nobody_consumes_where_it_is_said,
    busy_consumers_are_not_too_many,
    more_are_called_for_only_where_they_are_short,
    a_backlog_that_drains_is_no_warning,
    the_count_does_not_fall_behind,
    the_prefetch_is_within_its_bounds,
    the_buffer_is_within_what_it_may_wait,
    what_is_in_order_is_done_by_one,
    a_prefetch_is_not_both_too_small_and_too_large,
    what_is_short_is_not_kept,
    the_busy_share_agrees,
    a_stall_gets_no_number,
    what_is_not_judged_is_said_so,
    at_the_limit_asks_for_what_tells,
    no_limit_is_unbounded,
    a_bound_feeds_nothing,
    every_word_has_its_number,
    a_snapshot_is_not_certain,
)


@given(rows=lived() | strange(), options=givens, policy=policies)
@settings(deadline=None, max_examples=600)
def test_nothing_is_said_that_contradicts_another_thing_said(
    rows: dict[str, Any], options: Given, policy: Policy
) -> None:
    said = judge(rows, options, policy)
    broken = [rule.__name__ for rule in RULES if not rule(said)]
    assert not broken, f"{said.verdict}: {said.advice.verdict_reason}"
