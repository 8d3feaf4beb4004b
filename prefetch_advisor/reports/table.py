"""The report for people: a line for each queue, and the reasoning where it is asked for."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from prefetch_advisor import units
from prefetch_advisor.reports import clients, detail, overview
from prefetch_advisor.reports.escape import isolated
from prefetch_advisor.reports.layout import Cell, Entry, Grid, fit, laid_out
from prefetch_advisor.reports.words import Glyphs

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from prefetch_advisor.model.advice import QueueAdvice, Report
    from prefetch_advisor.reports.options import ReportOptions

_STYLES = {
    "": "",
    "title": "bold",
    "strong": "bold",
    "faint": "dim",
    "error": "bold red",
    "warning": "yellow",
    "info": "cyan",
    "well": "green",
}
_LABEL = 15
#: the space between a number and its unit, where no line ends; private characters are escaped
#: in every text, so that this one is nowhere else
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[mun]?s|min|h|days|[kMGT]?B)(?!\w))")
_GLUE = "\ue000"
#: below it wrapped prose would be a column of single words
_LEAST_WIDTH = 40
#: below it an address does not fit beside anything
_NARROW = 60


def render(report: Report, options: ReportOptions) -> str:
    """Every text of a broker or a file is a rich ``Text``, never markup."""
    console = Console(
        file=io.StringIO(),
        width=max(options.width, _LEAST_WIDTH),
        color_system="standard" if options.colour else None,
        force_terminal=options.colour,
        no_color=not options.colour,
        force_jupyter=False,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        _environ={},  # options alone decide
    )
    lines = list(_Page(console, options).lines(report))
    if not options.colour:
        return "".join(f"{line.plain.rstrip()}\n" for line in lines)
    with console.capture() as captured:
        for line in lines:
            line.rstrip()
            console.print(line, soft_wrap=True)
    return captured.get()


class _Page:
    """Lines within a width."""

    def __init__(self, console: Console, options: ReportOptions) -> None:
        self.console = console
        self.width = console.width
        self.options = options
        self.glyphs = Glyphs(options.unicode, cell_len)

    def lines(self, report: Report) -> Iterator[Text]:
        queues = overview.ordered(report.queues)
        named = overview.prefix(queues)
        shown = queues if self.options.all_queues else queues[: self.options.at_most]
        details = self.options.details or len(queues) == 1 or self.options.client is not None
        for cell in overview.heading(report, self.glyphs):
            yield from self._wrapped(cell)
        if shown:
            absent = yield from self._grid(overview.grid(shown, named, self.glyphs))
            if not details:
                yield from self._legend(absent)
        for cell in overview.left_out(queues, len(shown)):
            yield from self._wrapped(cell)
        if len(queues) != 1 or report.findings:
            yield Text()
            yield from self._wrapped(Cell(overview.totals(report), "title"))
            for entry in overview.findings(report, queues, named, self.glyphs):
                yield from self._entry(entry, indent=0, label=10)
        if details:
            for queue in shown:
                yield from self._detail(queue, named)

    def _legend(self, absent: list[str]) -> Iterator[Text]:
        text = overview.legend(self.glyphs)
        if absent:
            text += " No room for " + ", ".join(f'"{title}"' for title in absent) + "."
        yield from self._wrapped(Cell(text, "faint"))

    def _detail(self, queue: QueueAdvice, named: tuple[bool, bool]) -> Iterator[Text]:
        yield Text()
        yield from self._wrapped(Cell(isolated(self.glyphs.queue(queue, named)), "title"))
        for entry in detail.entries(queue, self.glyphs):
            yield from self._entry(entry)
        consumers = detail.consumers(queue, self.glyphs, self.options.all_queues)
        if consumers is not None:
            grid, more = consumers
            yield from self._grid(grid)
            if more:
                yield from self._wrapped(
                    Cell(f"  and {units.plural(more, 'consumer')} more: --all shows them", "faint")
                )

        if self.options.client is not None:
            yield from self._pasted(queue, self.options.client)

    def _pasted(self, queue: QueueAdvice, client: str) -> Iterator[Text]:
        """Lines as they are, however long: they are to be copied."""
        pasted = clients.paste(queue, client)
        label = f"for {client}"
        for note in pasted.notes:
            yield from self._entry(Entry(label, self.glyphs.prose(note)))
            label = ""
        for line in pasted.lines:
            yield Text(f"    {self.glyphs.plain(line)}", _STYLES["strong"])

    def _grid(self, grid: Grid) -> Generator[Text, None, list[str]]:
        """The lines of a grid; returns the titles of the columns that found no room."""
        fitted = fit(grid, self.width - grid.indent, cell_len)
        for row in laid_out(grid, fitted, self.glyphs.ellipsis, cell_len):
            yield Text.assemble(
                " " * grid.indent, *((cell.text, _STYLES[cell.style]) for cell in row)
            )
        return [
            column.title for place, column in enumerate(grid.columns) if place not in fitted.kept
        ]

    def _wrapped(self, cell: Cell) -> Iterator[Text]:
        yield from self._hung(Text(cell.text, _STYLES[cell.style]), "", 0)

    def _entry(self, entry: Entry, indent: int = 2, label: int = _LABEL) -> Iterator[Text]:
        text = Text.assemble((entry.head, _STYLES[entry.style]), entry.text)
        first = (" " * indent + entry.label).ljust(label)
        if entry.wrap:
            yield from self._hung(text, first, label)
        elif self.width < _NARROW:
            # alone on its line, so that it is whole however narrow the terminal
            yield Text((" " * label + entry.head).rstrip())
            fits = indent + cell_len(entry.text) <= self.width
            yield Text(" " * indent * fits + entry.text)
        else:
            fits = len(first) + cell_len(text.plain) <= self.width
            yield Text.assemble(first if fits else " " * indent, text)

    def _hung(self, text: Text, first: str, indent: int) -> Iterator[Text]:
        """``text`` wrapped with its lines under each other, ``first`` before the first one."""
        text.plain = _UNIT.sub(_GLUE, text.plain)
        for line in text.wrap(self.console, self.width - indent, overflow="fold"):
            line.rstrip()
            line.plain = line.plain.replace(_GLUE, " ")
            yield Text.assemble(first, line) if first else line
            first = " " * indent
