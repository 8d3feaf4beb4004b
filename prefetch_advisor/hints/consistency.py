"""Whether the inputs agree, and whether there is enough of them."""

from __future__ import annotations

from collections.abc import Iterator

from prefetch_advisor.config import FEW_SAMPLES
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.findings import inputs
from prefetch_advisor.hints.judged import Judged
from prefetch_advisor.model.advice import Finding
from prefetch_advisor.model.figures import FigureSource

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
    if limit and held is not None and held > limit and not stream:
        message = f"{held:,} unacked, {limit:,} allowed ({case.force.limit.origin})"
        yield rules.ABOVE_LIMIT.finding(judged.name, message)
    listed = case.observation.consumers
    if stream or not listed or held is None or any(c.channel is None for c in listed):
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


def samples(judged: Judged) -> Iterator[Finding]:
    processing = judged.estimates.processing
    if processing is None or processing.source is not FigureSource.MEASURED:
        return
    if processing.samples is not None and processing.samples < FEW_SAMPLES:
        message = f"{processing.samples} messages timed"
        yield inputs.TOO_FEW_SAMPLES.finding(judged.name, message)
