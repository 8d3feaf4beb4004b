"""One queue dealt out to several consumers, as RabbitMQ does it: the simulator with arrivals.

Deliveries go round-robin to the consumers that have credit. An ack takes half of the round trip to
the broker and frees credit there; the delivery that it allows takes the other half. With a backlog
that never ends a consumer behaves as in :mod:`prefetch_advisor.engine`.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush, heapreplace
from itertools import cycle, islice

from prefetch_advisor.model.record import record

#: share of the messages that pass before measuring starts
WARM_UP = 0.1


@record
class Server:
    """A consumer: its workers, its prefetch and its round trip in seconds."""

    prefetch: int
    workers: int = 1
    rtt: float = 0.0


@record
class Dealt:
    """What became of the messages; waits are those after the warm-up."""

    #: seconds from a message's arrival in the queue until work on it began, mean
    wait: float
    #: of it, the part in the queue; the rest it spent on the way and in a consumer's buffer
    queued: float
    #: share of the time, from the first arrival to the last ack, that the workers worked
    busy: float
    #: those that were measured
    messages: int


def deal(
    arrivals: Iterable[float], processing: Iterable[float], servers: Sequence[Server]
) -> Dealt:
    """Deal messages that arrive at these times (seconds, ascending) and take these times.

    Raises:
        ValueError: no message, no consumer, or one without a worker or a finite prefetch.
    """
    times = list(arrivals)
    if not times or not servers or any(s.prefetch < 1 or s.workers < 1 for s in servers):
        raise ValueError(f"nothing can be dealt out: {len(times)} messages to {servers}")
    work = list(islice(cycle(processing), len(times)))
    credit = [server.prefetch for server in servers]
    free = [[0.0] * server.workers for server in servers]
    rotation = deque(range(len(servers)))
    acks: list[tuple[float, int]] = []
    waiting: deque[int] = deque()
    begun, dealt = [0.0] * len(times), [0.0] * len(times)
    end = 0.0

    def deliver(message: int, now: float) -> None:
        """Hand one message to the consumer whose turn it is."""
        nonlocal end
        chosen = rotation.popleft()
        credit[chosen] -= 1
        if credit[chosen]:
            rotation.append(chosen)
        half = servers[chosen].rtt / 2
        start = max(now + half, free[chosen][0])
        done = start + work[message]
        heapreplace(free[chosen], done)
        heappush(acks, (done + half, chosen))
        dealt[message], begun[message] = now, start
        end = max(end, done)

    def acked(until: float) -> None:
        """Take in the acks that reach the broker by then, and deal out what waits for them."""
        while acks and acks[0][0] <= until:
            now, chosen = heappop(acks)
            credit[chosen] += 1
            if credit[chosen] == 1:
                rotation.append(chosen)
            if waiting:
                deliver(waiting.popleft(), now)

    for message, now in enumerate(times):
        acked(now)
        if rotation:
            deliver(message, now)
        else:
            waiting.append(message)
    acked(float("inf"))
    first = int(len(times) * WARM_UP)
    count = len(times) - first
    waits = sum(begun[i] - times[i] for i in range(first, len(times)))
    queued = sum(dealt[i] - times[i] for i in range(first, len(times)))
    workers = sum(server.workers for server in servers)
    span = end - times[0]
    busy = sum(work) / (workers * span) if span > 0 else 1.0
    return Dealt(waits / count, queued / count, min(1.0, busy), count)


def poisson(rate: float, count: int, seed: int) -> list[float]:
    """``count`` arrival times of a Poisson process of ``rate`` per second; the same for a seed."""
    draw = random.Random(seed)
    now, times = 0.0, []
    for _ in range(count):
        now += draw.expovariate(rate)
        times.append(now)
    return times
