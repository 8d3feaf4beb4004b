"""Which queues are wanted, and what to say where there are none."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from prefetch_advisor.errors import NoQueueError
from prefetch_advisor.model.observation import Intake, QueueObservation
from prefetch_advisor.model.record import record
from prefetch_advisor.reports.escape import escaped, visible
from prefetch_advisor.reports.names import listed, quoted

_NEAR = 5
_NAMES_NO_QUEUE = ("channels", "connections")


@record
class Selection:
    """Which queues are wanted."""

    queues: tuple[str, ...]
    pattern: str | None
    vhost: str | None


def resolve(selection: Selection, intakes: Sequence[Intake]) -> Selection:
    """The selection by the names that the inputs have, where it was copied from a report.

    Raises:
        NoQueueError: the broker's inputs name their vhosts, and the one wanted is none of them.
    """
    names: set[str] = set()
    vhosts: set[str | None] = set()
    timed: set[str | None] = set()
    for intake in intakes:
        names.update(row.name for row in intake.queues)
        names.update(row.queue for row in intake.consumers)
        names.update(row.name for row in intake.timings if row.name is not None)
        vhosts.update(row.vhost for row in intake.queues)
        vhosts.update(row.vhost for row in intake.consumers)
        timed.update(row.vhost for row in intake.timings)
    known = {vhost for vhost in vhosts | timed if vhost is not None}
    wanted = selection.vhost
    if wanted is not None:
        wanted = _as_named(wanted, known)
        # rows that name no vhost are those of the one wanted
        if vhosts and None not in vhosts and wanted not in known:
            raise NoQueueError(_no_vhost(wanted, known))
    queues = tuple(_as_named(name, names) for name in selection.queues)
    return replace(selection, queues=queues, vhost=wanted)


def _as_named(wanted: str, names: Collection[str]) -> str:
    """The name that a report shows as ``wanted``, unless there is one that is just that."""
    if wanted in names:
        return wanted
    return next((name for name in sorted(names) if wanted in _shown(name)), wanted)


def _shown(name: str) -> tuple[str, ...]:
    """How a name is written in tables and in messages, in either character set."""
    return visible(name), visible(name, ascii_only=True), escaped(name), escaped(name, True)


def select(
    queues: Sequence[QueueObservation], selection: Selection, intakes: Sequence[Intake]
) -> tuple[QueueObservation, ...]:
    """The queues wanted, in their order.

    Raises:
        NoQueueError: a name or pattern that matches nothing; near names are listed.
    """
    if not queues:
        raise NoQueueError(_no_queue(intakes))
    there: Sequence[QueueObservation] = queues
    if selection.vhost is not None:
        there = [q for q in queues if q.key.vhost == selection.vhost]
    if selection.vhost is not None and not there:
        raise NoQueueError(_no_vhost(selection.vhost, {q.key.vhost for q in queues}))
    names = {q.key.name for q in there}
    for wanted in selection.queues:
        if wanted not in names:
            raise NoQueueError(f"no queue is called {quoted(wanted)}{_near(wanted, names)}")
    chosen = there
    if selection.queues:
        chosen = [q for q in there if q.key.name in selection.queues]
    if selection.pattern is not None:
        pattern = re.compile(selection.pattern)
        among = len(chosen)
        chosen = [q for q in chosen if pattern.search(q.key.name)]
        if not chosen:
            raise NoQueueError(
                f"no queue matches {quoted(selection.pattern)} among {among:,}"
                f"{_near(selection.pattern, names)}"
            )
    return tuple(chosen)


def _no_vhost(wanted: str, vhosts: Iterable[str]) -> str:
    return f"no queue in vhost {quoted(wanted)}; there are queues in {listed(sorted(vhosts))}"


def _near(wanted: str, names: set[str]) -> str:
    lowered = {name.lower(): name for name in sorted(names)}
    near = [lowered[n] for n in difflib.get_close_matches(wanted.lower(), lowered, _NEAR, 0.5)]
    near += [n for n in sorted(names) if wanted.lower() in n.lower() and n not in near]
    if near:
        return f"; near: {listed(near[:_NEAR])}"
    return f"; there are {len(names):,}: {listed(sorted(names))}"


def _no_queue(intakes: Sequence[Intake]) -> str:
    """What each input holds instead, and what to add."""
    lives = [intake for intake in intakes if intake.where.startswith("http")]
    if lives and any(intake.notes for intake in lives):
        # the notes of a running broker say why, before this
        return "so there is no queue to advise"
    inputs: dict[str, list[Intake]] = {}
    for intake in intakes:
        inputs.setdefault(intake.where, []).append(intake)
    held = [_held(where, parts) for where, parts in inputs.items()]
    more = f" and {len(held) - _NEAR:,} more" if len(held) > _NEAR else ""
    text = f"no queue in the input: {'; '.join(held[:_NEAR])}{more}"
    if all(_names_no_queue(part) for part in intakes):
        return f"{text}: add /api/queues, or rabbitmqctl list_queues and list_consumers"
    return f"{text}: there are none, or whoever asked may see no vhost"


def _names_no_queue(intake: Intake) -> bool:
    return bool(intake.brokers) or any(name in intake.lists for name in _NAMES_NO_QUEUE)


def _held(where: str, parts: Sequence[Intake]) -> str:
    """What one input holds, in words."""
    lists = sorted({name for part in parts for name in part.lists})
    found = []
    for name in lists:
        if any(getattr(part, name) for part in parts):
            found.append(f"lists {name}, which name no queue")
        else:
            found.append(f"lists no {name}")
    if any(part.brokers for part in parts):
        found.append("describes the broker")
    return f"{where} {' and '.join(found) or 'holds an empty list'}"
