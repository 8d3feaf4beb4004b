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
#: management timestamps are epochs; a series of files counts from 0
_EPOCH = 1e9
#: seconds between the first and the last sample of a whole minute, less one interval of statistics
_MINUTE = 50.0
#: what is ever asked for, and a minute
_HOUR = 3660.0
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


def since_start(row: QueueRow, uptime: float) -> QueueRow:
    """The row without samples from before the broker ran, ``uptime`` seconds before the newest.

    Such a history is padded with zeros too, and where nothing has happened since they are all
    there is: a minute in which nothing was published would be told of a node that is up for ten
    seconds.
    """
    # the samples of an hour may be dated up to a minute ahead
    seen = [sample.at for sample in row.lengths] + [sample.at for sample in row.traffic]
    times = [at for at in seen if at is not None and at > _EPOCH]
    if not times or uptime > _HOUR:
        return row
    start = max(times) - uptime

    def ran(at: float | None) -> bool:
        return at is None or at >= start

    return replace(
        row,
        lengths=tuple(s for s in row.lengths if ran(s.at)) or row.lengths[-1:],
        traffic=tuple(s for s in row.traffic if ran(s.at)),
        hour_lengths=tuple(s for s in row.hour_lengths if ran(s.at)),
        hour_traffic=tuple(s for s in row.hour_traffic if ran(s.at)),
    )


def with_hour(row: QueueRow, hour: QueueRow) -> QueueRow:
    """The row with the last hour, where its last minute does not show that it is younger.

    A minute that was cut begins with the queue. An hour of zeros beside a minute that shows
    something is from before it.
    """
    timed = tuple(s for s in hour.lengths if s.at is not None)
    counted = tuple(s for s in hour.traffic if s.at is not None)
    seen = [sample.at for sample in row.lengths] + [sample.at for sample in row.traffic]
    times = [at for at in seen if at is not None]
    young = not times or max(times) - min(times) < _MINUTE
    shows = _first_length(row.lengths) is not None or _first_count(row.traffic) is not None
    empty = _first_length(timed) is None and _first_count(counted) is None
    if young or (shows and empty):
        return row
    return replace(row, hour_lengths=timed, hour_traffic=counted)
