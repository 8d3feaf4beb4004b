"""The prefetch: none in force, too small, too large."""

from __future__ import annotations

from collections.abc import Iterator

from prefetch_advisor.case import Case
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.hints.judged import LONG_BUFFER, MUCH, VERY_LONG_BUFFER, Judged
from prefetch_advisor.limits import is_stomp
from prefetch_advisor.model.advice import Finding, Severity, Verdict
from prefetch_advisor.model.figures import FigureSource
from prefetch_advisor.model.observation import Consumer
from prefetch_advisor.units import duration, percent, size

#: from this factor on a limit that rose is no worker that was added
_GROWN = 1.5
#: consumers named in one finding
_SHOWN = 3
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
        message = f"{_of(manual, total)}: manual ack, prefetch 0{_whose(manual, total)}"
        if case.unacked:
            message += f"; {case.unacked:,} messages unacked"
        message += _bytes(case)
        help_ = f"{setting} ({_where_set(manual)}) and keep manual ack."
        if case.row is not None and not {"max-length", "max-length-bytes"}.isdisjoint(
            case.row.settings
        ):
            help_ += " Its maximal length counts ready messages only: it does not bound these."
        yield rules.UNBOUNDED_PREFETCH.finding(judged.name, message, help_)
    if auto:
        void = sorted({c.row.prefetch for c in auto if c.row.prefetch})
        message = f"{_of(auto, total)}: automatic ack"
        if void:
            message += f"; the prefetch of {', '.join(map(str, void))} is ignored"
        help_ = f"{setting} and ack each message after its work."
        yield rules.AUTO_ACK.finding(judged.name, message, help_)
    late = [c for c in manual if c.channel and c.channel.row.prefetch and not is_stomp(c)]
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


def _whose(some: list[Consumer], total: int) -> str:
    """Which ones: their connections; a pid or a tag only where others of the queue are limited."""
    names = [c.row.connection or c.row.channel or c.row.tag for c in some]
    if len(some) == total and (total > _SHOWN or not all(c.row.connection for c in some)):
        return ""
    shown = ", ".join(dict.fromkeys(names[:_SHOWN]))
    return f" ({shown}, ...)" if len(names) > _SHOWN else f" ({shown})"


def _where_set(some: list[Consumer]) -> str:
    if all(map(is_stomp, some)):
        return "the header prefetch-count of SUBSCRIBE"
    return "basic.qos before basic.consume"


def _bytes(case: Case) -> str:
    row = case.row
    if row is None:
        return ""
    if row.unacked_bytes and case.ready_about_zero:
        return f", {size(row.unacked_bytes)} of message bodies"
    if row.message_bytes:
        return f"; up to {size(row.message_bytes)} of message bodies if it takes all of the backlog"
    return ""


def grows(judged: Judged) -> Iterator[Finding]:
    """A channel's limit that rose within the series; a worker more is no growth to speak of."""
    channels = {c.channel.row.id: c.channel.row for c in judged.case.force.active if c.channel}
    for row in channels.values():
        before, now = row.limit_before, row.limit
        if before and now and now >= _GROWN * before:
            message = f"channel {row.id}: {before:,}, then {now:,}"
            yield rules.PREFETCH_GROWS.finding(judged.name, message)


def prefetch_low(judged: Judged) -> Iterator[Finding]:
    current, advised = judged.current, judged.recommended
    if judged.outcome.verdict is Verdict.ROUND_TRIP_BOUND:
        message = f"prefetch {judged.prefetch_now}"
        if judged.case.client == "async":
            message += ": this client works on no more than that at once"
        elif current.busy_share is not None:
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
    if judged.outcome.no_count is not None:
        return  # how long a message waits is as doubtful as how many work
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
    elif judged.conflict is not None:
        help_ = "Lower it, once the bounds that clash are settled."
    elif current.rtt_covered is not None:
        message += f"; it covers round trips up to {duration(current.rtt_covered)}"
        help_ = "Give --rtt for the value that feeding needs; until then a tenth of it is plenty."
    else:
        help_ = "Lower it; give --processing-time and --rtt for the value that feeding needs."
    limit = judged.case.force.limit.value
    if limit:
        help_ += f" Until then a restart of its clients may deliver {limit:,} messages again."
    yield rules.PREFETCH_TOO_LARGE.finding(judged.name, message, help_)


def _far_above(judged: Judged) -> bool:
    """Whether the last message buffered waits long, and far longer than feeding needs."""
    current, advised = judged.current, judged.recommended
    processing = judged.estimates.processing
    if current.buffered_time is None or processing is None or not processing.usable:
        return False
    need = max(advised.buffered_time or 0.0, processing.mean)
    longest = min(max(LONG_BUFFER, MUCH * need), max(VERY_LONG_BUFFER, need))
    if current.buffered_time <= longest or advised.keep:
        return False
    return advised.prefetch is None or advised.prefetch < (current.prefetch or 0)
