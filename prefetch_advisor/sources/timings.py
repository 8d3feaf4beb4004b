"""Timings of messages: CSV and its relatives, JSON Lines, a bare column of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prefetch_advisor.errors import InputError, UsageError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources.cells import unit_named
from prefetch_advisor.sources.collect import Collector
from prefetch_advisor.sources.columns import NUMBERS, Layout, Role, lay_out, unused_note
from prefetch_advisor.sources.sampling import SampleBudget
from prefetch_advisor.sources.tabular.bad_rows import BadRows, show
from prefetch_advisor.sources.tabular.blocks import blocks, text
from prefetch_advisor.sources.tabular.converting import Converter
from prefetch_advisor.sources.tabular.delimited import Delimited, Form
from prefetch_advisor.sources.tabular.json_rows import objects_of_array, objects_of_lines
from prefetch_advisor.sources.tabular.names import Names
from prefetch_advisor.sources.tabular.one_row import RowReader, UnreadTimes
from prefetch_advisor.sources.tabular.rows import Rows, text_of
from prefetch_advisor.sources.tabular.sniffing import Sheet, printed_step, read_header, settle

if TYPE_CHECKING:
    from prefetch_advisor.sources.opening import OpenInput
    from prefetch_advisor.sources.tabular.interrupts import Interrupts
    from prefetch_advisor.sources.tabular.json_rows import Objects

__all__ = ["SampleBudget", "TimingOptions", "read_timings"]

#: rows from which units and the decimal separator are told
_EVIDENCE = 2_000
#: names listed in a note
_TOLD = 10


@dataclass(frozen=True, slots=True)
class TimingOptions:
    """How the user wants timings to be read."""

    #: unit of durations that bring none
    unit: str | None = None
    #: the first bad row is an error
    strict: bool = False
    #: names of the columns where there is no header
    columns: tuple[str, ...] = ()
    #: the time of every row is wanted
    times: bool = False


def read_timings(source: OpenInput, options: TimingOptions, budget: SampleBudget) -> Intake:
    """One :class:`TimingRow` for each queue of ``source``, in bounded memory.

    Columns are known by name, in any order: see `columns`. Ctrl-C ends the reading; what came
    before it is returned, marked as interrupted.

    Raises:
        InputError: no usable row, no way to a processing time or to its unit, two columns that
            mean the same, more queues than can be, or (strict) a bad row.
        UsageError: an unknown unit.
    """
    if options.unit is not None and unit_named(options.unit) is None:
        raise UsageError(f"unknown unit {options.unit!r}: use ns, us, ms, s, min or h")
    with source.interrupts as interrupts:
        reading = _Reading(source, options, budget, interrupts)
        start = source.head.lstrip()[:1]
        content = _content(source.head)
        if options.columns and (start == b"[" or content.startswith(b"{")):
            raise InputError(
                f"{source.where}: --columns is for rows without a header, but this is JSON: its "
                "keys are the columns"
            )
        if start == b"[":
            reading.objects(objects_of_array(source, interrupts, reading.bad))
        elif content.startswith(b"{"):
            reading.objects(
                objects_of_lines(line, block, reading.bad)
                for line, block in blocks(source, interrupts, reading.bad)
            )
        else:
            reading.sheet()
        return reading.intake()


def _content(head: bytes) -> bytes:
    """The head from its first line that is neither blank nor a comment."""
    for line in head.splitlines():
        if (start := line.strip()) and not start.startswith(b"#"):
            return start
    return b""


class _Reading:
    """One input while it is read."""

    def __init__(
        self,
        source: OpenInput,
        options: TimingOptions,
        budget: SampleBudget,
        interrupts: Interrupts,
    ) -> None:
        self.bad = BadRows(source.where, options.strict)
        self._source = source
        self._columns = options.columns
        self._unit = unit_named(options.unit) if options.unit else None
        self._budget = budget
        self._interrupts = interrupts
        self._collector = Collector(source.where, budget.share(), options.times)
        self._unread = UnreadTimes(source.where, options.strict)
        self._layout: Layout | None = None
        self._converter: Converter | None = None
        self._printed: float | None = None
        self._late: dict[str, None] = {}
        self._parser: Delimited | None = None

    def sheet(self) -> None:
        """Rows with one line each."""
        sheet: Sheet | None = None
        after = 1
        for line, block in blocks(self._source, self._interrupts, self.bad):
            after = line + block.count(b"\n")
            if sheet is None:
                lines = text(block).split("\n")
                sheet = read_header(lines, self._source.where, line, self._columns)
                if sheet is None:
                    continue
                line, block = _past(sheet.header_lines, line, block)
                self._layout = sheet.layout
                used = [column.index for column in sheet.layout.columns]
                self._parser = Delimited(sheet.form, used, self.bad)
            if self._parser is not None:
                self._take(self._parser.rows(line, block), sheet.form)
        if self._parser is not None and sheet is not None:
            self._take(self._parser.finish(after), sheet.form)

    def objects(self, parts: Iterator[Objects]) -> None:
        """JSON objects, whose keys are the columns; those of the first part are all there are."""
        for lines, objects in parts:
            keys: dict[str, None] = dict.fromkeys(key for found in objects for key in found)
            if self._layout is None and objects:
                self._layout = lay_out(list(keys), self._source.where)
            if self._layout is not None:
                if len(self._late) < _TOLD:
                    self._late.update(dict.fromkeys(keys.keys() - set(self._layout.names)))
                columns: dict[int, list[Any]] = {
                    column.index: [found.get(column.name) for found in objects]
                    for column in self._layout.columns
                }
                self._take(Rows(lines, columns), None)

    def _take(self, rows: Rows, form: Form | None) -> None:
        if self._converter is None and len(rows):
            self._converter = self._begin(rows.part(0, _EVIDENCE), form)
        if self._converter is not None:
            self._converter.take(rows)
        self.bad.check()

    def _begin(self, rows: Rows, form: Form | None) -> Converter:
        assert self._layout is not None
        figures = [column.index for column in self._layout.columns if column.role in NUMBERS]
        sample = {index: list(map(text_of, rows.columns[index])) for index in figures}
        layout, decimal = settle(self._layout, sample, self._unit, self._source.where)
        self._layout = layout
        column = layout.of(Role.PROCESSING)
        if form is not None and column is not None:
            self._printed = printed_step(column, sample[column.index])
        return Converter(
            layout,
            RowReader(layout, decimal, self._unit, self._unread),
            Names(layout, self._collector, form is not None and form.padded),
            self._collector,
            self.bad,
            self._unread,
            decimal,
        )

    def intake(self) -> Intake:
        interrupted = self._interrupts.happened
        self.bad.check()
        if not self._collector.rows and not interrupted:
            raise InputError(self._nothing())
        named = self._layout is not None and bool(self._layout.consumers)
        self._collector.flush()
        self._budget.spend(self._collector.kept)
        notes = (*self._source.damage, *self._notes(), *self._collector.notes(named))
        timings = self._collector.finish(self._printed, named)
        return Intake(
            where=self._source.where,
            timings=timings,
            bad_rows=self.bad.first,
            bad_count=self.bad.count,
            notes=notes,
            interrupted=interrupted,
        )

    def _nothing(self) -> str:
        where = "; ".join([f"{self._source.where}: no usable row", *self._source.damage])
        if self.bad.count:
            return f"{where}: {self.bad.describe()}"
        return f"{where}: nothing {'in it' if self._layout is None else 'below the header'}"

    def _notes(self) -> list[str]:
        where, notes = self._source.where, []
        if self._layout is not None and (note := unused_note(self._layout, where)):
            notes.append(note)
        if self._late:
            late = ", ".join(map(show, sorted(self._late)[:_TOLD]))
            notes.append(f"{where}: keys that appear late in the file are not used: {late}")
        if self._converter is not None and (headers := self._converter.headers):
            times = "once" if headers == 1 else f"{headers:,} times"
            notes.append(f"{where}: the header is repeated {times}: those lines were skipped")
        if self._parser is not None and (count := self._parser.comments):
            lines = "1 line that begins" if count == 1 else f"{count:,} lines that begin"
            first = self._parser.first_comment
            notes.append(f"{where}: {lines} with # skipped as a comment (first: line {first})")
        if count := self._unread.count:
            times = "1 time" if count == 1 else f"{count:,} times"
            notes.append(
                f"{where}: {times} could not be read (first {self._unread.first}): "
                "expected ISO 8601 or epoch"
            )
        return notes


def _past(lines: int, line: int, block: bytes) -> tuple[int, bytes]:
    """A block without its first ``lines``."""
    at = 0
    for _ in range(lines):
        at = block.index(b"\n", at) + 1
    return line + lines, block[at:]
