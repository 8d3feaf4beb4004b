"""The consumers: how many, how fast, and whether their acks mean what they should."""

from __future__ import annotations

from collections.abc import Iterator

from prefetch_advisor import silence
from prefetch_advisor.case import channel_rate, never_acked
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.hints.judged import Judged
from prefetch_advisor.model.advice import Finding, Severity, Verdict
from prefetch_advisor.model.figures import FigureSource
from prefetch_advisor.unequal import UNEQUAL_FACTOR, full_channels
from prefetch_advisor.units import duration, number, percent, plural, rate
from prefetch_advisor.window import trend

#: share of the deliveries above which redeliveries, or gets, are worth a word; and how many
_MUCH_AGAIN = 0.1
_ENOUGH_AGAIN = 10
#: consumers named in one finding
_SHOWN = 5


def consumer_count(judged: Judged) -> Iterator[Finding]:
    current, advised = judged.current, judged.recommended
    verdict, servers = judged.outcome.verdict, judged.case.servers
    if judged.barred is not None or judged.outcome.no_count is not None or judged.case.loops:
        return
    if verdict is Verdict.PROCESSING_BOUND and not advised.keep_consumers:
        yield from _more_consumers(judged)
    elif (
        advised.consumers is not None
        and 0 < advised.consumers < servers
        and verdict in (Verdict.KEEPING_UP, Verdict.IDLE)
    ):
        message = f"{servers} consumers run"
        if current.utilisation is not None:
            message += f" at a utilisation of {percent(current.utilisation)}"
        message += f"; {advised.consumers} would carry {rate(_arrivals(judged))}"
        yield rules.MORE_CONSUMERS.finding(judged.name, message)


def _more_consumers(judged: Judged) -> Iterator[Finding]:
    """Consumers that are busy all the time: a warning, unless the backlog shrinks all the same."""
    current, advised, servers = judged.current, judged.recommended, judged.case.servers
    they = "consumer is" if current.consumers == 1 else "consumers are"
    message = f"{current.consumers} {they} busy all the time"
    if servers and servers < (current.consumers or 0):
        message += f" on {plural(servers, 'channel')}, whose consumers share its thread"
    help_ = None
    if advised.consumers is None:
        message += "; how many are needed: " + advised.consumers_reason
        help_ = (
            "Run more (--arrival-rate says how many), raise their concurrency, or make a message "
            "cheaper."
        )
    elif servers < advised.consumers:
        message += f"; {rate(_arrivals(judged))} arrive, which needs {advised.consumers}"
        if advised.utilisation is not None:
            message += f" ({percent(advised.utilisation)} busy)"
        help_ = f"Run {advised.consumers} consumers, each on a channel and thread of its own."
    else:
        return
    left = _drains_in(judged)
    if left is None:
        yield rules.ADD_CONSUMERS.finding(judged.name, message, help_)
        return
    message += f"; at the present rate the backlog is gone in {duration(left)}"
    help_ = "More consumers only shorten that: --drain-within TIME says how many."
    yield rules.ADD_CONSUMERS.finding(judged.name, message, help_, Severity.INFO)


def _drains_in(judged: Judged) -> float | None:
    """Seconds until the backlog is worked off at the rate at which it shrinks.

    ``None`` where it does not, or that is no reason to wait: it is wanted sooner (--drain-within),
    the busiest minute or what expires needs more than the present consumers, or the arrivals are
    held back.
    """
    case, used = judged.case, judged.current.utilisation
    if case.policy.drain_within is not None or (used is not None and used >= 1):
        return None
    arrivals, growth = judged.estimates.arrival_rate, case.window.growth
    if (arrivals is not None and not arrivals.usable) or trend(case.window) >= 0 or not growth:
        return None
    return ((case.ready or 0) + (case.unacked or 0)) / -growth


def _arrivals(judged: Judged) -> float:
    figure = judged.estimates.arrival_rate
    return figure.value if figure is not None else 0.0


def acks(judged: Judged) -> Iterator[Finding]:
    case = judged.case
    rates = case.window.rates
    delivered = (rates.deliver or 0.0) + (rates.get or 0.0)
    if case.loops:
        message = f"{rate(rates.redeliver or 0.0)} of {rate(delivered)} delivered are redeliveries"
        message += f", {rate(rates.ack or 0.0)} are acked"
        yield rules.REDELIVERY_LOOP.finding(judged.name, message)
        return
    if judged.outcome.verdict in (Verdict.STALLED, Verdict.POLLING, Verdict.KEEPING_UP):
        return
    span = silence.lasts(case)
    if span and span >= case.patience:
        message = f"{case.unacked:,} unacked all the time and no ack in {duration(span)}"
        yield rules.NO_ACKS.finding(judged.name, message)


def redeliveries(judged: Judged) -> Iterator[Finding]:
    """Much is delivered again, though work gets done: what crashes gives back all that it holds."""
    case, rates = judged.case, judged.case.window.rates
    again, delivered = rates.redeliver or 0.0, (rates.deliver or 0.0) + (rates.get or 0.0)
    enough = again * case.window.rates_span >= _ENOUGH_AGAIN
    if case.loops or not enough or again < _MUCH_AGAIN * delivered:
        return
    message = f"{rate(again)} of {rate(delivered)} delivered are redeliveries"
    prefetch = judged.current.prefetch
    if prefetch is not None and prefetch > 1:
        message += f"; a consumer that dies, or closes its channel, gives back up to {prefetch:,}"
    limit = case.row.settings.get("delivery-limit") if case.row is not None else None
    if limit is not None:
        message += f"; after {limit} deliveries a message is given up (delivery-limit), bad or not"
    advised = judged.recommended.prefetch
    help_ = None
    if advised and prefetch and advised < prefetch:
        help_ = f"Set prefetch {advised}, and find out why messages come back."
    yield rules.REDELIVERIES.finding(judged.name, message, help_)


def polled_too(judged: Judged) -> Iterator[Finding]:
    """Messages that are fetched with basic.get beside the consumers."""
    rates = judged.case.window.rates
    gets = (rates.get or 0.0) + (rates.get_no_ack or 0.0)
    pushed = (rates.deliver or 0.0) + (rates.deliver_no_ack or 0.0)
    if not judged.case.consumer_count or gets <= _MUCH_AGAIN * pushed:
        return
    message = f"{rate(gets)} are fetched with basic.get, {rate(pushed)} delivered to consumers"
    yield rules.POLLED_TOO.finding(judged.name, message)


def dead_consumers(judged: Judged) -> Iterator[Finding]:
    """Consumers that hold all they may and have never acked, beside others that do."""
    case = judged.case
    if not case.window.departures or judged.outcome.verdict is Verdict.STALLED:
        return
    for consumer in case.force.active:
        channel, prefetch = consumer.channel, consumer.row.prefetch
        if channel is None or not prefetch or len(channel.queues) > 1:
            continue
        if (channel.row.unacked or 0) >= prefetch and never_acked(channel):
            message = f"a consumer holds {channel.row.unacked:,} and has never acked one"
            yield rules.NO_ACKS.finding(judged.name, message)


def early_ack(judged: Judged) -> Iterator[Finding]:
    """Mean unacked far below the work in hand, A x P: acked before the work."""
    case, processing = judged.case, judged.estimates.processing
    held = case.window.mean_unacked
    if processing is None or held is None or case.saturated or case.fill is None:
        return
    if processing.source not in (FigureSource.MEASURED, FigureSource.GIVEN):
        return
    if any(c.row.ack != "manual" for c in case.force.active) or not case.force.active:
        return
    gone = case.window.departures or 0.0
    busy = processing.mean * gone
    # enough samples that so few unacked are no accident
    if held < busy / 2 and busy * len(case.window.lengths) >= 4:
        message = (
            f"{rate(gone)} x {duration(processing.mean)} is {number(busy)} in work, "
            f"but only {number(held)} are unacked"
        )
        yield rules.EARLY_ACK.finding(judged.name, message)


def unequal(judged: Judged) -> Iterator[Finding]:
    own = judged.own
    if own is not None:
        fast, slow = min(own.processing.values()), max(own.processing.values())
        message = (
            f"{duration(fast)} to {duration(slow)} a message: prefetch "
            f"{min(own.prefetches.values())} to {max(own.prefetches.values())}, each its own, "
            f"instead of {own.shared} for all"
        )
        if own.gain > 0.001:
            message += f" gives {percent(own.gain)} more while messages wait"
        if own.waits[0] > own.waits[1]:
            before, after = own.waits
            message += (
                f"; the last message buffered by the slowest waits {duration(after)} instead of "
                f"{duration(before)}"
            )
        shown = [f"{name}: {n}" for name, n in list(own.prefetches.items())[:_SHOWN]]
        more = ", ..." if len(own.prefetches) > _SHOWN else ""
        help_ = f"Set a prefetch for each: {', '.join(shown)}{more}."
        yield rules.UNEQUAL.finding(judged.name, message, help_)
        return
    if judged.case.begins:
        # a channel that was opened within the last looks has a part of their flow
        return
    rates = [channel_rate(channel) for channel, _ in full_channels(judged.case).values()]
    known = [value for value in rates if value]
    if known and len(known) == len(rates) and max(known) > UNEQUAL_FACTOR * min(known):
        message = f"{rate(min(known))} to {rate(max(known))} a consumer, each at its own limit"
        yield rules.UNEQUAL.finding(judged.name, message)
