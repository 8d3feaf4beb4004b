"""What is to be said of a delivery acknowledgement timeout, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator

from prefetch_advisor.findings import broker_files
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding, Place

_SUPPORTED = 60_000
_RECOMMENDED = 300_000
_DAY = 86_400_000


def judged(subject: str, milliseconds: int, place: Place) -> Iterator[LintFinding]:
    """Too short to be supported, or so long that it hides a cause."""
    told = f"{subject} {milliseconds:,} ms"
    if 0 < milliseconds < _SUPPORTED:
        finding = broker_files.TIMEOUT_TOO_SHORT.finding(subject, f"{told} is under a minute")
        yield LintFinding(finding, place)
    elif _SUPPORTED <= milliseconds < _RECOMMENDED:
        finding = broker_files.TIMEOUT_TOO_SHORT.finding(
            subject, f"{told} is under five minutes", severity=Severity.INFO
        )
        yield LintFinding(finding, place)
    elif milliseconds >= _DAY:
        days = milliseconds / _DAY
        finding = broker_files.TIMEOUT_RAISED.finding(subject, f"{told} is {days:,.1f} days")
        yield LintFinding(finding, place)
