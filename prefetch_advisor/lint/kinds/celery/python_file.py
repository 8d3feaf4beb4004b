"""A Python file as syntax: its constants, places of its nodes, settings that stand in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.celery import names
from prefetch_advisor.lint.kinds.celery.facts import UNKNOWN, BrokerSaid, Form, Setting
from prefetch_advisor.lint.kinds.celery.values import Values, constants, transport
from prefetch_advisor.model.lint import Located, Place

_ADDRESSES = {"broker_url", "broker_read_url"}


class Source:
    """A Python file: its tree, its constants, and places of nodes in it."""

    def __init__(self, file: SourceFile, tree: ast.Module) -> None:
        self.file = file
        self.tree = tree
        #: all of them, once: walking is what takes the time
        self.nodes = list(ast.walk(tree))
        found = constants(tree.body)
        for node in self.nodes:
            if isinstance(node, ast.Global):  # a function may set them
                found.update(dict.fromkeys(set(node.names) & found.keys()))
        self.constants = found
        self.values = Values(found)
        self.celery = "celery" in file.text.lower()

    def place(self, node: ast.AST) -> Place:
        """Of a node; ``ast`` counts columns in bytes of UTF-8."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        text = self.file.lines[line - 1] if line <= len(self.file.lines) else ""
        before = text.encode("utf-8", "surrogatepass")[:column]
        return self.file.place(line, len(before.decode("utf-8", "ignore")) + 1)

    def said(
        self,
        name: str,
        node: ast.AST,
        value: ast.expr | None,
        form: Form,
        scope: str = "",
        values: Values | None = None,
    ) -> Iterator[object]:
        """A setting of this name; for an address of a broker only what sort of broker it is."""
        values = values or self.values
        place = self.place(value or node)
        if (found := names.canonical(name, None)) in _ADDRESSES:
            yield from (BrokerSaid(kind, place) for kind in sorted(values.brokers(value)))
        elif found == "broker_transport":
            known = values.of(value)
            kind = transport(known) if isinstance(known, str) else None
            yield from [BrokerSaid(kind, place)] if kind else []
        elif found == "broker_transport_options":
            yield from self._transport_options(values.expression(value))
        elif found == "task_queues":
            pass  # the queues in it are facts of their own
        else:
            known = UNKNOWN if value is None else values.of(value)
            yield Setting(name, Located(known, place), form, scope)

    def _transport_options(self, node: ast.expr | None) -> Iterator[Setting]:
        """The one of them that people take for the broker's timeout."""
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "visibility_timeout":
                    known = Located(self.values.of(value), self.place(key))
                    yield Setting("visibility_timeout", known, Form.APP)
