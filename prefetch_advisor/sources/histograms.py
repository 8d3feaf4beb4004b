"""Histograms of processing time, saved from Prometheus or OpenTelemetry, as timings.

The mean of a histogram is exact, its sum over its count. What else is said of it holds within its
buckets: values are taken to lie evenly between the edges of theirs, and the error of the quantiles
is said. It is of everything since the process started, unless OpenTelemetry was told to save
deltas, which are added.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from prefetch_advisor.errors import InputError, UsageError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.model.timing import Buckets, Distribution, TimingRow
from prefetch_advisor.sources.buckets import MOST, Histogram, checked, together
from prefetch_advisor.sources.fields import shown
from prefetch_advisor.sources.otlp import read_otlp
from prefetch_advisor.units import SECONDS

#: labels that name a queue, the best first; OpenTelemetry's with their dots
_QUEUE_LABELS = (
    "queue",
    "queue_name",
    "messaging.destination.name",
    "messaging_destination_name",
    "destination",
    "routing_key",
    "task",
    "task_name",
    "name",
)
_PROMETHEUS = re.compile(rb'^[A-Za-z_:][\w:]*_bucket\{[^\n]*\ble="', re.MULTILINE)
_OTLP = re.compile(rb'"resourceMetrics"\s*:')
_UNITS = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}
_SUFFIX = re.compile(r"_(seconds|milliseconds|microseconds|nanoseconds|s|ms|us|ns)$")
#: what a histogram of processing times is called, where there are several, the surest first
_PROCESSING = (
    re.compile(r"process|handl|task|consum|work|runtime", re.IGNORECASE),
    re.compile(r"duration", re.IGNORECASE),
)


def looks_like(head: bytes) -> bool:
    """Whether an input holds histograms of either kind."""
    return _PROMETHEUS.search(head) is not None or _OTLP.search(head[:2000]) is not None


def read_histograms(
    text: str, where: str, unit: str | None = None, label: str | None = None
) -> Intake:
    """A row of timings for each queue, which ``label`` names; without one, the surest label.

    Raises:
        InputError: no histogram of times, none with that label, several that may be meant, or one
            that is broken.
        UsageError: an unknown unit.
    """
    if unit is not None and unit not in SECONDS:
        raise UsageError(f"unknown unit {unit!r}: use ns, us, ms or s")
    found = list(read_otlp(text, where) if text.lstrip()[:1] == "{" else _prometheus(text, where))
    found = [one for one in found if any(one.counts)]
    every = {one.metric for one in found}
    if label is not None:
        found = _labelled(found, label, where)
    metric = _chosen({one.metric for one in found}, where)
    merged: dict[tuple[str | None, str | None], Histogram] = {}
    for one in found:
        if one.metric == metric:
            key = _queue(one, label)
            merged[key] = together(merged[key], one, where) if key in merged else one
    rows = [_row(key, one, _scale(one, unit, where), where) for key, one in merged.items()]
    since = "what was saved of it" if _deltas(merged.values()) else "since its process started"
    off = max(row.processing.quantile_error for row in rows if row.processing is not None)
    note = (
        f"{where}: {metric}, {since}; variation and quantiles as its buckets tell them: a quantile "
        f"may be {off:.0%} off"
    )
    notes = [note]
    if others := sorted(every - {metric}):
        notes.append(f"{where}: not read, as {metric} was: {', '.join(others)}")
    if told := _told_by([one for one in found if one.metric == metric], label):
        notes.append(f"{where}: {told}")
    return Intake(where, timings=tuple(rows), notes=tuple(notes))


def _labelled(found: Sequence[Histogram], label: str, where: str) -> list[Histogram]:
    """Those that have a label.

    Raises:
        InputError: none has.
    """
    having = [one for one in found if _value(one, label)]
    if not having:
        labels = sorted({name for one in found for name, value in one.labels.items() if value})
        raise InputError(
            f"{where}: expected histograms with the label {shown(label)} (--queue-label), found "
            f"the labels {', '.join(labels) or 'none at all'}"
        )
    return having


def _value(one: Histogram, label: str) -> str | None:
    """The value of a label; Prometheus writes those of OpenTelemetry with _ for their dots."""
    return one.labels.get(label) or one.labels.get(label.replace(".", "_")) or None


def _told_by(found: Sequence[Histogram], label: str | None) -> str | None:
    """What is said where the queue could be told by another label too."""
    if label is not None:
        return None
    having = [name for name in _QUEUE_LABELS if any(one.labels.get(name) for one in found)]
    if len(having) < 2:
        return None
    rest = ", ".join(having[1:])
    return f"queues are told by the label {having[0]}; it has {rest} too (--queue-label)"


def _deltas(found: Iterable[Histogram]) -> bool:
    return any(one.delta for one in found)


def _chosen(metrics: set[str], where: str) -> str:
    if len(metrics) == 1:
        return next(iter(metrics))
    for pattern in _PROCESSING:
        names = [name for name in metrics if pattern.search(name)]
        if len(names) == 1:
            return names[0]
        if names:
            break
    if not metrics:
        raise InputError(
            f"{where}: expected a histogram of processing times, found none with values"
        )
    listed = ", ".join(sorted(metrics)[:8])
    raise InputError(
        f"{where}: expected one histogram of processing times, found {len(metrics)}: {listed}: "
        "leave the lines of the others out"
    )


def _scale(one: Histogram, given: str | None, where: str) -> float:
    """Seconds in its unit."""
    suffix = _SUFFIX.search(one.metric)
    name = one.unit or (suffix[1] if suffix else None) or given
    scale = SECONDS.get(_UNITS.get(name or "", name or ""))
    if scale is None:
        raise InputError(
            f"{where}: {one.metric}: expected a unit, in its name (_seconds, _milliseconds) or by "
            f"--unit, found {shown(name)}"
        )
    return scale


def _queue(one: Histogram, label: str | None) -> tuple[str | None, str | None]:
    """Its vhost and queue, by its labels."""
    names = _QUEUE_LABELS if label is None else (label,)
    queue = next((value for name in names if (value := _value(one, name))), None)
    return one.labels.get("vhost") or None, queue


def _row(key: tuple[str | None, str | None], one: Histogram, scale: float, where: str) -> TimingRow:
    vhost, queue = key
    count = sum(one.counts)
    distribution = _distribution(one, scale)
    return TimingRow(where, vhost, queue, count, processing=distribution)


def _distribution(one: Histogram, scale: float) -> Distribution:
    count = sum(one.counts)
    mean = one.total / count * scale
    spans = _spans(one, scale)
    middles = [(low + high) / 2 for low, high in spans]
    # values lie nearer to the lower edge the rarer they become: as far as the sum says
    even = math.fsum(n * middle for n, middle in zip(one.counts, middles, strict=True)) / count
    near = mean / even if even else 1.0
    squares = math.fsum(
        n * ((middle * near - mean) ** 2 + ((high - low) * near) ** 2 / 12)
        for (low, high), middle, n in zip(spans, middles, one.counts, strict=True)
    )
    quantiles = [_quantile(spans, one.counts, share) for share in (0.5, 0.95, 0.99)]
    filled = [span for span, n in zip(spans, one.counts, strict=True) if n]
    return Distribution(
        count=count,
        mean=mean,
        cv=math.sqrt(squares / count) / mean if mean else 0.0,
        minimum=filled[0][0],
        maximum=filled[-1][1],
        p50=quantiles[0][0],
        p95=quantiles[1][0],
        p99=quantiles[2][0],
        quantile_error=max(error for _, error in quantiles),
        buckets=_buckets([middle * near for middle in middles], one.counts),
    )


def _buckets(values: Sequence[float], counts: Sequence[int]) -> Buckets:
    """For merging with other inputs of the queue."""
    import numpy as np

    from prefetch_advisor.sources.sampling import counted

    return counted(np.array(values), np.array(counts))


def _spans(one: Histogram, scale: float) -> list[tuple[float, float]]:
    """Between which values those of each bucket lie; of the last, as the sum leaves it."""
    edges = [edge * scale for edge in one.edges]
    spans = list(zip([0.0, *edges], edges, strict=False))
    last = edges[-1] if edges else 0.0
    beyond = one.counts[-1]
    inside = sum(n * (low + high) / 2 for (low, high), n in zip(spans, one.counts, strict=False))
    rest = (one.total * scale - inside) / beyond if beyond else last
    return [*spans, (last, max(last, 2 * rest - last))]


def _quantile(
    spans: Sequence[tuple[float, float]], counts: Sequence[int], share: float
) -> tuple[float, float]:
    """A quantile, and how far it may be off, relatively."""
    wanted = share * sum(counts)
    below = 0
    for (low, high), n in zip(spans, counts, strict=True):
        if n and below + n >= wanted:
            value = low + (high - low) * (wanted - below) / n
            off = max(high - value, value - low)
            return value, off / value if value else 0.0
        below += n
    return spans[-1][1], 0.0


def _prometheus(text: str, where: str) -> Iterator[Histogram]:
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        raise InputError(
            f"{where}: a Prometheus exposition needs the library that reads it: "
            "pip install 'prefetch-advisor[metrics]'"
        ) from None
    series: dict[tuple[str, tuple[tuple[str, str], ...]], dict[float, float]] = {}
    sums: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                labels = dict(sample.labels)
                edge = labels.pop("le", None)
                base = sample.name.removesuffix("_bucket").removesuffix("_sum")
                key = base, tuple(sorted(labels.items()))
                if sample.name.endswith("_bucket") and edge is not None:
                    series.setdefault(key, {})[float(edge)] = sample.value
                elif sample.name.endswith("_sum"):
                    sums[key] = sample.value
    except (ValueError, IndexError, KeyError) as error:
        # the parser does not always say what it found
        said = str(error).partition("\n")[0][:120] or "a line that is none"
        raise InputError(f"{where}: expected a Prometheus exposition, found {said}") from None
    for key, buckets in series.items():
        edges = sorted(buckets)
        totals = [buckets[edge] for edge in edges]
        rising = all(0 <= total < MOST for total in totals) and totals == sorted(totals)
        if edges[-1] != math.inf or not rising or key not in sums:
            raise InputError(
                f"{where}: {key[0]}: expected rising buckets up to +Inf and a sum, found "
                f"{len(edges)} buckets up to {edges[-1]:g}"
            )
        counts = [int(b - a) for a, b in zip([0.0, *totals], totals, strict=False)]
        one = Histogram(key[0], dict(key[1]), tuple(edges[:-1]), tuple(counts), sums[key])
        yield checked(one, where) if any(counts) else one
