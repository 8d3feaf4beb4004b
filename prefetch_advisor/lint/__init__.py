"""Lint: files -> facts -> findings -> what the settings, comments and the baseline leave of them.

Nothing that is read is imported or run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from prefetch_advisor.findings import inputs
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.judges import JOINS, JUDGES
from prefetch_advisor.lint.kinds.kind import Kind, Unparsable
from prefetch_advisor.model.lint import LintFinding


def facts_of(file: SourceFile, kinds: Iterable[Kind]) -> Iterator[object]:
    """What a file says to each kind; one that cannot be parsed is a finding, no end of the run.

    Of kinds that cannot parse it the first one says so: all read the same text.
    """
    told = False
    for kind in kinds:
        try:
            yield from kind.read(file)
        except (Unparsable, RecursionError) as raised:
            if told:
                continue
            told = True
            error = raised if isinstance(raised, Unparsable) else Unparsable("nested too deeply")
            finding = inputs.UNPARSABLE_FILE.finding(file.path, f"not {kind.name}: {error}")
            yield LintFinding(finding, file.place(error.line, error.column))


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """The findings of all files: those certain from one file, and those of the judges."""
    yield from (fact for fact in facts if isinstance(fact, LintFinding))
    facts = [*facts, *(fact for join in JOINS for fact in join(facts))]
    for each in JUDGES:
        yield from each(facts)


def sort(findings: Iterable[LintFinding]) -> list[LintFinding]:
    """Most severe first, then by path and place; each once."""
    unique = dict.fromkeys(findings)
    return sorted(
        unique,
        key=lambda found: (
            -found.severity,
            found.place.path,
            found.place.line,
            found.place.column,
            found.finding.code,
            found.finding.subject,
        ),
    )
