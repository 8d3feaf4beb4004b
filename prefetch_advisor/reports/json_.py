"""The advice as JSON: schema ``prefetch-advisor/advice/1``; fields are added, never changed.

Seconds and per second; unknown is null; a number that is not finite is unknown. Text is ASCII:
a byte of a name that was not UTF-8 is the escape of its lone surrogate (``\\udcff`` for 0xff).
"""

from __future__ import annotations

import json
from collections import Counter
from math import isfinite
from typing import TYPE_CHECKING, Any

import orjson

from prefetch_advisor import __version__
from prefetch_advisor.model.advice import (
    ConsumerAdvice,
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
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prefetch_advisor.model.figures import Figure, ProcessingTime, RoundTrip
    from prefetch_advisor.reports.options import ReportOptions

SCHEMA = "prefetch-advisor/advice/1"

Object = dict[str, Any]


def render(report: Report, options: ReportOptions) -> str:
    """One line for each queue, so that reports of many queues can be compared and searched."""
    head = {
        "schema": SCHEMA,
        "tool": f"prefetch-advisor {__version__}",
        "generated_at": report.generated_at or None,
        "broker": {
            "version": report.broker.version,
            "rates_mode": report.broker.rates_mode,
            "alarms": report.broker.alarms,
            "statistics_off": report.broker.statistics_off,
            "global_qos_permitted": report.broker.global_qos_permitted,
        },
        "inputs": report.inputs,
    }
    parts = [f"{_text(name)}: {_text(value)}" for name, value in head.items()]
    parts.append('"queues": ' + _lines(_queue(queue) for queue in report.queues))
    parts.append('"findings": ' + _lines(_finding(finding) for finding in report.findings))
    parts.append('"summary": ' + _text(_summary(report)))
    return "{\n" + ",\n".join(parts) + "\n}\n"


# nan and infinity are refused: they are no JSON, and every number below has been checked;
# nothing built here can hold itself
_escaped = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":")).encode


def _text(value: object) -> str:
    """Compact JSON; what is not printable ASCII, and names that are not UTF-8, as escapes."""
    try:
        quick = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return _escaped(value)
    return quick.decode("ascii") if quick.isascii() and b"\x7f" not in quick else _escaped(value)


def _lines(objects: Iterable[Object]) -> str:
    lines = ",\n".join(map(_text, objects))
    return f"[\n{lines}\n]" if lines else "[]"


def _summary(report: Report) -> Object:
    count = Counter(finding.severity for finding in report.findings)
    for queue in report.queues:
        count.update(finding.severity for finding in queue.findings)
    return {
        "queues": len(report.queues),
        "errors": count[Severity.ERROR],
        "warnings": count[Severity.WARNING],
        "infos": count[Severity.INFO],
    }


def _number(value: float | None) -> float | None:
    """Six significant digits, more than any of these figures has; whole numbers as they are."""
    if not value or isinstance(value, int):
        return value if value is None or isinstance(value, int) else 0.0  # never -0.0
    return float("%.6g" % value) if isfinite(value) else None  # noqa: UP031 - faster, and called most


def _queue(queue: QueueAdvice) -> Object:
    return {
        "broker": queue.key.broker,
        "vhost": queue.key.vhost,
        "queue": queue.key.name,
        "type": queue.type,
        "verdict": queue.verdict,
        "verdict_reason": queue.verdict_reason,
        "confidence": queue.confidence,
        "snapshot": queue.snapshot,
        "missing": queue.missing,
        "observed": _observed(queue.observed),
        "limit": _limit(queue.limit),
        "processing_time": _processing(queue.processing_time),
        "rtt": _round_trip(queue.rtt),
        "concurrency": _whole(queue.concurrency),
        "arrival_rate": _figure(queue.arrival_rate),
        "offered_load": _number(queue.offered_load),
        "drain_time": _number(queue.drain_time),
        "current": _current(queue.current),
        "rule": None if queue.rule is None else _rule(queue.rule),
        "fed": None if queue.fed is None else _fed(queue.fed),
        "recommended": _recommended(queue.recommended),
        "consumers": [_consumer(consumer) for consumer in queue.consumers],
        "findings": [_finding(finding) for finding in queue.findings],
        "notes": queue.notes,
    }


def _observed(seen: Observed) -> Object:
    return {
        "consumers": seen.consumers,
        "prefetch": seen.prefetch,
        "ready": seen.ready,
        "unacked": seen.unacked,
        "ack_rate": _number(seen.ack_rate),
        "deliver_rate": _number(seen.deliver_rate),
        "deliver_no_ack_rate": _number(seen.deliver_no_ack_rate),
        "get_rate": _number(seen.get_rate),
        "publish_rate": _number(seen.publish_rate),
        "redeliver_rate": _number(seen.redeliver_rate),
        "growth": _number(seen.growth),
        "window": _number(seen.window),
        "samples": seen.samples,
        "full_share": _number(seen.full_share),
    }


def _limit(limit: Limit | None) -> Object | None:
    """Null where there is none to speak of: no consumers, or none that is active."""
    if limit is None or (limit.kind == "unknown" and limit.value is None and not limit.origin):
        return None
    return {
        "value": limit.value,
        "kind": limit.kind,
        "source": None if limit.kind == "unknown" else limit.source,
        "origin": limit.origin,
    }


def _processing(time: ProcessingTime | None) -> Object | None:
    if time is None:
        return None
    return {
        "source": time.source,
        "samples": time.samples,
        "mean": _number(time.mean),
        "ci95": None if time.ci95 is None else [_number(end) for end in time.ci95],
        "cv": _number(time.cv),
        "p50": _number(time.p50),
        "p95": _number(time.p95),
        "p99": _number(time.p99),
        "quantile_error": None if time.p50 is None else _number(time.quantile_error),
        "side": time.side,
        "origin": time.origin,
    }


def _round_trip(time: RoundTrip | None) -> Object | None:
    if time is None:
        return None
    return {
        "source": time.source,
        "mean": _number(time.mean),
        "side": time.side,
        "origin": time.origin,
    }


def _figure(figure: Figure | None) -> Object | None:
    if figure is None:
        return None
    return {
        "source": figure.source,
        "value": _number(figure.value),
        "side": figure.side,
        "origin": figure.origin,
    }


def _whole(figure: Figure) -> Object:
    """A concurrency is a count, unless it was observed and is a mean."""
    value = _number(figure.value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return {
        "source": figure.source,
        "value": value,
        "side": figure.side,
        "origin": figure.origin,
    }


def _rule(rule: Rule) -> Object:
    return {"prefetch": rule.prefetch, "busy_share": _number(rule.busy_share)}


def _fed(fed: Fed) -> Object:
    return {
        "prefetch": fed.prefetch,
        "range": fed.range,
        "if_exponential": fed.if_exponential,
    }


def _current(current: Current) -> Object:
    return {
        "prefetch": current.prefetch,
        "consumers": current.consumers,
        "busy_share": _number(current.busy_share),
        "utilisation": _number(current.utilisation),
        "buffered_time": _number(current.buffered_time),
        "rtt_covered": _number(current.rtt_covered),
    }


def _recommended(advice: Recommended) -> Object:
    return {
        "prefetch": advice.prefetch,
        "consumers": advice.consumers,
        "least_consumers": advice.least_consumers,
        "keep": advice.keep,
        "limited_by": advice.limited_by,
        "lower_bound_by": advice.lower_bound_by,
        "busy_share": _number(advice.busy_share),
        "utilisation": _number(advice.utilisation),
        "buffered_time": _number(advice.buffered_time),
        "wait": _number(advice.wait),
        "reason": advice.reason,
        "consumers_reason": advice.consumers_reason,
        "keep_consumers": advice.keep_consumers,
    }


def _consumer(consumer: ConsumerAdvice) -> Object:
    return {
        "tag": consumer.tag,
        "channel": consumer.channel,
        "prefetch": consumer.prefetch,
        "ack": consumer.ack,
        "active": consumer.active,
        "rate": _number(consumer.rate),
        "recommended_prefetch": consumer.recommended_prefetch,
    }


def _finding(finding: Finding) -> Object:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.name.lower(),
        "subject": finding.subject,
        "message": finding.message,
        "help": finding.help,
        "url": finding.url,
    }
