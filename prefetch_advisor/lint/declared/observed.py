"""A declared queue as ``advise`` would see it: an observation, and the figures that were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prefetch_advisor.advise import work_out
from prefetch_advisor.config import Given, Policy
from prefetch_advisor.consumer_count import ConsumerCount
from prefetch_advisor.hints import Judged
from prefetch_advisor.limits import version_of
from prefetch_advisor.lint.declared import DeclaredQueue, Each
from prefetch_advisor.lint.declared.values import CLIENTS
from prefetch_advisor.model.lint import Located
from prefetch_advisor.model.observation import (
    Ack,
    Broker,
    Consumer,
    ConsumerRow,
    QueueKey,
    QueueObservation,
    QueueRow,
    SourceKind,
)

if TYPE_CHECKING:
    from prefetch_advisor.model.figures import ClientKind
    from prefetch_advisor.model.timing import TimingRow

#: from this version on, quorum queues alone have a delivery acknowledgement timeout
TIMEOUT_OF_QUORUM_ALONE = (4, 3)
_GIVEN = (
    "processing_time",
    "rtt",
    "concurrency",
    "arrival_rate",
    "batch",
    "message_bytes",
    "consumer_timeout",
)


def judged_as(
    queue: DeclaredQueue, timings: TimingRow | None = None
) -> tuple[Judged, ConsumerCount]:
    """What ``advise`` computes of it; values that differ between machines are not looked at.

    Raises:
        ConflictError: bounds that no prefetch can keep together.
    """
    judged, _, count = work_out(_observation(queue, timings), _given(queue), policy(queue))
    return judged, count


def where(queue: DeclaredQueue, value: Located[Any]) -> str:
    """Where a value was said, for a person who is looking at the file of the queue."""
    made = f", {value.origin}" if value.origin else ""
    if value.place.path == queue.place.path:
        return f"line {value.place.line}{made}"
    return f"{value.place.path}:{value.place.line}{made}"


def policy(queue: DeclaredQueue) -> Policy:
    """What is wanted of it."""
    target, highest = queue.target_busy_share, queue.max_utilisation
    return Policy(
        target_busy_share=target.value if target else None,
        max_utilisation=highest.value if highest else Policy().max_utilisation,
        memory_budget=queue.memory_budget.value if queue.memory_budget else None,
        max_buffered_time=queue.max_buffered_time.value if queue.max_buffered_time else None,
    )


def alike(value: Each[int] | None) -> Located[int] | None:
    """The value of all machines, where it is one."""
    return value if isinstance(value, Located) else None


def timeout_is_enforced(queue: DeclaredQueue) -> bool:
    """Whether a delivery acknowledgement timeout may hold for it at all."""
    version = version_of(queue.broker_version.value if queue.broker_version else None)
    kind = queue.type.value if queue.type else None
    quorum_alone = version is not None and version >= TIMEOUT_OF_QUORUM_ALONE
    return not quorum_alone or kind not in ("classic", "stream")


def _given(queue: DeclaredQueue) -> Given:
    origins = {}
    for name in _GIVEN:
        value = getattr(queue, name)
        origins[name] = where(queue, value) if value is not None else name.replace("_", "-")
    timeout, at_once = queue.consumer_timeout, queue.concurrency
    if not timeout_is_enforced(queue):
        timeout = None
    client: ClientKind | None = None
    if at_once is not None and at_once.value in CLIENTS:
        client = "async" if at_once.value == "async" else "loop"
    number = at_once.value if at_once is not None and isinstance(at_once.value, int) else None
    return Given(
        processing_time=queue.processing_time.value if queue.processing_time else None,
        rtt=queue.rtt.value if queue.rtt else None,
        concurrency=number,
        client=client,
        arrival_rate=queue.arrival_rate.value if queue.arrival_rate else None,
        cv=queue.cv.value if queue.cv else None,
        batch=queue.batch.value if queue.batch else None,
        message_bytes=queue.message_bytes.value if queue.message_bytes else None,
        consumer_timeout=timeout.value if timeout else None,
        origins=origins,
    )


def _observation(queue: DeclaredQueue, timings: TimingRow | None) -> QueueObservation:
    vhost, name = queue.vhost.value if queue.vhost else "/", queue.name.value
    file = queue.place.path
    settings: dict[str, object] = {}
    if queue.single_active_consumer is not None:
        settings["single-active-consumer"] = queue.single_active_consumer.value
    if queue.priorities is not None and queue.priorities.value > 1:
        settings["max-priority"] = queue.priorities.value
    broker = Broker(version=queue.broker_version.value if queue.broker_version else None)
    row = QueueRow(
        # a file of settings is no source of observations; the kind decides nothing here
        SourceKind.MANAGEMENT,
        file,
        vhost,
        name,
        type=queue.type.value if queue.type else None,
        settings=settings,
    )
    prefetch, count = alike(queue.prefetch), alike(queue.consumers)
    ack: Ack = "auto" if queue.ack is not None and queue.ack.value == "auto" else "manual"
    consumers = tuple(
        Consumer(
            ConsumerRow(
                SourceKind.MANAGEMENT,
                file,
                vhost,
                name,
                tag=str(number),
                channel=str(number),
                prefetch=prefetch.value if prefetch else None,
                ack=ack,
            ),
            None,
            None,
        )
        for number in range(count.value if count else 1)
    )
    key = QueueKey(None, vhost, name)
    return QueueObservation(key, row, consumers, timings, broker, (file,))
