"""The type of a kind of file: how it is recognised, and what facts are read out of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.model.lint import Place


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file that says something of consumers.

    ``read`` yields facts: any frozen type that a judge knows, and ``LintFinding`` for what is
    certain from this file alone. It raises ``Unparsable`` for a file that is not what it seems.
    """

    name: str
    #: by name only: cheap, run for every file of a tree
    named: Callable[[PurePosixPath], bool]
    #: by content: run for files with such a name, on their first 64 KiB or whole
    holds: Callable[[bytes], bool]
    read: Callable[[SourceFile], Iterable[object]]
    #: what begins a comment, such as ``#``, ``//`` or ``<!--``; several with spaces between them;
    #: empty: it has no comments
    comment: str = "#"


class Unparsable(Exception):
    """The file is not what its name and content promise; the message is the parser's."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Skipped:
    """A fact: something that was not read from there on, and why; for the report's notes."""

    place: Place
    reason: str
