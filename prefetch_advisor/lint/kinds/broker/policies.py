"""Which policies of a broker apply to a queue."""

from __future__ import annotations

import re
from collections.abc import Iterable

from prefetch_advisor.lint.kinds.broker.facts import Policy, Queue

_TYPES = {"classic_queues": "classic", "quorum_queues": "quorum", "streams": "stream"}
#: repetition of a group takes the square of a name's length, or more, to match
_COSTLY = re.compile(r"\)[*+?{]")


def in_force(policies: Iterable[Policy], queue: Queue) -> Policy | None:
    """The one of the highest priority, operators' aside; ``None``: none, or not to be told."""
    applied = [each for each in policies if not each.operator and applies(each, queue)]
    if not all(map(_certain, applied)):
        return None
    return max(applied, key=lambda each: each.priority, default=None)


def _certain(policy: Policy) -> bool:
    return (
        len(policy.pattern) < 200
        and not _COSTLY.search(policy.pattern)
        and (sum(map(policy.pattern.count, "*+{")) <= 3)
    )


def applies(policy: Policy, queue: Queue) -> bool:
    """Whether it applies to the queue; a pattern that is too costly to try may."""
    if not policy.everywhere and policy.vhost != queue.vhost:
        return False
    wanted = _TYPES.get(policy.apply_to)
    if policy.apply_to == "exchanges" or (wanted and queue.type not in (wanted, None)):
        return False
    if not _certain(policy):
        return True
    try:
        return re.search(policy.pattern, queue.name) is not None
    except (re.error, RecursionError, OverflowError):
        # a pattern of Erlang's that Python does not know
        return True
