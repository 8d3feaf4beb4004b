"""Histograms of real clients: the mean is exact, the rest within what the buckets tell."""

from __future__ import annotations

import json
import math
import random
import re
import statistics

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client import Histogram as Recorded

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.buckets import Histogram, checked, together
from prefetch_advisor.sources.histograms import read_histograms

OTLP = ROOT / "tests" / "data" / "otlp"
EDGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def exposition(values: dict[tuple[str, str], list[float]], name="processing_seconds") -> str:
    registry = CollectorRegistry()
    recorded = Recorded(name, "x", ["queue", "outcome"], registry=registry, buckets=EDGES)
    for labels, seen in values.items():
        for value in seen:
            recorded.labels(*labels).observe(value)
    text: str = generate_latest(registry).decode()
    return text


def otlp(kind: str = "histogram", more: str = "", temporality: int = 2, **point: object) -> str:
    whole = {"count": "3", "sum": 0.6, "explicitBounds": [0.1, 0.5], "bucketCounts": ["1", "2", 0]}
    data = {"aggregationTemporality": temporality, "dataPoints": [whole | point]}
    metric = {"name": "messaging.process.duration", "unit": "s", kind: data}
    return json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [metric]}]}]}) + more


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


@pytest.mark.parametrize("kind", ["cumulative", "delta", "exponential", "exponential_delta"])
def test_what_opentelemetry_saved_three_times_is_read_once(advise, kind):
    """1,200 times of 20 ms on average, drawn by random.Random(4).expovariate, 400 at a time."""
    draw = random.Random(4)
    values = [draw.expovariate(1 / 0.02) for _ in range(1_200)]
    done = advise(OTLP / f"{kind}.json", "--rtt", "10ms")
    found = done.only["processing_time"]
    assert done.only["queue"] == "tasks"
    assert found["samples"] == 1_200
    assert found["mean"] == pytest.approx(statistics.fmean(values))
    spread = statistics.pstdev(values) / statistics.fmean(values)
    assert found["cv"] == pytest.approx(spread, rel=0.05 if "exponential" in kind else 0.1)
    assert found["p50"] == pytest.approx(statistics.median(values), rel=0.1)
    assert ("what was saved of it" in done.err) == ("delta" in kind)


def test_instances_of_one_queue_are_added():
    documents = [json.loads(otlp()), json.loads(otlp())]
    for number, document in enumerate(documents):
        attribute = {"key": "service.instance.id", "value": {"stringValue": str(number)}}
        document["resourceMetrics"][0]["resource"] = {"attributes": [attribute]}
    text = "\n".join(json.dumps(one) for one in documents * 2)
    assert [row.rows for row in read_histograms(text, "t").timings] == [6]


def test_the_surest_of_several_histograms_is_read_and_the_others_named():
    other = otlp().replace("messaging.process.duration", "messaging.client.operation.duration")
    intake = read_histograms(f"{otlp()}\n{other}", "t")
    assert [row.rows for row in intake.timings] == [3]
    assert any("not read" in note and "client.operation" in note for note in intake.notes)


@given(
    st.lists(st.floats(1e-4, 1e3), min_size=1, max_size=50),
    st.lists(st.floats(1e-4, 1e3), min_size=1, max_size=50),
    st.integers(-1, 3),
    st.integers(-1, 3),
)
@settings(deadline=None, max_examples=100)
def test_histograms_of_other_buckets_add_up_in_those_that_both_tell(first, second, one, other):
    both = together(grown(first, one), grown(second, other), "t")
    checked(both, "t")
    assert sum(both.counts) == len(first) + len(second)
    below = 0
    for edge, count in zip(both.edges, both.counts, strict=False):
        below += count
        assert below == sum(value <= edge for value in first + second)


def grown(values: list[float], scale: int) -> Histogram:
    """What an exponential histogram makes of them, in buckets as far as they reach."""
    grid = [2.0 ** (at * 2.0**-scale) for at in range(-200, 201)]
    edges = [edge for edge in grid if min(values) / 5 <= edge <= max(values) * 5]
    counts = [0] * (len(edges) + 1)
    for value in values:
        counts[sum(value > edge for edge in edges)] += 1
    return Histogram("m", {}, tuple(edges), tuple(counts), sum(values), "s")


TEXTS = (
    exposition({("tasks", "ok"): [0.1, 0.01], ("mail", "ok"): [3.0]}),
    otlp(),
    (OTLP / "exponential_delta.json").read_text(),
)
SPOILT = ["NaN", "-1", "1e999", "null", '"x"', "[]", "{}", "+Inf", "0", "", "\n", '"', "9" * 400]


@given(st.sampled_from(TEXTS), st.data())
@settings(deadline=None, max_examples=300)
def test_spoilt_histograms_are_refused_or_read_as_times(text, data):
    for _ in range(data.draw(st.integers(1, 3))):
        tokens = list(re.finditer(r'[-\w.+]+|"[^"]*"|\W', text))
        token = data.draw(st.sampled_from(tokens))
        text = text[: token.start()] + data.draw(st.sampled_from(SPOILT)) + text[token.end() :]
        if not text:
            return
    try:
        intake = read_histograms(text, "t")
    except InputError:
        return
    for row in intake.timings:
        assert row.processing is not None
        assert row.processing.count > 0
        assert 0 <= row.processing.mean < math.inf
        assert row.processing.cv >= 0


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
        ('x_s_bucket{le="1"} 1\nx_s_bucket{le="+Inf"} NaN\nx_s_sum 3\n', "expected rising buckets"),
        ('x_s_bucket{le="1"} 1\nx_s_bucket{le="+Inf"} 2\nx_s_sum NaN\n', "expected a sum of times"),
        ('x_s_bucket{le="+Inf"} 2\nx_s_sum 1\n', "expected a count for each bucket"),
        ('{"resourceMetrics": [{"scopeMetrics": 5}]}', "expected OTLP metrics as JSON"),
        (otlp(more="\n" + otlp()[:50]), "t:2: expected OTLP metrics as JSON"),
        (otlp(bucketCounts=["-1", "3", "1"]), "expected counts of 0 or more, found -1, 3, 1"),
        (otlp(explicitBounds=[0.5, 0.1]), "expected edges that ascend from 0 or more"),
        (otlp(explicitBounds=[], bucketCounts=[]), "expected a count for each bucket"),
        (otlp(sum="NaN"), "expected a sum of times, found nan"),
        (otlp("exponentialHistogram", negative={"bucketCounts": [1]}), "found times below 0"),
    ],
)
def test_what_cannot_be_meant_is_named(text, message):
    with pytest.raises(InputError, match=message):
        read_histograms(text, "t")


TWO = """\
# TYPE task_seconds histogram
task_seconds_bucket{queue="a",task="x",le="1"} 4
task_seconds_bucket{queue="a",task="x",le="+Inf"} 4
task_seconds_sum{queue="a",task="x"} 2
task_seconds_count{queue="a",task="x"} 4
task_seconds_bucket{queue="a",task="y",le="1"} 6
task_seconds_bucket{queue="a",task="y",le="+Inf"} 6
task_seconds_sum{queue="a",task="y"} 1
task_seconds_count{queue="a",task="y"} 6
# TYPE handler_seconds histogram
handler_seconds_bucket{pool="p",le="1"} 1
handler_seconds_bucket{pool="p",le="+Inf"} 1
handler_seconds_sum{pool="p"} 0.5
handler_seconds_count{pool="p"} 1
"""


@pytest.mark.parametrize(
    ("label", "queues"),
    [("queue", {"a": 10}), ("task", {"x": 4, "y": 6}), ("pool", {"p": 1})],
)
def test_a_label_that_is_named_tells_the_queues(label, queues):
    intake = read_histograms(TWO, "t", label=label)
    assert {row.name: row.rows for row in intake.timings} == queues
    assert not any("--queue-label" in note for note in intake.notes)


def test_another_label_that_may_be_meant_is_told():
    (first, _) = TWO.split("# TYPE handler", 1)
    intake = read_histograms(first, "t")
    assert {row.name: row.rows for row in intake.timings} == {"a": 10}
    assert any("label queue; it has task too (--queue-label)" in note for note in intake.notes)


def test_a_label_that_is_not_there_is_an_error_that_lists_those_that_are(advise, tmp_path):
    file = tmp_path / "metrics.prom"
    file.write_text(TWO)
    done = advise(file, "--queue-label", "topic")
    assert done.code == 3
    assert "the label 'topic' (--queue-label), found the labels pool, queue, task" in done.err
    rows = tmp_path / "rows.csv"
    rows.write_text("processing_ms\n5\n6\n")
    done = advise(rows, "--queue-label", "queue")
    assert done.code == 2
    assert "--queue-label: no input holds histograms" in done.err


def test_a_label_of_opentelemetry_may_be_one_of_its_resource():
    document = json.loads(otlp())
    attribute = {"key": "service.name", "value": {"stringValue": "billing"}}
    document["resourceMetrics"][0]["resource"] = {"attributes": [attribute]}
    (row,) = read_histograms(json.dumps(document), "t", label="service.name").timings
    assert (row.name, row.rows) == ("billing", 3)
