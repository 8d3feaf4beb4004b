"""The state of a run that follows a program: where it is, what is settled, what it has seen."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from prefetch_advisor.lint.python.module import Module
from prefetch_advisor.lint.python.packages import PACKAGES
from prefetch_advisor.lint.python.roots import Relevant, makes, relevant
from prefetch_advisor.lint.python.values import (
    UNKNOWN,
    Arguments,
    Class,
    Func,
    Instance,
    Items,
    Key,
    Kind,
    Obj,
    Unknown,
    Value,
)
from prefetch_advisor.lint.source.facts import Client, Handoff, Step
from prefetch_advisor.model.lint import Located, Place

#: whether the message in hand is settled, and where the exception was caught, if there was one
Path = tuple[bool, Place | None]
Paths = set[Path]
#: how many calls deep functions are followed
DEEPEST = 7
#: statements that are followed in one file, for each of its lines and beside these, so that no
#: program makes lint slow
BUDGET_A_LINE = 2
BUDGET = 2_000
#: a function this short is followed whatever it does: it may give a constant
SHORT = 2


class TooLong(Exception):
    """The program has more ways through it than are followed."""


@dataclass(slots=True)
class Frame:
    """A function, class body or module that is being followed."""

    module: Module
    env: dict[str, Value]
    func: Func | None = None
    #: names that are looked up in the module
    shared: set[str] = field(default_factory=set)
    returned: list[Value] = field(default_factory=list)

    @property
    def instance(self) -> Instance | None:
        """What its methods are called on."""
        return self.func.instance if self.func else None


@dataclass(slots=True, eq=False)
class Catcher:
    """Where ways out of a block are collected."""

    kinds: frozenset[str]
    found: dict[str, Paths] = field(default_factory=dict)

    def take(self, kind: str, paths: Paths) -> None:
        """Add ways out."""
        self.found.setdefault(kind, set()).update(paths)

    def of(self, kind: str) -> Paths:
        """Those of one kind."""
        return self.found.get(kind, set())


@dataclass(slots=True)
class Op:
    """Something a handler does, in order."""

    kind: str
    place: Place
    step: Step
    #: the message is settled on every way that leads here, and no exception was caught
    settled: bool = False
    #: it settles those before it, too
    several: bool = False


@dataclass(slots=True)
class Doing:
    """What is done with one delivery, or by one stage."""

    ops: list[Op] = field(default_factory=list)
    handoffs: list[tuple[Handoff, Step]] = field(default_factory=list)
    blocking: list[Located[str]] = field(default_factory=list)
    #: keys of buffers that are read
    reads: list[str] = field(default_factory=list)
    batch: Located[int] | None = None
    flushed: bool = False
    escapes: bool = False
    #: number of the step from which on it may be settled unseen; 0: there is none
    away: int = 0
    #: something bounds what is started: a semaphore, a limiter
    guarded: bool = False
    #: a number of collected messages below which nothing is acked
    waits_for: Located[int] | None = None

    def settles(self) -> bool:
        """It acks, nacks or rejects."""
        return any(op.kind in ("ack", "nack") for op in self.ops)


class Machine:
    """What all steps of following a program share."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.facts: list[object] = []
        self.paths: Paths = {(False, None)}
        self.catchers: list[Catcher] = []
        self.arms: tuple[tuple[int, int], ...] = ()
        self.chain: Key = ()
        self.active: list[ast.AST] = []
        #: the calls that led here
        self.calls: tuple[Place, ...] = ()
        self.doing = Doing()
        self.run = ""
        self.number = 0
        self.branches = 0
        self.left = BUDGET + BUDGET_A_LINE * module.file.text.count("\n")
        #: above 0, calls are followed for what they give, not for what they do
        self.silent = 0
        #: functions of the program that another one calls
        self.called: set[ast.AST] = set()
        #: a call whose result is waited for
        self.awaited: ast.AST | None = None
        self.loops: list[ast.AST] = []
        #: channels that are made, by key, and where; those that went where they were not followed
        self.channels: dict[Key, Place | None] = {}
        self.escaped: set[Key] = set()
        #: queues that are declared: levels of priority, type
        self.priorities: dict[str, Located[int]] = {}
        self.types: dict[str, str] = {}
        #: consumers of the run
        self.started: list[Any] = []
        #: loops over deliveries, by the id of what is looped over, which is kept alive
        self.iterators: dict[int, Any] = {}
        self.kept: list[Value] = []
        #: names of the top level of modules
        self.globals: dict[Key, Value] = {}
        #: classes with those they inherit from
        self.lineages: dict[ast.AST, list[Value]] = {}
        #: functions that are worth following, of each module that is looked into
        self.relevant: dict[Module, Relevant] = {}
        self.packages = frozenset(PACKAGES.values())
        self.later: list[tuple[Value, Arguments, ast.AST, Frame]] = []
        #: kombu is told to use a broker that is no RabbitMQ
        self.foreign = False

    def evaluate(self, node: ast.expr | None, frame: Frame) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def execute(self, body: list[ast.stmt], frame: Frame) -> None:
        """Follow statements."""
        raise NotImplementedError

    def call(self, func: Value, args: Arguments, node: ast.AST, frame: Frame) -> Value:
        """Follow a call."""
        raise NotImplementedError

    def iterate(self, owner: Value, node: ast.AST, frame: Frame) -> Obj:
        """Begin a loop over the deliveries of a queue."""
        raise NotImplementedError

    def begin(self, consumer: Obj, node: ast.AST, frame: Frame) -> None:
        """Let a consumer of kombu's consume."""
        raise NotImplementedError

    def worth(self, module: Module, node: ast.AST) -> bool:
        """Whether a function of a module does anything that concerns consumers."""
        if module not in self.relevant:
            self.relevant[module] = relevant(module)
        known = self.relevant[module]
        if node in known.nodes or node in known.others:
            return node in known.nodes
        (known.nodes if makes(module, node) else known.others).add(node)
        return node in known.nodes

    # places and times

    def step(self) -> Step:
        """Of what happens now."""
        self.number += 1
        return Step(self.run, self.number, self.arms, self.calls)

    def key(self, frame: Frame, node: ast.AST) -> Key:
        """Of what is made here, by the calls that led here."""
        path = frame.module.file.path
        return (*self.chain, path, getattr(node, "lineno", 0), getattr(node, "col_offset", 0))

    @contextmanager
    def arm(self, branch: int, number: int) -> Iterator[None]:
        """Follow one arm of a branch."""
        before = self.arms
        self.arms = (*before, (branch, number))
        try:
            yield
        finally:
            self.arms = before

    def branch(self) -> int:
        """A new branch."""
        self.branches += 1
        return self.branches

    # ways out

    def leave(self, kind: str) -> None:
        """Leave by return, break, continue or raise: nothing follows."""
        self.take(kind)
        self.paths = set()

    def take(self, kind: str, paths: Paths | None = None) -> None:
        """A way out that may be taken here."""
        for catcher in reversed(self.catchers):
            if kind in catcher.kinds:
                catcher.take(kind, self.paths if paths is None else paths)
                return

    @contextmanager
    def catching(self, *kinds: str) -> Iterator[Catcher]:
        """Collect the ways out of these kinds."""
        catcher = Catcher(frozenset(kinds))
        self.catchers.append(catcher)
        try:
            yield catcher
        finally:
            self.catchers.remove(catcher)

    @contextmanager
    def apart(self) -> Iterator[Doing]:
        """Follow something whose ways out and deeds are its own."""
        kept = (self.paths, self.catchers, self.doing, self.arms, self.loops)
        self.paths, self.catchers, self.doing = {(False, None)}, [], Doing()
        self.loops = []
        try:
            yield self.doing
        finally:
            self.paths, self.catchers, self.doing, self.arms, self.loops = kept

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Follow something for its value alone."""
        self.silent += 1
        try:
            with self.apart():
                yield
        finally:
            self.silent -= 1

    # what is seen

    def settle(self, kind: str, place: Place) -> None:
        """The message in hand is acked, or nacked."""
        self.paths = {(True, caught) for _, caught in self.paths}
        self.doing.ops.append(Op(kind, place, self.step()))

    def given_away(self) -> None:
        """The message in hand goes where it may be acked, or nacked, unseen."""
        self.doing.escapes = True
        self.doing.away = self.doing.away or self.step().number
        self.paths = {(True, caught) for _, caught in self.paths}

    def see(self, fact: object) -> None:
        """A fact, unless it is followed for its value alone."""
        if not self.silent:
            self.facts.append(fact)

    # what the program says of a client

    def client(self, *candidates: Client) -> Client:
        """The first of these that the file imports, else the first."""
        packages = self.module.packages
        for client in candidates:
            if PACKAGES[client] in packages:
                return client
        return candidates[0]

    # what belongs together

    def new_channel(
        self, key: Key, client: Client | None, place: Place | None, connection: Obj | None = None
    ) -> Obj:
        """A channel that the program makes."""
        if not self.silent or key not in self.channels:
            self.channels[key] = place
        data: dict[str, Value] = {} if connection is None else {"connection": connection}
        return Obj(Kind.CHANNEL, key, client or self.client(Client.PIKA), data, place)

    def escape(self, value: Value) -> None:
        """A value goes where it is not followed: what is done to it there is not known."""
        if isinstance(value, Obj):
            owner = value if value.kind is Kind.CHANNEL else value.of("channel")
            if owner is not None and not self.silent:
                self.escaped.add(owner.key)
        elif isinstance(value, Instance):
            for each in value.attributes.values():
                if isinstance(each, Obj):
                    self.escape(each)
        elif isinstance(value, Items):
            for each in value.items:
                self.escape(each)

    # to be told by those who know

    def stored(self, owner: Key, name: str, value: Value) -> None:
        """An attribute or a global name is set."""
        raise NotImplementedError

    def seen_as(self, owner: Key, name: str) -> Value:
        """What it was set to elsewhere."""
        raise NotImplementedError


def class_key(cls: Class) -> Key:
    """Of the attributes of its objects."""
    return ("class", cls.module.file.path, cls.node.name, cls.node.lineno)


def or_unknown(value: Value | None) -> Value:
    """A value that may be absent."""
    return UNKNOWN if value is None else value


def keyed(owner: Key, name: str) -> Unknown:
    """The unknown value of an attribute, always the same one."""
    return Unknown((*owner, name))
