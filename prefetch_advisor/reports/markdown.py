"""The report for a comment on a pull request: a summary, a table, and the reasoning folded away.

Every text of a broker or a file is escaped by character references, which Markdown takes for text
wherever it takes text: it is no link, no mention, no HTML and no cell of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from prefetch_advisor.reports import clients, detail, overview
from prefetch_advisor.reports.escape import isolated
from prefetch_advisor.reports.words import Glyphs

if TYPE_CHECKING:
    from prefetch_advisor.model.advice import QueueAdvice, Report
    from prefetch_advisor.reports.layout import Entry
    from prefetch_advisor.reports.options import ReportOptions

#: characters that may begin markup, and those that make an address of a text
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#+!|~@&$\"']|:(?=//)|(?<=www)\.|^[-=]", re.IGNORECASE)
_LISTED = re.compile(r"^(\d+)([.)])")
_COLUMNS = 7


def render(report: Report, options: ReportOptions) -> str:
    """As the table, with the details of every queue shown."""
    return "\n".join(_lines(report, options)) + "\n"


def _lines(report: Report, options: ReportOptions) -> Iterator[str]:
    glyphs = Glyphs(options.unicode, len)
    queues = overview.ordered(report.queues)
    named = overview.prefix(queues)
    shown = queues if options.all_queues else queues[: options.at_most]
    yield f"### prefetch-advisor: {escaped(overview.totals(report))}"
    yield ""
    for cell in overview.heading(report, glyphs):
        yield f"{escaped(cell.text)}  "
    if shown:
        grid = overview.grid(shown, named, glyphs)
        columns = grid.columns[:_COLUMNS]
        yield ""
        yield "| " + " | ".join(column.title for column in columns) + " |"
        yield "|" + "|".join(" ---: " if column.right else " --- " for column in columns) + "|"
        for row in grid.rows:
            cells = [escaped(cell.text) for cell in row[:_COLUMNS]]
            yield f"| {' | '.join([isolated(cells[0]), f'**{cells[1]}**', *cells[2:]])} |"
        yield ""
        yield escaped(overview.legend(glyphs).partition("; -")[0]) + "."
    for cell in overview.left_out(queues, len(shown)):
        yield ""
        yield escaped(cell.text)
    found = overview.findings(report, queues, named, glyphs)
    if found:
        yield ""
        for entry in found:
            yield f"- **{entry.label} {escaped(entry.head)}**{escaped(entry.text)}"
    for queue in shown:
        yield from _details(queue, named, glyphs, options)


def _details(
    queue: QueueAdvice, named: tuple[bool, bool], glyphs: Glyphs, options: ReportOptions
) -> Iterator[str]:
    name = escaped(glyphs.queue(queue, named))
    yield ""
    yield f"<details><summary>{isolated(name)}: {queue.verdict}</summary>"
    yield ""
    yield from _items(detail.entries(queue, glyphs))
    if options.client is not None:
        pasted = clients.paste(queue, options.client)
        yield ""
        yield from (f"{escaped(note)}  " for note in pasted.notes)
        if pasted.lines:
            yield ""
            # no line of them can hold a fence: names in them are quoted
            yield "```text"
            yield from pasted.lines
            yield "```"
    yield ""
    yield "</details>"


def _items(entries: Iterable[Entry]) -> Iterator[str]:
    """An item for each label; what follows without one is a line of the same item."""
    lines: list[str] = []
    for entry in entries:
        text = escaped(entry.text) if entry.wrap else f"{entry.head}{entry.text}"
        if entry.head and entry.wrap:
            text = f"**{escaped(entry.head)}**{text}"
        if entry.label and lines:
            yield "<br>".join(lines)
            lines = []
        lines.append(f"- {entry.label}: {text}" if entry.label else text)
    if lines:
        yield "<br>".join(lines)


def escaped(text: str) -> str:
    """Text as Markdown shows it, character for character."""
    marked = _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", text)
    return _LISTED.sub(lambda found: f"{found[1]}&#{ord(found[2])};", marked)
