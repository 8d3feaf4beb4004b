"""Whether declared consumers carry what arrives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from prefetch_advisor.bounds import ConflictError
from prefetch_advisor.consumer_count import ConsumerCount
from prefetch_advisor.findings import declared as rules
from prefetch_advisor.lint.declared import DeclaredQueue
from prefetch_advisor.lint.declared.observed import alike, judged_as, policy
from prefetch_advisor.lint.declared.placing import finding
from prefetch_advisor.lint.declared.words import numbers
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding, Located
from prefetch_advisor.model.timing import TimingRow
from prefetch_advisor.units import percent, plural


def of_load(queue: DeclaredQueue, timings: TimingRow | None = None) -> Iterator[LintFinding]:
    """Whether the consumers carry what arrives, and whether more of them can help."""
    many = alike(queue.consumers)
    if many is None:
        return
    try:
        judged, count = judged_as(replace(queue, prefetch=None, batch=None), timings)
    except ConflictError:
        return  # told with the prefetch
    used, highest = count.utilisation_present, policy(queue).max_utilisation
    fields = ("arrival_rate", "processing_time", "concurrency")
    from_ = numbers(queue, fields, judged.estimates.processing)
    single = queue.single_active_consumer
    if single is not None and single.value:
        if used is not None and used > highest:
            message = f"the one active consumer is loaded {percent(used)}, and more cannot help"
            yield finding(
                rules.SINGLE_ACTIVE, queue, message + from_, single, None, Severity.WARNING
            )
        elif many.value > 2:
            message = f"{many.value} consumers, of which one works at a time and one is spare"
            yield finding(rules.SINGLE_ACTIVE, queue, message, many)
    elif used is not None and not count.keep and judged.case.client != "async":
        yield from _more_consumers(queue, many, count, used, from_)


def _more_consumers(
    queue: DeclaredQueue, many: Located[int], count: ConsumerCount, used: float, from_: str
) -> Iterator[LintFinding]:
    wanted = count.recommended
    if wanted is None or wanted <= many.value:
        return
    are = "is" if many.value == 1 else "are"
    message = f"{plural(many.value, 'consumer')} {are} loaded {percent(used)}"
    if used >= 1:
        message += ": the queue grows for ever"
    share = count.utilisation_recommended
    if share is not None:
        message += f"; {wanted} would be {percent(share)}"
    help_ = f"Run {wanted} consumers, raise their concurrency, or make a message cheaper."
    yield finding(rules.ADD_CONSUMERS, queue, message + from_, many, help_)
