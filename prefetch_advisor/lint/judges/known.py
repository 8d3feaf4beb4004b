"""What the broker's files know of queues that settings declare, or that consumers read.

Settings come first. What they leave open is taken from the one queue of that name in definitions:
its type, the version of the broker, its acknowledgement timeout, a single active consumer, its
priorities. What a node has for all its queues is taken where one file alone says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from prefetch_advisor.lint.declared import DeclaredQueue
from prefetch_advisor.lint.kinds.broker import policies
from prefetch_advisor.lint.kinds.broker.facts import (
    Definitions,
    NodeDefault,
    NodeTimeout,
    Policy,
    Queue,
)
from prefetch_advisor.lint.kinds.yaml_nodes import Node, boolean, integer
from prefetch_advisor.model.lint import Located, Place

_TYPES = ("classic", "quorum", "stream")


def declared(facts: Sequence[object]) -> list[DeclaredQueue]:
    """The declared queues, with what the broker's files know of them."""
    broker = _Broker(facts)
    return [broker.completed(fact) for fact in facts if isinstance(fact, DeclaredQueue)]


def undeclared(facts: Sequence[object], names: Iterable[str]) -> list[DeclaredQueue]:
    """Queues of definitions with these names, as if they were declared."""
    broker = _Broker(facts)
    found = []
    for name in names:
        queue = broker.queue(name, None)
        if queue is not None:
            at = Located(name, queue[1].place)
            found.append(broker.completed(DeclaredQueue(at, queue[1].place, Path())))
    return found


def default_prefetch(facts: Sequence[object]) -> Located[int] | None:
    """The limit of consumers whose client sends none, where one file alone says it."""
    found = [fact.prefetch for fact in facts if isinstance(fact, NodeDefault)]
    return found[0] if len(found) == 1 and found[0].value else None


class _Broker:
    def __init__(self, facts: Sequence[object]) -> None:
        self.said = [fact for fact in facts if isinstance(fact, Definitions)]
        self.common = [fact for fact in facts if isinstance(fact, Policy)]
        self.nodes = [fact for fact in facts if isinstance(fact, NodeTimeout)]
        self.queues: dict[str, list[tuple[Definitions, Queue]]] = {}
        for each in self.said:
            for queue in each.queues:
                self.queues.setdefault(queue.name, []).append((each, queue))

    def queue(self, name: str, vhost: str | None) -> tuple[Definitions, Queue] | None:
        """The only one of that name; ``vhost``: ``None`` for any."""
        found = [
            (said, queue)
            for said, queue in self.queues.get(name, ())
            if vhost is None or queue.vhost in (vhost, None)
        ]
        return found[0] if len(found) == 1 else None

    def completed(self, queue: DeclaredQueue) -> DeclaredQueue:
        """The queue with what it leaves open."""
        vhost = queue.vhost.value if queue.vhost else None
        known = self.queue(queue.name.value, vhost)
        if known is not None:
            queue = self._from_definitions(queue, *known)
        if queue.consumer_timeout is None and len(self.nodes) == 1:
            queue = replace(queue, consumer_timeout=self.nodes[0].seconds)
        return queue

    def _from_definitions(
        self, queue: DeclaredQueue, said: Definitions, known: Queue
    ) -> DeclaredQueue:
        kind, version = queue.type, queue.broker_version
        if kind is None and known.type in _TYPES:
            kind = Located(known.type, known.place)
        if version is None and said.version is not None:
            version = Located(f"{said.version[0]}.{said.version[1]}", Place(said.path, 1))
        single, priorities = queue.single_active_consumer, queue.priorities
        node = known.arguments.get("x-single-active-consumer")
        if single is None and node is not None and (value := boolean(node)) is not None:
            single = Located(value, _place(said, node))
        node = known.arguments.get("x-max-priority")
        levels = integer(node)
        if priorities is None and node is not None and levels is not None and levels > 0:
            priorities = Located(levels, _place(said, node))
        return replace(
            queue,
            type=kind,
            broker_version=version,
            single_active_consumer=single,
            priorities=priorities,
            consumer_timeout=queue.consumer_timeout or self._timeout(said, known),
        )

    def _timeout(self, said: Definitions, queue: Queue) -> Located[float] | None:
        """The smaller of the argument and of the policy in force."""
        found = list(self._timeouts(said, queue))
        return min(found, key=lambda each: each.value, default=None)

    def _timeouts(self, said: Definitions, queue: Queue) -> Iterator[Located[float]]:
        yield from _seconds(said, queue.arguments.get("x-consumer-timeout"), "x-consumer-timeout")
        first = policies.in_force([*said.policies, *self.common], queue)
        if first is not None:
            yield from _seconds(said, first.keys.get("consumer-timeout"), f"policy {first.name}")


def _seconds(said: Definitions, node: Node | None, origin: str) -> Iterator[Located[float]]:
    value = integer(node)
    if node is not None and value is not None and value > 0:
        yield Located(value / 1000, _place(said, node), origin)


def _place(said: Definitions, node: Node) -> Place:
    return Place(said.path, node.line, node.column)
