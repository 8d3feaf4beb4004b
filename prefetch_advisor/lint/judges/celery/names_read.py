"""Settings of Celery under names that it does not read."""

from __future__ import annotations

from collections.abc import Iterator

from prefetch_advisor.findings import celery as rules
from prefetch_advisor.lint.judges.celery.projects import Project
from prefetch_advisor.lint.kinds.celery import names
from prefetch_advisor.lint.kinds.celery.facts import Form, Setting
from prefetch_advisor.model.lint import LintFinding

NO_VISIBILITY = (
    "visibility_timeout is an option of Redis and SQS; on RabbitMQ the delivery acknowledgement "
    "timeout is in its place"
)
HELP = "Remove it; for tasks of more than 30 minutes raise consumer-timeout by a policy."


def visibility_timeout(project: Project) -> Iterator[LintFinding]:
    """An option of brokers that hide what they deliver; only for one that is RabbitMQ."""
    for setting in (fact for fact in project.facts if isinstance(fact, Setting)):
        if setting.name == "visibility_timeout":
            finding = rules.NOT_READ.finding(setting.name, NO_VISIBILITY, HELP)
            yield LintFinding(finding, setting.value.place)


def not_read(project: Project) -> Iterator[LintFinding]:
    """Names in modules that an app reads, where nothing else says what they are for.

    What does may take its value from them: ``app.conf.x = settings.CELERY_X``.
    """
    said = {name for name, _ in project.settings}
    for setting in (fact for fact in project.facts if isinstance(fact, Setting)):
        meant = names.meant(setting.name)
        namespaces = project.namespaces(setting)
        if setting.form is Form.APP or meant is None or meant in said or namespaces is None:
            continue
        if names.canonical(setting.name, namespaces) is not None or not project.whole:
            continue
        (namespace, *others) = sorted(namespaces)
        right = f"{namespace.rstrip('_')}_{meant.upper()}" if namespace.isupper() else meant
        if others:
            continue
        finding = rules.NOT_READ.finding(
            setting.name, f"Celery does not read {setting.name} there: {right} is what it reads"
        )
        yield LintFinding(finding, setting.value.place)
