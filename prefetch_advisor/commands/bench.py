"""``bench``: measure the throughput at several prefetches beside what the model predicts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefetch_advisor.bench import BenchPlan
from prefetch_advisor.commands import output
from prefetch_advisor.commands.probe import where
from prefetch_advisor.commands.simulate import one_source, timings_of, work_of
from prefetch_advisor.errors import ExitCode, UsageError
from prefetch_advisor.probe import ProbePlan
from prefetch_advisor.units import duration

_STDOUT = "-"
#: seconds; the connection's heartbeats must not wait for a handler
_LONGEST = 1.0


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """Everything the command line said."""

    plan: BenchPlan
    format: str
    output: Path | None
    #: where the URI came from
    origin: str


def build(options: dict[str, Any]) -> BenchOptions:
    """The options object from click's parameters.

    Raises:
        UsageError: options that exclude each other, a URI that is none.
        InputError: timings that cannot be read.
    """
    if options["output"] == "":
        raise UsageError("--output is empty: give a value, or leave the option out")
    one_source(options)
    work = work_of(options, timings_of(options) if options["timings"] is not None else None)
    if work.mean > _LONGEST:
        raise UsageError(
            f"a mean of {duration(work.mean)}: bench measures up to {duration(_LONGEST)}, longer"
            " work hardly depends on the prefetch"
        )
    uri, origin = where(options, os.environ)
    wanted = options["prefetch"] or ()
    for prefetch in wanted:
        if 0 < prefetch < options["batch"]:
            raise UsageError(
                f"--prefetch {prefetch} is below --batch {options['batch']}: nothing would ever"
                " be acked"
            )
    plan = BenchPlan(
        probe=ProbePlan(
            uri=uri,
            queue_type=options["queue_type"],
            message_size=options["message_size"],
            duration=min(3.0, options["duration"]),
            timeout=options["timeout"],
        ),
        work=work,
        style=options["style"],
        workers=options["workers"],
        batch=options["batch"],
        prefetches=wanted,
        messages=options["messages"],
        duration=options["duration"],
        seed=options["seed"],
    )
    to = options["output"]
    return BenchOptions(
        plan, options["format_"], None if to in (None, _STDOUT) else Path(to), origin
    )


def run(options: BenchOptions) -> int:
    """Measure, report. Returns the exit code.

    Raises:
        AdvisorError: the broker cannot be used, an unwritable file.
        KeyboardInterrupt: interrupted before there was anything to report, and all is clean.
    """
    from prefetch_advisor.bench_run import bench
    from prefetch_advisor.progress import progress_bar
    from prefetch_advisor.reports import bench_report

    plan = options.plan
    uri = plan.probe.uri
    said = "" if options.origin == "--uri" else f" ({options.origin})"
    output.remark([f"measuring on a queue of its own at {uri.shown}{said}"])
    with progress_bar("measuring") as progress:
        result = bench(plan, progress)
    output.remark(result.notes)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    place = output.report_options(options.output, details=True, all_queues=True)
    output.write(bench_report.FORMATS[options.format](result, place, now), options.output)
    if result.interrupted:
        output.remark(["interrupted: the report covers what was measured until then"])
        return ExitCode.INTERRUPTED
    return ExitCode.OK
