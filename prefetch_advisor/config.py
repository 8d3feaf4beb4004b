"""What the user decides: targets and figures given by option; and the tool's own thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from prefetch_advisor.model.figures import ClientKind, RoundTrip
from prefetch_advisor.model.record import record

#: AMQP 0-9-1 carries the prefetch in 16 bits
MAX_PREFETCH = 65_535
#: busy shares wanted where none is given
TARGET, LOOP_TARGET = 0.98, 0.95
#: what a quorum queue makes of prefetch 0
QUORUM_UNLIMITED = 2_000
#: above it the broker's documentation sees diminishing returns
DIMINISHING_RETURNS = 300
#: samples from which no bootstrap range is shown
ENOUGH_SAMPLES = 1_000
#: fewest rows of timings that advice is computed from without a finding
FEW_SAMPLES = 20


@record
class Policy:
    """Targets of the sizing."""

    #: share of its time a consumer should be busy while messages wait; ``None``: 0.98, and 0.95
    #: for handlers that block their event loop, which more would cost a great deal
    target_busy_share: float | None = None
    #: highest offered load per worker
    max_utilisation: float = 0.8
    #: seconds within which the present backlog must be worked off; ``None``: no wish
    drain_within: float | None = None
    #: the present count of consumers is kept while its utilisation lies between these
    keep_utilisation: tuple[float, float] = (0.6, 0.85)
    #: seconds that a message may wait on average until it is begun; ``None``: no wish
    max_wait: float | None = None
    #: bytes of message bodies that one consumer may hold; ``None``: no limit
    memory_budget: float | None = None
    #: seconds that the last prefetched message may wait in the client; ``None``: no limit
    max_buffered_time: float | None = None
    #: messages must be handled one after the other, in order
    ordered: bool = False

    def target(self, kind: ClientKind) -> float:
        """The busy share wanted of this kind of client."""
        if self.target_busy_share is not None:
            return self.target_busy_share
        return LOOP_TARGET if kind == "loop" else TARGET


@record
class Given:
    """Figures given by option; ``None`` where the option was not used. Seconds, per second."""

    processing_time: float | None = None
    rtt: float | None = None
    #: messages one consumer works on at once
    concurrency: int | None = None
    #: the kind of client; ``None``: workers, as many as the concurrency
    client: ClientKind | None = None
    arrival_rate: float | None = None
    #: coefficient of variation of the processing time
    cv: float | None = None
    #: a round trip that was measured or bounded for every queue: a probe, a TCP connect
    round_trip: RoundTrip | None = None
    #: messages that are acked together
    batch: int | None = None
    #: mean bytes of a message's body
    message_bytes: float | None = None
    #: the broker's delivery acknowledgement timeout, seconds
    consumer_timeout: float | None = None
    #: what the client spends on a message beside what the processing time contains, seconds
    client_cost: float | None = None
    #: where the figures were given, by their names above; absent: by option
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def origin(self, name: str) -> str:
        """Where a figure was or would be given, for a person: "--rtt", "app.toml:7"."""
        return self.origins.get(name) or f"--{name.replace('_', '-')}"
