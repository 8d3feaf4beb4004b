"""JSON as nodes with their places, which the standard library does not tell."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from types import MappingProxyType

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Unparsable
from prefetch_advisor.lint.kinds.yaml_nodes import Entry, Items, Node, Scalar, Table

DEEPEST = 200
#: called at a double quote, it reads a string and no more
_STRINGS = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_ATOM = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null")


@dataclass(slots=True)
class _Open:
    at: int
    close: str
    entries: dict[str, Entry] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    key: Scalar | None = None


def document(file: SourceFile) -> Node:
    """The root of a JSON text; of equal keys the last counts.

    Raises ``Unparsable`` for what is no JSON, and for nesting below DEEPEST.
    """
    return _Reader(file).read()


class _Reader:
    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.text = file.text.removeprefix("\ufeff")
        self.shift = len(file.text) - len(self.text)
        self.at = 0

    def _place(self, offset: int) -> tuple[int, int]:
        place = self.file.place_at(offset + self.shift)
        return place.line, place.column

    def _refuse(self, expected: str) -> Unparsable:
        found = repr(self.text[self.at]) if self.at < len(self.text) else "the end of the file"
        return Unparsable(f"expected {expected}, found {found}", *self._place(self.at))

    def _next(self) -> str:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def read(self) -> Node:
        stack: list[_Open] = []
        while True:
            done = self._value(stack)
            while done is not None:
                if not stack:
                    if self._next():
                        raise self._refuse("the end of the file")
                    return done
                top = stack[-1]
                self._add(top, done)
                char = self._next()
                if char not in (",", top.close) or not char:
                    raise self._refuse(f"a comma or {top.close}")
                self.at += 1
                done = None
                if char == top.close:
                    done = self._closed(stack.pop())
                else:
                    self._key(top)

    def _add(self, top: _Open, node: Node) -> None:
        if top.key is None:
            top.items.append(node)
        else:
            top.entries[top.key.text] = Entry(top.key, node)

    def _value(self, stack: list[_Open]) -> Node | None:
        """A value that is complete; ``None``: one has begun."""
        char = self._next()
        if char == "" or char not in "{[":
            return self._string() if char == '"' else self._atom()
        if len(stack) >= DEEPEST:
            raise Unparsable(f"nested more than {DEEPEST} levels deep", *self._place(self.at))
        opened = _Open(self.at, "}" if char == "{" else "]")
        self.at += 1
        if self._next() == opened.close:
            self.at += 1
            return self._closed(opened)
        stack.append(opened)
        self._key(opened)
        return None

    def _key(self, top: _Open) -> None:
        if top.close == "]":
            return
        if self._next() != '"':
            raise self._refuse("a key in double quotes")
        top.key = self._string()
        if self._next() != ":":
            raise self._refuse("a colon")
        self.at += 1

    def _string(self) -> Scalar:
        start = self.at
        try:
            value, self.at = _STRINGS.raw_decode(self.text, start)
        except json.JSONDecodeError as error:
            message = error.msg.removesuffix(" at").removesuffix(":")
            raise Unparsable(message, *self._place(min(error.pos, len(self.text)))) from None
        return Scalar(value, *self._place(start), plain=False)

    def _atom(self) -> Scalar:
        found = _ATOM.match(self.text, self.at)
        if found is None or re.match(r"\w", self.text[found.end() : found.end() + 1]):
            raise self._refuse("a value")
        start, self.at = self.at, found.end()
        return Scalar(found[0], *self._place(start))

    def _closed(self, ended: _Open) -> Node:
        line, column = self._place(ended.at)
        if ended.close == "}":
            return Table(MappingProxyType(ended.entries), line, column)
        return Items(tuple(ended.items), line, column)
