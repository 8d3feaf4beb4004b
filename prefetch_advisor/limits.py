"""The limit in force: the most unacked deliveries that a queue's active consumers may hold.

Three places may set it (consumer, channel, the queue type's default), and what the broker lists is
not always what it enforces; the table is in the documentation of each branch below.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from prefetch_advisor.config import QUORUM_UNLIMITED
from prefetch_advisor.model.advice import Limit
from prefetch_advisor.model.observation import Channel, Consumer, QueueObservation
from prefetch_advisor.model.record import record
from prefetch_advisor.window import Window, is_full

_OWN_TAGS = ("federation-link", "fifo-dlx")
_OWN_QUEUES = ("mqtt-subscription-", "federation: ")
_OWN_CONNECTIONS = ("Shovel ", "Federation link")
_ASIDE = ("waiting", "suspected_down")
_SHARED_UNSEEN = "a global (channel-wide) limit that this broker does not show"


@record
class InForce:
    """The limit of a queue, and who is under it."""

    limit: Limit
    #: consumers that may be given messages now; waiting ones do not count
    active: tuple[Consumer, ...] = ()
    #: channels of the active consumers: a channel's consumers share one thread
    servers: int = 0
    #: active consumers without any limit: auto-ack, or manual ack with prefetch 0
    unlimited: tuple[Consumer, ...] = ()
    #: single active consumer queue
    single_active: bool = False
    #: its channels, where those that it shares with other queues are at their own limit: judge them
    judged_channels: tuple[Channel, ...] = ()
    #: whether the only figure missing is one that a closer look would supply
    unclear: str | None = None

    #: prefetch of the server that has the smallest, where consumers differ
    smallest: int | None = None

    @property
    def per_server(self) -> float | None:
        """Prefetch of one server, the smallest where they differ; ``None``: none or unknown."""
        if self.smallest is not None:
            return self.smallest
        return self.limit.value / self.servers if self.limit.value and self.servers else None


def in_force(observation: QueueObservation, window: Window) -> InForce:
    """The limit of one queue, from its consumers, their channels, its type and its samples."""
    consumers = observation.consumers
    if consumers is None:
        return InForce(Limit(None, "unknown", "measured", _why_unlisted(observation)))
    single_active = is_single_active(observation)
    active = active_consumers(observation, single_active)
    ours = tuple([c for c in active if not is_internal(c)])
    servers = len({c.row.channel or i for i, c in enumerate(ours)})
    if not active:
        origin = "none of its consumers is active" if consumers else "it has no consumers"
        return InForce(Limit(None, "unknown", "measured", origin), single_active=single_active)
    if not ours:
        origin = "a shovel, federation or MQTT: its own window, excused"
        return InForce(Limit(None, "internal", "measured", origin), active)
    plain = _plain_sum(ours)
    if plain is not None:
        least = None
        if " + " in plain.origin or servers < len(ours):
            least = _smallest(_by_channel(ours, (c.row.prefetch or 0 for c in ours)))
        return InForce(plain, active, servers, (), single_active, smallest=least)
    parts = [_own_limit(c, observation) for c in ours]
    unclear = next((p.unclear for p in parts if p.unclear), None)
    if unclear:
        return _from_samples(observation, window, active, servers, single_active, ours, unclear)
    unlimited = tuple(c for c, p in zip(ours, parts, strict=True) if p.kind == "none")
    if unlimited:
        return InForce(
            Limit(None, "none", "measured", _unlimited_words(unlimited)),
            active,
            servers,
            unlimited,
            single_active,
        )
    if any(p.kind == "credit" for p in parts):
        origin = "AMQP 1.0 link credit, which the broker does not list"
        return InForce(Limit(None, "credit", "measured", origin), active, servers)
    if any(p.value is None for p in parts):
        origin = "the prefetch of some consumers is not in the input"
        return InForce(Limit(None, "unknown", "measured", origin), active, servers)
    return _finite(ours, parts, active, servers, single_active)


def _why_unlisted(observation: QueueObservation) -> str:
    for contradiction in observation.contradictions:
        if contradiction.figure == "consumers":
            return f"its consumers changed while they were listed: {contradiction.other}"
    return "no list of consumers was read"


def is_single_active(observation: QueueObservation) -> bool:
    """Whether the queue hands messages to one consumer at a time.

    The argument decides; a consumer's ``single_active`` or ``waiting`` status proves it too, and so
    does, where neither is shown, one active consumer among others that are not. The queue's
    single_active_consumer_tag does not: brokers from 4.0 on set it without the argument.
    """
    row, consumers = observation.row, observation.consumers or ()
    if row is not None and "single-active-consumer" in row.settings:
        return row.settings["single-active-consumer"] is True
    if any(c.row.status in ("single_active", "waiting") for c in consumers):
        return True
    if len(consumers) < 2 or (row is not None and (row.settings or row.type == "stream")):
        return False
    plain = all(c.row.status is None for c in consumers)
    return plain and sum(c.row.active is not False for c in consumers) == 1


def active_consumers(observation: QueueObservation, single_active: bool) -> tuple[Consumer, ...]:
    """The consumers that may be given messages now."""
    consumers = observation.consumers or ()
    row = observation.row
    if row is not None and row.type == "stream":
        return consumers  # `active` of a stream's consumers means nothing up to 4.0
    if single_active:
        chosen = tuple(c for c in consumers if c.row.status == "single_active")
        if not chosen:
            chosen = tuple(c for c in consumers if c.row.active and c.row.status != "waiting")
        return chosen[:1] or consumers[:1]
    for consumer in consumers:
        if consumer.row.active is False or consumer.row.status in _ASIDE:
            return tuple(
                c for c in consumers if c.row.active is not False and c.row.status not in _ASIDE
            )
    return consumers


def is_internal(consumer: Consumer) -> bool:
    """Whether the broker itself consumes: shovel, federation, MQTT, dead-lettering.

    A shovel or federation link from another broker, or from this one by its address, is an ordinary
    connection but for its name. STOMP connections are "direct" too, yet their clients choose the
    prefetch.
    """
    connection, row = consumer.connection, consumer.row
    if connection is not None:
        protocol = (connection.protocol or "").upper()
        if "MQTT" in protocol or (connection.label or "").startswith(_OWN_CONNECTIONS):
            return True
        if connection.type == "direct" and not is_stomp(consumer):
            return True
    return row.tag.startswith(_OWN_TAGS) or row.queue.startswith(_OWN_QUEUES)


def is_stomp(consumer: Consumer) -> bool:
    """Whether its client speaks STOMP: no limit but by the header prefetch-count of SUBSCRIBE."""
    connection = consumer.connection
    return connection is not None and "STOMP" in (connection.protocol or "").upper()


@lru_cache(maxsize=32)
def version_of(text: str | None) -> tuple[int, ...] | None:
    """A broker version as numbers: "4.0.5" is (4, 0, 5); ``None`` when it has none."""
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", text or "")
    return tuple(int(n) for n in found.groups(default="0")) if found else None


def _by_channel(ours: Sequence[Consumer], values: Iterable[int]) -> dict[str, int]:
    """What each channel's consumers may hold together; one whose channel is unknown has its own."""
    sums: dict[str, int] = {}
    for i, (consumer, value) in enumerate(zip(ours, values, strict=True)):
        where = consumer.row.channel or f"consumer {i}"
        sums[where] = sums.get(where, 0) + value
    return sums


def _smallest(sums: Mapping[str, int]) -> int | None:
    """The smallest prefetch of a server, where servers differ; ``None`` where they do not."""
    values = set(sums.values())
    return min(values) if len(values) > 1 else None


def _plain_sum(ours: tuple[Consumer, ...]) -> Limit | None:
    """The common case: every consumer has its own prefetch and nothing else limits it."""
    counts: dict[int, int] = {}
    for consumer in ours:
        prefetch, channel, connection = consumer.row.prefetch, consumer.channel, consumer.connection
        if not prefetch or consumer.row.ack == "auto":
            return None
        if channel is not None and channel.row.global_prefetch:
            return None
        if connection is not None and (connection.protocol or "").startswith("AMQP 1"):
            return None
        counts[prefetch] = counts.get(prefetch, 0) + 1
    if not counts:
        return None
    words = _added_up(counts)
    total = sum(prefetch * n for prefetch, n in counts.items())
    return Limit(total, "per-consumer", "measured", words)


@record
class _Part:
    """The limit of one consumer before its channel's is applied."""

    value: int | None
    kind: str
    unclear: str | None = None


def _own_limit(consumer: Consumer, observation: QueueObservation) -> _Part:
    row, channel = consumer.row, consumer.channel
    queue_type = observation.row.type if observation.row else None
    connection = consumer.connection
    if connection and connection.protocol and connection.protocol.upper().startswith("AMQP 1"):
        return _Part(None, "credit")
    if row.ack == "auto":
        return _Part(None, "none")
    if row.prefetch is None:
        return _Part(None, "unknown")
    if row.prefetch > 0:
        return _Part(row.prefetch, "per-consumer")
    if queue_type == "stream":
        return _Part(None, "credit")
    if queue_type == "quorum":
        return _Part(QUORUM_UNLIMITED, "quorum-default")
    if queue_type is None:
        return _Part(None, "none", unclear="type of the queue (2,000 on a quorum queue)")
    shared = channel.row.global_prefetch if channel else None
    if shared:
        return _Part(shared, "channel")
    if shared == 0:
        return _Part(None, "none")  # up to 4.0.2 the channel says so itself
    return _Part(None, "none", unclear="global_prefetch_count of its channel")


def _finite(
    ours: tuple[Consumer, ...],
    parts: Sequence[_Part],
    active: tuple[Consumer, ...],
    servers: int,
    single_active: bool,
) -> InForce:
    """Every consumer has a limit: sum them, each channel's sum capped by its global limit."""
    sums = _by_channel(ours, (part.value or 0 for part in parts))
    capped, shared = False, {}
    channels: dict[str, Channel] = {}
    for consumer in ours:
        channel, where = consumer.channel, consumer.row.channel
        if channel is None or where is None:
            continue
        channels[where] = channel
        cap = channel.row.global_prefetch
        if not cap:
            continue
        if len(channel.queues) > 1:
            capped, shared[where] = True, cap
        if cap < sums[where]:
            capped = True
            sums[where] = cap
    # below their own limit, what counts is what this queue's consumers may hold
    judged: tuple[Channel, ...] = ()
    if shared and all(is_full(channels[where].row.unacked, cap) for where, cap in shared.items()):
        sums |= shared
        judged = tuple(channels.values())
    kinds = {p.kind for p in parts}
    if capped or "channel" in kinds:
        kind = "channel"
    elif len(kinds) == 1:
        kind = kinds.pop()
    else:
        kind = "mixed"
    limit = Limit(sum(sums.values()), kind, "measured", _words(ours, parts, capped))
    return InForce(limit, active, servers, (), single_active, judged, smallest=_smallest(sums))


def _from_samples(
    observation: QueueObservation,
    window: Window,
    active: tuple[Consumer, ...],
    servers: int,
    single_active: bool,
    ours: tuple[Consumer, ...],
    unclear: str,
) -> InForce:
    """Prefetch 0 on a classic queue and no view of a global limit: unlimited, or limited unseen.

    A consumer without a limit takes every message at once, so messages that stay ready beside
    unacked that stands still in three samples (or a consumer that the broker calls blocked) are a
    limit. One snapshot with both cannot tell.
    """
    ready = [s.ready for s in window.lengths if s.ready]
    levels = {s.unacked for s in window.lengths if s.ready}
    blocked = any(c.row.status == "blocked" for c in ours)
    standing = len(levels) == 1 and 0 not in levels and None not in levels
    if standing and (len(ready) >= 3 or blocked):
        if observation.row is None or observation.row.type is None:
            words = f"unacked stands at {window.unacked:,} with prefetch 0 listed; type unknown"
            limit = Limit(window.unacked, "inferred", "inferred", words)
        else:
            limit = Limit(window.unacked, "channel", "inferred", _SHARED_UNSEEN)
        return InForce(limit, active, servers, (), single_active, unclear=unclear)
    if standing and window.snapshot:
        words = (
            "prefetch 0 is listed, but messages are ready and unacked is not 0: unlimited, or a "
            "limit of the channel or of the queue's type"
        )
        limit = Limit(None, "unknown", "measured", words)
        return InForce(limit, active, servers, (), single_active, unclear=unclear)
    unlimited = tuple(c for c in ours if c.row.ack == "auto" or c.row.prefetch == 0)
    words = _unlimited_words(unlimited)
    manual = [c for c in unlimited if c.row.ack != "auto"]
    if any(c.connection is None or c.connection.protocol is None for c in manual):
        words += " (or AMQP 1.0 credit: the protocol of the connection is not in the input)"
    return InForce(
        Limit(None, "none", "measured", words), active, servers, unlimited, single_active
    )


def _unlimited_words(consumers: Sequence[Consumer]) -> str:
    auto = sum(c.row.ack == "auto" for c in consumers)
    manual = len(consumers) - auto
    words = []
    if manual:
        words.append(f"{manual} with manual ack and prefetch 0")
    if auto:
        words.append(f"{auto} with automatic ack, where any prefetch is ignored")
    return " and ".join(words)


def _added_up(counts: Mapping[int, int] | Mapping[str, int]) -> str:
    return " + ".join(f"{n} x {value}" for value, n in counts.items())


def _words(consumers: Sequence[Consumer], parts: Sequence[_Part], capped: bool) -> str:
    counts: dict[str, int] = {}
    if all(part.kind == "channel" for part in parts):
        shared = {part.value for part in parts}
        values = ", ".join(map(str, sorted(filter(None, shared))))
        return f"{values}, shared by {len(parts)} consumers"
    for part in parts:
        text = f"{part.value}" if part.kind != "quorum-default" else "2000 (0 on a quorum queue)"
        counts[text] = counts.get(text, 0) + 1
    words = _added_up(counts)
    if capped:
        caps = {
            c.channel.row.global_prefetch
            for c in consumers
            if c.channel is not None and c.channel.row.global_prefetch
        }
        words += f", at most {', '.join(map(str, sorted(filter(None, caps))))} on the channel"
    return words
