"""Findings beside the verdict: what else is wrong with a queue's consumers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prefetch_advisor.hints import bounds, consistency, consumers, kinds, prefetch
from prefetch_advisor.hints.judged import Judged
from prefetch_advisor.model.advice import Finding

__all__ = ["Judged", "hints"]

CHECKS: tuple[Callable[[Judged], Iterable[Finding]], ...] = (
    prefetch.unlimited,
    consumers.acks,
    consumers.redeliveries,
    consumers.polled_too,
    consumers.dead_consumers,
    prefetch.grows,
    prefetch.prefetch_low,
    prefetch.prefetch_high,
    consumers.consumer_count,
    bounds.clash,
    bounds.batch,
    bounds.memory,
    bounds.ack_timeout,
    kinds.queue_kind,
    kinds.global_qos,
    consumers.unequal,
    consumers.early_ack,
    consistency.consistency,
    consistency.contradicted,
    consistency.samples,
)


def hints(judged: Judged) -> list[Finding]:
    """Every finding beside the outcome's own."""
    found: list[Finding] = []
    for check in CHECKS:
        found += check(judged)
    return found
