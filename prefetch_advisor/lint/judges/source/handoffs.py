"""Messages that handlers hand on inside their process, followed to the last stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefetch_advisor.findings import buffers as rules
from prefetch_advisor.lint.source.channels import REPLIES, Use, found, reads, uses
from prefetch_advisor.lint.source.facts import Consume, Handoff, Stage
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """Every hand-off without a bound that a handler leads to."""
    every = uses(facts)
    stages = [fact for fact in facts if isinstance(fact, Stage)]
    for fact in facts:
        if isinstance(fact, Consume) and fact.queue != REPLIES:
            use = every.get(fact.channel, Use())
            for handler in fact.handlers:
                yield from _chain(handler.handoffs, fact, use, stages)


def _chain(
    handoffs: Sequence[Handoff], consume: Consume, use: Use, stages: Sequence[Stage]
) -> Iterator[LintFinding]:
    waiting = [(handoff, handoff.acked) for handoff in handoffs]
    seen: set[str] = set()
    while waiting:
        handoff, acked = waiting.pop(0)
        if handoff.bounded is False:
            yield _found(handoff, acked, consume, use)
        if not handoff.buffer or handoff.buffer in seen:
            continue
        seen.add(handoff.buffer)
        for stage in stages:
            if stage.buffer == handoff.buffer:
                waiting += [(each, acked or each.acked) for each in stage.handoffs]


def _found(handoff: Handoff, acked: bool, consume: Consume, use: Use) -> LintFinding:
    limit = use.in_force(consume)
    automatic = consume.ack is not None and consume.ack.value == "auto"
    known = limit is not None and limit.value > 0
    subject = reads(consume)
    if not acked and not automatic and known and limit is not None:
        message = (
            f"{handoff.what} has no bound of its own; as the ack comes after it, the prefetch of "
            f"{limit.value:,} bounds it"
        )
        return found(rules.UNBOUNDED_HANDOFF, subject, message, handoff.place, Severity.INFO)
    why = "with automatic ack" if automatic else "acked as it is handed on"
    if not acked and not automatic:
        why = "and no prefetch is known to bound it"
    message = f"{handoff.what} has no bound: {why}, the whole queue may lie in it"
    return found(rules.UNBOUNDED_HANDOFF, subject, message, handoff.place)
