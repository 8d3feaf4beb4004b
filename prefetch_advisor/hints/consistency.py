"""Whether the inputs agree, and whether there is enough of them."""

from __future__ import annotations

from collections.abc import Iterator

from prefetch_advisor.case import Case
from prefetch_advisor.config import FEW_SAMPLES
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.findings import inputs
from prefetch_advisor.hints.judged import Judged
from prefetch_advisor.limits import is_internal
from prefetch_advisor.model.advice import Finding
from prefetch_advisor.model.figures import FigureSource
from prefetch_advisor.units import duration, plural

#: the sum of the channels may differ from the queue by this share, and by a few messages
SUM_TOLERANCE = 0.2
FEW_MESSAGES = 20


def consistency(judged: Judged) -> Iterator[Finding]:
    case = judged.case
    for c in case.observation.contradictions:
        message = f"{c.figure}: {c.taken} was taken, but {c.other}"
        yield inputs.INCONSISTENT_INPUT.finding(judged.name, message)
    limit, held = case.force.limit.value, case.unacked
    stream = case.row is not None and case.row.type == "stream"
    above = limit and held is not None and held > limit and not stream
    if above and not any(is_internal(c) for c in case.force.active):
        message = f"{held:,} unacked, {limit:,} allowed ({case.force.limit.origin})"
        yield rules.ABOVE_LIMIT.finding(judged.name, message)
    listed = case.observation.consumers
    if stream or not listed or held is None or listed[0].channel is None:
        return
    if any(c.channel is None for c in listed):
        return
    rows = {c.channel.row.id: c.channel for c in listed if c.channel is not None}
    if any(len(channel.queues) > 1 for channel in rows.values()):
        return
    parts = [c.row.unacked for c in rows.values()]
    total = sum(p for p in parts if p is not None)
    if None not in parts and abs(total - held) > max(
        SUM_TOLERANCE * max(total, held), FEW_MESSAGES
    ):
        message = f"{held:,} unacked on the queue, {total:,} on its consumers' channels"
        help_ = "Take both at one time; a lasting gap means clients that use basic.get."
        yield inputs.INCONSISTENT_INPUT.finding(judged.name, message, help_)


def contradicted(judged: Judged) -> Iterator[Finding]:
    """A known P that is not what clients with a backlog in hand take for a message."""
    message = contradiction(judged.case)
    if message is not None:
        help_ = "The acks are held by the clients, or the processing time is not of this queue."
        yield inputs.INCONSISTENT_INPUT.finding(judged.name, message, help_)


def contradiction(case: Case) -> str | None:
    """What is wrong with a known P, where the backlog sits in the clients and k / x shows it."""
    processing, x = case.estimates.processing, case.server_rate
    if processing is None or not processing.usable or not x or not case.held_by_clients:
        return None
    seen = case.concurrency / x
    if seen <= 1.2 * processing.mean and processing.mean <= 1.2 * seen:
        return None
    return (
        f"{duration(processing.mean)} a message ({processing.source}), but consumers with a "
        f"backlog in hand take {duration(seen)} for one"
    )


def samples(judged: Judged) -> Iterator[Finding]:
    processing = judged.estimates.processing
    if processing is None or processing.source is not FigureSource.MEASURED:
        return
    if processing.samples is not None and processing.samples < FEW_SAMPLES:
        message = f"{plural(processing.samples, 'message')} timed"
        yield inputs.TOO_FEW_SAMPLES.finding(judged.name, message)
