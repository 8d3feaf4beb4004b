"""The page of a simulation: what was simulated, the table, curves, and who did what when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from prefetch_advisor import __version__, units
from prefetch_advisor.reports import simulate_table
from prefetch_advisor.reports.html.drawing import Line, Mark, curves, timeline
from prefetch_advisor.reports.html.elements import element, page
from prefetch_advisor.reports.html.style import STYLE
from prefetch_advisor.reports.timelines import spans
from prefetch_advisor.sizing import Sizing

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from prefetch_advisor.simulate import Row, Simulation

#: settings whose timelines are drawn, and consumers of each
_TIMELINES, _CONSUMERS = 8, 12


def render(simulation: Simulation, generated_at: str) -> str:
    """One page."""
    body: list[Element | str | None] = [
        element("h1", "prefetch-advisor: a simulation"),
        element("dl", *_what(simulation)),
        element("section", element("h2", "Every setting"), _table(simulation)),
        *_curves(simulation),
        *_timelines(simulation),
        element("p", f"Made by prefetch-advisor {__version__} on {generated_at}", class_="faint"),
    ]
    return page("prefetch-advisor: simulation", STYLE, body)


def _what(simulation: Simulation) -> Iterator[Element]:
    advised = ("advised", simulate_table.advised(simulation))
    for label, text in (*simulate_table.told(simulation), advised):
        yield element("dt", label)
        yield element("dd", element("p", text))


def _table(simulation: Simulation) -> Element:
    grid = simulate_table.grid_of(simulation)
    head = element(
        "tr", *(element("th", c.title, class_="right" if c.right else None) for c in grid.columns)
    )
    rows = [
        element(
            "tr",
            *(
                element("td", cell.text, class_="right" if column.right else None)
                for cell, column in zip(row, grid.columns, strict=True)
            ),
            class_="strong" if simulated.advised else None,
        )
        for row, simulated in zip(grid.rows, simulation.rows, strict=True)
    ]
    table = element("table", element("thead", head), element("tbody", *rows))
    return element("div", table, class_="scrolls")


def _curves(simulation: Simulation) -> Iterator[Element]:
    """For each count of consumers of which several finite values were simulated."""
    drawn = []
    for count, group in groupby(simulation.rows, lambda row: row.setting.consumers):
        rows = sorted((r for r in group if r.setting.prefetch), key=lambda r: r.setting.prefetch)
        if len(rows) < 3:
            continue
        least, most = rows[0].setting.prefetch, rows[-1].setting.prefetch
        marks = [mark for mark in _marks(simulation) if least <= mark.prefetch <= most]
        caption = element("figcaption", units.plural(count, "consumer"))
        drawn.append(element("figure", caption, curves(_lines(rows), marks, "against prefetch")))
    if drawn:
        pictures = element("div", *drawn, class_="pictures")
        yield element("section", element("h2", "Against prefetch"), pictures)


def _marks(simulation: Simulation) -> list[Mark]:
    advice = simulation.advice
    if not isinstance(advice, Sizing):
        return []
    rule = [Mark("rule", advice.rule.prefetch)] if advice.rule is not None else []
    return [Mark("advised", advice.prefetch), *rule]


def _lines(rows: Sequence[Row]) -> list[Line]:
    at = [row.setting.prefetch for row in rows]
    return [
        Line(
            "busy share",
            list(zip(at, (row.dealt.steady for row in rows), strict=True)),
            lambda value: f"{value:.0%}",
            1.0,
        ),
        Line(
            "buffered time",
            list(zip(at, (row.dealt.buffer_waits.mean for row in rows), strict=True)),
            units.duration,
            None,
            "other",
        ),
    ]


def _timelines(simulation: Simulation) -> Iterator[Element]:
    rows = [row for row in simulation.rows if row.steps][:_TIMELINES]
    if not rows:
        return
    made = element("section", element("h2", "Who did what when"))
    text = "High: busy. Half as high: waiting for a delivery. A line: nothing to do."
    made.append(element("p", text, class_="faint"))
    backlog = simulation.plan.arrivals is None
    end = max(row.dealt.makespan for row in rows)
    for row in rows:
        prefetch = f"{row.setting.prefetch:,}" if row.setting.prefetch else "without limit"
        title = f"prefetch {prefetch}: done after {units.duration(row.dealt.makespan)}"
        shown = min(row.setting.consumers, _CONSUMERS)
        lanes = [
            (simulate_table.letter(n), spans(row.steps, n, end, backlog)) for n in range(shown)
        ]
        made.append(element("figure", element("figcaption", title), timeline(lanes, end)))
    yield made
