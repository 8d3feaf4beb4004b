"""History as the management API pads it: zeros from before there was anything are no samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter

from prefetch_advisor.model.observation import (
    ChannelRow,
    LengthSample,
    QueueRow,
    Traffic,
    TrafficSample,
)

Lengths = tuple[LengthSample, ...]
Traffics = tuple[TrafficSample, ...]
#: management timestamps are epochs; a series of files counts from 0
_EPOCH = 1e9
COUNTERS = tuple(f.name for f in fields(Traffic))
_counters = attrgetter(*COUNTERS)


def since_first_seen(lengths: Lengths, traffic: Traffics) -> tuple[Lengths, Traffics]:
    """The samples from the first on that shows a message, or one counted.

    A history reaches back as far as it was asked for, also beyond the declaration of the queue, the
    opening of the channel or the start of the node, with 0 for whatever there was not. Counters
    never fall back to 0, so nothing that a consumer did is lost with these samples; rates would be
    too low with them. A history of nothing but zeros stays as it is.
    """
    starts = [at for at in (_first_length(lengths), _first_count(traffic)) if at is not None]
    if not starts:
        return lengths, traffic
    start = min(starts)
    return (
        tuple(sample for sample in lengths if sample.at is None or sample.at >= start),
        tuple(sample for sample in traffic if sample.at is None or sample.at >= start),
    )


def _first_length(lengths: Sequence[LengthSample]) -> float | None:
    return next((s.at for s in lengths if s.at is not None and has_messages(s)), None)


def _first_count(traffic: Sequence[TrafficSample]) -> float | None:
    return next((s.at for s in traffic if s.at is not None and has_counts(s)), None)


def has_messages(sample: LengthSample) -> bool:
    """Whether a message is ready or unacked in it."""
    return bool(sample.ready or sample.unacked)


def has_counts(sample: TrafficSample) -> bool:
    """Whether a message was counted up to it."""
    return any(_counters(sample.totals))


def cut(row: QueueRow, since: float) -> QueueRow:
    """The row without samples up to ``since``; its last depth stays."""
    lengths = tuple(s for s in row.lengths if s.at is None or s.at > since) or row.lengths[-1:]
    return replace(
        row,
        lengths=lengths,
        traffic=tuple(s for s in row.traffic if s.at is None or s.at > since),
        hour_lengths=tuple(s for s in row.hour_lengths if s.at is None or s.at > since),
        hour_traffic=tuple(s for s in row.hour_traffic if s.at is None or s.at > since),
        known_since=since if row.known_since is None else max(since, row.known_since),
    )


def since_start(row: QueueRow, uptimes: Mapping[str, float]) -> QueueRow:
    """The row without samples from before its node was started, by the node's uptime in seconds.

    An uptime says when it was read no more than a file does. But nothing outlives a restart except
    messages, which show: where there is anything from before, the uptime is of another time.
    """
    uptime = uptimes.get(row.node) if row.node is not None else None
    last = (row.traffic or row.lengths)[-1].at if row.traffic or row.lengths else None
    if uptime is None or last is None or last < _EPOCH:
        return row
    since = last - uptime
    lengths = (*row.hour_lengths, *row.lengths)
    traffic = (*row.hour_traffic, *row.traffic)
    times = [s.at for s in lengths if s.at is not None]
    times += [s.at for s in traffic if s.at is not None]
    if min(times) > since:
        return row
    if any(has_messages(s) and s.at is not None and s.at <= since for s in lengths) or any(
        has_counts(s) and s.at is not None and s.at <= since for s in traffic
    ):
        return row
    return cut(row, since)


def queue_since_first_seen(row: QueueRow) -> QueueRow:
    """The row without samples from before the queue was first seen."""
    lengths, traffic = since_first_seen(row.lengths, row.traffic)
    if len(lengths) == len(row.lengths) and len(traffic) == len(row.traffic):
        return row
    return replace(row, lengths=lengths, traffic=traffic)


def channel_since_first_seen(row: ChannelRow) -> ChannelRow:
    """The row without samples from before the channel was first seen."""
    _, traffic = since_first_seen((), row.traffic)
    return row if len(traffic) == len(row.traffic) else replace(row, traffic=traffic)
