"""Timings by queue: whose they are, and several inputs of one queue as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.model.timing import TimingRow
from prefetch_advisor.sources.combine_queues import Pair

#: the name of a queue that neither a column nor an option names
UNNAMED = "stdin"


class Timed(NamedTuple):
    """The timings of one queue."""

    row: TimingRow
    #: its vhost is in no input
    assumed: bool
    origins: tuple[str, ...]


def timings_by_queue(
    intakes: Iterable[Intake], queues: Iterable[Pair], vhost: str | None, queue: str | None
) -> dict[Pair, Timed]:
    """The timings of each queue.

    Raises:
        InputError: the vhost is not told, and several have a queue of that name.
    """
    found: dict[Pair, list[tuple[TimingRow, bool]]] = {}
    vhosts: dict[str, list[str]] | None = None
    for intake in intakes:
        for row in intake.timings:
            if vhosts is None:
                vhosts = {}
                for vhost_of, name in queues:
                    vhosts.setdefault(name, []).append(vhost_of)
            name = row.name if row.name is not None else queue or UNNAMED
            place, assumed = _vhost(row, name, vhost, vhosts.get(name, ()))
            found.setdefault((place, name), []).append((row, assumed))
    return {
        key: Timed(
            merged([row for row, _ in rows]),
            all(assumed for _, assumed in rows),
            tuple(dict.fromkeys(row.where for row, _ in rows)),
        )
        for key, rows in found.items()
    }


def _vhost(row: TimingRow, name: str, asked: str | None, known: Sequence[str]) -> tuple[str, bool]:
    if row.vhost is not None:
        return row.vhost, False
    if asked is not None:
        return asked, True
    if len(known) > 1:
        listed = ", ".join(repr(vhost) for vhost in sorted(known))
        raise InputError(
            f"{row.where}: the timings of queue {name!r} name no vhost, and it exists in "
            f"{listed}: say which with -V"
        )
    # the only queue of that name is no assumption
    return (known[0], False) if known else ("/", True)


def merged(rows: Sequence[TimingRow]) -> TimingRow:
    """Several inputs' timings of one queue as one; a single one unchanged."""
    if len(rows) == 1:
        return rows[0]
    # here: numpy is not needed where nothing is merged
    from prefetch_advisor.sources.merged_figures import processing_of, runs_of, trips_of

    total = sum(row.rows for row in rows)
    starts = [row.first_at for row in rows if row.first_at is not None]
    ends = [row.last_at for row in rows if row.last_at is not None]
    steps = [row.resolution for row in rows if row.resolution is not None]
    counts = [row.consumers for row in rows if row.consumers is not None]
    return replace(
        rows[0],
        where=", ".join(dict.fromkeys(row.where for row in rows)),
        rows=total,
        processing=processing_of(rows),
        rtt=trips_of(rows),
        runs=runs_of(rows),
        sorted_by_duration=any(row.sorted_by_duration for row in rows),
        first_at=min(starts, default=None),
        last_at=max(ends, default=None),
        concurrency=_weighted([(row.concurrency, row.rows) for row in rows]),
        consumers=max(counts, default=None),
        mean_bytes=_weighted([(row.mean_bytes, row.rows) for row in rows]),
        zeros=sum(row.zeros for row in rows),
        resolution=max(steps, default=None),
    )


def _weighted(values: Sequence[tuple[float | None, int]]) -> float | None:
    known = [(value, weight) for value, weight in values if value is not None and weight > 0]
    if not known:
        return None
    return sum(value * weight for value, weight in known) / sum(weight for _, weight in known)
