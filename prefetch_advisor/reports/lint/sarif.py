"""Findings as SARIF 2.1.0, which code scanning reads."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from prefetch_advisor import __version__
from prefetch_advisor.findings import RULES
from prefetch_advisor.lint.baseline import fingerprints
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.reports.escape import legible

if TYPE_CHECKING:
    from prefetch_advisor.findings.rule import Rule
    from prefetch_advisor.model.lint import LintFinding, LintReport
    from prefetch_advisor.reports.options import ReportOptions

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
#: what code scanning calls the root of the repository
_ROOT = "%SRCROOT%"
#: characters of a line that is shown: a generated one may have megabytes
_SNIPPET = 1_000
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
#: the name says how it is made: another way is another name
_FINGERPRINT = "codePathLine/v1"


def render(report: LintReport, options: ReportOptions) -> str:
    """One run, with every rule that lint has."""
    occurring = {found.finding.code for found in report.findings}
    rules = [rule for rule in RULES if rule.file or rule.code in occurring]
    index = {rule.code: number for number, rule in enumerate(rules)}
    marks = fingerprints(report.findings)
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "prefetch-advisor",
                        "version": __version__,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                # as columns are counted here; the default is UTF-16
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {
                    _ROOT: {"description": {"text": "The root of the repository."}}
                },
                "results": [
                    _result(found, mark, index[found.finding.code], options.prefix)
                    for found, mark in zip(report.findings, marks, strict=True)
                ],
            }
        ],
    }
    return json.dumps(log, indent=1) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    fix = f"What to do: {rule.fix}"
    markdown = (
        f"{rule.why}\n\n**What to do:** {rule.fix}\n\n"
        f"Bad:\n\n```text\n{rule.bad}\n```\n\nGood:\n\n```text\n{rule.good}\n```\n"
    )
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.name},
        "fullDescription": {"text": rule.what},
        "help": {"text": f"{rule.why}\n\n{fix}", "markdown": markdown},
        "helpUri": rule.url,
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["rabbitmq"], "precision": "high"},
    }


def _result(found: LintFinding, mark: str, index: int, prefix: str) -> dict[str, Any]:
    finding, place = found.finding, found.place
    region: dict[str, Any] = {"startLine": place.line, "startColumn": place.column}
    if 0 < len(found.text) <= _SNIPPET:
        region["snippet"] = {"text": found.text.encode("utf-8", "replace").decode()}
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _plain(finding.message, finding.help)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(place.path, prefix),
                    "region": region,
                }
            }
        ],
        "partialFingerprints": {_FINGERPRINT: mark},
    }


def _artifact(path: str, prefix: str) -> dict[str, str]:
    if path.startswith("/"):
        return {"uri": f"file://{quote(os.fsencode(path))}"}
    return {"uri": quote(os.fsencode(prefix + path)), "uriBaseId": _ROOT}


def _plain(message: str, help_: str) -> str:
    """A message in which nothing is a link: brackets before a parenthesis would make one."""
    shown = f"{legible(message)}\nWhat to do: {legible(help_)}"
    if "](" in shown:
        shown = shown.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return shown
