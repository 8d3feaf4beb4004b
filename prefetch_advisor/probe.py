"""What a probe is to measure and what it measured; everything about it that needs no broker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from prefetch_advisor.model.figures import FigureSource, RoundTrip
from prefetch_advisor.model.timing import Distribution
from prefetch_advisor.sources.amqp_uri import AmqpUri

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefetch_advisor.model.timing import Floats

QueueType = Literal["classic", "quorum"]

#: round trips kept for replay
SAMPLES_KEPT = 2_000
#: cycles without which there is nothing to report
LEAST_CYCLES = 3
#: a synchronous method after each so many cycles
CYCLES_PER_SYNC = 4
#: cycles left out at first, and the share of the duration that they may take
WARM_UP_CYCLES = 20
WARM_UP_SHARE = 0.1
#: messages published at once: at most so many, and so many bytes
BATCH = 50
BATCH_BYTES = 1_000_000
#: messages at hand when the client's own cost is measured, and fewest that tell something
DRAINED = 1_000
DRAINED_BYTES = 2_000_000
DRAINED_LEAST = 20


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """What to measure, where, and for how long."""

    uri: AmqpUri
    queue_type: QueueType = "classic"
    #: ``None``: a random one
    queue_name: str | None = None
    #: bytes of a message's body
    message_size: int = 100
    #: seconds to measure, at most
    duration: float = 5.0
    #: cycles, at most
    count: int = 1_000
    #: seconds to wait for the broker at each step
    timeout: float = 10.0


@dataclass(slots=True)
class Readings:
    """What one run collects, seconds."""

    rtt: list[float] = field(default_factory=list)
    sync: list[float] = field(default_factory=list)
    #: CPU time of the client for each message; ``None``: too few were drained
    client_cost: float | None = None
    #: messages behind it
    drained: int = 0
    warm_up: int = 0
    elapsed: float = 0.0


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The round trip that the rule needs, and what stands beside it. Seconds."""

    #: from an ack leaving until the delivery it allowed arrives
    rtt: Distribution
    #: at most 2,000 of the values, evenly spread over the run, for replay
    samples: Floats
    #: a synchronous method (basic.qos) from call to return: network, broker and all of the
    #: client's work on it, no queue
    sync: Distribution
    #: CPU time that the client spends on a message with a handler that only acks, messages at
    #: hand; it does not contain waiting. ``None`` unknown
    client_cost: float | None
    drained: int
    queue_type: QueueType
    message_size: int
    host: str
    port: int
    vhost: str
    tls: bool
    #: "RabbitMQ", "3.10.8"; ``None``: the broker did not say
    product: str | None
    version: str | None
    #: the machine that measured
    measured_from: str
    #: cycles left out at first
    warm_up: int
    elapsed: float
    #: things to tell beside the figures
    notes: tuple[str, ...] = ()
    #: a signal ended it before the duration was over or the cycles were done
    interrupted: bool = False


def batch_size(message_size: int, wanted: int) -> int:
    """Messages to publish at once: what is wanted, within bounds, and at least two."""
    return max(2, min(wanted, BATCH, BATCH_BYTES // max(1, message_size)))


def drain_size(message_size: int) -> int:
    """Messages to have at hand when the client's own cost is measured."""
    return max(DRAINED_LEAST, min(DRAINED, DRAINED_BYTES // max(1, message_size)))


def is_warm_up(cycle: int, elapsed: float, duration: float) -> bool:
    """Whether a cycle, counted from 0, is left out: caches are cold, and the first always is."""
    return cycle == 0 or (cycle < WARM_UP_CYCLES and elapsed < WARM_UP_SHARE * duration)


def thinned(values: Sequence[float], most: int = SAMPLES_KEPT) -> Floats:
    """At most ``most`` of the values, evenly spread, in their order."""
    import numpy as np

    every = np.asarray(values, dtype=np.float64)
    if len(every) <= most:
        return every
    chosen: Floats = every[np.linspace(0, len(every) - 1, most).round().astype(int)]
    return chosen


def summarise(
    readings: Readings,
    plan: ProbePlan,
    *,
    product: str | None,
    version: str | None,
    measured_from: str,
    notes: tuple[str, ...] = (),
    interrupted: bool = False,
) -> ProbeResult:
    """The result of a run that has at least :data:`LEAST_CYCLES` cycles."""
    import numpy as np

    from prefetch_advisor.sources.sampling import exact

    return ProbeResult(
        rtt=exact(np.asarray(readings.rtt, dtype=np.float64)),
        samples=thinned(readings.rtt),
        sync=exact(np.asarray(readings.sync, dtype=np.float64)),
        client_cost=readings.client_cost,
        drained=readings.drained,
        queue_type=plan.queue_type,
        message_size=plan.message_size,
        host=plan.uri.host,
        port=plan.uri.port,
        vhost=plan.uri.vhost,
        tls=plan.uri.tls,
        product=product,
        version=version,
        measured_from=measured_from,
        warm_up=readings.warm_up,
        elapsed=readings.elapsed,
        notes=notes,
        interrupted=interrupted,
    )


def round_trip(result: ProbeResult) -> RoundTrip:
    """R as the sizing takes it: the mean, and samples to draw from."""
    return RoundTrip(
        mean=result.rtt.mean,
        source=FigureSource.MEASURED,
        origin=f"probe of {result.host}, {result.rtt.count:,} cycles",
        samples=result.samples,
        client_cost=result.client_cost,
    )
