"""The formats of lint: valid where there is a standard, and safe whatever the files hold."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.commands.lint_options import FORMATS
from prefetch_advisor.findings import consumers, inputs
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding, LintReport, Place
from prefetch_advisor.reports.lint import LINT_REPORTS, renderer
from prefetch_advisor.reports.options import ReportOptions

SCHEMA = json.loads((ROOT / "tests" / "data" / "sarif-schema-2.1.0.json").read_text())
OPTIONS = ReportOptions(width=80, unicode=True, prefix="services/")
HOSTILE = "a\n::error::b\r\x1b[31m%0A,:]](http://x)|<b>&\"'`\udcff\u202e\u2028\0日本 ##[x]"


def found(message="m", path="a.py", text="", line=1, column=1, rule=consumers.UNBOUNDED_PREFETCH):
    return LintFinding(rule.finding("s", message), Place(path, line, column), text, column)


def report(*findings: LintFinding) -> LintReport:
    return LintReport(findings, files=3, suppressed=2)


TWO = report(
    found("tasks: no limit", "src/a b%.py", "x = 1", 3, 5),
    found("comment", "src/é.py", "", 1, 1, inputs.STALE_SUPPRESSION),
)
NONE = report()
texts = st.text(st.characters(codec=None), max_size=30)


def rendered(name: str, one: LintReport, options: ReportOptions = OPTIONS) -> str:
    text = renderer(name)(one, options)
    assert text.endswith("\n")
    return text


def test_every_format_of_the_option_is_there():
    assert tuple(LINT_REPORTS) == FORMATS


def test_sarif_is_valid_and_has_a_place_a_rule_and_a_fingerprint_for_each():
    log = json.loads(rendered("sarif", TWO))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result, path in zip(run["results"], ("src/a b%.py", "src/é.py"), strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]
        assert unquote(place["artifactLocation"]["uri"]) == f"services/{path}"
        assert place["region"]["startLine"] >= 1
        assert len(set(result["partialFingerprints"].values())) == 1
    assert [result["level"] for result in run["results"]] == ["error", "note"]
    assert all(rule["help"]["text"] and rule["help"]["markdown"] for rule in rules)


def test_a_fingerprint_stays_when_lines_move_and_differs_between_alike_lines():
    def marks(*findings):
        results = json.loads(rendered("sarif", report(*findings)))["runs"][0]["results"]
        return [next(iter(result["partialFingerprints"].values())) for result in results]

    first, second = marks(found(text="x = 1"), found(text="x = 1", line=2))
    assert first != second
    assert marks(found(text="  x =  1", line=30), found(text="x = 1", line=31)) == [first, second]
    assert marks(found(text="x = 1", path="b.py"))[0] != first


@given(texts, texts, texts)
@settings(deadline=None, max_examples=40)
def test_sarif_is_valid_whatever_the_files_hold(message, path, text):
    log = json.loads(rendered("sarif", report(found(message, path, text))))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    json.dumps(log, ensure_ascii=False).encode()
    assert not re.search(r"(?<!\\)\]\(", log["runs"][0]["results"][0]["message"]["text"])


@given(texts, texts, texts)
@settings(deadline=None, max_examples=40)
def test_junit_is_xml_whatever_the_files_hold(message, path, text):
    root = ElementTree.fromstring(rendered("junit", report(found(message, path, text))).encode())
    assert len(root.findall(".//failure")) == 1


def test_junit_has_a_test_for_each_finding_and_a_passed_one_for_none():
    root = ElementTree.fromstring(rendered("junit", TWO).encode())
    assert root.attrib == {"tests": "2", "failures": "1", "errors": "0"}
    first, second = root.iter("testcase")
    assert (first.attrib["file"], first.attrib["line"]) == ("src/a b%.py", "3")
    failure = first.find("failure")
    assert failure is not None
    assert failure.attrib == {"type": "error", "message": "tasks: no limit"}
    assert second.find("failure") is None
    (passed,) = ElementTree.fromstring(rendered("junit", NONE).encode()).iter("testcase")
    assert len(passed) == 0


def test_github_has_a_command_for_each_finding_and_escapes_what_would_end_one():
    first, second, summary = rendered("github", TWO).splitlines()
    assert first.startswith(
        "::error file=services/src/a b%25.py,line=3,col=5,title=PA101 unbounded-prefetch::"
        "tasks: no limit%0ADo: "
    )
    assert second.startswith("::notice file=services/src/é.py,line=1,")
    assert summary == "2 findings in 3 files: 1 error, 1 info; 2 suppressed."


@given(texts, texts)
@settings(deadline=None, max_examples=60)
def test_nothing_in_a_file_begins_a_command_of_its_own(message, path):
    one = found(message, path)
    lines = re.split(r"[\r\n]", rendered("github", report(one)))
    assert len(lines) == 3
    assert [line for line in lines if line.lstrip().startswith("::")] == lines[:1]
    properties = dict(
        part.split("=", 1)
        for part in lines[0].removeprefix("::error ").partition("::")[0].split(",")
    )
    assert set(properties) == {"file", "line", "col", "title"}
    assert re.fullmatch(r"[^:,\r\n]*", properties["file"])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("unicode", [True, False])
def test_nothing_hostile_reaches_a_terminal(name, unicode):
    one = report(found(HOSTILE, HOSTILE, HOSTILE))
    text = rendered(name, one, ReportOptions(unicode=unicode))
    for char in "\x1b\r\0\u202e\u2028":
        assert char not in text.replace("\u2068", "").replace("\u2069", "")
    assert "\n::error::b" not in text
    if not unicode and name == "text":
        assert text.isascii()


def test_markdown_shows_no_markup_of_the_files():
    text = rendered("markdown", report(found(HOSTILE, HOSTILE)))
    (row,) = [line for line in text.splitlines() if line.startswith("| error")]
    assert row.count("|") == 5
    assert "<b>" not in row
    assert "](http://x)" not in row
    assert rendered("markdown", NONE) == (
        "### prefetch-advisor: No findings in 3 files; 2 suppressed\n"
    )


@pytest.mark.parametrize(
    ("line", "column", "width", "source", "caret"),
    [
        ("x = 1", 5, 80, "x = 1", 4),
        ("\tx", 2, 80, "    x", 4),
        ("日本 x", 4, 80, "日本 x", 5),
        ("\x1b[1mx", 5, 80, "\\x1b[1mx", 7),
        ("x" * 100, 1, 40, "x" * 31 + "...", 0),
        ("a" * 100 + "!" + "b" * 100, 101, 40, "..." + "a" * 14 + "!" + "b" * 13 + "...", 17),
        ("ab", 9, 80, "ab", 2),
    ],
)
def test_the_caret_stands_below_the_column(line, column, width, source, caret):
    text = rendered("text", report(found(text=line, column=column)), ReportOptions(width=width))
    _, shown, pointing, *_ = text.splitlines()
    assert shown == f"  1 | {source}"
    assert pointing == "    | " + " " * caret + "^"


def test_colour_is_only_where_it_is_wanted():
    assert "\x1b[" not in rendered("text", TWO)
    coloured = rendered("text", TWO, ReportOptions(colour=True))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == rendered("text", TWO)
    assert "\x1b[1;31merror" in coloured


def test_severities_are_counted():
    assert sum(1 for severity in Severity) == 3
    assert "No findings in 3 files; 2 suppressed." in rendered("text", NONE)
    summary = json.loads(rendered("json", TWO))["summary"]
    assert summary == {"files": 3, "errors": 1, "warnings": 0, "infos": 1, "suppressed": 2}


@pytest.mark.parametrize("name", FORMATS)
def test_a_line_of_megabytes_is_not_repeated_for_each_finding(name):
    line = '{"name": "q", "arguments": {}}, ' * 100_000
    many = report(*(found(text=line, column=column * 32 + 1) for column in range(500)))
    assert len(rendered(name, many)) < 2_000_000
