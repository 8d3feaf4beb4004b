"""One queue's figures and sample from several inputs, each weighing as much as it has rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from prefetch_advisor.model.timing import Distribution, Run, TimingRow
from prefetch_advisor.sources.sampling import QUEUE_ROWS, bucket_values

if TYPE_CHECKING:
    from prefetch_advisor.model.timing import Floats

    Part = tuple[Distribution, Iterable[Floats]]


def processing_of(rows: Sequence[TimingRow]) -> Distribution | None:
    """The processing times of all inputs."""
    return _merged(
        [
            (row.processing, (run.processing for run in row.runs))
            for row in rows
            if row.processing is not None
        ]
    )


def trips_of(rows: Sequence[TimingRow]) -> Distribution | None:
    """The round trips of all inputs that have any."""
    return _merged(
        [
            (row.rtt, (run.rtt for run in row.runs if run.rtt is not None))
            for row in rows
            if row.rtt is not None
        ]
    )


def _merged(parts: Sequence[Part]) -> Distribution | None:
    """Moments of the whole by the pairwise update (see `sampling.Moments`); quantiles by rank.

    Each value stands within its input's error of the true one, so that each rank of them all is
    within the largest of these errors.
    """
    known = [part for part, _ in parts]
    if len(known) < 2:
        return known[0] if known else None
    count = sum(part.count for part in known)
    mean = sum(part.mean * part.count for part in known) / count
    squares = sum(
        (part.cv * part.mean) ** 2 * (part.count - 1) + part.count * (part.mean - mean) ** 2
        for part in known
    )
    minimum = min(part.minimum for part in known)
    maximum = max(part.maximum for part in known)
    points = [_points(part, values) for part, values in parts]
    p50, p95, p99 = (
        min(max(value, minimum), maximum) for value in _quantiles(points, (0.5, 0.95, 0.99))
    )
    return Distribution(
        count=count,
        mean=mean,
        cv=math.sqrt(squares / (count - 1)) / mean if mean and count > 1 else 0.0,
        minimum=minimum,
        maximum=maximum,
        p50=p50,
        p95=p95,
        p99=p99,
        quantile_error=max(part.buckets.accuracy if part.buckets else 0.0 for part in known),
    )


def _points(part: Distribution, values: Iterable[Floats]) -> tuple[Floats, Floats]:
    """Values, and how many each stands for."""
    buckets = part.buckets
    if buckets is None:
        held = np.concatenate([*values])
        return held, np.ones(len(held))
    numbers = bucket_values(buckets.numbers, buckets.accuracy)
    return np.append(numbers, 0.0), np.append(buckets.counts, buckets.zeros).astype(np.float64)


def _quantiles(points: Iterable[tuple[Floats, Floats]], shares: Iterable[float]) -> list[float]:
    values, counts = (np.concatenate(parts) for parts in zip(*points, strict=True))
    order = np.argsort(values)
    values, cumulated = values[order], np.cumsum(counts[order])
    found = []
    for share in shares:
        rank = share * (cumulated[-1] - 1)
        low, high = (
            values[np.searchsorted(cumulated, whole, side="right")]
            for whole in (math.floor(rank), math.ceil(rank))
        )
        found.append(float(low + (high - low) * (rank - math.floor(rank))))
    return found


def runs_of(rows: Sequence[TimingRow]) -> tuple[Run, ...]:
    """A sample no larger than one input's may be, in which each has its share of the rows."""
    sampled = [row for row in rows if row.runs and row.rows]
    total = sum(row.rows for row in sampled)
    kept = [sum(len(run.processing) for run in row.runs) for row in sampled]
    size = min(
        [QUEUE_ROWS, *(own * total // row.rows for own, row in zip(kept, sampled, strict=True))]
    )
    return tuple(
        run
        for own, row in zip(kept, sampled, strict=True)
        for run in _thinned(row.runs, own, max(1, size * row.rows // total))
    )


def _thinned(runs: Sequence[Run], held: int, wanted: int) -> list[Run]:
    """Runs evenly over the input; of the last that is taken, as many rows as are still wanted."""
    kept: list[Run] = []
    taken = seen = 0
    spare: Run | None = None
    for run in runs:
        length = len(run.processing)
        seen += length
        if (taken + length) * held <= wanted * seen:
            kept.append(run)
            taken += length
        else:
            spare = run
    if spare is not None and taken < wanted:
        kept.append(_cut(spare, wanted - taken))
    return kept


def _cut(run: Run, rows: int) -> Run:
    trips = None if run.rtt is None else run.rtt[:rows]
    return replace(run, processing=run.processing[:rows], rtt=trips)
