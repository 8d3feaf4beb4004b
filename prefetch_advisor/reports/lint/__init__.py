"""Reports of lint: functions from what it found to text, by the name that ``--format`` takes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from prefetch_advisor.model.lint import LintReport
    from prefetch_advisor.reports.options import ReportOptions


class LintRenderer(Protocol):
    """A function from report to text; the text ends with a newline."""

    def __call__(self, report: LintReport, options: ReportOptions) -> str: ...


#: format -> its module, which has a function ``render``; a format costs the start-up of no other
LINT_REPORTS = {
    "text": "text",
    "json": "json_",
    "sarif": "sarif",
    "github": "github",
    "junit": "junit",
    "markdown": "markdown",
}


def renderer(name: str) -> LintRenderer:
    """The function for a format."""
    module = import_module(f"{__name__}.{LINT_REPORTS[name]}")
    render: LintRenderer = module.render
    return render
