"""Comments that silence findings: ``prefetch-advisor: ignore[PA301] why``.

At the end of a line it speaks of that line, on a line of its own of the next line that is no such
comment; ``ignore-file[...]`` speaks of the whole file. Codes or names stand between the brackets;
without them nothing is silenced, so that a comment never hides what nobody has seen yet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from prefetch_advisor.findings import inputs
from prefetch_advisor.lint import selection
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding

#: what every such comment holds: most files do not
MARK = "prefetch-advisor:"
_COMMENT = re.compile(r"\s*prefetch-advisor:\s*(ignore(?:-file)?)(?![\w-])\s*(?:\[([^\]]*)\])?")
_NAME = re.compile(r"[^\s,]+")
_PYTHON = (".py", ".pyi")


@dataclass(frozen=True, slots=True)
class Silence:
    """One name in the brackets of a comment; empty: a comment that names none."""

    name: str
    #: of the name
    line: int
    column: int
    #: the line it speaks of; ``None``: the whole file
    target: int | None


def silences(file: SourceFile, marks: str) -> list[Silence]:
    """Every name in every such comment of a file.

    ``marks`` is what begins a comment, several of them separated by spaces; empty: the file has
    no comments.
    """
    if not marks or MARK not in file.text:
        return []
    found: list[Silence] = []
    waiting: list[tuple[str, int, int]] = []
    comments = {(line, column) for line, column in _comments(file, marks)}
    for number, line in enumerate(file.lines, 1):
        here = _in_line(line, marks, number, comments)
        alone = here is not None and line.lstrip().startswith(tuple(marks.split()))
        if not alone:
            found += (Silence(*name, number) for name in waiting)
            waiting = []
        if here is None:
            continue
        names = [
            (name[0], number, here.start(2) + name.start() + 1)
            for name in _NAME.finditer(here[2] or "")
        ] or [("", number, here.start(1) + 1)]
        if here[1] == "ignore-file":
            found += (Silence(*name, None) for name in names)
        elif alone:
            waiting += names
        else:
            found += (Silence(*name, number) for name in names)
    last = len(file.lines)
    return found + [Silence(*name, last) for name in waiting]


def _in_line(
    line: str, marks: str, number: int, comments: set[tuple[int, int]]
) -> re.Match[str] | None:
    """The parts of the first such comment in a line."""
    if MARK not in line:
        return None
    for mark in marks.split():
        start = line.find(mark)
        while start >= 0:
            parts = _COMMENT.match(line, start + len(mark))
            if parts is not None and (number, start) in comments:
                return parts
            start = line.find(mark, start + 1)
    return None


def _comments(file: SourceFile, marks: str) -> Iterator[tuple[int, int]]:
    """Lines and offsets at which a comment may begin."""
    if file.location.suffix in _PYTHON:
        yield from _python_comments(file)
        return
    for number, line in enumerate(file.lines, 1):
        if MARK in line:
            for mark in marks.split():
                yield from ((number, found.start()) for found in re.finditer(re.escape(mark), line))


def _python_comments(file: SourceFile) -> Iterator[tuple[int, int]]:
    """As Python sees them: text in quotes is none. What Python cannot read has none."""
    import io
    import tokenize

    text = "\n".join(file.lines)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start
                # more of them may stand in one comment: "# why # prefetch-advisor: ..."
                yield from (
                    (token.start[0], token.start[1] + at)
                    for at, char in enumerate(token.string)
                    if char == "#" and at
                )
    except (tokenize.TokenError, SyntaxError):
        return


@dataclass(slots=True)
class Applied:
    """What the comments of all files leave of the findings."""

    kept: list[LintFinding] = field(default_factory=list)
    hidden: list[LintFinding] = field(default_factory=list)
    #: findings of their own, for comments that silence nothing
    stale: list[LintFinding] = field(default_factory=list)


def applied(
    findings: Iterable[LintFinding],
    files: Iterable[tuple[SourceFile, str]],
    wanted: Callable[[str, str], bool],
) -> Applied:
    """The findings by whether a comment of their file silences them.

    ``files`` come with what begins a comment in each. ``wanted`` tells for a path and a code
    whether such a finding would be told: of others nobody knows whether a comment is stale.
    """
    done = Applied()
    every = {file.path: (file, silences(file, marks)) for file, marks in files}
    meant = {
        path: [(silence, _codes(silence.name)) for silence in here]
        for path, (_, here) in every.items()
    }
    used: set[tuple[str, Silence]] = set()
    for found in findings:
        hiding = [
            (found.place.path, silence)
            for silence, codes in meant.get(found.place.path, ())
            if found.finding.code in codes and silence.target in (None, found.place.line)
        ]
        (done.hidden if hiding else done.kept).append(found)
        used.update(hiding)
    for path, (file, here) in every.items():
        for silence in here:
            message, severity = _complaint(silence, (path, silence) in used, path, wanted)
            if message:
                finding = inputs.STALE_SUPPRESSION.finding(
                    silence.name or path, message, severity=severity
                )
                done.stale.append(LintFinding(finding, file.place(silence.line, silence.column)))
    return done


def _complaint(
    silence: Silence, used: bool, path: str, wanted: Callable[[str, str], bool]
) -> tuple[str, Severity | None]:
    if not silence.name:
        message = "the comment names no finding, and so silences none: expected ignore[CODE]"
        return message, Severity.WARNING
    try:
        codes = selection.codes(silence.name)
    except selection.UnknownFinding as error:
        return f"the comment silences nothing: {error}", Severity.WARNING
    if used or not any(wanted(path, code) for code in codes):
        return "", None
    where = "in the file" if silence.target is None else f"on line {silence.target}"
    return f"the comment silences nothing: there is no {silence.name} {where}", None


def _codes(name: str) -> tuple[str, ...]:
    try:
        return selection.codes(name)
    except selection.UnknownFinding:
        return ()
