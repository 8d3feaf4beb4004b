"""Facts of one channel together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from prefetch_advisor.config import MAX_PREFETCH
from prefetch_advisor.findings.rule import Rule
from prefetch_advisor.lint.source.facts import Channel, Consume, Qos, Step
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding, Located, Place

#: where replies to a request are read, always with automatic ack
REPLIES = "amq.rabbitmq.reply-to"


@dataclass(slots=True)
class Use:
    """What is done with one channel."""

    channel: Channel | None = None
    qos: list[Qos] = field(default_factory=list)
    consumes: list[Consume] = field(default_factory=list)

    def in_force(self, consume: Consume) -> Located[int] | None:
        """The prefetch of a consumer; ``None``: not known, or different ways lead to it."""
        runs = {qos.step.run for qos in self.qos if qos.step.before(consume.step)}
        before = [qos for qos in self.qos if qos.step.before(consume.step)] or [
            qos for qos in self.qos if qos.step.run != consume.step.run
        ]
        if not before or (not runs and len({_count(qos) for qos in before}) > 1):
            return None
        last = before[-1]
        return None if is_size(last) else last.count


def _count(qos: Qos) -> int | None:
    return None if qos.count is None else qos.count.value


def is_size(qos: Qos) -> bool:
    """It limits the size of messages, which nothing supports."""
    if qos.size.value is None:
        return qos.positional
    return qos.size.value > 0


def too_large(qos: Qos) -> bool:
    """Its count does not fit."""
    return qos.count is not None and qos.count.value > MAX_PREFETCH


def uses(facts: Sequence[object]) -> dict[str, Use]:
    """By channel."""
    found: dict[str, Use] = {}
    for fact in facts:
        if isinstance(fact, Channel):
            found.setdefault(fact.key, Use()).channel = fact
        elif isinstance(fact, Qos) and fact.channel:
            found.setdefault(fact.channel, Use()).qos.append(fact)
        elif isinstance(fact, Consume) and fact.channel:
            found.setdefault(fact.channel, Use()).consumes.append(fact)
    return found


def met(step: Step, place: Place, other: Step) -> Place:
    """Where a call stands in the function in which both calls, or what leads to them, stand."""
    mine = (*step.calls, place)
    for number, one in enumerate(mine):
        if number >= len(other.calls) or other.calls[number] != one:
            return one
    return place


def found(
    rule: Rule, subject: str, message: str, place: Place, severity: Severity | None = None
) -> LintFinding:
    """A finding at a place."""
    return LintFinding(rule.finding(subject, message, severity=severity), place)


def reads(consume: Consume) -> str:
    """The queue as a subject; the handler where it is not known."""
    if consume.queue:
        return consume.queue
    return consume.handlers[0].name if consume.handlers else consume.call
