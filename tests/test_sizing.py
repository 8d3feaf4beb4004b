import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_bootstrap import draws
from test_engine import exponential_sample

from prefetch_advisor.config import Policy
from prefetch_advisor.errors import UsageError
from prefetch_advisor.feeding import Handling
from prefetch_advisor.model.figures import FigureSource, ProcessingTime, RoundTrip
from prefetch_advisor.model.timing import Run
from prefetch_advisor.sizing import NotSized, Sizing, buffered_time, rule_prefetch, size
from prefetch_advisor.statistics import lognormal_sample
from prefetch_advisor.units import parse_duration

POLICY = Policy()


def given_time(mean: float, **more: object) -> ProcessingTime:
    return ProcessingTime(mean, FigureSource.GIVEN, "--processing-time", **more)  # type: ignore[arg-type]


def given_trip(mean: float, samples: np.ndarray | None = None) -> RoundTrip:
    return RoundTrip(mean, FigureSource.GIVEN, "--rtt", samples=samples)


def sized(
    processing: float,
    rtt: float,
    concurrency: int = 1,
    present: int | None = None,
    cv: float | None = None,
    policy: Policy = POLICY,
    samples: np.ndarray | None = None,
) -> Sizing:
    runs = () if samples is None else (Run(None, np.asarray(samples, dtype=float)),)
    time = given_time(processing, runs=runs, cv=cv)
    found = size(time, given_trip(rtt), Handling(concurrency), policy, present)
    assert isinstance(found, Sizing), found
    return found


@pytest.mark.parametrize(
    ("processing", "rtt", "concurrency", "rule", "advised"),
    [
        ("5ms", "1ms", 1, 2, 2),
        ("0.2ms", "1ms", 1, 6, 6),
        ("4ms", "100ms", 1, 26, 26),
        ("5ms", "120ms", 1, 25, 25),
        ("10s", "1ms", 1, 2, 1),
        ("20ms", "20ms", 8, 16, 16),
        ("0.05ms", "40ms", 1, 801, 785),
        ("10ms", "1000ms", 10, 1010, 990),
        ("3s", "0ms", 4, 4, 4),
    ],
)
def test_the_known_answers(
    processing: str, rtt: str, concurrency: int, rule: int, advised: int
) -> None:
    answer = sized(parse_duration(processing), parse_duration(rtt), concurrency)
    assert (answer.rule.prefetch, answer.prefetch) == (rule, advised)
    assert answer.rule.busy_share == 1.0
    assert answer.fed.range == (answer.fed.prefetch, answer.fed.prefetch)


@given(
    st.integers(1, 9999),
    st.integers(0, 9999),
    st.sampled_from(["us", "ms", "s"]),
    st.integers(0, 3),
    st.integers(1, 64),
)
@settings(deadline=None, max_examples=300)
def test_the_rule_is_exact_for_decimal_figures(
    processing: int, rtt: int, unit: str, decimals: int, concurrency: int
) -> None:
    def literal(digits: int) -> str:
        return f"{digits / 10**decimals:.{decimals}f}"

    p, r = Fraction(literal(processing)), Fraction(literal(rtt))
    expected = math.ceil(concurrency * (p + r) / p)
    seconds = [parse_duration(literal(digits) + unit) for digits in (processing, rtt)]
    assert rule_prefetch(*seconds, concurrency) == expected
    # R as the cycle less P has the rounding of a difference
    difference = seconds[0] + seconds[1] - seconds[0]
    assert rule_prefetch(seconds[0], difference, concurrency) == expected


@given(st.floats(1e-6, 100), st.floats(0, 10), st.floats(0, 1), st.integers(1, 32))
@settings(deadline=None, max_examples=100)
def test_a_longer_round_trip_never_advises_less(
    processing: float, rtt: float, more: float, concurrency: int
) -> None:
    near, far = (sized(processing, r, concurrency) for r in (rtt, rtt + more))
    assert near.prefetch <= far.prefetch
    assert near.rule.prefetch <= far.rule.prefetch
    assert concurrency <= near.prefetch <= 65_535
    assert near.prefetch <= max(near.rule.prefetch, concurrency)


def test_a_second_long_task_would_only_wait() -> None:
    answer = sized(10.0, 0.001)
    assert answer.busy_share == pytest.approx(0.9999, abs=1e-6)
    assert answer.buffered_time == 0.0
    assert "a second would wait 10 s behind a busy consumer" in answer.reason


def test_a_task_of_wild_length_needs_no_buffer_either() -> None:
    answer = sized(14.8, 0.002, present=32, cv=49 / 14.8)
    assert (answer.prefetch, answer.keep) == (1, False)


def test_a_bare_mean_also_says_what_an_exponential_would_need() -> None:
    answer = sized(0.0002, 0.001)
    assert answer.fed.if_exponential == 10
    assert sized(0.0002, 0.001, cv=1.0).fed.if_exponential is None
    told = sized(0.0002, 0.001, cv=0.0)  # that they do not vary is knowledge too
    assert (told.prefetch, told.fed.if_exponential) == (6, None)


def test_a_known_variation_is_replayed() -> None:
    answer = sized(0.02, 0.4, cv=3.0)
    assert answer.rule.prefetch == 21
    assert answer.rule.busy_share == pytest.approx(0.77, abs=0.02)
    assert answer.prefetch == pytest.approx(38, abs=1)
    assert answer.busy_share >= 0.98
    assert "the times vary: the rule's 21" in answer.reason


def test_an_inferred_time_is_sized_as_if_it_varied_like_an_exponential() -> None:
    answer = size(given_time(0.0002), given_trip(0.001), Handling(), POLICY, exponential=True)
    assert isinstance(answer, Sizing)
    assert (answer.rule.prefetch, answer.prefetch) == (6, 10)
    assert answer.rule.busy_share == pytest.approx(0.808, abs=0.001)
    assert answer.fed.if_exponential is None


def test_samples_outweigh_a_given_variation() -> None:
    samples = 0.0002 * exponential_sample(20_000, 1)
    answer = sized(0.0002, 0.001, samples=samples, cv=0.0)
    assert answer.rule.busy_share == pytest.approx(0.808, abs=0.02)
    assert answer.prefetch in {10, 11}
    assert answer.fed.if_exponential is None
    assert answer.fed.range == (answer.fed.prefetch, answer.fed.prefetch)


def test_few_samples_advise_the_upper_end_and_show_the_range() -> None:
    answer = sized(1.0, 20.0, samples=draws(30, 3))
    low, high = answer.fed.range
    assert low < answer.fed.prefetch < high
    assert answer.prefetch == high
    assert f"30 samples cannot tell {low} from {high}" in answer.reason
    steady = sized(0.005, 0.001, samples=np.full(30, 0.005))
    assert (steady.prefetch, steady.fed.range) == (2, (2, 2))


def test_measured_round_trips_are_drawn_from() -> None:
    trips = 0.01 * lognormal_sample(1.0, 1.0, 2000, 1)
    answer = size(given_time(0.002), given_trip(0.01, trips), Handling(), POLICY)
    assert isinstance(answer, Sizing)
    # even times meet uneven round trips: more than the 6 that constant ones need
    assert answer.rule.busy_share < 0.97
    assert 6 < answer.prefetch < 13
    assert answer.fed.if_exponential == sized(0.002, float(trips.mean())).fed.if_exponential


def test_a_prefetch_below_the_workers_leaves_some_idle() -> None:
    answer = sized(0.02, 0.0, 100)
    assert (answer.fed.prefetch, answer.prefetch) == (98, 100)
    assert answer.lower_bound_by == "concurrency"
    assert sized(0.02, 0.02, 8).lower_bound_by is None


def test_the_protocol_bounds_the_prefetch() -> None:
    answer = sized(1e-6, 1.0)
    assert (answer.prefetch, answer.limited_by) == (65_535, "protocol")
    assert answer.busy_share == pytest.approx(0.0655, abs=1e-4)
    assert "980,001 would be needed" in answer.reason
    with pytest.raises(UsageError, match="70,000"):
        sized(0.02, 0.001, 70_000)


@pytest.mark.parametrize(
    ("processing", "rtt", "concurrency", "present", "keep"),
    [
        (0.005, 0.001, 1, 2, True),
        (0.005, 0.001, 1, 3, True),
        (0.005, 0.001, 1, 10, False),  # 45 ms wait for nothing
        (0.005, 0.001, 1, 1, False),  # within 1, and busy 83 %
        (0.004, 0.100, 1, 24, False),  # within 10 %, and busy 92 %
        (0.004, 0.100, 1, 25, True),
        (0.004, 0.100, 1, 28, True),
        (0.004, 0.100, 1, 29, False),
        (0.0001, 0.0005, 1, 40, True),  # 3.9 ms wait
        (0.0001, 0.0005, 1, 60, False),
        (0.020, 0.001, 1, 1, True),  # busy 95 %, nothing waits
        (0.0001, 0.0021, 1, 21, True),  # busy 95 %, within 10 %
        (0.020, 0.020, 8, 15, False),  # busy 94 %
        (0.020, 0.000, 8, 7, False),  # one worker never works
        (10.0, 0.001, 1, 1, True),
        (10.0, 0.001, 1, 2, False),  # ten seconds behind a busy consumer
        (0.005, 0.001, 1, 0, False),
        (0.005, 0.001, 1, None, False),
    ],
)
def test_what_is_good_enough_is_kept(
    processing: float, rtt: float, concurrency: int, present: int | None, keep: bool
) -> None:
    assert sized(processing, rtt, concurrency, present).keep is keep


def test_a_stricter_target_is_not_answered_with_keep() -> None:
    strict = Policy(target_busy_share=0.999)
    assert sized(0.020, 0.001, present=1).keep
    assert not sized(0.020, 0.001, present=1, policy=strict).keep


def test_other_values_can_be_asked() -> None:
    answer = sized(0.0002, 0.001)
    assert answer.busy_share_at(3) == pytest.approx(0.5)
    assert answer.busy_share_at(0) == 1.0
    assert answer.busy_share_at(70_000) == 1.0
    assert buffered_time(24, 0.02, 8) == pytest.approx(0.04)
    assert buffered_time(4, 0.02, 8) == 0.0


def test_a_bound_sizes_nothing() -> None:
    bound = RoundTrip(0.0004, FigureSource.BOUND, "TCP connect", "at least")
    answer = size(given_time(0.02), bound, Handling(), POLICY)
    assert isinstance(answer, NotSized)
    assert "the round trip is only known to be at least 0.4 ms (TCP connect)" in answer.reason
    assert [text.split(":")[0] for text in answer.missing] == ["round trip"]
    assert "--rtt" in answer.missing[0]


def test_what_is_missing_is_named() -> None:
    answer = size(None, None, Handling(), POLICY)
    assert isinstance(answer, NotSized)
    assert len(answer.missing) == 2
    assert "--processing-time" in answer.missing[0]
    for broken in (0.0, math.nan, math.inf, -1.0):
        answer = size(given_time(broken), given_trip(0.001), Handling(), POLICY)
        assert isinstance(answer, NotSized), broken
    answer = size(given_time(0.001), given_trip(math.nan), Handling(), POLICY)
    assert isinstance(answer, NotSized)


def test_a_lognormal_replay_is_shared_by_queues_with_the_same_figures() -> None:
    one = sized(0.02, 0.04, cv=1.5)
    other = sized(0.02, 0.04, cv=1.5)
    assert one.feeding is other.feeding
    assert one.busy_share_at(5) == sized(0.002, 0.004, cv=1.5).busy_share_at(5)


def test_one_sample_tells_nothing_of_the_range() -> None:
    assert sized(0.005, 0.02, samples=[0.005]).fed.range is None
    assert sized(0.005, 0.02, samples=[0.005, 0.006]).fed.range is not None
