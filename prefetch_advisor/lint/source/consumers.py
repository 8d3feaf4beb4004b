"""Consumers of code as the rules for declared queues see them, where nothing is wrong by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefetch_advisor.config import MAX_PREFETCH
from prefetch_advisor.lint.source.channels import Use, is_size, uses
from prefetch_advisor.lint.source.facts import Concurrency, Consume
from prefetch_advisor.model.lint import Consumer, Located


def consumers(facts: Sequence[object]) -> Iterator[Consumer]:
    """Those whose queue and prefetch are written out, to be judged with what settings say of them.

    What is wrong whatever the queue (no prefetch, one that does not fit, automatic ack, a batch)
    has rules of its own, and is not told twice.
    """
    for use in uses(facts).values():
        for one in use.consumes:
            limit = use.in_force(one)
            if limit is not None and _is_plain(one, limit, use):
                yield Consumer(
                    subject=one.queue or one.call,
                    client=one.client,
                    place=one.place,
                    queue=one.queue,
                    prefetch=limit,
                    ack=one.ack,
                    concurrency=_concurrency(one),
                )


def _is_plain(one: Consume, limit: Located[int], use: Use) -> bool:
    return (
        one.queue is not None
        and 0 < limit.value <= MAX_PREFETCH
        and one.ack is not None
        and one.ack.value == "manual"
        and not any(is_size(qos) for qos in use.qos)
        and not any(one.step.before(qos.step) for qos in use.qos)
        and not any(handler.early or handler.batch for handler in one.handlers)
    )


def _concurrency(one: Consume) -> Located[int] | None:
    """One message at a time, where nothing hands it on; else it is not known."""
    alone = one.handlers and not any(h.handoffs or h.escapes for h in one.handlers)
    blocking = all(h.concurrency is Concurrency.BLOCKING for h in one.handlers)
    return Located(1, one.place) if alone and blocking else None
