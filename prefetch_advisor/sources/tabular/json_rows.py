"""JSON objects as rows: one in a line, or the elements of an array."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING, Any

from prefetch_advisor.sources.tabular.bad_rows import BadRows, show
from prefetch_advisor.sources.tabular.blocks import BLOCK, MAX_LINE, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prefetch_advisor.sources.opening import OpenInput
    from prefetch_advisor.sources.tabular.interrupts import Interrupts

    Object = dict[str, Any]
    #: the line of each object, and the objects
    Objects = tuple[list[int], list[Object]]

_EXPECTED = "a JSON object"


def objects_of_lines(line: int, block: bytes, bad: BadRows) -> Objects:
    """The objects of a block of lines; blank lines and lines that begin with # are skipped."""
    numbered = [
        (number, raw)
        for number, raw in enumerate(text(block).split("\n"), line)
        if raw.strip() and not raw.lstrip().startswith("#")
    ]
    try:
        found = json.loads(f"[{','.join([raw for _, raw in numbered])}]")
        if len(found) == len(numbered) and set(map(type, found)) <= {dict}:
            return [number for number, _ in numbered], found
    except (ValueError, RecursionError):
        pass
    lines, objects = [], []
    for number, raw in numbered:
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            lines.append(number)
            objects.append(value)
        else:
            bad.add(number, _EXPECTED, show(raw.strip()[:200]))
    return lines, objects


def objects_of_array(source: OpenInput, interrupts: Interrupts, bad: BadRows) -> Iterator[Objects]:
    """The objects of one array, some thousand at a time, however large the array is."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    elements = _Elements(bad)
    ended = False
    while not ended and not elements.closed:
        data = interrupts.rest(source.stream)
        ended = not data
        elements.feed(decoder.decode(data, final=ended), ended)
        if elements.size >= BLOCK or ended or elements.closed:
            yield elements.take()
    if not elements.closed and not interrupts.happened:
        bad.add(elements.line, "the end of the JSON array (])", elements.left)


class _Elements:
    """Text of an array that comes in pieces, taken apart element by element."""

    def __init__(self, bad: BadRows) -> None:
        self.closed = False
        self.line = 1
        self.size = 0
        self._bad = bad
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._inside = False
        self._lines: list[int] = []
        self._objects: list[Object] = []

    def feed(self, piece: str, ended: bool) -> None:
        self.size += len(piece)
        self._text += piece
        at = 0
        while not self.closed and (at := self._skip(at)) < len(self._text):
            if not self._inside:
                self._inside = True
                at += 1
                continue
            if self._text[at] == "]":
                self.closed = True
                break
            try:
                value, end = self._decoder.raw_decode(self._text, at)
            except RecursionError:
                value, end = None, self._give_up(at)
            except ValueError:
                if not ended and len(self._text) - at <= MAX_LINE:
                    break
                value, end = None, self._give_up(at)
            if end == len(self._text) and not ended and not self.closed:
                break  # a number may go on
            self._keep(value, at, end)
            at = end
        self._text = self._text[at:]

    def _skip(self, at: int) -> int:
        while at < len(self._text) and self._text[at] in " \t\r\n,":
            self.line += self._text[at] == "\n"
            at += 1
        return at

    def _give_up(self, at: int) -> int:
        """What cannot be decoded hides where the next element starts: the rest is left out."""
        self.closed = True
        return len(self._text)

    def _keep(self, value: object, at: int, end: int) -> None:
        if isinstance(value, dict):
            self._lines.append(self.line)
            self._objects.append(value)
        else:
            found = show(self._text[at : min(end, at + 200)])
            rest = " (the rest of the array is left out)" if self.closed else ""
            self._bad.add(self.line, _EXPECTED, found + rest)
        self.line += self._text.count("\n", at, end)

    def take(self) -> Objects:
        taken = self._lines, self._objects
        self._lines, self._objects, self.size = [], [], 0
        return taken

    @property
    def left(self) -> str:
        return show(self._text.strip()[:200]) if self._text.strip() else "the end of the input"
