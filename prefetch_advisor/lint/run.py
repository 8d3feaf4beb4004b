"""One run of lint: walk, read, judge, and leave out what was silenced."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from prefetch_advisor.errors import InputError
from prefetch_advisor.findings import inputs
from prefetch_advisor.lint import baseline, comments, facts_of, judge, reading, sort
from prefetch_advisor.lint.baseline import Entry
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.gitignore import Patterns
from prefetch_advisor.lint.kinds import KINDS
from prefetch_advisor.lint.kinds.kind import Kind, Skipped
from prefetch_advisor.lint.secrets import masked, without_user_info
from prefetch_advisor.lint.selection import Selection
from prefetch_advisor.lint.settings import Settings
from prefetch_advisor.lint.walking import Found, Walk
from prefetch_advisor.model.lint import LintFinding, LintReport

#: bytes in which it shows what a file is
_HEAD = 64 * 1024


@dataclass(slots=True)
class Read:
    """What the files said."""

    #: where printed paths start
    here: Path
    facts: list[object] = field(default_factory=list)
    #: every file that a kind has read, by its path, with what begins a comment in it
    files: dict[str, tuple[SourceFile, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read(paths: Iterable[str], here: Path, settings: Settings) -> Read:
    """Read every file of these paths that may say something of consumers.

    Raises:
        InputError: a path that is not there, or a file that was named and cannot be read.
    """
    found = Read(here)
    walk = Walk(_wanted, _excluded(settings), str(here), found.notes)
    for file in walk.files(paths):
        _read_one(file, found)
    return found


def _wanted(path: PurePosixPath) -> bool:
    return any(kind.named(path) for kind in KINDS)


def _excluded(settings: Settings) -> Callable[[str, bool], bool]:
    patterns = Patterns(settings.exclude)

    def excluded(path: str, is_directory: bool) -> bool:
        inner = _below(settings.base, path)
        return inner is not None and bool(patterns.say(inner, is_directory=is_directory))

    return excluded if settings.exclude else lambda path, is_directory: False


def _below(base: Path, path: str) -> str | None:
    """A path, absolute, relative to a directory that it is in."""
    prefix = f"{str(base).rstrip('/')}/"
    return path[len(prefix) :] if path.startswith(prefix) else None


def _read_one(file: Found, found: Read) -> None:
    name = PurePosixPath(file.path)
    kinds = [kind for kind in KINDS if kind.named(name)]
    try:
        data = reading.contents(file.location, follow=file.named) if kinds else b""
    except reading.TooLarge as error:
        found.notes.append(f"{file.path}: left out: {error}")
        return
    except OSError as error:
        reason = error.strerror or str(error)
        if file.named:
            raise InputError(f"{file.path}: cannot be read: {reason}") from None
        found.notes.append(f"{file.path}: left out: {reason}")
        return
    fitting = _fitting(kinds, data)
    if not fitting:
        if file.named:
            found.notes.append(f"{file.path}: left out: nothing in it that lint knows")
        return
    source = SourceFile(file.path, reading.decoded(data), file.location)
    found.files[file.path] = (source, fitting[0].comment)
    # a manifest of several documents, or a module, may be of more than one kind
    for fact in facts_of(source, fitting):
        if isinstance(fact, Skipped):
            place = fact.place
            note = f"{place.path}: left out from line {place.line} on: {fact.reason}"
            if note not in found.notes[-1:]:  # another kind may have said so
                found.notes.append(note)
        else:
            found.facts.append(fact)


def _fitting(kinds: Sequence[Kind], data: bytes) -> list[Kind]:
    if not kinds:
        return []
    told = reading.searchable(data)
    return [kind for kind in kinds if kind.holds(told)]


def report(
    found: Read,
    settings: Settings,
    also: Iterable[LintFinding] = (),
    known: Mapping[str, Entry] = MappingProxyType({}),
) -> LintReport:
    """What is left of the findings after settings, comments and the baseline.

    ``also`` are files that could not be parsed elsewhere, ``known`` the entries of the baseline.
    """
    per_file = _PerFile(settings, found.here)
    selection = Selection(settings.select, settings.ignore)

    def wanted(path: str, code: str) -> bool:
        return selection.takes(code) and not per_file.ignores(path, code)

    first = list(judge(found.facts))
    unread = {one.place.path for one in first if one.finding.code == inputs.UNPARSABLE_FILE.code}
    also = [one for one in also if one.place.path not in unread]
    told = [one for one in sort([*first, *also]) if selection.takes(one.finding.code)]
    done = comments.applied(told, found.files.values(), wanted)
    stale = [one for one in done.stale if selection.takes(one.finding.code)]
    kept = [_shown(one, found.files) for one in sort([*done.kept, *stale])]
    left = [one for one in kept if wanted(one.place.path, one.finding.code)]
    marks = baseline.fingerprints(left)
    there = set(marks)
    new = [one for one, mark in zip(left, marks, strict=True) if mark not in known]
    suppressed = len(done.hidden) + len(kept) - len(new)
    gone = sum(
        mark not in there and selection.takes(entry.code) and _looked_at(entry.path, found)
        for mark, entry in known.items()
    )
    notes = list(found.notes)
    if gone:
        notes.append(f"{gone:,} of the {len(known):,} findings in the baseline are there no more")
    return LintReport(tuple(new), len(found.files), suppressed, tuple(notes))


def _looked_at(path: str, found: Read) -> bool:
    """Whether a file was read, or would have been were it still there."""
    return path in found.files or not os.path.lexists(os.path.join(found.here, path))


def _shown(found: LintFinding, files: dict[str, tuple[SourceFile, str]]) -> LintFinding:
    """The finding with its line, and without a secret in anything that is shown of it."""
    finding, place = found.finding, found.place
    message, subject = map(without_user_info, (finding.message, finding.subject))
    if (message, subject) != (finding.message, finding.subject):
        finding = replace(finding, message=message, subject=subject)
    line = found.text
    file = files.get(place.path)
    if not line and file is not None and 0 < place.line <= len(file[0].lines):
        line = file[0].lines[place.line - 1]
    text, caret = masked(line, place.column)
    return LintFinding(finding, place, text, caret)


class _PerFile:
    """The findings that the settings ignore in some files."""

    def __init__(self, settings: Settings, here: Path) -> None:
        self._rules = [
            (Patterns([pattern]), Selection((), codes))
            for pattern, codes in settings.per_file_ignores
        ]
        self._base = settings.base
        self._here = str(here)

    def ignores(self, path: str, code: str) -> bool:
        """Whether a finding in a file, by its printed path, is not wanted."""
        inner = _below(self._base, os.path.normpath(os.path.join(self._here, path)))
        return inner is not None and any(
            not selection.takes(code) and patterns.cover(inner)
            for patterns, selection in self._rules
        )
