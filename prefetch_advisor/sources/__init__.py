"""Inputs by name into intakes: opened, recognised by content, handed to their reader."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from prefetch_advisor.errors import ExitCode, InputError, UsageError
from prefetch_advisor.model.observation import Intake, SourceKind
from prefetch_advisor.model.record import record
from prefetch_advisor.sources import celery_log, histograms
from prefetch_advisor.sources.json_text import decode
from prefetch_advisor.sources.opening import OpenInput, open_input
from prefetch_advisor.sources.pasted import segments
from prefetch_advisor.sources.recognise import Form, recognise_input
from prefetch_advisor.sources.tabular.interrupts import Interrupts

if TYPE_CHECKING:
    from prefetch_advisor.sources.timings import SampleBudget

_KINDS = tuple(str(kind) for kind in SourceKind)


class NothingReadError(InputError):
    """Ctrl-C came before there was a row of anything."""

    exit_code = ExitCode.INTERRUPTED


@record
class InputOptions:
    """How the user wants inputs to be read."""

    #: ``None``: told by content; else one of timings, management, rabbitmqctl
    kind: str | None = None
    #: unit of timings that name none
    unit: str | None = None
    #: the first bad row or unusable value is an error
    strict: bool = False
    #: names of the columns of timings that have no header
    columns: tuple[str, ...] = ()
    #: the label of a histogram that names the queue
    queue_label: str | None = None
    #: the time of every row of timings is wanted, not only the first and the last
    times: bool = False


def read_inputs(
    names: Sequence[str], options: InputOptions, stdin: BinaryIO | None = None
) -> list[Intake]:
    """Every list of every input, in order; "-" or no name at all is standard input.

    An input may give several intakes, one for each list it holds. Ctrl-C ends the reading: what
    came before it is returned, the last intake marked as interrupted. A file that is named again
    is read once. Standard input that is empty is as if absent.

    Raises:
        InputError: an input cannot be opened, recognised or read, or (strict) has a bad row or a
            value that cannot be used. Or it was interrupted before there was a row.
        UsageError: no such kind, or an option that no input is of the kind for.
    """
    if options.kind is not None and options.kind not in _KINDS:
        raise UsageError(f"--from: expected one of {', '.join(_KINDS)}, found {options.kind!r}")
    names, notes = _distinct(names or ("-",), stdin)
    intakes: list[Intake] = []
    with Interrupts() as interrupts:
        reader = _Reader(options, interrupts, len(names))
        for position, name in enumerate(names):
            intakes += reader.read(name, stdin)
            if interrupts.happened:
                intakes = _cut_short(intakes, names[position + 1 :])
                break
    if not any(intake.interrupted for intake in intakes):
        reader.refuse_unused()
    intakes = [replace(intake, index=index) for index, intake in enumerate(intakes)]
    if intakes and notes:
        intakes[0] = replace(intakes[0], notes=(*notes, *intakes[0].notes))
    return intakes


def _distinct(names: Sequence[str], stdin: BinaryIO | None) -> tuple[list[str], list[str]]:
    """Names of different files, and what is told of the others."""
    known: dict[tuple[int, int], str] = {}
    kept: list[str] = []
    notes: dict[str, None] = {}
    for name in names:
        identity = _identity(name, stdin)
        first = None if identity is None else known.get(identity)
        if first is None:
            kept.append(name)
            if identity is not None:
                known[identity] = name
        elif first == name:
            notes[f"{name}: was given more than once: it is read once"] = None
        else:
            notes[f"{name}: is the same file as {first}: it is read once"] = None
    return kept, list(notes)


def _identity(name: str, stdin: BinaryIO | None) -> tuple[int, int] | None:
    """What tells a regular file from others; ``None``: it is none, or cannot be told."""
    try:
        if name == "-":
            found = None if stdin is None else os.fstat(stdin.fileno())
        else:
            found = os.stat(name)
    except (OSError, ValueError):
        return None
    if found is None or not stat.S_ISREG(found.st_mode) or not found.st_ino:
        return None
    return found.st_dev, found.st_ino


def _cut_short(intakes: list[Intake], unread: Sequence[str]) -> list[Intake]:
    """What was read when Ctrl-C came, marked so.

    Raises:
        NothingReadError: that is nothing.
    """
    rows = any(
        one.timings or one.queues or one.consumers or one.channels or one.lists or one.brokers
        for one in intakes
    )
    notes = [note for one in intakes for note in one.notes]
    if not rows:
        raise NothingReadError(notes[-1] if notes else "interrupted before anything was read")
    notes = []
    if unread:
        rest = f" and {len(unread) - 3} more" if len(unread) > 3 else ""
        notes.append(f"interrupted before it was read: {', '.join(unread[:3])}{rest}")
    last = intakes[-1]
    return [*intakes[:-1], replace(last, notes=(*last.notes, *notes), interrupted=True)]


class _Reader:
    """Reads one input after another."""

    def __init__(self, options: InputOptions, interrupts: Interrupts, inputs: int) -> None:
        self._options = options
        self._interrupts = interrupts
        #: inputs that are left
        self._inputs = inputs
        self._budget: SampleBudget | None = None
        self._forms: set[Form] = set()

    def refuse_unused(self) -> None:
        """Say so where an option was for another kind of input.

        Raises:
            UsageError: no input is of that kind.
        """
        if self._options.columns and Form.TIMINGS not in self._forms:
            raise UsageError("--columns: no input holds timings without a header")
        if self._options.queue_label is not None and Form.HISTOGRAMS not in self._forms:
            raise UsageError("--queue-label: no input holds histograms")

    def read(self, name: str, stdin: BinaryIO | None) -> list[Intake]:
        """The intakes of one input; one without rows where Ctrl-C came too early to use any."""
        where = "stdin" if name == "-" else name
        try:
            with open_input(name, stdin, self._interrupts) as source:
                found = self._read(source, name)
        except InputError as error:
            if not self._interrupts.happened or self._options.strict:
                raise
            found = [_early(where, f": what there was cannot be used ({error})")]
        self._inputs -= 1
        for intake in found:
            if self._options.strict and intake.bad_rows:
                bad = intake.bad_rows[0]
                place = bad.place if bad.item else f"{bad.where}:{bad.line}"
                raise InputError(f"{place}: expected {bad.expected}, found {bad.found}")
        return found

    def _read(self, source: OpenInput, name: str) -> list[Intake]:
        if not source.head.strip():
            if self._interrupts.happened:
                return [_early(source.where, "")]
            if name == "-":
                return []
        options = self._options
        form = recognise_input(source.head, source.where, options.kind, bool(options.columns))
        self._forms.add(form)
        if form is Form.TIMINGS:
            return [self._read_timings(source, options.columns)]
        if form is Form.CELERY:
            source, lines = celery_log.as_timings(source)
            intake = self._read_timings(source, columns=())
            return [replace(intake, notes=(lines.note(source.where), *intake.notes))]
        if form is Form.HISTOGRAMS:
            text = decode(_read_all(source))
            return [
                histograms.read_histograms(text, source.where, options.unit, options.queue_label)
            ]
        found = _read_broker(source, form, options)
        if self._budget is not None:
            self._budget.spend(0)
        return found

    def _read_timings(self, source: OpenInput, columns: tuple[str, ...]) -> Intake:
        # imported here: broker output needs no numpy
        from prefetch_advisor.sources.timings import SampleBudget, TimingOptions, read_timings

        # shared evenly among the inputs that are left
        self._budget = self._budget or SampleBudget(inputs=self._inputs)
        wanted = TimingOptions(
            self._options.unit, self._options.strict, columns, self._options.times
        )
        return read_timings(source, wanted, self._budget)


def _early(where: str, reason: str) -> Intake:
    return Intake(where, notes=(f"{where}: interrupted before a row of it was read{reason}",))


def _read_broker(source: OpenInput, form: Form, options: InputOptions) -> list[Intake]:
    # imported here: timings need none of them
    from prefetch_advisor.sources import fixed_width, grids, key_values
    from prefetch_advisor.sources.erlang_lists import read_lists
    from prefetch_advisor.sources.json_documents import read_json

    where, strict = source.where, options.strict
    raw = _read_all(source)
    text = decode(raw)
    notes = source.damage
    readers = {
        Form.CSV: grids.read_csv,
        Form.TSV: grids.read_tsv,
        Form.DRAWN: grids.read_drawn,
        Form.KEYED: key_values.read_keyed,
        Form.FIXED: fixed_width.read_fixed,
    }
    if form is Form.JSON:
        intakes = read_json(text, where, options.kind, strict=strict)
    elif (reader := readers.get(form)) is not None:
        intakes = reader(text, where, strict)
    else:
        if source.cut and not text.endswith("\n"):
            # half a number is another number
            text, _, last = text.rpartition("\n")
            notes.append(f"{where}: its last line is cut short and was left out: {last[:60]!r}")
        intakes = []
        for part in segments(text):
            intakes += (
                read_json(part.text, where, options.kind, vhost=part.vhost, strict=strict)
                if part.json
                else read_lists(part.text, where, strict)
            )
    if notes:
        intakes[0] = replace(intakes[0], notes=(*notes, *intakes[0].notes))
    return intakes


def _read_all(source: OpenInput) -> bytes:
    """Everything, or what had come when Ctrl-C ended it."""
    pieces = []
    while piece := source.interrupts.rest(source.stream):
        pieces.append(piece)
    return b"".join(pieces)
