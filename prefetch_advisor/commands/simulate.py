"""``simulate``: what messages and consumers are meant, run every setting, render, write."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prefetch_advisor.commands import output
from prefetch_advisor.commands.option_types import CLIENTS
from prefetch_advisor.commands.simulate_options import SAMPLES
from prefetch_advisor.config import Policy
from prefetch_advisor.draws import Shape, cv_of
from prefetch_advisor.errors import ExitCode, InputError, NoQueueError, UsageError
from prefetch_advisor.feeding import Handling
from prefetch_advisor.model.figures import ClientKind, FigureSource, RoundTrip
from prefetch_advisor.reports.names import listed, quoted
from prefetch_advisor.simulate import Arrivals, Consumers, Plan, Setting, Work
from prefetch_advisor.units import duration, plural, rate

if TYPE_CHECKING:
    from prefetch_advisor.model.timing import TimingRow

STDOUT = "-"
#: settings of one run
_MOST_SETTINGS = 2_000


@dataclass(frozen=True, slots=True)
class SimulateOptions:
    """Everything the command line said."""

    plan: Plan
    format: str
    output: Path | None
    #: --html: a page beside the report
    html: Path | None


def build(options: dict[str, Any]) -> SimulateOptions:
    """The options object from click's parameters.

    Raises:
        UsageError: no messages to simulate, options that exclude each other.
        InputError: timings that cannot be read or lack what is asked of them.
    """
    if options["output"] == "":
        raise UsageError("--output is empty: give a value, or leave the option out")
    one_source(options)
    if options["tasks"] is not None and options["messages"] is not None:
        raise UsageError("--messages does not go with --tasks")
    timed = timings_of(options) if options["timings"] is not None else None
    work = work_of(options, timed)
    consumers = _consumers(options, timed)
    arrivals = _arrivals(options, timed)
    plan = Plan(
        work=work,
        arrivals=arrivals,
        consumers=consumers,
        settings=(),
        messages=options["messages"],
        message_bytes=options["message_bytes"] or (timed.mean_bytes if timed else None),
        seed=options["seed"],
        policy=Policy(target_busy_share=options["target_busy_share"]),
    )
    to = options["output"]
    found = SimulateOptions(
        plan=_with_settings(plan, options),
        format=options["format_"],
        output=None if to in (None, STDOUT) else Path(to),
        html=output.page_of(options["html"]),
    )
    inputs = [options["timings"]] if options["timings"] is not None else []
    for option, written in (("-o", found.output), ("--html", found.html)):
        if written is not None:
            output.refuse_inputs(written, inputs, None, option)
    return found


def run(options: SimulateOptions) -> int:
    """Simulate, report. Returns the exit code.

    Raises:
        UsageError: every setting is too slow for what arrives.
        AdvisorError: an unwritable file.
    """
    from prefetch_advisor.progress import progress_bar
    from prefetch_advisor.reports import simulate_report
    from prefetch_advisor.simulate import simulate

    with progress_bar("simulating", unit="messages", after=1.0) as progress:
        simulation = simulate(options.plan, progress)
    overloaded = [row for row in simulation.rows if row.growth]
    if len(overloaded) == len(simulation.rows):
        raise UsageError(_too_slow(simulation.rows, options.plan))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    place = output.report_options(options.output, details=True, all_queues=True)
    output.write(simulate_report.FORMATS[options.format](simulation, place, now), options.output)
    if options.html is not None:
        from prefetch_advisor.reports.html import simulation as page

        output.write(page.render(simulation, now), options.html)
    return ExitCode.OK


def _too_slow(rows: Sequence[Any], plan: Plan) -> str:
    best = min(rows, key=lambda row: row.growth)
    assert plan.arrivals is not None
    setting = best.setting
    return (
        f"{rate(plan.arrivals.rate)} arrive, and {plural(setting.consumers, 'consumer')} with"
        f" prefetch {setting.prefetch or 'unlimited'} can do {rate(best.capacity)} at most: the"
        f" backlog grows by {rate(best.growth)}, and waits without end; give more --consumers, or"
        " leave --arrival-rate out for a backlog"
    )


def one_source(options: dict[str, Any]) -> None:
    """Make sure that exactly one option says what messages take, and the others go with it.

    Raises:
        UsageError: they do not.
    """
    ways = [name for name in ("tasks", "timings", "processing_time") if options[name] is not None]
    if len(ways) != 1:
        named = "--tasks, --timings and --processing-time"
        found = f"found {len(ways)}" if ways else "found none"
        raise UsageError(f"what messages take is said by one of {named}: {found}")
    if ways != ["processing_time"]:
        for name in ("distribution", "cv"):
            if options[name] is not None:
                raise UsageError(f"--{name} goes with --processing-time")
    if ways != ["timings"]:
        for name in ("queue", "unit"):
            if options[name] is not None:
                raise UsageError(f"--{name} goes with --timings")
        for name in ("rtt", "arrival_rate"):
            if options.get(name) == SAMPLES:
                raise UsageError(f"--{name.replace('_', '-')} samples goes with --timings")
    if options["tasks"] is not None:
        if options.get("arrival_rate") is not None:
            raise UsageError("--arrival-rate does not go with --tasks")
        if not sum(options["tasks"]):
            raise UsageError("--tasks: the messages take no time at all")


def timings_of(options: dict[str, Any]) -> TimingRow:
    """The timings of the one queue that is meant."""
    from prefetch_advisor.sources import InputOptions, read_inputs

    where = options["timings"]
    times = options.get("arrival_rate") == SAMPLES
    reading = InputOptions(kind="timings", unit=options["unit"], strict=False, times=times)
    intakes = read_inputs([where], reading, None)
    for intake in intakes:
        if intake.bad_count:
            output.remark([f"{intake.where}: {plural(intake.bad_count, 'row')} left out"])
    rows = [row for intake in intakes for row in intake.timings if row.processing is not None]
    names = sorted({row.name for row in rows if row.name is not None})
    wanted = options["queue"]
    if wanted is not None:
        rows = [row for row in rows if row.name == wanted]
        if not rows:
            raise NoQueueError(f"{where} has no queue {quoted(wanted)}; it has {listed(names)}")
    if len(rows) > 1:
        raise UsageError(f"{where} has {len(names):,} queues: --queue NAME; {listed(names)}")
    if not rows:
        raise InputError(f"{where}: expected processing times, found none")
    return rows[0]


def work_of(options: dict[str, Any], timed: TimingRow | None) -> Work:
    """The times that messages take.

    Raises:
        UsageError: a variation that the distribution cannot have.
        InputError: timings that are all 0.
    """
    if options["tasks"] is not None:
        tasks = options["tasks"]
        mean = statistics.fmean(tasks)
        cv = statistics.pstdev(tasks) / mean
        return Work(mean, cv, plural(len(tasks), "task"), tasks, tasks=True)
    if timed is not None:
        assert timed.processing is not None
        values = list(chain.from_iterable(run.processing.tolist() for run in timed.runs))
        mean = statistics.fmean(values)
        if not mean:
            raise InputError(f"{timed.where}: all processing times are 0")
        cv = statistics.pstdev(values) / mean
        return Work(mean, cv, f"{plural(len(values), 'row')} of {timed.where}", values)
    cv = options["cv"]
    shape: Shape = options["distribution"] or ("lognormal" if cv else "constant")
    try:
        chosen = cv_of(shape, cv)
    except ValueError as error:
        raise UsageError(str(error)) from None
    mean = options["processing_time"]
    varies = f", CV {chosen:g}" if shape not in ("constant", "exponential") else ""
    return Work(mean, chosen, f"{shape}, {duration(mean)}{varies}", shape=shape)


def _consumers(options: dict[str, Any], timed: TimingRow | None) -> Consumers:
    chosen = options["concurrency"]
    kind: ClientKind = chosen if chosen in CLIENTS else "workers"
    workers = 1 if chosen is None or chosen in CLIENTS else chosen
    return Consumers(
        handling=Handling(workers, kind, options["batch"]),
        rtt=_rtt(options, timed),
        speeds=options["speed"] or (1.0,),
        priorities=options["priority"] or (0,),
        join=options["join"],
        kill=options["kill"],
        single_active=options["single_active"],
        failure_rate=options["failure_rate"],
    )


def _rtt(options: dict[str, Any], timed: TimingRow | None) -> RoundTrip | None:
    given = options["rtt"]
    if given != SAMPLES:
        return None if given is None else RoundTrip(given, FigureSource.GIVEN, "--rtt")
    assert timed is not None
    import numpy as np

    runs = [run.rtt for run in timed.runs if run.rtt is not None]
    if not runs:
        raise InputError(f"{timed.where}: --rtt samples needs a column rtt, found none")
    samples = np.concatenate(runs)
    return RoundTrip(float(samples.mean()), FigureSource.MEASURED, timed.where, samples=samples)


def _arrivals(options: dict[str, Any], timed: TimingRow | None) -> Arrivals | None:
    given = options["arrival_rate"]
    if given is None:
        return None
    if given != SAMPLES:
        if not given:
            raise UsageError("--arrival-rate 0: nothing would arrive")
        return Arrivals(given, "--arrival-rate")
    assert timed is not None
    times = timed.times
    if times is None or not times[-1]:
        raise InputError(f"{timed.where}: --arrival-rate samples needs timestamps, found none")
    rate_ = (len(times) - 1) / float(times[-1])
    return Arrivals(rate_, f"timestamps of {timed.where}", times.tolist())


def _with_settings(plan: Plan, options: dict[str, Any]) -> Plan:
    """The plan with every prefetch and count that is asked for."""
    from dataclasses import replace

    from prefetch_advisor.simulate import advise_for, around
    from prefetch_advisor.sizing import Sizing

    counts: tuple[int, ...] = options["consumers"]
    plan = replace(plan, settings=(Setting(1, max(counts)),))
    batch = plan.consumers.handling.batch
    wanted = options["prefetch"]
    if wanted is None and plan.work.tasks:
        wanted = (0, 1)
    if wanted is None:
        advice = advise_for(plan)
        advised = advice.prefetch if isinstance(advice, Sizing) else 1
        wanted = around(advised, max(batch, plan.consumers.handling.workers))
    for value in wanted:
        if 0 < value < batch:
            raise UsageError(
                f"--prefetch {value} is below --batch {batch}: nothing would ever be acked"
            )
    settings = tuple(Setting(n, c) for c in counts for n in wanted)
    if len(settings) > _MOST_SETTINGS:
        raise UsageError(f"{len(settings):,} settings are more than {_MOST_SETTINGS:,}")
    if plan.consumers.join is not None and max(counts) < 2:
        raise UsageError("--join needs a second consumer: --consumers 2")
    if plan.consumers.kill is not None and min(counts) < 2:
        raise UsageError("--kill needs a second consumer, who takes over: --consumers 2")
    return replace(plan, settings=settings)
