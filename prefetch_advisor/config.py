"""What the user decides: targets and figures given by option; and the tool's own thresholds."""

from __future__ import annotations

from dataclasses import dataclass

from prefetch_advisor.model.figures import RoundTrip

#: AMQP 0-9-1 carries the prefetch in 16 bits
MAX_PREFETCH = 65_535
#: what a quorum queue makes of prefetch 0
QUORUM_UNLIMITED = 2_000
#: above it the broker's documentation sees diminishing returns
DIMINISHING_RETURNS = 300
#: samples from which no bootstrap range is shown
ENOUGH_SAMPLES = 1_000
#: fewest rows of timings that advice is computed from without a finding
FEW_SAMPLES = 20


@dataclass(frozen=True, slots=True)
class Policy:
    """Targets of the sizing."""

    #: share of its time a consumer should be busy while messages wait
    target_busy_share: float = 0.98
    #: highest offered load per worker
    max_utilisation: float = 0.8
    #: seconds within which the present backlog must be worked off; ``None``: no wish
    drain_within: float | None = None
    #: the present count of consumers is kept while its utilisation lies between these
    keep_utilisation: tuple[float, float] = (0.6, 0.85)


@dataclass(frozen=True, slots=True)
class Given:
    """Figures given by option; ``None`` where the option was not used. Seconds, per second."""

    processing_time: float | None = None
    rtt: float | None = None
    #: messages one consumer works on at once
    concurrency: int | None = None
    arrival_rate: float | None = None
    #: coefficient of variation of the processing time
    cv: float | None = None
    #: a round trip that was measured or bounded for every queue: a probe, a TCP connect
    round_trip: RoundTrip | None = None
