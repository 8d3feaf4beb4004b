import json
import math
from dataclasses import replace
from typing import Any

from advice_builders import make_advice, make_finding, make_report
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor import __version__
from prefetch_advisor.model.advice import (
    ConsumerAdvice,
    Current,
    Fed,
    Limit,
    Observed,
    Recommended,
    Report,
    Severity,
)
from prefetch_advisor.model.figures import Figure, FigureSource, ProcessingTime
from prefetch_advisor.model.observation import Broker
from prefetch_advisor.reports import REPORTS, ReportOptions


def parsed(report: Report) -> dict[str, Any]:
    def no_constant(name: str) -> float:
        raise AssertionError(f"{name} is no JSON")

    text = REPORTS["json"](report, ReportOptions())
    assert text.isascii()
    assert text.endswith("}\n")
    document: dict[str, Any] = json.loads(text, parse_constant=no_constant)
    return document


#: the contract: every field of the schema's first version, as documented for one queue
DOCUMENTED = {
    "broker": None,
    "vhost": "/",
    "queue": "tasks",
    "type": "classic",
    "verdict": "processing-bound",
    "verdict_reason": "each consumer works 99 % of the time (49.4/s x 20.1 ms)",
    "confidence": "high",
    "snapshot": False,
    "missing": [],
    "observed": {
        "consumers": 3,
        "prefetch": [10],
        "ready": 1204,
        "unacked": 30,
        "ack_rate": 148.2,
        "deliver_rate": 148.2,
        "deliver_no_ack_rate": 0.0,
        "get_rate": 0.0,
        "publish_rate": 190.0,
        "redeliver_rate": 0.0,
        "growth": 41.8,
        "window": 60.0,
        "samples": 13,
        "full_share": 1.0,
    },
    "limit": {"value": 30, "kind": "per-consumer", "source": "measured"},
    "processing_time": {
        "source": "measured",
        "samples": 1000,
        "mean": 0.0201,
        "ci95": [0.0200, 0.0202],
        "cv": 0.02,
        "p50": 0.0201,
        "p95": 0.0204,
        "p99": 0.0206,
    },
    "rtt": {"source": "given", "mean": 0.001},
    "concurrency": {"source": "assumed", "value": 1},
    "arrival_rate": {"source": "inferred", "value": 190.0},
    "offered_load": 3.82,
    "drain_time": None,
    "current": {
        "prefetch": 10,
        "consumers": 3,
        "busy_share": 0.99,
        "utilisation": 1.27,
        "buffered_time": 0.18,
        "rtt_covered": 0.18,
    },
    "rule": {"prefetch": 2, "busy_share": 1.0},
    "fed": {"prefetch": 2, "range": [2, 2], "if_exponential": None},
    "recommended": {
        "prefetch": 2,
        "consumers": 5,
        "least_consumers": 4,
        "keep": False,
        "limited_by": None,
        "lower_bound_by": None,
        "busy_share": 1.0,
        "utilisation": 0.76,
        "buffered_time": 0.0201,
        "wait": None,
        "reason": "2 keep a consumer busy at this round trip; what is above waits in the client",
    },
    "consumers": [
        {
            "tag": "ctag1.1",
            "channel": "127.0.0.1:40112 -> 127.0.0.1:5672 (1)",
            "prefetch": 10,
            "ack": "manual",
            "active": True,
            "rate": 49.4,
            "recommended_prefetch": None,
        }
    ],
    "findings": [
        {
            "code": "PA105",
            "name": "add-consumers",
            "severity": "warning",
            "subject": "tasks",
            "message": "3 consumers can work off 149/s, 190/s arrive",
            "help": "run 5 consumers",
            "url": "https://www.rabbitmq.com/docs/consumers",
        }
    ],
}


def documented_part(found: Any, documented: Any) -> Any:
    """``found`` without the fields that were added since."""
    if isinstance(documented, dict):
        return {key: documented_part(found[key], value) for key, value in documented.items()}
    if isinstance(documented, list) and documented and isinstance(documented[0], dict):
        return [documented_part(one, documented[0]) for one in found]
    return found


def test_every_documented_field_is_there_with_its_meaning() -> None:
    channel = "127.0.0.1:40112 -> 127.0.0.1:5672 (1)"
    consumers = (ConsumerAdvice("ctag1.1", channel, 10, "manual", True, 49.4),)
    document = parsed(make_report(make_advice(consumers=consumers)))
    assert list(document) == [
        "schema",
        "tool",
        "generated_at",
        "broker",
        "inputs",
        "queues",
        "findings",
        "summary",
    ]
    assert document["schema"] == "prefetch-advisor/advice/1"
    assert document["tool"] == f"prefetch-advisor {__version__}"
    assert document["generated_at"] == "2026-03-01T12:00:00Z"
    broker = {"version": "4.0.5", "rates_mode": "basic", "alarms": []}
    assert documented_part(document["broker"], broker) == broker
    (queue,) = document["queues"]
    assert documented_part(queue, DOCUMENTED) == DOCUMENTED
    assert isinstance(queue["concurrency"]["value"], int)
    assert document["findings"] == []
    assert document["summary"] == {"queues": 1, "errors": 0, "warnings": 1, "infos": 0}


def test_what_is_unknown_is_null() -> None:
    queue = make_advice(
        type=None,
        observed=Observed(),
        limit=Limit(None, "unknown", "assumed"),
        processing_time=None,
        rtt=None,
        arrival_rate=None,
        offered_load=None,
        current=Current(),
        rule=None,
        fed=None,
        recommended=Recommended(reason="give --rtt"),
    )
    document = parsed(replace(make_report(queue), broker=Broker(), generated_at=""))
    (found,) = document["queues"]
    for name in ("type", "processing_time", "rtt", "arrival_rate", "offered_load", "rule", "fed"):
        assert found[name] is None
    assert set(found["current"].values()) == {None}
    assert found["observed"]["prefetch"] == []
    assert found["recommended"]["prefetch"] is None
    assert found["recommended"]["reason"] == "give --rtt"
    assert document["broker"]["version"] is document["generated_at"] is None


def test_a_bound_says_its_side_and_where_it_comes_from() -> None:
    time = ProcessingTime(0.02, FigureSource.BOUND, "unacked / departures", side="at most")
    rate = Figure(12.0, FigureSource.BOUND, "departures of the timings", side="at least")
    (queue,) = parsed(make_report(make_advice(processing_time=time, arrival_rate=rate)))["queues"]
    assert (queue["processing_time"]["source"], queue["processing_time"]["side"]) == (
        "bound",
        "at most",
    )
    assert queue["processing_time"]["origin"] == "unacked / departures"
    assert queue["arrival_rate"]["side"] == "at least"


@settings(deadline=None, max_examples=150)
@given(value=st.one_of(st.floats(), st.integers(-(10**12), 10**12)))
def test_numbers_come_back_and_are_never_nan_or_infinite(value: float) -> None:
    observed = Observed(growth=value, ack_rate=abs(value))
    (queue,) = parsed(make_report(make_advice(observed=observed)))["queues"]
    found = queue["observed"]["growth"]
    if isinstance(value, int):
        assert found == value
        assert isinstance(found, int)
    elif not math.isfinite(value):
        assert found is None
    else:
        assert found == value


def test_a_name_that_is_not_ascii_changes_no_figure() -> None:
    seen = Observed(ack_rate=148.23456789, growth=math.nan, ready=1_234_567_890)
    plain, other = (
        parsed(make_report(make_advice(name, observed=seen)))["queues"][0]["observed"]
        for name in ("tasks", "очередь")
    )
    assert plain == other
    assert (plain["ack_rate"], plain["growth"]) == (148.23456789, None)


@settings(deadline=None, max_examples=150)
@given(name=st.text(st.characters(codec=None, categories=None), max_size=20))
def test_names_come_back_exactly(name: str) -> None:
    # a pair of surrogates is one character in JSON; a name never has one: bytes are U+DC80..DCFF
    name = "".join(char for char in name if not "\ud800" <= char < "\udc00")
    document = parsed(make_report(make_advice(name, name)))
    assert (document["queues"][0]["vhost"], document["queues"][0]["queue"]) == (name, name)


def test_the_bytes_of_a_name_that_is_not_utf8_can_be_recovered() -> None:
    raw = b"caf\xe9 \xff"
    queue = make_advice(raw.decode("utf-8", "surrogateescape"))
    text = REPORTS["json"](make_report(queue), ReportOptions())
    assert "\\udce9" in text
    name = json.loads(text)["queues"][0]["queue"]
    assert name.encode("utf-8", "surrogateescape") == raw


def test_findings_are_counted_wherever_they_are() -> None:
    error, info = make_finding(severity=Severity.ERROR), make_finding(severity=Severity.INFO)
    queues = (make_advice(findings=(error, info)), make_advice("other", findings=(info,)))
    document = parsed(make_report(*queues, findings=(make_finding(),)))
    assert document["summary"] == {"queues": 2, "errors": 1, "warnings": 1, "infos": 2}
    assert document["findings"][0]["name"] == "add-consumers"


def test_each_queue_is_one_line() -> None:
    text = REPORTS["json"](make_report(*map(make_advice, "abc")), ReportOptions())
    lines = [line.rstrip(",") for line in text.splitlines() if line.startswith('{"broker"')]
    assert [json.loads(line)["queue"] for line in lines] == ["a", "b", "c"]


def test_what_nothing_is_known_of_is_null_and_not_a_figure() -> None:
    given_time = ProcessingTime(0.004, FigureSource.GIVEN, "--processing-time")
    no_limit = Limit(None, "unknown", "measured")
    queue = make_advice(processing_time=given_time, limit=no_limit)
    unclear = make_advice(limit=replace(no_limit, origin="no list of consumers was read"))
    unlimited = make_advice(limit=Limit(None, "none", "measured", "prefetch 0"))
    absent: Any = None
    none = make_advice(limit=absent, fed=Fed(26, absent))
    found = parsed(make_report(queue, unclear, unlimited, none))["queues"]
    assert found[0]["processing_time"]["quantile_error"] is None
    assert found[1]["processing_time"]["quantile_error"] == 0
    assert found[0]["limit"] is found[3]["limit"] is None
    assert found[1]["limit"] == {
        "value": None,
        "kind": "unknown",
        "source": None,
        "origin": "no list of consumers was read",
    }
    assert (found[2]["limit"]["kind"], found[2]["limit"]["source"]) == ("none", "measured")
    assert found[3]["fed"] == {"prefetch": 26, "range": None, "if_exponential": None}


def test_a_fed_range_is_a_pair() -> None:
    queue = make_advice(fed=Fed(26, (18, 30), 23))
    (found,) = parsed(make_report(queue))["queues"]
    assert found["fed"] == {"prefetch": 26, "range": [18, 30], "if_exponential": 23}


def test_no_queue_is_an_empty_list() -> None:
    assert parsed(make_report())["queues"] == []
