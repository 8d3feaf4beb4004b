"""Facts as people tell them, in few words: timings, management API rows, rabbitmqctl text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Write = Callable[[str, str], Path]

CONSUMERS = "queue_name\tchannel_pid\tconsumer_tag\tack_required\tprefetch_count\tactive\n"
CHANNELS = "pid\tname\tconsumer_count\tprefetch_count\tglobal_prefetch_count\n"
QUEUES = "name\ttype\tmessages_ready\tmessages_unacknowledged\tconsumers\n"


def findings(queue: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {finding["name"]: finding for finding in queue["findings"]}


def timings(columns: str, row: str, rows: int = 1_500) -> str:
    return "\n".join([columns, *[row] * rows]) + "\n"


def api_queue(**fields: Any) -> dict[str, Any]:
    """A queue as GET /api/queues lists it; ``message_stats`` only where it is given."""
    queue = {
        "name": "q",
        "vhost": "/",
        "type": "classic",
        "state": "running",
        "arguments": {},
        "messages_ready": 0,
        "messages_unacknowledged": 0,
        "consumers": 0,
        **fields,
    }
    queue.setdefault("messages", queue["messages_ready"] + queue["messages_unacknowledged"])
    return queue


def api_consumer(prefetch: int, channel: int = 1, **fields: Any) -> dict[str, Any]:
    connection = f"127.0.0.1:4000{channel} -> 127.0.0.1:5672"
    return {
        "queue": {"name": "q", "vhost": "/"},
        "consumer_tag": f"ctag-{channel}-{prefetch}-{fields.pop('tag', 1)}",
        "channel_details": {
            "name": f"{connection} (1)",
            "connection_name": connection,
            "number": 1,
            "node": "rabbit@a",
            "peer_host": "127.0.0.1",
            "peer_port": 40000 + channel,
            "user": "guest",
        },
        "ack_required": True,
        "prefetch_count": prefetch,
        "exclusive": False,
        "active": True,
        "activity_status": "up",
        "arguments": {},
        **fields,
    }


def counters(**totals: int) -> dict[str, Any]:
    """message_stats with cumulative counters; rates are left to be worked out from two samples."""
    stats: dict[str, Any] = dict(totals)
    stats |= {f"{name}_details": {"rate": 0.0} for name in totals}
    return stats


def overview(version: str) -> str:
    return json.dumps(
        {
            "management_version": version,
            "rabbitmq_version": version,
            "product_name": "RabbitMQ",
            "rates_mode": "basic",
            "object_totals": {"queues": 1, "consumers": 1, "channels": 1, "connections": 1},
        }
    )


def series(
    write: Write, consumers: list[dict[str, Any]], samples: list[dict[str, Any]]
) -> list[Path]:
    """Samples of one queue, one file each, and its consumers."""
    files = [
        write(f"queues{index:02}.json", json.dumps([api_queue(consumers=len(consumers), **sample)]))
        for index, sample in enumerate(samples)
    ]
    return [*files, write("consumers.json", json.dumps(consumers))]
