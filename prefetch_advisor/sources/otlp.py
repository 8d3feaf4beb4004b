"""Histograms of OTLP as JSON: one document, or one a line as the collector's file exporter has it.

https://github.com/open-telemetry/opentelemetry-proto, metrics.proto: what is 0 may be missing, and
numbers of 64 bits are strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.buckets import Histogram, checked, together

_DELTA = (1, "AGGREGATION_TEMPORALITY_DELTA")
#: more buckets than this no exporter writes: 160 is the largest that an SDK chooses
_MOST_BUCKETS = 10_000

_Labels = tuple[tuple[str, str], ...]


def read_otlp(text: str, where: str) -> list[Histogram]:
    """The histograms of a file, one for each metric, instance and set of labels.

    Raises:
        InputError: no OTLP, or a histogram that is broken; it names the line.
    """
    found: dict[tuple[str, _Labels, _Labels], Histogram] = {}
    lines = [text] if _is_document(text) else text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{where}:{number}"
        try:
            for instance, one in _points(json.loads(line), place):
                key = one.metric, instance, tuple(sorted(one.labels.items()))
                # totals since the start: a later document says the same and more
                add = one.delta and key in found
                found[key] = together(found[key], one, place) if add else one
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError) as error:
            raise InputError(
                f"{place}: expected OTLP metrics as JSON, found {str(error)[:120]}"
            ) from None
    return list(found.values())


def _is_document(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _points(document: Mapping[str, Any], place: str) -> Iterator[tuple[_Labels, Histogram]]:
    for resource in document["resourceMetrics"]:
        about = _labels(resource.get("resource", {}).get("attributes", ()))
        instance = tuple(sorted(about.items()))
        for scope in resource.get("scopeMetrics", ()):
            for metric in scope.get("metrics", ()):
                for one in _histograms(metric):
                    if any(one.counts):
                        # what is said of the process may name the queue as well
                        yield instance, replace(checked(one, place), labels={**about, **one.labels})


def _histograms(metric: Mapping[str, Any]) -> Iterator[Histogram]:
    kinds = (("histogram", _explicit), ("exponentialHistogram", _exponential))
    for kind, read in kinds:
        data = metric.get(kind, {})
        for point in data.get("dataPoints", ()):
            if not int(point.get("count", 0)):
                continue
            if "sum" not in point:
                raise ValueError(f"{metric['name']} without a sum")
            edges, counts = read(point)
            yield Histogram(
                str(metric["name"]),
                _labels(point.get("attributes", ())),
                edges,
                counts,
                float(point["sum"]),
                metric.get("unit") or None,
                data.get("aggregationTemporality") in _DELTA,
            )


def _explicit(point: Mapping[str, Any]) -> tuple[tuple[float, ...], tuple[int, ...]]:
    counts = tuple(int(count) for count in point.get("bucketCounts", ()))
    # one without buckets is refused by its edges
    return tuple(float(edge) for edge in point.get("explicitBounds", ())), counts or (1,)


def _exponential(point: Mapping[str, Any]) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Bucket i holds what is above b^i and at most b^(i + 1), b = 2^(2^-scale)."""
    positive = point.get("positive", {})
    counts = [int(count) for count in positive.get("bucketCounts", ())]
    if any(int(count) for count in point.get("negative", {}).get("bucketCounts", ())):
        raise ValueError("times below 0")
    if len(counts) > _MOST_BUCKETS:
        raise ValueError(f"{len(counts)} buckets")
    first, step = int(positive.get("offset", 0)), 2.0 ** -int(point.get("scale", 0))
    # empty ones at either end may reach further than a float does
    while counts and not counts[-1]:
        counts.pop()
    while counts and not counts[0]:
        del counts[0]
        first += 1
    edges = [2.0 ** ((first + at) * step) for at in range(len(counts) + 1)]
    return tuple(edges), (int(point.get("zeroCount", 0)), *counts, 0)


def _labels(attributes: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    return {item["key"]: str(next(iter(item["value"].values()), "")) for item in attributes}
