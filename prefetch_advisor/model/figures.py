"""Estimates: every figure with its source, so that a reader can check it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from prefetch_advisor.model.record import record
from prefetch_advisor.model.timing import Run

if TYPE_CHECKING:
    from prefetch_advisor.model.timing import Floats

Side = Literal["at least", "at most"]


class FigureSource(StrEnum):
    """Where a figure comes from. A ``bound`` never feeds a recommendation."""

    MEASURED = "measured"
    GIVEN = "given"
    INFERRED = "inferred"
    BOUND = "bound"
    ASSUMED = "assumed"


@record
class Figure:
    """One number and where it came from."""

    value: float
    source: FigureSource
    #: for a person: "1,000 rows of timings.csv", "--rtt", "ack rate over 60 s"
    origin: str
    #: only for a bound: on which side the true value lies
    side: Side | None = None

    @property
    def usable(self) -> bool:
        """Whether a recommendation may be computed from it."""
        return self.source is not FigureSource.BOUND


#: "workers": each acks a message as it finishes it; "async": every delivery is started at once;
#: "loop": handlers block the loop that sends the acks
ClientKind = Literal["workers", "async", "loop"]


@record
class Concurrency:
    """k of a consumer, and the kind of client it is."""

    #: messages worked on at once; ``None``: as many as the prefetch (async)
    value: float | None
    source: FigureSource
    origin: str
    kind: ClientKind = "workers"
    side: Side | None = None


@record
class ProcessingTime:
    """P of a queue: from the start of the handler until its ack, seconds."""

    mean: float
    source: FigureSource
    origin: str
    side: Side | None = None
    #: samples behind the mean; ``None`` where it was given
    samples: int | None = None
    #: 95 % confidence interval of the mean
    ci95: tuple[float, float] | None = None
    #: standard deviation / mean; ``None`` unknown
    cv: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    #: relative error of the quantiles; 0 exact
    quantile_error: float = 0.0
    #: samples for replay; empty: only the mean (and perhaps the CV) is known
    runs: tuple[Run, ...] = ()
    #: the order of the samples carries no time: shuffle before replaying
    shuffle: bool = False
    #: of all these, what was added for the client beside the handler; ``None``: P contains it
    client_cost: Figure | None = None

    @property
    def usable(self) -> bool:
        """Whether a recommendation may be computed from it."""
        return self.source is not FigureSource.BOUND


@record
class RoundTrip:
    """R of a queue: from an ack leaving until the delivery it allowed arrives, seconds."""

    mean: float
    source: FigureSource
    origin: str
    side: Side | None = None
    #: measured values to draw from; ``None``: constant
    samples: Floats | None = None
    #: CPU time that the client of the probe spent on a message
    client_cost: float | None = None

    @property
    def usable(self) -> bool:
        """Whether a recommendation may be computed from it."""
        return self.source is not FigureSource.BOUND


@record
class Estimates:
    """P, R, k and A of one queue. ``None``: nothing is known, not even a bound."""

    processing: ProcessingTime | None
    rtt: RoundTrip | None
    concurrency: Concurrency
    arrival_rate: Figure | None
    #: redeliveries for each message that leaves, 0 where unknown
    redelivered_share: float = 0.0
    #: mean bytes of a message's body
    message_bytes: Figure | None = None
    #: seconds after which the broker takes an unacked message back; ``None``: never
    ack_timeout: Figure | None = None
    #: messages that a consumer acks together
    batch: int = 1
