"""Findings for a comment on a pull request: how many there are, and a table of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prefetch_advisor.reports.escape import isolated, legible
from prefetch_advisor.reports.lint.counts import counted, totals
from prefetch_advisor.reports.markdown import escaped

if TYPE_CHECKING:
    from prefetch_advisor.model.lint import LintReport
    from prefetch_advisor.reports.options import ReportOptions

#: a comment has a size limit, and nobody reads more
_AT_MOST = 200


def render(report: LintReport, options: ReportOptions) -> str:
    """The most severe findings as a table."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: LintReport) -> Iterator[str]:
    yield f"### prefetch-advisor: {totals(report)}"
    if report.findings:
        yield ""
        yield "| severity | where | finding | what to do |"
        yield "| --- | --- | --- | --- |"
    for found in report.findings[:_AT_MOST]:
        finding, place = found.finding, found.place
        where = f"{isolated(escaped(legible(place.path)))}:{place.line}"
        name = f"[{finding.code} {finding.name}]({finding.url})"
        message, help_ = (escaped(legible(text)) for text in (finding.message, finding.help))
        yield f"| {finding.severity.name.lower()} | {where} | {name}: {message} | {help_} |"
    more = len(report.findings) - _AT_MOST
    if more > 0:
        yield ""
        yield f"And {counted(more, 'more finding')}."
