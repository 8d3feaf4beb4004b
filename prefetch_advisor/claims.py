"""Buffers of rows claimed from a table, or handed over in a process: sized as a prefetch is.

Rows that are claimed are what unacked messages are: W workers are its concurrency, the claim
latency L is its round trip, and a claim of b rows is what acks for b messages together are: room
that comes back in groups. The buffer holds what waits, beside the W rows in work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from prefetch_advisor.bounds import Bound, slow_time
from prefetch_advisor.config import MAX_PREFETCH, Policy
from prefetch_advisor.feeding import Handling
from prefetch_advisor.model.figures import FigureSource, ProcessingTime, RoundTrip
from prefetch_advisor.model.record import record
from prefetch_advisor.sizing import NotSized, Sizing, size
from prefetch_advisor.units import duration, percent, plural
from prefetch_advisor.units import size as bytes_

#: share of the lease that the slowest claimed row may take
_MARGIN = 0.5


@record
class ClaimBuffer:
    """A worker process that claims rows into a buffer, and what bounds it. Seconds."""

    workers: int
    processing: ProcessingTime
    #: from asking for rows until they lie in the buffer; 0: handed over in the process
    latency: float = 0.0
    #: rows that are claimed together
    batch: int = 1
    #: after it a row that is claimed and not done is given to another worker
    lease: float | None = None
    #: a stop waits so long for what was claimed
    shutdown_grace: float | None = None
    item_bytes: float | None = None
    memory_budget: float | None = None


@record
class ClaimSizing:
    """The smallest buffer that keeps the workers fed. Seconds."""

    #: rows that wait, beside those in work
    capacity: int
    #: of the workers, while rows are due
    busy_share: float
    #: rows that one claim after the other has to bring, so that claiming itself keeps up
    least_batch: int
    reason: str
    limited_by: str | None
    lower_bound_by: str | None
    sizing: Sizing

    def busy_share_at(self, capacity: int, workers: int) -> float:
        """Of the workers with another capacity."""
        return self.sizing.busy_share_at(capacity + workers) or 0.0


@record
class ClaimCost:
    """What a buffer of some capacity costs while it is full. Seconds."""

    #: that the last claimed row waits for a worker
    buffered_time: float
    #: from its claim until it is done, the slowest of a hundred
    slowest: float
    #: rows that a crash leaves claimed, until the lease is over
    stranded: int
    #: until all that is claimed is done
    shutdown: float
    #: claims a second on the database at full load
    claims: float


def size_claims(
    buffer: ClaimBuffer, policy: Policy | None = None, present: int | None = None
) -> ClaimSizing | NotSized:
    """The capacity for a buffer, by the code that sizes a prefetch.

    ``present``: the capacity there is; it is kept where it is good enough.
    """
    workers = buffer.workers
    sizing = size(
        buffer.processing,
        RoundTrip(buffer.latency, FigureSource.GIVEN, "claim-latency"),
        Handling(workers, batch=buffer.batch),
        policy or Policy(),
        None if present is None else present + workers,
        bounds=lambda processing: _upper_bounds(buffer, processing),
    )
    if isinstance(sizing, NotSized):
        return sizing
    capacity = max(0, sizing.prefetch - workers)
    share = sizing.busy_share or 0.0
    mean = buffer.processing.mean
    reason = (
        f"with {plural(capacity, 'row')} beside the {workers:,} in work the workers are busy"
        f" {percent(share)} of the time ({duration(mean)} of work, claims of"
        f" {plural(buffer.batch, 'row')} take {duration(buffer.latency)})"
    )
    return ClaimSizing(
        capacity,
        share,
        least_batch(buffer),
        reason,
        sizing.limited_by,
        sizing.lower_bound_by,
        sizing,
    )


def least_batch(buffer: ClaimBuffer) -> int:
    """ceil(W L / P): one claim at a time brings b rows each L, and W / P are done a second."""
    need = buffer.workers * buffer.latency / buffer.processing.mean
    return max(1, math.ceil(need * (1 - 1e-9)))


def cost(buffer: ClaimBuffer, capacity: int) -> ClaimCost:
    """What a full buffer of this capacity costs."""
    workers, mean = buffer.workers, buffer.processing.mean
    waits = capacity * mean / workers
    return ClaimCost(
        buffered_time=waits,
        slowest=waits + slow_time(buffer.processing),
        stranded=capacity + workers,
        shutdown=(capacity + workers) * mean / workers,
        claims=workers / mean / buffer.batch,
    )


def _upper_bounds(buffer: ClaimBuffer, processing: ProcessingTime) -> Sequence[Bound]:
    workers, mean = buffer.workers, processing.mean
    bounds = [Bound("protocol", MAX_PREFETCH, "more rows than any buffer needs", True)]
    if buffer.lease is not None:
        slowest = slow_time(processing)
        room = _MARGIN * buffer.lease - slowest
        least = workers if slowest < buffer.lease else 0
        value = max(least, math.floor(workers * (1 + room / mean)) if room > 0 else 0)
        words = (
            f"the last row claimed is done within half of the lease of {duration(buffer.lease)}"
            f" (p99 {duration(slowest)})"
        )
        bounds.append(Bound("lease", min(value, MAX_PREFETCH), words))
    if buffer.shutdown_grace is not None:
        value = max(workers, math.floor(workers * buffer.shutdown_grace / mean))
        words = f"all that is claimed is done within {duration(buffer.shutdown_grace)} of a stop"
        bounds.append(Bound("shutdown", min(value, MAX_PREFETCH), words))
    if buffer.item_bytes and buffer.memory_budget is not None:
        value = math.floor(buffer.memory_budget / buffer.item_bytes)
        words = f"rows of {bytes_(buffer.item_bytes)} within {bytes_(buffer.memory_budget)}"
        bounds.append(Bound("memory", min(value, MAX_PREFETCH), words))
    return bounds
