"""Rows of ``rabbitmqctl list_*``, as values by column name, into the model; and its JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import (
    ChannelRow,
    ConnectionRow,
    ConsumerRow,
    Coverage,
    Intake,
    LengthSample,
    QueueRow,
    SourceKind,
)
from prefetch_advisor.sources.erlang_terms import arguments
from prefetch_advisor.sources.fields import (
    Doubts,
    ack_timeout,
    count,
    counted,
    flag,
    number,
    queue_type,
    settings,
    shown,
    text,
    without,
)
from prefetch_advisor.sources.json_kinds import document_list
from prefetch_advisor.sources.management import connection_of, priority
from prefetch_advisor.sources.queue_names import LONGEST, too_long
from prefetch_advisor.sources.rabbitmqctl_columns import IDENTITY

_KIND = SourceKind.RABBITMQCTL
Values = Mapping[str, object]
Row = TypeVar("Row")


def read_document(
    document: object,
    listed: str,
    where: str,
    *,
    vhost: str | None = None,
    strict: bool = False,
) -> Intake:
    """One document of ``--formatter=json``; ``vhost`` as the command line named it.

    Raises:
        InputError: no row of it can be used, or (strict) a value cannot.
    """
    items: Sequence[object] = document if isinstance(document, list) else (document,)
    doubts = Doubts(where, strict)
    values = []
    for position, item in enumerate(items, 1):
        wrong = _wrong(item, listed)
        if wrong is not None:
            doubts.bad_row(position, *wrong, item=True)
        elif isinstance(item, dict):
            values.append(item)
    if items and not values:
        first = doubts.bad[0]
        raise InputError(
            f"{where}: no usable row among {counted(len(items), listed)}: expected "
            f"{first.expected}, found {first.found}: ask rabbitmqctl list_{listed} for that column"
        )
    return build(values, listed, vhost, doubts)


def _wrong(item: object, listed: str) -> tuple[str, str] | None:
    """What was expected of a row that cannot be one of a list, and what was found."""
    key = IDENTITY[listed]
    if type(item) is not dict or not named(item, listed):
        return f"an object with {key}", without(item, key)
    # channels may have been asked for columns that queues have as well, not the other way round
    if listed == "queues" and (kind := document_list(item)[1]) not in ("queues", "unknown"):
        return f"a row of {listed}", f"one of {kind}: {shown(item.get(key))}"
    if listed in ("queues", "consumers") and too_long(item[key]):
        return f"a name of at most {LONGEST} bytes", shown(item[key])
    return None


def named(values: Values, listed: str) -> bool:
    """Whether a row says whose it is."""
    name = values.get(IDENTITY[listed])
    if listed == "channels" and not name:
        name = values.get("name")
    return type(name) is str and name != ""


def build(values: Sequence[Values], listed: str, vhost: str | None, doubts: Doubts) -> Intake:
    """The rows of one list, each with its identity; ``vhost`` as the preamble named it."""
    where = doubts.where
    rows = _ROWS[listed](values, vhost, doubts)
    coverage: tuple[Coverage, ...] = ()
    if listed == "consumers":
        # one call lists one vhost
        coverage = (Coverage(_KIND, vhost),)
    return Intake(
        where,
        queues=rows if listed == "queues" else (),  # type: ignore[arg-type]
        consumers=rows if listed == "consumers" else (),  # type: ignore[arg-type]
        channels=rows if listed == "channels" else (),  # type: ignore[arg-type]
        connections=rows if listed == "connections" else (),  # type: ignore[arg-type]
        bad_rows=tuple(doubts.bad),
        bad_count=doubts.bad_count,
        notes=doubts.notes(),
        lists=frozenset((listed,)),
        coverage=coverage,
    )


def _named_arguments(value: object, name: str, doubts: Doubts) -> dict[str, object]:
    if not value:
        return {}
    found = arguments(value)
    if found is None:
        doubts.note(name, value)
        return {}
    return found


def queue_row(values: Values, vhost: str | None, doubts: Doubts) -> QueueRow:
    """One row of ``list_queues``."""
    get = values.get
    doubts.begin("queue", str(get("name")))
    known = settings(
        _named_arguments(get("arguments"), "arguments", doubts),
        _named_arguments(get("effective_policy_definition"), "effective_policy_definition", doubts),
    )
    ready = count(get("messages_ready"), "messages_ready", doubts)
    unacked = count(get("messages_unacknowledged"), "messages_unacknowledged", doubts)
    return QueueRow(
        kind=_KIND,
        where=doubts.where,
        vhost=text(get("vhost"), "vhost", doubts) or vhost,
        name=str(get("name")),
        type=queue_type(text(get("type"), "type", doubts), known),
        state=text(get("state"), "state", doubts),
        ready=ready,
        unacked=unacked,
        messages=count(get("messages"), "messages", doubts),
        message_bytes=count(get("message_bytes"), "message_bytes", doubts),
        unacked_bytes=count(
            get("message_bytes_unacknowledged"), "message_bytes_unacknowledged", doubts
        ),
        consumers=count(get("consumers"), "consumers", doubts),
        settings=known,
        exclusive=flag(get("exclusive"), "exclusive", doubts),
        lengths=() if ready is None and unacked is None else (LengthSample(None, ready, unacked),),
        ready_bytes=count(get("message_bytes_ready"), "message_bytes_ready", doubts),
    )


def consumer_row(values: Values, vhost: str | None, doubts: Doubts) -> ConsumerRow:
    """One row of ``list_consumers``."""
    get = values.get
    doubts.begin("consumer", str(get("consumer_tag")))
    known = _named_arguments(get("arguments"), "arguments", doubts)
    required = flag(get("ack_required"), "ack_required", doubts)
    return ConsumerRow(
        kind=_KIND,
        where=doubts.where,
        vhost=text(get("vhost"), "vhost", doubts) or vhost,
        queue=str(get("queue_name")),
        tag=text(get("consumer_tag"), "consumer_tag", doubts) or "",
        channel=pid(text(get("channel_pid"), "channel_pid", doubts)),
        prefetch=count(get("prefetch_count"), "prefetch_count", doubts),
        ack=None if required is None else "manual" if required else "auto",
        active=flag(get("active"), "active", doubts),
        status=text(get("activity_status"), "activity_status", doubts),
        priority=priority(known),
        ack_timeout=ack_timeout(known.get("x-consumer-timeout"), "x-consumer-timeout", doubts),
        arguments=known,
    )


def pid(printed: str | None) -> str | None:
    """A pid as other lists of the same kind print it: ``Pid(#PID<1.2.3>)`` is ``#PID<1.2.3>``."""
    if printed is not None and printed.startswith("Pid(") and printed.endswith(")"):
        return printed[4:-1]
    return printed


def channel_row(values: Values, vhost: str | None, doubts: Doubts) -> ChannelRow:
    """One row of ``list_channels``."""
    get = values.get
    doubts.begin("channel", str(get("name") or get("pid")))
    name = text(get("name"), "name", doubts)
    return ChannelRow(
        kind=_KIND,
        where=doubts.where,
        id=pid(text(get("pid"), "pid", doubts)) or name or "",
        vhost=text(get("vhost"), "vhost", doubts) or vhost,
        connection=connection_of(name) if name else None,
        prefetch=count(get("prefetch_count"), "prefetch_count", doubts),
        global_prefetch=count(get("global_prefetch_count"), "global_prefetch_count", doubts),
        consumers=count(get("consumer_count"), "consumer_count", doubts),
        unacked=count(get("messages_unacknowledged"), "messages_unacknowledged", doubts),
    )


def connection_row(values: Values, vhost: str | None, doubts: Doubts) -> ConnectionRow:
    """One row of ``list_connections``; its own vhost says nothing of consumers."""
    get = values.get
    doubts.begin("connection", str(get("name")))
    properties = _named_arguments(get("client_properties"), "client_properties", doubts)
    connected = number(get("connected_at"), "connected_at", doubts)
    return ConnectionRow(
        name=str(get("name")),
        protocol=_protocol(get("protocol"), doubts),
        product=text(properties.get("product"), "client_properties.product", doubts),
        connected_at=None if connected is None else connected / 1000,
        state=text(get("state"), "state", doubts),
        label=text(properties.get("connection_name"), "connection_name", doubts),
    )


def _protocol(value: object, doubts: Doubts) -> str | None:
    """``{0,9,1}`` is "AMQP 0-9-1", ``{1,0}`` "AMQP 1.0", ``{'MQTT',"3.1.1"}`` "MQTT 3.1.1"."""
    if isinstance(value, list) and value:
        if all(type(part) is int for part in value):
            joint = "." if value[0] else "-"
            return "AMQP " + joint.join(str(part) for part in value)
        return " ".join(str(part) for part in value)
    return text(value, "protocol", doubts)


def _rows_of(
    one: Callable[[Values, str | None, Doubts], Row],
) -> Callable[[Sequence[Values], str | None, Doubts], tuple[Row, ...]]:
    def rows(values: Sequence[Values], vhost: str | None, doubts: Doubts) -> tuple[Row, ...]:
        return tuple(one(item, vhost, doubts) for item in values)

    return rows


_ROWS: dict[str, Callable[[Sequence[Values], str | None, Doubts], tuple[object, ...]]] = {
    "queues": _rows_of(queue_row),
    "consumers": _rows_of(consumer_row),
    "channels": _rows_of(channel_row),
    "connections": _rows_of(connection_row),
}
