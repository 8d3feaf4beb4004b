"""Comments that silence findings, and what is said of those that silence none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from told import lint_text
from toy import toy  # noqa: F401  a fixture

from prefetch_advisor.lint import comments
from prefetch_advisor.lint.files import SourceFile

UNBOUNDED, LARGE, STALE = "PA101", "PA104", "PA008"


def told(text: str) -> list[tuple[str, int]]:
    found = lint_text({"a.toy": text})
    return sorted((one.finding.code, one.place.line) for one in found)


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("unbounded # prefetch-advisor: ignore[PA101] it is so", []),
        ("unbounded # prefetch-advisor:ignore [ PA104,unbounded-prefetch ]\n", [(STALE, 1)]),
        ("# prefetch-advisor: ignore[pa101]\nunbounded\nunbounded", [(UNBOUNDED, 3)]),
        ("# prefetch-advisor: ignore[101]\n# prefetch-advisor: ignore[PA104]\n  hoarding",
         [(STALE, 1)]),
        ("# prefetch-advisor: ignore[PA101]\n\nunbounded", [(STALE, 1), (UNBOUNDED, 3)]),
        ("unbounded\nhoarding\n\n# prefetch-advisor: ignore-file[PA101] all", [(LARGE, 2)]),
        ("x # prefetch-advisor: ignore-file[PA101]\nunbounded\nunbounded", []),
        ("unbounded # prefetch-advisor: ignore", [(STALE, 1), (UNBOUNDED, 1)]),
        ("unbounded # prefetch-advisor: ignore[]", [(STALE, 1), (UNBOUNDED, 1)]),
        ("unbounded # prefetch-advisor: ignore[PA1]", [(STALE, 1), (UNBOUNDED, 1)]),
        ("unbounded # prefetch-advisor: ignored[PA101]", [(UNBOUNDED, 1)]),
        ("unbounded # see prefetch-advisor: ignore[PA101]", [(UNBOUNDED, 1)]),
        ("unbounded # why # prefetch-advisor: ignore[PA101]", []),
        ("word\n# prefetch-advisor: ignore[PA101]", [(STALE, 2)]),
        ("# prefetch-advisor: ignore[PA006]\nbroken", []),
        ("# prefetch-advisor: ignore[PA008]\n# prefetch-advisor: ignore-file[PA101]\nword",
         [(STALE, 1), (STALE, 2)]),
    ],
)  # fmt: skip
def test_a_comment_silences_what_it_names_where_it_stands(text, left):
    assert told(text) == left


@pytest.mark.usefixtures("toy")
def test_a_comment_that_silences_nothing_is_told_with_the_reason():
    found = lint_text(
        {"a.toy": "# prefetch-advisor: ignore[PA104, unbounded-prefetsh]\nunbounded\n"}
    )
    said = {
        (one.place.line, one.place.column, one.severity.name, one.finding.message) for one in found
    }
    assert (
        1,
        28,
        "INFO",
        "the comment silences nothing: there is no PA104 on line 2",
    ) in said
    assert any(
        (line, column, severity) == (1, 35, "WARNING") and "near: unbounded-prefetch" in message
        for line, column, severity, message in said
    )


@pytest.mark.usefixtures("toy")
def test_nobody_knows_whether_a_comment_is_stale_where_its_finding_is_not_wanted(cli, tmp_path):
    (tmp_path / "a.toy").write_text("word # prefetch-advisor: ignore[PA101]")
    assert "PA008" in cli("lint", tmp_path).out
    assert "PA008" not in cli("lint", tmp_path, "--ignore", "PA101").out
    assert "PA008" not in cli("lint", tmp_path, "--ignore", "stale-suppression").out


def silences(name: str, text: str, marks: str) -> list[tuple[str, int | None]]:
    found = comments.silences(SourceFile(name, text, Path(name)), marks)
    return [(silence.name, silence.target) for silence in found]


def test_each_kind_of_file_has_its_comments():
    line = "x = 1 {} prefetch-advisor: ignore[PA1] -->"
    for mark in ("//", "<!--", ";", "%", "#"):
        text = line.format(mark)
        assert silences("a.txt", text, "# // <!-- ; %") == [("PA1", 1)]
        assert silences("a.txt", text, "+") == []
    assert silences("a.json", line.format("//"), "") == []


def test_python_text_in_quotes_is_no_comment():
    text = 's = "# prefetch-advisor: ignore[A]"  # prefetch-advisor: ignore[B]\n'
    text += '"""\n# prefetch-advisor: ignore[C]\n"""\n# why # prefetch-advisor: ignore[D]\nx\n'
    assert silences("a.py", text, "#") == [("B", 1), ("D", 6)]
    assert silences("a.py", "(\n# prefetch-advisor: ignore[C]", "#") == [("C", 2)]
    assert silences("a.txt", text, "#")[0] == ("A", 1)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.sampled_from(
            ["# prefetch-advisor: ", "ignore", "-file", "[", "]", "PA1", "\n", "'", " "]
        ),
        max_size=30,
    ).map("".join),
    st.sampled_from(["a.py", "a.toml"]),
)
def test_every_name_has_its_place(text, name):
    file = SourceFile(name, text, Path(name))
    for silence in comments.silences(file, "# ;"):
        line = file.lines[silence.line - 1]
        assert line[silence.column - 1 :].startswith(silence.name or "ignore")
        assert silence.target is None or silence.target >= silence.line
