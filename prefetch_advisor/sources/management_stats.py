"""``message_stats`` and ``*_details`` of the management API into samples, oldest first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from prefetch_advisor.model.observation import LengthSample, Traffic, TrafficSample
from prefetch_advisor.sources.fields import Doubts, count, number

#: in the order of the fields of :class:`Traffic`
_COUNTERS = ("publish", "deliver", "deliver_no_ack", "get", "get_no_ack", "ack", "redeliver")
#: what deliver_get is the sum of
_DELIVERIES = ("deliver", "deliver_no_ack", "get", "get_no_ack")
_PAIRS = tuple((name, f"{name}_details") for name in _COUNTERS)
_NOTHING = (None,) * len(_COUNTERS)
_all_totals = itemgetter(*_COUNTERS)
_all_details = itemgetter(*(name for _, name in _PAIRS))
#: timestamps are milliseconds that a float holds exactly
_LATEST = 2**53
_sample = itemgetter("sample")
_timestamp = itemgetter("timestamp")


class Stats(NamedTuple):
    """What ``message_stats`` says."""

    traffic: tuple[TrafficSample, ...] = ()
    rates: Traffic | None = None
    #: an absent counter is 0
    complete: bool = False


_NO_STATS = Stats()


def read_stats(stats: object, doubts: Doubts) -> Stats:
    """Totals or their history, and the broker's own rates, of one ``message_stats``."""
    if type(stats) is not dict:
        if stats is not None and stats != "" and stats != []:
            doubts.note("message_stats", stats)
        return _NO_STATS
    return _plain_stats(stats) or _any_stats(stats, doubts)


def _plain_stats(stats: Mapping[str, object]) -> Stats | None:
    """All totals and rates, no history: the usual case, quickly. ``None`` for any other."""
    try:
        totals = _all_totals(stats)
        details = _all_details(stats)
        if set(map(type, totals)) != {int} or set(map(len, details)) != {1}:
            return None
        rates = [one["rate"] for one in details]
    except (KeyError, TypeError):
        return None
    if set(map(type, rates)) != {float} or not math.isfinite(sum(rates)):
        return None
    if min(totals) < 0 or min(rates) < 0:
        return None
    return Stats((TrafficSample(None, Traffic(*totals)),), Traffic(*rates), True)


def _any_stats(stats: Mapping[str, object], doubts: Doubts) -> Stats:
    totals: list[float | None] = []
    rates: list[float | None] = []
    history: list[object] | None = None
    # not asked for, or not usable: nothing that may be taken for 0
    trimmed = False
    get = stats.get
    for index, (name, details_name) in enumerate(_PAIRS):
        total = get(name)
        if total is not None and (type(total) is not int or total < 0):
            total = _counted(total, f"message_stats.{name}", doubts)
        totals.append(total)
        trimmed = trimmed or (total is None and name in stats)
        details = get(details_name)
        if type(details) is not dict:
            rates.append(None)
            if details is not None:
                doubts.note(details_name, details)
            continue
        trimmed = trimmed or total is None
        rate = details.get("rate")
        plain = type(rate) is float and 0 <= rate < math.inf
        rates.append(rate if plain else _counted(rate, details_name, doubts))
        samples = details.get("samples")
        if samples:
            if history is None:
                history = [None] * len(_COUNTERS)
            history[index] = samples
    traffic = _history(history, doubts) if history else ()
    if traffic and history:
        latest = [getattr(traffic[-1].totals, name) for name in _COUNTERS]
        trimmed = trimmed or any(
            samples is not None and value is None
            for samples, value in zip(history, latest, strict=True)
        )
    if not traffic and totals != list(_NOTHING):
        traffic = (TrafficSample(None, Traffic(*totals)),)
    return Stats(
        traffic,
        None if rates == list(_NOTHING) else Traffic(*rates),
        not trimmed and not _chosen(stats),
    )


def _counted(value: object, name: str, doubts: Doubts) -> float | None:
    """A number of 0 or more: messages are not taken back."""
    found = number(value, name, doubts)
    if found is not None and found < 0:
        doubts.note(name, value)
        return None
    return found


def _chosen(stats: Mapping[str, object]) -> bool:
    """Whether a ``columns`` parameter picked single counters, so that absent is not 0.

    The broker prints ``deliver_get`` beside its parts, all of them that were ever counted, and it
    cannot count an ack without a delivery.
    """
    parts = [stats[part] for part in _DELIVERIES if part in stats]
    total = stats.get("deliver_get")
    if total is None:
        return bool(parts or "deliver_get_details" in stats or stats.get("ack"))
    known = [part for part in parts if type(part) is int]
    return not known or (type(total) is int and sum(known) < total)


def _history(counters: list[object], doubts: Doubts) -> tuple[TrafficSample, ...]:
    """Counters share most timestamps, not always all: one sample for each timestamp of any."""
    aligned = _aligned(counters)
    if aligned is not None:
        times_of_all, values = aligned
        return tuple(
            TrafficSample(at / 1000, Traffic(*row))
            for at, row in zip(times_of_all, zip(*values, strict=True), strict=True)
        )
    times: dict[int, list[float | None]] = {}
    for index, samples in enumerate(counters):
        for at, value in points(samples, f"message_stats.{_COUNTERS[index]}_details", doubts):
            row = times.get(at)
            if row is None:
                row = times[at] = list(_NOTHING)
            row[index] = value
    return tuple(TrafficSample(at / 1000, Traffic(*times[at])) for at in sorted(times))


def _aligned(
    counters: Sequence[object],
) -> tuple[list[int], list[Sequence[float | None]]] | None:
    """Times, oldest first, and each counter's values, where all share all times; else ``None``."""
    times: list[int] | None = None
    values: list[Sequence[float | None]] = []
    try:
        for samples in counters:
            if samples is None:
                values.append(())
                continue
            if type(samples) is not list:
                return None
            at = [*map(_timestamp, samples)]
            taken = [*map(_sample, samples)]
            if times is None:
                times = at
            if at != times or set(map(type, taken)) != {int} or set(map(type, at)) != {int}:
                return None
            if taken and min(taken) < 0:
                return None
            values.append(taken[::-1])
    except (KeyError, TypeError):
        return None
    if times is None or times != sorted(times, reverse=True) or len(set(times)) != len(times):
        return None
    if max(map(abs, times)) >= _LATEST:
        return None
    blank = (None,) * len(times)
    return times[::-1], [column or blank for column in values]


def points(samples: object, name: str, doubts: Doubts) -> list[tuple[int, int | float]]:
    """Times in milliseconds and values of one history, in its order."""
    if samples is None or samples == "":
        return []
    if type(samples) is not list:
        doubts.note(f"{name}.samples", samples)
        return []
    points: list[tuple[int, int | float]] = []
    for item in samples:
        if type(item) is dict:
            at = item.get("timestamp")
            value = item.get("sample")
            if type(at) is int and type(value) is int and abs(at) < _LATEST and 0 <= value < 2**63:
                points.append((at, value))
                continue
        doubts.note(f"{name}.samples", item)
    return points


def read_lengths(row: Mapping[str, object], doubts: Doubts) -> tuple[LengthSample, ...]:
    """History of ready and unacked, or the one present depth."""
    get = row.get
    ready_details = get("messages_ready_details")
    unacked_details = get("messages_unacknowledged_details")
    if (type(ready_details) is dict and "samples" in ready_details) or (
        type(unacked_details) is dict and "samples" in unacked_details
    ):
        history = _lengths_history((ready_details, unacked_details), doubts)
        if history:
            return history
    ready = count(get("messages_ready"), "messages_ready", doubts)
    unacked = count(get("messages_unacknowledged"), "messages_unacknowledged", doubts)
    if ready is None and unacked is None:
        return ()
    return (LengthSample(None, ready, unacked),)


def _lengths_history(details: Sequence[object], doubts: Doubts) -> tuple[LengthSample, ...]:
    times: dict[int, list[int | None]] = {}
    for index, item in enumerate(details):
        name = ("messages_ready_details", "messages_unacknowledged_details")[index]
        samples = item.get("samples") if type(item) is dict else None
        for at, value in points(samples, name, doubts):
            row = times.get(at)
            if row is None:
                row = times[at] = [None, None]
            row[index] = int(value)
    return tuple(LengthSample(at / 1000, *times[at]) for at in sorted(times))
