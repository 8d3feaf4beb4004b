import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.config import MAX_PREFETCH
from prefetch_advisor.feeding import (
    ConstantFeeding,
    ExponentialFeeding,
    fed_prefetch,
    smallest,
)


@given(
    st.integers(1, 300),
    st.integers(-20, 330),
    st.integers(1, 40),
    st.integers(1, 300),
)
@settings(deadline=None, max_examples=200)
def test_the_smallest_is_found_from_anywhere(
    threshold: int, start: int, lower: int, upper: int
) -> None:
    asked = []

    def reached(n: int) -> bool:
        asked.append(n)
        return n >= threshold

    lower = min(lower, upper)
    found = smallest(reached, start, lower, upper)
    expected = max(threshold, lower)
    assert found == (expected if expected <= upper else None)
    assert all(lower <= n <= upper for n in asked)
    assert len(asked) < 22


@pytest.mark.parametrize(
    ("processing", "rtt", "workers", "target", "prefetch"),
    [
        (0.005, 0.001, 1, 0.98, 2),
        (0.0002, 0.001, 1, 0.98, 6),
        (0.004, 0.1, 1, 0.98, 26),
        (0.005, 0.12, 1, 0.98, 25),
        (10.0, 0.001, 1, 0.98, 1),
        (0.00005, 0.04, 1, 0.98, 785),
        (0.02, 0.02, 8, 0.98, 16),
        (0.01, 0.49, 1, 0.98, 49),  # 49 of 50 is the target itself
        (0.01, 0.0, 4, 0.98, 4),
        (0.01, 0.0, 100, 0.98, 98),
    ],
)
def test_constant_times_need_their_share_of_the_rule(
    processing: float, rtt: float, workers: int, target: float, prefetch: int
) -> None:
    assert fed_prefetch(ConstantFeeding(processing, rtt, workers), target) == prefetch


@pytest.mark.parametrize(
    ("ratio", "at_95", "at_99"), [(0.2, 2, 3), (1, 4, 5), (5, 9, 11), (20, 26, 30)]
)
def test_exponential_times_need_more(ratio: float, at_95: int, at_99: int) -> None:
    feeding = ExponentialFeeding(ConstantFeeding(0.002, 0.002 * ratio, 1))
    assert fed_prefetch(feeding, 0.95) == at_95
    assert fed_prefetch(feeding, 0.99) == at_99


@given(
    st.floats(1e-4, 10),
    st.floats(0, 1),
    st.floats(0, 0.5),
    st.integers(1, 16),
    st.sampled_from([0.9, 0.98, 0.999]),
)
@settings(deadline=None, max_examples=100)
def test_a_longer_round_trip_never_needs_less_nor_variation(
    processing: float, rtt: float, more: float, workers: int, target: float
) -> None:
    near, far = (ConstantFeeding(processing, r, workers) for r in (rtt, rtt + more))
    fed_near, fed_far = fed_prefetch(near, target), fed_prefetch(far, target)
    assert fed_near <= fed_far
    varied = fed_prefetch(ExponentialFeeding(near), target)
    assert fed_near <= varied <= fed_prefetch(ExponentialFeeding(far), target)


@given(st.floats(1e-4, 10), st.floats(0, 1), st.integers(1, 16), st.integers(1, 200))
@settings(deadline=None, max_examples=100)
def test_a_larger_prefetch_never_starves(
    processing: float, rtt: float, workers: int, prefetch: int
) -> None:
    steady = ConstantFeeding(processing, rtt, workers)
    for feeding in (steady, ExponentialFeeding(steady)):
        share = feeding.busy_share(prefetch)
        assert share <= feeding.busy_share(prefetch + 1) + 1e-12
        assert share <= steady.busy_share(prefetch) + 1e-9


def test_the_answer_may_exceed_what_the_protocol_carries() -> None:
    huge = ConstantFeeding(1e-6, 1.0, 1)
    assert fed_prefetch(huge, 0.98) == 980_001
    assert fed_prefetch(ExponentialFeeding(huge), 0.98) >= 980_001
    edge = ExponentialFeeding(ConstantFeeding(1.0, MAX_PREFETCH / 0.98 - 1.5, 1))
    assert fed_prefetch(edge, 0.98) == MAX_PREFETCH + 1


def test_no_time_for_the_work_is_refused_where_it_is_said() -> None:
    with pytest.raises(ValueError, match="processing=0"):
        ConstantFeeding(0.0, 1.0, 1)
    with pytest.raises(ValueError, match="rtt=nan"):
        ConstantFeeding(1.0, float("nan"), 1)
