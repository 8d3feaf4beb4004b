"""Observed concurrency."""

import numpy as np
import pytest

from prefetch_advisor.sources.overlap import Levels


def intervals(*pairs: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    both = (np.array(pairs) * 1e9).astype(np.int64)
    return both[:, 0], both[:, 1]


def test_back_to_back_is_one_at_once():
    levels = Levels()
    levels.add(*intervals(*((i, i + 1) for i in range(100))))
    assert levels.concurrency == 1


def test_pool_of_four_in_any_order_and_in_parts():
    rng = np.random.default_rng(3)
    levels = Levels()
    for part in range(3):
        pairs = []
        for _ in range(4):
            ends = np.cumsum(rng.exponential(1, 50)) + part * 200
            pairs += list(zip(np.concatenate(([part * 200], ends[:-1])), ends, strict=True))
        rng.shuffle(pairs)
        levels.add(*intervals(*pairs))
    assert levels.concurrency == 4


def test_short_overlap_of_clocks_does_not_count():
    levels = Levels()
    levels.add(*intervals(*((i, i + 1.02) for i in range(100))))
    assert levels.concurrency == 1


def test_nothing_ever_busy_is_unknown():
    levels = Levels()
    assert levels.concurrency is None
    levels.add(*intervals((5, 5), (0, 0)))
    assert levels.concurrency is None


@pytest.mark.parametrize("extra", [0, 3])
def test_unknown_intervals_change_nothing(extra: int):
    levels = Levels()
    levels.add(*intervals((10, 12), (11, 13), *[(0, 0)] * extra))
    assert levels.concurrency == 2
