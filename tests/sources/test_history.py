"""Zeros from before there was anything are no samples; everything that was counted is kept."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.model.observation import (
    ChannelRow,
    LengthSample,
    QueueRow,
    SourceKind,
    Traffic,
    TrafficSample,
)
from prefetch_advisor.sources.history import (
    channel_since_first_seen,
    queue_since_first_seen,
    since_first_seen,
)


def lengths(*depths: int) -> tuple[LengthSample, ...]:
    return tuple(LengthSample(5.0 * i, ready, 0) for i, ready in enumerate(depths))


def acks(*totals: int) -> tuple[TrafficSample, ...]:
    return tuple(TrafficSample(5.0 * i, Traffic(ack=total)) for i, total in enumerate(totals))


def test_a_queue_declared_within_the_window_starts_where_it_was_first_seen():
    # 20 s of 150/s, asked for a minute: over the padding it would be 50/s
    found = since_first_seen(lengths(0, 0, 0, 0, 40, 80, 120), acks(0, 0, 0, 0, 750, 1500, 2250))
    assert found == (lengths(0, 0, 0, 0, 40, 80, 120)[4:], acks(0, 0, 0, 0, 750, 1500, 2250)[4:])


def test_a_queue_that_is_older_keeps_its_quiet_times():
    quiet = (lengths(0, 0, 0, 9), acks(7, 7, 7, 8))
    assert since_first_seen(*quiet) == quiet


def test_messages_that_outlived_a_restart_are_seen_before_anything_is_counted():
    found = since_first_seen(lengths(0, 50, 50), acks(0, 0, 9))
    assert found == (lengths(0, 50, 50)[1:], acks(0, 0, 9)[1:])


def test_nothing_but_zeros_stays_and_so_does_a_snapshot_without_a_clock():
    nothing = (lengths(0, 0), acks(0, 0))
    assert since_first_seen(*nothing) == nothing
    snapshot = ((LengthSample(None, 0, 0),), (TrafficSample(None, Traffic(ack=4)),))
    assert since_first_seen(*snapshot) == snapshot


def test_rows_of_queues_and_channels_are_cut():
    row = QueueRow(SourceKind.MANAGEMENT, "x", "/", "q", lengths=lengths(0, 1), traffic=acks(0, 5))
    assert queue_since_first_seen(row).lengths == lengths(0, 1)[1:]
    assert queue_since_first_seen(row).traffic == acks(0, 5)[1:]
    channel = ChannelRow(SourceKind.MANAGEMENT, "x", "c", traffic=acks(0, 0, 5))
    assert channel_since_first_seen(channel).traffic == acks(0, 0, 5)[2:]


@given(
    padding=st.integers(0, 12),
    counted=st.lists(st.integers(1, 1000), min_size=1, max_size=12),
    depths=st.lists(st.integers(0, 3), min_size=24, max_size=24),
)
@settings(deadline=None, max_examples=80)
def test_no_sample_with_anything_in_it_is_ever_lost(padding, counted, depths):
    totals = [0] * padding + [sum(counted[: i + 1]) for i in range(len(counted))]
    before = (lengths(*depths), acks(*totals))
    after = since_first_seen(*before)
    for old, new in zip(before, after, strict=True):
        assert old[len(old) - len(new) :] == new
    lost = len(before[1]) - len(after[1])
    assert lost <= padding
    assert not any(depths[: len(before[0]) - len(after[0])])
