"""The queues of a running broker as ``init`` writes them down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prefetch_advisor.limits import is_internal, is_single_active, version_of
from prefetch_advisor.lint.declared.template import SeenQueue
from prefetch_advisor.model.observation import Broker, Consumer, QueueObservation
from prefetch_advisor.units import plural

_TYPES = ("classic", "quorum", "stream")


def seen(
    queues: Iterable[QueueObservation], broker: Broker
) -> tuple[list[SeenQueue], dict[str, object], list[str]]:
    """The queues with consumers, what holds for all of them, and what was left out and why."""
    found: list[SeenQueue] = []
    without = own = unnamed = 0
    for queue in queues:
        consumers = queue.consumers or ()
        exclusive = queue.row is not None and queue.row.exclusive
        counted = queue.row.consumers if queue.row is not None else None
        if (consumers and all(map(is_internal, consumers))) or exclusive:
            own += 1
        elif not consumers and not counted:
            without += 1
        elif not _is_text(queue.key.name) or not _is_text(queue.key.vhost):
            unnamed += 1
        else:
            found.append(_queue(queue, [c for c in consumers if not is_internal(c)]))
    remarks = [
        f"Left out: {plural(count, 'queue')} {why}."
        for count, why in (
            (without, "without consumers"),
            (own, "for one connection (exclusive) or read by the broker itself"),
            (unnamed, "whose name is no UTF-8 and cannot be written here"),
        )
        if count
    ]
    defaults: dict[str, object] = {}
    if broker.version is not None and version_of(broker.version) is not None:
        defaults["broker-version"] = broker.version.split()[0]
    return found, defaults, remarks


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # bytes that were no UTF-8
        return False
    return bool(name)


def _limit(consumer: Consumer) -> int | None:
    """Its own prefetch, else its channel's; ``None``: not known."""
    if _has_credit(consumer):
        return None
    return consumer.row.prefetch or _shared(consumer) or consumer.row.prefetch


def _shared(consumer: Consumer) -> int | None:
    """The limit that the consumers of its channel share; 0 and ``None``: none that is seen."""
    return consumer.channel.row.global_prefetch if consumer.channel is not None else None


def _has_credit(consumer: Consumer) -> bool:
    connection = consumer.connection
    return connection is not None and (connection.protocol or "").startswith("AMQP 1")


def _queue(queue: QueueObservation, consumers: Sequence[Consumer]) -> SeenQueue:
    row = queue.row
    values: dict[str, object] = {"name": queue.key.name}
    remarks: list[str] = []
    if queue.key.vhost != "/":
        values["vhost"] = queue.key.vhost
    if row is not None and row.type in _TYPES:
        values["type"] = row.type
    count = len(consumers) or (row.consumers if row is not None else None)
    if count:
        values["consumers"] = count
    limits = sorted({n for n in map(_limit, consumers) if n is not None})
    if limits:
        # of several the one that may hold most
        values["prefetch"] = 0 if 0 in limits else limits[-1]
    if len(limits) > 1:
        listed = ", ".join(map(str, limits))
        remarks.append(f"Its consumers differ: their prefetch is {listed}.")
    if any(not c.row.prefetch and _shared(c) for c in consumers):
        values["global-qos"] = True
    if any(map(_has_credit, consumers)):
        remarks.append("AMQP 1.0 consumers, whose credit the broker does not list.")
    acks = {c.row.ack for c in consumers if c.row.ack is not None}
    if acks:
        values["ack"] = "auto" if "auto" in acks else "manual"
    if len(acks) > 1:
        remarks.append("Some of its consumers ack automatically, and some do not.")
    if is_single_active(queue):
        values["single-active-consumer"] = True
    if row is not None:
        levels, timeout = (row.settings.get(k) for k in ("max-priority", "consumer-timeout"))
        if isinstance(levels, int) and 0 < levels <= 255:
            values["priorities"] = levels
        if isinstance(timeout, int) and timeout > 0:
            values["consumer-timeout"] = f"{timeout}ms"
    return SeenQueue(values, remarks)
