"""A histogram as it was saved: whether it holds together, and two of one queue as one."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Mapping
from dataclasses import replace

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.record import record

#: no count is larger: 63 bits
MOST = 2**63
#: no edge lies beyond it, in any unit: 30 years in ns
_LONGEST = 1e18


@record
class Histogram:
    """One histogram, its values in its own unit."""

    metric: str
    labels: Mapping[str, str]
    #: upper edges, ascending, without the last one, which is infinite
    edges: tuple[float, ...]
    #: values in each bucket, one more than edges
    counts: tuple[int, ...]
    total: float
    unit: str | None = None
    #: of a time that ended with it, not since its process started
    delta: bool = False


def checked(one: Histogram, where: str) -> Histogram:
    """The same.

    Raises:
        InputError: it has no buckets, or a value that no histogram of times can have.
    """
    expected = found = None
    if not one.edges or len(one.counts) != len(one.edges) + 1:
        expected = "a count for each bucket, and one beyond the last edge"
        found = f"{len(one.counts)} counts and {len(one.edges)} edges"
    elif not _ascending(one.edges):
        expected, found = "edges that ascend from 0 or more", _shown(one.edges)
    elif not all(0 <= count < MOST for count in one.counts):
        expected, found = "counts of 0 or more", _shown(one.counts)
    elif not 0 <= one.total < _LONGEST * MOST:
        expected, found = "a sum of times", str(one.total)[:24]
    if expected:
        raise InputError(f"{where}: {one.metric}: expected {expected}, found {found}")
    return one


def together(first: Histogram, second: Histogram, where: str) -> Histogram:
    """Two of one queue, of other outcomes, instances or times, in the buckets that both tell.

    Raises:
        InputError: they have no edge or not even the unit in common.
    """
    tell = [_below(first), _below(second)]
    edges, below = [], [0]
    for edge in sorted({*first.edges, *second.edges}):
        counts = [_at(edge, one, sums) for one, sums in zip((first, second), tell, strict=True)]
        if counts[0] is not None and counts[1] is not None:
            edges.append(edge)
            below.append(counts[0] + counts[1])
    if not edges or first.unit != second.unit:
        raise InputError(
            f"{where}: {first.metric}: expected buckets of one unit with edges in common for all "
            f"of a queue, found {first.unit}: {_shown(first.edges)} and "
            f"{second.unit}: {_shown(second.edges)}"
        )
    counts_between = [b - a for a, b in itertools.pairwise(below)]
    beyond = sum(first.counts) + sum(second.counts) - below[-1]
    return replace(
        first,
        edges=tuple(edges),
        counts=(*counts_between, beyond),
        total=first.total + second.total,
    )


def _below(one: Histogram) -> list[int]:
    """How many values lie below each bucket."""
    return [0, *itertools.accumulate(one.counts)]


def _at(edge: float, one: Histogram, below: list[int]) -> int | None:
    """How many values are at most ``edge``; ``None``: it cuts a bucket that has some."""
    bucket = bisect.bisect_left(one.edges, edge)
    if bucket < len(one.edges) and one.edges[bucket] == edge:
        return below[bucket + 1]
    return below[bucket] if not one.counts[bucket] else None


def _ascending(edges: tuple[float, ...]) -> bool:
    rising = all(low < high for low, high in itertools.pairwise(edges))
    return rising and edges[0] >= 0 and edges[-1] < _LONGEST


def _shown(values: tuple[float, ...] | tuple[int, ...]) -> str:
    more = ", ..." if len(values) > 6 else ""
    return ", ".join(str(value)[:24] for value in values[:6]) + more
