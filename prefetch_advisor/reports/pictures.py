"""Pictures of characters, readable without colour: bars against prefetch, timelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from prefetch_advisor import units
from prefetch_advisor.reports import overview
from prefetch_advisor.reports.escape import isolated
from prefetch_advisor.reports.words import Glyphs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prefetch_advisor.model.advice import Report
    from prefetch_advisor.model.observation import QueueKey
    from prefetch_advisor.pictures import Picture
    from prefetch_advisor.reports.options import ReportOptions
    from prefetch_advisor.reports.timelines import Span

#: cells of a bar, at most
_BAR = 40
#: cells for all that stands beside a bar
_BESIDE = 46
_LEAST = 8
#: of a curve, about as many
_BARS = 9
#: an eighth of a cell more for each
_PARTS = " ▏▎▍▌▋▊▉█"


class Bar(NamedTuple):
    """One prefetch: its busy share, what its last message waits (seconds), and what it is."""

    prefetch: int
    busy_share: float
    buffered_time: float | None
    marks: tuple[str, ...] = ()


def of_advice(
    report: Report, found: Mapping[QueueKey, Picture], options: ReportOptions
) -> Iterator[str]:
    """Bars for each queue whose curve is known, those that matter most first."""
    glyphs = Glyphs(options.unicode, len)
    named = overview.prefix(report.queues)
    for queue in overview.pictured(report.queues):
        curve = found[queue.key].curve
        if not curve:
            continue
        marked = overview.marks(queue)
        wanted = {value for _, value in marked}
        few = [
            Bar(
                point.prefetch,
                point.busy_share,
                point.buffered_time,
                tuple(kind for kind, value in marked if value == point.prefetch),
            )
            for place, point in enumerate(curve)
            if point.prefetch in wanted or place % max(1, len(curve) // _BARS) == 0
        ]
        yield ""
        name = isolated(glyphs.queue(queue, named))
        yield f"{name}: busy share by prefetch, and how long the last prefetched message waits"
        yield from bars(few, options.width, options.unicode)


def bars(values: Sequence[Bar], width: int, unicode: bool) -> Iterator[str]:
    """A line for each prefetch: "19 ████████▌ 96.4 %, 12 ms buffered  rule"."""
    cells = max(_LEAST, min(_BAR, width - _BESIDE))
    figures = max(len(_prefetch(bar)) for bar in values)
    for bar in values:
        buffered = ""
        if bar.buffered_time is not None:
            buffered = f", {units.duration(bar.buffered_time)} buffered"
        drawn = _bar(bar.busy_share, cells, unicode)
        marks = f"  <- {', '.join(bar.marks)}" if bar.marks else ""
        share = units.percent(bar.busy_share)
        yield f"{_prefetch(bar):>{figures}} {drawn} {share}{buffered}{marks}"


def _prefetch(bar: Bar) -> str:
    return f"{bar.prefetch:,}" if bar.prefetch else "no limit"


def _bar(share: float, cells: int, unicode: bool) -> str:
    share = min(1.0, max(0.0, share))
    if not unicode:
        return f"|{'#' * int(share * cells):<{cells}}|"
    full, part = divmod(round(share * cells * 8), 8)
    return f"▕{('█' * full + (_PARTS[part] if part else '')):<{cells}}▏"


def timeline(
    rows: Sequence[tuple[str, Sequence[Span]]], end: float, width: int, unicode: bool
) -> Iterator[str]:
    """A line for each consumer over the same time; what a cell shows it does for most of it."""
    cells = max(_LEAST, min(72, width - max(len(name) for name, _ in rows) - 14))
    glyph = {"busy": "█", "wait": "░", "idle": "·"} if unicode else {}
    glyph = glyph or {"busy": "#", "wait": "-", "idle": "."}
    for name, spans in rows:
        drawn = "".join(glyph[kind] for kind in _cells(spans, end, cells))
        yield f"{name} {drawn}"
    legend = f"{glyph['busy']} busy, {glyph['wait']} waits for a delivery, {glyph['idle']} idle"
    yield f"{legend}; {units.duration(end)} in all"


def _cells(spans: Sequence[Span], end: float, cells: int) -> Iterator[str]:
    for cell in range(cells):
        start, stop = cell * end / cells, (cell + 1) * end / cells
        time = {"busy": 0.0, "wait": 0.0, "idle": 0.0}
        for span in spans:
            time[span.kind] += max(0.0, min(stop, span.end) - max(start, span.start))
        yield max(time, key=lambda kind: time[kind])
