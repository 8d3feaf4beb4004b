"""Findings as workflow commands of GitHub Actions, which show them beside the lines of a change.

Ten of each severity are shown for one step, so the most severe come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prefetch_advisor.model.advice import Severity
from prefetch_advisor.reports.escape import legible
from prefetch_advisor.reports.lint.counts import totals

if TYPE_CHECKING:
    from prefetch_advisor.model.lint import LintFinding, LintReport
    from prefetch_advisor.reports.options import ReportOptions

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: LintReport, options: ReportOptions) -> str:
    """A command for each finding, and how many there are."""
    lines = [_command(found, options.prefix) for found in report.findings]
    return "\n".join([*lines, f"{totals(report)}."]) + "\n"


def _command(found: LintFinding, prefix: str) -> str:
    finding, place = found.finding, found.place
    path = place.path if place.path.startswith("/") else prefix + place.path
    properties = {
        # a name that needs escaping is annotated nowhere, but told in the log
        "file": legible(path),
        "line": str(place.line),
        "col": str(place.column),
        "title": f"{finding.code} {finding.name}",
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    text = f"{legible(finding.message)}\nDo: {legible(finding.help)}"
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
