"""Lists of rabbitmqctl that name no vhost: whether they can be of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake, SourceKind

#: the broker names these, anew for each client
_SERVER_NAMED = "amq.gen-"


def refuse_mixed_vhosts(intakes: Sequence[Intake]) -> None:
    """Refuse lists that share some queues and differ in most.

    Lists that share none are parts of one whole, such as those of ``--local`` on each node; the
    same name in lists that differ otherwise is two queues.

    Raises:
        InputError: two lists of a kind cannot be looks at the same vhost.
    """
    for listed, found in (("queues", _queues(intakes)), ("consumers", _consumers(intakes))):
        kept: dict[frozenset[str], str] = {}
        for where, names in found:
            if names in kept:
                continue
            for known, first in kept.items():
                common = len(names & known)
                if common and common * 2 <= min(len(names), len(known)):
                    files = where if where == first else f"{first} and {where}"
                    raise InputError(
                        f"{files}: two lists of {listed} that name no vhost and have only {common} "
                        f"of {len(names | known)} queue{'' if len(names | known) == 1 else 's'} in "
                        "common cannot be of one vhost: give the table form (its preamble names "
                        "the vhost), or one vhost a run"
                    )
            kept[names] = where


def _queues(intakes: Iterable[Intake]) -> Iterable[tuple[str, frozenset[str]]]:
    for intake in intakes:
        rows = intake.queues
        if rows and rows[0].kind is SourceKind.RABBITMQCTL and rows[0].vhost is None:
            yield intake.where, _names(row.name for row in rows)


def _consumers(intakes: Iterable[Intake]) -> Iterable[tuple[str, frozenset[str]]]:
    for intake in intakes:
        rows = intake.consumers
        if rows and rows[0].kind is SourceKind.RABBITMQCTL and rows[0].vhost is None:
            yield intake.where, _names(row.queue for row in rows)


def _names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in names if not name.startswith(_SERVER_NAMED))
