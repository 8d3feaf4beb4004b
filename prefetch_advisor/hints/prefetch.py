"""The prefetch: none in force, too small, too large."""

from __future__ import annotations

from collections.abc import Iterator

from prefetch_advisor.case import Case
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.hints.judged import LONG_BUFFER, MUCH, Judged
from prefetch_advisor.model.advice import Finding, Severity, Verdict
from prefetch_advisor.model.figures import FigureSource
from prefetch_advisor.model.observation import Consumer
from prefetch_advisor.units import duration, percent, size

#: no buffer is too large where acks are missing, nor where more of it is what is missing
_NOT_TOO_LARGE = (Verdict.STALLED, Verdict.ROUND_TRIP_BOUND)


def unlimited(judged: Judged) -> Iterator[Finding]:
    case = judged.case
    if judged.outcome.verdict is Verdict.UNKNOWN:
        return
    total = len(case.observation.consumers or ())
    manual = [c for c in case.force.unlimited if c.row.ack != "auto"]
    auto = [c for c in case.force.unlimited if c.row.ack == "auto"]
    advised = judged.recommended.prefetch
    setting = f"Set prefetch {advised}" if advised else "Set a prefetch"
    if manual:
        message = f"{_of(manual, total)}: manual ack, prefetch 0"
        if case.unacked:
            message += f"; {case.unacked:,} messages unacked"
        message += _bytes(case)
        help_ = f"{setting} (basic.qos before basic.consume) and keep manual ack."
        yield rules.UNBOUNDED_PREFETCH.finding(judged.name, message, help_)
    if auto:
        void = sorted({c.row.prefetch for c in auto if c.row.prefetch})
        message = f"{_of(auto, total)}: automatic ack"
        if void:
            message += f"; the prefetch of {', '.join(map(str, void))} is ignored"
        help_ = f"{setting} and ack each message after its work."
        yield rules.AUTO_ACK.finding(judged.name, message, help_)
    late = [c for c in manual if c.channel is not None and c.channel.row.prefetch]
    if late:
        values = sorted({c.channel.row.prefetch or 0 for c in late if c.channel is not None})
        message = f"channel prefetch {', '.join(map(str, values))}, consumer prefetch 0"
        yield rules.LATE_QOS.finding(judged.name, message)
    elif manual and judged.unused_channels:
        first = judged.unused_channels[0]
        message = f"channel {first.id} has prefetch {first.prefetch} and no consumers"
        yield rules.UNUSED_QOS.finding(judged.name, message)


def _of(some: list[Consumer], total: int) -> str:
    if total == 1:
        return "its consumer"
    return f"all {total} consumers" if len(some) == total else f"{len(some)} of {total} consumers"


def _bytes(case: Case) -> str:
    row = case.row
    if row is None:
        return ""
    if row.unacked_bytes and case.ready_about_zero:
        return f", {size(row.unacked_bytes)} of message bodies"
    if row.message_bytes:
        return f"; up to {size(row.message_bytes)} of message bodies if it takes all of the backlog"
    return ""


def prefetch_low(judged: Judged) -> Iterator[Finding]:
    current, advised = judged.current, judged.recommended
    if judged.outcome.verdict is Verdict.ROUND_TRIP_BOUND:
        message = f"prefetch {judged.prefetch_now}"
        if current.busy_share is not None:
            message += f" keeps the consumer busy {percent(current.busy_share)} of its time"
        help_ = f"Set prefetch {advised.prefetch}." if advised.prefetch else None
        if advised.keep and advised.limited_by is not None:
            message += f"; its bound ({advised.limited_by}) allows no more"
            help_ = "Allow more, or bring the consumer nearer to the broker."
        elif advised.prefetch is not None and advised.busy_share is not None:
            message += f", {advised.prefetch} would {percent(advised.busy_share)}"
        elif advised.prefetch is not None:
            message += f"; try {advised.prefetch} and measure again"
        yield rules.PREFETCH_BELOW_ROUND_TRIP.finding(judged.name, message, help_)
        return
    k = judged.case.concurrency
    assumed = judged.estimates.concurrency.source is FigureSource.ASSUMED
    if current.prefetch and current.prefetch < k and not assumed:
        message = f"prefetch {current.prefetch} for {k} messages at once"
        yield rules.BELOW_CONCURRENCY.finding(judged.name, message)
    elif (
        current.busy_share is not None
        and current.prefetch
        and current.busy_share < 0.95
        and advised.prefetch is not None
        and advised.prefetch > current.prefetch
        and not judged.case.saturated
        and judged.outcome.verdict is not Verdict.HOARDING
    ):
        message = (
            f"not limited now, but with a backlog prefetch {current.prefetch} would keep the "
            f"consumer busy only {percent(current.busy_share)} of its time"
        )
        yield rules.PREFETCH_BELOW_ROUND_TRIP.finding(
            judged.name, message, f"Set prefetch {advised.prefetch}.", Severity.INFO
        )


def prefetch_high(judged: Judged) -> Iterator[Finding]:
    current, advised = judged.current, judged.recommended
    row = judged.case.row
    if row is not None and row.type == "stream":
        return  # its credit is for chunks: a large one is the advice
    if judged.case.force.unlimited or judged.outcome.verdict in _NOT_TOO_LARGE:
        return
    if judged.outcome.verdict is not Verdict.HOARDING and not _far_above(judged):
        return
    if judged.case.force.limit.kind == "quorum-default":
        return  # said by quorum-unlimited-is-2000
    message = f"prefetch {judged.prefetch_now}"
    if current.buffered_time is not None:
        message += (
            f": the last message buffered waits {duration(current.buffered_time)} in the client"
        )
    if advised.prefetch is not None:
        message += f"; {advised.prefetch} feeds the consumer"
        if advised.busy_share is not None:
            message += f" ({percent(advised.busy_share)} busy)"
        help_ = f"Set prefetch {advised.prefetch}."
    elif current.rtt_covered is not None:
        message += f"; it covers round trips up to {duration(current.rtt_covered)}"
        help_ = "Give --rtt for the value that feeding needs; until then a tenth of it is plenty."
    else:
        help_ = "Lower it; give --processing-time and --rtt for the value that feeding needs."
    yield rules.PREFETCH_TOO_LARGE.finding(judged.name, message, help_)


def _far_above(judged: Judged) -> bool:
    """Whether the last message buffered waits long, and far longer than feeding needs."""
    current, advised = judged.current, judged.recommended
    processing = judged.estimates.processing
    if current.buffered_time is None or processing is None or not processing.usable:
        return False
    need = max(advised.buffered_time or 0.0, processing.mean)
    if current.buffered_time <= max(LONG_BUFFER, MUCH * need) or advised.keep:
        return False
    return advised.prefetch is None or advised.prefetch < (current.prefetch or 0)
