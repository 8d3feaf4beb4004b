"""Airflow's Celery executor, and dramatiq."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from prefetch_advisor import units
from prefetch_advisor.findings import celery as rules
from prefetch_advisor.lint.judges.celery.limits import waited
from prefetch_advisor.lint.judges.celery.names_read import HELP, NO_VISIBILITY
from prefetch_advisor.lint.judges.celery.projects import ACK_TIMEOUT, whole
from prefetch_advisor.lint.kinds.broker.facts import NodeTimeout
from prefetch_advisor.lint.kinds.celery.command_line import Said
from prefetch_advisor.lint.kinds.celery.facts import (
    AirflowSetting,
    RabbitVersion,
    Variable,
    WorkerCommand,
)
from prefetch_advisor.lint.kinds.celery.values import broker
from prefetch_advisor.model.lint import Consumer, LintFinding, Located

#: Airflow's worker_concurrency and dramatiq's threads where nothing sets them
_AIRFLOW_CONCURRENCY = 16
_DRAMATIQ_THREADS = 8
_DRAMATIQ = {"dramatiq_queue_prefetch", "dramatiq_delay_queue_prefetch"}


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """The findings of both."""
    timeout = _ack_timeout(facts)
    for settings in _airflows(facts):
        yield from _airflow(settings, timeout)
    yield from _dramatiq(facts)


def consumers(facts: Sequence[object]) -> Iterator[Consumer]:
    """The workers of both as consumers that the rules for all clients can judge."""
    for settings in _airflows(facts):
        yield from _airflow_workers(settings)
    for fact in facts:
        if isinstance(fact, WorkerCommand) and fact.program == "dramatiq":
            yield from _dramatiq_workers(fact, facts)


def _airflows(facts: Sequence[object]) -> Iterator[dict[tuple[str, str], Said]]:
    """The settings of each Airflow that is known to run on RabbitMQ; a value per setting.

    Files of one directory are of one Airflow. Where they differ, the value is not known.
    """
    found: dict[str, dict[tuple[str, str], Said]] = {}
    for fact in facts:
        if isinstance(fact, AirflowSetting):
            where = str(PurePosixPath(fact.value.place.path).parent)
            settings = found.setdefault(where, {})
            key = fact.section, fact.key
            before = settings.get(key)
            same = before is None or before.value == fact.value.value
            settings[key] = fact.value if same else Located(None, fact.value.place)
    for settings in found.values():
        # without it Airflow runs on Redis
        address = settings.get(("celery", "broker_url"))
        if address is not None and broker(address.value or "") == "amqp":
            yield settings


def _number(settings: dict[tuple[str, str], Said], section: str, key: str) -> Located[int] | None:
    said = settings.get((section, key))
    known = whole(said.value) if said else None
    return Located(known, said.place) if said and known is not None else None


def _ack_timeout(facts: Sequence[object]) -> float:
    """Of the brokers that are known; 4.3 has none but for quorum queues, Airflow's are classic."""
    versions = [fact.version for fact in facts if isinstance(fact, RabbitVersion)]
    if versions and min(versions) >= (4, 3):
        return math.inf
    said = [fact.seconds.value for fact in facts if isinstance(fact, NodeTimeout)]
    return max(said, default=ACK_TIMEOUT)


def _airflow(settings: dict[tuple[str, str], Said], timeout: float) -> Iterator[LintFinding]:
    multiplier = _number(settings, "celery", "worker_prefetch_multiplier")
    if multiplier is not None and multiplier.value > 1:
        message = f"worker_prefetch_multiplier is {multiplier.value}"
        finding = rules.AIRFLOW_MULTIPLIER.finding("airflow", message)
        yield LintFinding(finding, multiplier.place)
    visible = settings.get(("celery_broker_transport_options", "visibility_timeout"))
    if visible is not None:
        finding = rules.NOT_READ.finding("visibility_timeout", NO_VISIBILITY, HELP)
        yield LintFinding(finding, visible.place)
    limit = _number(settings, "core", "default_task_execution_timeout")
    late = settings.get(("celery", "task_acks_late"))
    if limit is None or limit.value <= timeout:
        return
    if late is None or (late.value or "").lower() == "true":
        message = (
            f"a task may run for {units.duration(limit.value)}; the broker waits {waited(timeout)}"
        )
        yield LintFinding(rules.AIRFLOW_TIMEOUT.finding("airflow", message), limit.place)


def _airflow_workers(settings: dict[tuple[str, str], Said]) -> Iterator[Consumer]:
    said = settings.get(("celery", "worker_prefetch_multiplier"))
    multiplier = _number(settings, "celery", "worker_prefetch_multiplier")
    count = settings.get(("celery", "worker_concurrency"))
    processes = _number(settings, "celery", "worker_concurrency")
    # it may set any of Celery's own settings; a range takes the place of the concurrency
    open_ended = ("celery", "extra_celery_config") in settings
    if said is None or multiplier is None or open_ended:
        return
    if multiplier.value == 0:
        name, at = "worker_prefetch_multiplier", multiplier.place
        none = Located(0, at, f"{name} = 0")
        yield Consumer("airflow", "Airflow", at, prefetch=none, setting=name)
        return
    if ("celery", "worker_autoscale") in settings or (count and processes is None):
        return
    number = processes or Located(_AIRFLOW_CONCURRENCY, multiplier.place, "Airflow's default")
    product = Located(
        multiplier.value * number.value,
        multiplier.place,
        f"multiplier {multiplier.value} x {number.value} processes",
    )
    yield Consumer("airflow", "Airflow", multiplier.place, prefetch=product, concurrency=number)


def _dramatiq(facts: Sequence[object]) -> Iterator[LintFinding]:
    for fact in facts:
        if not isinstance(fact, Variable):
            continue
        if fact.name in _DRAMATIQ:
            if whole(fact.value.value) == 0:
                finding = rules.DRAMATIQ_ZERO.finding(fact.name, f"{fact.name} is 0")
                yield LintFinding(finding, fact.value.place)
        elif fact.name.lower() in _DRAMATIQ:
            message = f"dramatiq does not read {fact.name}: its name is {fact.name.lower()}"
            finding = rules.NOT_READ.finding(fact.name, message)
            yield LintFinding(finding, fact.value.place)


def _dramatiq_workers(command: WorkerCommand, facts: Sequence[object]) -> Iterator[Consumer]:
    """Each queue's consumer in each process: its prefetch is twice the threads if none is given."""
    option = command.option("threads")
    threads = whole(option.value) if option else _DRAMATIQ_THREADS
    if not threads or not command.complete:
        return
    said = dict(command.environment).get("dramatiq_queue_prefetch")
    if said is None and any(
        isinstance(fact, Variable) and fact.name == "dramatiq_queue_prefetch" for fact in facts
    ):
        return  # set somewhere, for these workers or for others
    given = whole(said.value) if said else 0
    if given is None:
        return
    place = option.place if option else command.place
    own = f"2 x {threads} threads"
    prefetch = Located(given, said.place) if said and given else Located(2 * threads, place, own)
    yield Consumer(
        subject=command.subject,
        client="dramatiq",
        place=command.place,
        prefetch=prefetch,
        concurrency=Located(threads, place),
    )
