"""Findings as JUnit's XML, which most CI systems show: a test for each, failed unless an info."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from prefetch_advisor.model.advice import Severity
from prefetch_advisor.reports.escape import legible
from prefetch_advisor.reports.lint.counts import counts

if TYPE_CHECKING:
    from prefetch_advisor.model.lint import LintFinding, LintReport
    from prefetch_advisor.reports.options import ReportOptions

_SUITE = "prefetch-advisor lint"
#: characters of a line that are shown: a generated one may have megabytes
_SNIPPET = 1_000


def render(report: LintReport, options: ReportOptions) -> str:
    """One suite; where nothing is found, one test that has passed."""
    cases = [_case(found) for found in report.findings]
    if not cases:
        cases = [f'    <testcase classname="{_SUITE}" name="no findings"/>']
    found = counts(report)
    failures = found[Severity.ERROR] + found[Severity.WARNING]
    numbers = f'tests="{len(cases)}" failures="{failures}" errors="0"'
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites {numbers}>",
            f'  <testsuite name="{_SUITE}" {numbers}>',
            *cases,
            "  </testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _case(found: LintFinding) -> str:
    finding, place = found.finding, found.place
    where = f"{legible(place.path)}:{place.line}:{place.column}"
    message, severity = legible(finding.message), finding.severity.name.lower()
    text = escape(
        f"{where}: {message}\n{legible(found.text[:_SNIPPET])}\nDo: {legible(finding.help)}"
    )
    case = (
        f"    <testcase classname={_attribute(place.path)} "
        f"name={_attribute(f'{finding.code} {finding.name} at {where}')} "
        f'file={_attribute(place.path)} line="{place.line}">'
    )
    if finding.severity is Severity.INFO:
        return f"{case}<system-out>{text}</system-out></testcase>"
    return (
        f'{case}<failure type="{severity}" message={_attribute(message)}>{text}'
        "</failure></testcase>"
    )


def _attribute(text: str) -> str:
    # legible: XML has no way of writing most control characters
    return quoteattr(legible(text))
