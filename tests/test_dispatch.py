"""Dealing out: the queueing formula, the saturated simulator, and what a prefetch adds to waits."""

from __future__ import annotations

import random
from itertools import cycle, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sizing import given_time

from prefetch_advisor import engine
from prefetch_advisor.dispatch import Server, Step, deal, poisson
from prefetch_advisor.feeding import Handling
from prefetch_advisor.waiting import Waiting, formula_wait

WORK = 0.02
MANY = 200_000


def exponential(count: int = MANY, mean: float = WORK) -> list[float]:
    draw = random.Random(3)
    return [draw.expovariate(1 / mean) for _ in range(count)]


@pytest.mark.parametrize(("consumers", "workers"), [(1, 1), (8, 1), (2, 4)])
def test_one_line_waits_as_erlang_c_says(consumers, workers):
    servers = consumers * workers
    rate = 0.7 * servers / WORK
    dealt = deal(poisson(rate, MANY, 5), exponential(), [Server(workers, workers)] * consumers)
    assert dealt.wait == pytest.approx(formula_wait(rate, WORK, servers), rel=0.06)
    assert dealt.queued == dealt.wait
    assert dealt.busy == pytest.approx(0.7, abs=0.01)


def test_a_large_prefetch_lengthens_the_wait_beyond_one_shared_line():
    """Load 0.8, 8 consumers: 5.7 ms by the formula and at prefetch 1, some 37 at prefetch 10."""
    rate = 0.8 * 8 / WORK
    assert formula_wait(rate, WORK, 8) == pytest.approx(0.0057, abs=0.0001)
    waits = {n: deal(poisson(rate, MANY, 5), exponential(), [Server(n)] * 8).wait for n in (1, 10)}
    assert waits[1] == pytest.approx(0.0057, rel=0.08)
    assert waits[10] == pytest.approx(0.037, rel=0.1)


@given(
    st.lists(st.floats(0.001, 0.1), min_size=1, max_size=50),
    st.floats(0, 0.2),
    st.integers(1, 12),
    st.integers(1, 4),
)
@settings(deadline=None, max_examples=40)
def test_an_endless_backlog_is_the_saturated_simulator(times, rtt, prefetch, workers):
    count = 4_000
    dealt = deal([0.0] * count, times, [Server(prefetch, workers, rtt)])
    share = engine.busy_share(times, rtt, prefetch, workers, engine.span(prefetch, count, 10))
    # from the very beginning, where no ack is on its way yet
    assert dealt.busy == pytest.approx(share, abs=0.03)


def test_messages_dealt_out_in_advance_take_longer_than_one_at_a_time():
    """Long and short tasks in turn: 44 s of work for two, done after 40 s or after 22."""
    tasks = [10.0, 1.0] * 4
    at_once, one_by_one = (deal(None, tasks, [Server(n)] * 2) for n in (0, 1))
    assert (at_once.makespan, one_by_one.makespan) == (40, 22)
    assert [share.work for share in at_once.consumers] == [40, 4]
    assert [share.work for share in one_by_one.consumers] == [22, 22]


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("kind", ["workers", "async", "loop"])
def test_a_consumer_that_dies_gives_back_exactly_what_it_had_not_acked(kind, batch):
    steps: list[Step] = []
    dying = Server(12, 2, 0.01, kind=kind, batch=batch, dies=3.0)
    servers = [dying, Server(12, 2, 0.01, kind=kind, batch=batch)]
    times = poisson(60.0, 2_000, 1)
    dealt = deal(times, exponential(2_000), servers, steps=steps.append)
    last = [
        s for s in steps if s.consumer == 0 and s.message in {x.message for x in steps if x.lost}
    ]
    assert dealt.redelivered == dealt.consumers[0].lost
    assert dealt.done >= 2_000
    assert all(step.done <= 3.0 for step in steps if step.consumer == 0)
    again = {s.message for s in steps if s.consumer == 1} & {
        s.message for s in steps if not s.consumer
    }
    assert len(again) == dealt.redelivered
    if batch == 1:
        assert again == {step.message for step in last if step.lost}
        assert dealt.done == 2_000


def test_one_active_consumer_gets_all_until_it_dies_and_the_next_one_takes_over():
    dealt = deal(
        poisson(20.0, 400, 1),
        [WORK],
        [Server(5, dies=10.0), Server(5), Server(5)],
        single_active=True,
    )
    first, second, third = dealt.consumers
    assert (first.messages, first.lost) == (pytest.approx(200, abs=40), dealt.redelivered)
    assert second.messages == 400 - first.messages
    assert third.messages == 0


def test_the_one_with_the_higher_priority_gets_all_that_it_has_room_for():
    high, low = deal(poisson(20.0, 400, 1), [WORK], [Server(5), Server(5, priority=9)]).consumers[
        ::-1
    ]
    assert high.messages > 390 > 10 > low.messages


def test_who_comes_late_gets_nothing_of_what_was_dealt_without_a_limit():
    early, late = deal(None, [WORK] * 500, [Server(0), Server(0, joins=1.0)]).consumers
    assert (early.messages, late.messages) == (500, 0)
    early, late = deal(None, [WORK] * 500, [Server(2), Server(2, joins=1.0)]).consumers
    assert early.messages - late.messages == pytest.approx(50, abs=2)


def test_deliveries_that_fail_come_back_and_all_is_done_in_the_end():
    dealt = deal(poisson(30.0, 20_000, 1), [WORK], [Server(3)] * 2, failure_rate=0.1)
    assert dealt.done == 20_000
    assert dealt.redelivered == pytest.approx(20_000 * 0.1 / 0.9, rel=0.1)


@given(
    st.lists(st.floats(0.001, 0.1), min_size=1, max_size=50),
    st.floats(0.001, 0.2),
    st.integers(1, 30),
    st.sampled_from(["loop", "batch", "async"]),
)
@settings(deadline=None, max_examples=40)
def test_loops_groups_and_all_at_once_are_those_of_the_sizing(times, rtt, prefetch, kind):
    count = 3_000
    batch = min(4, prefetch) if kind == "batch" else 1
    of = "workers" if kind == "batch" else kind
    server = Server(prefetch, 1, rtt, kind=of, batch=batch)
    dealt = deal(None, islice(cycle(times), count), [server], warm=count // 5)
    mean = sum(times) / len(times)
    if kind == "batch":
        length = engine.span(prefetch, count, 10)
        share = engine.busy_share(times, rtt, prefetch, 1, length, batch)
        assert dealt.steady == pytest.approx(share, abs=0.05)
    elif kind == "loop":
        steady = prefetch * mean / (prefetch * mean + rtt)
        assert dealt.throughput == pytest.approx(steady / mean, rel=0.05)
    else:
        assert dealt.throughput == pytest.approx(prefetch / (mean + rtt), rel=0.05)


def test_nothing_is_dealt_to_consumers_that_take_nothing():
    for servers in ([], [Server(3, batch=4)], [Server(1, 0)]):
        with pytest.raises(ValueError, match="dealt out"):
            deal([0.0], [1.0], servers)


def test_the_fewest_consumers_for_a_wait_are_found_by_simulation():
    waiting = Waiting(320.0, given_time(WORK, cv=1.0), 0.0, Handling())
    assert not waiting.keeps_up(6)
    assert waiting.keeps_up(7)
    by_formula = next(c for c in range(7, 99) if formula_wait(320.0, WORK, c) <= 0.002)
    single, deep = waiting.fewest(0.002, 1, 7), waiting.fewest(0.002, 10, 7)
    assert single is not None
    assert abs(single - by_formula) <= 1
    assert deep is not None
    assert deep > single
    assert waiting.dealt(deep, 10).wait <= 0.002 < waiting.dealt(deep - 1, 10).wait
    # half of the round trip is on the way, whatever the count
    far = Waiting(320.0, given_time(WORK, cv=1.0), 0.02, Handling())
    assert far.fewest(0.009, 4, 7) is None
