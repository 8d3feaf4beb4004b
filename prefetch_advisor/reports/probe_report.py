"""A probe for people, and as JSON: schema ``prefetch-advisor/probe/1``."""

from __future__ import annotations

import json as json_
import textwrap
from math import isfinite
from typing import TYPE_CHECKING, Any

from prefetch_advisor import __version__, units
from prefetch_advisor.reports.escape import legible, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prefetch_advisor.model.timing import Distribution
    from prefetch_advisor.probe import ProbeResult
    from prefetch_advisor.reports.options import ReportOptions

SCHEMA = "prefetch-advisor/probe/1"
_COLUMNS = ("mean", "min", "p50", "p95", "p99", "max")
_LABEL = 12


def table(result: ProbeResult, options: ReportOptions) -> str:
    """What was measured where, the distributions, and what to do with them."""
    return "".join(line.rstrip() + "\n" for line in _lines(result, options))


def _lines(result: ProbeResult, options: ReportOptions) -> Iterator[str]:
    def wrapped(text: str, label: str = "", indent: int = 0) -> list[str]:
        return textwrap.wrap(
            text,
            max(options.width, indent + 20),
            initial_indent=label.ljust(indent),
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
        )

    yield from wrapped(_where(result, ascii_only=not options.unicode))
    yield ""
    yield from _grid(result)
    yield ""
    yield from wrapped(
        "R, what the prefetch has to cover: from an ack leaving until the delivery that it allowed "
        f"arrives; {units.plural(result.rtt.count, 'cycle')} in {units.duration(result.elapsed)} "
        f"with prefetch 1; the first {result.warm_up:,} left out.",
        "round trip",
        _LABEL,
    )
    yield from wrapped(
        f"a synchronous method (basic.qos), {units.plural(result.sync.count, 'call')}: the "
        "network, the broker, and the client's whole work on it, but no queue.",
        "sync call",
        _LABEL,
    )
    yield from wrapped(_client(result), "client", _LABEL)
    yield ""
    # as the option reads it, without a thousands separator
    given = f"{float(f'{result.rtt.mean * 1000:.3g}'):g}ms"
    yield f"Use it: prefetch-advisor advise --queue NAME --rtt {given}"


def _where(result: ProbeResult, ascii_only: bool) -> str:
    product = legible(result.product or "Broker", ascii_only)
    version = f" {legible(result.version, ascii_only)}" if result.version else ""
    host = f"[{result.host}]" if ":" in result.host else result.host
    tls = " with TLS" if result.tls else ""
    return (
        f"{product}{version} at {legible(host, ascii_only)}:{result.port}{tls}, vhost "
        f"{visible(result.vhost, ascii_only)}; {result.queue_type} queue, messages of "
        f"{units.size(result.message_size)}; measured from "
        f"{legible(result.measured_from, ascii_only)}."
    )


def _grid(result: ProbeResult) -> Iterator[str]:
    rows = [["", *_COLUMNS, "CV"]]
    for name, figures in (("round trip", result.rtt), ("sync call", result.sync)):
        values = (
            figures.mean,
            figures.minimum,
            figures.p50,
            figures.p95,
            figures.p99,
            figures.maximum,
        )
        rows.append([name, *map(units.duration, values), units.number(figures.cv, 2)])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(_LABEL)]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join([cells[0] + cells[1], *cells[2:]])


def _client(result: ProbeResult) -> str:
    if result.client_cost is None:
        return "its own cost for each message is not known: too few could be drained in time."
    return (
        f"{units.duration(result.client_cost)} of its own CPU time for each message, with a "
        f"handler that only acks ({units.plural(result.drained, 'message')} at hand); it belongs "
        "to the processing time."
    )


def json(result: ProbeResult, generated_at: str) -> str:
    """Seconds; unknown is null; the samples are for replay."""
    document = {
        "schema": SCHEMA,
        "tool": f"prefetch-advisor {__version__}",
        "generated_at": generated_at or None,
        "broker": {
            "host": result.host,
            "port": result.port,
            "vhost": result.vhost,
            "tls": result.tls,
            "product": result.product,
            "version": result.version,
        },
        "measured_from": result.measured_from,
        "queue_type": result.queue_type,
        "message_size": result.message_size,
        "rtt": {"source": "measured", **_distribution(result.rtt)},
        "sync": {"source": "measured", **_distribution(result.sync)},
        "client_cost": {
            "source": None if result.client_cost is None else "measured",
            "mean": _number(result.client_cost),
            "messages": result.drained,
        },
        "warm_up": result.warm_up,
        "elapsed": _number(result.elapsed),
        "interrupted": result.interrupted,
        "notes": result.notes,
        "rtt_samples": [_number(float(value)) for value in result.samples],
    }
    return json_.dumps(document, separators=(",", ":"), allow_nan=False) + "\n"


def _distribution(figures: Distribution) -> dict[str, Any]:
    return {
        "count": figures.count,
        "mean": _number(figures.mean),
        "cv": _number(figures.cv),
        "min": _number(figures.minimum),
        "p50": _number(figures.p50),
        "p95": _number(figures.p95),
        "p99": _number(figures.p99),
        "max": _number(figures.maximum),
    }


def _number(value: float | None) -> float | None:
    """Six significant digits; what is not finite is unknown."""
    return float(f"{value:.6g}") if value is not None and isfinite(value) else None
