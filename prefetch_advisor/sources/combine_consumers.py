"""Consumers of each queue, joined with channel and connection; and whether their list is whole."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from prefetch_advisor.model.observation import (
    Channel,
    ChannelRow,
    Consumer,
    ConsumerRow,
    Contradiction,
    Coverage,
    Intake,
    QueueRow,
    SourceKind,
    TrafficSample,
)
from prefetch_advisor.model.record import record
from prefetch_advisor.sources.combine_queues import Pair, differ

#: node and creation (or the node's number), then what identifies the process on its node
_PID = re.compile(r"(?:#PID)?<(.*?)\.(\d+\.\d+)>")
_BY_TRUST = (SourceKind.MANAGEMENT, SourceKind.RABBITMQCTL)


@dataclass(slots=True)
class _Lists:
    """The consumers that one kind of source lists, and for which queues its lists are whole."""

    rows: dict[Pair, list[ConsumerRow]] = field(default_factory=dict)
    everywhere: bool = False
    vhosts: set[str] = field(default_factory=set)
    queues: set[Pair] = field(default_factory=set)
    where: str = ""

    def covers(self, key: Pair) -> bool:
        return self.everywhere or key[0] in self.vhosts or key in self.queues


@record
class Found:
    """The consumers of a queue as its sources show them."""

    #: ``None``: unknown
    consumers: tuple[Consumer, ...] | None
    contradictions: tuple[Contradiction, ...] = ()


class Consumers:
    """The consumers of all inputs, by queue."""

    def __init__(self, intakes: Sequence[Intake], vhost: str, interval: float | None) -> None:
        self._lists = {kind: _lists(intakes, kind, vhost) for kind in _BY_TRUST}
        self._connections = {row.name: row for intake in intakes for row in intake.connections}
        channels = _channel_rows(intakes, interval)
        self._aliases = _aliases(self._lists[SourceKind.RABBITMQCTL], channels)
        served = self._served() if channels else {}
        self._channels: dict[str, Channel] = {
            name: Channel(
                row,
                self._connections.get(row.connection) if row.connection else None,
                frozenset(served.get(name, ())),
            )
            for name, row in channels.items()
        }

    def _served(self) -> Mapping[str, set[str]]:
        served: defaultdict[str, set[str]] = defaultdict(set)
        for lists in self._lists.values():
            for rows in lists.rows.values():
                for row in rows:
                    if row.channel is not None:
                        served[self._aliases.get(row.channel, row.channel)].add(row.queue)
        return served

    @property
    def pairs(self) -> set[Pair]:
        """Queues that have a consumer in any list."""
        return {pair for lists in self._lists.values() for pair in lists.rows}

    @property
    def notes(self) -> tuple[str, ...]:
        """Channels that nothing could be joined with."""
        ctl = self._lists[SourceKind.RABBITMQCTL].rows
        rows = [c for c in self._channels.values() if c.row.kind is SourceKind.RABBITMQCTL]
        if ctl and rows and not any(channel.queues for channel in rows):
            return (
                f"{rows[0].row.where}: none of {len(rows)} channels could be joined with a "
                "consumer: list both with their pid (list_channels pid ..., list_consumers "
                "channel_pid ...), taken at the same time",
            )
        return ()

    def of(self, pair: Pair, row: QueueRow | None) -> Found:
        """The consumers of one queue: from the most trusted list that has any."""
        counted = row.consumers if row is not None else None
        stream = row is not None and row.type == "stream"
        covering = None
        for kind in _BY_TRUST:
            lists = self._lists[kind]
            rows = lists.rows.get(pair)
            if rows:
                joined = tuple([self._joined(one, stream) for one in _distinct(rows)])
                return Found(joined, _fewer(joined, row))
            if lists.covers(pair):
                covering = covering or (kind, lists.where)
        if covering is None:
            return Found(() if counted == 0 else None)
        if covering[0] is SourceKind.RABBITMQCTL and stream and counted != 0:
            return Found(None)  # list_consumers never holds a stream's consumers
        if counted and row is not None:
            other = f"{counted} counted in {row.where}, none listed in {covering[1]}"
            return Found(None, (Contradiction("consumers", "unknown", other),))
        return Found(())

    def _joined(self, row: ConsumerRow, stream: bool) -> Consumer:
        if stream and row.active is False:
            # before 4.3 the consumers of streams are listed as not active, whatever they do
            row = replace(row, active=None)
        channel = None
        if row.channel is not None:
            channel = self._channels.get(self._aliases.get(row.channel, row.channel))
        connection = None
        if row.connection is not None:
            connection = self._connections.get(row.connection)
        elif channel is not None:
            connection = channel.connection
        return Consumer(row, channel, connection)


def _lists(intakes: Iterable[Intake], kind: SourceKind, vhost: str) -> _Lists:
    """Later lists replace what earlier ones said of the queues they cover."""
    lists = _Lists()
    for intake in intakes:
        scopes = [scope for scope in intake.coverage if scope.kind is kind]
        for scope in scopes:
            _cover(lists, scope, vhost)
            lists.where = intake.where
        for row in intake.consumers:
            if row.kind is kind:
                key = (row.vhost if row.vhost is not None else vhost, row.queue)
                rows = lists.rows.get(key)
                if rows is None:
                    lists.rows[key] = [row]
                else:
                    rows.append(row)
    return lists


def _cover(lists: _Lists, scope: Coverage, vhost: str) -> None:
    if scope.everywhere:
        lists.everywhere = True
        lists.rows.clear()
        return
    name = scope.vhost if scope.vhost is not None else vhost
    if scope.queue is None:
        lists.vhosts.add(name)
        lists.rows = {key: rows for key, rows in lists.rows.items() if key[0] != name}
    else:
        lists.queues.add((name, scope.queue))
        lists.rows.pop((name, scope.queue), None)


def _distinct(rows: Sequence[ConsumerRow]) -> Iterable[ConsumerRow]:
    """A consumer that two pages show is one; without tag and channel each row is one."""
    if len(rows) == 1:
        return rows
    return {
        (row.tag, row.channel) if row.tag and row.channel else index: row
        for index, row in enumerate(rows)
    }.values()


def _fewer(consumers: tuple[Consumer, ...], row: QueueRow | None) -> tuple[Contradiction, ...]:
    if row is None or row.consumers is None:
        return ()
    listed, counted = len(consumers), row.consumers
    if listed >= counted and not differ(listed, counted):
        return ()
    where = consumers[0].row.where
    return (
        Contradiction(
            "consumers", f"{listed} listed in {where}", f"{counted} counted in {row.where}"
        ),
    )


def _channel_rows(intakes: Iterable[Intake], interval: float | None) -> dict[str, ChannelRow]:
    """The latest row of each channel; with an interval, its totals as a series."""
    seen: dict[str, list[ChannelRow]] = {}
    for intake in intakes:
        for row in intake.channels:
            seen.setdefault(row.id, []).append(row)
    rows = {}
    for name, several in seen.items():
        row = several[-1]
        if interval is not None and len(several) > 1 and len(row.traffic) < 2:
            samples = tuple(
                TrafficSample(step * interval, one.traffic[-1].totals)
                for step, one in enumerate(several)
                if one.traffic
            )
            row = replace(row, traffic=samples)
        before = several[0].limit
        rows[name] = row if before == row.limit else replace(row, limit_before=before)
    return rows


def _aliases(lists: _Lists, channels: Mapping[str, ChannelRow]) -> dict[str, str]:
    """Pids of consumers that a table and JSON print differently: by their numbers on the node.

    The node is a name in a table and a number in JSON, so this holds only where each side shows
    one node.
    """
    wanted: dict[str, tuple[str, str]] = {}
    for rows in lists.rows.values():
        for row in rows:
            if row.channel is not None and row.channel not in channels:
                found = _PID.fullmatch(row.channel)
                if found is not None:
                    wanted[row.channel] = (found[1], found[2])
    if not wanted:
        return {}
    known = {name: (found[1], found[2]) for name in channels if (found := _PID.fullmatch(name))}
    if len({node for node, _ in wanted.values()}) > 1 or len({n for n, _ in known.values()}) > 1:
        return {}
    by_number = {number: name for name, (_, number) in known.items()}
    return {pid: by_number[number] for pid, (_, number) in wanted.items() if number in by_number}
