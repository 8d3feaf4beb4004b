"""The flow of lint: a file is taken by one kind, and a bad one does not stop the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from told import facts_in, lint_text

from prefetch_advisor.findings import inputs
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Kind, Unparsable
from prefetch_advisor.model.lint import LintFinding


def read(file: SourceFile) -> Iterator[object]:
    for number, line in enumerate(file.lines, 1):
        if line == "deep":
            raise RecursionError
        if line == "broken":
            raise Unparsable("a broken line", number)
        yield line


def kind(name: str, suffix: str, holds: bytes) -> Kind:
    return Kind(
        name=name,
        named=lambda path: PurePosixPath(path).suffix == suffix,
        holds=lambda data: holds in data,
        read=read,
    )


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    both = (kind("words", ".txt", b"word"), kind("lines", ".txt", b""))
    monkeypatch.setattr("prefetch_advisor.lint.run.KINDS", both)


@pytest.mark.usefixtures("kinds")
def test_each_file_is_read_by_every_kind_that_fits():
    read = facts_in({"a.txt": "a word", "b/c.txt": "x\ny", "d.md": "word"})
    assert read == ["a word", "a word", "x", "y"]


@pytest.mark.usefixtures("kinds")
def test_a_file_that_cannot_be_parsed_is_one_finding_and_the_rest_is_read():
    files = {"a.txt": "x\nbroken\nword", "b.txt": "y"}
    assert facts_in(files)[-1] == "y"
    (found,) = lint_text(files)
    assert isinstance(found, LintFinding)
    assert (found.finding.code, found.place.line) == (inputs.UNPARSABLE_FILE.code, 2)
    assert found.finding.message == "not words: a broken line"
    (deep,) = lint_text({"a.txt": "deep"})
    assert (deep.finding.code, deep.finding.message) == ("PA006", "not lines: nested too deeply")


@given(st.text(st.sampled_from("ab\r\n"), max_size=20), st.integers(0, 20))
@settings(deadline=None)
def test_a_place_is_in_the_line_that_is_shown_for_it(text, offset):
    file = SourceFile("a", text, Path("a"))
    place = file.place_at(min(offset, len(text)))
    rest = text[offset:].replace("\r", "\n").partition("\n")[0]
    if not text[:offset].endswith("\r"):  # a place in the middle of \r\n is in neither line
        assert file.lines[place.line - 1][place.column - 1 :] == rest
