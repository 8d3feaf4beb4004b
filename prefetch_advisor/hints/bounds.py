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
    return rule.finding(name, message, None, Severity.ERROR)


def batch(judged: Judged) -> Iterator[Finding]:
    size_, present = judged.case.batch, judged.current.prefetch
    if size_ < 2 or not present or present > size_ or judged.conflict is not None:
        return
    if present < size_:
        message = f"prefetch {present} never fills a batch of {size_}: nothing is ever acked"
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
    prefetch = present or k
    longest = max(0.0, prefetch / k - 1) * processing.mean + slow
    if longest < _MARGIN * timeout.value:
        return
    buffer = f"behind the others of prefetch {present}" if present and present > k else "at work"
    message = (
        f"a message may be unacked for {duration(longest)} ({buffer}, p99 {duration(slow)}), "
        f"{percent(longest / timeout.value)} of the ack timeout of {duration(timeout.value)} "
        f"({timeout.source}: {timeout.origin})"
    )
    yield rules.ACK_TIMEOUT_RISK.finding(judged.name, message)
