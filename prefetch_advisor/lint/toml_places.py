"""Where the keys and values of a TOML text stand, which tomllib does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import NamedTuple

#: the keys and indices that lead to a value
KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'""")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'",
    re.DOTALL,
)
_BARE = re.compile(r"[^,\]}#\n]*")


class Offsets(NamedTuple):
    """Characters before a key, and before its value; the same for an element of an array."""

    key: int
    value: int


def offsets(text: str) -> dict[KeyPath, Offsets]:
    """The place of every key, table and element of a text that tomllib has read.

    Raises:
        RecursionError: its values are nested too deeply.
    """
    return _Scanner(text).run()


class _Scanner:
    """One pass over a text that is known to be TOML: nothing is checked again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._found: dict[KeyPath, Offsets] = {}
        #: tables that ``[[name]]`` has begun so far
        self._tables: dict[KeyPath, int] = {}

    def run(self) -> dict[KeyPath, Offsets]:
        table: KeyPath = ()
        while self._skip(_BLANK) < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
        return self._found

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _header(self) -> KeyPath:
        start = self._at
        many = self._text.startswith("[[", start)
        self._at += 2 if many else 1
        path: KeyPath = ()
        for key, _ in self._keys():
            path = self._inside((*path, key))
        if many:
            # the header of a further table has led into the one before
            path = path[:-1] if isinstance(path[-1], int) else path
            count = self._tables.get(path, 0)
            self._tables[path] = count + 1
            self._found.setdefault(path, Offsets(start, start))
            path = (*path, count)
        self._found[path] = Offsets(start, start)
        self._at = self._text.index("]", self._at) + (2 if many else 1)
        return path

    def _inside(self, path: KeyPath) -> KeyPath:
        """A path that ends at an array of tables goes on in the last of them."""
        count = self._tables.get(path)
        return path if count is None else (*path, count - 1)

    def _keys(self) -> Iterator[tuple[str, int]]:
        """The parts of a dotted key, each with its offset."""
        while True:
            start = self._skip(_SPACE)
            written = self._text[start : self._skip(_KEY)]
            quoted = written.startswith(('"', "'"))
            yield (tomllib.loads(f"k={written}")["k"] if quoted else written), start
            if not self._text.startswith(".", self._skip(_SPACE)):
                return
            self._at += 1

    def _pair(self, table: KeyPath) -> None:
        path, start = table, self._at
        for key, start in self._keys():
            path = (*path, key)
            self._found.setdefault(path, Offsets(start, start))
        self._at += 1  # the equals sign
        value = self._skip(_SPACE)
        self._found[path] = Offsets(start, value)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        char = self._text[self._at]
        if char == "[":
            self._elements(path)
        elif char == "{":
            self._inline(path)
        else:
            self._skip(_STRING if char in "\"'" else _BARE)

    def _elements(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while self._text[self._skip(_BLANK)] != "]":
            self._found[(*path, index)] = Offsets(self._at, self._at)
            self._value((*path, index))
            index += 1
            if self._text[self._skip(_BLANK)] == ",":
                self._at += 1
        self._at += 1

    def _inline(self, path: KeyPath) -> None:
        self._at += 1
        while self._text[self._skip(_BLANK)] != "}":
            self._pair(path)
            if self._text[self._skip(_BLANK)] == ",":
                self._at += 1
        self._at += 1
