"""Findings for a person: where, what, the line with a caret below it, and what to do."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prefetch_advisor.model.advice import Severity
from prefetch_advisor.reports.escape import escaped, isolated_runs, legible, units
from prefetch_advisor.reports.lint.counts import totals

if TYPE_CHECKING:
    from prefetch_advisor.model.lint import LintFinding, LintReport
    from prefetch_advisor.reports.options import ReportOptions

_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}
_BOLD, _DIM = "1", "2"
_TAB = 4
_GAP = "..."
#: cells of a line that are shown, however narrow the place
_LEAST = 20


def render(report: LintReport, options: ReportOptions) -> str:
    """The findings, and how many there are."""
    lines: list[str] = []
    for found in report.findings:
        lines += _finding(found, options)
        lines.append("")
    lines.append(f"{totals(report)}.")
    if report.findings:
        lines.append("What a finding means: prefetch-advisor explain CODE")
    return "\n".join(lines) + "\n"


def _finding(found: LintFinding, options: ReportOptions) -> Iterator[str]:
    def prose(text: str) -> str:
        shown = legible(text, not options.unicode)
        return isolated_runs(shown) if options.unicode else shown

    finding, place = found.finding, found.place
    where = f"{escaped(place.path, not options.unicode)}:{place.line}:{place.column}:"
    severity = _styled(finding.severity.name.lower(), _COLOURS[finding.severity], options)
    name = _styled(f"{finding.code} {finding.name}", _BOLD, options)
    yield f"{_styled(where, _BOLD, options)} {severity} {name}: {prose(finding.message)}"
    if found.text.strip():
        gutter = f"  {place.line} | "
        source, caret = _source(found.text, found.caret, options, len(gutter))
        yield _styled(gutter, _DIM, options) + source
        yield _styled(f"{'|':>{len(gutter) - 1}} ", _DIM, options) + caret
    yield f"  Do: {prose(finding.help)}"


def _source(text: str, column: int, options: ReportOptions, gutter: int) -> tuple[str, str]:
    """A line within the width around a column, and a caret that stands below that column."""
    start, least = column - 1, _LEAST + options.width
    # of a line of megabytes, no more than could be shown
    before = _shown(text[max(0, start - least) : start], options)
    after = _shown(text[start : start + least].rstrip(), options)
    room = max(_LEAST, options.width - gutter)
    if sum(map(_cells, (*before, *after))) > room:
        before = _last(before, room // 2)
        after = _first(after, room - sum(map(_cells, before)))
    return "".join((*before, *after)), " " * sum(map(_cells, before)) + "^"


def _shown(text: str, options: ReportOptions) -> list[str]:
    """What stands for each character; a tab is a blank wide enough to be seen as one."""
    parts = legible(text.replace("\t", " " * _TAB), not options.unicode)
    return units(parts)


def _last(parts: list[str], room: int) -> list[str]:
    kept: list[str] = []
    if sum(map(_cells, parts)) <= room:
        return parts
    room -= len(_GAP)
    for part in reversed(parts):
        room -= _cells(part)
        if room < 0:
            break
        kept.append(part)
    return [_GAP, *reversed(kept)]


def _first(parts: list[str], room: int) -> list[str]:
    reverse = _last(parts[::-1], room)
    return reverse[::-1]


def _cells(shown: str) -> int:
    """Cells that a text takes in a terminal."""
    if shown.isascii():
        return len(shown)
    return sum(
        0
        if unicodedata.category(char) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in shown
    )


def _styled(text: str, style: str, options: ReportOptions) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if options.colour else text
