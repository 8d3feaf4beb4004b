"""What handlers do: acks that are missed, early or absent, blocked loops, batches, polling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefetch_advisor.config import MAX_PREFETCH
from prefetch_advisor.findings import source as rules
from prefetch_advisor.lint.source.channels import Use, found, reads, uses
from prefetch_advisor.lint.source.facts import (
    BrokerPriorities,
    Client,
    Concurrency,
    Consume,
    Get,
    Handler,
)
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding

#: what happens to an exception that nothing catches, where the message stays with the consumer
_LOGGED = {
    Client.AIO_PIKA: "aio-pika only logs it",
    Client.AIORMQ: "aiormq only logs it",
}


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """All of it."""
    every = uses(facts)
    for fact in facts:
        if isinstance(fact, Get):
            yield _polled(fact)
        elif isinstance(fact, Handler):
            yield from _handler(fact, fact.name)
        elif isinstance(fact, BrokerPriorities):
            yield _framework(fact)
        elif isinstance(fact, Consume):
            use = every.get(fact.channel, Use())
            for handler in fact.handlers:
                yield from _blocking(handler, reads(fact))
                if fact.ack is None or fact.ack.value == "auto":
                    continue
                yield from _handler(handler, reads(fact))
                yield from _never(handler, fact)
                yield from _batch(handler, fact, use)


def _polled(get: Get) -> LintFinding:
    severity = Severity.INFO if get.drains else None
    how = "until there is none" if get.drains else "for ever"
    message = f"{get.call} in a loop, {how}: a round trip for each message, and no prefetch"
    return found(rules.POLLING_LOOP, get.queue or get.call, message, get.place, severity)


def _handler(handler: Handler, subject: str) -> Iterator[LintFinding]:
    for place in handler.swallowed:
        message = f"{handler.name}: the error is caught here, and the message stays unacked"
        yield found(rules.ACK_MISSING_ON_ERROR, subject, message, place)
    if handler.skipped is not None:
        logged = _LOGGED.get(handler.client, "the client only logs it")
        message = f"{handler.name}: an error skips the ack; {logged}, the message stays unacked"
        yield found(rules.ACK_MISSING_ON_ERROR, subject, message, handler.skipped)
    if handler.early is not None:
        message = f"{handler.name}: the ack comes before the work"
        yield found(rules.ACK_BEFORE_WORK, subject, message, handler.early)


def _blocking(handler: Handler, subject: str) -> Iterator[LintFinding]:
    if handler.concurrency is Concurrency.BLOCKING:
        return
    if handler.concurrency is Concurrency.ITERATOR and handler.client is not Client.AIO_PIKA:
        return
    for call in handler.blocking:
        message = f"{handler.name}: {call.value} blocks the event loop"
        yield found(rules.BLOCKING_HANDLER, subject, message, call.place)


def _never(handler: Handler, consume: Consume) -> Iterator[LintFinding]:
    if handler.settles or handler.escapes or handler.client is Client.FASTSTREAM:
        return
    message = f"{handler.name} neither acks nor rejects, and nothing it calls does"
    yield found(rules.NEVER_ACKED, reads(consume), message, consume.place)


def _batch(handler: Handler, consume: Consume, use: Use) -> Iterator[LintFinding]:
    limit = use.in_force(consume)
    batch = handler.batch
    if batch is None or limit is None or not 0 < limit.value <= MAX_PREFETCH:
        return
    if batch.value < limit.value:
        return
    if batch.value > limit.value and not handler.batch_flushed:
        message = f"acks for {batch.value:,} together, prefetch {limit.value:,}: none is ever sent"
        yield found(rules.BATCH_EXCEEDS, reads(consume), message, batch.place)
        return
    what = "it never fills" if batch.value > limit.value else "it waits a round trip each time"
    message = f"acks for {batch.value:,} together, prefetch {limit.value:,}: {what}"
    yield found(rules.BATCH_EXCEEDS, reads(consume), message, batch.place, Severity.WARNING)


def _framework(fact: BrokerPriorities) -> LintFinding:
    message = (
        f"{fact.levels} priorities: {fact.client} prefetches twice its number of threads for each "
        "queue (16 by default), and those are worked off first"
    )
    return found(rules.PRIORITY_BEHIND, fact.client, message, fact.place)
