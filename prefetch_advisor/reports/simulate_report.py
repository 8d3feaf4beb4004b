"""A simulation as JSON (schema ``prefetch-advisor/simulation/1``), as CSV, and for people."""

from __future__ import annotations

import csv as csv_
import io
import json as json_
from collections.abc import Callable
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

from prefetch_advisor import __version__
from prefetch_advisor.reports.simulate_table import table
from prefetch_advisor.sizing import Sizing

if TYPE_CHECKING:
    from prefetch_advisor.reports.options import ReportOptions
    from prefetch_advisor.simulate import Row, Simulation

SCHEMA = "prefetch-advisor/simulation/1"


def json(simulation: Simulation, options: ReportOptions, generated_at: str) -> str:
    """The document; times in seconds, rates per second, unknown is null."""
    plan, advice = simulation.plan, simulation.advice
    sized = advice if isinstance(advice, Sizing) else None
    document = {
        "schema": SCHEMA,
        "tool": f"prefetch-advisor {__version__}",
        "generated_at": generated_at,
        "seed": plan.seed,
        "work": {
            "origin": plan.work.origin,
            "mean": plan.work.mean,
            "cv": plan.work.cv,
            "messages": len(plan.work.values) or None,
        },
        "arrival_rate": None if plan.arrivals is None else plan.arrivals.rate,
        "rtt": None if plan.consumers.rtt is None else plan.consumers.rtt.mean,
        "concurrency": {
            "kind": plan.consumers.handling.kind,
            "value": plan.consumers.handling.workers,
        },
        "batch": plan.consumers.handling.batch,
        "recommended": {
            "prefetch": None if sized is None else sized.prefetch,
            "busy_share": None if sized is None else sized.busy_share,
            "reason": advice.reason,
        },
        "settings": [_object(row, simulation) for row in simulation.rows],
    }
    return json_.dumps(_finite(document), indent=2, ensure_ascii=not options.unicode) + "\n"


def _object(row: Row, simulation: Simulation) -> dict[str, Any]:
    dealt, size = row.dealt, simulation.plan.message_bytes
    grows = row.growth > 0
    return {
        "prefetch": row.setting.prefetch,
        "consumers": row.setting.consumers,
        "recommended": row.advised,
        "throughput": dealt.throughput,
        "capacity": row.capacity,
        "busy_share": dealt.steady,
        "makespan": dealt.makespan,
        "growth": row.growth,
        "wait": None if grows else asdict(dealt.waits),
        "queue_wait": None if grows else asdict(dealt.queue_waits),
        "buffer_wait": asdict(dealt.buffer_waits),
        "shutdown": asdict(dealt.held),
        "skew": row.skew,
        "unacked": {
            "mean": dealt.mean_unacked,
            "max": dealt.most_unacked,
            "max_bytes": None if size is None else dealt.most_unacked * size,
        },
        "redelivered": dealt.redelivered,
        "messages": dealt.messages,
        "done": dealt.done,
        "per_consumer": [asdict(share) for share in dealt.consumers],
    }


def _finite(value: Any) -> Any:
    """JSON knows no infinity: such a figure is not known."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def csv(simulation: Simulation, options: ReportOptions, generated_at: str) -> str:
    """A row for each setting; numbers only."""
    text = io.StringIO(newline="")
    rows = [_flat(_finite(_object(row, simulation))) for row in simulation.rows]
    writer = csv_.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(found: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    empty = ("wait", "queue_wait")
    for key, value in found.items():
        if key == "per_consumer":
            continue
        if isinstance(value, dict):
            inner = {f"{key}_{name}": part for name, part in value.items() if name != "ci95"}
            flat.update(inner)
        elif key in empty:
            flat.update({f"{key}_{name}": None for name in ("mean", "p50", "p95", "p99", "max")})
        else:
            flat[key] = str(value).lower() if isinstance(value, bool) else value
    return flat


FORMATS: dict[str, Callable[[Simulation, ReportOptions, str], str]] = {
    "table": table,
    "json": json,
    "csv": csv,
}
