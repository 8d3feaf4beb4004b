"""Percentiles of any number of values: exact while they are few, within half a per cent above."""

from __future__ import annotations

import math
import random
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor import spread
from prefetch_advisor.spread import Spread, Summary


def of(values: list[float], block: int = 97) -> Summary:
    found = Spread()
    for first in range(0, len(values), block):
        found.extend(array("d", values[first : first + block]))
    return found.summary()


def rank(values: list[float], share: float) -> float:
    return sorted(values)[max(1, math.ceil(share * len(values))) - 1]


@given(st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=300))
@settings(deadline=None, max_examples=60)
def test_few_values_are_exact_and_many_near(values):
    exact = of(values)
    assert exact.mean == pytest.approx(math.fsum(values) / len(values))
    assert [exact.p50, exact.p95, exact.max] == [rank(values, 0.5), rank(values, 0.95), max(values)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spread, "EXACT", 10)
        near = of(values, 7)
    for share, found in ((0.5, near.p50), (0.95, near.p95), (0.99, near.p99)):
        assert found == pytest.approx(rank(values, share), rel=0.006)


def test_a_million_values_are_kept_in_some_thousand_buckets():
    draw = random.Random(1)
    found = Spread()
    for _ in range(100):
        found.extend(array("d", [draw.expovariate(1.0) for _ in range(10_000)]))
    assert found.summary().p99 == pytest.approx(-math.log(0.01), rel=0.02)
    assert len(found._buckets) < 3_000
    assert not found._values


def test_nothing_is_nothing():
    assert of([]) == Summary()
