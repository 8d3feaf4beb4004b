"""Histograms of real clients: the mean is exact, the rest within what the buckets tell."""

from __future__ import annotations

import json
import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client import Histogram as Recorded

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.histograms import read_histograms

EDGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def exposition(values: dict[tuple[str, str], list[float]], name="processing_seconds") -> str:
    registry = CollectorRegistry()
    recorded = Recorded(name, "x", ["queue", "outcome"], registry=registry, buckets=EDGES)
    for labels, seen in values.items():
        for value in seen:
            recorded.labels(*labels).observe(value)
    text: str = generate_latest(registry).decode()
    return text


def otlp(values: list[float], unit: str = "s", scale: float = 1.0) -> dict[str, object]:
    edges = [edge * scale for edge in EDGES]
    counts = [0] * (len(edges) + 1)
    for value in values:
        counts[sum(value * scale > edge for edge in edges)] += 1
    point = {
        "attributes": [
            {"key": "messaging.destination.name", "value": {"stringValue": "tasks"}},
            {"key": "messaging.system", "value": {"stringValue": "rabbitmq"}},
        ],
        "count": str(len(values)),
        "sum": sum(values) * scale,
        "bucketCounts": [str(count) for count in counts],
        "explicitBounds": edges,
    }
    metric = {
        "name": "messaging.process.duration",
        "unit": unit,
        "histogram": {"aggregationTemporality": 2, "dataPoints": [point]},
    }
    return {"resourceMetrics": [{"scopeMetrics": [{"metrics": [metric]}]}]}


def drawn(mean: float, count: int = 3_000) -> list[float]:
    draw = random.Random(4)
    return [draw.expovariate(1 / mean) for _ in range(count)]


def test_an_exposition_is_advised_by_queue(advise, tmp_path):
    file = tmp_path / "metrics.prom"
    tasks, failed = drawn(0.02), drawn(0.03, 100)
    values = {("tasks", "ok"): tasks, ("tasks", "failed"): failed, ("mail", "ok"): drawn(0.004)}
    file.write_text(exposition(values))
    done = advise(file, "--rtt", "10ms")
    assert "since its process started" in done.err
    found = {queue["queue"]: queue["processing_time"] for queue in done.report["queues"]}
    assert found["tasks"]["mean"] == pytest.approx(statistics.fmean(tasks + failed), rel=1e-5)
    assert found["tasks"]["samples"] == 3_100
    assert found["mail"]["cv"] == pytest.approx(1, abs=0.15)
    # sized by what is known of the variation: more than constant times would need
    fed = {q["queue"]: q["fed"]["prefetch"] for q in done.report["queues"]}
    rule = {q["queue"]: q["rule"]["prefetch"] for q in done.report["queues"]}
    assert fed["mail"] > rule["mail"]


def test_two_scrapes_of_one_queue_are_one(advise, tmp_path):
    files = [tmp_path / "a.prom", tmp_path / "b.prom"]
    for file in files:
        file.write_text(exposition({("tasks", "ok"): drawn(0.02)}))
    only = advise(*files, "--rtt", "10ms").only
    assert only["processing_time"]["mean"] == pytest.approx(statistics.fmean(drawn(0.02)))


@pytest.mark.parametrize("lines", [False, True], ids=["document", "lines"])
def test_opentelemetry_is_read_in_its_own_unit(advise, tmp_path, lines):
    file = tmp_path / "metrics.json"
    values = drawn(0.02)
    documents = [otlp(values[:1000], "ms", 1000), otlp(values, "ms", 1000)]
    text = "\n".join(json.dumps(one) for one in documents) if lines else json.dumps(documents[1])
    file.write_text(text)
    only = advise(file, "--rtt", "10ms").only
    assert only["queue"] == "tasks"
    assert only["processing_time"]["mean"] == pytest.approx(statistics.fmean(values))
    assert only["processing_time"]["samples"] == 3_000


@given(st.lists(st.floats(1e-5, 5), min_size=1, max_size=300))
@settings(deadline=None, max_examples=60)
def test_the_mean_is_exact_and_quantiles_are_within_their_error(values):
    intake = read_histograms(exposition({("q", "ok"): values}), "t")
    (row,) = intake.timings
    found = row.processing
    assert found is not None
    assert found.count == len(values)
    assert found.mean == pytest.approx(statistics.fmean(values))
    ordered = sorted(values)
    median = ordered[max(0, -(-len(ordered) // 2) - 1)]
    if median <= EDGES[-1]:
        edge = min(e for e in EDGES if e >= median)
        low = max((e for e in EDGES if e < median), default=0.0)
        assert low <= found.p50 <= edge
        assert abs(found.p50 - median) <= found.quantile_error * found.p50 + 1e-12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (exposition({("q", "ok"): [0.1]}, "processing_things"), "expected a unit, in its name"),
        (
            exposition({("q", "ok"): [0.1]}) + exposition({("q", "ok"): [0.1]}, "task_seconds"),
            "expected one histogram of processing times, found 2: processing_seconds, task_seconds",
        ),
        (exposition({("q", "ok"): []}), "found none with values"),
        ('x_seconds_bucket{le="1"} 5\nx_seconds_sum 3\n', "up to .Inf and a sum"),
        ('x_seconds_bucket{le="1" 5\n', "expected a Prometheus exposition"),
        ('{"resourceMetrics": [{"scopeMetrics": 5}]}', "expected OTLP metrics as JSON"),
    ],
)
def test_what_cannot_be_meant_is_named(text, message):
    with pytest.raises(InputError, match=message):
        read_histograms(text, "t")
