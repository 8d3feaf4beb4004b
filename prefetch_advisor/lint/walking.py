"""The files to look at: those named, and those below the directories named, in a stable order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from prefetch_advisor.errors import InputError
from prefetch_advisor.lint import ignored

if TYPE_CHECKING:
    from prefetch_advisor.lint.ignored import Ignored

#: directories that hold what tools keep for themselves, or what others have written
SKIPPED = frozenset(
    (
        ".bzr",
        ".cache",
        ".direnv",
        ".eggs",
        ".git",
        ".gradle",
        ".hg",
        ".hypothesis",
        ".idea",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".terraform",
        ".tox",
        ".venv",
        ".vscode",
        "__pycache__",
        "__pypackages__",
        "bower_components",
        "node_modules",
        "site-packages",
        "venv",
    )
)


@dataclass(frozen=True, slots=True)
class Found:
    """A file to look at."""

    #: as it is printed: relative to where lint runs, with slashes
    path: str
    location: Path
    #: it was named itself: it is read though it is ignored
    named: bool


@dataclass(slots=True)
class Walk:
    """One walk: what is looked for, and what had to be left out."""

    #: by name alone; asked for every file
    wanted: Callable[[PurePosixPath], bool]
    #: absolute path, whether it is a directory -> whether the settings leave it out
    excluded: Callable[[str, bool], bool]
    #: where paths start and what they are printed relative to
    here: str
    notes: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def files(self, paths: Iterable[str]) -> Iterator[Found]:
        """Every wanted file of these paths once.

        Raises:
            InputError: a path that is not there, or is neither file nor directory.
        """
        for path in paths:
            absolute = os.path.normpath(os.path.join(self.here, path))
            if os.path.isdir(absolute):
                yield from self._below(absolute)
            elif os.path.isfile(absolute):
                yield from self._once(absolute, named=True)
            else:
                raise InputError(f"{path}: expected a file or directory, found {_what(absolute)}")

    def printed(self, absolute: str) -> str:
        """A path as it is printed: relative where it lies below the working directory."""
        prefix = self.here.rstrip(os.sep) + os.sep
        return absolute.removeprefix(prefix).replace(os.sep, "/")

    def _below(self, top: str) -> Iterator[Found]:
        stack = [(top, ignored.above(Path(top)))]
        # a directory that is left out itself is meant all the same where it is named
        excluded = _nothing if self.excluded(top, True) else self.excluded

        def left_out(path: str, rules: Ignored | None, is_directory: bool) -> bool:
            by_git = rules is not None and rules.covers(path, is_directory=is_directory)
            return by_git or excluded(path, is_directory)

        while stack:
            directory, above = stack.pop()
            try:
                with os.scandir(directory) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except OSError as error:
                self.notes.append(f"{self.printed(directory)}: left out: {error.strerror}")
                continue
            rules = ignored.within(directory, above)
            directories = []
            for entry in entries:
                is_directory, is_file = self._kind(entry)
                if is_directory:
                    if entry.name not in SKIPPED and not left_out(entry.path, rules, True):
                        directories.append((entry.path, rules))
                elif (
                    is_file
                    and self.wanted(PurePosixPath(self.printed(entry.path)))
                    and not left_out(entry.path, rules, False)
                ):
                    yield from self._once(entry.path, named=False)
            stack += reversed(directories)

    def _kind(self, entry: os.DirEntry[str]) -> tuple[bool, bool]:
        """Whether it is a directory, a file; links are neither.

        A link may lead out of the tree, or round in it; what it leads to within is found itself.
        """
        try:
            return entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False)
        except OSError as error:
            self.notes.append(f"{self.printed(entry.path)}: left out: {error.strerror}")
            return False, False

    def _once(self, absolute: str, *, named: bool) -> Iterator[Found]:
        if absolute not in self._seen:
            self._seen.add(absolute)
            yield Found(self.printed(absolute), Path(absolute), named)


def _nothing(path: str, is_directory: bool) -> bool:
    return False


def _what(path: str) -> str:
    if os.path.islink(path):
        return "a link that leads nowhere"
    return "something else" if os.path.exists(path) else "none of that name"
