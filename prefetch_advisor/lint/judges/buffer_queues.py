"""Queues of definitions that collect, and that nothing bounds.

Such a queue is the target of another queue's dead-lettering, or what a shovel takes to another
broker. It is left alone when it has a length limit or a time to live, by an argument or by a
policy that applies to it or may; when it dead-letters in its turn (a step of a retry); when its
messages come from a queue that only delays them; and when a consumer of it is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prefetch_advisor.findings import broker_files
from prefetch_advisor.lint.kinds.broker import policies
from prefetch_advisor.lint.kinds.broker.facts import Binding, Definitions, Policy, Queue
from prefetch_advisor.lint.kinds.yaml_nodes import Node, string
from prefetch_advisor.model.lint import Consumer, LintFinding

_LIMITS = ("max-length", "max-length-bytes", "message-ttl", "expires", "max-age")
_KEYS = (*_LIMITS, "dead-letter-exchange", "dead-letter-routing-key")


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """The queues that nothing bounds."""
    read = {fact.queue for fact in facts if isinstance(fact, Consumer) and fact.queue}
    common = [fact for fact in facts if isinstance(fact, Policy)]
    for fact in facts:
        if isinstance(fact, Definitions):
            yield from _Broker(fact, common, read).unlimited()


class _Broker:
    def __init__(self, said: Definitions, common: Iterable[Policy], read: set[str]) -> None:
        self.said = said
        self.policies = [*said.policies, *common]
        self.read = read
        self.queues = {(queue.vhost, queue.name): queue for queue in said.queues}
        self.setting = {key: [each for each in self.policies if key in each.keys] for key in _KEYS}
        self.bound: dict[tuple[str | None, str], list[Binding]] = {}
        for binding in said.bindings:
            self.bound.setdefault((binding.vhost, binding.source), []).append(binding)

    def unlimited(self) -> Iterator[LintFinding]:
        """A finding for each such queue, where its name stands."""
        sources: dict[tuple[str | None, str], str] = {}
        for queue in self.said.queues:
            for target in self._dead_letters_to(queue):
                sources.setdefault(target, f"the dead letters of {queue.name}")
        for shovelled in self.said.shovelled:
            sources.setdefault(shovelled, "what a shovel takes to another broker")
        for key, what in sources.items():
            target_queue = self.queues.get(key)
            if target_queue is None or target_queue.name in self.read:
                continue
            if self._bounded(target_queue):
                continue
            finding = broker_files.UNLIMITED_BUFFER.finding(
                target_queue.name, f"collects {what} without a limit"
            )
            yield LintFinding(finding, target_queue.place)

    def _dead_letters_to(self, queue: Queue) -> Iterator[tuple[str | None, str]]:
        exchange = self._value(queue, "dead-letter-exchange")
        if exchange is None or self._has(queue, "message-ttl"):
            return
        key = self._value(queue, "dead-letter-routing-key")
        if exchange == "":
            if key:
                yield queue.vhost, key
            return
        kind = self.said.exchanges.get((queue.vhost, exchange))
        for binding in self.bound.get((queue.vhost, exchange), ()):
            # of other keys of a topic, or where a message keeps its own key, nothing is certain
            every = kind == "fanout" or (kind == "topic" and binding.key == "#")
            if every or (kind == "direct" and key == binding.key):
                yield binding.vhost, binding.queue

    def _bounded(self, queue: Queue) -> bool:
        return any(self._has(queue, key) for key in (*_LIMITS, "dead-letter-exchange"))

    def _has(self, queue: Queue, key: str) -> bool:
        """Whether an argument sets it, or a policy that applies to it or may."""
        if f"x-{key}" in queue.arguments:
            return True
        return any(policies.applies(each, queue) for each in self.setting[key])

    def _value(self, queue: Queue, key: str) -> str | None:
        """By argument, or by the policy in force; ``None``: not set, or not to be told."""
        keys: Mapping[str, Node] = queue.arguments
        if f"x-{key}" in keys:
            return string(keys[f"x-{key}"])
        if not self.setting[key]:
            return None
        first = policies.in_force(self.policies, queue)
        if first is None:
            return None
        return string(first.keys[key]) if key in first.keys else None
