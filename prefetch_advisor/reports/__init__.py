"""Reports: functions from advice to text, by the name that ``--format`` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from prefetch_advisor.reports.options import ReportOptions

if TYPE_CHECKING:
    from prefetch_advisor.model.advice import Report

__all__ = ["REPORTS", "Renderer", "ReportOptions"]


class Renderer(Protocol):
    """A function from report to text; the text ends with a newline."""

    def __call__(self, report: Report, options: ReportOptions) -> str: ...


def _json(report: Report, options: ReportOptions) -> str:
    from prefetch_advisor.reports import json_

    return json_.render(report, options)


def _table(report: Report, options: ReportOptions) -> str:
    from prefetch_advisor.reports import table

    return table.render(report, options)


def _csv(report: Report, options: ReportOptions) -> str:
    from prefetch_advisor.reports import csv_

    return csv_.render(report, options)


def _markdown(report: Report, options: ReportOptions) -> str:
    from prefetch_advisor.reports import markdown

    return markdown.render(report, options)


#: imported when called, so that a format costs the start-up of no other
REPORTS: dict[str, Renderer] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "markdown": _markdown,
}
