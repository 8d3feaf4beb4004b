"""What names stand for in a program that is followed without being run."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from prefetch_advisor.lint.source.facts import Client
from prefetch_advisor.model.lint import Place

if TYPE_CHECKING:
    from prefetch_advisor.lint.python.module import Module

Key = tuple[object, ...]
#: which parts of a delivery a value was made of
BODY, TAG = "body", "tag"
NOTHING: frozenset[str] = frozenset()
DELIVERY = frozenset((BODY, TAG))


class Value:
    """Anything."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Unknown(Value):
    """What cannot be known; with a key, always the same one."""

    key: Key | None = None
    taint: frozenset[str] = NOTHING


UNKNOWN = Unknown()


@dataclass(slots=True, eq=False)
class Const(Value):
    """A value of Python's own that is written in the program."""

    value: object
    #: the node that says it, and the file it stands in
    at: tuple[Module, ast.AST]
    #: the name it goes by
    name: str = ""
    #: the place is where it is wrong, also where it is used under another name
    fixed: bool = False

    @property
    def place(self) -> Place:
        """Where it stands."""
        module, node = self.at
        return module.place(node)


@dataclass(slots=True, eq=False)
class Ref(Value):
    """What an import gives: a dotted name."""

    name: str


class Kind(StrEnum):
    """What an object of a library is."""

    CONNECTION = "connection"
    CHANNEL = "channel"
    #: ``channel.basic`` of amqpstorm
    BASIC = "basic"
    QUEUE = "queue"
    CONSUMER = "consumer"
    #: deliveries to be looped over
    ITERATOR = "iterator"
    MESSAGE = "message"
    #: what ``message.process()`` gives
    PROCESS = "process"
    BROKER = "broker"
    #: what holds a prefetch until a consumer uses it
    SETTINGS = "settings"
    BUFFER = "buffer"
    POOL = "pool"
    LOOP = "loop"
    GROUP = "group"
    GUARD = "guard"
    STARTED = "started"


@dataclass(slots=True, eq=False)
class Obj(Value):
    """An object of a library."""

    kind: Kind
    key: Key
    client: Client | None = None
    #: what else is known of it
    data: dict[str, Value] = field(default_factory=dict)
    place: Place | None = None
    text: str = ""

    def of(self, name: str) -> Obj | None:
        """Another object that belongs to it."""
        value = self.data.get(name)
        return value if isinstance(value, Obj) else None


@dataclass(slots=True, eq=False)
class Method(Value):
    """An attribute of an object that is called, or may be."""

    owner: Value
    name: str


@dataclass(slots=True, eq=False)
class Class(Value):
    """A class of the program."""

    node: ast.ClassDef
    module: Module


@dataclass(slots=True, eq=False)
class Instance(Value):
    """An object of such a class."""

    cls: Class
    attributes: dict[str, Value] = field(default_factory=dict)


Code = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(slots=True, eq=False)
class Func(Value):
    """A function of the program, bound to an object or not."""

    node: Code
    module: Module
    owner: Class | None = None
    instance: Instance | None = None
    closure: dict[str, Value] | None = None
    #: in decorators of which it is not known what they do before and after it
    wrapped: bool = False

    @property
    def name(self) -> str:
        """As a person calls it."""
        return "lambda" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(slots=True, eq=False)
class Partial(Value):
    """A call that waits for the rest of its arguments."""

    func: Value
    args: Arguments


@dataclass(slots=True, eq=False)
class Items(Value):
    """A tuple or list that is written out."""

    items: list[Value]


@dataclass(slots=True, eq=False)
class Mapping(Value):
    """A dict whose keys are written out."""

    items: dict[str, Value]


@dataclass(slots=True)
class Arguments:
    """Of a call; the node of each, for its place."""

    positional: list[tuple[Value, ast.AST]] = field(default_factory=list)
    named: dict[str, tuple[Value, ast.AST]] = field(default_factory=dict)
    #: more of them than are listed: ``*rest``, ``**rest``
    open: bool = False

    def of(self, name: str, position: int | None = None) -> tuple[Value, ast.AST] | None:
        """An argument by its name, or its position from 0."""
        if name in self.named:
            return self.named[name]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return None

    def value(self, name: str, position: int | None = None) -> Value | None:
        """The value alone."""
        found = self.of(name, position)
        return found and found[0]

    def values(self) -> list[Value]:
        """All of them."""
        return [value for value, _ in (*self.positional, *self.named.values())]


def taint(value: Value | None) -> frozenset[str]:
    """Which parts of a delivery a value holds."""
    if isinstance(value, Unknown):
        return value.taint
    if isinstance(value, Obj):
        return DELIVERY if value.kind is Kind.MESSAGE else NOTHING
    if isinstance(value, Items):
        return NOTHING.union(*map(taint, value.items))
    if isinstance(value, Mapping):
        return NOTHING.union(*map(taint, value.items.values()))
    if isinstance(value, Method):
        return taint(value.owner)
    if isinstance(value, Partial):
        return NOTHING.union(*map(taint, value.args.values()))
    return NOTHING


def carried(value: Value | None) -> frozenset[str]:
    """The same, with what the attributes of an object of the program hold."""
    if isinstance(value, Instance):
        return NOTHING.union(*map(taint, value.attributes.values()))
    return taint(value)


def constant(value: Value | None) -> object:
    """What is written; ``UNKNOWN`` where nothing is."""
    return value.value if isinstance(value, Const) else UNKNOWN
