"""One queue on the table: what was seen, the limit in force and the estimates; and an outcome."""

from __future__ import annotations

from dataclasses import replace

from prefetch_advisor.config import Policy
from prefetch_advisor.limits import InForce
from prefetch_advisor.model.advice import Confidence, Finding, Verdict
from prefetch_advisor.model.figures import (
    ClientKind,
    Concurrency,
    Estimates,
    FigureSource,
    ProcessingTime,
    RoundTrip,
)
from prefetch_advisor.model.observation import Channel, QueueObservation, QueueRow
from prefetch_advisor.model.record import record
from prefetch_advisor.window import Fill, Window, departures, fill

#: share of full samples from which a queue is saturated
SATURATED = 0.9
#: share of full samples from which it may be, and from which that is certain
UNSURE = 0.7
SURELY_SATURATED = 0.95
#: unacked messages a worker from which the backlog sits in the clients
HELD_PER_WORKER = 10
#: seconds without an ack that mean something: 60, less what samples lag each other by
SILENCE = 54.0
#: seconds, three looks of the broker, that a history must last to tell flows by it
LEAST_HISTORY = 15.0
#: acks a server from which P may be inferred
LEAST_ACKS = 30


@record
class Case:
    """Everything that a verdict may look at."""

    observation: QueueObservation
    window: Window
    force: InForce
    estimates: Estimates
    policy: Policy
    #: how the samples stand to the limit; ``None`` without a finite limit
    fill: Fill | None
    #: the broker's view of the queue
    row: QueueRow | None
    #: messages ready and unacked now
    ready: int | None
    unacked: int | None
    #: k: messages one consumer works on at once
    concurrency: int
    #: channels that are given messages; consumers where their channels are unknown
    servers: int
    #: consumers of the queue: the broker's count, else the list's
    consumer_count: int | None
    #: x: messages finished per second by one server; ``None`` unknown
    server_rate: float | None
    #: messages ready and unacked at the limit in at least 90 % of the samples
    saturated: bool
    #: of its active consumers, as far as they are known
    channels: tuple[Channel, ...] = ()
    #: its consumers' channels serve other queues too: their thread is shared
    shared_thread: bool = False

    @property
    def backlog(self) -> int | None:
        """Messages ready and unacked; ``None`` unknown."""
        return None if self.ready is None else self.ready + (self.unacked or 0)

    @property
    def batch(self) -> int:
        """Messages that a consumer acks together."""
        return self.estimates.batch

    @property
    def client(self) -> ClientKind:
        """The kind of client its consumers are."""
        return self.estimates.concurrency.kind

    @property
    def held_by_clients(self) -> bool:
        """Unacked stays above 10 k per server with nothing ready: the backlog is in the clients."""
        if not self.servers or not self.window.lengths:
            return False
        least = HELD_PER_WORKER * self.concurrency * self.servers
        return self.ready_about_zero and all(
            s.unacked is not None and s.unacked > least for s in self.window.lengths
        )

    @property
    def begins(self) -> bool:
        """Its history is too short to tell flows by it; a snapshot without a clock has none."""
        window = self.window
        known = self.clocked and window.rates_span > 0
        return known and min(window.span, window.rates_span) < LEAST_HISTORY

    @property
    def clocked(self) -> bool:
        """Its samples have times."""
        return bool(self.window.lengths) and self.window.lengths[-1].at is not None

    @property
    def changing(self) -> bool:
        """Its consumers are listed otherwise than they are counted, in a history of now."""
        figures = {c.figure for c in self.observation.contradictions}
        return self.clocked and "consumers" in figures

    @property
    def just_came(self) -> bool:
        """More consumers are listed than the queue's own figures, which are older, know of."""
        row, listed = self.row, self.observation.consumers
        if row is None or row.type == "stream" or row.consumers is None or listed is None:
            return False
        return len(listed) > row.consumers

    @property
    def ready_about_zero(self) -> bool:
        """Nothing to speak of is ready in at least half of the samples."""
        known = empty = 0
        for sample in self.window.lengths:
            if sample.ready is not None:
                known += 1
                empty += sample.ready <= 1 or sample.ready <= 0.02 * (sample.unacked or 0)
        return known > 0 and empty * 2 >= known

    @property
    def patience(self) -> float:
        """Seconds that a silence must last: three times the longest task, where P is known."""
        processing = self.estimates.processing
        if processing is None or not processing.usable:
            return SILENCE
        return max(SILENCE, 3 * (processing.p99 or processing.mean))

    @property
    def loops(self) -> bool:
        """Nearly every delivery is a redelivery and hardly any is acked: nothing gets done."""
        rates, span = self.window.rates, self.window.rates_span
        again = rates.redeliver
        if not again:
            return False
        delivered = (rates.deliver or 0.0) + (rates.get or 0.0)
        return again >= 0.8 * delivered and again * span >= 10 and (rates.ack or 0.0) < 0.1 * again

    def confidence(self) -> Confidence:
        """Of a verdict that rests on the samples alone."""
        if self.window.snapshot or len(self.window.lengths) < 3:
            return "low"
        if self.observation.contradictions or self.force.smallest is not None:
            return "low"
        if self.fill is not None and UNSURE <= self.fill.full_share < SURELY_SATURATED:
            return "low"
        return "high"


@record
class Outcome:
    """A verdict with its reason, and what the diagnosis learnt on the way."""

    verdict: Verdict
    reason: str
    confidence: Confidence
    missing: tuple[str, ...] = ()
    #: P, inferred or bounded; replaces the estimate
    processing: ProcessingTime | None = None
    #: R as the broker sees it; replaces the estimate for sizing
    rtt: RoundTrip | None = None
    #: P if the times vary like an exponential: where their variation is not known, size by it
    scattered: float | None = None
    #: a prefetch to try where P cannot be told
    try_prefetch: int | None = None
    #: why that one
    try_because: str = (
        "the processing time is too short to tell: raise the prefetch and measure again"
    )
    #: why no prefetch, or no count of consumers, may be advised although figures are there
    no_prefetch: str | None = None
    no_count: str | None = None
    findings: tuple[Finding, ...] = ()


def make_case(
    observation: QueueObservation,
    window: Window,
    force: InForce,
    estimates: Estimates,
    policy: Policy,
) -> Case:
    """A case, with its samples held against the limit."""
    if force.judged_channels:
        window = _of_channels(window, force.judged_channels)
    limit, row, listed = force.limit.value, observation.row, observation.consumers
    counted = row.consumers if row is not None else None
    if counted is None and listed is not None:
        counted = len(listed)
    servers = force.servers if listed is not None else counted or 0
    if (
        counted
        and observation.contradictions
        and any(c.figure == "consumers" for c in observation.contradictions)
    ):
        servers = max(servers, counted)
    keeps = row is not None and row.type == "stream"
    filled = fill(window, limit) if limit and not keeps else None
    saturated = filled is not None and filled.samples > 0 and filled.full_share >= SATURATED
    found = {c.channel.row.id: c.channel for c in force.active if c.channel is not None}
    channels = tuple(found.values())
    shared = bool(channels) and any(len(channel.queues) > 1 for channel in channels)
    return Case(
        observation=observation,
        window=window,
        force=force,
        estimates=estimates,
        policy=policy,
        fill=filled,
        row=row,
        ready=window.ready,
        unacked=window.unacked,
        concurrency=_concurrency(estimates.concurrency, force, servers, window.unacked),
        servers=servers,
        consumer_count=counted,
        server_rate=_server_rate(window, servers, channels, shared),
        saturated=saturated,
        channels=channels,
        shared_thread=shared,
    )


def _concurrency(known: Concurrency, force: InForce, servers: int, unacked: int | None) -> int:
    """k; of an async client what it may hold, or without a limit what it holds."""
    if known.value is not None:
        return int(known.value)
    held = force.per_server
    if held is None:
        held = (unacked or 0) / servers if servers else 0
    return max(1, round(held))


def channel_rate(channel: Channel) -> float | None:
    """Departures per second of a channel over its history, else the broker's own average."""
    timed = [s for s in channel.row.traffic if s.at is not None]
    if len(timed) > 1:
        first, last = departures(timed[0].totals), departures(timed[-1].totals)
        span = (timed[-1].at or 0.0) - (timed[0].at or 0.0)
        if first is not None and last is not None and span > 0 and last >= first:
            return (last - first) / span
    return departures(channel.row.rates) if channel.row.rates is not None else None


def _server_rate(
    window: Window, servers: int, channels: tuple[Channel, ...], shared: bool
) -> float | None:
    """x: of channels that serve other queues too, all that they do; of others, by the queue.

    Channels that hold nothing, or are full and ack nothing beside others that do, do not work.
    """
    if shared:
        rates = [channel_rate(channel) for channel in channels]
        known = [rate for rate in rates if rate is not None]
        return sum(known) / len(known) if known and len(known) == len(rates) else None
    if window.handled is None or not servers:
        return None
    if len(channels) == servers > 1 and window.unacked:
        resting = sum(channel.row.unacked == 0 for channel in channels)
        dead = sum(never_acked(channel) for channel in channels)
        servers -= min(servers - 1, max(resting + dead, 0))
    return window.handled / servers


def never_acked(channel: Channel) -> bool:
    """Whether a channel holds messages and has acked none since it was opened."""
    traffic = channel.row.traffic
    return bool(channel.row.unacked) and bool(traffic) and departures(traffic[-1].totals) == 0


def inferred_processing(
    seconds: float, acks_per_server: float, servers: int, origin: str
) -> ProcessingTime:
    """An inferred P; from fewer than 30 acks a server only its range is known.

    The range takes the acks as a Poisson count: one standard error is 1 / sqrt(acks).
    """
    count = max(1.0, acks_per_server * servers)
    half = 1.96 / count**0.5
    interval = (seconds / (1 + half), seconds / (1 - half) if half < 1 else seconds * (1 + half))
    enough = acks_per_server >= LEAST_ACKS
    return ProcessingTime(
        mean=seconds,
        source=FigureSource.INFERRED if enough else FigureSource.BOUND,
        origin=origin if enough else f"{origin}, from only {acks_per_server:.0f} acks a consumer",
        ci95=interval,
    )


def _of_channels(window: Window, channels: tuple[Channel, ...]) -> Window:
    """A limit shared with other queues: the channels' unacked decides, of which one is known."""
    held = [channel.row.unacked for channel in channels]
    if not window.lengths or None in held:
        return window
    last = replace(window.lengths[-1], unacked=sum(n or 0 for n in held))
    return replace(window, lengths=(last,))
