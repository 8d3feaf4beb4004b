"""definitions.json: queues, policies, bindings and shovels as the broker exports them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from prefetch_advisor.findings import broker_files
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.broker import json_text, timeouts
from prefetch_advisor.lint.kinds.broker.facts import Binding, Definitions, Policy, Queue
from prefetch_advisor.lint.kinds.kind import Kind, Skipped, Unparsable
from prefetch_advisor.lint.kinds.yaml_nodes import (
    Entry,
    Items,
    Node,
    Scalar,
    Table,
    get,
    integer,
    string,
)
from prefetch_advisor.model.lint import LintFinding, Place

_SIGNS = (b'"rabbit_version"', b'"rabbitmq_version"', b'"x-', b'"apply-to"', b'"dest-queue"')
#: the oldest broker that knows the argument and the policy, and the first that has it for quorum
#: queues only
_KNOWN_FROM = (3, 12)
_QUORUM_ONLY_FROM = (4, 3)


def _named(path: PurePosixPath) -> bool:
    return path.suffix == ".json"


def _holds(data: bytes) -> bool:
    parts = b'"queues"' in data or b'"policies"' in data or b'"parameters"' in data
    return parts and any(sign in data for sign in _SIGNS)


def _read(file: SourceFile) -> Iterator[object]:
    try:
        root = json_text.document(file)
    except Unparsable:
        if not re.search(r"\{\{|\{%|<%|\$\{", file.text):
            raise
        yield Skipped(file.place(1), "a template, not the JSON that it makes")
        return
    if not isinstance(root, Table):
        return
    found = _definitions(file, root)
    yield found
    for queue in found.queues:
        yield from _queue(file, queue, found.version)
    for policy in found.policies:
        yield from _policy(file, policy, found.version)


def _definitions(file: SourceFile, root: Table) -> Definitions:
    version = string(get(root, "rabbitmq_version")) or string(get(root, "rabbit_version"))
    number = re.match(r"(\d{1,3})\.(\d{1,3})", version or "")
    parameters = list(_objects(root, "parameters"))
    policies = [_policy_of(each, each, operator=False) for each in _objects(root, "policies")]
    policies += [
        _policy_of(each, get(each, "value"), operator=True)
        for each in parameters
        if string(get(each, "component")) == "operator_policy"
    ]
    return Definitions(
        file.path,
        (int(number[1]), int(number[2])) if number else None,
        tuple(_queue_of(file, each) for each in _objects(root, "queues")),
        tuple(policies),
        tuple(_binding_of(each) for each in _objects(root, "bindings") if _to_queue(each)),
        {(_vhost(e), _text(e, "name")): _text(e, "type") for e in _objects(root, "exchanges")},
        frozenset(_shovelled(parameters)),
    )


def _objects(root: Table, key: str) -> Iterator[Table]:
    found = get(root, key)
    for item in found.items if isinstance(found, Items) else ():
        if isinstance(item, Table):
            yield item


def _text(node: Node, key: str) -> str:
    return string(get(node, key)) or ""


def _whole(node: Node | None) -> int | None:
    """A number; the same within quotes is a text to the broker."""
    return integer(node) if isinstance(node, Scalar) and node.plain else None


def _vhost(node: Node) -> str | None:
    return string(get(node, "vhost"))


def _nodes(node: Node | None) -> dict[str, Node]:
    entries: Mapping[str, Entry] = node.entries if isinstance(node, Table) else {}
    return {key: entry.value for key, entry in entries.items()}


def _queue_of(file: SourceFile, node: Table) -> Queue:
    arguments = _nodes(get(node, "arguments"))
    kind = string(arguments.get("x-queue-type")) or string(get(node, "type"))
    name = get(node, "name")
    at = name or node
    place = file.place(at.line, at.column)
    return Queue(string(name) or "", _vhost(node), kind, place, arguments)


def _policy_of(outer: Table, node: Node | None, operator: bool) -> Policy:
    return Policy(
        _text(outer, "name"),
        _vhost(outer),
        string(get(node, "pattern")) or "",
        string(get(node, "apply-to")) or "all",
        _whole(get(node, "priority")) or 0,
        operator,
        _nodes(get(node, "definition")),
    )


def _to_queue(node: Table) -> bool:
    return _text(node, "destination_type") == "queue"


def _binding_of(node: Table) -> Binding:
    key = _text(node, "routing_key")
    return Binding(_vhost(node), _text(node, "source"), _text(node, "destination"), key)


def _shovelled(parameters: list[Table]) -> Iterator[tuple[str | None, str]]:
    """Queues that a shovel moves to an address that is not this broker's own."""
    for each in parameters:
        if string(get(each, "component")) != "shovel":
            continue
        value = get(each, "value")
        queue, target = string(get(value, "src-queue")), _addresses(get(value, "dest-uri"))
        own = all(re.match(r"amqps?://(/|%2[fF]|$)", address) for address in target)
        if queue and target and not own and _addresses(get(value, "src-uri")) != target:
            yield _vhost(each), queue


def _addresses(node: Node | None) -> list[str]:
    nodes = node.items if isinstance(node, Items) else (node,)
    return [text for text in map(string, nodes) if text is not None]


def _queue(
    file: SourceFile, queue: Queue, version: tuple[int, int] | None
) -> Iterator[LintFinding]:
    timeout = queue.arguments.get("x-consumer-timeout")
    if timeout is not None:
        place = file.place(timeout.line, timeout.column)
        value = _whole(timeout)
        if (why := _not_enforced(queue.type, version)) is not None:
            yield _without_effect(queue.name, f"x-consumer-timeout {why}", place)
        elif value is not None:
            yield from timeouts.judged(f"{queue.name}: x-consumer-timeout", value, place)
    priority = queue.arguments.get("x-max-priority")
    if priority is not None and queue.type == "quorum":
        message = "x-max-priority gives a quorum queue no priorities"
        finding = broker_files.PRIORITIES_ON_QUORUM.finding(queue.name, message)
        yield LintFinding(finding, file.place(priority.line, priority.column))


def _policy(
    file: SourceFile, policy: Policy, version: tuple[int, int] | None
) -> Iterator[LintFinding]:
    timeout = policy.keys.get("consumer-timeout")
    if timeout is None:
        return
    place = file.place(timeout.line, timeout.column)
    kinds = {"classic_queues": "classic", "streams": "stream", "quorum_queues": "quorum"}
    value = _whole(timeout)
    why = _not_enforced(kinds.get(policy.apply_to), version)
    if why is not None:
        yield _without_effect(policy.name, f"the policy's consumer-timeout {why}", place)
    elif value is not None:
        yield from timeouts.judged(f"{policy.name}: consumer-timeout", value, place)


def _not_enforced(kind: str | None, version: tuple[int, int] | None) -> str | None:
    """Why a timeout of a queue has no effect; ``None``: it has, or it is not known."""
    if version is None:
        return None
    told = f"{version[0]}.{version[1]}"
    if version < _KNOWN_FROM:
        return f"is not known to RabbitMQ {told}"
    if version >= _QUORUM_ONLY_FROM and kind in ("classic", "stream"):
        return f"has no effect on a {kind} queue in RabbitMQ {told}"
    return None


def _without_effect(subject: str, message: str, place: Place) -> LintFinding:
    return LintFinding(broker_files.TIMEOUT_NOT_ENFORCED.finding(subject, message), place)


KIND = Kind("definitions.json", _named, _holds, _read, comment="")
