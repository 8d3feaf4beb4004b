"""JSON of the management API into rows: pure functions of parsed documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import (
    BrokerRow,
    ChannelRow,
    ConnectionRow,
    ConsumerRow,
    Coverage,
    Intake,
    QueueRow,
    SourceKind,
)
from prefetch_advisor.model.record import record
from prefetch_advisor.sources.fields import (
    Doubts,
    ack_timeout,
    count,
    counted,
    flag,
    mapping,
    number,
    queue_type,
    settings,
    text,
    without,
)
from prefetch_advisor.sources.first_look import first_look, since_first_look
from prefetch_advisor.sources.history import channel_since_first_seen
from prefetch_advisor.sources.management_broker import features_row, nodes_row, overview_row
from prefetch_advisor.sources.management_stats import read_lengths, read_stats

_KIND = SourceKind.MANAGEMENT
Row = TypeVar("Row")
_AN_OBJECT = "an object with a name"
#: beside node and memory: nobody asks for these, and with statistics off there are none
_OF_WHOLE_ROWS = frozenset(("reductions", "garbage_collection", "idle_since"))


@record
class _Items:
    rows: Sequence[object]
    #: the list is whole: not one page of several
    whole: bool
    note: str = ""


def read_document(document: object, listed: str, where: str, strict: bool = False) -> Intake:
    """One document of the API; ``listed`` says of what, see :func:`recognise.document_list`.

    Raises:
        InputError: no row of it can be used, or (strict) a value cannot.
    """
    doubts = Doubts(where, strict)
    items = _items(document, where)
    notes = (items.note,) if items.note else ()
    if listed in _BROKER:
        broker = _BROKER[listed](document, where, doubts)
        return Intake(where, brokers=(broker,), notes=(*notes, *doubts.notes()))
    intake = _LISTS[listed](items, where, doubts)
    if items.rows and doubts.bad_count == len(items.rows):
        first = doubts.bad[0]
        raise InputError(
            f"{where}: no usable row among {counted(len(items.rows), listed)}: expected "
            f"{first.expected}, found {first.found}"
        )
    return Intake(
        where,
        queues=intake.queues,
        consumers=intake.consumers,
        channels=intake.channels,
        connections=intake.connections,
        bad_rows=tuple(doubts.bad),
        bad_count=doubts.bad_count,
        notes=(*notes, *doubts.notes()),
        lists=frozenset((listed, "consumers")) if intake.coverage else frozenset((listed,)),
        coverage=intake.coverage,
    )


def _items(document: object, where: str) -> _Items:
    if isinstance(document, list):
        return _Items(document, True)
    if not isinstance(document, Mapping):
        return _Items((document,), True)
    items = document.get("items")
    if not isinstance(items, list):
        return _Items((document,), True)
    pages = document.get("page_count")
    if type(pages) is int and pages > 1:
        total = document.get("filtered_count", document.get("item_count", "more"))
        note = (
            f"{where}: page {document.get('page')} of {pages}, {len(items)} of {total} rows: "
            "give the other pages too"
        )
        return _Items(items, False, note)
    return _Items(items, True)


def _each(
    items: _Items,
    build: Callable[[dict[str, object]], Row | None],
    doubts: Doubts,
    expected: str = _AN_OBJECT,
    key: str = "name",
) -> tuple[Row, ...]:
    rows: list[Row] = []
    for position, item in enumerate(items.rows, 1):
        row = build(item) if type(item) is dict else None
        if row is None:
            doubts.bad_row(position, expected, without(item, key), item=True)
        else:
            rows.append(row)
    return tuple(rows)


def _queues(items: _Items, where: str, doubts: Doubts) -> Intake:
    consumers: list[ConsumerRow] = []
    coverage: list[Coverage] = []

    def build(item: dict[str, object]) -> QueueRow | None:
        row = queue_row(item, where, doubts)
        details = item.get("consumer_details")
        if row is not None and type(details) is list:
            coverage.append(Coverage(_KIND, row.vhost, row.name))
            for detail in details:
                found = _consumer_of(detail, row, where, doubts)
                if found is not None:
                    consumers.append(found)
                else:
                    doubts.begin("queue", row.name)
                    doubts.note("consumer_details", detail)
        if row is None:
            return None
        # a history is padded with zeros from before the queue was there
        return since_first_look(row, first_look(item, doubts))

    queues = _each(items, build, doubts)
    return Intake(where, queues=queues, consumers=tuple(consumers), coverage=tuple(coverage))


def _consumer_of(detail: object, queue: QueueRow, where: str, doubts: Doubts) -> ConsumerRow | None:
    if type(detail) is not dict:
        return None
    if "queue" not in detail:
        detail = {**detail, "queue": {"name": queue.name, "vhost": queue.vhost}}
    return consumer_row(detail, where, doubts)


def queue_row(item: dict[str, object], where: str, doubts: Doubts) -> QueueRow | None:
    """One object of /api/queues; ``None`` without a name."""
    get = item.get
    name = get("name")
    if type(name) is not str or not name:
        return None
    doubts.begin("queue", name)
    arguments = get("arguments")
    policy = get("effective_policy_definition")
    known: dict[str, object] = {}
    if arguments or policy:
        known = settings(
            mapping(arguments, "arguments", doubts),
            mapping(policy, "effective_policy_definition", doubts),
        )
    lengths = read_lengths(item, doubts)
    traffic, rates, complete = read_stats(get("message_stats"), doubts)
    ready = unacked = None
    if "messages_ready" in item or "messages_unacknowledged" in item:
        ready = count(get("messages_ready"), "messages_ready", doubts)
        unacked = count(get("messages_unacknowledged"), "messages_unacknowledged", doubts)
    elif lengths:
        ready, unacked = lengths[-1].ready, lengths[-1].unacked
    return QueueRow(
        _KIND,
        where,
        text(get("vhost"), "vhost", doubts),
        name,
        queue_type(text(get("type"), "type", doubts), known),
        text(get("state"), "state", doubts),
        ready,
        unacked,
        count(get("messages"), "messages", doubts),
        count(get("message_bytes"), "message_bytes", doubts),
        count(get("message_bytes_unacknowledged"), "message_bytes_unacknowledged", doubts),
        count(get("consumers"), "consumers", doubts),
        known,
        flag(get("exclusive"), "exclusive", doubts),
        lengths,
        traffic,
        rates,
        complete,
        "memory" in item and "node" in item and not _OF_WHOLE_ROWS.isdisjoint(item),
        count(get("message_bytes_ready"), "message_bytes_ready", doubts),
        node=text(get("node"), "node", doubts),
    )


def _consumers(items: _Items, where: str, doubts: Doubts) -> Intake:
    rows = _each(
        items,
        lambda item: consumer_row(item, where, doubts),
        doubts,
        "a consumer with its queue",
        "queue",
    )
    vhosts = {row.vhost for row in rows}
    coverage: tuple[Coverage, ...] = ()
    if items.whole and vhosts:
        # /api/consumers/VHOST looks the same: of vhosts it does not show, nothing is known
        one = len(vhosts) == 1
        coverage = (Coverage(_KIND, vhosts.pop() if one else None, everywhere=not one),)
    return Intake(where, consumers=rows, coverage=coverage)


def consumer_row(item: dict[str, object], where: str, doubts: Doubts) -> ConsumerRow | None:
    """One object of /api/consumers or ``consumer_details``; ``None`` without a queue."""
    get = item.get
    queue = get("queue")
    if type(queue) is not dict:
        return None
    name = queue.get("name")
    if type(name) is not str or not name:
        return None
    doubts.begin("consumer", str(get("consumer_tag")))
    arguments = get("arguments")
    known = mapping(arguments, "arguments", doubts) if arguments else {}
    channel = mapping(get("channel_details"), "channel_details", doubts)
    required = flag(get("ack_required"), "ack_required", doubts)
    timeout = get("consumer_timeout")
    if timeout is None and known:
        timeout = known.get("x-consumer-timeout")
    return ConsumerRow(
        _KIND,
        where,
        text(queue.get("vhost"), "queue.vhost", doubts),
        name,
        text(get("consumer_tag"), "consumer_tag", doubts) or "",
        text(channel.get("name"), "channel_details.name", doubts),
        text(channel.get("connection_name"), "channel_details.connection_name", doubts),
        count(get("prefetch_count"), "prefetch_count", doubts),
        None if required is None else "manual" if required else "auto",
        flag(get("active"), "active", doubts),
        text(get("activity_status"), "activity_status", doubts),
        flag(get("exclusive"), "exclusive", doubts),
        priority(known),
        None if timeout is None else ack_timeout(timeout, "consumer_timeout", doubts),
        known,
    )


def priority(arguments: Mapping[str, object]) -> int | None:
    """The consumer's x-priority."""
    value = arguments.get("x-priority") if arguments else None
    return value if type(value) is int else None


def _channels(items: _Items, where: str, doubts: Doubts) -> Intake:
    rows = _each(items, lambda item: _channel(item, where, doubts), doubts)
    return Intake(where, channels=rows)


def _channel(item: dict[str, object], where: str, doubts: Doubts) -> ChannelRow | None:
    row = channel_row(item, where, doubts)
    return row if row is None or len(row.traffic) < 2 else channel_since_first_seen(row)


def channel_row(item: dict[str, object], where: str, doubts: Doubts) -> ChannelRow | None:
    """One object of /api/channels; ``None`` without a name."""
    get = item.get
    name = get("name")
    if type(name) is not str or not name:
        return None
    doubts.begin("channel", name)
    connection = mapping(get("connection_details"), "connection_details", doubts)
    traffic, rates, _ = read_stats(get("message_stats"), doubts)
    return ChannelRow(
        _KIND,
        where,
        name,
        text(get("vhost"), "vhost", doubts),
        text(connection.get("name"), "connection_details.name", doubts) or connection_of(name),
        count(get("prefetch_count"), "prefetch_count", doubts),
        count(get("global_prefetch_count"), "global_prefetch_count", doubts),
        count(get("consumer_count"), "consumer_count", doubts),
        count(get("messages_unacknowledged"), "messages_unacknowledged", doubts),
        traffic,
        rates,
        text(get("state"), "state", doubts),
    )


def connection_of(channel: str) -> str | None:
    """The connection in a channel's name: "a -> b (1)" is channel 1 of "a -> b"."""
    name, found, number_of = channel.rpartition(" (")
    return name if found and number_of[:-1].isdecimal() and number_of.endswith(")") else None


def _connections(items: _Items, where: str, doubts: Doubts) -> Intake:
    rows = _each(items, lambda item: connection_row(item, doubts), doubts)
    return Intake(where, connections=rows)


def connection_row(item: dict[str, object], doubts: Doubts) -> ConnectionRow | None:
    """One object of /api/connections; ``None`` without a name."""
    get = item.get
    name = get("name")
    if type(name) is not str or not name:
        return None
    doubts.begin("connection", name)
    properties = mapping(get("client_properties"), "client_properties", doubts)
    connected = number(get("connected_at"), "connected_at", doubts)
    protocol = text(get("protocol"), "protocol", doubts)
    return ConnectionRow(
        name,
        # some versions print "AMQP 1-0"
        "AMQP 1.0" if protocol == "AMQP 1-0" else protocol,
        text(properties.get("product"), "client_properties.product", doubts),
        None if connected is None else connected / 1000,
        text(get("type"), "type", doubts),
        text(get("state"), "state", doubts),
        text(get("user_provided_name"), "user_provided_name", doubts)
        or text(properties.get("connection_name"), "client_properties.connection_name", doubts),
    )


_LISTS: dict[str, Callable[[_Items, str, Doubts], Intake]] = {
    "queues": _queues,
    "consumers": _consumers,
    "channels": _channels,
    "connections": _connections,
}
_BROKER: dict[str, Callable[[object, str, Doubts], BrokerRow]] = {
    "overview": overview_row,
    "nodes": nodes_row,
    "features": features_row,
}
