"""What a picture of a queue shows: the curve of its prefetch, and how full its consumers were."""

from __future__ import annotations

from collections.abc import Sequence

from prefetch_advisor.advise import work_out
from prefetch_advisor.config import MAX_PREFETCH, Given, Policy
from prefetch_advisor.model.observation import ChannelRow, LengthSample, QueueObservation
from prefetch_advisor.model.record import record
from prefetch_advisor.sizing import Sizing, buffered_time

#: prefetch values of a curve, about as many
_POINTS = 28
#: the curve goes on to so many times the largest value that it marks
_BEYOND = 1.6


@record
class CurvePoint:
    """What a prefetch does to one consumer that always has messages waiting."""

    prefetch: int
    busy_share: float
    #: seconds that the last prefetched message waits
    buffered_time: float


@record
class Picture:
    """The numbers behind the pictures of one queue; empty where they are not known."""

    curve: tuple[CurvePoint, ...] = ()
    #: with times in seconds, oldest first
    levels: tuple[LengthSample, ...] = ()


def picture(
    observation: QueueObservation,
    given: Given,
    policy: Policy,
    unused_channels: Sequence[ChannelRow] = (),
) -> Picture:
    """The same figures that advice for the queue rests on.

    Raises:
        ConflictError: two options that cannot both hold.
    """
    judged, sizing, _ = work_out(observation, given, policy, unused_channels)
    levels = tuple(s for s in judged.case.window.lengths if s.at is not None)
    processing = judged.estimates.processing
    if not isinstance(sizing, Sizing) or processing is None:
        return Picture(levels=levels if len(levels) > 1 else ())
    return Picture(
        curve(sizing, processing.mean, judged.case.concurrency, judged.current.prefetch),
        levels if len(levels) > 1 else (),
    )


def curve(
    sizing: Sizing, processing: float, concurrency: int, present: int | None
) -> tuple[CurvePoint, ...]:
    """Busy share and buffered time from a prefetch of 1 to beyond what is marked; P in seconds."""
    if sizing.feeding is None:
        return ()
    marked = {sizing.prefetch}
    if sizing.rule is not None:
        marked.add(sizing.rule.prefetch)
    if present:
        marked.add(present)
    most = min(MAX_PREFETCH, max(8, round(_BEYOND * max(marked))))
    steps = {round(most ** (step / (_POINTS - 1))) for step in range(_POINTS)}
    points = []
    for prefetch in sorted(steps | marked):
        share = sizing.busy_share_at(prefetch)
        if share is not None:
            points.append(
                CurvePoint(prefetch, share, buffered_time(prefetch, processing, concurrency))
            )
    return tuple(points)
