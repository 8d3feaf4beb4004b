"""A running broker by its management API, as the intakes that saved answers would give."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from prefetch_advisor.model.observation import Coverage, Intake, QueueRow, SourceKind
from prefetch_advisor.sources import management
from prefetch_advisor.sources.http import Client, segment
from prefetch_advisor.sources.http_errors import (
    OVERVIEW,
    ApiError,
    BadAnswer,
    NotFound,
    Refused,
    Unreachable,
)
from prefetch_advisor.sources.live_lists import (
    MINUTE,
    QUEUE_COLUMNS,
    Asking,
    channels_of,
    connections_of,
    consumers_of,
    read_pages,
)
from prefetch_advisor.sources.live_named import MOST_NAMES, named

#: seconds that two looks at a queue may take, at the broker's default of five, and their showing
PATIENCE: Final = 15.0
_OVERVIEW = "management_version,rabbitmq_version,rates_mode,disable_stats"
_VERSIONS = frozenset(("management_version", "rabbitmq_version"))
_NODES = "name,running,uptime,mem_alarm,disk_free_alarm,rates_mode"
_SEE_ALL = frozenset(("administrator", "monitoring"))
_MOST_VHOSTS = 20


def observe(
    client: Client,
    vhost: str | None = None,
    queues: Sequence[str] = (),
    *,
    patience: float = PATIENCE,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Intake]:
    """What the broker shows of its queues: those named, those of a virtual host, or all.

    Named queues come with their last hour (``hour_lengths``, ``hour_traffic``). Where a name is not
    found as it is written, everything is read, so that near names can be told. Lists that the
    broker refuses or fails to give are left out with a note.

    Raises:
        ApiError: the broker cannot be asked, or not for its queues; one line, without password.
    """
    asking = Asking(client)
    intakes = [_overview(asking), *_broker(asking)]
    _who(asking)
    found = None
    wanted = list(dict.fromkeys(queues))
    # without statistics only the list of queues has their depth
    if 0 < len(wanted) <= MOST_NAMES and not asking.statistics_off:
        found = named(asking, wanted, vhost, patience, sleep)
    intakes += found if found is not None else _whole(asking, vhost)
    # what there is to tell belongs to no list
    intakes[0] = replace(intakes[0], notes=(*intakes[0].notes, *dict.fromkeys(asking.notes)))
    return [replace(intake, index=index) for index, intake in enumerate(intakes)]


def _overview(asking: Asking) -> Intake:
    """Asked first: whatever is wrong between here and the broker shows here."""
    path = OVERVIEW
    document = asking.client.get(path, {"columns": _OVERVIEW})
    where = asking.client.where(path)
    if not isinstance(document, Mapping) or not document.keys() & _VERSIONS:
        raise BadAnswer(f"{where}: what answers is no management API of RabbitMQ")
    read = management.read_document(document, "overview", where)
    (row,) = read.brokers
    asking.statistics_off = bool(row.statistics_off)
    if row.statistics_off:
        asking.notes.append(
            "the broker's statistics are switched off (management.disable_stats or "
            "management_agent.disable_metrics_collector): rates, channels and what consumers hold "
            "cannot be judged; rabbitmqctl shows limits and depths"
        )
    elif row.rates_mode == "none":
        asking.notes.append(
            "the broker counts no messages (management.rates_mode = none): what consumers ack "
            "cannot be judged"
        )
    return read


def _broker(asking: Asking) -> list[Intake]:
    """Alarms of the nodes, and whether global QoS is permitted where the version can say."""
    client = asking.client
    found = []
    document = _quietly(asking, "/api/nodes", {"columns": _NODES}, "alarms of the nodes")
    if isinstance(document, list):
        found.append(management.read_document(document, "nodes", client.where("/api/nodes")))
        asking.notes += [
            f"node {node.get('name')!r} is down: queues on it cannot be judged"
            for node in document
            if isinstance(node, Mapping) and node.get("running") is False
        ]
    path = "/api/deprecated-features"
    document = _quietly(asking, path, {}, "deprecated features")
    if isinstance(document, list) and document:
        found.append(management.read_document(document, "features", client.where(path)))
    return found


def _quietly(asking: Asking, path: str, query: Mapping[str, object], what: str) -> object:
    """A document for operators: a user who may not see it, or a version without it, is no news."""
    try:
        return asking.client.get(path, query)
    except (NotFound, Refused):
        return None
    except Unreachable:
        raise
    except ApiError as error:
        asking.notes.append(f"{what}: not read: {error}")
        return None


def _who(asking: Asking) -> None:
    document = _quietly(asking, "/api/whoami", {}, "who is asking")
    tags = document.get("tags") if isinstance(document, Mapping) else None
    if isinstance(tags, str):  # one text before 3.9
        tags = tags.replace(",", " ").split()
    if isinstance(tags, list) and tags and _SEE_ALL.isdisjoint(map(str, tags)):
        asking.sees_all = False
        user = asking.client.connection.username
        asking.notes.append(
            f"user {user!r} has the tag {', '.join(map(str, tags))} and sees no other user's "
            "channels: what consumers hold and ack, and alarms, are not known (rabbitmqctl "
            f"set_user_tags {user} monitoring)"
        )


def _whole(asking: Asking, vhost: str | None) -> list[Intake]:
    path = "/api/queues" if vhost is None else f"/api/queues/{segment(vhost)}"
    query: dict[str, object] = {"columns": QUEUE_COLUMNS, **MINUTE}
    if asking.statistics_off:
        query["enable_queue_totals"] = "true"
    missing = False
    try:
        queues = read_pages(asking, path, "queues", query)
    except NotFound:
        if vhost is None:
            raise
        missing = True
    if missing:
        raise NotFound(_no_vhost(asking, vhost))
    visible = {row.vhost for row in queues.queues}
    found = [queues]
    young = sum(row.consumers is None and row.ready is None for row in queues.queues)
    if young and not asking.statistics_off:
        asking.notes.append(
            f"{young:,} of {len(queues.queues):,} queues have no statistics: just declared, or "
            "their node just started or is down"
        )
    if not queues.queues:
        asking.notes.append(_why_empty(asking, vhost))
    if asking.statistics_off:
        return found
    consumers = consumers_of(asking, vhost)
    if consumers is not None:
        # a monitoring user sees the consumers of virtual hosts whose queues it may not see
        # (those without a channel may be of queues that are gone)
        hidden = {row.vhost for row in consumers.consumers if row.channel is not None} - visible
        kept = tuple(row for row in consumers.consumers if row.vhost in visible)
        coverage = _covered(queues.queues, consumers.coverage)
        found.append(replace(consumers, consumers=kept, coverage=coverage))
        if hidden and queues.queues:
            asking.notes.append(_hidden(asking, sorted(map(str, hidden))))
    joined = (channels_of(asking, vhost), connections_of(asking, vhost))
    return [*found, *(intake for intake in joined if intake is not None)]


def _covered(rows: Sequence[QueueRow], whole: tuple[Coverage, ...]) -> tuple[Coverage, ...]:
    """Consumers are listed as late as statistics come: of a queue without, nothing is known."""
    known = [row for row in rows if row.consumers is not None]
    if not whole or len(known) == len(rows):
        return whole
    return tuple(Coverage(SourceKind.MANAGEMENT, row.vhost, row.name) for row in known)


def _vhosts(asking: Asking) -> list[str]:
    document = _quietly(asking, "/api/vhosts", {"columns": "name"}, "virtual hosts")
    rows = document if isinstance(document, list) else []
    return [str(row["name"]) for row in rows if isinstance(row, Mapping) and "name" in row]


def _no_vhost(asking: Asking, vhost: str | None) -> str:
    known = ", ".join(map(repr, _vhosts(asking))) or "none that this user may see"
    where = asking.client.where("")
    return f"{where}: there is no virtual host {vhost!r}; there are: {known[:300]}"


def _grant(asking: Asking, vhost: str) -> str:
    user = asking.client.connection.username
    return f"rabbitmqctl set_permissions -p {vhost} {user} '^$' '^$' '^$' lets it look, no more"


def _hidden(asking: Asking, vhosts: Sequence[str]) -> str:
    user = asking.client.connection.username
    names = ", ".join(map(repr, vhosts[:5])) + (" ..." if len(vhosts) > 5 else "")
    return (
        f"user {user!r} has no permission in {names}, where there are consumers: the queues there "
        f"are left out ({_grant(asking, vhosts[0])})"
    )


def _why_empty(asking: Asking, vhost: str | None) -> str:
    """A user who sees no virtual host gets an empty list and 200, as from an idle broker."""
    user = asking.client.connection.username
    if vhost is not None:
        return f"virtual host {vhost!r} holds no queue"
    names = _vhosts(asking)
    refused = [name for name in names[:_MOST_VHOSTS] if _is_refused(asking, name)]
    if not names:
        return (
            f"user {user!r} sees no virtual host, so the broker shows it no queue: it needs a "
            f"permission in one ({_grant(asking, '/')})"
        )
    listed = ", ".join(map(repr, refused[:5]))
    if len(refused) == len(names[:_MOST_VHOSTS]):
        return (
            f"user {user!r} has no permission in any virtual host ({listed}), so the broker shows "
            f"it no queue: {_grant(asking, refused[0])}"
        )
    more = f"; user {user!r} has no permission in {listed}" if refused else ""
    return f"the broker shows no queue{more}"


def _is_refused(asking: Asking, vhost: str) -> bool:
    query = {"page": 1, "page_size": 1, "columns": "name"}
    try:
        asking.client.get(f"/api/queues/{segment(vhost)}", query)
    except Refused:
        return True
    except Unreachable:
        raise
    except ApiError:
        return False
    return False
