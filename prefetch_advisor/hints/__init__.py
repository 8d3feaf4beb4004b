"""Findings beside the verdict: what else is wrong with a queue's consumers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from prefetch_advisor.hints import bounds, consistency, consumers, kinds, prefetch
from prefetch_advisor.hints.judged import Judged
from prefetch_advisor.model.advice import Finding

__all__ = ["Judged", "hints"]


class _Need(Enum):
    """What a queue must have for a check to find anything: most of a large fleet has little."""

    NOTHING = auto()
    #: a processing time, or a bound of it
    PROCESSING = auto()
    #: channels of its active consumers, or a prefetch for each of them
    CHANNELS = auto()
    #: consumers without a limit
    UNLIMITED = auto()
    #: bounds that exclude each other, batches or a budget
    BOUNDS = auto()


class _Check(NamedTuple):
    find: Callable[[Judged], Iterable[Finding]]
    needs: _Need = _Need.NOTHING


#: in the order of what they find
CHECKS = (
    _Check(prefetch.unlimited, _Need.UNLIMITED),
    _Check(consumers.acks),
    _Check(consumers.dead_consumers, _Need.CHANNELS),
    _Check(prefetch.prefetch_low),
    _Check(prefetch.prefetch_high),
    _Check(consumers.consumer_count),
    _Check(bounds.clash, _Need.BOUNDS),
    _Check(bounds.batch, _Need.BOUNDS),
    _Check(bounds.memory, _Need.BOUNDS),
    _Check(bounds.ack_timeout, _Need.PROCESSING),
    _Check(kinds.queue_kind),
    _Check(kinds.global_qos),
    _Check(consumers.unequal, _Need.CHANNELS),
    _Check(consumers.early_ack, _Need.PROCESSING),
    _Check(consistency.consistency),
    _Check(consistency.contradicted, _Need.PROCESSING),
    _Check(consistency.samples, _Need.PROCESSING),
)


def hints(judged: Judged) -> list[Finding]:
    """Every finding beside the outcome's own."""
    case = judged.case
    checks = _worthwhile(
        judged.estimates.processing is not None,
        bool(case.channels) or judged.own is not None,
        bool(case.force.unlimited),
        judged.conflict is not None
        or case.estimates.batch > 1
        or case.policy.memory_budget is not None,
    )
    found: list[Finding] = []
    for check in checks:
        found += check(judged)
    return found


@cache
def _worthwhile(
    processing: bool, channels: bool, unlimited: bool, bounds: bool
) -> tuple[Callable[[Judged], Iterable[Finding]], ...]:
    there = {
        _Need.NOTHING: True,
        _Need.PROCESSING: processing,
        _Need.CHANNELS: channels,
        _Need.UNLIMITED: unlimited,
        _Need.BOUNDS: bounds,
    }
    return tuple(check.find for check in CHECKS if there[check.needs])
