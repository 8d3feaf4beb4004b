"""One run of lint: walk, read, judge, and leave out what was silenced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from prefetch_advisor.errors import InputError
from prefetch_advisor.findings import inputs
from prefetch_advisor.lint import baseline, comments, facts_of, judge, reading, sort
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds import KINDS
from prefetch_advisor.lint.kinds.kind import Kind, Skipped
from prefetch_advisor.lint.selection import Selection
from prefetch_advisor.lint.settings import Settings
from prefetch_advisor.lint.shown import shown
from prefetch_advisor.lint.walking import Found, Walk
from prefetch_advisor.model.lint import LintFinding, LintReport

#: bytes in which it shows what a file is
_HEAD = 64 * 1024


@dataclass(slots=True)
class Read:
    """What the files said."""

    facts: list[object] = field(default_factory=list)
    #: every file that a kind has read, by its path, with what begins a comment in it
    files: dict[str, tuple[SourceFile, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read(paths: Iterable[str], here: Path, settings: Settings) -> Read:
    """Read every file of these paths that may say something of consumers.

    Raises:
        InputError: a path that is not there, or a file that was named and cannot be read.
    """
    found = Read()
    walk = Walk(_wanted, _excluded(settings), str(here), found.notes)
    for file in walk.files(paths):
        _read_one(file, found)
    return found


def _wanted(path: PurePosixPath) -> bool:
    return any(kind.named(path) for kind in KINDS)


def _excluded(settings: Settings) -> Callable[[str, bool], bool]:
    if not settings.exclude:
        return lambda path, is_directory: False
    return _matcher(settings.base, settings.exclude)


def _matcher(base: Path, patterns: Iterable[str]) -> Callable[[str, bool], bool]:
    """Whether a path, absolute, lies below ``base`` and fits one of the patterns."""
    from prefetch_advisor.lint.ignored import patterns as compiled

    spec = compiled(list(patterns))
    prefix = f"{str(base).rstrip('/')}/"

    def fits(path: str, is_directory: bool) -> bool:
        tail = "/" if is_directory else ""
        return path.startswith(prefix) and spec.match_file(path[len(prefix) :] + tail)

    return fits


def _read_one(file: Found, found: Read) -> None:
    kinds = [kind for kind in KINDS if kind.named(PurePosixPath(file.path))]
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
    kind = _kind(kinds, data)
    if kind is None:
        if file.named:
            found.notes.append(f"{file.path}: left out: nothing in it that lint knows")
        return
    source = SourceFile(file.path, reading.decoded(data), file.location)
    found.files[file.path] = (source, kind.comment)
    for fact in facts_of(source, kind):
        if isinstance(fact, Skipped):
            place = fact.place
            found.notes.append(f"{place.path}: left out from line {place.line} on: {fact.reason}")
        else:
            found.facts.append(fact)


def _kind(kinds: Sequence[Kind], data: bytes) -> Kind | None:
    if not kinds:
        return None
    told = reading.searchable(data)
    return next((kind for kind in kinds if kind.holds(told)), None)


def report(
    found: Read,
    settings: Settings,
    also: Iterable[LintFinding] = (),
    known: frozenset[str] = frozenset(),
) -> LintReport:
    """What is left of the findings after settings, comments and the baseline.

    ``also`` are files that could not be parsed elsewhere, ``known`` the fingerprints of the
    baseline.
    """
    per_file = _PerFile(settings, found.files)
    selection = Selection(settings.select, settings.ignore)
    first = list(judge(found.facts))
    unread = {one.place.path for one in first if one.finding.code == inputs.UNPARSABLE_FILE.code}
    also = [one for one in also if one.place.path not in unread]
    told = [_with_text(one, found.files) for one in sort([*first, *also])]
    told = [one for one in told if selection.takes(one.finding.code)]
    silenced = {
        path: comments.silences(source, marks) for path, (source, marks) in found.files.items()
    }
    kept, hidden, used = comments.split(told, silenced)
    for path, every in silenced.items():
        source = found.files[path][0]

        def wanted(code: str, path: str = path) -> bool:
            return selection.takes(code) and not per_file.ignores(path, code)

        kept += (
            _with_text(one, found.files)
            for one in comments.stale(source, every, used, wanted)
            if selection.takes(one.finding.code)
        )
    left = [one for one in kept if not per_file.ignores(one.place.path, one.finding.code)]
    suppressed = len(hidden) + len(kept) - len(left)
    marks = baseline.fingerprints(left := sort(left))
    new = [one for one, mark in zip(left, marks, strict=True) if mark not in known]
    gone = len(known.difference(marks))
    notes = list(found.notes)
    if gone:
        notes.append(f"{gone:,} of the {len(known):,} findings in the baseline are there no more")
    return LintReport(tuple(new), len(found.files), suppressed + len(left) - len(new), tuple(notes))


def _with_text(found: LintFinding, files: dict[str, tuple[SourceFile, str]]) -> LintFinding:
    file = files.get(found.place.path)
    if found.text or file is None or not 0 < found.place.line <= len(file[0].lines):
        return found
    return replace(found, text=shown(file[0].lines[found.place.line - 1]))


class _PerFile:
    """The findings that the settings ignore in some files."""

    def __init__(self, settings: Settings, files: dict[str, tuple[SourceFile, str]]) -> None:
        self._rules = [
            (_matcher(settings.base, [pattern]), Selection((), codes))
            for pattern, codes in settings.per_file_ignores
        ]
        self._files = files

    def ignores(self, path: str, code: str) -> bool:
        file = self._files.get(path)
        if file is None or not self._rules:
            return False
        location = str(file[0].location)
        return any(
            fits(location, False) and not selection.takes(code) for fits, selection in self._rules
        )
