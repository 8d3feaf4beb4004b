"""The default output of ``rabbitmqctl list_*``: several lists, prompts and prose in one text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources.fields import KEPT_BAD_ROWS, Doubts, shown
from prefetch_advisor.sources.json_text import unescape
from prefetch_advisor.sources.rabbitmqctl import build, named
from prefetch_advisor.sources.rabbitmqctl_columns import COLUMNS, IDENTITY, header_list
from prefetch_advisor.sources.rabbitmqctl_rows import (
    Line,
    guess_columns,
    list_of_rows,
    parse_rows,
)
from prefetch_advisor.sources.recognise import (
    EXPECTED,
    is_decoration,
    is_error,
    preamble,
    refuse_other_format,
    split_cells,
)
from prefetch_advisor.sources.shell_lines import asked, is_prompt


@dataclass(slots=True)
class _Block:
    """One list as it is being read."""

    line: int
    #: ``None``: not known yet; a word outside :data:`COLUMNS` is a list that is not read
    listed: str | None = None
    vhost: str | None = None
    columns: tuple[str, ...] | None = None
    #: columns asked for on the command line: what the rows hold when there is no header
    asked: tuple[str, ...] = ()
    rows: list[Line] = field(default_factory=list)
    #: nothing announced it: rows came out of nowhere
    bare: bool = False

    @property
    def fresh(self) -> bool:
        return self.columns is None and not self.rows


def read_text(text: str, where: str, strict: bool = False) -> list[Intake]:
    """An :class:`Intake` for each list in ``text``, in order.

    Raises:
        InputError: there is no list, no usable row, columns that cannot be told, or (strict) a
            value that cannot be used.
    """
    text, decoded = unescape(text)
    notes = []
    if decoded:
        notes.append(
            f"{where}: \\x{{...}} in names was decoded: rabbitmqctl ran without a UTF-8 locale"
        )
    blocks, skipped = _blocks(text, where)
    if skipped:
        notes.append(
            f"{where}:{skipped[0].number}: {len(skipped)} line{'s' if len(skipped) > 1 else ''} "
            f"outside any list left out, first {shown(skipped[0].text)}"
        )
    intakes = []
    for block in blocks:
        try:
            intake = _read_block(block, where, strict)
        except InputError as error:
            # prose between lists may look like rows; alone, it is the answer
            if not block.bare or len(blocks) == 1:
                raise
            intake = str(error)
        if isinstance(intake, str):
            notes.append(intake)
        else:
            intakes.append(intake)
    if not intakes:
        raise InputError(_nothing(notes, skipped, where))
    _refuse_all_bad(intakes, where)
    intakes[0] = replace(intakes[0], notes=(*notes, *intakes[0].notes))
    return _keep_few_bad_rows(intakes)


def _nothing(notes: Sequence[str], skipped: Sequence[Line], where: str) -> str:
    for line in skipped:
        if is_error(line.text.strip()):
            return f"{where}:{line.number}: rabbitmqctl printed an error: {line.text.strip()}"
    return f"{where}: expected {EXPECTED}; {notes[-1] if notes else 'found no list'}"


def _refuse_all_bad(intakes: Sequence[Intake], where: str) -> None:
    bad = [row for intake in intakes for row in intake.bad_rows]
    usable = any(i.queues or i.consumers or i.channels or i.connections for i in intakes)
    if bad and not usable:
        raise InputError(
            f"{where}:{bad[0].line}: no usable row: expected {bad[0].expected}, "
            f"found {bad[0].found}"
        )


def _keep_few_bad_rows(intakes: Sequence[Intake]) -> list[Intake]:
    left = KEPT_BAD_ROWS
    kept = []
    for intake in intakes:
        few = intake.bad_rows[:left]
        left -= len(few)
        kept.append(replace(intake, bad_rows=few) if intake.bad_rows else intake)
    return kept


def _blocks(text: str, where: str) -> tuple[list[_Block], list[Line]]:
    blocks: list[_Block] = []
    skipped: list[Line] = []
    current: _Block | None = None
    for line in _lines(text):
        stripped = line.text.strip()
        if is_decoration(stripped):
            continue
        started = _announced(line, stripped) or _headed(line, current)
        if started is not None:
            if current is None or started.listed != current.listed or not current.fresh:
                current = started
                blocks.append(current)
            else:
                _refine(current, started)
        elif is_error(stripped) and "\t" not in line.text:
            skipped.append(line)
            current = None
        elif current is not None and (not stripped or not _ends_list(line, current)):
            if line.text if current.columns and len(current.columns) == 1 else stripped:
                if current.fresh:
                    refuse_other_format(line.text, where)
                current.rows.append(line)
        elif stripped and not is_prompt(line.text):
            current = _bare(line, blocks, skipped)
        elif stripped:
            current = None
    return blocks, skipped


def _lines(text: str) -> Iterator[Line]:
    """Lines end with LF or CRLF only: names may hold whatever else ends a line in Unicode."""
    indent = ""
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        stripped = line.lstrip(" ")
        if preamble(stripped.rstrip()):
            # quoted or indented as a whole: so are the rows below
            indent = line[: len(line) - len(stripped)]
        yield Line(number, line.removeprefix(indent))


def _announced(line: Line, stripped: str) -> _Block | None:
    announced = preamble(stripped)
    if announced is not None:
        return _Block(line.number, announced[1], announced[2])
    wanted = asked(line.text)
    if wanted is None:
        return None
    if wanted.formatter != "table":
        return _Block(line.number, f"{wanted.listed} in another format", wanted.vhost)
    return _Block(line.number, wanted.listed, wanted.vhost, asked=wanted.columns)


def _headed(line: Line, current: _Block | None) -> _Block | None:
    cells = split_cells(line.text)
    expected = current.listed if current is not None and current.fresh else None
    listed = header_list(cells, expected if expected in COLUMNS else None)
    if listed is None:
        return None
    return _Block(line.number, listed, columns=tuple(cells))


def _refine(current: _Block, started: _Block) -> None:
    """A command, its preamble and its header announce the same list: keep what each knows."""
    current.vhost = started.vhost if started.vhost is not None else current.vhost
    current.columns = started.columns or current.columns
    current.asked = started.asked or current.asked


def _ends_list(line: Line, current: _Block) -> bool:
    one_column = current.columns is not None and len(current.columns) == 1
    return not one_column and "\t" not in line.text and is_prompt(line.text)


def _bare(line: Line, blocks: list[_Block], skipped: list[Line]) -> _Block | None:
    if len(split_cells(line.text)) < 2:
        skipped.append(line)
        return None
    block = _Block(line.number, rows=[line], bare=True)
    blocks.append(block)
    return block


def _read_block(block: _Block, where: str, strict: bool) -> Intake | str:
    """The rows of a block, or why it holds none that are read."""
    listed = block.listed or list_of_rows(block.rows)
    if listed not in COLUMNS:
        return f"{where}:{block.line}: a list of {listed} is not read"
    if not block.rows:
        return nothing_listed(listed, block.vhost, f"{where}:{block.line}", where)
    doubts = Doubts(where, strict)
    columns = block.columns or _asked(block, listed)
    if columns is None:
        columns = guess_columns(block.rows, listed, where)
    if IDENTITY[listed] not in columns and not (listed == "channels" and "name" in columns):
        return (
            f"{where}:{block.line}: a list of {listed} without the column {IDENTITY[listed]} "
            "is not read"
        )
    rows = parse_rows(block.rows, listed, columns, doubts)
    return build([row for row in rows if named(row, listed)], listed, block.vhost, doubts)


def nothing_listed(listed: str, vhost: str | None, place: str, where: str) -> Intake:
    """A list without rows, which says so."""
    of_vhost = "" if vhost is None else f" of vhost {vhost!r}"
    note = f"{place}: no {listed}{of_vhost} listed"
    if listed == "queues":
        note += " (rabbitmqctl says the same of a vhost that does not exist)"
    return replace(build((), listed, vhost, Doubts(where)), notes=(note,))


def _asked(block: _Block, listed: str) -> tuple[str, ...] | None:
    if block.asked and header_list(block.asked, listed) == listed:
        return block.asked
    return None
