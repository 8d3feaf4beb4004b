import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.config import Policy
from prefetch_advisor.consumer_count import ConsumerCount, count_consumers
from prefetch_advisor.model.figures import Figure, FigureSource

POLICY = Policy()


def arrivals(rate: float) -> Figure:
    return Figure(rate, FigureSource.GIVEN, "--arrival-rate")


def count(rate: float, mean: float = 0.02, concurrency: int = 1, **more: object) -> ConsumerCount:
    policy = more.pop("policy", POLICY)
    return count_consumers(arrivals(rate), mean, concurrency, policy, **more)  # type: ignore[arg-type]


def test_the_offered_load_decides() -> None:
    answer = count(190.0, 0.0201, present=3)
    assert answer.offered_load == pytest.approx(3.819)
    assert (answer.least, answer.recommended, answer.keep) == (4, 5, False)
    assert answer.utilisation_present == pytest.approx(1.273)
    assert answer.utilisation_recommended == pytest.approx(0.7638)
    assert "190/s x 20.1 ms is 3.82 busy workers" in answer.reason
    assert "5 consumers are loaded 76 %" in answer.reason


@given(st.integers(0, 5000), st.integers(1, 500), st.integers(1, 16), st.integers(50, 100))
@settings(deadline=None, max_examples=300)
def test_rounding_never_adds_a_consumer(
    rate: int, milliseconds: int, concurrency: int, target: int
) -> None:
    load = Fraction(rate) * milliseconds / 1000
    answer = count(
        float(rate),
        milliseconds * 1e-3,
        concurrency,
        policy=Policy(max_utilisation=target / 100),
    )
    least = math.floor(load / concurrency) + 1
    assert answer.least == least
    fewest = math.ceil(load / concurrency / Fraction(target, 100))
    assert answer.recommended == max(least, fewest)


def test_redeliveries_are_work_too() -> None:
    answer = count(100.0, redelivered_share=0.5)
    assert answer.offered_load == pytest.approx(3.0)
    assert answer.recommended == 4


def test_workers_of_a_consumer_share_the_load() -> None:
    answer = count(400.0, 0.02, 8, present=1)
    assert (answer.least, answer.recommended) == (2, 2)
    assert "of 8 workers" in answer.reason


def test_the_backlog_is_drained_in_time() -> None:
    policy = Policy(drain_within=60.0)
    answer = count(100.0, present=3, backlog=6000, policy=policy)
    # (100 + 6000 / 60) x 20 ms = 4 busy workers
    assert (answer.recommended, answer.least, answer.keep) == (5, 3, False)
    assert answer.drain_time == pytest.approx(6000 / (3 / 0.02 - 100))
    assert "(100/s + 6,000 in 60 s) x 20 ms" in answer.reason
    assert "backlog not known" in count(100.0, policy=policy).reason


def test_drain_time_needs_spare_capacity() -> None:
    assert count(100.0, present=2, backlog=500).drain_time is None
    assert count(100.0, present=2, backlog=0).drain_time == 0.0
    assert count(100.0, present=None, backlog=500).drain_time is None
    assert count(0.0, present=1, backlog=500).drain_time == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("present", "target", "recommended", "keep"),
    [
        (5, 0.8, 5, True),  # loaded 80 %, the very answer
        (6, 0.8, 6, True),  # 67 %
        (7, 0.8, 5, False),  # 57 %
        (4, 0.8, 5, False),  # 100 %
        (0, 0.8, 5, False),
        (6, 0.5, 8, False),  # the target was lowered, and the range with it
        (9, 0.5, 9, True),
    ],
)
def test_a_present_count_near_the_target_is_kept(
    present: int, target: float, recommended: int, keep: bool
) -> None:
    answer = count(200.0, present=present, policy=Policy(max_utilisation=target))
    assert (answer.recommended, answer.keep) == (recommended, keep)
    # a count kept although fewer would do says so
    assert ("to stay" in answer.reason) is (keep and present > 5 * 0.8 / target)


def test_a_bound_advises_nothing() -> None:
    bound = Figure(120.0, FigureSource.BOUND, "timestamps of 4,000 rows", "at least")
    answer = count_consumers(bound, 0.02, 1, POLICY, 2, 100)
    assert (answer.recommended, answer.least) == (None, 3)
    assert answer.offered_load is answer.drain_time is answer.utilisation_present is None
    assert "at least 3: arrivals are at least 120/s (timestamps of 4,000 rows)" in answer.reason
    above = Figure(120.0, FigureSource.BOUND, "publish rate", "at most")
    answer = count_consumers(above, 0.02, 1, POLICY)
    assert (answer.recommended, answer.least) == (None, None)
    assert "3 consumers would keep up" in answer.reason


def test_what_is_unknown_is_said() -> None:
    answer = count_consumers(None, 0.02, 1, POLICY, 3)
    assert answer.recommended is None
    assert "capacity, not demand" in answer.reason
    for mean in (None, 0.0, math.nan):
        answer = count_consumers(arrivals(10.0), mean, 1, POLICY, 3)
        assert answer.recommended is None
        assert "--processing-time" in answer.reason


def test_more_consumers_do_not_help_where_one_is_active() -> None:
    answer = count(190.0, present=3, barred="single active consumer: the others only wait")
    assert answer.recommended is answer.least is None
    assert answer.reason.startswith("single active consumer")
    assert answer.offered_load == pytest.approx(3.8)
