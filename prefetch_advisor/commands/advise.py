"""``advise``: read the inputs, advise, render, write; and the exit code."""

from __future__ import annotations

import difflib
import gc
import os
import re
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from prefetch_advisor.advise import advise
from prefetch_advisor.commands import output
from prefetch_advisor.config import Given, Policy
from prefetch_advisor.errors import ExitCode, NoQueueError, UsageError
from prefetch_advisor.model.advice import Report, Severity
from prefetch_advisor.model.observation import Intake, QueueKey, QueueObservation
from prefetch_advisor.reports import REPORTS
from prefetch_advisor.sources import InputOptions, read_inputs
from prefetch_advisor.sources.combine import Fleet, combine

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which queues are wanted."""

    queues: tuple[str, ...]
    pattern: str | None
    vhost: str | None


@dataclass(frozen=True, slots=True)
class AdviseOptions:
    """Everything the command line said."""

    inputs: tuple[str, ...]
    reading: InputOptions
    interval: float | None
    selection: Selection
    given: Given
    policy: Policy
    format: str
    output: Path | None
    details: bool
    all_queues: bool
    fail_on: Severity | None


def build(options: dict[str, Any]) -> AdviseOptions:
    """The options object from click's parameters.

    Raises:
        UsageError: a pattern that is no regular expression, options that exclude each other.
    """
    pattern = options["queue_pattern"]
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageError(
                f"--queue-pattern {pattern!r} is no regular expression: {error}"
            ) from None
    if options["cv"] is not None and options["processing_time"] is None:
        raise UsageError("--cv goes with --processing-time; samples carry their own variation")
    if options["processing_time"] == 0:
        raise UsageError("--processing-time 0: nothing takes no time; give what the timer resolves")
    fail_on = options["fail_on"]
    return AdviseOptions(
        inputs=options["inputs"],
        reading=InputOptions(kind=options["kind"], unit=options["unit"], strict=options["strict"]),
        interval=options["interval"],
        selection=Selection(options["queues"], pattern, options["vhost"]),
        given=Given(
            processing_time=options["processing_time"],
            rtt=options["rtt"],
            concurrency=options["concurrency"],
            arrival_rate=options["arrival_rate"],
            cv=options["cv"],
        ),
        policy=Policy(
            target_busy_share=options["target_busy_share"],
            max_utilisation=options["max_utilisation"],
            drain_within=options["drain_within"],
        ),
        format=options["format_"],
        output=options["output"],
        details=options["details"],
        all_queues=options["all_queues"],
        fail_on=None if fail_on == "never" else Severity[fail_on.upper()],
    )


def run(options: AdviseOptions) -> int:
    """Read, advise, report. Returns the exit code.

    Raises:
        AdvisorError: nothing to read, an unreadable input, no queue matched, an unwritable file.
    """
    # a large broker makes some hundred thousand records that live to the end and hold no cycles:
    # looking through them again and again took a fifth of the time
    gc.set_threshold(100_000, 20, 50)
    intakes = _read(options)
    fleet = _fleet(intakes, options)
    output.remark([*_bad_rows(intakes), *fleet.notes])
    queues = select(fleet.queues, options.selection)
    report = advise(
        queues,
        fleet.broker,
        options.given,
        options.policy,
        unused_channels=fleet.unused_channels,
        generated_at=datetime.now(UTC).isoformat(timespec="seconds"),
        inputs=tuple(dict.fromkeys(intake.where for intake in intakes)),
    )
    text = REPORTS[options.format](
        report,
        output.report_options(
            options.output, details=options.details, all_queues=options.all_queues
        ),
    )
    output.write(text, options.output)
    if any(intake.interrupted for intake in intakes):
        output.remark(["interrupted: the report covers what was read until then"])
        return ExitCode.INTERRUPTED
    return ExitCode.FINDINGS if _fails(report, options.fail_on) else ExitCode.OK


def select(
    queues: Sequence[QueueObservation], selection: Selection
) -> tuple[QueueObservation, ...]:
    """The queues wanted, in their order.

    Raises:
        NoQueueError: a name or pattern that matches nothing; near names are listed.
    """
    there = [q for q in queues if selection.vhost is None or q.key.vhost == selection.vhost]
    if queues and not there:
        vhosts = ", ".join(sorted({repr(q.key.vhost) for q in queues}))
        raise NoQueueError(f"no queue in vhost {selection.vhost!r}; there are queues in {vhosts}")
    names = {q.key.name for q in there}
    for wanted in selection.queues:
        if wanted not in names:
            raise NoQueueError(f"no queue is called {wanted!r}{_near(wanted, names)}")
    chosen = [q for q in there if not selection.queues or q.key.name in selection.queues]
    if selection.pattern is not None:
        pattern = re.compile(selection.pattern)
        matched = [q for q in chosen if pattern.search(q.key.name)]
        if chosen and not matched:
            raise NoQueueError(
                f"no queue matches {selection.pattern!r} among {len(chosen)}"
                f"{_near(selection.pattern, names)}"
            )
        chosen = matched
    if not chosen:
        raise NoQueueError("no queue in the input: an empty list, or a user who may see no vhost")
    return tuple(chosen)


def _near(wanted: str, names: set[str]) -> str:
    lowered = {name.lower(): name for name in sorted(names)}
    near = [lowered[n] for n in difflib.get_close_matches(wanted.lower(), lowered, 5, 0.5)]
    near += [n for n in sorted(names) if wanted.lower() in n.lower() and n not in near][
        : 5 - len(near)
    ]
    if near:
        return f"; near: {', '.join(map(repr, near))}"
    return f"; there are {len(names)}: {', '.join(map(repr, sorted(names)[:5]))}" + (
        " ..." if len(names) > 5 else ""
    )


def _read(options: AdviseOptions) -> list[Intake]:
    names: Sequence[str] = options.inputs
    stdin = _stdin() if not names or STDIN in names else None
    if not names and stdin is not None:
        names = [STDIN]
    if STDIN in options.inputs and stdin is None:
        raise UsageError("- was given, but there is no standard input to read")
    if not names:
        _from_options_alone(options)
        return []
    return read_inputs(names, options.reading, stdin)


def _from_options_alone(options: AdviseOptions) -> None:
    """Without input a single queue can be sized from options alone.

    Raises:
        UsageError: they are not enough; the message says what to give.
    """
    given = options.given
    if given.processing_time is None or len(options.selection.queues) > 1:
        raise UsageError(
            "nothing to read: name files, pipe timings in, or give --processing-time and --rtt "
            "for one --queue"
        )


def _stdin() -> BinaryIO | None:
    """Standard input where it is a pipe, a socket or a file that is not empty; else ``None``."""
    if sys.stdin is None:
        return None
    try:
        stream: BinaryIO = sys.stdin.buffer
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return None
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return None
    return stream if _peek(stream) else None


def _peek(stream: BinaryIO) -> bytes:
    peek = getattr(stream, "peek", None)
    return peek(1) if peek is not None else b"?"


def _fleet(intakes: Sequence[Intake], options: AdviseOptions) -> Fleet:
    selection = options.selection
    only = selection.queues[0] if len(selection.queues) == 1 else None
    fleet = combine(intakes, vhost=selection.vhost, queue=only, interval=options.interval)
    if intakes:
        return fleet
    key = QueueKey(None, selection.vhost or "/", only or "queue")
    return Fleet(
        broker=fleet.broker,
        queues=(QueueObservation(key, None, None, None, fleet.broker, ()),),
    )


def _bad_rows(intakes: Sequence[Intake]) -> list[str]:
    lines: list[str] = []
    for intake in intakes:
        lines += intake.notes
        if not intake.bad_count:
            continue
        lines.append(f"{intake.where}: {intake.bad_count:,} rows left out")
        lines += [
            f"{bad.where}: line {bad.line}: expected {bad.expected}, found {bad.found}"
            for bad in intake.bad_rows
        ]
        if intake.bad_count > len(intake.bad_rows):
            lines.append(
                f"{intake.where}: ... and {intake.bad_count - len(intake.bad_rows):,} more"
            )
    return lines


def _fails(report: Report, threshold: Severity | None) -> bool:
    if threshold is None:
        return False
    found = [*report.findings, *(f for q in report.queues for f in q.findings)]
    return any(f.severity >= threshold for f in found)
