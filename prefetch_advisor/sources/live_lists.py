"""Lists of the management API, read page by page into rows: what to ask for, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Coverage, Intake, SourceKind
from prefetch_advisor.sources import management
from prefetch_advisor.sources.http import Client, segment
from prefetch_advisor.sources.http_errors import ApiError, BadAnswer, Unreachable

#: the most that brokers give
PAGE_SIZE: Final = 500
#: a list may grow while it is read, to twice its pages and so many more
_PAGES_MORE = 20
#: pages in a row that bring nothing new
_REPEATED = 3
Query = Mapping[str, object]
_COUNTERS = ("publish", "deliver", "deliver_no_ack", "get", "get_no_ack", "ack", "redeliver")


def _stats(names: Iterable[str]) -> str:
    """Totals and their history; deliver_get proves that the others were all asked for."""
    asked = [f"message_stats.{name},message_stats.{name}_details" for name in names]
    return ",".join((*asked, "message_stats.deliver_get"))


#: node, memory, reductions and idle_since show that the row is whole: no statistics, no traffic;
#: the history of the reductions, since when the queue is there
QUEUE_COLUMNS: Final = (
    "name,vhost,type,state,arguments,effective_policy_definition,exclusive,consumers,"
    "node,memory,reductions,reductions_details,idle_since,messages,messages_ready,messages_unacknowledged,"
    "message_bytes,message_bytes_ready,message_bytes_unacknowledged,"
    "messages_ready_details,messages_unacknowledged_details," + _stats(_COUNTERS)
)
CONSUMER_COLUMNS: Final = (
    "queue.name,queue.vhost,channel_details.name,channel_details.connection_name,consumer_tag,"
    "ack_required,prefetch_count,active,activity_status,exclusive,arguments,consumer_timeout"
)
CHANNEL_COLUMNS: Final = (
    "name,vhost,connection_details.name,prefetch_count,global_prefetch_count,consumer_count,"
    "messages_unacknowledged,state," + _stats(_COUNTERS[1:])
)
CONNECTION_COLUMNS: Final = (
    "name,protocol,client_properties.product,connected_at,type,state,user_provided_name,vhost"
)
MINUTE: Final = {
    "lengths_age": 60,
    "lengths_incr": 5,
    "msg_rates_age": 60,
    "msg_rates_incr": 5,
    "data_rates_age": 60,
    "data_rates_incr": 5,
}
HOUR: Final = {
    "lengths_age": 3600,
    "lengths_incr": 60,
    "msg_rates_age": 3600,
    "msg_rates_incr": 60,
    "data_rates_age": 3600,
    "data_rates_incr": 60,
}
RATES: Final = {"msg_rates_age": 60, "msg_rates_incr": 5}


@dataclass(slots=True)
class Asking:
    """Who is asked, and what there is to tell about the answers."""

    client: Client
    notes: list[str] = field(default_factory=list)
    #: the user sees every user's channels, connections and consumers
    sees_all: bool = True
    #: the broker keeps no statistics
    statistics_off: bool = False

    def optional(self, path: str, what: str, query: Query | None = None) -> object:
        """The document at ``path``; ``None`` and a note where the broker refuses or fails.

        Raises:
            Unreachable: there is no broker any more.
        """
        try:
            return self.client.get(path, query)
        except Unreachable:
            raise
        except ApiError as error:
            self.notes.append(f"{what}: not read: {error}")
            return None


def items_of(document: object, client: Client, path: str) -> list[object]:
    """The rows of a list, whole or a page.

    Raises:
        BadAnswer: it is no list.
    """
    if isinstance(document, Mapping):
        document = document.get("items")
    if not isinstance(document, list):
        raise BadAnswer(f"{client.where(path)}: expected a list, found another document")
    return document


def pages(
    client: Client, path: str, query: Query, notes: list[str], identity: Callable[[object], object]
) -> Iterator[list[object]]:
    """The rows of a list, page by page, each row once.

    Versions that know no pages for a list give all of it at once. Rows that come or go while the
    pages are read shift the others: what is seen twice is given once, and what was missed is said.

    Raises:
        ApiError: a page cannot be had.
    """
    page, seen = 1, set[str]()
    most = repeated = 0
    while True:
        try:
            document = client.get(path, {"page": page, "page_size": PAGE_SIZE, **query})
        except ApiError as error:
            if page > 1 and error.status == 400:
                return  # rows went, and with them the last page
            raise
        fresh = []
        for item in items_of(document, client, path):
            known = repr(identity(item))  # of any answer: it may be a list where a name should be
            if known not in seen:
                seen.add(known)
                fresh.append(item)
        yield fresh
        count = document.get("page_count") if isinstance(document, Mapping) else None
        most = most or (2 * count + _PAGES_MORE if type(count) is int else 0)
        repeated = 0 if fresh else repeated + 1
        if page < (count or 0) and (repeated == _REPEATED or page >= most):
            raise BadAnswer(
                f"{client.where(path)}: the list does not end: page {page} of {count} brings "
                f"{'nothing new' if repeated else 'yet more'}"
            )
        if type(count) is not int or page >= count:
            total = document.get("filtered_count") if isinstance(document, Mapping) else None
            if type(total) is int and len(seen) < total:
                notes.append(
                    f"{client.where(path)}: the list changed while it was read: {len(seen)} of "
                    f"{total} rows"
                )
            return
        page += 1


def read_pages(asking: Asking, path: str, listed: str, query: Query) -> Intake:
    """A list as one intake, its pages read one after another so that only rows are kept.

    Raises:
        ApiError: a page cannot be had.
        InputError: nothing on a page can be used.
    """
    client = asking.client
    where = client.where(path)
    found = pages(client, path, query, asking.notes, _IDENTITY[listed])
    parts = [management.read_document(page, listed, where) for page in found if page]
    return merged(parts, where, listed)


def optional_pages(asking: Asking, path: str, listed: str, query: Query) -> Intake | None:
    """The list, or ``None`` and a note where the broker refuses or fails.

    Raises:
        Unreachable: there is no broker any more.
    """
    try:
        return read_pages(asking, path, listed, query)
    except Unreachable:
        raise
    except (ApiError, InputError) as error:
        asking.notes.append(f"{listed}: not read: {error}")
        return None


def merged(parts: Iterable[Intake], where: str, listed: str) -> Intake:
    """Pages of one list as the list, without what its history says of the time before it was."""
    parts = list(parts)
    return Intake(
        where,
        queues=tuple(q for part in parts for q in part.queues),
        consumers=tuple(chain.from_iterable(part.consumers for part in parts)),
        channels=tuple(c for part in parts for c in part.channels),
        connections=tuple(chain.from_iterable(part.connections for part in parts)),
        bad_rows=tuple(chain.from_iterable(part.bad_rows for part in parts))[:5],
        bad_count=sum(part.bad_count for part in parts),
        notes=tuple(dict.fromkeys(chain.from_iterable(part.notes for part in parts))),
        lists=frozenset((listed,)),
    )


def consumers_of(asking: Asking, vhost: str | None) -> Intake | None:
    """Every consumer, with what their list is complete for; ``None`` where it cannot be had."""
    path = "/api/consumers" if vhost is None else f"/api/consumers/{segment(vhost)}"
    intake = optional_pages(asking, path, "consumers", {"columns": CONSUMER_COLUMNS})
    if intake is None or not asking.sees_all:
        return intake
    whole = Coverage(SourceKind.MANAGEMENT, vhost, everywhere=vhost is None)
    return replace(intake, coverage=(whole,))


def channels_of(asking: Asking, vhost: str | None) -> Intake | None:
    """Every channel with a minute of its rates."""
    query = {"columns": CHANNEL_COLUMNS, **RATES}
    return optional_pages(asking, _within("channels", vhost), "channels", query)


def connections_of(asking: Asking, vhost: str | None) -> Intake | None:
    """Every connection."""
    query = {"columns": CONNECTION_COLUMNS}
    return optional_pages(asking, _within("connections", vhost), "connections", query)


def _within(listed: str, vhost: str | None) -> str:
    return f"/api/{listed}" if vhost is None else f"/api/vhosts/{segment(vhost)}/{listed}"


def _by_vhost_and_name(item: object) -> object:
    return (item.get("vhost"), item.get("name")) if isinstance(item, Mapping) else id(item)


def _by_name(item: object) -> object:
    name = item.get("name") if isinstance(item, Mapping) else None
    return name if isinstance(name, str) else id(item)


def _by_subscription(item: object) -> object:
    """Tag and channel; internal consumers have neither, and are all different."""
    if isinstance(item, Mapping):
        channel, queue = item.get("channel_details"), item.get("queue")
        tag = item.get("consumer_tag")
        if isinstance(channel, Mapping) and isinstance(queue, Mapping) and tag:
            name = channel.get("name")
            if isinstance(name, str) and isinstance(tag, str):
                return name, tag, str(queue.get("vhost")), str(queue.get("name"))
    return id(item)


_IDENTITY: Mapping[str, Callable[[object], object]] = {
    "queues": _by_vhost_and_name,
    "consumers": _by_subscription,
    "channels": _by_name,
    "connections": _by_name,
}
