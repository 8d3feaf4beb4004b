"""Files of Erlang terms, such as advanced.config, as nodes with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Unparsable

DEEPEST = 100
_TOKEN = re.compile(
    r"""(?P<space>\s+|%[^\n\r]*)
      | (?P<open>\#\{|<<|[\[{])
      | (?P<close>>>|[\]}])
      | (?P<next>,|=>|:=|\||/|:)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<atom>'(?:[^'\\]|\\.)*'|[a-z][\w@]*)
      | (?P<char>\$(?:\\.|.))
      | (?P<number>[-+]?\d[\d_]*(?:\#[0-9a-zA-Z]+|\.\d+(?:[eE][-+]?\d+)?)?)
      | (?P<end>\.(?=[\s%]|\Z))
      | (?P<name>[A-Z_]\w*\(?|[)(*+\-])
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_CLOSES = {"[": "]", "{": "}", "#{": "}", "<<": ">>"}


class Atom(NamedTuple):
    """An atom, number or text; ``quoted``: a text in double quotes."""

    text: str
    line: int
    column: int
    quoted: bool = False


@dataclass(slots=True)
class Many:
    """A list ``[``, tuple ``{``, map ``#{`` or binary ``<<``."""

    kind: str
    line: int
    column: int
    parts: list[Atom | Many] = field(default_factory=list)


Term = Atom | Many
#: a full stop
_END = Atom(".", 0, 0)


def terms(file: SourceFile) -> list[Term]:
    """The terms of a file, each of which a full stop ends.

    Raises ``Unparsable`` for brackets that do not match, texts that do not end, a term without
    its full stop, and nesting below DEEPEST.
    """
    found: list[Term] = []
    stack: list[Many] = []
    for token in _TOKEN.finditer(file.text):
        kind, text = token.lastgroup, token[0]
        if kind in ("space", "next", "name"):
            continue
        place = file.place_at(token.start())
        at = place.line, place.column
        if kind == "other":
            raise Unparsable(f"expected a term, found {text!r}", *at)
        if kind == "open":
            if len(stack) >= DEEPEST:
                raise Unparsable(f"nested more than {DEEPEST} levels deep", *at)
            stack.append(Many(text, *at))
        elif kind == "close":
            if not stack or _CLOSES[stack[-1].kind] != text:
                raise Unparsable(f"{text} closes nothing that is open", *at)
            (stack[-2].parts if len(stack) > 1 else found).append(stack[-1])
            stack.pop()
        elif kind == "end":
            if stack:
                raise _unclosed(stack[-1])
            found.append(_END)
        else:
            quoted = kind == "string"
            bare = text[1:-1] if quoted or text[0] == "'" else text
            (stack[-1].parts if stack else found).append(Atom(bare, *at, quoted))
    if stack:
        raise _unclosed(stack[-1])
    return _ended(file, found)


def _unclosed(many: Many) -> Unparsable:
    return Unparsable(f"{many.kind} is not closed", many.line, many.column)


def _ended(file: SourceFile, found: list[Term]) -> list[Term]:
    """The terms without the marks of their ends, which must follow each of them."""
    if found and found[-1] is not _END:
        place = file.place_at(len(file.text.rstrip()))
        raise Unparsable("expected a full stop at the end", place.line, place.column)
    return [each for each in found if each is not _END]


def pairs(term: Term | None) -> list[tuple[Atom, Term]]:
    """The ``{key, value}`` of a list, or the ``key => value`` of a map."""
    if not isinstance(term, Many):
        return []
    if term.kind == "#{":
        it = iter(term.parts)
        return [(key, value) for key, value in zip(it, it, strict=False) if isinstance(key, Atom)]
    found = []
    for part in term.parts if term.kind == "[" else ():
        if isinstance(part, Many) and part.kind == "{" and len(part.parts) == 2:
            key, value = part.parts
            if isinstance(key, Atom):
                found.append((key, value))
    return found
