"""What a prefetch may not exceed or fall below, whatever feeding asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from prefetch_advisor.config import MAX_PREFETCH, Policy
from prefetch_advisor.errors import UsageError
from prefetch_advisor.model.figures import Figure, FigureSource, ProcessingTime
from prefetch_advisor.statistics import lognormal_quantile
from prefetch_advisor.units import duration, plural, size

if TYPE_CHECKING:
    from prefetch_advisor.model.advice import BoundName

#: share of the ack timeout that the slowest message may take
_MARGIN = 0.5
#: rounding that must not take one off a floor
_NOISE = 1e-9
#: the 99th percentile of an exponential time, in means
EXPONENTIAL_P99 = math.log(100)


class Bound(NamedTuple):
    """One bound of the prefetch of a consumer."""

    name: BoundName
    value: int
    #: its making, with the numbers
    words: str
    #: everything it was made of came from options
    by_options: bool = False


class ConflictError(UsageError):
    """Bounds that options alone made, and that no prefetch can keep together."""

    def __init__(self, low: Bound, high: Bound) -> None:
        super().__init__(conflict_words(low, high))
        #: the lower one, which lies above the other
        self.clash = (low, high)


PROTOCOL = Bound("protocol", MAX_PREFETCH, "the protocol carries 16 bits", True)


def lower_bounds(workers: int, batch: int) -> list[Bound]:
    """Workers need a message each; acks for ``batch`` messages leave once all of them are done."""
    bounds = [Bound("concurrency", workers, f"{plural(workers, 'worker')} at once", True)]
    if batch > 1:
        words = f"acks leave for {batch:,} messages together, so twice as many must be at hand"
        bounds.append(Bound("batch", 2 * batch, words, True))
    return bounds


def upper_bounds(
    processing: ProcessingTime,
    workers: int,
    policy: Policy,
    message_bytes: Figure | None = None,
    ack_timeout: Figure | None = None,
    exponential: bool = False,
    at_once: bool = False,
) -> list[Bound]:
    """Memory, buffered time, the delivery acknowledgement timeout and the protocol.

    ``at_once``: the client starts every delivery when it arrives, so none waits behind others.

    ``ack_timeout`` in seconds is the one in force for the queue, ``None`` where none is.
    """
    mean = processing.mean
    given = processing.source is FigureSource.GIVEN
    bounds = [PROTOCOL]
    if ack_timeout is not None and not at_once:
        slowest = slow_time(processing, exponential)
        limit = _MARGIN * ack_timeout.value
        room = (limit - slowest) / mean
        # the margin alone does not forbid a task that takes long
        least = workers if slowest < ack_timeout.value else 0
        value = max(least, _floor(workers * (1 + room)) if room > 0 else 0)
        words = (
            f"(N / {workers} - 1) x {duration(mean)} + {duration(slowest)} (p99) stays below half"
            f" of the ack timeout of {duration(ack_timeout.value)} ({ack_timeout.source})"
        )
        by_options = given and ack_timeout.source is FigureSource.GIVEN
        bounds.append(Bound("ack-timeout", value, words, by_options))
    if policy.memory_budget is not None and message_bytes is not None and message_bytes.value > 0:
        words = (
            f"N x {size(message_bytes.value)} a message ({message_bytes.source}) within"
            f" {size(policy.memory_budget)} a consumer"
        )
        value = _floor(policy.memory_budget / message_bytes.value)
        by_options = message_bytes.source is FigureSource.GIVEN
        bounds.append(Bound("memory", value, words, by_options))
    if policy.max_buffered_time is not None and not at_once:
        words = (
            f"(N - {workers}) x {duration(mean)}{f' / {workers}' if workers > 1 else ''} within"
            f" the buffered time of {duration(policy.max_buffered_time)}"
        )
        value = _floor(workers * (1 + policy.max_buffered_time / mean))
        bounds.append(Bound("buffered-time", value, words, given))
    return bounds


def conflict(lower: Sequence[Bound], upper: Sequence[Bound]) -> tuple[Bound, Bound] | None:
    """A lower bound above an upper one; ``None`` where all can be kept."""
    low, high = max(lower, key=_value), min(upper, key=_value)
    return (low, high) if low.value > high.value else None


def conflict_words(low: Bound, high: Bound) -> str:
    """Both sides of a conflict in one sentence."""
    return (
        f"no prefetch is both at least {low.value:,} ({low.name}: {low.words}) and at most"
        f" {high.value:,} ({high.name}: {high.words})"
    )


def slow_time(processing: ProcessingTime, exponential: bool = False) -> float:
    """The 99th percentile of the processing time, seconds, as well as it is known."""
    if processing.p99 is not None:
        return processing.p99
    if exponential:
        return EXPONENTIAL_P99 * processing.mean
    return lognormal_quantile(processing.mean, processing.cv or 0.0, 0.99)


def tightest(bounds: Sequence[Bound]) -> Bound:
    """The smallest of upper bounds."""
    return min(bounds, key=_value)


def highest(bounds: Sequence[Bound]) -> Bound:
    """The largest of lower bounds."""
    return max(bounds, key=_value)


def _value(bound: Bound) -> int:
    return bound.value


def _floor(value: float) -> int:
    return MAX_PREFETCH + 1 if value > MAX_PREFETCH else math.floor(value * (1 + _NOISE))
