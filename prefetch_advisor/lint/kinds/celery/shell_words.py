"""The words of shell text with their places: enough of the grammar to find a command's options.

A word that holds a variable or a substitution is not known; those stand in it as written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prefetch_advisor.model.lint import Place

Placed = Callable[[int], Place]

#: a script within a word within a script is written this deep, no deeper
_DEEPEST = 4
_PLAIN = re.compile(r"[^\s'\"\\$`;&|()<>#]+")
#: every white space but the end of a line; what no pattern here took would never end
_SPACE = re.compile(r"(?:[^\S\n]|\\\r?\n)+")
_ENDS = re.compile(r"\r?\n|;|&&?|\|\|?|[()]|<<?-?|>>?")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_EXPANSION = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?!$-])")


@dataclass(frozen=True, slots=True)
class Word:
    """A word, unquoted."""

    text: str
    place: Place
    #: the command gets this text
    known: bool = True
    #: places within it, where they can be told
    inner: Placed | None = None

    def within(self, offset: int) -> Place:
        """The place of a character of it."""
        return self.inner(offset) if self.inner else self.place


def commands(text: str, placed: Placed) -> Iterator[list[Word]]:
    """The words of each simple command."""
    return _Lexer(text, placed).commands()


def scripts(words: Iterable[Word], depth: int = 0) -> Iterator[list[Word]]:
    """The commands of scripts that are words of a command, as in ``sh -c "…"``."""
    for word in words:
        if depth < _DEEPEST and re.search(r"\s", word.text.strip()):
            for command in commands(word.text, word.within):
                yield command
                yield from scripts(command, depth + 1)


def assignment(word: Word) -> tuple[str, Word] | None:
    """The name and the value of ``NAME=value``."""
    found = _ASSIGNMENT.match(word.text)
    if found is None:
        return None
    start = found.end()
    place = word.within(start)
    return found[0][:-1], Word(
        word.text[start:], place, word.known, lambda at: word.within(start + at)
    )


class _Lexer:
    def __init__(self, text: str, placed: Placed) -> None:
        self._text = text
        self._placed = placed
        self._at = 0

    def commands(self) -> Iterator[list[Word]]:
        words: list[Word] = []
        while self._at < len(self._text):
            if found := _SPACE.match(self._text, self._at):
                self._at = found.end()
            elif self._text[self._at] == "#":
                self._at = _line_end(self._text, self._at)
            elif found := _ENDS.match(self._text, self._at):
                self._at = found.end()
                if words and found[0][0] not in "<>":
                    yield words
                    words = []
            else:
                words.append(self._word())
        if words:
            yield words

    def _word(self) -> Word:
        start, known = self._at, True
        parts: list[str] = []
        while self._at < len(self._text):
            char = self._text[self._at]
            if found := _PLAIN.match(self._text, self._at):
                parts.append(found[0])
                self._at = found.end()
            elif char == "#":
                parts.append(char)
                self._at += 1
            elif char == "\\":
                if _SPACE.match(self._text, self._at):
                    break  # the line goes on
                parts.append(self._text[self._at + 1 : self._at + 2])
                self._at += 2
            elif char == "'":
                parts.append(self._until("'"))
            elif char == '"':
                text, sure = self._double()
                parts.append(text)
                known = known and sure
            elif char in "$`":
                before = self._at
                self._expansion()
                parts.append(self._text[before : self._at])
                known = False
            else:
                break
        # what stands in quotes is as long as it is written, but for escapes
        inner = start + 1 if self._text[start] in "'\"" else start
        placed = self._placed
        return Word("".join(parts), placed(start), known, lambda at: placed(inner + at))

    def _until(self, end: str) -> str:
        close = self._text.find(end, self._at + 1)
        close = len(self._text) if close < 0 else close
        inside = self._text[self._at + 1 : close]
        self._at = close + 1
        return inside

    def _double(self) -> tuple[str, bool]:
        parts, known = [], True
        self._at += 1
        while self._at < len(self._text) and (char := self._text[self._at]) != '"':
            if char == "\\":
                escaped = self._text[self._at + 1 : self._at + 2]
                parts.append(escaped if escaped in '"\\$`' else "" if escaped == "\n" else escaped)
                self._at += 2
            elif char in "$`":
                before = self._at
                self._expansion()
                parts.append(self._text[before : self._at])
                known = False
            else:
                parts.append(char)
                self._at += 1
        self._at += 1
        return "".join(parts), known

    def _expansion(self) -> None:
        """Past a variable or a substitution."""
        text = self._text
        if text[self._at] == "`":
            self._until("`")
        elif text.startswith(("${", "$(", "$[["), self._at):
            opening = text[self._at + 1]
            closing = {"{": "}", "(": ")", "[": "]"}[opening]
            depth, self._at = 0, self._at + 1
            while self._at < len(text):
                depth += {opening: 1, closing: -1}.get(text[self._at], 0)
                self._at += 1
                if not depth:
                    break
        elif found := _EXPANSION.match(text, self._at):
            self._at = found.end()
        else:
            self._at += 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
