"""Queues, consumers, channels and connections as the management API lists them, made to order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NOW = 1_796_073_275_000
STEP = 5
SAMPLES = 13

Object = dict[str, Any]
#: a figure at sample number i, 5 seconds apart
Course = Callable[[int], float]


def steady(value: float) -> Course:
    """A depth that does not change."""
    return lambda _: value


def per_second(rate: float, start: float = 0) -> Course:
    """A counter, or a depth, that rises by ``rate`` a second."""
    return lambda i: start + rate * STEP * i


def _samples(course: Course, count: int) -> list[Object]:
    ages = [(i, NOW - (count - 1 - i) * STEP * 1000) for i in range(count)]
    return [{"sample": round(course(i)), "timestamp": at} for i, at in reversed(ages)]


_GROWS = per_second(30, 1000)
_STANDS = steady(30)


def queue(
    ready: Course = _GROWS,
    unacked: Course = _STANDS,
    *,
    name: str = "q",
    consumers: int = 3,
    samples: int = SAMPLES,
    **more: Any,
) -> Object:
    """A queue with a minute of history; ``publish``, ``deliver``, ``ack`` ... are its counters."""
    counters = {
        key: more.pop(key)
        for key in ("publish", "deliver", "deliver_no_ack", "get", "get_no_ack", "redeliver", "ack")
        if key in more
    }
    counters.setdefault("deliver", counters.get("ack", steady(0)))
    last = samples - 1
    stats: Object = {}
    for key, course in counters.items():
        stats[key] = round(course(last))
        stats[f"{key}_details"] = {"rate": 0.0, "samples": _samples(course, samples)}
    now_ready, now_unacked = round(ready(last)), round(unacked(last))
    return {
        "name": name,
        "vhost": "/",
        "type": "classic",
        "state": "running",
        "node": "rabbit@a",
        "arguments": {},
        "consumers": consumers,
        "messages": now_ready + now_unacked,
        "messages_ready": now_ready,
        "messages_unacknowledged": now_unacked,
        "messages_ready_details": {"rate": 0.0, "samples": _samples(ready, samples)},
        "messages_unacknowledged_details": {"rate": 0.0, "samples": _samples(unacked, samples)},
        "message_stats": stats,
        **more,
    }


def consumer(prefetch: int, place: int = 0, *, name: str = "q", **more: Any) -> Object:
    """A consumer on the channel number ``place``."""
    return {
        "queue": {"name": name, "vhost": "/"},
        "consumer_tag": f"ctag-{name}-{place}-{prefetch}",
        "ack_required": True,
        "prefetch_count": prefetch,
        "active": True,
        "activity_status": "up",
        "exclusive": False,
        "arguments": {},
        "channel_details": {"name": f"c{place} (1)", "connection_name": f"c{place}", "number": 1},
        **more,
    }


def channel(place: int = 0, unacked: int = 10, **more: Any) -> Object:
    """A channel, with totals of what it acked."""
    acked = more.pop("acked", 1000)
    acks = more.pop("ack_rate", 0.0)
    return {
        "name": f"c{place} (1)",
        "vhost": "/",
        "number": 1,
        "connection_details": {"name": f"c{place}"},
        "consumer_count": 1,
        "messages_unacknowledged": unacked,
        "prefetch_count": 0,
        "state": "running",
        "message_stats": {
            "ack": acked,
            "ack_details": {"rate": acks},
            "deliver": acked + unacked,
            "deliver_details": {"rate": acks},
            "deliver_no_ack": 0,
            "deliver_no_ack_details": {"rate": 0.0},
        },
        **more,
    }


def connection(place: int = 0, **more: Any) -> Object:
    """A client's connection."""
    return {
        "name": f"c{place}",
        "vhost": "/",
        "user": "guest",
        "protocol": "AMQP 0-9-1",
        "type": "network",
        "state": "running",
        "channels": 1,
        "host": "127.0.0.1",
        "port": 5672,
        "peer_host": "127.0.0.1",
        "peer_port": 40_000 + place,
        "connected_at": NOW - 3_600_000,
        "client_properties": {},
        **more,
    }
