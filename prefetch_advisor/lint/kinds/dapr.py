"""Dapr components: pub/sub and bindings of RabbitMQ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from prefetch_advisor.findings import apps
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Kind, Skipped
from prefetch_advisor.lint.kinds.yaml_nodes import (
    Items,
    Node,
    Scalar,
    Table,
    boolean,
    get,
    integer,
    string,
)
from prefetch_advisor.model.lint import AckMode, Consumer, LintFinding, Located, Place

_PUBSUB = "pubsub.rabbitmq"
_BINDING = "bindings.rabbitmq"
_SETTING = "prefetchCount"
#: of the pub/sub component, which keeps it in eight bits
_MOST = 255


def _named(path: PurePosixPath) -> bool:
    return path.suffix in (".yml", ".yaml")


def _holds(data: bytes) -> bool:
    return _PUBSUB.encode() in data or _BINDING.encode() in data


def _read(file: SourceFile) -> Iterator[object]:
    from prefetch_advisor.lint.kinds import yaml_text

    try:
        roots = yaml_text.documents(file.text)
    except yaml_text.Templated:
        yield Skipped(file.place(1), "a template, not the YAML that it makes")
        return
    for root in roots:
        kind = string(get(root, "spec", "type"))
        if string(get(root, "kind")) == "Component" and kind in (_PUBSUB, _BINDING):
            yield from _component(file, root, kind)


def _component(file: SourceFile, root: Node, kind: str) -> Iterator[Consumer | LintFinding]:
    metadata = _metadata(get(root, "spec", "metadata"))
    subject = string(get(root, "metadata", "name")) or kind
    type_ = get(root, "spec", "type")
    at = file.place(type_.line, type_.column) if type_ else file.place(1)
    # a binding sends its 0; a subscriber sends none, so that the broker's default holds
    prefetch = _prefetch(file, metadata, at, sent=kind == _BINDING)
    if kind == _PUBSUB:
        if prefetch is not None and not 0 <= prefetch.value <= _MOST:
            kept = prefetch.value % (_MOST + 1)
            message = f"prefetchCount {prefetch.value} is refused, or kept as {kept}"
            yield LintFinding(apps.PREFETCH_ABOVE_255.finding(subject, message), prefetch.place)
            prefetch = None
        yield _subscriber(file, metadata, subject, at, prefetch)
    elif prefetch is not None and _is_input(metadata, prefetch):
        # one at a time: its handler runs in the loop that receives
        queue = string(metadata.get("queuename"))
        one = Located(1, at, "a binding handles one message after the other")
        yield Consumer(
            subject, "Dapr", at, queue, prefetch=prefetch, concurrency=one, setting=_SETTING
        )


def _subscriber(
    file: SourceFile,
    metadata: dict[str, Node | None],
    subject: str,
    at: Place,
    prefetch: Located[int] | None,
) -> Consumer:
    acked, single = metadata.get("autoack"), metadata.get("concurrency")
    automatic = boolean(acked)
    if automatic and prefetch is not None and not prefetch.certain:
        prefetch = None
    ack: Located[AckMode] | None = None
    concurrency: Located[int] | None = None
    if acked is not None and automatic is not None:
        place = file.place(acked.line, acked.column)
        ack = Located("auto" if automatic else "manual", place)
    if single is not None and string(single) == "single":
        concurrency = Located(1, file.place(single.line, single.column))
    return Consumer(
        subject, "Dapr", at, prefetch=prefetch, ack=ack, concurrency=concurrency, setting=_SETTING
    )  # fmt: skip


def _metadata(node: Node | None) -> dict[str, Node | None]:
    """Values by name in lower case; ``None`` for those that a secret store has."""
    found: dict[str, Node | None] = {}
    for item in node.items if isinstance(node, Items) else ():
        name = string(get(item, "name"))
        if name and isinstance(item, Table):
            value = get(item, "value")
            found[name.lower()] = value if isinstance(value, Scalar) else None
    return found


def _prefetch(
    file: SourceFile, metadata: dict[str, Node | None], at: Place, sent: bool
) -> Located[int] | None:
    if "prefetchcount" not in metadata:
        return Located(0, at, "without prefetchCount there is no limit", certain=sent)
    node = metadata["prefetchcount"]
    value = integer(node)
    if value is None or node is None:
        return None
    return Located(value, file.place(node.line, node.column))


def _is_input(metadata: dict[str, Node | None], prefetch: Located[int]) -> bool:
    """Whether the binding reads a queue: it says so, or sets what only a reader has."""
    direction = string(metadata.get("direction"))
    if direction is None:
        return "prefetchcount" in metadata and prefetch.value >= 0
    return "input" in direction and prefetch.value >= 0


KIND = Kind("Dapr components", _named, _holds, _read)
