"""Time limits of Celery's tasks against the window and the broker's ack timeout.

A limit is the longest that a task may run: whoever sets it to hours has tasks of hours in mind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prefetch_advisor import units
from prefetch_advisor.findings import celery as rules
from prefetch_advisor.lint.judges.celery.projects import ACK_TIMEOUT, Project
from prefetch_advisor.lint.judges.celery.windows import Window, window
from prefetch_advisor.lint.kinds.celery.facts import UNKNOWN, CeleryTask, WorkerCommand
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding, Located

#: tasks that may run this long, in seconds, are long
LONG = 3600
#: a century is none
_LONGEST = 100 * 365 * 86_400


@dataclass(frozen=True)
class _Limit:
    """The longest time that tasks may run, and when they are acked."""

    seconds: Located[float]
    #: ``None``: not known
    late: bool | None
    what: str


def judge(project: Project) -> Iterator[LintFinding]:
    """Findings for the app's limits and for those of single tasks."""
    found = list(_limits(project))
    yield from _outlived(project, found)
    long = [limit for limit in found if limit.seconds.value >= LONG]
    if long:
        yield from _hoarded(project, max(long, key=lambda limit: limit.seconds.value))


def _limits(project: Project) -> Iterator[_Limit]:
    said = project.truth("task_acks_late", default=False)
    late = None if said is None else said.value
    ends = [project.value(f"task_{kind}time_limit") for kind in ("soft_", "")]
    known = [
        Located(float(end.value), end.place)
        for end in ends
        if end is not None and isinstance(end.value, int | float) and 0 < end.value < _LONGEST
    ]
    unknown = any(end is not None and end.value is UNKNOWN for end in ends)
    common = min(known, key=lambda end: end.value) if known and not unknown else None
    if common is not None:
        yield _Limit(common, late, "tasks")
    for task in (fact for fact in project.facts if isinstance(fact, CeleryTask)):
        if task.limit is None and task.acks_late is None:
            continue
        own = late if task.acks_late is None else task.acks_late.value
        limit = task.limit or (common if own != late else None)
        if limit is not None and 0 < limit.value < _LONGEST:
            yield _Limit(limit, own, task.name)


def _outlived(project: Project, found: list[_Limit]) -> Iterator[LintFinding]:
    timeout = project.ack_timeout
    for limit in found:
        if limit.late and limit.seconds.value > timeout:
            message = (
                f"{limit.what} may run for {units.duration(limit.seconds.value)} and are acked "
                f"after that; the broker waits {waited(timeout)}"
            )
            finding = rules.TASK_OUTLIVES_TIMEOUT.finding(project.subject, message)
            yield LintFinding(finding, limit.seconds.place)


def waited(timeout: float) -> str:
    """How long the broker waits, for a person."""
    return units.duration(timeout) + (" by default" if timeout == ACK_TIMEOUT else "")


def _hoarded(project: Project, limit: _Limit) -> Iterator[LintFinding]:
    """Once for each multiplier that is in force for some workers."""
    commands: list[WorkerCommand | None] = [*project.commands] or [None]
    seen = set()
    for command in commands:
        held = window(project, command)
        if held.multiplier is None or held.multiplier.value < 1:
            continue
        place = limit.seconds.place if held.by_default else held.multiplier.place
        if place in seen:
            continue
        subject = command.subject if command and not held.by_default else project.subject
        if held.multiplier.value > 1:
            seen.add(place)
            yield _many(subject, held, limit)
        elif limit.late is False:
            seen.add(place)
            yield _two(subject, held, limit)


def _many(subject: str, held: Window, limit: _Limit) -> LintFinding:
    message = (
        f"a worker holds {held.said()}, and {limit.what} may run for "
        f"{units.duration(limit.seconds.value)}"
    )
    if held.by_default:
        # nobody chose it, and a limit is not how long tasks take
        finding = rules.LONG_TASKS.finding(subject, message, severity=Severity.INFO)
        return LintFinding(finding, limit.seconds.place)
    assert held.multiplier is not None
    return LintFinding(rules.LONG_TASKS.finding(subject, message), held.multiplier.place)


def _two(subject: str, held: Window, limit: _Limit) -> LintFinding:
    assert held.multiplier is not None
    each = held.processes
    count = f"{2 * each.value:,} messages" if each else "two messages for each process"
    message = (
        f"a worker holds {count}, half of them behind {limit.what} that may run for "
        f"{units.duration(limit.seconds.value)}"
    )
    place = limit.seconds.place if held.by_default else held.multiplier.place
    return LintFinding(rules.EARLY_ACK_LONG_TASKS.finding(subject, message), place)
