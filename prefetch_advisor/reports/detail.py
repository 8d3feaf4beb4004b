"""The reasoning for one queue: what was seen, what follows, what to do and what that costs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prefetch_advisor import units
from prefetch_advisor.reports import overview, words
from prefetch_advisor.reports.layout import Cell, Column, Entry, Grid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prefetch_advisor.model.advice import ConsumerAdvice, QueueAdvice
    from prefetch_advisor.reports.words import Glyphs

_CONSUMERS_SHOWN = 20
_VALUES_SHOWN = 8
#: a channel's name as the broker makes it: only the client's end tells one from another
_CHANNEL = re.compile(r"(.+) -> .+ (\(\d+\))")
#: rates of consumers further apart than this are shown apart
_UNEQUAL = 2.0


def entries(queue: QueueAdvice, glyphs: Glyphs) -> Iterator[Entry]:
    """The lines of one queue, in the order in which a person asks."""
    yield from _verdict(queue, glyphs)
    yield from _advice(queue, glyphs)
    yield from _seen(queue, glyphs)
    yield from _figures(queue, glyphs)
    yield from _sizing(queue)
    for label, sentences in (("missing", queue.missing), ("notes", queue.notes)):
        for sentence in sentences:
            yield Entry(label, glyphs.prose(sentence))
            label = ""
    yield from _findings(queue, glyphs)


def _verdict(queue: QueueAdvice, glyphs: Glyphs) -> Iterator[Entry]:
    style = overview.STYLES.get(queue.verdict, "warning")
    snapshot = "; judged from a single snapshot" if queue.snapshot else ""
    confidence = f" (confidence {queue.confidence}{snapshot})"
    yield Entry("verdict", confidence, head=queue.verdict, style=style)
    yield Entry("", words.VERDICTS[queue.verdict])
    if queue.verdict_reason:
        yield Entry("why", glyphs.prose(queue.verdict_reason))


def _advice(queue: QueueAdvice, glyphs: Glyphs) -> Iterator[Entry]:
    now, then = queue.current, queue.recommended
    strong = "" if then.keep else "strong"
    yield Entry("prefetch", "", _advised(overview.prefetch(queue, glyphs), then.keep), strong)
    for reason in (glyphs.prose(then.reason), words.bounds(then)):
        if reason:
            yield Entry("", reason)
    least = ""
    if then.least_consumers is not None and then.least_consumers > 1:
        least = f" (fewer than {then.least_consumers:,} never keep up)"
    keep = then.keep_consumers or (then.consumers is not None and then.consumers == now.consumers)
    head = _advised(overview.consumers(queue, glyphs), keep)
    yield Entry("consumers", least, head, "" if keep else "strong")
    if then.consumers_reason:
        yield Entry("", glyphs.prose(then.consumers_reason))
    for label, before, after, text, what in (
        ("busy share", now.busy_share, then.busy_share, units.percent, "while messages wait"),
        ("utilisation", now.utilisation, then.utilisation, units.percent, "offered load / workers"),
        (
            "buffered",
            now.buffered_time,
            then.buffered_time,
            units.duration,
            "how long the last prefetched message waits in the client",
        ),
    ):
        if before is not None or after is not None:
            first, last = (words.optional(value, text) for value in (before, after))
            # what is kept, or cannot be advised, does not change
            shown = first if after is None else last if before is None else None
            yield Entry(label, f"{shown or glyphs.change(first, last)} ({what})")
    if then.wait is not None:
        yield Entry("wait", f"{units.duration(then.wait)} on average until a message is begun")
    if queue.drain_time is not None:
        yield Entry("backlog", f"worked off within {units.duration(queue.drain_time)}")


def _advised(shown: str, keep: bool) -> str:
    """A cell of the overview in more words."""
    if keep:
        return f"{shown}, no change"
    if shown.endswith(words.UNKNOWN):
        return shown.removesuffix(words.UNKNOWN) + "no advice"
    if shown.startswith(words.UNKNOWN):
        return f"{shown.rpartition(' ')[2]} (what it is now is not known)"
    return shown


def _seen(queue: QueueAdvice, glyphs: Glyphs) -> Iterator[Entry]:
    seen = queue.observed
    if seen.consumers is not None:
        kind = f" on a {glyphs.prose(queue.type)} queue" if queue.type else ""
        prefetch = ""
        if seen.prefetch:
            prefetch = f" with prefetch {', '.join(map(str, seen.prefetch[:_VALUES_SHOWN]))}"
            if len(seen.prefetch) > _VALUES_SHOWN:
                prefetch += f" ... {seen.prefetch[-1]}"
        yield Entry("seen", f"{units.plural(seen.consumers, 'consumer')}{prefetch}{kind}")
    if seen.ready is not None or seen.unacked is not None:
        yield Entry(
            "messages", f"{words.count(seen.ready)} ready, {words.count(seen.unacked)} unacked"
        )
    if seen.consumers is not None or words.limit_of(queue.limit).value is not None:
        yield Entry("limit", _limit(queue, glyphs))
    rates = [
        f"{name} {units.rate(value)}"
        for name, value in (
            ("published", seen.publish_rate),
            ("delivered", seen.deliver_rate),
            ("delivered without ack", seen.deliver_no_ack_rate or None),
            ("fetched", seen.get_rate or None),
            ("acked", seen.ack_rate),
            ("redelivered", seen.redeliver_rate or None),
        )
        if value is not None
    ]
    if seen.growth is not None:
        way = "grows by" if seen.growth >= 0 else "shrinks by"
        rates.append(f"{way} {units.rate(abs(seen.growth))}" if seen.growth else "depth steady")
    if rates:
        yield Entry("rates", ", ".join(rates))
    if seen.samples:
        yield Entry("window", _window(queue))


def _limit(queue: QueueAdvice, glyphs: Glyphs) -> str:
    limit = words.limit_of(queue.limit)
    parts = [] if limit.kind in ("none", "unknown") else [limit.kind]
    source = "" if limit.kind == "unknown" else limit.source
    parts.append(": ".join(filter(None, (source, limit.origin))))
    where = "; ".join(filter(None, parts))
    if limit.value is not None:
        value = f"{limit.value:,} unacked at most"
    else:
        value = "unlimited" if limit.kind == "none" else "not known"
    return glyphs.prose(f"{value} ({where})" if where else value)


def _window(queue: QueueAdvice) -> str:
    seen = queue.observed
    over = f" over {units.duration(seen.window)}" if seen.window else ""
    text = units.plural(seen.samples, "sample") + over
    if seen.full_share is not None:
        full = round(seen.full_share * seen.samples)
        text = (
            f"full (at the limit with messages waiting) in {full:,} of "
            f"{units.plural(seen.samples, 'sample')}{over}"
        )
    return text


def _figures(queue: QueueAdvice, glyphs: Glyphs) -> Iterator[Entry]:
    yield Entry(
        "P", "processing time " + glyphs.prose(words.processing_time(queue.processing_time))
    )
    yield Entry("R", "round trip " + glyphs.prose(words.round_trip(queue.rtt)))
    yield Entry("k", "concurrency " + glyphs.prose(words.concurrency(queue.concurrency)))
    load = ""
    if queue.offered_load is not None:
        load = f"; offered load A x P = {units.number(queue.offered_load)} busy workers"
    yield Entry("A", "arrival rate " + glyphs.prose(words.arrival_rate(queue.arrival_rate)) + load)


def _sizing(queue: QueueAdvice) -> Iterator[Entry]:
    time, rtt, rule, fed = queue.processing_time, queue.rtt, queue.rule, queue.fed
    if rule is not None and time is not None and rtt is not None:
        p, r = units.duration(time.mean), units.duration(rtt.mean)
        k = units.number(queue.concurrency.value or 1)
        yield Entry(
            "rule",
            f"ceil({k} x ({p} + {r}) / {p}) = {rule.prefetch}, "
            f"busy {units.percent(rule.busy_share)} with these processing times",
        )
    if fed is not None:
        text = f"{fed.prefetch} is the smallest prefetch that reaches the target busy share"
        text += words.interval(fed.range)
        if fed.if_exponential == fed.prefetch:
            text += ", also if the processing times varied like an exponential"
        elif fed.if_exponential is not None:
            text += f"; {fed.if_exponential} if the processing times varied like an exponential"
        yield Entry("fed", text)
    if queue.current.rtt_covered is not None:
        covered = units.duration(queue.current.rtt_covered)
        text = f"your prefetch covers round trips up to {covered}"
        if queue.current.rtt_covered <= 0:
            text = (
                "your prefetch covers no round trip: after each message the consumer waits for one"
            )
        yield Entry("R*", text)


def _findings(queue: QueueAdvice, glyphs: Glyphs) -> Iterator[Entry]:
    for finding in sorted(queue.findings, key=lambda finding: -finding.severity):
        level = finding.severity.name.lower()
        subject = ""
        if finding.subject and finding.subject != queue.key.name:
            subject = f"{glyphs.name(finding.subject)}: "
        yield Entry(
            level,
            f": {subject}{glyphs.prose(finding.message)}",
            head=f"{finding.code} {finding.name}",
            style=level,
        )
        if finding.help:
            yield Entry("", f"Do: {glyphs.prose(finding.help)}")
        if finding.url:
            yield Entry("", glyphs.name(finding.url), head="See ", wrap=False)


def consumers(queue: QueueAdvice, glyphs: Glyphs, every: bool) -> tuple[Grid, int] | None:
    """The consumers one by one where they differ, and how many are not shown."""
    if not _differ(queue.consumers):
        return None
    shown = queue.consumers if every else queue.consumers[:_CONSUMERS_SHOWN]
    columns = (
        Column("consumer", kind="name", least=12),
        Column("prefetch", right=True),
        Column("ack", leaves=1),
        Column("state", leaves=2),
        Column("rate", right=True, leaves=3),
        Column("advised", right=True),
        Column("channel", kind="name", least=24, leaves=4),
    )
    rows = [_consumer(consumer, glyphs) for consumer in shown]
    known = [
        place
        for place in range(len(columns))
        if any(row[place].text != words.UNKNOWN for row in rows)
    ]
    grid = Grid(
        tuple(columns[place] for place in known),
        tuple(tuple(row[place] for place in known) for row in rows),
        indent=2,
    )
    return grid, len(queue.consumers) - len(shown)


def _consumer(consumer: ConsumerAdvice, glyphs: Glyphs) -> tuple[Cell, ...]:
    active = {None: words.UNKNOWN, True: "active", False: "waiting"}[consumer.active]
    channel = words.UNKNOWN
    if consumer.channel is not None:
        channel = glyphs.name(_CHANNEL.sub(r"\1 \2", consumer.channel))
    return (
        Cell(glyphs.name(consumer.tag)),
        Cell(words.count(consumer.prefetch)),
        Cell(consumer.ack or words.UNKNOWN),
        Cell(active),
        Cell(words.optional(consumer.rate, units.rate)),
        Cell(words.count(consumer.recommended_prefetch)),
        Cell(channel),
    )


def _differ(consumers: tuple[ConsumerAdvice, ...]) -> bool:
    settings = {
        (consumer.prefetch, consumer.ack, consumer.active, consumer.recommended_prefetch)
        for consumer in consumers
    }
    rates = [consumer.rate for consumer in consumers if consumer.rate is not None]
    return len(settings) > 1 or (len(rates) > 1 and max(rates) > _UNEQUAL * min(rates))
