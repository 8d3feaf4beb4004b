"""Since when the broker has looked at a queue, by the work that the queue's process has done.

Every other figure may be 0 for an hour; the process of a classic or quorum queue has done some work
(``reductions``) from the first look on. A history is 0 before that, also where the queue, or its
name with another queue behind it, or the whole node was there earlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from prefetch_advisor.model.observation import QueueRow, TrafficSample
from prefetch_advisor.sources.fields import Doubts
from prefetch_advisor.sources.history import (
    COUNTERS,
    cut,
    has_counts,
    has_messages,
    queue_since_first_seen,
)
from prefetch_advisor.sources.management_stats import points

#: a process that rests does no work: that many samples, and it was looked at again
_RESTING = 3
#: queues whose process is counted; that of a stream is not
_COUNTED = ("classic", "quorum")
#: what a queue that was not looked at has no figures of
_FIGURES = (
    "ready",
    "unacked",
    "messages",
    "message_bytes",
    "unacked_bytes",
    "ready_bytes",
    "consumers",
)


class FirstLook(NamedTuple):
    """When a queue was first looked at, and whether it was again since."""

    #: seconds since the epoch; ``None``: not yet
    at: float | None
    again: bool


def first_look(item: Mapping[str, object], doubts: Doubts) -> FirstLook | None:
    """The first look at a queue of /api/queues; ``None``: before its history, or not known."""
    details = item.get("reductions_details")
    samples = details.get("samples") if type(details) is dict else None
    if type(samples) is list and samples:
        oldest = samples[-1]
        if type(oldest) is dict and oldest.get("sample"):
            return None  # the usual case, quickly
        seen = sorted(points(samples, "reductions_details", doubts))
        if seen:
            work = [value for _, value in seen if value]
            if len(work) == len(seen):
                return None
            if not work:
                return FirstLook(None, False)
            at = next(at for at, value in seen if value) / 1000
            return FirstLook(at, len(work) >= _RESTING or work[-1] != work[0])
    reductions = item.get("reductions")
    return FirstLook(None, False) if type(reductions) is int and reductions == 0 else None


def since_first_look(row: QueueRow, look: FirstLook | None) -> QueueRow:
    """The row without what it says of the time before the queue was looked at.

    The first look is at the moment of the declaration, or of the node's start, with no consumers
    yet and not all messages, and shows until the second. So figures count from the second one on.
    Before it a queue is ``young``: it has no history, and no figures either where they are all 0.
    """
    if look is None or row.type not in _COUNTED or (look.at is None and _older(row)):
        return row if len(row.lengths) < 2 else queue_since_first_seen(row)
    if look.at is not None and look.again:
        newest = row.traffic[-1] if row.traffic else None
        begun = [s for s in row.traffic if s.at == look.at and newest and _all_begun(s, newest)]
        row = cut(row, look.at)
        return replace(row, traffic=(*begun, *row.traffic)) if begun else row
    row = replace(row, traffic=(), rates=None, has_stats=False, full=False, young=True)
    if row.ready or row.unacked or row.consumers:
        last = row.lengths[-1:]
        since = look.at if look.at is not None or not last else last[0].at
        return replace(row, lengths=last, known_since=since)
    nothing = dict.fromkeys(_FIGURES)
    return replace(row, **nothing, lengths=())  # type: ignore[arg-type]


def _all_begun(sample: TrafficSample, newest: TrafficSample) -> bool:
    """Whether every counter that has counted by the last sample had by this one.

    Counters are of the channels, which tell of themselves each in its own time: a rate from before
    the last of them has would be too high.
    """
    counted = [name for name in COUNTERS if getattr(newest.totals, name)]
    return bool(counted) and all(getattr(sample.totals, name) for name in counted)


def _older(row: QueueRow) -> bool:
    """Whether anything was there two samples ago: then its process is not counted at all."""
    lengths, traffic = row.lengths[:-2], row.traffic[:-2]
    return any(map(has_messages, lengths)) or any(map(has_counts, traffic))
