"""Several inputs' timings of one queue as one: each row weighs the same, whatever file it is in."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.model.observation import Intake
from prefetch_advisor.model.timing import Run, TimingRow
from prefetch_advisor.sources.combine import combine
from prefetch_advisor.sources.combine_timings import merged
from prefetch_advisor.sources.opening import open_input
from prefetch_advisor.sources.sampling import ACCURACY
from prefetch_advisor.sources.timings import SampleBudget, TimingOptions, read_timings


def read(processing: np.ndarray, rtt: np.ndarray | None = None) -> TimingRow:
    """One input of a queue; an ``rtt`` of NaN is an empty cell."""
    if rtt is None:
        text = "p_s\n" + "\n".join(map(repr, processing.tolist()))
    else:
        text = "p_s,rtt_s\n" + "\n".join(
            f"{p!r},{r!r}" if r == r else f"{p!r},"
            for p, r in zip(processing.tolist(), rtt.tolist(), strict=True)
        )
    with open_input("-", io.BytesIO(text.encode())) as source:
        (row,) = read_timings(source, TimingOptions(), SampleBudget()).timings
    return row


def check(row: TimingRow, values: np.ndarray, error: float) -> None:
    found = row.processing
    assert found is not None
    assert (found.count, row.rows) == (len(values), len(values))
    assert found.mean == pytest.approx(values.mean())
    assert found.cv == pytest.approx(values.std(ddof=1) / values.mean())
    assert (found.minimum, found.maximum) == (values.min(), values.max())
    assert found.quantile_error == error
    for share, quantile in ((0.5, found.p50), (0.95, found.p95), (0.99, found.p99)):
        assert quantile == pytest.approx(np.quantile(values, share), rel=error + 1e-9)


def test_a_few_slow_rows_do_not_move_the_median_of_many_fast_ones() -> None:
    parts = [np.full(100_000, 0.001), np.full(10, 1.0)]
    row = merged([read(part) for part in parts])
    check(row, np.concatenate(parts), ACCURACY)
    sample = np.concatenate([run.processing for run in row.runs])
    assert len(sample) <= 20_000
    # each has its share of the sample too
    assert 1 <= (sample == 1.0).sum() <= 3


def test_quantiles_are_exact_while_every_value_is_kept() -> None:
    rng = np.random.default_rng(3)
    parts = [rng.exponential(mean, size) for mean, size in ((0.02, 900), (0.05, 300), (0.01, 1))]
    rows = [read(part) for part in parts]
    check(merged(rows), np.concatenate(parts), 0.0)
    assert sum(len(run.processing) for run in merged(rows).runs) == 1201


def test_round_trips_that_some_rows_lack_do_not_count_twice() -> None:
    rtt = np.full(1000, np.nan)
    rtt[::10] = 0.001
    rows = [read(np.full(1000, 0.005), rtt), read(np.full(150, 0.005), np.full(150, 0.003))]
    found = merged(rows).rtt
    assert found is not None
    assert (found.count, found.p50) == (250, 0.003)
    assert found.mean == pytest.approx((100 * 0.001 + 150 * 0.003) / 250)


@given(st.data())
@settings(deadline=None, max_examples=20)
def test_merging_is_within_the_stated_error(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    sizes = data.draw(st.lists(st.sampled_from([1, 30, 25_000]), min_size=2, max_size=3))
    parts = [np.round(rng.lognormal(rng.uniform(-9, 0), 1, size), 6) for size in sizes]
    parts[0][::3] = 0
    if not any(part.any() for part in parts):
        return
    error = ACCURACY if 25_000 in sizes else 0.0
    check(merged([read(part) for part in parts]), np.concatenate(parts), error)


def test_merged_samples_stay_bounded_and_even() -> None:
    run = Run(None, np.ones(1000))
    rows = [TimingRow(f"{n}", None, "q", 20_000, runs=(run,) * 20) for n in range(4)]
    assert len(merged(rows).runs) == 20


def test_merged_samples_are_contiguous_and_in_proportion() -> None:
    many, few = np.arange(20_000.0), -np.arange(1.0, 8_001.0)
    rows = [
        TimingRow("a", None, "q", 200_000, runs=tuple(map(as_run, many.reshape(20, -1)))),
        TimingRow("b", None, "q", 8_000, runs=(as_run(few[:7_500]), as_run(few[7_500:]))),
    ]
    runs = merged(rows).runs
    assert sum(len(run.processing) for run in runs if run.processing[0] < 0) == 20_000 * 8 // 208
    assert 18_000 < sum(len(run.processing) for run in runs) <= 20_000
    for run in runs:
        assert run.rtt is not None
        assert (np.abs(np.diff(run.processing)) == 1).all()
        assert (run.rtt == run.processing).all()


def as_run(values: np.ndarray) -> Run:
    return Run(None, values, values)


def test_files_and_times_of_all_inputs_are_told() -> None:
    run = Run(None, np.ones(2))
    rows = [
        TimingRow(f"{n}.csv", None, "q", 2, runs=(run,), first_at=float(n), last_at=n + 10.0)
        for n in range(2)
    ]
    row = merged(rows)
    assert (row.rows, row.first_at, row.last_at) == (4, 0.0, 11.0)
    (queue,) = combine([Intake(one.where, timings=(one,)) for one in rows]).queues
    assert queue.origins == ("0.csv", "1.csv")
