import random

import numpy as np
import pytest
from test_replay import replay_of, run

from prefetch_advisor.bootstrap import fed_range
from prefetch_advisor.feeding import fed_prefetch
from prefetch_advisor.statistics import lognormal_sample

#: smallest prefetch for 98 % at CV 3 and a round trip of 20 times the work
TRUTH = 38


def draws(count: int, seed: int, cv: float = 3.0) -> np.ndarray:
    """Independent lognormal times of mean 1: as few samples of a real queue would be."""
    generator = random.Random(seed)
    variance = np.log1p(cv * cv)
    return np.array([generator.lognormvariate(-variance / 2, variance**0.5) for _ in range(count)])


def range_of(values: np.ndarray, rtt: float, **more: object) -> tuple[int, int]:
    feeding = replay_of(run(values), rtt=rtt, **more)
    return fed_range(feeding, 0.98, fed_prefetch(feeding, 0.98))


def test_thirty_samples_leave_a_wide_range_and_a_thousand_a_narrow_one() -> None:
    narrow = [range_of(draws(1000, seed), 20.0) for seed in range(4)]
    wide = [range_of(draws(30, seed), 20.0) for seed in range(4)]
    assert all(high - low <= 0.30 * TRUTH for low, high in narrow)
    assert all(high - low >= 0.38 * TRUTH for low, high in wide)
    assert all(low <= TRUTH <= high for low, high in narrow)
    # so few heavy-tailed samples miss the tail: their ranges may lie below the truth
    assert min(low for low, _ in wide) < 0.6 * TRUTH


def test_steady_samples_leave_no_range() -> None:
    assert range_of(np.full(30, 0.005), 0.001) == (2, 2)
    low, high = range_of(draws(200, 1, cv=0.05), 0.2)
    assert high - low <= 1


def test_the_range_holds_the_answer_for_workers_and_measured_round_trips() -> None:
    trips = 5 * lognormal_sample(1.0, 0.5, 200, 1)
    for more in ({"workers": 4}, {"rtt_samples": trips}, {"rtt_samples": trips[:30]}):
        feeding = replay_of(run(draws(200, 2, cv=1.0)), rtt=5.0, **more)
        fed = fed_prefetch(feeding, 0.98)
        low, high = fed_range(feeding, 0.98, fed)
        assert 1 <= low <= fed <= high < 3 * fed
        assert low < high


def test_consumers_are_drawn_apart() -> None:
    steady = [run([0.001 * n] * 40, f"pod-{n}") for n in (1, 2, 4)]
    feeding = replay_of(*steady, rtt=0.01)
    fed = fed_prefetch(feeding, 0.98)
    assert fed_range(feeding, 0.98, fed) == (fed, fed)


def test_of_many_tokens_only_the_mean_counts() -> None:
    values = draws(300, 3, cv=1.0)
    feeding = replay_of(run(values), rtt=1000.0)
    fed = fed_prefetch(feeding, 0.98)
    low, high = fed_range(feeding, 0.98, fed)
    spread = 1.645 * values.std() / values.mean() / 300**0.5
    assert low == pytest.approx(fed * (1 - spread), rel=0.03)
    assert high == pytest.approx(fed * (1 + spread), rel=0.03)


def test_the_range_is_the_same_every_time() -> None:
    assert range_of(draws(50, 4), 5.0) == range_of(draws(50, 4), 5.0)
