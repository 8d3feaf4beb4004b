"""What each consumer of a small simulation does when: busy, waiting for a delivery, idle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from prefetch_advisor.dispatch import Step

Doing = Literal["busy", "wait", "idle"]


class Span(NamedTuple):
    """From ``start`` to ``end``, seconds."""

    kind: Doing
    start: float
    end: float


def spans(steps: Sequence[Step], consumer: int, end: float, backlog: bool) -> list[Span]:
    """One consumer from 0 to ``end``, without gaps.

    It is busy while any of its workers is. It waits for a delivery: of a backlog whenever more
    comes later, else from when that was dealt until it is begun. Otherwise it is idle.
    """
    own = sorted((step for step in steps if step.consumer == consumer), key=lambda one: one.begun)
    return [span for span in _spans(own, end, backlog) if span.end > span.start]


def _spans(own: Sequence[Step], end: float, backlog: bool) -> Iterator[Span]:
    until = 0.0
    for step in own:
        if step.begun > until:
            from_ = until if backlog else min(max(step.dealt, until), step.begun)
            yield Span("idle", until, from_)
            yield Span("wait", from_, step.begun)
            until = step.begun
        if step.done > until:
            yield Span("busy", until, min(step.done, end))
            until = step.done
    yield Span("idle", until, end)
