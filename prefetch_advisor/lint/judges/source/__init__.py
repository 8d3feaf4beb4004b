"""Rules of consumer code: they see facts, whatever the language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefetch_advisor.lint.source.facts import (
    BrokerPriorities,
    Channel,
    Consume,
    Get,
    Handler,
    Qos,
    Stage,
)
from prefetch_advisor.model.lint import LintFinding

_FACTS = (BrokerPriorities, Channel, Consume, Get, Handler, Qos, Stage)


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """What is wrong with the consumers of the code; the worst of each kind at each place."""
    own = [fact for fact in facts if isinstance(fact, _FACTS)]
    if not own:
        return
    from prefetch_advisor.lint.judges.source import handlers, handoffs, prefetches

    worst: dict[tuple[object, str], LintFinding] = {}
    for judged in (prefetches.judge, handlers.judge, handoffs.judge):
        for found in judged(own):
            key = (found.place, found.finding.code)
            if key not in worst or found.severity > worst[key].severity:
                worst[key] = found
    yield from worst.values()
