"""Dealing out: the queueing formula, the saturated simulator, and what a prefetch adds to waits."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sizing import given_time

from prefetch_advisor import engine
from prefetch_advisor.dispatch import Server, deal, poisson
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


def test_nothing_is_dealt_to_consumers_that_take_nothing():
    for servers in ([], [Server(0)], [Server(1, 0)]):
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
