"""What sources saw: partial, tagged with where it came from. ``None`` is "this source did not say".

Seconds and per-second everywhere. ``prefetch``: ``None`` unknown, ``0`` unlimited, ``n`` limited.
Names are text as the broker has them; bytes that are not UTF-8 are kept as lone surrogates
(``surrogateescape``) and are hostile until a report escapes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Literal, NamedTuple

from prefetch_advisor.model.record import record
from prefetch_advisor.model.timing import TimingRow

Ack = Literal["manual", "auto"]


class SourceKind(StrEnum):
    """Kinds of source, the most trusted first (after options)."""

    TIMINGS = "timings"
    MANAGEMENT = "management"
    RABBITMQCTL = "rabbitmqctl"


class QueueKey(NamedTuple):
    """Identity of a queue. ``broker`` is ``None`` while there is only one."""

    broker: str | None
    vhost: str
    name: str


@record
class Traffic:
    """Message counters, or their rates per second; an absent counter is ``None``, not 0."""

    publish: float | None = None
    #: deliveries to manual-ack consumers
    deliver: float | None = None
    #: deliveries to auto-ack consumers
    deliver_no_ack: float | None = None
    #: ``basic.get`` with manual ack
    get: float | None = None
    #: ``basic.get`` with auto-ack
    get_no_ack: float | None = None
    ack: float | None = None
    redeliver: float | None = None


@record
class LengthSample:
    """Depth of a queue at one moment."""

    #: seconds (epoch, or since the first of a series); ``None``: one snapshot without a clock
    at: float | None
    ready: int | None
    unacked: int | None


@record
class TrafficSample:
    """Cumulative counters of a queue or channel at one moment."""

    #: seconds, as in :class:`LengthSample`
    at: float | None
    totals: Traffic


@record
class QueueRow:
    """One queue as one input showed it."""

    kind: SourceKind
    #: file name, "stdin"
    where: str
    #: ``None``: the input does not name it (``rabbitmqctl`` rows without a preamble)
    vhost: str | None
    name: str
    #: classic, quorum, stream; or a plugin's type
    type: str | None = None
    #: running, flow, idle, down, crashed, stopped, minority ... as printed
    state: str | None = None
    ready: int | None = None
    unacked: int | None = None
    messages: int | None = None
    #: bytes of message bodies: all, and those unacked
    message_bytes: int | None = None
    unacked_bytes: int | None = None
    #: the broker's count of consumers
    consumers: int | None = None
    #: x-arguments and effective policy keys, without the "x-" prefix, arguments winning
    settings: Mapping[str, object] = field(default_factory=dict)
    exclusive: bool | None = None
    #: oldest first; one element with the present depth where there is no history
    lengths: tuple[LengthSample, ...] = ()
    #: oldest first
    traffic: tuple[TrafficSample, ...] = ()
    #: the broker's own 5-second rates: used only where ``traffic`` spans no time
    rates: Traffic | None = None
    #: a message_stats object was there: an absent counter in it is then 0
    has_stats: bool = False
    #: the input shows the whole row, so that a missing message_stats means: no traffic, ever
    full: bool = False
    #: bytes of message bodies that are ready
    ready_bytes: int | None = None
    #: the last hour at one sample a minute, oldest first, beside the last minute in ``lengths`` and
    #: ``traffic``; only where a live source was asked for single queues
    hour_lengths: tuple[LengthSample, ...] = ()
    hour_traffic: tuple[TrafficSample, ...] = ()
    #: the node that it is on
    node: str | None = None
    #: seconds since the epoch before which its history says nothing; ``None``: all of it counts
    known_since: float | None = None
    #: it was declared, or its node started, so lately that the broker shows no figures of it yet
    young: bool = False


@record
class ConnectionRow:
    """One client connection."""

    name: str
    #: "AMQP 0-9-1", "AMQP 1.0", "MQTT 3.1.1" ...; ``None`` unknown
    protocol: str | None = None
    #: client_properties.product: a hint at the kind of client, never more
    product: str | None = None
    #: seconds since the epoch
    connected_at: float | None = None
    #: network, direct (made within the broker: shovels, plugins for other protocols)
    type: str | None = None
    #: running, flow, blocking, blocked
    state: str | None = None
    #: the name that the client gave it (connection_name)
    label: str | None = None


@record
class ChannelRow:
    """One channel: the server of a queue's messages (its consumers share one thread)."""

    kind: SourceKind
    where: str
    #: what consumers refer to: the channel's name (API) or its pid (``rabbitmqctl``)
    id: str
    vhost: str | None = None
    connection: str | None = None
    #: the limit for consumers created LATER on it: never a limit by itself
    prefetch: int | None = None
    #: shared by its consumers, 0 none; absent from brokers since 4.0.3
    global_prefetch: int | None = None
    consumers: int | None = None
    unacked: int | None = None
    traffic: tuple[TrafficSample, ...] = ()
    rates: Traffic | None = None
    #: running, flow ...
    state: str | None = None
    #: the limit it was seen with before, the first of a series
    limit_before: int | None = None

    @property
    def limit(self) -> int | None:
        """The limit it has or sets: the shared one, else that of later consumers."""
        return self.global_prefetch or self.prefetch


@record
class ConsumerRow:
    """One subscription."""

    kind: SourceKind
    where: str
    vhost: str | None
    queue: str
    tag: str
    channel: str | None = None
    connection: str | None = None
    prefetch: int | None = None
    ack: Ack | None = None
    active: bool | None = None
    #: up, waiting, single_active, blocked, suspected_down
    status: str | None = None
    exclusive: bool | None = None
    #: x-priority
    priority: int | None = None
    #: the consumer's own delivery acknowledgement timeout, seconds
    ack_timeout: float | None = None
    #: arguments as the broker shows them, by name
    arguments: Mapping[str, object] = field(default_factory=dict)


@record
class BrokerRow:
    """What an input says of the broker as a whole."""

    where: str
    version: str | None = None
    #: basic, detailed, none
    rates_mode: str | None = None
    statistics_off: bool | None = None
    #: "memory on rabbit@a", "disk on rabbit@b"
    alarms: tuple[str, ...] = ()
    #: global QoS is permitted (4.3); ``None`` unknown
    global_qos_permitted: bool | None = None
    #: seconds since each node was started, by its name
    uptimes: Mapping[str, float] = field(default_factory=dict)


@record
class BadRow:
    """A row that was left out, and why."""

    where: str
    line: int
    expected: str
    found: str
    #: "line" is the position of an item in a JSON list, from 1
    item: bool = False

    @property
    def place(self) -> str:
        """Where it is, for a person."""
        return f"{self.where}: {'item' if self.item else 'line'} {self.line}"


@record
class Coverage:
    """What a list of consumers is complete for: a queue of this scope that it lacks has none."""

    kind: SourceKind
    #: ``None``: the vhost that the input does not name
    vhost: str | None = None
    #: ``None``: every queue of the vhost
    queue: str | None = None
    #: every queue of every vhost
    everywhere: bool = False


@record
class Intake:
    """Everything one input gave."""

    where: str
    #: position among the inputs: later ones of a kind continue a series
    index: int = 0
    queues: tuple[QueueRow, ...] = ()
    consumers: tuple[ConsumerRow, ...] = ()
    channels: tuple[ChannelRow, ...] = ()
    connections: tuple[ConnectionRow, ...] = ()
    brokers: tuple[BrokerRow, ...] = ()
    timings: tuple[TimingRow, ...] = ()
    #: the first few, and how many there were
    bad_rows: tuple[BadRow, ...] = ()
    bad_count: int = 0
    #: things to tell on stderr: a page of several, a truncated document
    notes: tuple[str, ...] = ()
    #: lists this input holds, even when empty: "queues", "consumers", "channels", "connections"
    lists: frozenset[str] = frozenset()
    #: reading was interrupted: what was read so far is here
    interrupted: bool = False
    #: what its lists of consumers are complete for
    coverage: tuple[Coverage, ...] = ()


@record
class Channel:
    """A channel joined with its connection and with the queues it serves."""

    row: ChannelRow
    connection: ConnectionRow | None
    #: names of the queues that its known consumers read
    queues: frozenset[str]


@record
class Consumer:
    """A consumer joined with its channel and connection."""

    row: ConsumerRow
    channel: Channel | None
    connection: ConnectionRow | None


@record
class Broker:
    """The broker as all inputs together show it."""

    version: str | None = None
    rates_mode: str | None = None
    statistics_off: bool = False
    alarms: tuple[str, ...] = ()
    global_qos_permitted: bool | None = None


@record
class Contradiction:
    """Two sources that disagree by more than they may."""

    #: what they disagree about: "ready", "consumers"
    figure: str
    taken: str
    other: str


@record
class QueueObservation:
    """One queue as all inputs together show it: what estimate, sizing and diagnosis start from."""

    key: QueueKey
    #: the merged broker view; ``None`` where only timings name the queue
    row: QueueRow | None
    #: ``None``: no list of consumers was read
    consumers: tuple[Consumer, ...] | None
    timings: TimingRow | None
    broker: Broker
    #: files, in order
    origins: tuple[str, ...]
    #: the vhost was not in the input but taken as "/" or from -V
    vhost_assumed: bool = False
    contradictions: tuple[Contradiction, ...] = ()
    #: the queue is the dead-letter target of another one
    dead_letter_target: bool = False
