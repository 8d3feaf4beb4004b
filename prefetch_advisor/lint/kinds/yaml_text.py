"""YAML as nodes with their lines: nothing is constructed, and no text is too hostile to refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from prefetch_advisor.lint.kinds.kind import Unparsable
from prefetch_advisor.lint.kinds.yaml_nodes import Entry, Items, Node, Scalar, Table

if TYPE_CHECKING:
    import yaml

#: levels of nesting, those that aliases bring in included
DEEPEST = 100
#: nodes that aliases and merge keys may bring in; without a bound a kilobyte holds a billion
MOST_BY_ALIAS = 100_000
_TEMPLATE = re.compile(r"\{\{|\{%|\{#|<%")
#: YAML 1.1 ends a line at these; no editor and no other reader here does
_OTHER_BREAKS = {0x85: " ", 0x2028: " ", 0x2029: " "}


class Templated(Exception):
    """The text is a template of YAML (Helm, Jinja, ERB): what it becomes is not known here."""


@dataclass(slots=True)
class _Open:
    """A collection that has begun."""

    line: int
    column: int
    mapping: bool
    anchor: str | None
    children: list[Node] = field(default_factory=list)
    height: int = 0
    size: int = 1


def documents(text: str) -> list[Node]:
    """The roots of its documents, empty documents included as an empty scalar.

    Raises ``Templated`` for a template (a placeholder within quotes makes none: it is the text of
    its scalar) and ``Unparsable`` for what no reader of YAML takes, for an alias within its own
    anchor, for aliases that expand to more than MOST_BY_ALIAS nodes and for nesting below DEEPEST.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = text.removeprefix("\ufeff").translate(_OTHER_BREAKS) if _odd(text) else text
    try:
        return list(_Composer().compose(yaml.parse(text, Loader=loader)))
    except yaml.MarkedYAMLError as error:
        if _TEMPLATE.search(text):
            raise Templated from None
        raise _refused(error, text) from None
    except (yaml.reader.ReaderError, ValueError, OverflowError) as error:
        # the others: digits without end in %YAML, an escape beyond Unicode, lone surrogates
        odd = yaml.reader.Reader.NON_PRINTABLE.search(text)
        if odd is None:
            raise Unparsable(str(error).partition("\n")[0]) from None
        before = text[: odd.start()]
        code = f"U+{ord(odd[0]):04X}"
        raise Unparsable(
            f"YAML has no such character: {code}",
            before.count("\n") + 1,
            len(before) - before.rfind("\n"),
        ) from None


def _odd(text: str) -> bool:
    return any(odd in text for odd in "\ufeff\x85\u2028\u2029")


def _refused(error: yaml.MarkedYAMLError, text: str) -> Unparsable:
    mark = error.problem_mark or error.context_mark
    message = " ".join(filter(None, (error.problem, error.context))) or "not YAML"
    if mark is None:
        return Unparsable(message)
    # at the end of a text the parser stands on a line of its own
    return Unparsable(message, min(mark.line, text.count("\n")) + 1, mark.column + 1)


class _Composer:
    """Nodes out of events, without recursion."""

    def __init__(self) -> None:
        self.anchors: dict[str, tuple[Node, int, int]] = {}
        self.open: list[_Open] = []
        self.by_alias = 0

    def compose(self, events: Iterator[Any]) -> Iterator[Node]:
        """The root of each document; ``events`` are those of PyYAML, which has no types."""
        import yaml

        for event in events:
            done: tuple[Node, int, int] | None = None
            if isinstance(event, yaml.DocumentStartEvent):
                self.anchors = {}
            elif isinstance(event, yaml.ScalarEvent):
                done = self._scalar(event), 0, 1
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event, isinstance(event, yaml.MappingStartEvent))
            elif isinstance(event, yaml.CollectionEndEvent):
                done = self._end()
            elif isinstance(event, yaml.AliasEvent):
                done = self._alias(event)
            if done is None:
                continue
            if not self.open:
                yield done[0]
                continue
            parent = self.open[-1]
            parent.children.append(done[0])
            parent.height = max(parent.height, done[1] + 1)
            parent.size += done[2]

    def _scalar(self, event: Any) -> Scalar:
        mark, plain = event.start_mark, not event.style
        if plain and _TEMPLATE.search(event.value):
            raise Templated
        node = Scalar(event.value, mark.line + 1, mark.column + 1, plain, event.tag or "")
        if event.anchor:
            self.anchors[event.anchor] = node, 0, 1
        return node

    def _begin(self, event: Any, mapping: bool) -> None:
        mark = event.start_mark
        if len(self.open) >= DEEPEST:
            message = f"nested more than {DEEPEST} levels deep"
            raise Unparsable(message, mark.line + 1, mark.column + 1)
        self.open.append(_Open(mark.line + 1, mark.column + 1, mapping, event.anchor))
        # an alias to it before its end would be one within its own anchor
        self.anchors.pop(event.anchor, None)

    def _end(self) -> tuple[Node, int, int]:
        ended = self.open.pop()
        node: Node
        if ended.mapping:
            node = _table(ended)
        else:
            node = Items(tuple(ended.children), ended.line, ended.column)
        done = node, ended.height, ended.size
        if ended.anchor:
            self.anchors[ended.anchor] = done
        return done

    def _alias(self, event: Any) -> tuple[Node, int, int]:
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        if event.anchor not in self.anchors:
            within = any(each.anchor == event.anchor for each in self.open)
            what = "within its own anchor" if within else "without an anchor before it"
            raise Unparsable(f"an alias {what}: *{event.anchor}", line, column)
        node, height, size = self.anchors[event.anchor]
        self.by_alias += size
        if self.by_alias > MOST_BY_ALIAS:
            raise Unparsable(f"its aliases stand for more than {MOST_BY_ALIAS} nodes", line, column)
        if len(self.open) + height > DEEPEST:
            message = f"nested more than {DEEPEST} levels deep by an alias"
            raise Unparsable(message, line, column)
        return node, height, size


def _table(ended: _Open) -> Table:
    entries: dict[str, Entry] = {}
    again: list[Scalar] = []
    merged: list[Node] = []
    pairs = iter(ended.children)
    for key, value in zip(pairs, pairs, strict=True):
        if isinstance(key, Table):
            # {{ name }} is a mapping whose only key is a mapping, in YAML's eyes
            raise Templated
        if not isinstance(key, Scalar):
            continue
        if key.plain and key.text == "<<":
            merged.append(value)
            continue
        if key.text in entries:
            again.append(key)
            del entries[key.text]
        entries[key.text] = Entry(key, value)
    for value in merged:
        for source in value.items if isinstance(value, Items) else (value,):
            if isinstance(source, Table):
                for name, entry in source.entries.items():
                    entries.setdefault(name, entry)
    return Table(MappingProxyType(entries), ended.line, ended.column, tuple(again))
