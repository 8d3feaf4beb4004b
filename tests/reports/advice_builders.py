"""Builders of advice: a plain queue, and what a test changes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from prefetch_advisor.model.advice import (
    Current,
    Fed,
    Finding,
    Limit,
    Observed,
    QueueAdvice,
    Recommended,
    Report,
    Rule,
    Severity,
    Verdict,
)
from prefetch_advisor.model.figures import (
    Concurrency,
    Figure,
    FigureSource,
    ProcessingTime,
    RoundTrip,
)
from prefetch_advisor.model.observation import Broker, QueueKey

FINDING = Finding(
    code="PA105",
    name="add-consumers",
    severity=Severity.WARNING,
    subject="tasks",
    message="3 consumers can work off 149/s, 190/s arrive",
    help="run 5 consumers",
    url="https://www.rabbitmq.com/docs/consumers",
)

#: design's own example: three consumers too slow for what arrives
ADVICE = QueueAdvice(
    key=QueueKey(None, "/", "tasks"),
    type="classic",
    verdict=Verdict.PROCESSING_BOUND,
    verdict_reason="each consumer works 99 % of the time (49.4/s x 20.1 ms)",
    confidence="high",
    snapshot=False,
    missing=(),
    observed=Observed(
        consumers=3,
        prefetch=(10,),
        ready=1204,
        unacked=30,
        ack_rate=148.2,
        deliver_rate=148.2,
        deliver_no_ack_rate=0.0,
        get_rate=0.0,
        publish_rate=190.0,
        redeliver_rate=0.0,
        growth=41.8,
        window=60.0,
        samples=13,
        full_share=1.0,
    ),
    limit=Limit(30, "per-consumer", "measured", "3 consumers x 10"),
    processing_time=ProcessingTime(
        mean=0.0201,
        source=FigureSource.MEASURED,
        origin="1,000 rows of timings.csv",
        samples=1000,
        ci95=(0.0200, 0.0202),
        cv=0.02,
        p50=0.0201,
        p95=0.0204,
        p99=0.0206,
    ),
    rtt=RoundTrip(0.001, FigureSource.GIVEN, "--rtt"),
    concurrency=Concurrency(
        1, FigureSource.ASSUMED, "one message at a time; --concurrency if more"
    ),
    arrival_rate=Figure(190.0, FigureSource.INFERRED, "departures + growth over 60 s"),
    offered_load=3.82,
    drain_time=None,
    current=Current(10, 3, 0.99, 1.27, 0.18, 0.18),
    rule=Rule(2, 1.0),
    fed=Fed(2, (2, 2), None),
    recommended=Recommended(
        prefetch=2,
        consumers=5,
        least_consumers=4,
        busy_share=1.0,
        utilisation=0.76,
        buffered_time=0.0201,
        reason="2 keep a consumer busy at this round trip; what is above waits in the client",
        consumers_reason="5 x 20.1 ms work off 190/s at 76 %",
    ),
    findings=(FINDING,),
)


def make_advice(name: str = "tasks", vhost: str = "/", **overrides: Any) -> QueueAdvice:
    """``ADVICE`` under another name, with some fields changed."""
    return replace(ADVICE, **{"key": QueueKey(None, vhost, name), **overrides})


def make_report(*queues: QueueAdvice, **overrides: Any) -> Report:
    """A report of these queues, with some fields changed."""
    plain = Report(Broker(version="4.0.5", rates_mode="basic"), queues)
    return replace(plain, generated_at="2026-03-01T12:00:00Z", **overrides)


def make_finding(**overrides: Any) -> Finding:
    """The warning of ``ADVICE`` with some fields changed."""
    return replace(FINDING, **overrides)
