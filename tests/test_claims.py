"""Claim buffers: the sizing against a claim loop played through, and what a buffer costs."""

from __future__ import annotations

import heapq
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.claims import ClaimBuffer, ClaimSizing, cost, least_batch, size_claims
from prefetch_advisor.config import Policy
from prefetch_advisor.model.figures import FigureSource, ProcessingTime
from prefetch_advisor.sizing import NotSized


def processing(mean: float, cv: float | None = None) -> ProcessingTime:
    return ProcessingTime(mean, FigureSource.GIVEN, "test", cv=cv)


def sized(buffer: ClaimBuffer, **policy: float) -> ClaimSizing:
    found = size_claims(buffer, replace(Policy(), **policy))
    assert isinstance(found, ClaimSizing)
    return found


def played(buffer: ClaimBuffer, capacity: int, rows: int, draw: random.Random) -> float:
    """Busy share of the workers: one claimer that asks for b rows whenever there is room for b."""
    room = capacity + buffer.workers
    now = worked = 0.0
    free, waiting, asking = buffer.workers, 0, False
    events: list[tuple[float, int, int]] = []
    done = 0
    while done < rows:
        if not asking and room >= buffer.batch:
            room -= buffer.batch
            asking = True
            heapq.heappush(events, (now + buffer.latency, 0, buffer.batch))
        now, what, count = heapq.heappop(events)
        if what == 0:
            asking = False
            waiting += count
        else:
            free, room, done = free + 1, room + 1, done + 1
        while free and waiting:
            free, waiting = free - 1, waiting - 1
            mean, cv = buffer.processing.mean, buffer.processing.cv
            took = draw.expovariate(1 / mean) if cv else mean
            worked += took
            heapq.heappush(events, (now + took, 1, 0))
    return worked / (now * buffer.workers)


@pytest.mark.parametrize("cv", [None, 1.0])
@pytest.mark.parametrize(
    ("workers", "mean", "latency"), [(10, 0.2, 0.008), (4, 0.002, 0.008), (32, 0.025, 0.05)]
)
def test_the_capacity_that_is_named_keeps_the_workers_of_a_claim_loop_busy(
    workers, mean, latency, cv
):
    """Where a claim brings what is done meanwhile; less of it starves them."""
    buffer = ClaimBuffer(workers, processing(mean, cv), latency)
    buffer = replace(buffer, batch=max(2, 2 * least_batch(buffer)))
    advice = sized(buffer)
    share = played(buffer, advice.capacity, 20_000, random.Random(1))
    assert share > 0.96
    assert share == pytest.approx(advice.busy_share, abs=0.02)
    if advice.capacity > buffer.batch:
        less = played(buffer, advice.capacity // 2, 20_000, random.Random(1))
        assert less < share


def test_a_claim_too_small_keeps_nobody_busy_whatever_the_capacity():
    buffer = ClaimBuffer(4, processing(0.002), 0.008, batch=4)
    assert least_batch(buffer) == 16
    assert played(buffer, 1_000, 20_000, random.Random(1)) == pytest.approx(4 / 16, rel=0.01)


@given(
    st.integers(1, 64),
    st.floats(1e-4, 10),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(1, 50),
)
@settings(deadline=None, max_examples=60)
def test_more_latency_never_asks_for_less(workers, mean, latency, more, batch):
    buffer = ClaimBuffer(workers, processing(mean), latency, batch)
    slower = replace(buffer, latency=latency + more)
    one, other = size_claims(buffer), size_claims(slower)
    if isinstance(one, ClaimSizing) and isinstance(other, ClaimSizing):
        assert one.capacity <= other.capacity
    assert least_batch(buffer) <= least_batch(slower)


def test_what_a_full_buffer_costs():
    """100 rows before 10 workers of 200 ms, claims of 20: ChokaQ's own defaults."""
    buffer = ClaimBuffer(10, processing(0.2), 0.008, batch=20, lease=300.0)
    found = cost(buffer, 100)
    assert found.buffered_time == pytest.approx(2.0)
    assert found.slowest == pytest.approx(2.2)
    assert (found.stranded, found.shutdown) == (110, pytest.approx(2.2))
    assert found.claims == pytest.approx(2.5)


def test_the_lease_a_stop_and_memory_bound_a_buffer():
    slow = ClaimBuffer(2, processing(2.0), 3.0, batch=1)
    assert sized(slow).capacity == 3
    assert sized(replace(slow, lease=8.0)).limited_by == "lease"
    assert sized(replace(slow, lease=8.0)).capacity == 2
    assert sized(replace(slow, shutdown_grace=3.0)).limited_by == "shutdown"
    assert sized(replace(slow, shutdown_grace=3.0)).capacity == 1
    small = replace(slow, item_bytes=1e6, memory_budget=4e6)
    assert (sized(small).capacity, sized(small).limited_by) == (2, "memory")
    none = size_claims(replace(slow, lease=1.5))
    assert isinstance(none, NotSized)
    assert "the last row claimed is done within half of the lease of 1.5 s" in none.reason
