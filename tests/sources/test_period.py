"""First and last times."""

import numpy as np

from prefetch_advisor.sources.period import Periods


def test_first_and_last_of_each_queue_in_any_order():
    periods = Periods()
    periods.add(np.array([0, 40, 0]), np.array([5, 7, 3]) * 10**9)
    periods.add(np.array([0, 2]), np.array([4, -1]) * 10**9)
    assert periods.of(0) == (3, 5)
    assert periods.of(40) == (7, 7)
    assert periods.of(2) == (-1, -1)
    assert periods.of(1) == periods.of(1_000) == (None, None)
