"""Java's .properties: keys and values with their places, continued lines and escapes undone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
#: up to the first separator that no backslash escapes
_KEY = re.compile(r"((?:[^\\:=\s]|\\.)*)[ \t\f]*[:=]?[ \t\f]*", re.DOTALL)
_SPACE = " \t\f"


class Line(NamedTuple):
    """A setting, or the end of a document (``key`` is empty)."""

    key: str
    value: str
    #: where the value begins
    line: int
    column: int


def settings(lines: list[str]) -> Iterator[Line]:
    """The settings in their order; ``#---`` and ``!---`` on a line of its own end a document."""
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        bare = line.lstrip(_SPACE)
        if bare.rstrip() in ("#---", "!---"):
            yield Line("", "", number, 1)
            continue
        if not bare or bare[0] in "#!":
            continue
        while _continued(bare):
            following = next(numbered, None)
            bare = bare[:-1]
            if following is None:
                break
            bare += following[1].lstrip(_SPACE)
        found = _KEY.match(bare)
        # the pattern matches the empty text too
        end = found.end() if found else 0
        key = _unescaped(found[1] if found else "")
        if key:
            start = len(line) - len(line.lstrip(_SPACE)) + end + 1
            value = _unescaped(bare[end:]).strip()
            yield Line(key, value, number, min(start, len(line) + 1))


def _continued(text: str) -> bool:
    """Whether an odd number of backslashes ends it."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_escape, text) if "\\" in text else text


def _escape(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _PLAIN.get(code, code)
