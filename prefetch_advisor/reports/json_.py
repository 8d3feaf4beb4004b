"""The advice as JSON: schema ``prefetch-advisor/advice/1``; fields are added, never changed.

Seconds and per second; unknown is null; a number that is not finite is unknown. Text is ASCII:
a byte of a name that was not UTF-8 is the escape of its lone surrogate (``\\udcff`` for 0xff).
"""

from __future__ import annotations

import codecs
import json
from collections import Counter
from dataclasses import fields, is_dataclass
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from prefetch_advisor import __version__
from prefetch_advisor.model.advice import (
    Finding,
    Limit,
    QueueAdvice,
    Report,
    Severity,
)
from prefetch_advisor.reports import clients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prefetch_advisor.model.figures import Concurrency, Figure, ProcessingTime, RoundTrip
    from prefetch_advisor.reports.options import ReportOptions

SCHEMA = "prefetch-advisor/advice/1"

Object = dict[str, Any]


class Rows(NamedTuple):
    """Some queues of a report: their lines, and what the summary says of them."""

    lines: str
    queues: int
    severities: Counter[Severity]


def rows(queues: Sequence[QueueAdvice], client: str | None = None) -> Rows:
    """Queues as a report has them, to be put together by :func:`assemble`."""
    severities = Counter(finding.severity for queue in queues for finding in queue.findings)
    return Rows(
        ",\n".join(_text(_queue(queue, client)) for queue in queues), len(queues), severities
    )


def render(report: Report, options: ReportOptions) -> str:
    """One line for each queue, so that reports of many queues can be compared and searched."""
    return assemble(report, [rows(report.queues, options.client)])


def assemble(report: Report, parts: Sequence[Rows]) -> str:
    """A report of the queues in ``parts``; those of ``report`` itself are not looked at."""
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
    text = ["{\n"]
    for name, value in head.items():
        text += (_text(name), ": ", _text(value), ",\n")
    findings = [_text(_finding(finding)) for finding in report.findings]
    text += ('"queues": ', *_listed([part.lines for part in parts if part.queues]), ",\n")
    text += ('"findings": ', *_listed(findings), ",\n")
    text += ('"summary": ', _text(_summary(report, parts)), "\n}\n")
    return "".join(text)


def _plain(record: object) -> Object:
    """A record as orjson writes it: its fields by name; a number that is not finite is null."""
    if not is_dataclass(record):
        raise TypeError(f"not JSON: {record!r}")
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in values.items()
    }


# nothing built here can hold itself, and every number has been checked
_escaped = json.JSONEncoder(
    allow_nan=False, check_circular=False, separators=(",", ":"), default=_plain
).encode


def _text(value: object) -> str:
    """Compact JSON; what is not printable ASCII, and names that are not UTF-8, as escapes."""
    try:
        quick = orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return _escaped(value)
    if not quick.isascii():
        # outside strings there is nothing but ASCII
        quick = quick.encode("ascii", _ESCAPES).decode()
    return quick.replace("\x7f", "\\u007f") if "\x7f" in quick else quick


def _escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return encode_basestring_ascii(error.object[error.start : error.end])[1:-1], error.end


#: as json.dumps escapes what is not ASCII, several times as fast
_ESCAPES = "prefetch_advisor.json"
codecs.register_error(_ESCAPES, _escape)


def _listed(lines: Sequence[str]) -> list[str]:
    """The pieces of a list."""
    if not lines:
        return ["[]"]
    pieces = ["[\n"]
    for line in lines:
        pieces += (line, ",\n")
    pieces[-1] = "\n]"
    return pieces


def _summary(report: Report, parts: Sequence[Rows]) -> Object:
    count = Counter(finding.severity for finding in report.findings)
    for part in parts:
        count.update(part.severities)
    return {
        "queues": sum(part.queues for part in parts),
        "errors": count[Severity.ERROR],
        "warnings": count[Severity.WARNING],
        "infos": count[Severity.INFO],
    }


def _number(value: float | None) -> float | None:
    """Six significant digits, more than any of these figures has; whole numbers as they are."""
    if not value or isinstance(value, int):
        return value if value is None or isinstance(value, int) else 0.0  # never -0.0
    return float("%.6g" % value) if isfinite(value) else None  # noqa: UP031 - faster, and called most


def _queue(queue: QueueAdvice, client: str | None) -> Object:
    found: Object = {
        "broker": queue.key.broker,
        "vhost": queue.key.vhost,
        "queue": queue.key.name,
        "type": queue.type,
        "verdict": queue.verdict,
        "verdict_reason": queue.verdict_reason,
        "confidence": queue.confidence,
        "snapshot": queue.snapshot,
        "missing": queue.missing,
        "observed": queue.observed,
        "limit": _limit(queue.limit),
        "processing_time": _processing(queue.processing_time),
        "rtt": _round_trip(queue.rtt),
        "concurrency": _concurrency(queue.concurrency),
        "arrival_rate": _figure(queue.arrival_rate),
        "offered_load": _number(queue.offered_load),
        "drain_time": _number(queue.drain_time),
        "current": queue.current,
        "rule": queue.rule,
        "fed": queue.fed,
        "recommended": queue.recommended,
        "consumers": queue.consumers,
        "findings": [_finding(finding) for finding in queue.findings],
        "notes": queue.notes,
    }
    if client is not None:
        lines, notes = clients.paste(queue, client)
        found["paste"] = {"client": client, "lines": lines, "notes": notes}
    return found


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
        "client_cost": _figure(time.client_cost),
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


def _concurrency(figure: Concurrency) -> Object:
    """A count, unless it was observed and is a mean; null where the prefetch is the concurrency."""
    value = _number(figure.value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return {
        "source": figure.source,
        "value": value,
        "kind": figure.kind,
        "side": figure.side,
        "origin": figure.origin,
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
