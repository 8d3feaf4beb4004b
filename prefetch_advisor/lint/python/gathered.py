"""What was seen in a file, as facts with one key for each channel."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from prefetch_advisor.lint.python.module import Module
from prefetch_advisor.lint.python.names import has_unknown_base
from prefetch_advisor.lint.python.program import Program
from prefetch_advisor.lint.python.values import Class
from prefetch_advisor.lint.source.facts import Channel, Client, Consume, Qos
from prefetch_advisor.model.lint import Place


def facts_of(module: Module) -> list[object]:
    """Everything that the file says of consumers."""
    program = Program(module)
    program.follow()
    if program.missed and program.attributes:
        # what methods read before others have set it
        again = Program(module, program.attributes)
        again.follow()
        program = again
    return _Facts(program).all()


class _Facts:
    """Facts with one key for each channel, whatever names it goes by."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._parent: dict[str, str] = {}
        for one, other in program.aliases:
            self._parent[self._root(repr(one))] = self._root(repr(other))

    def _root(self, key: str) -> str:
        while (above := self._parent.get(key, key)) != key:
            key = above
        return key

    def all(self) -> list[object]:
        """All of them; of functions that others call, only what is known without these."""
        made: dict[str, Place | None] = {}
        for key, place in self._program.channels.items():
            made.setdefault(self._root(repr(key)), place)
        found: list[object] = []
        wild = False
        for root, facts in self._program.by_root:
            for fact in facts:
                if isinstance(fact, Qos | Consume):
                    if self._program.foreign and fact.client is Client.KOMBU:
                        continue
                    if isinstance(fact, Qos) and not fact.channel:
                        wild |= root not in self._program.called
                    fact = replace(fact, channel=self._root(fact.channel))
                    if fact.channel not in made and root in self._program.called:
                        fact = self._without_channel(fact)
                found.append(fact)
        wild |= any(isinstance(f, Qos) and f.channel and f.channel not in made for f in found)
        escaped = {self._root(repr(key)) for key in self._program.escaped}
        unread = self._unread()
        for name, place in made.items():
            closed = not wild and name not in escaped and name not in unread
            found.append(
                Channel(
                    name,
                    Client.PIKA,
                    place,
                    closed,
                    tuple(self._program.priorities.items()),
                    tuple(self._program.types.items()),
                )
            )
        return list(dict.fromkeys(found))

    def _without_channel(self, fact: Any) -> Any:
        return replace(fact, channel="")

    def _unread(self) -> set[str]:
        """Channels that are attributes of objects whose class inherits from what was not read."""
        found = set()
        for one, other in self._program.aliases:
            if other[0] == "class":
                cls = next(
                    (
                        node
                        for every in self._program.module.names.values()
                        for node in every
                        if isinstance(node, ast.ClassDef)
                        and node.lineno == other[3]
                        and node.name == other[2]
                    ),
                    None,
                )
                if cls is None or has_unknown_base(self._program, Class(cls, self._program.module)):
                    found.add(self._root(repr(one)))
        return found
