"""What the client spends beside the handler: added to what was timed, to nothing else, and said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cases import api_consumer, api_queue

from prefetch_advisor.client_cost import cost_note, with_cost
from prefetch_advisor.model.figures import FigureSource, ProcessingTime, RoundTrip
from prefetch_advisor.model.timing import Run
from prefetch_advisor.statistics import mean_interval


def measured(seconds: list[float]) -> ProcessingTime:
    values = np.array(seconds)
    mean, cv = float(values.mean()), float(values.std() / values.mean())
    return ProcessingTime(
        mean,
        FigureSource.MEASURED,
        "rows",
        samples=len(values),
        ci95=mean_interval(mean, cv, len(values)),
        cv=cv,
        p50=float(np.quantile(values, 0.5)),
        p95=float(np.quantile(values, 0.95)),
        p99=float(np.quantile(values, 0.99)),
        runs=(Run("a", values),),
    )


@settings(deadline=None, max_examples=100)
@given(
    seconds=st.lists(st.floats(1e-5, 10), min_size=3, max_size=50),
    cost=st.floats(0, 1),
)
def test_it_is_as_if_every_message_had_been_timed_so_much_longer(seconds, cost):
    longer = with_cost(measured(seconds), cost)
    direct = measured([value + cost for value in seconds])
    assert longer is not None
    for name in ("mean", "cv", "p50", "p95", "p99", "ci95"):
        assert getattr(longer, name) == pytest.approx(getattr(direct, name), rel=1e-6, abs=1e-9)
    assert longer.runs[0].processing == pytest.approx(direct.runs[0].processing)
    assert longer.client_cost is not None
    assert (longer.client_cost.value, longer.client_cost.source) == (cost, FigureSource.GIVEN)


@pytest.mark.parametrize("source", [FigureSource.INFERRED, FigureSource.BOUND])
def test_what_was_not_timed_contains_it(source):
    seen = ProcessingTime(0.01, source, "x")
    assert with_cost(seen, 0.001) == seen
    assert with_cost(None, 0.001) is None


def test_it_counts_in_rule_fed_busy_share_and_consumers(advise):
    """P 0.2 ms with 0.05 ms on top is P 0.25 ms."""
    options = ("--rtt", "1ms", "--arrival-rate", "6000/s")
    apart = advise("--processing-time", "0.2ms", "--client-cost", "50us", *options).only
    whole = advise("--processing-time", "0.25ms", *options).only
    without = advise("--processing-time", "0.2ms", *options).only
    for name in ("rule", "fed", "recommended", "offered_load"):
        assert apart[name] == whole[name]
        assert apart[name] != without[name]
    assert apart["processing_time"]["client_cost"] == {
        "source": "given",
        "value": 5e-05,
        "side": None,
        "origin": "--client-cost",
    }
    assert "50 us of the client (--client-cost)" in apart["processing_time"]["origin"]
    assert without["processing_time"]["client_cost"]["source"] == "assumed"
    assert without["processing_time"]["client_cost"]["value"] == 0


def test_it_tells_a_full_consumer_of_fast_messages_from_a_waiting_one(advise, tmp_path: Path):
    """3,600/s x 0.2 ms is 72 %; with the client's 0.07 ms the consumer is busy 97 % of its time."""
    queue = api_queue(messages_ready=5_000, messages_unacknowledged=10, consumers=1)
    queue["message_stats"] = {
        name: value
        for counter in ("publish", "deliver", "ack")
        for name, value in ((counter, 100_000), (f"{counter}_details", {"rate": 3_600.0}))
    }
    files = tmp_path / "queues.json", tmp_path / "consumers.json"
    files[0].write_text(json.dumps([queue]))
    files[1].write_text(json.dumps([api_consumer(10)]))
    options = ("--processing-time", "0.2ms", "--rtt", "0.5ms")
    assert advise(*files, *options).only["verdict"] == "round-trip-bound"
    assert advise(*files, *options, "--client-cost", "70us").only["verdict"] == "processing-bound"


def test_where_it_matters_and_was_not_told_it_is_mentioned():
    quick = ProcessingTime(0.0005, FigureSource.GIVEN, "--processing-time")
    slow = ProcessingTime(0.001, FigureSource.GIVEN, "--processing-time")
    probed = RoundTrip(0.001, FigureSource.MEASURED, "probe", client_cost=42e-6)
    assert "--client-cost adds it" in (cost_note(quick, None, None) or "")
    assert "42 us of CPU time by the probe" in (cost_note(quick, probed, None) or "")
    assert cost_note(slow, probed, None) is None
    # told, also that there is none beside
    assert cost_note(quick, probed, 0.0) is None
    assert cost_note(quick, probed, 42e-6) is None
    inferred = ProcessingTime(0.0005, FigureSource.INFERRED, "acks")
    assert cost_note(inferred, probed, None) is None
    for other in (inferred, None):
        assert "is not added" in (cost_note(other, None, 42e-6) or "")
