import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_engine import exponential_sample, measured_curves

from prefetch_advisor.feeding import fed_prefetch
from prefetch_advisor.model.timing import Run
from prefetch_advisor.replay import ReplayFeeding, drawn_runs, replay_feeding
from prefetch_advisor.statistics import lognormal_sample


def replay_of(*runs: Run, rtt: float = 1.0, **more: object) -> ReplayFeeding:
    feeding = replay_feeding(runs, rtt, **more)  # type: ignore[arg-type]
    assert feeding is not None
    return feeding


def run(values: object, consumer: str | None = None, rtt: object = None) -> Run:
    trips = None if rtt is None else np.asarray(rtt, dtype=float)
    return Run(consumer, np.asarray(values, dtype=float), trips)


@pytest.mark.parametrize(
    ("ratio", "rule", "busy", "at_95", "at_99"),
    [(0.2, 2, 0.984, 2, 3), (1, 2, 0.8, 4, 5), (5, 6, 0.808, 9, 11), (20, 21, 0.869, 26, 30)],
)
def test_exponential_samples(ratio: float, rule: int, busy: float, at_95: int, at_99: int) -> None:
    feeding = replay_of(run(0.0002 * exponential_sample(20_000, 3)), rtt=0.0002 * ratio)
    assert feeding.busy_share(rule) == pytest.approx(busy, abs=0.02)
    assert abs(fed_prefetch(feeding, 0.95) - at_95) <= 1
    assert abs(fed_prefetch(feeding, 0.99) - at_99) <= 1


@pytest.mark.parametrize(
    ("ratio", "rule", "busy", "at_95", "at_99"),
    [(0.2, 2, 0.968, 2, 3), (1, 2, 0.75, 5, 6), (5, 6, 0.72, 12, 16), (20, 21, 0.77, 33, 41)],
)
def test_lognormal_samples_of_cv_3(
    ratio: float, rule: int, busy: float, at_95: int, at_99: int
) -> None:
    feeding = replay_of(run(lognormal_sample(1.0, 3.0, 20_000, 5)), rtt=ratio)
    assert feeding.busy_share(rule) == pytest.approx(busy, abs=0.02)
    assert abs(fed_prefetch(feeding, 0.95) - at_95) <= 1
    assert abs(fed_prefetch(feeding, 0.99) - at_99) <= 1


def test_a_real_consumer_with_times_of_cv_3_needed_what_replay_says() -> None:
    """5 ms of work, round trip 21 ms: the grid of prefetch values went 8, 10, 16, 32."""
    for broker, needed_95 in (("3.10", 10), ("4.3", 16)):
        curve = measured_curves()[broker, "classic", "lognormal_cv3", "5", "10.0"]
        assert curve.least(0.95) == needed_95
        assert curve.least(0.99) == 16
        feeding = replay_of(run([t + curve.cost for t in curve.times]), rtt=curve.rtt)
        rule = 6
        assert feeding.busy_share(rule) == pytest.approx(
            curve.rates[rule] * (curve.work + curve.cost), abs=0.02
        )
        assert 10 <= fed_prefetch(feeding, 0.95) <= 12
        assert 12 <= fed_prefetch(feeding, 0.99) <= 16


@given(
    st.integers(0, 1000),
    st.floats(0.3, 2.5),
    st.floats(0.05, 8),
    st.floats(0.01, 4),
    st.integers(1, 3),
)
@settings(deadline=None, max_examples=25)
def test_a_longer_round_trip_never_needs_less(
    seed: int, cv: float, rtt: float, more: float, workers: int
) -> None:
    times = run(lognormal_sample(1.0, cv, 400, seed))
    near, far = (
        fed_prefetch(replay_of(times, rtt=r, workers=workers), 0.98) for r in (rtt, rtt + more)
    )
    assert near <= far


def test_each_consumer_is_replayed_apart_and_weighs_what_it_works() -> None:
    fast, slow = run([0.001] * 300, "a"), run([0.020] * 100, "b")
    feeding = replay_of(fast, slow, rtt=0.010)
    # prefetch 1: 1 of 11 ms busy with 0.3 s of work, 20 of 30 ms with 2 s of work
    expected = (0.3 / 11 + 2.0 * 20 / 30) / 2.3
    assert feeding.busy_share(1) == pytest.approx(expected, abs=1e-9)
    together = replay_of(run([0.001] * 300 + [0.020] * 100), rtt=0.010)
    assert together.busy_share(1) == pytest.approx(2.3 / (2.3 + 400 * 0.010), abs=1e-3)


def test_runs_of_a_consumer_belong_together_whatever_lies_between() -> None:
    one, two = np.full(50, 0.001), np.full(50, 0.005)
    feeding = replay_of(run(one, "a"), run(two, "b"), run(two, "a"), run(one, "b"))
    assert [len(lane.processing) for lane in feeding.lanes] == [100, 100]
    assert feeding.lanes[0].processing.tolist() == [*one, *two]


def test_consumers_with_hardly_a_sample_are_replayed_as_one() -> None:
    runs = [run([0.001 * (i + 1)] * 3, f"pod-{i}") for i in range(50)]
    feeding = replay_of(*runs, run([0.01] * 40, "big"))
    assert sorted(len(lane.processing) for lane in feeding.lanes) == [40, 150]


def test_round_trips_stay_with_the_messages_they_were_measured_with() -> None:
    times, trips = [0.01] * 40, [0.02, 0.04] * 20
    feeding = replay_of(run(times, "a", trips), rtt_samples=np.array([9.0]), rtt=9.0)
    assert feeding.busy_share(1) == pytest.approx(0.01 / 0.04, abs=1e-9)
    apart = replay_of(run(times), rtt_samples=np.array([0.02, 0.04]), rtt=9.0)
    assert apart.busy_share(1) == pytest.approx(0.01 / 0.04, abs=1e-9)
    assert apart.steady.rtt == pytest.approx(0.03)


def test_samples_sorted_by_duration_are_shuffled_when_said_so() -> None:
    values = np.sort(lognormal_sample(1.0, 3.0, 5000, 1))
    expected = replay_of(run(lognormal_sample(1.0, 3.0, 5000, 1)), rtt=5.0)
    shuffled = replay_of(run(values), rtt=5.0, shuffle=True)
    assert shuffled.busy_share(6) == pytest.approx(expected.busy_share(6), abs=0.02)
    order = shuffled.lanes[0].processing
    assert (np.sort(order) == values).all()
    assert abs(np.corrcoef(order[1:], order[:-1])[0, 1]) < 0.05
    assert (replay_of(run(values), rtt=5.0).lanes[0].processing == values).all()


def test_runs_without_any_work_cannot_be_replayed() -> None:
    assert replay_feeding([run([0.0] * 30)], 1.0) is None
    some = replay_of(run([0.0] * 30, "idle"), run([0.01] * 30, "busy"))
    assert len(some.lanes) == 1


def test_a_bare_mean_is_one_constant_time() -> None:
    assert replay_of(*drawn_runs(0.02, None), rtt=0.02).busy_share(1) == pytest.approx(0.5)
    assert replay_of(*drawn_runs(0.02, 1.0), rtt=0.0).busy_share(1) == 1.0
