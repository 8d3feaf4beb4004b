"""A consumer under way: its credit, its workers, what it holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle

from prefetch_advisor.dispatch.outcome import Server

#: number in the queue, arrival (seconds), work (seconds at speed 1), deliveries before
Message = tuple[int, float, float, int]


class Consumer:
    """What is known of a consumer at a moment of a run."""

    __slots__ = (
        "acked", "alive", "ask", "buffer", "credit", "dies", "free", "half", "halves", "index",
        "kind", "lost", "messages", "plain", "server", "speed", "steady", "turning", "unacked",
        "work", "workers",
    )  # fmt: skip

    def __init__(self, server: Server, index: int) -> None:
        self.server = server
        self.index = index
        self.kind = server.kind
        self.speed = server.speed
        self.dies = server.dies
        self.credit: float = server.prefetch or math.inf
        constant = isinstance(server.rtt, (int, float))
        #: of constant round trips, seconds of a way; of others each delivery's own
        self.half = server.rtt / 2 if isinstance(server.rtt, (int, float)) else 0.0
        self.halves = None if constant else cycle([r / 2 for r in _values(server.rtt)])
        #: when each worker is free; of the kind async all of them always are
        self.free = [0.0] * server.workers
        #: acks leave one by one, as soon as a message is done
        self.plain = server.batch == 1 and server.kind != "loop"
        self.workers = server.kind == "workers"
        #: it acks all that it is sent, one by one
        self.steady = self.plain and server.dies == math.inf
        self.alive = False
        self.turning = False
        self.buffer: list[tuple[Message, float, float]] = []
        #: done and not acked yet, for acks in groups
        self.unacked: list[Message] = []
        #: what it will hold when it dies
        self.lost: list[Message] = []
        self.messages = self.acked = 0
        self.work = 0.0

    def way(self) -> float:
        """Seconds of one way of the next message."""
        return self.half if self.halves is None else next(self.halves)

    @property
    def places(self) -> float:
        """Messages that it works on at once: each of these places is busy or idle."""
        if self.kind == "async":
            return self.server.prefetch or math.inf
        return 1 if self.kind == "loop" else self.server.workers


def _values(rtt: float | Sequence[float]) -> Sequence[float]:
    return rtt if isinstance(rtt, Sequence) else [rtt]
