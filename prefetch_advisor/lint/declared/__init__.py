"""What a settings file declares: queues with their consumers, and buffers. Seconds, per second."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from prefetch_advisor.model.lint import AckMode, Located, Place
from prefetch_advisor.model.record import record

T = TypeVar("T")
#: a value for all machines, or one for each kind by its name
Each = Located[T] | Mapping[str, Located[T]]


@record
class DeclaredQueue:
    """A queue and its consumers; the fields are the keys of ``keys.QUEUE``, ``None``: not said."""

    name: Located[str]
    #: where the queue is declared
    place: Place
    #: where the names of files start
    base: Path
    vhost: Located[str] | None = None
    type: Located[str] | None = None
    prefetch: Each[int] | None = None
    consumers: Each[int] | None = None
    #: a number, or the kind of client: async, loop
    concurrency: Located[int | str] | None = None
    ack: Located[AckMode] | None = None
    processing_time: Located[float] | None = None
    cv: Located[float] | None = None
    timings: Located[str] | None = None
    machines: Mapping[str, Located[float]] | None = None
    rtt: Located[float] | None = None
    arrival_rate: Located[float] | None = None
    message_bytes: Located[float] | None = None
    batch: Located[int] | None = None
    consumer_timeout: Located[float] | None = None
    broker_version: Located[str] | None = None
    single_active_consumer: Located[bool] | None = None
    priorities: Located[int] | None = None
    global_qos: Located[bool] | None = None
    memory_budget: Located[float] | None = None
    max_buffered_time: Located[float] | None = None
    max_utilisation: Located[float] | None = None
    target_busy_share: Located[float] | None = None


@record
class Buffer:
    """A buffer in front of workers; the fields are the keys of ``keys.BUFFER``."""

    name: Located[str]
    #: where the buffer is declared
    place: Place
    capacity: Located[int] | None = None
    workers: Located[int] | None = None
    claim_latency: Located[float] | None = None
    batch: Located[int] | None = None
    lease: Located[float] | None = None
    poll_interval: Located[float] | None = None
    processing_time: Located[float] | None = None
    connections: Located[int] | None = None
    shutdown_grace: Located[float] | None = None
    item_bytes: Located[float] | None = None
    memory_budget: Located[float] | None = None
