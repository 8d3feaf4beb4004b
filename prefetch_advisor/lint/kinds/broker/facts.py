"""What the broker's files say, for judges that see several of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from prefetch_advisor.lint.kinds.yaml_nodes import Node
from prefetch_advisor.model.lint import Located, Place


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue of a definitions file."""

    name: str
    #: ``None``: the file is for one virtual host and does not name it
    vhost: str | None
    #: classic, quorum or stream; ``None``: whatever the virtual host or the node has as default
    type: str | None
    place: Place
    arguments: Mapping[str, Node]


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy, or the operator's, of a definitions file or of rabbitmq.conf."""

    name: str
    vhost: str | None
    #: as the broker has it, a regular expression that may match anywhere in a name
    pattern: str
    apply_to: str
    priority: int
    operator: bool
    keys: Mapping[str, Node]
    #: of a file other than the definitions: it holds for every file
    everywhere: bool = False


@dataclass(frozen=True, slots=True)
class Binding:
    """From an exchange to a queue."""

    vhost: str | None
    source: str
    queue: str
    key: str


@dataclass(frozen=True, slots=True)
class Definitions:
    """A definitions file."""

    path: str
    #: of the broker that wrote it
    version: tuple[int, int] | None
    queues: tuple[Queue, ...]
    policies: tuple[Policy, ...]
    bindings: tuple[Binding, ...]
    #: exchanges by virtual host and name, with their types
    exchanges: Mapping[tuple[str | None, str], str]
    #: queues that a shovel reads, by virtual host and name
    shovelled: frozenset[tuple[str | None, str]]


@dataclass(frozen=True, slots=True)
class NodeTimeout:
    """The delivery acknowledgement timeout of a node, in seconds; infinite: it is switched off."""

    seconds: Located[float]


@dataclass(frozen=True, slots=True)
class NodeDefault:
    """The prefetch of every consumer whose client sends none; 0: no limit."""

    prefetch: Located[int]
