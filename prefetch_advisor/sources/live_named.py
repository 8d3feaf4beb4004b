"""A few queues by name: only they are asked for, on brokers of any size, with their last hour."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from prefetch_advisor.model.observation import ConsumerRow, Intake, QueueRow
from prefetch_advisor.sources import management
from prefetch_advisor.sources.history import cut
from prefetch_advisor.sources.http import segment
from prefetch_advisor.sources.http_errors import ApiError, NotFound, Unreachable
from prefetch_advisor.sources.live_lists import (
    HOUR,
    MINUTE,
    RATES,
    Asking,
    channels_of,
    connections_of,
    consumers_of,
    items_of,
    merged,
    optional_pages,
)

#: more names, or more channels, than this are asked for as lists
MOST_NAMES: Final = 20
_MOST_CHANNELS = 60
_DECLARED = "name,vhost,type,arguments,effective_policy_definition"

#: names that a path cannot carry as a part of its own
_NO_PART = frozenset(("", ".", ".."))

#: vhost and name
Pair = tuple[str, str]


def named(
    asking: Asking,
    names: Sequence[str],
    vhost: str | None,
    patience: float,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Intake] | None:
    """The queues called ``names``, with their consumers, channels and connections.

    ``None``: one of them is not there by just that name, so that all have to be looked at.
    ``patience``: seconds to wait for the first statistics of a queue that was just declared.

    Raises:
        ApiError: the queues cannot be had.
    """
    pairs = _find(asking, names, vhost)
    documents = _documents(asking, pairs)
    if {pair[1] for pair in documents} != set(names):
        return None
    documents = _with_statistics(asking, documents, patience, sleep)
    where = asking.client.where(
        _path(next(iter(documents))) if len(documents) == 1 else "/api/queues"
    )
    read = management.read_document(list(documents.values()), "queues", where)
    queues = replace(merged([read], where, "queues"), lists=read.lists, coverage=read.coverage)
    queues = replace(queues, queues=_with_hours(asking, queues.queues))
    wanted = set(documents)
    intakes = [queues]
    rows: Sequence[ConsumerRow] = queues.consumers
    if not all("consumer_details" in document for document in documents.values()):
        listed = consumers_of(asking, vhost)
        if listed is not None:
            rows = [row for row in listed.consumers if (row.vhost, row.queue) in wanted]
            intakes.append(replace(listed, consumers=tuple(rows)))
    intakes += _channels(asking, rows, wanted)
    intakes += _declared(asking, queues.queues)
    return intakes


def _path(pair: Pair) -> str:
    return f"/api/queues/{segment(pair[0])}/{segment(pair[1])}"


def _find(asking: Asking, names: Sequence[str], vhost: str | None) -> list[Pair]:
    """Where queues of these names may be; names that no path can carry are nowhere."""
    if any(part in _NO_PART for part in (*names, vhost or "/")):
        return []
    if vhost is not None:
        return [(vhost, name) for name in names]
    query = {
        "page": 1,
        "page_size": 500,
        "columns": "name,vhost",
        "name": f"^({'|'.join(map(re.escape, names))})$",
        "use_regex": "true",
    }
    found = items_of(asking.client.get("/api/queues", query), asking.client, "/api/queues")
    pairs = []
    for row in found:
        if isinstance(row, Mapping):
            vhost, name = row.get("vhost"), row.get("name")
            # the broker's expressions know no case
            if isinstance(vhost, str) and name in names and vhost not in _NO_PART:
                pairs.append((vhost, str(name)))
    return pairs


Documents = dict[Pair, Mapping[str, object]]


def _documents(asking: Asking, pairs: Iterable[Pair]) -> Documents:
    found: Documents = {}
    for pair in pairs:
        try:
            document = asking.client.get(_path(pair), MINUTE)
        except NotFound:
            continue
        if isinstance(document, Mapping):
            found[pair] = document
    return found


def _with_statistics(
    asking: Asking, documents: Documents, patience: float, sleep: Callable[[float], None]
) -> Documents:
    """Looks again while a queue is too young for statistics, which come every five seconds.

    Consumers are listed before the queue counts the first of them, and then its depth is as old.
    """
    until = time.monotonic() + patience
    while time.monotonic() < until:
        young = [pair for pair, document in documents.items() if _young(document)]
        if not young:
            break
        sleep(0.5)
        documents = {**documents, **_documents(asking, young)}
    return documents


def _young(document: Mapping[str, object]) -> bool:
    # of a queue whose node is down there are no statistics either
    if document.get("state") not in (None, "running", "live"):
        return False
    if "messages_ready" not in document and "messages_unacknowledged" not in document:
        return True
    read = management.read_document([document], "queues", "")
    (row,) = read.queues
    came = row.type != "stream" and len(read.consumers) > (row.consumers or 0)
    return row.ready is None or came


def _with_hours(asking: Asking, rows: Sequence[QueueRow]) -> tuple[QueueRow, ...]:
    found = []
    for row in rows:
        if row.young:
            found.append(row)
            continue
        document = asking.optional(
            _path((row.vhost or "/", row.name)), f"the last hour of {row.name!r}", HOUR
        )
        hour = None
        if isinstance(document, Mapping):
            read = management.read_document([document], "queues", row.where)
            (hour,) = merged([read], row.where, "queues").queues or (None,)
        if hour is not None:
            if row.known_since is not None:
                hour = cut(hour, row.known_since)
            timed = tuple(sample for sample in hour.lengths if sample.at is not None)
            counted = tuple(sample for sample in hour.traffic if sample.at is not None)
            row = replace(row, hour_lengths=timed, hour_traffic=counted)
        found.append(row)
    return tuple(found)


def _channels(asking: Asking, rows: Iterable[ConsumerRow], wanted: set[Pair]) -> Iterable[Intake]:
    """The channels of these consumers, their connections, and what else is read on them."""
    rows = list(rows)
    channels = dict.fromkeys(row.channel for row in rows if row.channel)
    connections = dict.fromkeys(row.connection for row in rows if row.connection)
    if not asking.sees_all:
        return
    if len(channels) > _MOST_CHANNELS:
        yield from _filtered(asking, set(channels), set(connections), wanted)
        return
    documents = [_one(asking, "channels", name, RATES) for name in channels]
    there = [document for document in documents if document is not None]
    if there:
        where = asking.client.where("/api/channels")
        yield merged([management.read_document(there, "channels", where)], where, "channels")
        others = [
            detail
            for document in there
            if isinstance(details := document.get("consumer_details"), list)
            for detail in details
        ]
        yield from _others(others, wanted, where)
    documents = [_one(asking, "connections", name, {}) for name in connections]
    there = [document for document in documents if document is not None]
    if there:
        where = asking.client.where("/api/connections")
        yield management.read_document(there, "connections", where)


def _one(
    asking: Asking, listed: str, name: str, query: Mapping[str, object]
) -> Mapping[str, object] | None:
    """A channel or connection; clients come and go, so one that is gone is nothing to tell."""
    try:
        document = asking.client.get(f"/api/{listed}/{segment(name)}", query)
    except (NotFound, Unreachable) as error:
        if isinstance(error, Unreachable):
            raise
        return None
    except ApiError as error:
        asking.notes.append(f"one of the {listed}: not read: {error}")
        return None
    return document if isinstance(document, Mapping) else None


def _others(details: Sequence[object], wanted: set[Pair], where: str) -> Iterable[Intake]:
    """Consumers of other queues on the same channels: they share its rate and its thread."""
    if details:
        rows = management.read_document(list(details), "consumers", where).consumers
        kept = tuple(row for row in rows if (row.vhost, row.queue) not in wanted)
        if kept:
            yield Intake(where, consumers=kept)


def _filtered(
    asking: Asking, channels: set[str], connections: set[str], wanted: set[Pair]
) -> Iterable[Intake]:
    """The same from lists, for queues with so many consumers that one by one takes longer."""
    vhosts = {pair[0] for pair in wanted}
    vhost = vhosts.pop() if len(vhosts) == 1 else None
    found = channels_of(asking, vhost)
    if found is not None:
        kept = tuple(row for row in found.channels if row.id in channels)
        yield replace(found, channels=kept)
    listed = consumers_of(asking, vhost)
    if listed is not None:
        others = tuple(
            row
            for row in listed.consumers
            if row.channel in channels and (row.vhost, row.queue) not in wanted
        )
        yield Intake(listed.where, consumers=others)
    joined = connections_of(asking, vhost)
    if joined is not None:
        known = tuple(row for row in joined.connections if row.name in connections)
        yield replace(joined, connections=known)


def _declared(asking: Asking, rows: Sequence[QueueRow]) -> Iterable[Intake]:
    """How the other queues of a vhost are declared, where a queue without consumers may be the
    target of their dead letters."""
    wanted = {(row.vhost, row.name) for row in rows}
    unread = dict.fromkeys(row.vhost for row in rows if row.consumers == 0 and row.vhost)
    for vhost in unread:
        path = f"/api/queues/{segment(vhost)}"
        found = optional_pages(asking, path, "queues", {"columns": _DECLARED})
        if found is not None:
            kept = tuple(
                row
                for row in found.queues
                if (row.vhost, row.name) not in wanted and "dead-letter-exchange" in row.settings
            )
            if kept:
                yield replace(found, queues=kept)
