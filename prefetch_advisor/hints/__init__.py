"""Findings beside the verdict: what else is wrong with a queue's consumers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from prefetch_advisor.hints import bounds, consistency, consumers, kinds, prefetch
from prefetch_advisor.hints.judged import Judged
from prefetch_advisor.model.advice import Finding, Verdict

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
    #: a prefetch that can be held against what feeds: its busy share or what it buffers is known,
    #: or the verdict is about it, or consumers have several workers
    PREFETCH = auto()
    #: a number of consumers to advise, or consumers that are busy all the time
    COUNT = auto()
    #: redeliveries, or no departures
    ACKS_MISSING = auto()
    #: messages that are fetched with basic.get
    POLLS = auto()
    #: a quorum queue, a single active consumer, or arguments that may hold priorities
    KIND = auto()
    #: sources that disagree, more unacked than may be, or channels to add up
    DISAGREEMENT = auto()


class _Check(NamedTuple):
    find: Callable[[Judged], Iterable[Finding]]
    needs: _Need = _Need.NOTHING


#: in the order of what they find
CHECKS = (
    _Check(prefetch.unlimited, _Need.UNLIMITED),
    _Check(consumers.acks, _Need.ACKS_MISSING),
    _Check(consumers.redeliveries, _Need.ACKS_MISSING),
    _Check(consumers.polled_too, _Need.POLLS),
    _Check(consumers.dead_consumers, _Need.CHANNELS),
    _Check(prefetch.grows, _Need.CHANNELS),
    _Check(prefetch.prefetch_low, _Need.PREFETCH),
    _Check(prefetch.prefetch_high, _Need.PREFETCH),
    _Check(consumers.consumer_count, _Need.COUNT),
    _Check(bounds.clash, _Need.BOUNDS),
    _Check(bounds.batch, _Need.BOUNDS),
    _Check(bounds.memory, _Need.BOUNDS),
    _Check(bounds.ack_timeout, _Need.PROCESSING),
    _Check(kinds.queue_kind, _Need.KIND),
    _Check(kinds.global_qos),
    _Check(consumers.unequal, _Need.CHANNELS),
    _Check(consumers.early_ack, _Need.PROCESSING),
    _Check(consistency.consistency, _Need.DISAGREEMENT),
    _Check(consistency.contradicted, _Need.PROCESSING),
    _Check(consistency.samples, _Need.PROCESSING),
)


def hints(judged: Judged) -> list[Finding]:
    """Every finding beside the outcome's own."""
    found: list[Finding] = []
    for check in _worthwhile(*_there(judged)):
        found += check(judged)
    return found


def _there(judged: Judged) -> tuple[bool, ...]:
    """What the queue has, in the order of :class:`_Need`; cheap, or it would gain nothing."""
    case, current, verdict = judged.case, judged.current, judged.outcome.verdict
    row, force, rates = case.row, case.force, case.window.rates
    channels = bool(case.channels)
    return (
        True,
        judged.estimates.processing is not None,
        channels or judged.own is not None,
        bool(force.unlimited),
        judged.conflict is not None
        or case.estimates.batch > 1
        or case.policy.memory_budget is not None,
        current.busy_share is not None
        or current.buffered_time is not None
        or case.concurrency > 1
        or verdict in _ABOUT_THE_PREFETCH,
        judged.recommended.consumers is not None or verdict is Verdict.PROCESSING_BOUND,
        bool(rates.redeliver) or case.window.departures == 0,
        bool(rates.get or rates.get_no_ack),
        force.single_active or (row is not None and (row.type == "quorum" or bool(row.settings))),
        channels
        or bool(case.observation.contradictions)
        or (case.unacked or 0) > (force.limit.value or 0),
    )


_ABOUT_THE_PREFETCH = (Verdict.ROUND_TRIP_BOUND, Verdict.HOARDING)


@cache
def _worthwhile(*there: bool) -> tuple[Callable[[Judged], Iterable[Finding]], ...]:
    has = dict(zip(_Need, there, strict=True))
    return tuple(check.find for check in CHECKS if has[check.needs])
