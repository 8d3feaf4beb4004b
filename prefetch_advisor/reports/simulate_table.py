"""A simulation for people: what was simulated, a line for each setting, what is advised and why."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from prefetch_advisor import units
from prefetch_advisor.reports import pictures
from prefetch_advisor.reports.escape import legible
from prefetch_advisor.reports.layout import Cell, Column, Grid, fit, laid_out
from prefetch_advisor.reports.timelines import spans
from prefetch_advisor.sizing import Sizing

if TYPE_CHECKING:
    from prefetch_advisor.dispatch import Share
    from prefetch_advisor.reports.options import ReportOptions
    from prefetch_advisor.simulate import Row, Simulation
    from prefetch_advisor.spread import Summary

_LABEL = 11
_UNLIMITED = "no limit"
#: consumers whose shares are told one by one, where there are not many settings
_FEW_CONSUMERS = 8
_FEW_ROWS = 4
#: settings that are drawn as bars
_BARS = 20


def table(simulation: Simulation, options: ReportOptions, generated_at: str) -> str:
    """What was simulated, a line for each setting, and the advised prefetch with its reason."""
    lines = [legible(line, not options.unicode).rstrip() for line in _lines(simulation, options)]
    return "".join(f"{line}\n" for line in lines)


def _lines(simulation: Simulation, options: ReportOptions) -> Iterator[str]:
    for label, text in told(simulation):
        yield from _wrapped(text, label, options.width)
    yield ""
    grid = grid_of(simulation)
    fitted = fit(grid, options.width, len)
    for line in laid_out(grid, fitted, "..", len):
        yield "".join(cell.text for cell in line)
    yield ""
    yield from _wrapped(advised(simulation), "advised", options.width)
    for text in _overloaded(simulation):
        yield from _wrapped(text, "too slow", options.width)
    if len(simulation.rows) <= _FEW_ROWS:
        for row in simulation.rows:
            if 1 < row.setting.consumers <= _FEW_CONSUMERS:
                yield from _wrapped(_shares(row), "shares", options.width)
    missing = [c.title for place, c in enumerate(grid.columns) if place not in fitted.kept]
    if missing:
        text = f"no room for {', '.join(missing)}: a wider terminal, or --format csv"
        yield from _wrapped(text, "", options.width)
    yield from _pictures(simulation, options)


def advised(simulation: Simulation) -> str:
    """The prefetch that ``advise`` would say, and why it is the one."""
    advice = simulation.advice
    if isinstance(advice, Sizing):
        return f"* prefetch {advice.prefetch:,} is what advise would say: {advice.reason}"
    return f"no prefetch can be advised: {advice.reason}"


def _pictures(simulation: Simulation, options: ReportOptions) -> Iterator[str]:
    """Bars of the busy share, and of a few tasks who did what when."""
    rows, advice = simulation.rows, simulation.advice
    rule = advice.rule.prefetch if isinstance(advice, Sizing) and advice.rule else None
    if 2 < len(rows) <= _BARS and len({row.setting.consumers for row in rows}) == 1:
        found = [
            pictures.Bar(
                row.setting.prefetch,
                row.dealt.steady,
                row.dealt.buffer_waits.mean if row.setting.prefetch else None,
                ("advised",) * row.advised + ("rule",) * (row.setting.prefetch == rule),
            )
            for row in rows
        ]
        yield ""
        yield "busy share by prefetch, and what a message waits in a consumer's buffer"
        yield from pictures.bars(found, options.width, options.unicode)
    backlog = simulation.plan.arrivals is None
    timed = [row for row in rows if row.steps and row.setting.consumers <= _FEW_CONSUMERS]
    end = max((row.dealt.makespan for row in timed), default=0.0)
    for row in timed[:_FEW_ROWS]:
        lanes = [
            (letter(number), spans(row.steps, number, end, backlog))
            for number in range(row.setting.consumers)
        ]
        yield ""
        yield _setting(row)
        yield from pictures.timeline(lanes, end, options.width, options.unicode)


def _wrapped(text: str, label: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, _LABEL + 30),
        initial_indent=label.ljust(_LABEL),
        subsequent_indent=" " * _LABEL,
        break_on_hyphens=False,
        break_long_words=False,
    )


def told(simulation: Simulation) -> Iterator[tuple[str, str]]:
    """What is simulated: labels, and what they say."""
    plan = simulation.plan
    work, consumers = plan.work, plan.consumers
    total = units.duration(work.mean * len(work.values)) if work.tasks else ""
    what = f"{work.origin}, {total} of work" if work.tasks else f"{work.origin}"
    if work.values and not work.tasks:
        what += f": mean {units.duration(work.mean)}, CV {work.cv:.3g}"
    yield "work", what
    if plan.arrivals is None:
        yield "arrivals", "all there at the start"
    else:
        how = "as recorded" if plan.arrivals.times else "at random"
        yield "arrivals", f"{how}, {units.rate(plan.arrivals.rate)} ({plan.arrivals.origin})"
    kind = consumers.handling.kind
    at_once = units.plural(consumers.handling.workers, "message") + " at once each"
    client = {
        "async": "every delivery is started at once",
        "loop": "the handler blocks its loop, acks leave when all that was buffered is done",
    }.get(kind, at_once)
    trip = "none" if consumers.rtt is None else units.duration(consumers.rtt.mean)
    more = [f"acks for {consumers.handling.batch} together"] * (consumers.handling.batch > 1)
    more += ["one active at a time"] * consumers.single_active
    if consumers.speeds != (1.0,):
        more.append("speeds " + ", ".join(f"{speed:g}" for speed in consumers.speeds))
    if consumers.priorities != (0,):
        more.append("priorities " + ", ".join(map(str, consumers.priorities)))
    if consumers.join is not None:
        more.append(f"the last one comes after {units.duration(consumers.join)}")
    if consumers.kill is not None:
        more.append(f"the first one dies after {units.duration(consumers.kill)}")
    if consumers.failure_rate:
        more.append(f"{units.percent(consumers.failure_rate)} of the deliveries are given back")
    yield "consumers", "; ".join([f"{client}; round trip {trip}", *more])


_COLUMNS = (
    Column("consumers", right=True, leaves=0),
    Column("prefetch", right=True),
    Column("", leaves=0),
    Column("per second", right=True),
    Column("busy", right=True),
    Column("done after", right=True, leaves=3),
    Column("wait", right=True),
    Column("95 %", right=True, leaves=4),
    Column("99 %", right=True, leaves=6),
    Column("in queue", right=True, leaves=8),
    Column("held", right=True, leaves=2),
    Column("most", right=True, leaves=9),
    Column("to stop", right=True, leaves=5),
    Column("skew", right=True, leaves=7),
    Column("again", right=True, leaves=1),
)


def grid_of(simulation: Simulation) -> Grid:
    """A line for each setting."""
    rows = [_cells(row, simulation) for row in simulation.rows]
    wanted = [
        place
        for place, column in enumerate(_COLUMNS)
        if column.title in ("prefetch", "per second", "busy", "wait")
        or len({row[place] for row in rows} - {"", "-"}) > (column.title == "consumers")
    ]
    columns: tuple[Column, ...] = _COLUMNS
    if simulation.plan.arrivals is None and not simulation.plan.work.tasks:
        columns = tuple(replace(c, title="buffered") if c.title == "wait" else c for c in columns)
    return Grid(
        tuple(columns[place] for place in wanted),
        tuple(tuple(Cell(row[place]) for place in wanted) for row in rows),
    )


def _cells(row: Row, simulation: Simulation) -> list[str]:
    dealt, plan = row.dealt, simulation.plan
    # of a backlog that goes on and on, only the part in a consumer's buffer means something
    endless = plan.arrivals is None and not plan.work.tasks
    waits = dealt.buffer_waits if endless else dealt.waits if not row.growth else None
    again = dealt.redelivered if plan.consumers.kill or plan.consumers.failure_rate else None
    return [
        f"{row.setting.consumers:,}",
        f"{row.setting.prefetch:,}" if row.setting.prefetch else _UNLIMITED,
        "*" if row.advised else "",
        units.rate(dealt.throughput),
        _busy(row),
        units.duration(dealt.makespan) if plan.work.tasks else "-",
        *_times(waits),
        units.duration(dealt.queue_waits.mean) if waits and not endless else "-",
        _held(dealt.mean_unacked, plan.message_bytes),
        _held(dealt.most_unacked, plan.message_bytes),
        units.duration(dealt.held.mean),
        "-" if row.skew is None else f"{row.skew:.2g}",
        "" if again is None else f"{again:,}",
    ]


def _busy(row: Row) -> str:
    return units.percent(row.dealt.steady)


def _times(summary: Summary | None) -> list[str]:
    if summary is None:
        return ["grows", "-", "-"]
    return [units.duration(value) for value in (summary.mean, summary.p95, summary.p99)]


def _held(messages: float, size: float | None) -> str:
    held = units.number(messages)
    return held if size is None else f"{held} ({units.size(messages * size)})"


def _overloaded(simulation: Simulation) -> Iterator[str]:
    """What arrives beyond what can be done, by count of consumers."""
    slow: dict[int, list[Row]] = {}
    for row in simulation.rows:
        if row.growth:
            slow.setdefault(row.setting.consumers, []).append(row)
    arrivals = simulation.plan.arrivals
    for count, rows in slow.items():
        assert arrivals is not None
        values = ", ".join(f"{r.setting.prefetch:,}" if r.setting.prefetch else "0" for r in rows)
        least, most = min(r.growth for r in rows), max(r.growth for r in rows)
        grows = units.rate(most)
        if units.rate(least) != grows:
            grows = f"{units.rate(least)} to {grows}"
        yield (
            f"{units.plural(count, 'consumer')}, prefetch {values}: {units.rate(arrivals.rate)}"
            f" arrive, the backlog grows by {grows}"
        )


def _setting(row: Row) -> str:
    prefetch = f"prefetch {row.setting.prefetch:,}" if row.setting.prefetch else _UNLIMITED
    return f"{units.plural(row.setting.consumers, 'consumer')}, {prefetch}"


def _shares(row: Row) -> str:
    told = ", ".join(
        f"{letter(number)} {units.plural(share.messages, 'message')} in"
        f" {units.duration(share.work)}{_lost(share)}"
        for number, share in enumerate(row.dealt.consumers)
    )
    return f"{_setting(row)}: {told}"


def letter(number: int) -> str:
    """How the consumer of that number, from 0 on, is called."""
    return chr(ord("A") + number)


def _lost(share: Share) -> str:
    return f" (died with {share.lost:,})" if share.lost else ""
