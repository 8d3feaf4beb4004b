"""The command: exit codes, the baseline, and what options do."""

from __future__ import annotations

import json

import pytest
from toy import toy  # noqa: F401  a fixture

from prefetch_advisor.findings import consumers

pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toy").write_text("word\nhoarding mail\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.toy").write_text("\tunbounded tasks\n")
    return tmp_path


def codes(run):
    return [finding["code"] for finding in run.report["findings"]]


def test_the_text_shows_the_line_and_what_to_do(cli, tree):
    run = cli("lint")
    assert run.err == ""
    assert run.code == 1
    assert run.out == (
        "sub/b.toy:1:2: error PA101 unbounded-prefetch: tasks: it is unbounded\n"
        "  1 |     unbounded tasks\n"
        "    |     ^\n"
        f"  Do: {consumers.UNBOUNDED_PREFETCH.fix}\n"
        "\n"
        "a.toy:2:1: warning PA104 prefetch-too-large: mail: it is hoarding\n"
        "  2 | hoarding mail\n"
        "    | ^\n"
        f"  Do: {consumers.PREFETCH_TOO_LARGE.fix}\n"
        "\n"
        "2 findings in 2 files: 1 error, 1 warning.\n"
        "What a finding means: prefetch-advisor explain CODE\n"
    )


def test_json_is_as_it_is_specified(cli, tree):
    report = cli("lint", "--format", "json").report
    assert list(report) == ["schema", "findings", "summary"]
    assert report["schema"] == "prefetch-advisor/lint/1"
    first = report["findings"][0]
    assert list(first) == [
        *("code", "name", "severity", "path", "line", "column", "subject", "message", "help", "url")
    ]
    assert (first["path"], first["line"], first["column"]) == ("sub/b.toy", 1, 2)
    assert report["summary"] == {
        "files": 2,
        "errors": 1,
        "warnings": 1,
        "infos": 0,
        "suppressed": 0,
    }


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 1),
        (("--fail-on", "error"), 1),
        (("--fail-on", "never"), 0),
        (("--exit-zero",), 0),
        (("--ignore", "PA1"), 0),
        (("a.toy",), 1),
        (("a.toy", "--fail-on", "error"), 0),
        (("--select", "PA0"), 0),
        (("none.toy",), 3),
        (("--select", "PA9"), 2),
        (("--ignore", "unbounded"), 2),
        (("--format", "table"), 2),
        (("--settings", "none.toml"), 3),
        (("--baseline", "none.json"), 3),
        (("--write-baseline",), 2),
        (("--write-baseline", "--baseline", "x", "-o", "y"), 2),
        (("-o", "a.toy"), 2),
        (("",), 2),
    ],
)
def test_exit_codes(cli, tree, arguments, code):
    run = cli("lint", *arguments)
    assert run.code == code
    if code > 1:
        assert run.out == ""
        assert run.err.count("\n") == 1 or "Usage" in run.err


def test_a_mistaken_finding_is_told_with_near_ones(cli, tree):
    assert "no finding is called 'unbounded'; near: unbounded-prefetch" in (
        cli("lint", "--ignore", "unbounded").err
    )
    assert "no finding is called 'PA19'; near: PA1" in cli("lint", "--select", "PA19").err


def test_a_path_that_is_not_there_is_named(cli, tree):
    assert cli("lint", "a.toy", "no\nne").err == (
        "prefetch-advisor: error: no\\nne: expected a file or directory, found none of that name\n"
    )


def test_a_baseline_holds_what_was_there_and_is_known_again_after_lines_moved(cli, tree):
    (tree / "a.toy").write_text("hoarding mail\nword\nhoarding mail\n")
    done = cli("lint", "--baseline", "known.json", "--write-baseline")
    assert (done.code, done.out, done.err) == (
        0,
        "",
        "prefetch-advisor: known.json: 3 findings written\n",
    )
    (tree / "a.toy").write_text("word\n\n   hoarding   mail\nhoarding mail\n")
    again = cli("lint", "--baseline", "known.json", "--format", "json")
    assert (again.code, codes(again), again.report["summary"]["suppressed"]) == (0, [], 3)
    # what was not looked at, or is not asked for, is not gone
    assert cli("lint", "sub", "--baseline", "known.json").err == ""
    assert cli("lint", "--select", "PA006", "--baseline", "known.json").err == ""
    # one more of the same is new, and so is the same in another file
    (tree / "a.toy").write_text("hoarding mail\nhoarding mail\nhoarding mail\n")
    more = cli("lint", "--baseline", "known.json", "--format", "json")
    assert [(f["path"], f["line"]) for f in more.report["findings"]] == [("a.toy", 3)]
    (tree / "a.toy").rename(tree / "c.toy")
    moved = cli("lint", "--baseline", "known.json", "--format", "json")
    assert codes(moved) == ["PA104"] * 3
    assert "2 of the 3 findings in the baseline are there no more" in moved.err
    # written anew, it holds all that is there, not only what was new
    cli("lint", "--baseline", "known.json", "--write-baseline")
    assert len(json.loads((tree / "known.json").read_text())["findings"]) == 4


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "x"}', "[" * 9_999, "\0", "1" * 5_000])
def test_what_is_no_baseline_is_refused(cli, tree, text):
    (tree / "known.json").write_text(text)
    run = cli("lint", "--baseline", "known.json")
    assert (run.code, run.out) == (3, "")
    assert run.err.startswith("prefetch-advisor: error: known.json:")


def test_settings_that_cannot_be_parsed_are_a_finding_and_the_rest_is_read(cli, tree):
    (tree / "prefetch-advisor.toml").write_text("[lint]\nselect = [\n")
    run = cli("lint", "sub", "--format", "json")
    assert [(f["code"], f["path"], f["line"]) for f in run.report["findings"]] == [
        ("PA006", "prefetch-advisor.toml", 3),
        ("PA101", "sub/b.toy", 1),
    ]


def test_in_github_actions_the_text_becomes_annotations(cli, tree, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    (tree / ".git").mkdir()
    monkeypatch.chdir(tree / "sub")
    run = cli("lint")
    assert run.out.splitlines()[0].startswith(
        "::error file=sub/b.toy,line=1,col=2,title=PA101 unbounded-prefetch::tasks: it is"
    )
    cli("lint", "-o", "report.txt")
    assert (tree / "sub" / "report.txt").read_text().startswith("b.toy:1:2: error PA101")
    assert cli("lint", "--format", "text").out.startswith("b.toy:1:2: error PA101")
    assert cli("lint", "--format", "json").report["findings"][0]["path"] == "b.toy"


def test_nothing_to_read_is_said(cli, tree):
    (tree / "c.txt").write_text("unbounded")
    (tree / "d.toy").write_text("nothing")
    run = cli("lint", "c.txt", "d.toy")
    assert run.out == "No findings: no file says anything of consumers that lint knows.\n"
    assert run.err.splitlines() == [
        f"prefetch-advisor: {name}: left out: nothing in it that lint knows"
        for name in ("c.txt", "d.toy")
    ]
