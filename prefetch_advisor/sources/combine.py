"""All inputs into one observation for each queue: joins, series, precedence, contradictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from prefetch_advisor.model.observation import (
    Broker,
    ChannelRow,
    Intake,
    QueueKey,
    QueueObservation,
    QueueRow,
)
from prefetch_advisor.model.record import record
from prefetch_advisor.sources.combine_consumers import Consumers, Found
from prefetch_advisor.sources.combine_queues import Pair, dead_letter_targets, merge, steps
from prefetch_advisor.sources.combine_timings import timings_by_queue
from prefetch_advisor.sources.history import since_start
from prefetch_advisor.sources.vanished import without_vanished
from prefetch_advisor.sources.vhosts import refuse_mixed_vhosts

_SINGLE_ACTIVE = "single-active-consumer"


@record
class Fleet:
    """Everything the inputs show, queue by queue."""

    broker: Broker
    #: by vhost and name
    queues: tuple[QueueObservation, ...]
    #: of combining; each intake has its own
    notes: tuple[str, ...] = ()
    #: lists that were read, even when empty
    lists: frozenset[str] = frozenset()
    #: channels that set a prefetch and consume nothing
    unused_channels: tuple[ChannelRow, ...] = ()


def combine(
    intakes: Sequence[Intake],
    *,
    vhost: str | None = None,
    queue: str | None = None,
    interval: float | None = None,
) -> Fleet:
    """One observation a queue; ``vhost`` and ``queue`` are for rows that name none.

    ``interval`` is the time in seconds between inputs that name a queue again: with it they are a
    series with times 0, ``interval``, ...; without it their depths have no time, and they give no
    rates. Times of a series count from its start, those of a history from the epoch.

    Raises:
        InputError: timings of a queue that exists in several vhosts, or lists of several vhosts
            that do not name them.
    """
    refuse_mixed_vhosts(intakes)
    intakes, notes = without_vanished(intakes)
    uptimes = {n: t for one in intakes for row in one.brokers for n, t in row.uptimes.items()}
    default = vhost if vhost is not None else "/"
    broker = _broker(intakes)
    stepped = steps(intakes, default)
    merged = {pair: merge(kinds, pair[0], interval) for pair, kinds in stepped.items()}
    consumers = Consumers(intakes, default, interval)
    pairs = merged.keys() | consumers.pairs
    timings = timings_by_queue(intakes, pairs, vhost, queue)
    targets = dead_letter_targets(row for row, _ in merged.values())
    origins = _origins(intakes, default)
    unnamed = _unnamed(intakes, default)
    observations = []
    for pair in sorted(pairs | timings.keys()):
        row, contradictions = merged.get(pair, (None, ()))
        if row is not None and uptimes:
            row = since_start(row, uptimes)
        found = consumers.of(pair, row)
        timed = timings.get(pair)
        files = origins.get(pair, ())
        if timed is not None:
            files += tuple(name for name in timed.origins if name not in files)
        observations.append(
            QueueObservation(
                QueueKey(None, *pair),
                _with_single_active(row, found),
                found.consumers,
                None if timed is None else timed.row,
                broker,
                files,
                pair in unnamed or (timed is not None and timed.assumed and pair not in origins),
                contradictions + found.contradictions,
                pair in targets,
            )
        )
    lists = frozenset(name for intake in intakes for name in intake.lists)
    unused = {row.id: row for intake in intakes for row in intake.channels if _unused(row)}
    notes += consumers.notes
    return Fleet(broker, tuple(observations), notes, lists, tuple(unused.values()))


def _unused(row: ChannelRow) -> bool:
    return bool(row.prefetch) and row.consumers == 0


def _broker(intakes: Iterable[Intake]) -> Broker:
    """The last that each input says of the broker; alarms of all."""
    version = mode = permitted = off = None
    alarms: dict[str, None] = {}
    for intake in intakes:
        for row in intake.brokers:
            version = row.version if row.version is not None else version
            mode = row.rates_mode if row.rates_mode is not None else mode
            off = row.statistics_off if row.statistics_off is not None else off
            if row.global_qos_permitted is not None:
                permitted = row.global_qos_permitted
            alarms.update(dict.fromkeys(row.alarms))
    return Broker(version, mode, bool(off), tuple(alarms), permitted)


def _origins(intakes: Iterable[Intake], vhost: str) -> Mapping[Pair, tuple[str, ...]]:
    """The files that name each queue, in order."""
    origins: dict[Pair, tuple[str, ...]] = {}
    for intake in intakes:
        where = intake.where
        pairs = {(vhost if row.vhost is None else row.vhost, row.name) for row in intake.queues}
        pairs |= {
            (vhost if row.vhost is None else row.vhost, row.queue) for row in intake.consumers
        }
        once = (where,)
        for pair in pairs:
            known = origins.get(pair)
            if known is None:
                origins[pair] = once
            elif where not in known:
                origins[pair] = known + once
    return origins


def _unnamed(intakes: Iterable[Intake], vhost: str) -> set[Pair]:
    """Queues whose vhost no row names."""
    named: set[Pair] = set()
    unnamed: set[str] = set()
    for intake in intakes:
        unnamed.update(row.name for row in intake.queues if row.vhost is None)
        unnamed.update(row.queue for row in intake.consumers if row.vhost is None)
    if not unnamed:
        return set()
    for intake in intakes:
        named.update((row.vhost, row.name) for row in intake.queues if row.vhost is not None)
        named.update((row.vhost, row.queue) for row in intake.consumers if row.vhost is not None)
    return {(vhost, name) for name in unnamed} - named


def _with_single_active(row: QueueRow | None, found: Found) -> QueueRow | None:
    """Consumers that wait or are the single active one prove what arguments did not show."""
    if row is None or not found.consumers or _SINGLE_ACTIVE in row.settings:
        return row
    for consumer in found.consumers:
        if consumer.row.status in ("waiting", "single_active"):
            return replace(row, settings={**row.settings, _SINGLE_ACTIVE: True})
    return row
