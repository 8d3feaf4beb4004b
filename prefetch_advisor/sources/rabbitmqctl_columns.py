"""The columns of ``rabbitmqctl list_*``: their types, the default sets, and cells into values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prefetch_advisor.sources.erlang_terms import parse_terms

#: ``<rabbit@host.1796072431.3571.0>``, or as ``inspect`` prints it
PID = re.compile(r"(?:<[^<>\s]+\.\d+\.\d+>|(?:Pid\()?#PID<\d+\.\d+\.\d+>\)?)")
_INTEGER = re.compile(r"-?\d{1,19}")
_NUMBER = re.compile(r"-?\d{1,19}(?:\.\d+)?(?:[eE][+-]?\d+)?|nan|NaN")
_LIST = re.compile(r"\[.*\]|\{.*\}|#\{.*\}", re.DOTALL)

_WORD = re.compile(r"[\w.\-]+|\{.*\}")


def _columns(kind: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), kind)


_SHARED = _columns("text", "name vhost user policy operator_policy node")
_QUEUES = (
    _SHARED
    | _columns("word", "type state")
    | _columns("boolean", "durable auto_delete exclusive internal")
    | _columns("list", "arguments effective_policy_definition members online slave_pids")
    | _columns("list", "synchronised_slave_pids recoverable_slaves open_files")
    | _columns("pid", "pid owner_pid exclusive_consumer_pid single_active_consumer_pid")
    | _columns("text", "exclusive_consumer_tag single_active_consumer_tag leader internal_owner")
    | _columns("text", "head_message_timestamp")
    | _columns("number", "consumer_utilisation consumer_capacity")
    | _columns("integer", "messages messages_ready messages_unacknowledged messages_persistent")
    | _columns("integer", "messages_ram messages_ready_ram messages_unacknowledged_ram")
    | _columns("integer", "message_bytes message_bytes_ready message_bytes_unacknowledged")
    | _columns("integer", "message_bytes_ram message_bytes_persistent messages_paged_out")
    | _columns("integer", "messages_dlx message_bytes_dlx consumers memory disk_reads disk_writes")
    | _columns("integer", "segments committed_offset")
)
_CONSUMERS = (
    _columns("text", "queue_name consumer_tag vhost")
    | _columns("pid", "channel_pid")
    | _columns("boolean", "ack_required active")
    | _columns("integer", "prefetch_count")
    | _columns("word", "activity_status")
    | _columns("list", "arguments")
)
_CHANNELS = (
    _columns("text", "name user vhost")
    | _columns("pid", "pid connection")
    | _columns("boolean", "confirm transactional")
    | _columns("integer", "number consumer_count prefetch_count global_prefetch_count")
    | _columns("integer", "messages_unacknowledged messages_uncommitted acks_uncommitted")
    | _columns("integer", "messages_unconfirmed")
)
_CONNECTIONS = (
    _columns("text", "name user vhost node host peer_host user_provided_name state")
    | _columns("text", "auth_mechanism ssl_protocol ssl_key_exchange ssl_cipher ssl_hash")
    | _columns("text", "peer_cert_subject peer_cert_issuer peer_cert_validity container_id")
    | _columns("text", "user_who_performed_action")
    | _columns("pid", "pid")
    | _columns("boolean", "ssl")
    | _columns("list", "protocol client_properties")
    | _columns("integer", "port peer_port channels channel_max frame_max timeout connected_at")
    | _columns("integer", "recv_oct recv_cnt send_oct send_cnt send_pend")
)

#: column -> type, for each list; the order decides whose a header is that fits several
COLUMNS = {
    "consumers": _CONSUMERS,
    "channels": _CHANNELS,
    "queues": _QUEUES,
    "connections": _CONNECTIONS,
}
#: without one of these a row names nothing
IDENTITY = {"queues": "name", "consumers": "queue_name", "channels": "pid", "connections": "name"}
#: what is printed when no columns are asked for, 3.8 and later
DEFAULTS = {
    "queues": ("name", "messages"),
    "consumers": (
        "queue_name",
        "channel_pid",
        "consumer_tag",
        "ack_required",
        "prefetch_count",
        "active",
        "arguments",
    ),
    "channels": ("pid", "user", "consumer_count", "messages_unacknowledged"),
    "connections": ("user", "peer_host", "peer_port", "state"),
}
#: columns that only one list has
_TELLING = {
    "consumers": {"queue_name", "consumer_tag", "channel_pid", "ack_required", "activity_status"},
    "channels": {"consumer_count", "global_prefetch_count", "acks_uncommitted", "prefetch_count"}
    | {"messages_uncommitted", "messages_unconfirmed", "transactional"},
    "queues": {"messages", "messages_ready", "consumers", "message_bytes", "type", "policy"}
    | {"durable", "auto_delete", "consumer_capacity", "consumer_utilisation", "memory"},
    "connections": {"peer_host", "peer_port", "client_properties", "channels", "recv_oct"},
}
_NAME = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z_]+)*")


def header_list(fields: Sequence[str], expected: str | None = None) -> str | None:
    """The list whose header ``fields`` are; ``None`` when they are none.

    ``expected`` is the list that a preamble or command announced: there a header may hold columns
    unknown here, and its identity alone is enough.
    """
    if len(set(fields)) != len(fields) or not all(map(_NAME.fullmatch, fields)):
        return None
    if expected in COLUMNS:
        known = sum(name in COLUMNS[expected] for name in fields)
        enough = IDENTITY[expected] in fields or known >= max(1, len(fields) - 1)
        return expected if enough and known * 2 >= len(fields) else None
    for kind, columns in COLUMNS.items():
        if all(name in columns for name in fields) and not _TELLING[kind].isdisjoint(fields):
            return kind
    return None


def fits(cell: str, kind: str) -> bool:
    """Whether ``cell`` can be a value of a column of this type; an empty one always can."""
    if not cell or kind == "text":
        return True
    if kind == "integer":
        return _INTEGER.fullmatch(cell) is not None
    if kind == "number":
        return _NUMBER.fullmatch(cell) is not None
    if kind == "boolean":
        return cell in ("true", "false")
    if kind == "pid":
        return PID.fullmatch(cell) is not None
    if kind == "list":
        return _LIST.fullmatch(cell) is not None
    return _WORD.fullmatch(cell) is not None


#: what a cell of each type is, in words
EXPECTED = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "pid": "a pid such as <rabbit@host.1796072431.3571.0>",
    "list": "a list or tuple in brackets",
    "word": "a word",
    "text": "text",
}


def value(cell: str, kind: str) -> object:
    """The value of a cell that fits; ``None`` where it is empty."""
    if not cell:
        return None
    if kind == "integer":
        return int(cell)
    if kind == "number":
        return float(cell)
    if kind == "boolean":
        return cell == "true"
    if kind == "list":
        return parse_terms(cell)
    return cell


def column_types(kind: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The type of each column; one unknown here is text."""
    known = COLUMNS[kind]
    return tuple(known.get(name, "text") for name in columns)
