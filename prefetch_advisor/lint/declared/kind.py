"""What the type of a queue and the broker's version make of settings, whatever the figures."""

from __future__ import annotations

from collections.abc import Iterator

from prefetch_advisor.findings import declared as rules
from prefetch_advisor.limits import version_of
from prefetch_advisor.lint.declared import DeclaredQueue
from prefetch_advisor.lint.declared.placing import finding
from prefetch_advisor.lint.declared.words import numbers
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding


def of_kind(queue: DeclaredQueue) -> Iterator[LintFinding]:
    """What the type and version of the queue make of it, whatever its figures."""
    kind, shared = queue.type, queue.global_qos
    if kind is not None and kind.value == "stream" and queue.prefetch is None:
        auto = queue.ack is not None and queue.ack.value == "auto"
        if not auto:
            message = "no prefetch is said, and over AMQP 0-9-1 a stream is not read without one"
            rule = rules.STREAM_NEEDS_PREFETCH
            yield finding(rule, queue, message, kind, None, Severity.WARNING)
    if shared is not None and shared.value:
        message, severity = _shared(queue)
        yield finding(rules.GLOBAL_QOS, queue, message, shared, None, severity)


def _shared(queue: DeclaredQueue) -> tuple[str, Severity]:
    """A global prefetch by version and type (release notes of 4.3; refused with 540 before)."""
    version = version_of(queue.broker_version.value if queue.broker_version else None)
    kind = queue.type.value if queue.type else None
    from_ = numbers(queue, ("broker_version", "type"))
    ignored = "each consumer gets the whole prefetch, unless the broker permits the feature"
    if version is not None and version >= (4, 3):
        return f"global is ignored from 4.3 on: {ignored}{from_}", Severity.WARNING
    if kind not in ("quorum", "stream"):
        later = "" if version else f"; from 4.3 on {ignored}"
        return f"one limit is shared by all consumers of a channel{later}{from_}", Severity.WARNING
    refused = f"a {kind} queue refuses it: the connection is closed with 540"
    if version is None:
        return f"up to 4.2 {refused}; from 4.3 on {ignored}{from_}", Severity.WARNING
    return f"{refused}{from_}", Severity.ERROR
