"""How many findings there are, for programs and for people."""

from __future__ import annotations

from collections import Counter

from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintReport


def counts(report: LintReport) -> Counter[Severity]:
    """Findings by severity."""
    return Counter(found.severity for found in report.findings)


def counted(number: int, what: str) -> str:
    """``1 file``, ``2,000 files``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def totals(report: LintReport) -> str:
    """A sentence without its full stop: "3 findings in 10 files: 1 error, 2 warnings"."""
    if not report.files and not report.findings:
        return "No findings: no file says anything of consumers that lint knows"
    found, number = counts(report), len(report.findings)
    head = f"{counted(number, 'finding') if number else 'No findings'} in "
    head += counted(report.files, "file")
    parts = [
        counted(found[severity], severity.name.lower())
        for severity in sorted(Severity, reverse=True)
        if found[severity]
    ]
    tail = f": {', '.join(parts)}" if parts else ""
    return head + tail + (f"; {report.suppressed:,} suppressed" if report.suppressed else "")
