"""What calls of ``rabbitmqctl`` gave over a window, put together into intakes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from prefetch_advisor.model.observation import ConsumerRow, Intake, LengthSample, QueueRow
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
    consumers: Intake | None = None
    #: it is looked at again
    watched: bool = True

    def add(self, latest: Intake, at: float) -> None:
        """A look at its queues that was answered at this time."""
        self.latest = latest
        for row in latest.queues:
            samples = self.depths.setdefault(row.name, [])
            if row.lengths:
                samples.append(LengthSample(at, row.ready, row.unacked))

    def list_consumers(self, later: Intake) -> None:
        """Consumers as listed after the last look at the queues.

        Of a queue whose consumers came or left in between, the earlier list holds where it agrees
        with what that look counted: its depths are theirs.
        """
        if self.consumers is not None:
            before, now = _by_queue(self.consumers), _by_queue(later)
            for row in self.latest.queues:
                earlier, latest = before.get(row.name, []), now.get(row.name, [])
                if len(earlier) == row.consumers != len(latest):
                    now[row.name] = earlier
            later = replace(later, consumers=tuple(c for rows in now.values() for c in rows))
        self.consumers = later

    @property
    def gone(self) -> int:
        """Queues that were there and are no more."""
        return len(self.depths.keys() - {row.name for row in self.latest.queues})

    def intake(self) -> Intake:
        """Its queues, each with all its depths, and its consumers."""
        queues = tuple(map(self._with_depths, self.latest.queues))
        parts = [self.latest] if self.consumers is None else [self.latest, self.consumers]
        return replace(_joined(parts), queues=queues)

    def _with_depths(self, row: QueueRow) -> QueueRow:
        return replace(row, lengths=tuple(self.depths[row.name]))


def _by_queue(listed: Intake) -> dict[str, list[ConsumerRow]]:
    found: dict[str, list[ConsumerRow]] = {}
    for row in listed.consumers:
        found.setdefault(row.queue, []).append(row)
    return found


@dataclass(slots=True)
class Seen:
    """Everything that was listed."""

    hosts: list[Host] = field(default_factory=list)
    channels: Intake | None = None
    connections: Intake | None = None
    #: what to tell, each once
    notes: dict[str, None] = field(default_factory=dict)

    def note(self, text: str) -> None:
        self.notes[text] = None

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
        clients = _joined([one for one in (self.channels, self.connections) if one is not None])
        channels = clients.channels
        if stale:
            # held against the queue's own count these would contradict it
            channels = tuple(replace(row, unacked=None) for row in channels)
        notes = (*self.notes, *clients.notes)
        last = replace(clients, channels=channels, notes=notes, interrupted=interrupted)
        found = [*(host.intake() for host in self.hosts), last]
        return [replace(one, index=index) for index, one in enumerate(found)]


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
