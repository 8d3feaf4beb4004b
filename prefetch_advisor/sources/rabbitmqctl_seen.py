"""What calls of ``rabbitmqctl`` gave over a window, put together into intakes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from prefetch_advisor.model.observation import (
    ChannelRow,
    ConsumerRow,
    Intake,
    LengthSample,
    QueueRow,
)
from prefetch_advisor.units import plural

WHERE = "rabbitmqctl"
#: of a pid, what tells its node
_NODE_OF_PID = re.compile(r"(?:#PID)?<(.*?)\.\d+\.\d+>")


@dataclass(slots=True)
class Host:
    """One virtual host: its latest list of queues, and every depth seen."""

    name: str
    latest: Intake = field(default_factory=lambda: Intake(WHERE))
    #: by queue
    depths: dict[str, list[LengthSample]] = field(default_factory=dict)
    #: how many consumers each of these depths was seen with
    counts: dict[str, list[int | None]] = field(default_factory=dict)
    #: as they were listed last, and before the first look
    consumers: Intake | None = None
    first_consumers: Intake | None = None
    #: it is looked at again
    watched: bool = True

    def add(self, latest: Intake, at: float) -> None:
        """A look at its queues that was answered at this time."""
        self.latest = latest
        for row in latest.queues:
            samples = self.depths.setdefault(row.name, [])
            if row.lengths:
                samples.append(LengthSample(at, row.ready, row.unacked))
                self.counts.setdefault(row.name, []).append(row.consumers)

    @property
    def gone(self) -> int:
        """Queues that were there and are no more."""
        return len(self.depths.keys() - {row.name for row in self.latest.queues})

    def intake(self) -> Intake:
        """Its queues, each with its depths, and its consumers."""
        listed = self._listed
        queues = tuple(self._with_depths(row, row.name in listed) for row in self.latest.queues)
        parts = [self.latest]
        if self.consumers is not None:
            parts.append(replace(self.consumers, consumers=tuple(self._at_last_look())))
        return replace(_joined(parts), queues=queues)

    def _with_depths(self, row: QueueRow, listed: bool) -> QueueRow:
        """With the depths since its number of consumers, and so its limit, last changed."""
        depths, counts = self.depths[row.name], self.counts.get(row.name, [])
        if not listed:
            return replace(row, lengths=tuple(depths))
        kept = len(depths)
        for number in reversed(counts):
            if number != counts[-1]:
                break
            kept -= 1
        return replace(row, lengths=tuple(depths[kept:]))

    @property
    def _listed(self) -> set[str]:
        """Queues whose consumers are known, and with them the limit that the depths are under."""
        return {row.queue for row in self._at_last_look()}

    @property
    def changed(self) -> int:
        """Queues whose number of consumers changed between two looks."""
        listed = self._listed
        there = [row.name for row in self.latest.queues if row.name in listed]
        return sum(len(set(self.counts.get(name, []))) > 1 for name in there)

    @property
    def left(self) -> list[str]:
        """Queues whose consumers were there at the last look, and not when they were listed."""
        last, first = _by_queue(self.consumers), _by_queue(self.first_consumers)
        return [
            row.name
            for row in self.latest.queues
            if row.consumers is not None
            and len(last.get(row.name, ())) != row.consumers == len(first.get(row.name, ()))
        ]

    def _at_last_look(self) -> Iterator[ConsumerRow]:
        """Of two lists that differ, for each queue the one that has as many as were counted."""
        left = set(self.left)
        last, first = self.consumers, self.first_consumers
        yield from (row for row in (last.consumers if last else ()) if row.queue not in left)
        yield from (row for row in (first.consumers if first else ()) if row.queue in left)


@dataclass(slots=True)
class Seen:
    """Everything that was listed."""

    hosts: list[Host] = field(default_factory=list)
    channels: Intake | None = None
    connections: Intake | None = None
    first_channels: Intake | None = None
    first_connections: Intake | None = None
    #: how often the depths were looked at
    looks: int = 0
    #: what to tell, each once
    notes: dict[str, None] = field(default_factory=dict)

    def note(self, text: str) -> None:
        self.notes[text] = None

    def begun(self) -> None:
        """Keeps the lists as they are now for clients that leave until they are listed again."""
        self.first_channels, self.first_connections = self.channels, self.connections
        for host in self.hosts:
            host.first_consumers = host.consumers

    @property
    def nodes(self) -> int:
        """How many nodes the pids of the channels are of."""
        rows = self.channels.channels if self.channels is not None else ()
        pids = [_NODE_OF_PID.fullmatch(row.id) for row in rows]
        return len({pid[1] for pid in pids if pid is not None})

    def intakes(self, interrupted: bool, stale: bool) -> list[Intake]:
        """An intake for each virtual host, and a last one for channels and connections.

        ``stale``: channels were listed long before the last depths.
        """
        gone = sum(host.gone for host in self.hosts)
        if gone:
            self.note(f"{WHERE}: {plural(gone, 'queue')} deleted within the window left out")
        left = sum(len(host.left) for host in self.hosts)
        if left:
            self.note(
                f"{WHERE}: the consumers of {plural(left, 'queue')} changed after the last look: "
                "those from the start of the window are judged"
            )
        changed = sum(host.changed for host in self.hosts)
        if changed:
            self.note(
                f"{WHERE}: the number of consumers of {plural(changed, 'queue')} changed within "
                "the window: only the looks since then count"
            )
        hosts = [host.intake() for host in self.hosts]
        clients = _joined([one for one in (self.channels, self.connections) if one is not None])
        channels = clients.channels
        if stale:
            # held against the queue's own count these would contradict it
            channels = _without_unacked(channels)
        wanted = {row.channel for host in hosts for row in host.consumers}
        wanted -= {row.id for row in channels}
        if wanted and self.first_channels is not None:
            gone_channels = (row for row in self.first_channels.channels if row.id in wanted)
            channels = (*channels, *_without_unacked(gone_channels))
        connections = clients.connections
        if self.first_connections is not None:
            known = {row.name for row in connections}
            gone_ones = (r for r in self.first_connections.connections if r.name not in known)
            connections = (*connections, *gone_ones)
        last = replace(
            clients,
            channels=channels,
            connections=connections,
            notes=(*self.notes, *clients.notes),
            interrupted=interrupted,
        )
        found = [*hosts, last]
        return [replace(one, index=index) for index, one in enumerate(found)]


def _by_queue(listed: Intake | None) -> Mapping[str, list[ConsumerRow]]:
    found: dict[str, list[ConsumerRow]] = {}
    for row in listed.consumers if listed is not None else ():
        found.setdefault(row.queue, []).append(row)
    return found


def _without_unacked(rows: Iterable[ChannelRow]) -> tuple[ChannelRow, ...]:
    return tuple(replace(row, unacked=None) for row in rows)


def _joined(parts: Sequence[Intake]) -> Intake:
    """Different lists as one intake."""
    return Intake(
        WHERE,
        queues=tuple(row for part in parts for row in part.queues),
        consumers=tuple(row for part in parts for row in part.consumers),
        channels=tuple(row for part in parts for row in part.channels),
        connections=tuple(row for part in parts for row in part.connections),
        bad_rows=tuple(row for part in parts for row in part.bad_rows),
        bad_count=sum(part.bad_count for part in parts),
        notes=tuple(note for part in parts for note in part.notes),
        lists=frozenset(name for part in parts for name in part.lists),
        coverage=tuple(scope for part in parts for scope in part.coverage),
    )
