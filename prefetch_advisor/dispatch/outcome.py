"""Who is dealt to, and what became of the messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from prefetch_advisor.model.figures import ClientKind
from prefetch_advisor.spread import Summary


@dataclass(frozen=True, slots=True)
class Server:
    """A consumer: how many messages it may hold, and how it works on them. Times in seconds."""

    #: 0: no limit
    prefetch: int
    #: messages worked on at once; of no meaning for the kinds async and loop
    workers: int = 1
    #: constant, or values that are used in turn
    rtt: float | Sequence[float] = 0.0
    kind: ClientKind = "workers"
    #: messages acked together
    batch: int = 1
    #: its work takes 1 / speed of the time
    speed: float = 1.0
    priority: int = 0
    #: when it begins to consume, and when it is killed
    joins: float = 0.0
    dies: float = math.inf


@dataclass(frozen=True, slots=True)
class Step:
    """One delivery, for a timeline. Seconds."""

    consumer: int
    #: the message's number in the queue, from 0
    message: int
    dealt: float
    begun: float
    #: when its consumer was done with it, or died of it
    done: float
    #: its consumer died before it was acked
    lost: bool = False
    #: it was given back
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """What became of one consumer."""

    #: messages that it was done with
    messages: int
    #: seconds of work of its workers
    work: float
    #: share of its workers' time, from when it came until the end or its death, that they worked
    busy: float
    #: messages that it held when it died
    lost: int


@dataclass(frozen=True, slots=True)
class Dealt:
    """What became of the messages. Seconds; waits are those after the warm-up."""

    #: from a message's arrival in the queue until work on it began
    waits: Summary
    #: of it, the part in the queue
    queue_waits: Summary
    #: and the rest: on the way and in a consumer's buffer
    buffer_waits: Summary
    #: from a delivery until its consumer was done: how long it takes to stop cleanly
    held: Summary
    #: share of the time, from the first arrival to the last ack, that the workers worked
    busy: float
    #: messages a second: of a backlog from the warm-up until it ended, else over all of the time
    throughput: float
    #: of a backlog, share of the workers' time over the same messages; else as ``busy``
    steady: float
    #: from the first arrival until the last message was done
    makespan: float
    #: messages that were measured, and that were done in all
    messages: int
    done: int
    #: deliveries of a message that had been delivered before
    redelivered: int
    #: most messages unacked at once, and the mean over the time
    most_unacked: int
    mean_unacked: float
    #: messages ready when the last one arrived; of a backlog 0
    left_waiting: int
    consumers: tuple[Share, ...]

    @property
    def wait(self) -> float:
        """Mean seconds until work began."""
        return self.waits.mean

    @property
    def queued(self) -> float:
        """Mean seconds in the queue."""
        return self.queue_waits.mean
