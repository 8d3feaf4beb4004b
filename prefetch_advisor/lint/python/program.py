"""A file followed from each of its beginnings, and what was seen as facts that rules can use."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from prefetch_advisor.lint.python import (
    calls,
    decorators,
    deliveries,
    expressions,
    frameworks,
    library,
    own,
    statements,
)
from prefetch_advisor.lint.python.machine import (
    Frame,
    Machine,
    TooLong,
    class_key,
    keyed,
)
from prefetch_advisor.lint.python.module import Module
from prefetch_advisor.lint.python.names import lineage, method_of
from prefetch_advisor.lint.python.roots import Root, relevant
from prefetch_advisor.lint.python.values import (
    Arguments,
    Class,
    Func,
    Instance,
    Key,
    Kind,
    Obj,
    Ref,
    Unknown,
    Value,
)
from prefetch_advisor.lint.source.facts import (
    Client,
    Concurrency,
    Stage,
)

#: classes that inherit from one, and are followed as well
_MOST_HEIRS = 8
_MIXIN = re.compile(r"kombu\.(?:mixins\.)?Consumer(?:Producer)?Mixin$")


class Program(Machine):
    """One way through a file: from its top, and from each function that concerns consumers."""

    def __init__(self, module: Module, known: dict[Key, list[Obj]] | None = None) -> None:
        super().__init__(module)
        self.known = known or {}
        self.attributes: dict[Key, list[Obj]] = {}
        #: pairs of keys of one channel
        self.aliases: list[tuple[Key, Key]] = []
        self.missed = False
        self._classes = [
            node
            for every in module.names.values()
            for node in every
            if isinstance(node, ast.ClassDef)
        ]
        self._inheriting: dict[ast.AST, list[Class]] = {}
        self._objects: dict[ast.AST, Instance] = {}
        self.by_root: list[tuple[ast.AST | None, list[object]]] = []

    # what steps of following need of each other

    def evaluate(self, node: ast.expr | None, frame: Frame) -> Value:
        return expressions.evaluate(self, node, frame)

    def execute(self, body: list[ast.stmt], frame: Frame) -> None:
        statements.execute(self, body, frame)

    def call(self, func: Value, args: Arguments, node: ast.AST, frame: Frame) -> Value:
        return calls.call(self, func, args, node, frame)

    def iterate(self, owner: Value, node: ast.AST, frame: Frame) -> Obj:
        return library.iterate(self, owner, Arguments(), node, frame)

    def begin(self, consumer: Obj, node: ast.AST, frame: Frame) -> None:
        frameworks.begin(self, consumer, node, frame, Arguments())

    def stored(self, owner: Key, name: str, value: Value) -> None:
        key = (*owner, name)
        if isinstance(value, Obj):
            self.attributes.setdefault(key, []).append(value)
            if value.kind is Kind.CHANNEL:
                self.aliases.append((value.key, key))
        elif isinstance(value, Unknown) and value.key is not None:
            self.aliases.append((value.key, key))

    def seen_as(self, owner: Key, name: str) -> Value:
        key = (*owner, name)
        found = self.attributes.get(key) or self.known.get(key)
        if not found:
            self.missed = True
            return keyed(owner, name)
        first = found[0]
        if any(each.kind is not first.kind for each in found):
            return keyed(owner, name)
        if first.kind is Kind.CHANNEL:
            return Obj(Kind.CHANNEL, key, first.client, first.data, first.place)
        return first

    # the beginnings

    def follow(self) -> None:
        """Follow all of them."""
        self.relevant[self.module] = relevant(self.module)
        for number, root in enumerate(self.relevant[self.module].roots):
            self.run = f"{self.module.file.path}:{number}"
            self.facts = []
            self._reset()
            try:
                self._root(root)
            except TooLong:
                self.left = 0
            except RecursionError:
                continue  # what was seen so far holds
            finally:
                self.by_root.append((root.node, self.facts))
            if not self.left:
                return

    def _reset(self) -> None:
        self.paths = {(False, None)}
        self.catchers, self.arms, self.chain, self.calls = [], (), (), ()
        self.active, self.loops, self.later, self.started = [], [], [], []
        self.doing = type(self.doing)()
        self.silent, self.awaited = 0, None

    def _root(self, root: Root) -> None:
        frame = Frame(self.module, {})
        if root.node is None:
            self.execute(root.body, frame)
            self._afterwards()
            return
        owner = Class(root.cls, self.module) if root.cls is not None else None
        if root.node in self.called and not root.takes and not (owner and self._heirs(owner)):
            return  # it was followed with what it is called with
        run = self.run
        for number, instance in enumerate(self._instances(root, owner)):
            self._reset()
            self.run = f"{run}:{number}"
            args = self._arguments(root, owner)
            func = Func(root.node, self.module, owner, instance)
            self.active.append(root.node)
            inner = Frame(self.module, own.parameters(self, func, args, None), func)
            with self.catching("return", "raise"):
                self.execute(root.node.body, inner)
            self.active.clear()
            if root.node.name == "get_consumers":
                self._begun(inner, root.node)
            self._afterwards()
            self._stage()
            self._orphan(func, frame)

    def _instances(self, root: Root, owner: Class | None) -> Iterator[Instance | None]:
        """Objects that a method is called on: of its class, and of those that inherit from it."""
        if owner is None:
            yield None
            return
        for cls in (owner, *self._heirs(owner)):
            if root.node is not None and root.node.name != "__init__":
                yield self._made(cls)
            else:
                yield Instance(cls)

    def _heirs(self, owner: Class) -> list[Class]:
        """The classes of the file that inherit from one, and change something of it."""
        found = self._inheriting.get(owner.node)
        if found is None:
            found = self._inheriting[owner.node] = [
                one
                for node in self._classes
                if node is not owner.node and node.bases
                for one in (Class(node, self.module),)
                if any(isinstance(c, Class) and c.node is owner.node for c in lineage(self, one))
            ][:_MOST_HEIRS]
        return found

    def _made(self, cls: Class) -> Instance:
        """An object of a class after ``__init__``, with what nobody knows given to it."""
        if cls.node in self._objects:
            return Instance(cls, dict(self._objects[cls.node].attributes))
        instance = self._objects[cls.node] = Instance(cls)
        found = method_of(self, cls, "__init__")
        if found is not None and isinstance(found[0], ast.FunctionDef):
            func = Func(found[0], found[1].module, found[1], instance)
            with self.quiet():
                frame = Frame(func.module, own.parameters(self, func, Arguments(), None), func)
                self.active.append(func.node)
                self.execute(found[0].body, frame)
            self._reset()
        return Instance(cls, dict(instance.attributes))

    def _arguments(self, root: Root, owner: Class | None) -> Arguments:
        """Of methods that a framework calls."""
        if owner is None or root.node is None:
            return Arguments()
        bases = [base.name for base in lineage(self, owner) if isinstance(base, Ref)]
        if not any(_MIXIN.search(base) for base in bases):
            return Arguments()
        given = frameworks.mixin(self, class_key(owner), root.node, Frame(self.module, {}))
        names = [each.arg for each in root.node.args.args]
        return Arguments(named={n: (v, root.node) for n, v in given.items() if n in names})

    def _begun(self, frame: Frame, node: ast.AST) -> None:
        for value in frame.returned:
            for each in getattr(value, "items", [value]):
                if isinstance(each, Obj) and each.kind is Kind.CONSUMER:
                    self.begin(each, node, frame)

    def _afterwards(self) -> None:
        """What happens later in the run: callbacks, threads, then the handlers of deliveries."""
        done = 0
        while done < len(self.later):
            func, args, node, frame = self.later[done]
            done += 1
            self.paths, self.arms, self.loops = {(False, None)}, (), []
            with self.catching("return", "raise"):
                self.call(func, args, node, frame)
        self.later.clear()
        deliveries.finish(self)
        self.later.clear()

    def _stage(self) -> None:
        """A function that takes messages out of a buffer."""
        for buffer in dict.fromkeys(self.doing.reads):
            found = deliveries.handoffs(self.doing)
            self.see(Stage(buffer, self.doing.settles(), found))

    def _orphan(self, func: Func, frame: Frame) -> None:
        """A function that looks like a handler, and is given to a consumer in another file."""
        names = [each.arg for each in func.node.args.args][-4:]
        if len(names) < 4 or func.node in self.called or not _like_pika(names):
            return
        if decorators.applied(self, func) is not func:
            return  # what is around it may ack
        place = func.module.place(func.node)
        channel = Unknown((*class_key_of(func), "handler"))
        started = deliveries.Started(
            Client.PIKA,
            "",
            channel,
            place,
            self.step(),
            None,
            None,
            Concurrency.BLOCKING,
            func.node,
            frame,
        )
        args = deliveries.parameters(Client.PIKA, channel, func.node)
        self.see(deliveries.handle(self, func, args, started))


def class_key_of(func: Func) -> Key:
    """Of a function."""
    return ("function", func.module.file.path, func.node.lineno)


def _like_pika(names: list[str]) -> bool:
    first, second, third, last = names
    return (
        first.startswith("ch")
        and ("method" in second or "deliver" in second)
        and "prop" in third
        and ("body" in last or "message" in last)
    )
