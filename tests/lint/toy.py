"""A kind of file for tests of what is around the kinds: each of its lines is one word.

``unbounded`` and ``hoarding`` are findings on that line; ``broken`` cannot be parsed.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from prefetch_advisor.findings import consumers
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Kind, Unparsable
from prefetch_advisor.model.lint import LintFinding

RULES = {
    "unbounded": consumers.UNBOUNDED_PREFETCH,
    "hoarding": consumers.PREFETCH_TOO_LARGE,
    "switch": consumers.SINGLE_ACTIVE,
}


def read(file: SourceFile) -> Iterator[object]:
    for number, line in enumerate(file.lines, 1):
        word = line.split("#")[0].strip()
        if word == "broken":
            raise Unparsable("no word", number)
        name, _, subject = word.partition(" ")
        rule = RULES.get(name)
        if rule is not None:
            column = len(line) - len(line.lstrip()) + 1
            finding = rule.finding(subject or "tasks", f"{subject or 'tasks'}: it is {name}")
            yield LintFinding(finding, file.place(number, column))
        elif word:
            yield word


TOY = Kind(
    name="a toy file",
    named=lambda path: path.suffix == ".toy",
    holds=lambda data: b"nothing" not in data,
    read=read,
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lint reads toy files and nothing else."""
    monkeypatch.setattr("prefetch_advisor.lint.run.KINDS", (TOY,))
    monkeypatch.setattr("prefetch_advisor.lint.JUDGES", ())
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
