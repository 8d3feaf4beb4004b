"""Inputs by name into intakes: opened, recognised by content, handed to their reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from prefetch_advisor.errors import InputError, UsageError
from prefetch_advisor.model.observation import Intake, SourceKind
from prefetch_advisor.sources.json_text import decode
from prefetch_advisor.sources.opening import OpenInput, open_input
from prefetch_advisor.sources.recognise import Form, recognise_input
from prefetch_advisor.sources.tabular.interrupts import Interrupts

if TYPE_CHECKING:
    from prefetch_advisor.sources.timings import SampleBudget

_KINDS = tuple(str(kind) for kind in SourceKind)


@dataclass(frozen=True, slots=True)
class InputOptions:
    """How the user wants inputs to be read."""

    #: ``None``: told by content; else one of timings, management, rabbitmqctl
    kind: str | None = None
    #: unit of timings that name none
    unit: str | None = None
    #: the first bad row is an error
    strict: bool = False


def read_inputs(
    names: Sequence[str], options: InputOptions, stdin: BinaryIO | None = None
) -> list[Intake]:
    """Every list of every input, in order; "-" or no name at all is standard input.

    An input may give several intakes, one for each list it holds. Reading ends with an input that
    was interrupted. Standard input that is empty is as if absent.

    Raises:
        InputError: an input cannot be opened, recognised or read, or (strict) has a bad row.
        UsageError: no such kind.
    """
    if options.kind is not None and options.kind not in _KINDS:
        raise UsageError(f"--from: expected one of {', '.join(_KINDS)}, found {options.kind!r}")
    intakes: list[Intake] = []
    budget: SampleBudget | None = None
    names = names or ("-",)
    for position, name in enumerate(names):
        with open_input(name, stdin) as source:
            if name == "-" and not source.head.strip():
                continue
            form = recognise_input(source.head, source.where, options.kind)
            if form is Form.TIMINGS:
                # imported here: broker output needs no numpy
                from prefetch_advisor.sources.timings import (
                    SampleBudget,
                    TimingOptions,
                    read_timings,
                )

                # shared evenly among the inputs that are left
                budget = budget or SampleBudget(inputs=len(names) - position)
                wanted = TimingOptions(unit=options.unit, strict=options.strict)
                found = [read_timings(source, wanted, budget)]
            else:
                found = _read_broker(source, form, options)
                if budget is not None:
                    budget.spend(0)
        for intake in found:
            if options.strict and intake.bad_rows:
                bad = intake.bad_rows[0]
                raise InputError(
                    f"{bad.where}:{bad.line}: expected {bad.expected}, found {bad.found}"
                )
            intakes.append(replace(intake, index=len(intakes)))
        if found and found[-1].interrupted:
            break
    return intakes


def _read_broker(source: OpenInput, form: Form, options: InputOptions) -> list[Intake]:
    # imported here: timings need neither
    from prefetch_advisor.sources.json_documents import read_json
    from prefetch_advisor.sources.rabbitmqctl_text import read_text

    raw, interrupted = _read_all(source)
    text = decode(raw)
    if form is Form.TEXT:
        intakes = read_text(text, source.where)
    elif interrupted:
        # half a document says nothing
        raise KeyboardInterrupt
    else:
        intakes = read_json(text, source.where, options.kind)
    if source.damage:
        intakes[0] = replace(intakes[0], notes=(*source.damage, *intakes[0].notes))
    if interrupted:
        intakes[-1] = replace(intakes[-1], interrupted=True)
    return intakes


def _read_all(source: OpenInput) -> tuple[bytes, bool]:
    """Everything, or what had come when Ctrl-C ended it."""
    pieces = []
    with Interrupts() as interrupts:
        while piece := interrupts.read(source.stream):
            pieces.append(piece)
    return b"".join(pieces), interrupts.happened
