"""``advise``: read the inputs, advise, render, write; and the exit code."""

from __future__ import annotations

import gc
import os
import re
import stat
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from prefetch_advisor.advise import advise
from prefetch_advisor.commands import live, output
from prefetch_advisor.commands.live import LiveOptions
from prefetch_advisor.commands.option_types import CLIENTS, PROBES
from prefetch_advisor.commands.selection import Selection, resolve, select
from prefetch_advisor.config import Given, Policy
from prefetch_advisor.errors import AdvisorError, ExitCode, NoQueueError, UsageError
from prefetch_advisor.model.advice import Report, Severity
from prefetch_advisor.model.observation import Intake, QueueKey, QueueObservation
from prefetch_advisor.model.record import record
from prefetch_advisor.processes import in_halves, worth_splitting
from prefetch_advisor.reports import REPORTS
from prefetch_advisor.reports.names import quoted
from prefetch_advisor.sources import InputOptions, read_inputs
from prefetch_advisor.sources.combine import Fleet, combine
from prefetch_advisor.units import plural

if TYPE_CHECKING:
    from prefetch_advisor.pictures import Picture
    from prefetch_advisor.probe import QueueType

STDIN = STDOUT = "-"


@record
class AdviseOptions:
    """Everything the command line said."""

    inputs: tuple[str, ...]
    live: LiveOptions
    #: --rtt probe: measure it first, on a queue of this type
    probe: QueueType | None
    reading: InputOptions
    interval: float | None
    selection: Selection
    given: Given
    policy: Policy
    format: str
    output: Path | None
    #: --picture: draw below the table
    picture: bool
    #: --html: a page beside the report
    html: Path | None
    details: bool
    all_queues: bool
    #: --for: whose code or settings lines are wanted
    client: str | None
    fail_on: Severity | None


def build(options: dict[str, Any]) -> AdviseOptions:
    """The options object from click's parameters.

    Raises:
        UsageError: a pattern that is no regular expression, options that exclude each other.
    """
    for name, values in (
        ("--queue", options["queues"]),
        ("--queue-pattern", (options["queue_pattern"],)),
        ("--vhost", (options["vhost"],)),
        ("--output", (options["output"],)),
        ("--columns", (options["columns"],)),
        ("--queue-label", (options["queue_label"],)),
    ):
        if "" in values:
            raise UsageError(f"{name} is empty: give a value, or leave the option out")
    if options["queue_pattern"] is not None:
        _refuse_bad_pattern(options["queue_pattern"])
    if options["cv"] is not None and options["processing_time"] is None:
        raise UsageError("--cv goes with --processing-time; samples carry their own variation")
    if options["picture"] and options["format_"] != "table":
        raise UsageError("--picture draws below a table: it goes with --format table")
    client = options["concurrency"] if options["concurrency"] in CLIENTS else None
    output_ = options["output"]
    fail_on = options["fail_on"]
    return AdviseOptions(
        inputs=options["inputs"],
        live=live.build(options),
        probe=PROBES.get(options["rtt"]),
        reading=_reading(options),
        interval=options["interval"],
        selection=Selection(options["queues"], options["queue_pattern"], options["vhost"]),
        given=Given(
            processing_time=options["processing_time"],
            rtt=None if options["rtt"] in PROBES else options["rtt"],
            concurrency=None if client else options["concurrency"],
            client=client,
            batch=options["batch"],
            message_bytes=options["message_bytes"],
            consumer_timeout=options["consumer_timeout"],
            client_cost=options["client_cost"],
            arrival_rate=options["arrival_rate"],
            cv=options["cv"],
        ),
        policy=Policy(
            target_busy_share=options["target_busy_share"],
            max_utilisation=options["max_utilisation"],
            drain_within=options["drain_within"],
            max_wait=options["max_wait"],
            memory_budget=options["memory_budget"],
            max_buffered_time=options["max_buffered_time"],
            ordered=options["ordered"],
        ),
        format=options["format_"],
        output=None if output_ in (None, STDOUT) else Path(output_),
        picture=options["picture"],
        html=output.page_of(options["html"]),
        details=options["details"],
        all_queues=options["all_queues"],
        client=options["client"],
        fail_on=None if fail_on == "never" else Severity[fail_on.upper()],
    )


def _reading(options: dict[str, Any]) -> InputOptions:
    return InputOptions(
        kind=options["kind"],
        unit=options["unit"],
        strict=options["strict"],
        columns=tuple(options["columns"].split(",")) if options["columns"] else (),
        queue_label=options["queue_label"],
    )


def _refuse_bad_pattern(pattern: str) -> None:
    try:
        with warnings.catch_warnings():
            # such as "possible nested set": the pattern is taken as it stands
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(
            f"--queue-pattern {quoted(pattern)} is no regular expression: {error}"
        ) from None


def run(options: AdviseOptions) -> int:
    """Read, advise, report. Returns the exit code.

    Raises:
        AdvisorError: nothing to read, an unreadable input, no queue matched, an unwritable file.
    """
    # a large broker makes some hundred thousand records that live to the end and hold no cycles:
    # looking through them again and again took a fifth of the time
    gc.set_threshold(500_000, 20, 50)
    given = _with_probe(options)
    intakes = _read(options)
    if intakes is None:
        intakes, given = _ask_broker(options, given)
    if not any(intake.interrupted for intake in intakes):
        return _answer(intakes, options, given)
    try:
        _answer(intakes, options, given)
    except NoQueueError as error:
        seen = any(i.queues or i.consumers or i.timings for i in intakes)
        why = str(error) if seen else "nothing that can be used had arrived"
        output.remark([f"interrupted: {why}"])
    except AdvisorError as error:
        output.remark([f"interrupted: {error}"])
    else:
        output.remark(["interrupted: the report covers what was read until then"])
    return ExitCode.INTERRUPTED


def _with_probe(options: AdviseOptions) -> Given:
    """The figures given, and the round trip that a probe measures where it was asked for."""
    if options.probe is None:
        return options.given
    return replace(options.given, round_trip=live.probe(options.live, options.probe))


def _ask_broker(options: AdviseOptions, given: Given) -> tuple[list[Intake], Given]:
    """What a running broker shows; and where R is not known, the bound that a connect is."""
    if _sizes_alone(options, given):
        output.remark(["sized from options alone; --live management asks the broker too"])
        return [], given
    there = None if options.live.kind == "rabbitmqctl" else live.connection(options.live)
    intakes = live.observe(options.live, options.selection, there)
    if given.rtt is None and given.round_trip is None and there is not None:
        given = replace(given, round_trip=live.connect_bound(there))
    return intakes, given


def _sizes_alone(options: AdviseOptions, given: Given) -> bool:
    """P and R of one queue were given, and nothing names a broker."""
    known = given.processing_time is not None and (given.rtt is not None or given.round_trip)
    return bool(known) and not options.live.asked_for and len(options.selection.queues) <= 1


def _answer(intakes: Sequence[Intake], options: AdviseOptions, given: Given) -> int:
    output.remark(_bad_rows(intakes))
    selection = resolve(options.selection, intakes)
    fleet = _fleet(intakes, selection, options.interval)
    output.remark(fleet.notes)
    queues = select(fleet.queues, selection, intakes)
    advised = partial(
        advise,
        broker=fleet.broker,
        given=given,
        policy=options.policy,
        unused_channels=fleet.unused_channels,
        generated_at=datetime.now(UTC).isoformat(timespec="seconds"),
        inputs=tuple(dict.fromkeys(intake.where for intake in intakes)),
    )
    text, worst = _report(queues, advised, options)
    if options.picture or options.html is not None:
        report = advised(queues)
        pictures = _pictures(queues, report, fleet, given, options)
        if options.picture:
            text += "".join(f"{line}\n" for line in _drawn(report, pictures, options))
        if options.html is not None:
            from prefetch_advisor.reports.html import advice

            output.write(advice.render(report, pictures, options.client), options.html)
    output.write(text, options.output)
    fails = options.fail_on is not None and worst is not None and worst >= options.fail_on
    return ExitCode.FINDINGS if fails else ExitCode.OK


def _report(
    queues: Sequence[QueueObservation],
    advised: Callable[[Sequence[QueueObservation]], Report],
    options: AdviseOptions,
) -> tuple[str, Severity | None]:
    """The report as text, and the worst severity in it."""
    if options.format == "json" and worth_splitting(len(queues)):
        from prefetch_advisor.reports import json_

        parts = in_halves(lambda some: json_.rows(advised(some).queues, options.client), queues)
        whole = advised(())
        found = {f.severity for f in whole.findings}.union(*(part.severities for part in parts))
        return json_.assemble(whole, parts), max(found, default=None)
    report = advised(queues)
    text = REPORTS[options.format](
        report,
        output.report_options(
            options.output,
            details=options.details,
            all_queues=options.all_queues,
            client=options.client,
        ),
    )
    found = {
        f.severity for f in (*report.findings, *(f for q in report.queues for f in q.findings))
    }
    return text, max(found, default=None)


def _pictures(
    queues: Sequence[QueueObservation],
    report: Report,
    fleet: Fleet,
    given: Given,
    options: AdviseOptions,
) -> dict[QueueKey, Picture]:
    """The numbers behind the pictures of the queues that matter most."""
    from prefetch_advisor.pictures import picture
    from prefetch_advisor.reports.overview import pictured

    by_key = {queue.key: queue for queue in queues}
    return {
        one.key: picture(by_key[one.key], given, options.policy, fleet.unused_channels)
        for one in pictured(report.queues)
    }


def _drawn(
    report: Report, pictures: Mapping[QueueKey, Picture], options: AdviseOptions
) -> list[str]:
    from prefetch_advisor.reports import pictures as drawing

    place = output.report_options(options.output, details=True, all_queues=True)
    return list(drawing.of_advice(report, pictures, place))


def _read(options: AdviseOptions) -> list[Intake] | None:
    """What the files or standard input hold; ``None`` where there are none: ask a broker."""
    names: Sequence[str] = options.inputs
    if not names and options.live.asked_for:
        return None
    stdin = _stdin() if not names or STDIN in names else None
    if not names and stdin is not None:
        names = [STDIN]
    if STDIN in options.inputs and stdin is None:
        raise UsageError("- was given, but there is no standard input to read")
    for option, written in (("-o", options.output), ("--html", options.html)):
        if written is not None:
            output.refuse_inputs(written, options.inputs, stdin, option)
    if not names:
        return None
    return read_inputs(names, options.reading, stdin)


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


def _fleet(intakes: Sequence[Intake], selection: Selection, interval: float | None) -> Fleet:
    only = selection.queues[0] if len(selection.queues) == 1 else None
    fleet = combine(intakes, vhost=selection.vhost, queue=only, interval=interval)
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
        lines.append(f"{intake.where}: {plural(intake.bad_count, 'row')} left out")
        lines += [
            f"{bad.place}: expected {bad.expected}, found {bad.found}" for bad in intake.bad_rows
        ]
        if intake.bad_count > len(intake.bad_rows):
            lines.append(
                f"{intake.where}: ... and {intake.bad_count - len(intake.bad_rows):,} more"
            )
    return lines
