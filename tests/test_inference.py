import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.feeding import ConstantFeeding, ExponentialFeeding
from prefetch_advisor.inference import processing_range, solve_processing


@given(
    st.floats(1e-4, 10),
    st.floats(0, 3.9),
    st.integers(1, 200),
    st.integers(1, 16),
    st.booleans(),
)
@settings(deadline=None, max_examples=300)
def test_the_departures_of_a_known_consumer_give_its_processing_time_back(
    processing: float, ratio: float, prefetch: int, workers: int, exponential: bool
) -> None:
    steady = ConstantFeeding(processing, ratio * processing, workers)
    feeding = ExponentialFeeding(steady) if exponential else steady
    rate = feeding.busy_share(prefetch) * workers / processing
    solved = solve_processing(rate, prefetch, steady.rtt, workers, exponential=exponential)
    assert solved == pytest.approx(processing, rel=1e-6)


def test_a_prefetch_that_covers_the_round_trip_shows_the_work_alone() -> None:
    # 50/s at prefetch 10: covers 180 ms
    assert solve_processing(50.0, 10, 0.001, 1, exponential=False) == pytest.approx(0.02)
    assert solve_processing(50.0, 10, 0.001, 1, exponential=True) == pytest.approx(0.02, rel=1e-6)
    assert solve_processing(400.0, 80, 0.001, 8, exponential=False) == pytest.approx(0.02)
    assert solve_processing(50.0, 0, 9.0, 1, exponential=True) == pytest.approx(0.02)


def test_a_prefetch_of_one_shows_the_whole_cycle() -> None:
    assert solve_processing(25.0, 1, 0.03, 1, exponential=False) == pytest.approx(0.01)


def test_variation_explains_part_of_a_low_rate() -> None:
    constant = solve_processing(100.0, 3, 0.015, 1, exponential=False)
    varied = solve_processing(100.0, 3, 0.015, 1, exponential=True)
    assert constant == pytest.approx(0.01)
    assert varied is not None
    assert varied < 0.01


def test_what_is_lost_in_the_round_trip_is_not_known() -> None:
    # 1 / x - R is 0.6 ms beside 11 ms, or negative
    assert solve_processing(1 / 0.0116, 1, 0.011, 1, exponential=False) is None
    assert solve_processing(1 / 0.0116, 1, 0.020, 1, exponential=True) is None
    assert solve_processing(0.0, 10, 0.001, 1, exponential=False) is None
    assert solve_processing(float("nan"), 10, 0.001, 1, exponential=False) is None


@given(
    st.floats(1e-4, 10),
    st.floats(0, 3.9),
    st.integers(1, 200),
    st.integers(1, 16),
    st.floats(-0.1, 0.1),
)
@settings(deadline=None, max_examples=200)
def test_the_range_holds_the_truth_when_the_round_trip_given_is_off(
    processing: float, ratio: float, prefetch: int, workers: int, error: float
) -> None:
    steady = ConstantFeeding(processing, ratio * processing, workers)
    rate = steady.busy_share(prefetch) * workers / processing
    least, most = processing_range(rate, prefetch, steady.rtt / (1 + error), workers, 0.1)
    assert least <= processing * (1 + 1e-6)
    if prefetch >= workers:
        assert processing <= most * (1 + 1e-6)


def test_a_covered_round_trip_may_be_off_without_harm() -> None:
    assert processing_range(50.0, 10, 0.1, 1, 0.1) == (pytest.approx(0.02), pytest.approx(0.02))
    assert processing_range(50.0, 1, 0.015, 1, 0.1) == (
        pytest.approx(0.0035),
        pytest.approx(0.0065),
    )
    assert processing_range(50.0, 100, 1.9, 1, 0.1)[0] == 0
