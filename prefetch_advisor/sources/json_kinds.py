"""What a JSON document is and who printed it, told by the keys of its first row."""

from __future__ import annotations

from collections.abc import Mapping

from prefetch_advisor.model.observation import SourceKind

_QUEUE_MARKS = frozenset(
    {
        "messages",
        "messages_ready",
        "messages_unacknowledged",
        "messages_ram",
        "consumers",
        "consumer_details",
        "message_bytes",
        "consumer_capacity",
        "consumer_utilisation",
        "effective_policy_definition",
        "backing_queue_status",
        "exclusive_consumer_tag",
        "exclusive",
    }
)
_CHANNEL_MARKS = frozenset(
    {
        "consumer_count",
        "prefetch_count",
        "global_prefetch_count",
        "connection_details",
        "acks_uncommitted",
        "messages_unconfirmed",
        "messages_uncommitted",
    }
)
_CONNECTION_MARKS = frozenset(
    {
        "client_properties",
        "peer_host",
        "peer_port",
        "recv_oct",
        "send_pend",
        "channel_max",
        "auth_mechanism",
    }
)
_TYPES = frozenset(
    {
        "classic",
        "quorum",
        "stream",
        "rabbit_classic_queue",
        "rabbit_quorum_queue",
        "rabbit_stream_queue",
    }
)
#: keys of vhosts, feature flags, policies, users, bindings and parameters
_OTHERS = frozenset(
    {
        "tracing",
        "cluster_state",
        "default_queue_type",
        "stability",
        "pattern",
        "tags",
        "password_hash",
        "source",
        "destination",
        "component",
    }
)


def document_list(document: object) -> tuple[SourceKind, str]:
    """Who printed a JSON document, and what list it is.

    The list is one of queues, consumers, channels, connections, nodes, overview, features, error,
    empty and unknown.
    """
    row = document
    if isinstance(document, Mapping) and isinstance(document.get("items"), list):
        row = document["items"] if "page_count" in document or "item_count" in document else row
    if isinstance(row, list):
        if not row:
            return SourceKind.MANAGEMENT, "empty"
        row = next((item for item in row if isinstance(item, Mapping)), None)
    if not isinstance(row, Mapping) or not row:
        return SourceKind.MANAGEMENT, "unknown"
    found = _list_of(row)
    return (SourceKind.RABBITMQCTL if _by_ctl(row, found) else SourceKind.MANAGEMENT), found


def _list_of(row: Mapping[str, object]) -> str:
    keys = row.keys()
    if "error" in keys and keys <= {"error", "reason"}:
        return "error"
    if "consumer_tag" in keys or "queue_name" in keys or {"queue", "channel_details"} <= keys:
        return "consumers"
    if "deprecation_phase" in keys:
        return "features"
    if "mem_alarm" in keys or "disk_free_alarm" in keys or "mem_limit" in keys:
        return "nodes"
    if "exchanges" in keys and "bindings" in keys:
        return "unknown"  # definitions
    if "rabbitmq_version" in keys or "management_version" in keys:
        return "overview"
    if not _OTHERS.isdisjoint(keys):
        return "unknown"
    if not _CONNECTION_MARKS.isdisjoint(keys):
        return "connections"
    if not _CHANNEL_MARKS.isdisjoint(keys):
        return "channels"
    if "name" in keys:
        if not _QUEUE_MARKS.isdisjoint(keys) or row.get("type") in _TYPES:
            return "queues"
        if "message_stats" in keys and "vhost" in keys and row.get("type") is None:
            return "queues"
    return "unknown"


def _by_ctl(row: Mapping[str, object], found: str) -> bool:
    if found == "consumers":
        return "queue_name" in row or "channel_pid" in row
    if found == "channels":
        return (
            "connection_details" not in row
            and "message_stats" not in row
            and ("pid" in row or "node" not in row)
        )
    if found == "connections":
        return (
            "pid" in row
            or isinstance(row.get("protocol"), list)
            or isinstance(row.get("client_properties"), list)
        )
    if found == "queues":
        return not (
            "vhost" in row
            or "message_stats" in row
            or "node" in row
            or any(key.endswith("_details") for key in row)
        )
    return False
