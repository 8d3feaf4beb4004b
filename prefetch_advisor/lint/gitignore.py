"""Patterns as in a ``.gitignore``, matched as git matches them: each path by itself.

A pattern that fits a directory says nothing of what is in it; whoever walks does not enter it.
(Libraries that match whole paths at once let ``!*/`` take back the files of every directory.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
_TOKEN = re.compile(
    r"(?P<star>\*+)|(?P<any>\?)|\\(?P<escaped>.)"
    r"|\[(?P<not>[!^]?)(?P<set>\]?(?:\\.|\[:\w+:\]|[^\]\\])*)\]|(?P<bad>\[|\\$)|(?P<plain>.)",
    re.DOTALL,
)
_MEMBER = re.compile(r"\[:(\w+):\]|(\\.|.)(?:-(\\.|.))?", re.DOTALL)
_DIRECTORIES = "(?:[^/]+/)*"


class _Pattern(NamedTuple):
    expression: re.Pattern[str]
    ignores: bool
    only_directories: bool
    #: matched against the last part of a path alone
    name_alone: bool


class Patterns:
    """The lines of one file."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._patterns = [pattern for line in lines if (pattern := _pattern(line)) is not None]
        self._patterns.reverse()

    def say(self, path: str, *, is_directory: bool) -> bool | None:
        """Whether a path, relative to the file, is ignored; ``None``: no line speaks of it."""
        name = path.rpartition("/")[2]
        for pattern in self._patterns:
            if (is_directory or not pattern.only_directories) and pattern.expression.fullmatch(
                name if pattern.name_alone else path
            ):
                return pattern.ignores
        return None

    def cover(self, path: str) -> bool:
        """Whether a file is ignored, itself or with a directory that it is in."""
        at = path.find("/")
        while at >= 0:
            if self.say(path[:at], is_directory=True):
                return True
            at = path.find("/", at + 1)
        return bool(self.say(path, is_directory=False))


def _pattern(line: str) -> _Pattern | None:
    """A line; ``None``: a comment, an empty one, or a pattern that fits nothing."""
    text = line.removesuffix("\r")
    if text.startswith("#"):
        return None
    # a blank at the end counts where a backslash stands before it
    while text.endswith(" ") and not re.search(r"(?<!\\)(?:\\\\)*\\ $", text):
        text = text[:-1]
    ignores = not text.startswith("!")
    text = text if ignores else text[1:]
    only_directories = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    name_alone = "/" not in text
    parts = [text] if name_alone else list(_parts(text.removeprefix("/")))
    expression = _expression(parts, name_alone)
    if expression is None:
        return None
    return _Pattern(re.compile(expression, re.DOTALL), ignores, only_directories, name_alone)


def _parts(text: str) -> Iterator[str]:
    """What stands between slashes; one within brackets is none, several directories are as one."""
    start, before = 0, ""
    for token in _TOKEN.finditer(text):
        if token["plain"] == "/":
            part = text[start : token.start()]
            if part != "**" or before != "**":
                yield part
            start, before = token.end(), part
    yield text[start:]


def _expression(parts: list[str], name_alone: bool) -> str | None:
    made = []
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part == "**" and not name_alone:
            made.append(".+" if last else _DIRECTORIES)
            continue
        expression = _part(part)
        if expression is None:
            return None
        made.append(expression + ("" if last else "/"))
    return "".join(made)


def _part(part: str) -> str | None:
    """The expression for what stands between two slashes.

    What is between two stars is taken where it first fits, once and for all, as in ``fnmatch``:
    no pattern makes it try every way of dividing a name.
    """
    chunks: list[list[str]] = [[]]
    for token in _TOKEN.finditer(part):
        if token["bad"]:
            return None
        if token["star"]:
            chunks.append([])
        elif token["any"]:
            chunks[-1].append("[^/]")
        elif token["set"] is not None:
            chunks[-1].append(_set(token["set"], bool(token["not"])))
        else:
            chunks[-1].append(re.escape(token["escaped"] or token["plain"]))
    first, *others = ("".join(chunk) for chunk in chunks)
    if not others:
        return first
    *middle, end = others
    return first + "".join(f"(?>[^/]*?{chunk})" for chunk in middle) + f"[^/]*{end}"


def _set(members: str, negated: bool) -> str:
    listed = "".join(_members(members))
    if negated:
        return f"[^/{listed}]"
    # an empty set fits nothing
    return f"(?!/)[{listed}]" if listed else "(?!)"


def _members(text: str) -> Iterator[str]:
    for member in _MEMBER.finditer(text):
        name, low, high = member.groups()
        if name:
            yield _CLASSES.get(name, "")
        elif high is None:
            yield re.escape(low[-1])
        elif low[-1] <= high[-1]:
            yield f"{re.escape(low[-1])}-{re.escape(high[-1])}"
