"""Rows of one queue into one: a series of the same kind of input, then kinds by precedence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import pairwise

from prefetch_advisor.model.observation import (
    Contradiction,
    Intake,
    LengthSample,
    QueueRow,
    SourceKind,
    Traffic,
    TrafficSample,
)

#: two sources may differ by this share, and by this many messages
_SHARE = 0.2
_TRIVIAL = 10
#: seconds between two looks up to which the broker's own rates, of 5 seconds each, tell them all
_RATES_COVER = 10.0
#: taken from the earlier or less trusted row where the other does not say
_FILLED = (
    "vhost",
    "type",
    "state",
    "ready",
    "unacked",
    "messages",
    "message_bytes",
    "unacked_bytes",
    "ready_bytes",
    "consumers",
    "exclusive",
    "rates",
)

#: vhost and name
Pair = tuple[str, str]
Stepped = tuple[int, QueueRow]
ByKind = dict[SourceKind, list[Stepped]]


def steps(intakes: Iterable[Intake], vhost: str) -> dict[Pair, ByKind]:
    """Every row by queue and kind, with the step of the series that it belongs to.

    A list that names a queue again is a later step than the one before; queues missing from a list
    keep their place, and lists of different vhosts do not push each other.
    """
    found: dict[Pair, ByKind] = {}
    for intake in intakes:
        chunk: dict[Pair, QueueRow] = {}
        for row in intake.queues:
            pair = (vhost if row.vhost is None else row.vhost, row.name)
            if pair in chunk:
                _place(chunk, found)
                chunk = {}
            chunk[pair] = row
        _place(chunk, found)
    return found


def _place(chunk: dict[Pair, QueueRow], found: dict[Pair, ByKind]) -> None:
    step = 0
    for pair, row in chunk.items():
        kinds = found.get(pair)
        if kinds and row.kind in kinds:
            step = max(step, kinds[row.kind][-1][0] + 1)
    for pair, row in chunk.items():
        kinds = found.get(pair)
        if kinds is None:
            found[pair] = {row.kind: [(step, row)]}
        else:
            kinds.setdefault(row.kind, []).append((step, row))


def merge(
    kinds: ByKind, vhost: str, interval: float | None
) -> tuple[QueueRow, tuple[Contradiction, ...]]:
    """The one row of a queue, and what its sources disagree about."""
    rows = [
        _series(kinds[kind], interval)
        for kind in (SourceKind.MANAGEMENT, SourceKind.RABBITMQCTL)
        if kind in kinds
    ]
    row = rows[0]
    contradictions: tuple[Contradiction, ...] = ()
    if len(rows) > 1:
        contradictions = tuple(_contradictions(rows[0], rows[1]))
        row = _filled(rows[0], rows[1])
        if len(rows[1].lengths) > 1 and len(rows[0].lengths) < 2:
            row = replace(row, lengths=rows[1].lengths)
    if row.vhost is None:
        row = replace(row, vhost=vhost)
    return row, contradictions


def _series(stepped: Sequence[Stepped], interval: float | None) -> QueueRow:
    """One kind's rows as one: the latest figures, and a history where there is any."""
    youngest = max((i for i, (_, one) in enumerate(stepped) if one.young), default=0)
    stepped = stepped[youngest:]  # those before are of another queue of its name, or another life
    row = stepped[0][1]
    if len(stepped) == 1:
        return row
    for _, later in stepped[1:]:
        row = _filled(later, row)
    # statistics hang together: from the row with the fullest history, else the last that has all
    rows = [one for _, one in reversed(stepped)]
    source = max(rows, key=lambda one: (_span(one.traffic) > 0, one.has_stats, _span(one.traffic)))
    if _span(source.traffic) > 0:
        traffic, complete = source.traffic, source.has_stats
    else:
        traffic = _traffic_series(stepped, interval) or source.traffic
        complete = source.has_stats and all(one.has_stats for one in rows if one.traffic)
    lengths = source.lengths if _span(source.lengths) > 0 else _lengths(stepped, interval)
    return replace(
        row,
        lengths=lengths,
        traffic=traffic,
        rates=next((one.rates for one in rows if one.has_stats and one.rates), row.rates),
        has_stats=complete,
    )


def _span(samples: Sequence[LengthSample] | Sequence[TrafficSample]) -> float:
    if len(samples) < 2:
        return 0.0
    first, last = samples[0].at, samples[-1].at
    return last - first if first is not None and last is not None else 0.0


def _lengths(stepped: Sequence[Stepped], interval: float | None) -> tuple[LengthSample, ...]:
    longest = max((row.lengths for _, row in stepped), key=_span)
    if _span(longest) > 0:
        return longest
    return tuple(
        LengthSample(
            None if interval is None else step * interval,
            row.lengths[-1].ready,
            row.lengths[-1].unacked,
        )
        for step, row in stepped
        if row.lengths
    )


def _traffic_series(
    stepped: Sequence[Stepped], interval: float | None
) -> tuple[TrafficSample, ...]:
    """Totals of a series need the time between its steps to be rates; without it, none."""
    if interval is None:
        return ()
    totals = tuple(
        TrafficSample(step * interval, row.traffic[-1].totals)
        for step, row in stepped
        if row.traffic
    )
    return totals or _summed_rates(stepped, interval)


def _summed_rates(stepped: Sequence[Stepped], interval: float) -> tuple[TrafficSample, ...]:
    """Totals since the first step, where only rates were saved: each is the mean of the seconds
    before its sample, so together they cover the time if the steps are about as short."""
    if interval > _RATES_COVER:
        return ()
    names = [field.name for field in fields(Traffic)]
    totals: dict[str, float | None] = dict.fromkeys(names, 0.0)
    samples = [TrafficSample(stepped[0][0] * interval, Traffic(**totals))]
    for (before, _), (step, row) in pairwise(stepped):
        if row.rates is None:
            return ()
        for name in names:
            rate, total = getattr(row.rates, name), totals[name]
            known = rate is not None and total is not None
            totals[name] = total + rate * (step - before) * interval if known else None
        samples.append(TrafficSample(step * interval, Traffic(**totals)))
    known_to_the_end = {name: 0.0 for name in names if totals[name] is not None}
    samples[0] = TrafficSample(samples[0].at, Traffic(**known_to_the_end))
    return tuple(samples)


def _filled(upper: QueueRow, lower: QueueRow) -> QueueRow:
    changes: dict[str, object] = {
        name: getattr(lower, name)
        for name in _FILLED
        if getattr(upper, name) is None and getattr(lower, name) is not None
    }
    if lower.settings and lower.settings != upper.settings:
        changes["settings"] = {**lower.settings, **upper.settings}
    for name in ("lengths", "traffic"):
        if not getattr(upper, name) and getattr(lower, name):
            changes[name] = getattr(lower, name)
            if name == "traffic":
                changes["has_stats"] = lower.has_stats
    return replace(upper, **changes) if changes else upper  # type: ignore[arg-type]


def _contradictions(taken: QueueRow, other: QueueRow) -> Iterable[Contradiction]:
    for figure, trivial in (("ready", _TRIVIAL), ("unacked", _TRIVIAL), ("consumers", 0)):
        ours, theirs = getattr(taken, figure), getattr(other, figure)
        if ours is not None and theirs is not None and differ(ours, theirs, trivial):
            yield Contradiction(figure, f"{ours} in {taken.where}", f"{theirs} in {other.where}")


def differ(ours: int, theirs: int, trivial: int = 0) -> bool:
    """Whether two counts are further apart than two looks at one broker may be."""
    gap = abs(ours - theirs)
    return gap > trivial and gap > _SHARE * max(ours, theirs)


def dead_letter_targets(rows: Iterable[QueueRow]) -> set[tuple[str | None, str]]:
    """Queues that others dead-letter into by the default exchange: its routing key is a name."""
    targets = set()
    for row in rows:
        if row.settings.get("dead-letter-exchange") == "":
            name = row.settings.get("dead-letter-routing-key")
            if isinstance(name, str) and name and name != row.name:
                targets.add((row.vhost, name))
    return targets
