"""Moments, quantile sketch, reservoir of runs."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.sources.sampling import (
    ACCURACY,
    Moments,
    Reservoir,
    SampleBudget,
    Sketch,
    exact,
    sketched,
)

SHARES = (0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 1.0)


def parts(values: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    cuts = np.sort(rng.integers(0, len(values), 7))
    return np.split(values, cuts)


def shapes() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    return {
        "lognormal": rng.lognormal(-5, 1.5, 20_000),
        "bimodal": np.concatenate((rng.normal(0.1, 0.01, 9_800), rng.normal(60, 5, 200))),
        "constant": np.full(1_000, 0.005),
        "mostly zero": np.concatenate((np.zeros(900), rng.exponential(1, 100))),
        "tiny": rng.exponential(1e-9, 5_000),
        "huge": rng.exponential(1e8, 5_000),
        "wide": 10.0 ** rng.uniform(-12, 8, 5_000),
    }


@pytest.mark.parametrize(("name", "values"), shapes().items())
def test_sketch_and_moments_agree_with_numpy(name: str, values: np.ndarray):
    rng = np.random.default_rng(1)
    moments, sketch = Moments(), Sketch()
    for part in parts(rng.permutation(values), rng):
        moments.add(part)
        sketch.add(part)
    for share in SHARES:
        expected = np.quantile(values, share)
        assert sketch.quantile(share) == pytest.approx(expected, rel=ACCURACY * 1.0001)
    found = sketched(moments, sketch)
    assert found.count == len(values)
    assert found.mean == pytest.approx(values.mean(), rel=1e-12)
    assert found.cv == pytest.approx(values.std(ddof=1) / values.mean(), rel=1e-9, abs=1e-12)
    assert (found.minimum, found.maximum) == (values.min(), values.max())
    assert found.p99 == pytest.approx(np.quantile(values, 0.99), rel=ACCURACY * 1.0001)
    assert found.quantile_error == ACCURACY


@settings(deadline=None)
@given(
    st.lists(st.floats(1e-300, 1e300) | st.just(0.0), min_size=1, max_size=200),
    st.floats(0, 1),
    st.sampled_from([0.005, 0.02]),
)
def test_sketch_is_within_its_stated_error(values: list[float], share: float, accuracy: float):
    sketch = Sketch(accuracy)
    for at in range(0, len(values), 7):
        sketch.add(np.array(values[at : at + 7]))
    low, high = (np.quantile(values, share, method=method) for method in ("lower", "higher"))
    found = sketch.quantile(share)
    assert low * (1 - accuracy - 1e-9) <= found <= high * (1 + accuracy + 1e-9)


def test_exact_distribution_is_numpys():
    values = np.random.default_rng(2).lognormal(0, 1, 999)
    found = exact(values)
    assert (found.p50, found.p95) == (np.quantile(values, 0.5), np.quantile(values, 0.95))
    assert found.cv == pytest.approx(values.std(ddof=1) / values.mean())
    assert found.quantile_error == 0
    assert exact(np.array([3.0])).cv == 0
    assert exact(np.zeros(5)).cv == 0


def test_runs_are_contiguous_of_one_consumer_and_bounded():
    reservoir = Reservoir(20_000, Random(1))
    at = {1: 0, 2: 0}
    rng = np.random.default_rng(5)
    for _ in range(2_000):
        consumer = int(rng.integers(1, 3))
        rows = int(rng.integers(1, 200))
        processing = consumer * 1e9 + np.arange(at[consumer], at[consumer] + rows)
        reservoir.add(consumer, processing, -processing)
        at[consumer] += rows
    assert reservoir.rows <= 20_000
    assert len(reservoir.runs) == 20
    for run in reservoir.runs:
        processing = np.array(run.processing)
        assert (np.diff(processing) == 1).all()
        assert processing[0] // 1e9 == run.consumer
        assert (np.array(run.rtt) == -processing).all()
        assert (processing[0] - run.consumer * 1e9) % 1_000 == 0


def test_every_part_of_the_file_is_as_likely_to_be_kept():
    starts: list[float] = []
    for seed in range(300):
        reservoir = Reservoir(20_000, Random(seed))
        reservoir.add(0, np.arange(200_000.0), None)
        starts += [run.processing[0] for run in reservoir.runs]
    kept, _ = np.histogram(starts, bins=10, range=(0, 200_000))
    # 600 expected in each tenth, standard deviation 23
    assert (np.abs(kept - 600) < 5 * 23).all()


def test_shrinking_keeps_what_it_promises():
    reservoir = Reservoir(20_000, Random(1))
    reservoir.add(0, np.arange(50_500.0), None)
    for rows in (5_000, 1_000, 300, 7, 1):
        reservoir.shrink(rows)
        assert 0 < reservoir.rows <= rows
        reservoir.add(0, np.arange(3_000.0), None)
        assert reservoir.rows <= rows


def test_budget_is_shared_between_inputs():
    known = SampleBudget(total=900, inputs=3)
    assert known.share() == 300
    known.spend(100)
    assert known.share() == 400
    unknown = SampleBudget(total=900)
    for _ in range(20):
        unknown.spend(unknown.share())
    assert unknown.share() >= 0
    assert SampleBudget(total=900, inputs=1).share() == 900


def test_moments_of_nothing():
    moments = Moments()
    moments.add(np.zeros(0))
    assert (moments.count, moments.cv) == (0, 0.0)
    assert math.isinf(moments.minimum)
