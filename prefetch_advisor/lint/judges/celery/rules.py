"""What is certain of Celery's workers from the files of their project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefetch_advisor.findings import celery as rules
from prefetch_advisor.findings import declared
from prefetch_advisor.findings.rule import Rule
from prefetch_advisor.lint.judges.celery import limits
from prefetch_advisor.lint.judges.celery.names_read import not_read, visibility_timeout
from prefetch_advisor.lint.judges.celery.projects import Project, projects, whole
from prefetch_advisor.lint.judges.celery.windows import queues_of, window
from prefetch_advisor.lint.kinds.celery.facts import DelayedCall
from prefetch_advisor.model.lint import LintFinding, Place


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """The findings of every project."""
    for project in projects(facts):
        if project.broker == "other":
            continue  # Redis, SQS: another tool's business
        yield from _ignored_option(project)
        yield from not_read(project)
        if project.broker == "amqp":
            yield from limits.judge(project)
            yield from _global_qos(project)
            yield from visibility_timeout(project)
        yield from _disabled_prefetch(project)
        yield from _delayed(project)
        yield from _autoscaled(project)
        yield from _windows_of_queues(project)


def _found(rule: Rule, subject: str, message: str, place: Place) -> LintFinding:
    return LintFinding(rule.finding(subject, message), place)


def _ignored_option(project: Project) -> Iterator[LintFinding]:
    for command in project.commands:
        option = command.option("prefetch-multiplier")
        if option is None or whole(option.value) != 0:
            continue
        said = project.whole_number("worker_prefetch_multiplier")
        if project.before("celery", (5,)):
            message = "before Celery 5 it takes away the limit"
        elif said is not None:
            message = f"the setting is in force instead: {said.value}"
        else:
            message = "the setting is in force instead, 4 where there is none"
        yield _found(
            rules.MULTIPLIER_OPTION,
            command.subject,
            f"--prefetch-multiplier 0: {message}",
            option.place,
        )


def _global_qos(project: Project) -> Iterator[LintFinding]:
    """Quorum queues refuse the window of a channel, which Celery asks for unless it sees them."""
    detects = project.truth("worker_detect_quorum_queues", default=None)
    sees = not project.before("celery", (5, 5)) and (detects is None or detects.value)
    rabbits = project.rabbit_before((4, 0))
    if project.quorum is None or sees or not (project.before("kombu", (5, 7)) or rabbits):
        return
    why = "before 5.5" if detects is None else "without worker_detect_quorum_queues"
    message = f"Celery {why} asks for a window of the channel, which a quorum queue refuses"
    yield _found(declared.GLOBAL_QOS, project.subject, message, project.quorum.place)


def _disabled_prefetch(project: Project) -> Iterator[LintFinding]:
    if project.broker != "amqp":
        return
    said = project.truth("worker_disable_prefetch", default=None)
    if said is not None and said.value:
        message = "worker_disable_prefetch is ignored on RabbitMQ"
        yield _found(rules.DISABLE_PREFETCH, project.subject, message, said.place)
    for command in project.commands:
        if option := command.option("disable-prefetch"):
            message = "--disable-prefetch is ignored on RabbitMQ"
            yield _found(rules.DISABLE_PREFETCH, command.subject, message, option.place)


def _delayed(project: Project) -> Iterator[LintFinding]:
    """Countdowns: one finding for a project, at the first of them."""
    calls = [fact for fact in project.facts if isinstance(fact, DelayedCall)]
    if not calls or project.broker != "amqp":
        return
    first = min(calls, key=lambda call: (call.place.path, call.place.line, call.place.column))
    where = (
        f"{first.argument}= in {len(calls):,} places" if len(calls) > 1 else f"{first.argument}="
    )
    if project.quorum is not None:
        kind = project.quorum.exchange_type
        if kind == "":
            said = project.value("task_default_exchange_type")
            kind = "direct" if said is None else str(said.value)
        if kind == "direct" and project.static:
            message = f"{where}: {project.static}, and its exchange is a direct one"
            yield _found(rules.COUNTDOWN_STARVES, project.subject, message, first.place)
    elif project.static:
        message = f"{where}: {project.static}, so that the window cannot grow"
        yield _found(rules.COUNTDOWN_STARVES, project.subject, message, first.place)
    elif project.closed and project.value("worker_eta_task_limit") is None:
        message = f"{where}, and worker_eta_task_limit is not set"
        if project.before("celery", (5, 6)):
            message = f"{where}, and this Celery has no worker_eta_task_limit (5.6)"
        yield _found(rules.COUNTDOWN_HELD, project.subject, message, first.place)


def _autoscaled(project: Project) -> Iterator[LintFinding]:
    if project.quorum is None or not project.static:
        return
    for command in project.commands:
        if option := command.option("autoscale"):
            held = window(project, command).said()
            message = f"--autoscale {option.value or ''}: {project.static}; it holds {held}"
            yield _found(rules.AUTOSCALE_STATIC, command.subject, message, option.place)


def _windows_of_queues(project: Project) -> Iterator[LintFinding]:
    for command in project.commands if project.static else ():
        queues, option = queues_of(command), command.option("queues")
        if len(queues) < 2 or option is None:
            continue
        found = window(project, command)
        each = found.prefetch
        total = f" = {each.value * len(queues):,}" if each and each.value else ""
        message = f"{len(queues)} queues x {found.said()}{total}: {project.static}"
        yield _found(rules.WINDOW_PER_QUEUE, command.subject, message, option.place)
