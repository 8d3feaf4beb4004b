"""Consumers that the broker still lists of queues that are gone: its statistics are late."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prefetch_advisor.model.observation import ConsumerRow, Intake, SourceKind
from prefetch_advisor.units import plural

_SHOWN = 3


def without_vanished(intakes: Sequence[Intake]) -> tuple[Sequence[Intake], tuple[str, ...]]:
    """The intakes without consumers of queues that are no more, and what there is to tell of it.

    A quorum queue that was deleted keeps its consumers in /api/consumers for half a minute, without
    the channel that is gone. Such a row is left out where other queues of its vhost are listed.
    """
    listed = [
        row
        for intake in intakes
        for row in intake.queues
        if row.kind is SourceKind.MANAGEMENT and "queues" in intake.lists
    ]
    there = {(row.vhost, row.name) for row in listed}
    vhosts = {row.vhost for row in listed}

    def vanished(row: ConsumerRow) -> bool:
        return (
            row.channel is None
            and row.kind is SourceKind.MANAGEMENT
            and row.vhost in vhosts
            and (row.vhost, row.queue) not in there
        )

    gone: list[str] = []
    kept = []
    for intake in intakes:
        left_out = [row.queue for row in intake.consumers if vanished(row)] if vhosts else []
        if left_out:
            gone += left_out
            rows = tuple(row for row in intake.consumers if not vanished(row))
            intake = replace(intake, consumers=rows)
        kept.append(intake)
    return kept, _told(gone)


def _told(gone: Sequence[str]) -> tuple[str, ...]:
    if not gone:
        return ()
    names = list(dict.fromkeys(gone))
    shown = ", ".join(map(repr, names[:_SHOWN]))
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return (
        f"{plural(len(gone), 'consumer')} left out: {shown}{more} "
        f"{'is' if len(names) == 1 else 'are'} not in the list of queues any more",
    )
