"""History as the management API pads it: zeros from before there was anything are no samples."""

from __future__ import annotations

from collections.abc import Sequence
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
_counters = attrgetter(*(f.name for f in fields(Traffic)))


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
    return next((s.at for s in lengths if s.at is not None and (s.ready or s.unacked)), None)


def _first_count(traffic: Sequence[TrafficSample]) -> float | None:
    return next((s.at for s in traffic if s.at is not None and any(_counters(s.totals))), None)


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
