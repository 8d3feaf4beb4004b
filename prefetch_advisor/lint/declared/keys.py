"""The keys of declared queues and buffers: the only place that knows them.

The readers of TOML and INI, the JSON schema, and what ``init`` writes are made from it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from prefetch_advisor.lint.declared.values import (
    CLIENTS,
    DURATION,
    DURATION_OR_ZERO,
    RATE,
    SIZE,
    Choice,
    Flag,
    Number,
    PerMachine,
    Text,
    Value,
    Whole,
)
from prefetch_advisor.ranges import MOST_AT_ONCE

#: far more than a queue has; each is looked at
_MOST_CONSUMERS = 10_000
#: above the largest prefetch there is, so that it can be told
_LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table."""

    name: str
    value: Value
    #: what it means, one sentence
    doc: str
    #: a value as TOML has it
    example: object
    required: bool = False
    #: what people call it elsewhere, for hints
    also: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        """Its name as an attribute."""
        return self.name.replace("-", "_")


_NAME = Text("a name")
_VERSION = Text("a version such as '4.1.0'", r"[0-9]{1,4}\.[0-9]{1,4}(?:[.+~-]\S*)?")

QUEUE: tuple[Key, ...] = (
    Key("name", _NAME, "Name of the queue.", "tasks", required=True, also=("queue", "queue-name")),
    Key("vhost", _NAME, "Its vhost; / where it is not said.", "/", also=("virtual-host",)),
    Key(
        "type",
        Choice(("classic", "quorum", "stream")),
        "Type of the queue.",
        "quorum",
        also=("queue-type", "x-queue-type"),
    ),
    Key(
        "prefetch",
        PerMachine(Whole(0, _LARGEST)),
        "Prefetch of each consumer; 0 is no limit. A table gives each kind of machine its own.",
        4,
        also=("prefetch-count", "qos", "prefetch-size", "prefetches"),
    ),
    Key(
        "consumers",
        PerMachine(Whole(1, _MOST_CONSUMERS)),
        "Consumers of the queue, all processes together. A table counts each kind of machine.",
        5,
        also=("consumer-count", "replicas", "processes", "instances"),
    ),
    Key(
        "concurrency",
        Whole(1, MOST_AT_ONCE, CLIENTS),
        "Messages that one consumer works on at once; async: every delivery is started at once; "
        "loop: the handler blocks its event loop.",
        1,
        also=("workers", "threads", "pool", "parallelism"),
    ),
    Key(
        "ack",
        Choice(("manual", "auto", "early")),
        "When a message counts as done: manual, after the work; early, before it; auto, as it is "
        "delivered.",
        "manual",
        also=("ack-mode", "acknowledge", "acknowledge-mode", "auto-ack", "no-ack"),
    ),
    Key(
        "processing-time",
        DURATION,
        "From the start of the handler until its ack, on average.",
        "20ms",
        also=("service-time", "duration", "handler-time", "mean"),
    ),
    Key(
        "cv",
        Number(0, 100),
        "Standard deviation / mean of the processing time; 0 is constant, 1 exponential-like.",
        0.5,
        also=("variation", "coefficient-of-variation"),
    ),
    Key(
        "timings",
        Text("the name of a file"),
        "File of measured timings, relative to this one, in place of processing-time.",
        "timings.csv",
        also=("timing", "timings-file", "samples"),
    ),
    Key(
        "machines",
        PerMachine(DURATION, alike=False),
        "Processing time on each kind of machine, in place of processing-time.",
        {"fast": "5ms", "slow": "25ms"},
        also=("hosts", "speeds", "machine"),
    ),
    Key(
        "rtt",
        DURATION_OR_ZERO,
        "From an ack leaving until the delivery that it allowed arrives (probe measures it).",
        "1ms",
        also=("round-trip", "round-trip-time", "latency"),
    ),
    Key(
        "arrival-rate",
        RATE,
        "Messages published to the queue.",
        "180/s",
        also=("publish-rate", "arrivals", "rate"),
    ),
    Key(
        "message-bytes",
        SIZE,
        "Mean size of a message.",
        "20KB",
        also=("message-size", "body-bytes", "size"),
    ),
    Key(
        "batch",
        Whole(1, MOST_AT_ONCE),
        "Messages that a consumer acks together.",
        1,
        also=("batch-size", "ack-batch", "messages-per-ack"),
    ),
    Key(
        "consumer-timeout",
        DURATION,
        "Delivery acknowledgement timeout in force for the queue.",
        "30min",
        also=("ack-timeout", "x-consumer-timeout", "timeout"),
    ),
    Key(
        "broker-version",
        _VERSION,
        "Version of RabbitMQ: which types enforce the timeout, what a global prefetch does.",
        "4.1.0",
        also=("version", "rabbitmq-version", "broker"),
    ),
    Key(
        "single-active-consumer",
        Flag(),
        "One consumer at a time is given messages.",
        True,
        also=("sac", "x-single-active-consumer", "single-active"),
    ),
    Key(
        "priorities",
        Whole(0, 255),
        "Levels of priority in use (x-max-priority); 0 or 1: none.",
        5,
        also=("max-priority", "x-max-priority", "priority"),
    ),
    Key(
        "global-qos",
        Flag(),
        "The prefetch is asked for as one limit of the whole channel (global).",
        False,
        also=("global", "global-prefetch", "apply-global", "channel-prefetch"),
    ),
    Key(
        "memory-budget",
        SIZE,
        "Message bodies that one consumer may hold.",
        "256MB",
        also=("memory", "memory-limit"),
    ),
    Key(
        "max-buffered-time",
        DURATION_OR_ZERO,
        "Longest time that a prefetched message may wait in the client.",
        "1s",
        also=("buffered-time", "max-wait", "max-buffer"),
    ),
    Key(
        "max-utilisation",
        Number(0.01, 1),
        "Highest load of a consumer to plan for; 0.8 where it is not said.",
        0.8,
        also=("max-utilization", "utilisation", "utilization", "max-load"),
    ),
    Key(
        "target-busy-share",
        Number(0.01, 0.9999),
        "Share of its time a consumer should be busy while messages wait; 0.98, for loop 0.95.",
        0.98,
        also=("busy-share", "target"),
    ),
)

BUFFER: tuple[Key, ...] = (
    Key("name", _NAME, "Name of the buffer.", "jobs", required=True, also=("buffer", "queue")),
    Key(
        "capacity",
        Whole(0, _LARGEST),
        "Items that it holds at most; 0 is no limit.",
        100,
        also=("size", "max-size", "maxsize", "bound", "limit"),
    ),
    Key(
        "workers",
        Whole(1, MOST_AT_ONCE),
        "Items that are worked on at once.",
        10,
        also=("concurrency", "threads", "processors", "consumers"),
    ),
    Key(
        "claim-latency",
        DURATION_OR_ZERO,
        "From asking for rows until they lie in the buffer.",
        "8ms",
        also=("latency", "rtt", "query-time"),
    ),
    Key(
        "batch",
        Whole(1, MOST_AT_ONCE),
        "Rows that are claimed together.",
        20,
        also=("batch-size", "claim-batch", "limit"),
    ),
    Key(
        "lease",
        DURATION,
        "Time after which a row that is claimed and not done is given to another worker.",
        "5min",
        also=("lease-time", "visibility-timeout", "heartbeat-timeout", "timeout"),
    ),
    Key(
        "connections",
        Whole(1, MOST_AT_ONCE),
        "Connections to the database that the workers share.",
        12,
        also=("pool", "pool-size", "max-connections"),
    ),
    Key(
        "shutdown-grace",
        DURATION,
        "Time that a stop waits for what was claimed.",
        "30s",
        also=("grace", "grace-period", "stop-timeout"),
    ),
    Key(
        "item-bytes",
        SIZE,
        "Size of an item in memory, on average.",
        "20KB",
        also=("row-bytes", "message-bytes", "bytes"),
    ),
    Key(
        "memory-budget",
        SIZE,
        "What the items of one process may take.",
        "256MB",
        also=("memory", "max-memory"),
    ),
    Key(
        "poll-interval",
        DURATION_OR_ZERO,
        "Wait before the table is asked again after it was empty.",
        "1s",
        also=("poll", "interval", "polling-interval"),
    ),
    Key(
        "processing-time",
        DURATION,
        "Time that a worker takes for an item, on average.",
        "200ms",
        also=("service-time", "duration"),
    ),
)
#: ways to say how long a message takes, of which a queue has one
TIMES = ("processing-time", "timings", "machines")
#: what holds for every queue that does not say otherwise
DEFAULTS: tuple[Key, ...] = tuple(
    key for key in QUEUE if key.name not in ("name", "timings", "machines")
)


def near(name: str, keys: Iterable[Key]) -> str:
    """A hint at the key that was meant: one that people call so, or is spelt alike."""
    every = list(keys)
    plain = name.strip().lower().replace("_", "-")
    for key in every:
        if plain == key.name or plain in key.also:
            return f"did you mean {key.name}?"
    words = {word: key.name for key in every for word in (*key.also, key.name)}
    close = difflib.get_close_matches(plain, words, 1, 0.6)
    if close:
        return f"did you mean {words[close[0]]}?"
    return f"known: {', '.join(key.name for key in every)}"
