"""The prefetch against what it must not exceed or fall below: memory, ack timeout, batch."""

from __future__ import annotations

from collections.abc import Iterator

from prefetch_advisor.bounds import Bound, slow_time
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.hints.judged import Judged
from prefetch_advisor.model.advice import Finding, Severity
from prefetch_advisor.units import duration, percent, size

#: the share of the ack timeout from which it is a risk
_MARGIN = 0.5
_LONGER = "Raise the queue's timeout (consumer-timeout) above the longest task, or split it."
_BY_BOUND = {
    "memory": rules.MEMORY_OVER_BUDGET,
    "ack-timeout": rules.ACK_TIMEOUT_RISK,
    "batch": rules.BATCH_NOT_BELOW,
}


def clash(judged: Judged) -> Iterator[Finding]:
    """Bounds that no prefetch can keep together: the upper one names the finding."""
    if judged.conflict is None:
        return
    yield clash_of(judged.name, *judged.conflict)


def clash_of(name: str, low: Bound, high: Bound) -> Finding:
    """The finding for a lower bound that lies above an upper one."""
    rule = _BY_BOUND.get(high.name) or _BY_BOUND[low.name]
    message = (
        f"at least {low.value:,} is needed ({low.words}), at most {high.value:,} allowed"
        f" ({high.words})"
    )
    # one task alone is too long: no prefetch helps
    alone = (high.name, low.name) == ("ack-timeout", "concurrency")
    return rule.finding(name, message, _LONGER if alone else None, Severity.ERROR)


def batch(judged: Judged) -> Iterator[Finding]:
    size_, present = judged.case.batch, judged.current.prefetch
    if size_ < 2 or not present or present > size_ or judged.conflict is not None:
        return
    if present < size_:
        message = f"prefetch {present} never fills a batch of {size_}: "
        flows = bool(judged.case.window.departures)
        message += "what is acked waits for a timer" if flows else "nothing is ever acked"
        yield rules.BATCH_NOT_BELOW.finding(judged.name, message, None, Severity.ERROR)
    else:
        message = f"prefetch {present}, acks for {size_} messages together"
        yield rules.BATCH_NOT_BELOW.finding(judged.name, message)


def memory(judged: Judged) -> Iterator[Finding]:
    budget, each = judged.case.policy.memory_budget, judged.estimates.message_bytes
    present = judged.current.prefetch
    if budget is None or each is None or not present or judged.conflict is not None:
        return
    held = present * each.value
    if held > budget:
        message = (
            f"prefetch {present} x {size(each.value)} a message ({each.source}) is {size(held)}, "
            f"the budget {size(budget)}"
        )
        yield rules.MEMORY_OVER_BUDGET.finding(judged.name, message)


def ack_timeout(judged: Judged) -> Iterator[Finding]:
    """(N / k - 1) P + p99 at or above half of the timeout in force."""
    timeout, processing = judged.estimates.ack_timeout, judged.estimates.processing
    present, k = judged.current.prefetch, judged.case.concurrency
    if timeout is None or processing is None or not processing.usable or judged.conflict:
        return
    if any(c.row.ack == "auto" for c in judged.case.force.active):
        return
    slow = slow_time(processing, judged.outcome.scattered is not None)
    endless = bool(judged.case.force.unlimited)
    held = _each_holds(judged) if endless else present
    prefetch = held or k
    longest = max(0.0, prefetch / k - 1) * processing.mean + slow
    if longest < _MARGIN * timeout.value:
        return
    waits = prefetch > k
    buffer = "at work"
    if waits:
        among = f"{held:,} in one unlimited consumer" if endless else f"prefetch {present}"
        buffer = f"behind the others of {among}"
    message = (
        f"a message may be unacked for {duration(longest)} ({buffer}, p99 {duration(slow)}), "
        f"{percent(longest / timeout.value)} of the ack timeout of {duration(timeout.value)} "
        f"({timeout.source}: {timeout.origin})"
    )
    yield rules.ACK_TIMEOUT_RISK.finding(judged.name, message, _shorter(judged, waits))


def _each_holds(judged: Judged) -> int:
    """What one unlimited consumer has of the queue's messages, or soon will have."""
    case = judged.case
    return round((case.backlog or 0) / len(case.force.unlimited))


def _shorter(judged: Judged, waits: bool) -> str:
    """A longer timeout is no cure for what only waits behind others."""
    if not waits:
        return _LONGER
    advised = judged.recommended.prefetch
    lower = f"Set prefetch {advised}" if advised else "Set a small prefetch"
    return f"{lower}: a longer timeout only moves the failure."
