"""What git ignores, told from the files that say so; git itself is never run.

A repository's own configuration can make git run programs, and what is linted may be hostile.
"""

from __future__ import annotations

import os
from pathlib import Path

from prefetch_advisor.lint import reading
from prefetch_advisor.lint.gitignore import Patterns
from prefetch_advisor.lint.settings_file import repository_root

_NAME = ".gitignore"


class Ignored:
    """The patterns of one directory, and those of the directories above it."""

    def __init__(self, directory: str, patterns: Patterns, above: Ignored | None) -> None:
        self._prefix = len(directory.rstrip(os.sep)) + 1
        self._patterns = patterns
        self._above = above

    def covers(self, path: str, *, is_directory: bool) -> bool:
        """Whether a path below the directory is ignored; the deepest patterns decide."""
        said = self._patterns.say(path[self._prefix :], is_directory=is_directory)
        if said is not None:
            return said
        return self._above is not None and self._above.covers(path, is_directory=is_directory)


def within(directory: str, above: Ignored | None) -> Ignored | None:
    """What is ignored below a directory: as above it, and as its own ``.gitignore`` says."""
    # as git, which follows no link here
    patterns = _patterns(os.path.join(directory, _NAME), follow=False)
    return above if patterns is None else Ignored(directory, patterns, above)


def above(directory: Path) -> Ignored | None:
    """What the directories from the repository's root down to the parent of this one say of it.

    Nothing where they ignore the directory itself: then what was named is meant all the same.
    """
    root = repository_root(directory)
    rules: Ignored | None = None
    exclude = _patterns(_git_directory(root) / "info" / "exclude", follow=True)
    if exclude is not None:
        rules = Ignored(str(root), exclude, None)
    for parent in reversed(directory.parents):
        if parent == root or root in parent.parents:
            rules = within(str(parent), rules)
            if rules is not None and rules.covers(
                str(parent / directory.relative_to(parent).parts[0]), is_directory=True
            ):
                return None
    return rules


def _patterns(path: Path | str, *, follow: bool) -> Patterns | None:
    try:
        data = reading.contents(path, follow=follow)
    except (OSError, reading.TooLarge):
        return None
    # names of files are bytes, and compared as they are read from the directory
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return Patterns(text.split("\n"))


def _git_directory(root: Path) -> Path:
    """The directory that ``.git`` is, or that of the main work tree which it names."""
    git = root / ".git"
    if not git.is_file():
        return git
    try:
        named = reading.contents(git).decode("utf-8", "surrogateescape")
        own = root / named.partition("gitdir:")[2].strip()
        common = reading.contents(own / "commondir").decode("utf-8", "surrogateescape")
    except (OSError, ValueError, reading.TooLarge):
        return git
    return own / common.strip()
