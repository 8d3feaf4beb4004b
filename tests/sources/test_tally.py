"""One queue's state, while all rows are held and after."""

from random import Random

import numpy as np
import pytest

from prefetch_advisor.sources.sampling import ACCURACY
from prefetch_advisor.sources.tally import Tally


def filled(rows: int, limit: int, consumers: int) -> tuple[Tally, np.ndarray]:
    rng = np.random.default_rng(rows)
    values = rng.exponential(1, rows)
    who = rng.integers(1, consumers + 1, rows)
    tally = Tally(limit, Random(1), ACCURACY)
    for at in range(0, rows, 700):
        part = slice(at, at + 700)
        tally.add(values[part], values[part] / 2, who[part])
    return tally, values


def test_all_rows_are_kept_and_quantiles_exact_up_to_the_limit():
    tally, values = filled(5_000, 5_000, 64)
    processing, rtt = tally.distributions()
    assert rtt is not None
    assert (processing.quantile_error, rtt.quantile_error) == (0, 0)
    assert processing.p99 == pytest.approx(np.quantile(values, 0.99), rel=1e-12)
    kept = np.concatenate([run.processing for run in tally.runs()])
    assert sorted(kept) == sorted(values)
    assert {run.consumer for run in tally.runs()} == set(range(1, 65))


def test_past_the_limit_a_bounded_sample_and_the_same_moments_remain():
    tally, values = filled(50_000, 5_000, 3)
    processing, rtt = tally.distributions()
    assert rtt is not None
    assert processing.quantile_error == ACCURACY
    assert processing.mean == pytest.approx(values.mean())
    assert rtt.mean == pytest.approx(values.mean() / 2)
    assert tally.kept <= 5_000
    assert all(2 * np.array(run.rtt) == pytest.approx(run.processing) for run in tally.runs())


@pytest.mark.parametrize("rows", [3_000, 30_000])
def test_crowds_are_sampled_together(rows: int):
    tally, _ = filled(rows, 5_000, 100)
    assert len(tally.consumers) == 100
    late = [run for run in tally.runs() if run.consumer < 0]
    assert late
    assert max(len(run.processing) for run in late) == 1_000


def test_shrinking_starts_the_sampling():
    tally, values = filled(3_000, 5_000, 2)
    tally.shrink(100)
    assert tally.kept <= 100
    assert tally.distributions()[0].mean == pytest.approx(values.mean())
