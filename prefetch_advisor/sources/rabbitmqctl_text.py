"""The default output of ``rabbitmqctl list_*``: several lists, prompts and prose in one text."""

from __future__ import annotations

import re
import shlex
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
    LONGEST_PROSE,
    command,
    is_decoration,
    preamble,
    refuse_other_format,
    split_cells,
)

_PROMPT = re.compile(r"(?:\S*[$#>%]|\[?\w+@[\w.\-]+[^\t]*[$#%>])(?: [^\t]*)?")
_OPTIONS_WITH_VALUE = frozenset(
    {"-n", "--node", "-t", "--timeout", "-p", "--vhost", "--formatter", "--file"}
)
_SHELL_ENDS = re.compile(r"\s(?:[|;>&]|2>)|;")


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


def read_text(text: str, where: str) -> list[Intake]:
    """An :class:`Intake` for each list in ``text``, in order.

    Raises:
        InputError: there is no list, no usable row, or columns that cannot be told.
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
            intake = _read_block(block, where)
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
        if line.text.strip().startswith("Error:"):
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
        elif stripped.startswith(("Error:", "** (")) and "\t" not in line.text:
            skipped.append(line)
            current = None
        elif current is not None and (not stripped or not _ends_list(line, current)):
            if line.text if current.columns and len(current.columns) == 1 else stripped:
                if current.fresh:
                    refuse_other_format(line.text, where)
                current.rows.append(line)
        elif stripped and not _is_prompt(line.text):
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
    asked = command(line.text)
    if asked is None:
        return None
    listed = asked[1].removeprefix("list_")
    if _SHELL_ENDS.search(" " + line.text[: asked.start(1)].split("rabbitmqctl")[-1]):
        return None
    before = line.text[: asked.start(1)].split("rabbitmqctl")[-1]
    vhost, columns, json = _arguments(before + " " + asked[2])
    if json:
        return _Block(line.number, f"{listed} in another format", vhost)
    return _Block(line.number, listed, vhost, asked=columns)


def _arguments(tail: str) -> tuple[str | None, tuple[str, ...], bool]:
    """-p, the columns and whether another formatter is asked for, of a command line."""
    tail = _SHELL_ENDS.split(tail, maxsplit=1)[0]
    try:
        words = shlex.split(tail)
    except ValueError:
        words = tail.split()
    vhost = None
    columns = []
    other = False
    option = None
    for word in words:
        if option is not None:
            vhost = word if option in ("-p", "--vhost") else vhost
            other = other or (option == "--formatter" and word != "table")
            option = None
        elif word in _OPTIONS_WITH_VALUE:
            option = word
        elif word.startswith("-"):
            name, _, given = word.partition("=")
            vhost = given if name in ("-p", "--vhost") and given else vhost
            other = other or (name == "--formatter" and given not in ("", "table"))
        else:
            columns.extend(word.rstrip(",").split(","))
    return vhost, tuple(columns), other


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
    return not one_column and "\t" not in line.text and _is_prompt(line.text)


def _is_prompt(line: str) -> bool:
    return len(line) <= LONGEST_PROSE and _PROMPT.fullmatch(line) is not None


def _bare(line: Line, blocks: list[_Block], skipped: list[Line]) -> _Block | None:
    if len(split_cells(line.text)) < 2:
        skipped.append(line)
        return None
    block = _Block(line.number, rows=[line], bare=True)
    blocks.append(block)
    return block


def _read_block(block: _Block, where: str) -> Intake | str:
    """The rows of a block, or why it holds none that are read."""
    listed = block.listed or list_of_rows(block.rows)
    if listed not in COLUMNS:
        hint = ": JSON is read without the command line above it" if "format" in listed else ""
        return f"{where}:{block.line}: a list of {listed} is not read{hint}"
    doubts = Doubts(where)
    if not block.rows:
        intake = build((), listed, block.vhost, doubts)
        vhost = "" if block.vhost is None else f" of vhost {block.vhost!r}"
        note = f"{where}:{block.line}: no {listed}{vhost} listed"
        if listed == "queues":
            note += " (rabbitmqctl says the same of a vhost that does not exist)"
        return replace(intake, notes=(note,))
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


def _asked(block: _Block, listed: str) -> tuple[str, ...] | None:
    if block.asked and header_list(block.asked, listed) == listed:
        return block.asked
    return None
