"""The window of a worker as Celery computes it: multiplier x processes, as they are in force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from prefetch_advisor.lint.judges.celery.projects import Project, projects, whole
from prefetch_advisor.lint.kinds.celery.facts import WorkerCommand
from prefetch_advisor.model.lint import AckMode, Consumer, Located, Place

#: worker_prefetch_multiplier where nothing sets it
DEFAULT_MULTIPLIER = 4


@dataclass(frozen=True)
class Window:
    """What one worker process may hold; ``None``: not known."""

    multiplier: Located[int] | None
    #: the multiplier is Celery's own
    by_default: bool
    #: processes, threads or greenlets; the most of them with ``--autoscale``
    processes: Located[int] | None

    @property
    def prefetch(self) -> Located[int] | None:
        """The prefetch count that the worker asks for."""
        if self.multiplier is None or self.processes is None:
            return None
        count = self.multiplier.value * self.processes.value
        origin = f"multiplier {self.multiplier.value} x {self.processes.value} processes"
        place = self.processes.place if self.by_default else self.multiplier.place
        return Located(count, place, origin)

    def said(self) -> str:
        """For a person: the number, or how it comes about."""
        if self.prefetch is not None:
            return f"{self.prefetch.value:,} messages ({self.prefetch.origin})"
        if self.multiplier is None:
            return "an unknown number of messages"
        return f"{self.multiplier.value} x its number of processes"


def window(project: Project, command: WorkerCommand | None) -> Window:
    """The window of the workers that a command starts; without one, as the settings alone say."""
    multiplier, by_default = _multiplier(project, command)
    return Window(multiplier, by_default, _processes(project, command))


def _multiplier(
    project: Project, command: WorkerCommand | None
) -> tuple[Located[int] | None, bool]:
    option = command.option("prefetch-multiplier") if command else None
    if option is not None:
        known = whole(option.value)
        if known is None:
            return None, False
        if known:  # zero is ignored there
            return Located(known, option.place), False
    if command is not None and not command.complete:
        return None, False
    if project.value("worker_prefetch_multiplier") is not None:
        return project.whole_number("worker_prefetch_multiplier"), False
    if not project.closed:
        return None, False
    place = command.place if command else Place("", 0)
    return Located(DEFAULT_MULTIPLIER, place), True


def _processes(project: Project, command: WorkerCommand | None) -> Located[int] | None:
    if command is not None:
        scale = command.option("autoscale")
        if scale is not None:
            bounds = [whole(part) for part in (scale.value or "").split(",")]
            known = [bound for bound in bounds if bound is not None]
            most = max(known, default=0)
            return Located(most, scale.place) if most and len(known) == len(bounds) else None
        option = command.option("concurrency")
        if option is not None:
            count = whole(option.value)
            if count is None:
                return None
            if count:  # zero is the setting, as if it were not there
                return Located(count, option.place)
        if not command.complete:
            return None
    count_said = project.whole_number("worker_concurrency")
    # without it, or with zero, as many as there are processors
    return count_said if count_said is not None and count_said.value > 0 else None


def consumers(facts: Sequence[object]) -> Iterator[Consumer]:
    """Every group of alike workers as a consumer that the rules for all clients can judge."""
    for project in projects(facts):
        if project.broker != "other":
            yield from _unlimited(project)
            yield from _limited(project)


def _unlimited(project: Project) -> Iterator[Consumer]:
    """A multiplier of zero, where it stands; unless every command has one of its own."""
    if project.commands and all(_overridden(command) for command in project.commands):
        return
    for name, setting in project.settings:
        if name == "worker_prefetch_multiplier" and whole(setting.value.value) == 0:
            place = setting.value.place
            none = Located(0, place, f"{setting.name} = 0")
            yield Consumer(project.subject, "Celery", place, prefetch=none, setting=setting.name)


def _overridden(command: WorkerCommand) -> bool:
    option = command.option("prefetch-multiplier")
    return option is not None and (whole(option.value) or 0) > 0


def _limited(project: Project) -> Iterator[Consumer]:
    commands: list[WorkerCommand | None] = [*project.commands] or [None]
    for command in commands:
        found = window(project, command)
        prefetch = found.prefetch
        if prefetch is None or prefetch.value < 1 or found.processes is None:
            continue
        queues = queues_of(command)
        yield Consumer(
            subject=command.subject if command else project.subject,
            client="Celery",
            place=command.place if command else prefetch.place,
            queue=queues[0] if len(queues) == 1 else None,
            prefetch=prefetch,
            ack=_ack(project),
            concurrency=_at_once(command, found.processes),
        )


def queues_of(command: WorkerCommand | None) -> list[str]:
    """The queues that a command names; empty: those of the app, or not known."""
    option = command.option("queues") if command else None
    names = (option.value or "").split(",") if option else []
    return [name.strip() for name in names if name.strip()]


def _at_once(command: WorkerCommand | None, processes: Located[int]) -> Located[int]:
    pool = command.option("pool") if command else None
    if pool is not None and pool.value == "solo":
        return Located(1, pool.place, "the solo pool")
    return processes


def _ack(project: Project) -> Located[AckMode] | None:
    late = project.truth("task_acks_late", default=None)
    return Located("manual", late.place) if late is not None and late.value else None
