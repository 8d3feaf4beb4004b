"""Findings of ``advise`` as findings of settings, each at the value that it is about."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from prefetch_advisor.findings import declared as rules
from prefetch_advisor.findings.rule import Rule
from prefetch_advisor.lint.declared import DeclaredQueue
from prefetch_advisor.model.advice import Finding, Severity
from prefetch_advisor.model.lint import LintFinding, Located, Place

_OPTION = re.compile(r"--(?=[a-z])")
_LONGEST_NAME = 60
#: where the value of a finding stands, if that is not the prefetch
_AT = {"PA004": "timings"}


def told(
    found: Finding,
    queue: DeclaredQueue,
    more: str = "",
    advised: int | None = None,
    at: Located[Any] | None = None,
) -> LintFinding:
    """A hint of ``advise`` as a finding of settings, at the value that it is about."""
    rule = rules.TWINS.get(found.code)
    if rule is not None:
        found = replace(found, code=rule.code, name=rule.name, url=rule.url)
    message = _OPTION.sub("", found.message) + more
    help_ = with_advised(_OPTION.sub("", found.help), advised)
    value = at or getattr(queue, _AT.get(found.code, "prefetch"))
    return _placed(replace(found, message=message, help=help_), queue, value)


def with_advised(help_: str, advised: int | None) -> str:
    """What to do, with the number that it speaks of; without one, with where it comes from."""
    if advised is not None:
        help_ = help_.replace("the advised value", f"{advised:,}")
        return help_.replace("the advised prefetch", f"prefetch {advised:,}")
    if "the advised" not in help_:
        return help_
    return f"{help_} Declare processing-time and rtt, or ask advise, for that value."


def finding(
    rule: Rule,
    queue: DeclaredQueue,
    message: str,
    value: Located[Any] | None,
    help_: str | None = None,
    severity: Severity | None = None,
) -> LintFinding:
    """A finding at a value; an error only where nothing may override the value."""
    return _placed(rule.finding(queue.name.value, message, help_, severity), queue, value)


def shortened(name: str) -> str:
    """A name in a message, its end cut where it is long."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."


def _placed(found: Finding, queue: DeclaredQueue, value: object) -> LintFinding:
    found = replace(found, message=f"{shortened(found.subject)}: {found.message}")
    place: Place = value.place if isinstance(value, Located) else queue.place
    if isinstance(value, Located) and not value.certain:
        found = replace(found, severity=min(found.severity, Severity.WARNING))
    return LintFinding(found, place)
