"""A bench for people, as JSON (schema ``prefetch-advisor/bench/1``), and as CSV."""

from __future__ import annotations

import csv as csv_
import io
import json as json_
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from prefetch_advisor import __version__, units
from prefetch_advisor.reports.escape import legible
from prefetch_advisor.reports.layout import Cell, Column, Grid, fit, laid_out
from prefetch_advisor.sizing import Sizing

if TYPE_CHECKING:
    from prefetch_advisor.bench import BenchPoint, BenchResult
    from prefetch_advisor.reports.options import ReportOptions

SCHEMA = "prefetch-advisor/bench/1"
_LABEL = 11
#: cells of the best in the picture, and the least that leaves
_BAR, _LEAST_BAR = 40, 10
_STYLES = {
    "blocking": "one handler at a time, each message acked as it is done",
    "threads": "{workers} threads, each message acked as it is done",
    "async": "every delivery is started as it comes",
    "loop": "handlers block the loop: acks leave when all at hand are handled",
}


def table(result: BenchResult, options: ReportOptions, generated_at: str) -> str:
    """A line for each prefetch, what was measured beside what is predicted, and the advice."""
    lines = (legible(line, not options.unicode).rstrip() for line in _lines(result, options))
    return "".join(f"{line}\n" for line in lines)


def _lines(result: BenchResult, options: ReportOptions) -> Iterator[str]:
    plan, probe, advice = result.plan, result.probe, result.advice
    width = options.width
    product = f"{probe.product or 'broker'} {probe.version or ''}".strip()
    yield from _wrapped(
        f"{product} at {plan.probe.uri.place}, {plan.probe.queue_type} queue, messages of"
        f" {units.size(plan.probe.message_size)}",
        "broker",
        width,
    )
    style = _STYLES[plan.style].format(workers=plan.workers)
    batch = f"; acks for {plan.batch} together" if plan.batch > 1 else ""
    yield from _wrapped(f"{style}{batch}", "client", width)
    cost = ""
    if probe.client_cost and plan.style == "loop":
        cost = f", and {units.duration(probe.client_cost)} of the client between two handlers"
    yield from _wrapped(
        f"{units.duration(result.work.mean)} in the handler, CV {result.work.cv:.2g}"
        f" ({result.work.origin}; asked for: {plan.work.origin}){cost}",
        "a message",
        width,
    )
    yield from _wrapped(
        f"{units.duration(probe.rtt.mean)} (probe, {probe.rtt.count:,} cycles)", "round trip", width
    )
    yield ""
    grid = Grid(_COLUMNS, tuple(tuple(map(Cell, _cells(p, result))) for p in result.points))
    fitted = fit(grid, width, len)
    for line in laid_out(grid, fitted, "..", len):
        yield "".join(cell.text for cell in line)
    yield ""
    yield from _picture(result, options)
    named = f"{advice.prefetch:,}: {advice.reason}" if isinstance(advice, Sizing) else advice.reason
    yield from _wrapped(named, "advised", width)
    if result.best is not None:
        best = result.best.measured
        yield from _wrapped(
            f"{units.rate(best.throughput)} at prefetch {best.prefetch:,};"
            " * the advised one, + the best",
            "best",
            width,
        )


def _picture(result: BenchResult, options: ReportOptions) -> Iterator[str]:
    """A bar for what was measured at each prefetch, and where the prediction lies."""
    top = max((rate for point in result.points for rate in _rates(point)), default=0.0)
    labels = [_cells(point, result)[0] for point in result.points]
    longest = max(map(len, labels), default=0)
    size = min(_BAR, options.width - longest - 6)
    if size < _LEAST_BAR or not top:
        return
    full, sign = ("█", "│") if options.unicode else ("#", "|")
    for label, point in zip(labels, result.points, strict=True):
        cells = [full] * max(1, round(size * point.measured.throughput / top))
        cells += [" "] * (size + 1 - len(cells))
        if point.predicted is not None:
            cells[min(size, round(size * point.predicted / top))] = sign
        yield f"{label.rjust(longest)}  {''.join(cells).rstrip()} {_mark(point, result)}".rstrip()
    yield f"{' ' * longest}  {full} measured, {sign} predicted"
    yield ""


def _rates(point: BenchPoint) -> Iterator[float]:
    yield point.measured.throughput
    if point.predicted is not None:
        yield point.predicted


def _wrapped(text: str, label: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, _LABEL + 30),
        initial_indent=label.ljust(_LABEL),
        subsequent_indent=" " * _LABEL,
        break_on_hyphens=False,
        break_long_words=False,
    )


_COLUMNS = (
    Column("prefetch", right=True),
    Column(""),
    Column("measured", right=True),
    Column("predicted", right=True),
    Column("off", right=True),
    Column("of the best", right=True),
    Column("busy", right=True, leaves=2),
    Column("buffered", right=True, leaves=1),
    Column("messages", right=True, leaves=3),
)


def _cells(point: BenchPoint, result: BenchResult) -> list[str]:
    measured, predicted = point.measured, point.predicted
    best = result.best
    off = "-" if not predicted else f"{measured.throughput / predicted - 1:+.1%}"
    of_best = measured.throughput / best.measured.throughput if best else None
    return [
        f"{measured.prefetch:,}" if measured.prefetch else "no limit",
        _mark(point, result),
        units.rate(measured.throughput),
        "-" if predicted is None else units.rate(predicted),
        off,
        "-" if of_best is None else units.percent(of_best),
        "-" if result.plan.style == "async" else units.percent(_busy(point, result)),
        units.duration(point.buffered_time) if measured.prefetch else "-",
        f"{measured.messages:,}",
    ]


def _mark(point: BenchPoint, result: BenchResult) -> str:
    advice = result.advice
    advised = isinstance(advice, Sizing) and advice.prefetch == point.measured.prefetch
    return "*" * advised + "+" * (point is result.best)


def _busy(point: BenchPoint, result: BenchResult) -> float:
    return point.measured.worked / point.measured.elapsed / result.plan.handling.workers


def json(result: BenchResult, options: ReportOptions, generated_at: str) -> str:
    """The document; times in seconds, rates per second, unknown is null."""
    plan, probe, advice = result.plan, result.probe, result.advice
    sized = advice if isinstance(advice, Sizing) else None
    document = {
        "schema": SCHEMA,
        "tool": f"prefetch-advisor {__version__}",
        "generated_at": generated_at,
        "broker": {"product": probe.product, "version": probe.version},
        "queue_type": plan.probe.queue_type,
        "message_size": plan.probe.message_size,
        "style": plan.style,
        "workers": plan.handling.workers,
        "batch": plan.batch,
        "processing_time": {"mean": result.work.mean, "cv": result.work.cv},
        "rtt": probe.rtt.mean,
        "client_cost": probe.client_cost,
        "seed": plan.seed,
        "recommended": {
            "prefetch": None if sized is None else sized.prefetch,
            "rule": None if sized is None or sized.rule is None else sized.rule.prefetch,
            "reason": advice.reason,
        },
        "best": None if result.best is None else result.best.measured.prefetch,
        "points": [_object(point, result) for point in result.points],
        "notes": list(result.notes),
        "interrupted": result.interrupted,
    }
    return json_.dumps(document, indent=2, ensure_ascii=not options.unicode) + "\n"


def _object(point: BenchPoint, result: BenchResult) -> dict[str, Any]:
    measured = point.measured
    return {
        "prefetch": measured.prefetch,
        "throughput": measured.throughput,
        "predicted": point.predicted,
        "busy_share": None if result.plan.style == "async" else _busy(point, result),
        "buffered_time": point.buffered_time if measured.prefetch else None,
        "messages": measured.messages,
        "elapsed": measured.elapsed,
        "handler_time": measured.worked / measured.messages,
        "cut": measured.cut,
    }


def csv(result: BenchResult, options: ReportOptions, generated_at: str) -> str:
    """A row for each prefetch; numbers only."""
    text = io.StringIO(newline="")
    rows = [_object(point, result) for point in result.points]
    writer = csv_.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


FORMATS: dict[str, Callable[[BenchResult, ReportOptions, str], str]] = {
    "table": table,
    "json": json,
    "csv": csv,
}
