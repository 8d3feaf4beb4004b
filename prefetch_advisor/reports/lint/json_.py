"""Findings as JSON: schema ``prefetch-advisor/lint/1``; fields are added, never changed.

Text is ASCII: a byte of a name that was not UTF-8 is the escape of its lone surrogate.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from prefetch_advisor.model.advice import Severity
from prefetch_advisor.reports.lint.counts import counts

if TYPE_CHECKING:
    from prefetch_advisor.model.lint import LintFinding, LintReport
    from prefetch_advisor.reports.options import ReportOptions

SCHEMA = "prefetch-advisor/lint/1"


def render(report: LintReport, options: ReportOptions) -> str:
    """One line for each finding, so that reports can be compared and searched."""
    found = counts(report)
    summary = {
        "files": report.files,
        "errors": found[Severity.ERROR],
        "warnings": found[Severity.WARNING],
        "infos": found[Severity.INFO],
        "suppressed": report.suppressed,
    }
    lines = ",\n".join(json.dumps(_entry(one)) for one in report.findings)
    listed = f"[\n{lines}\n]" if lines else "[]"
    return (
        f'{{\n"schema": "{SCHEMA}",\n"findings": {listed},\n"summary": {json.dumps(summary)}\n}}\n'
    )


def _entry(found: LintFinding) -> dict[str, Any]:
    finding, place = found.finding, found.place
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.name.lower(),
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "subject": finding.subject,
        "message": finding.message,
        "help": finding.help,
        "url": finding.url,
    }
