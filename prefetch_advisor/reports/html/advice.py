"""The page of an advice: a row for every queue, pictures for those that matter most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from prefetch_advisor import __version__, units
from prefetch_advisor.reports import clients, detail, overview, words
from prefetch_advisor.reports.html.drawing import Line, Mark, curves, levels
from prefetch_advisor.reports.html.elements import element, extended, page
from prefetch_advisor.reports.html.style import STYLE
from prefetch_advisor.reports.layout import Cell, Column
from prefetch_advisor.reports.words import Glyphs

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from prefetch_advisor.model.advice import QueueAdvice, Report
    from prefetch_advisor.model.observation import QueueKey
    from prefetch_advisor.pictures import CurvePoint, Picture
    from prefetch_advisor.reports.layout import Entry

#: consumers whose shares are drawn
_CONSUMERS = 40
_GLYPHS = Glyphs(unicode=True, measure=len)


def render(report: Report, pictures: Mapping[QueueKey, Picture], client: str | None = None) -> str:
    """One page; ``client`` as in ``--for``."""
    queues = overview.ordered(report.queues)
    named = overview.prefix(queues)
    body: list[Element | str | None] = [
        element("h1", "prefetch-advisor"),
        element("p", overview.totals(report), class_="strong"),
        *(element("p", cell.text, class_=cell.style or None) for cell in _heading(report)),
        _table(queues, named),
        element("p", overview.legend(_GLYPHS), class_="faint"),
    ]
    for number, queue in enumerate(queues[: overview.PICTURED]):
        body.append(_section(number, queue, pictures.get(queue.key), named, client))
    if len(queues) > overview.PICTURED:
        text = (
            f"The other {len(queues) - overview.PICTURED:,} queues have a row in the table above; "
        )
        text += "prefetch-advisor advise --queue NAME --html FILE shows one of them."
        body.append(element("p", text, class_="faint"))
    made = f"Made by prefetch-advisor {__version__}"
    if report.generated_at:
        made += f" on {report.generated_at}"
    body.append(element("p", made, class_="faint"))
    return page("prefetch-advisor: advice", STYLE, body)


def _heading(report: Report) -> Iterator[Cell]:
    yield from overview.heading(report, _GLYPHS)
    for finding in report.findings:
        yield Cell(f"{finding.code} {finding.name}: {finding.message}", "warning")


def _table(queues: Sequence[QueueAdvice], named: tuple[bool, bool]) -> Element:
    grid = overview.grid(queues, named, _GLYPHS)
    head = element("tr")
    for column in grid.columns:
        head.append(element("th", column.title, class_="right" if column.right else None))
    table = element("table", element("thead", head), class_="queues")
    body = element("tbody")
    for number, row in enumerate(grid.rows):
        body.append(_row(number, row, grid.columns))
    table.append(body)
    return element("div", table, class_="scrolls")


def _row(number: int, cells: Sequence[Cell], columns: Sequence[Column]) -> Element:
    row = element("tr")
    for place, (cell, column) in enumerate(zip(cells, columns, strict=True)):
        classes = ["right"] if column.right else ["name" if not place else column.title]
        classes += [cell.style] if cell.style else []
        shown: Element | str = cell.text
        if not place:
            shown = element("bdi", cell.text)
            if number < overview.PICTURED:
                shown = element("a", shown, href=f"#q{number + 1}")
        label = column.title if column.right else None
        row.append(element("td", shown, class_=" ".join(classes), data_label=label))
    return row


def _section(
    number: int,
    queue: QueueAdvice,
    picture: Picture | None,
    named: tuple[bool, bool],
    client: str | None,
) -> Element:
    style = overview.STYLES.get(queue.verdict, "warning")
    made = element(
        "section",
        element("h2", element("bdi", _GLYPHS.queue(queue, named)), id=f"q{number + 1}"),
        element(
            "p",
            element("span", queue.verdict, class_=f"strong {style}"),
            f": {words.VERDICTS[queue.verdict]}",
        ),
    )
    drawn = [*_drawn(queue, picture)]
    if drawn:
        made.append(element("div", *drawn, class_="pictures"))
    # the verdict stands above, its reason and all else here
    made.append(_entries(islice(detail.entries(queue, _GLYPHS), 2, None)))
    if client is not None:
        made.append(_pasted(queue, client))
    return made


def _drawn(queue: QueueAdvice, picture: Picture | None) -> Iterator[Element]:
    if picture is not None and picture.curve:
        title = "What a prefetch does to one consumer while messages wait: the share of its time"
        title += " that it is busy, and how long the last prefetched message waits in it"
        title += "; now: no limit" if queue.current.prefetch == 0 else ""
        yield _figure(title, curve_of(picture.curve, _marks(queue, picture.curve)))
    if picture is not None and picture.levels:
        start = [(s.at or 0.0, s.unacked) for s in picture.levels]
        known = [(at, unacked) for at, unacked in start if unacked is not None]
        if any(unacked for _, unacked in known):
            limit = queue.limit.value if queue.limit else None
            yield _figure("How full its consumers were", levels(known, limit))
    shares = _shares(queue)
    if shares is not None:
        yield shares


def curve_of(points: Sequence[CurvePoint], marks: Sequence[Mark]) -> Element:
    """Busy share and buffered time over one axis."""
    lines = [
        Line(
            "busy share",
            [(point.prefetch, point.busy_share) for point in points],
            lambda value: f"{value:.0%}",
            1.0,
        ),
        Line(
            "buffered time",
            [(point.prefetch, point.buffered_time) for point in points],
            units.duration,
            None,
            "other",
        ),
    ]
    said = ", ".join(f"{mark.kind} {mark.prefetch}" for mark in marks)
    return curves(lines, marks, f"busy share and buffered time against prefetch: {said}")


def _marks(queue: QueueAdvice, points: Sequence[CurvePoint]) -> list[Mark]:
    most = points[-1].prefetch
    return [Mark(kind, value) for kind, value in overview.marks(queue) if value <= most]


def _figure(caption: str, drawn: Element) -> Element:
    return element("figure", element("figcaption", caption), drawn)


def _shares(queue: QueueAdvice) -> Element | None:
    """What each consumer gets of the work, where channels tell."""
    rates = [(one, one.rate) for one in queue.consumers if one.rate is not None]
    total = sum(rate for _, rate in rates)
    if len(rates) < 2 or total <= 0:
        return None
    table = element("table")
    for one, rate in rates[:_CONSUMERS]:
        share = rate / total
        bar = element(
            "svg",
            element("rect", class_="idle", width=100.0, height=10.0),
            element("rect", class_="busy", width=round(100 * share, 1), height=10.0),
            viewBox="0 0 100 10",
            preserveAspectRatio="none",
            style="height:.7rem;min-width:5rem",
        )
        table.append(
            element(
                "tr",
                element("td", element("bdi", _GLYPHS.name(one.tag)), class_="name"),
                element("td", f"{units.rate(rate)}, {units.percent(share)}", class_="right"),
                element("td", bar),
            )
        )
    more = len(rates) - _CONSUMERS
    tail = element("p", f"and {more:,} more", class_="faint") if more > 0 else None
    caption = element("figcaption", "What each consumer does of the work")
    return element("figure", caption, table, tail)


def _entries(entries: Iterable[Entry]) -> Element:
    """Labels and what they say; lines without a label belong to the one before."""
    made = element("dl")
    for entry in entries:
        if entry.label or not len(made):
            made.append(element("dt", entry.label))
            made.append(element("dd"))
        if not entry.wrap:
            link = element("a", entry.text, href=entry.text, rel="noreferrer")
            made[-1].append(element("p", entry.head, link))
            continue
        head = element("span", entry.head, class_=entry.style or None) if entry.head else None
        made[-1].append(element("p", head, entry.text))
    return made


def _pasted(queue: QueueAdvice, client: str) -> Element:
    pasted = clients.paste(queue, client)
    made = element("details", element("summary", f"Lines for {client}"))
    extended(made, [element("p", note, class_="faint") for note in pasted.notes])
    if pasted.lines:
        # a line end would be shown as an escape
        code = element("pre")
        for line in pasted.lines:
            extended(code, [element("code", line), element("br")])
        made.append(code)
    return made
