"""A row for each queue, for a spreadsheet: numbers as numbers, nothing that it would compute.

Times are in seconds, rates per second, an unknown figure is an empty cell. Text is shown as the
table shows it, with escapes for what is invisible. A text that begins like a formula is put in
quotes by an apostrophe before it, as spreadsheets have it; numbers are left alone.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING

from prefetch_advisor.reports import overview
from prefetch_advisor.reports.escape import legible

if TYPE_CHECKING:
    from prefetch_advisor.model.advice import QueueAdvice, Report
    from prefetch_advisor.reports.options import ReportOptions

Value = str | int | float | bool | None
_FORMULA = ("=", "+", "-", "@")

#: the columns, in order; new ones are added at the end
COLUMNS: dict[str, Callable[[QueueAdvice], Value]] = {
    "broker": lambda q: q.key.broker,
    "vhost": lambda q: q.key.vhost,
    "queue": lambda q: q.key.name,
    "type": lambda q: q.type,
    "verdict": lambda q: q.verdict.value,
    "confidence": lambda q: q.confidence,
    "reason": lambda q: q.verdict_reason,
    "ready": lambda q: q.observed.ready,
    "unacked": lambda q: q.observed.unacked,
    "limit": lambda q: q.limit.value if q.limit else None,
    "limit_kind": lambda q: q.limit.kind if q.limit else None,
    "prefetch": lambda q: q.current.prefetch,
    "recommended_prefetch": lambda q: q.recommended.prefetch,
    "keep_prefetch": lambda q: q.recommended.keep,
    "prefetch_reason": lambda q: q.recommended.reason,
    "consumers": lambda q: q.current.consumers,
    "recommended_consumers": lambda q: q.recommended.consumers,
    "least_consumers": lambda q: q.recommended.least_consumers,
    "consumers_reason": lambda q: q.recommended.consumers_reason,
    "busy_share": lambda q: q.current.busy_share,
    "recommended_busy_share": lambda q: q.recommended.busy_share,
    "utilisation": lambda q: q.current.utilisation,
    "recommended_utilisation": lambda q: q.recommended.utilisation,
    "buffered_time_s": lambda q: q.current.buffered_time,
    "recommended_buffered_time_s": lambda q: q.recommended.buffered_time,
    "wait_s": lambda q: q.recommended.wait,
    "processing_time_s": lambda q: q.processing_time.mean if q.processing_time else None,
    "processing_time_source": lambda q: q.processing_time.source if q.processing_time else None,
    "rtt_s": lambda q: q.rtt.mean if q.rtt else None,
    "rtt_source": lambda q: q.rtt.source if q.rtt else None,
    "rtt_covered_s": lambda q: q.current.rtt_covered,
    "concurrency": lambda q: q.concurrency.value,
    "arrival_rate": lambda q: q.arrival_rate.value if q.arrival_rate else None,
    "ack_rate": lambda q: q.observed.ack_rate,
    "publish_rate": lambda q: q.observed.publish_rate,
    "offered_load": lambda q: q.offered_load,
    "drain_time_s": lambda q: q.drain_time,
    "rule_prefetch": lambda q: q.rule.prefetch if q.rule else None,
    "fed_prefetch": lambda q: q.fed.prefetch if q.fed else None,
    "findings": lambda q: " ".join(f"{f.code}:{f.severity.name.lower()}" for f in q.findings),
}


def render(report: Report, options: ReportOptions) -> str:
    """Every queue, those that matter most first."""
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for queue in overview.ordered(report.queues):
        rows.writerow([_cell(value(queue)) for value in COLUMNS.values()])
    return text.getvalue()


def _cell(value: Value) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        shown = legible(value)
        return f"'{shown}" if shown.startswith(_FORMULA) else shown
    if isinstance(value, float):
        return float(f"{value:.6g}") if isfinite(value) else ""
    return value
