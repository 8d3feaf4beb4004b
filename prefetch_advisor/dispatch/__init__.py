"""One queue dealt out to several consumers, as RabbitMQ does it: the simulator with arrivals.

Deliveries go round-robin to the consumers that have credit, those of the highest priority first; an
ack takes half of the round trip to the broker and frees credit there; the delivery that it allows
takes the other half. What a consumer held when it died, or gave back, comes back to its place at
the head of the queue. With a backlog that never ends a consumer behaves as in
:mod:`prefetch_advisor.engine`, which is this for one consumer and nothing but its busy share.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import cycle, islice

from prefetch_advisor.dispatch.dealing import Dealing
from prefetch_advisor.dispatch.outcome import Dealt, Server, Share, Step
from prefetch_advisor.dispatch.summed import outcome

__all__ = ["Dealt", "Server", "Share", "Step", "deal", "poisson", "poisson_process"]

#: share of the messages that pass before measuring starts
WARM_UP = 0.1


def deal(
    arrivals: Iterable[float] | None,
    processing: Iterable[float],
    servers: Sequence[Server],
    *,
    count: int | None = None,
    warm: int | None = None,
    single_active: bool = False,
    failure_rate: float = 0.0,
    steps: Callable[[Step], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Dealt:
    """Deal messages that arrive at these times (seconds, ascending) and take these times.

    ``arrivals`` ``None``: all of them, as many as ``processing`` gives, are there from 0 on. Else
    a sequence of times is used in turn, and an iterator has one for each. ``count``: messages, of
    which none is taken before it is needed; ``None``: all that there are. ``warm``: deliveries
    before measuring starts; ``None``: a tenth of the arrivals. ``single_active``: one consumer at
    a time gets all messages. ``failure_rate``: share of the deliveries that are given back when
    the work on them is done.

    Raises:
        ValueError: no message, no consumer, or one that could never work.
    """
    if not servers or not all(map(_works, servers)) or not 0 <= failure_rate < 1:
        raise ValueError(f"nothing can be dealt out to {servers}")
    if count is None:
        counted = list(processing if arrivals is None else arrivals)
        count = len(counted)
        arrivals, processing = (None, counted) if arrivals is None else (counted, processing)
    dealing = Dealing(servers, single_active, failure_rate, steps, count)
    if arrivals is None:
        backlog = enumerate(islice(processing, count))
        messages = ((number, 0.0, work, 0) for number, work in backlog)
        dealing.work_off(messages, warm or 0, progress)
    else:
        warm = int(count * WARM_UP) if warm is None else warm
        works = cycle(processing) if isinstance(processing, Sequence) else processing
        dealing.receive(zip(islice(arrivals, count), works, strict=False), warm, progress)
    return outcome(dealing)


def _works(server: Server) -> bool:
    enough = not server.prefetch or server.prefetch >= server.batch
    return enough and server.workers >= 1 and server.batch >= 1 and 0 < server.speed < math.inf


def poisson(rate: float, count: int, seed: int) -> list[float]:
    """``count`` arrival times of a Poisson process of ``rate`` per second; the same for a seed."""
    return list(islice(poisson_process(rate, seed), count))


def poisson_process(rate: float, seed: int) -> Iterator[float]:
    """Arrival times of a Poisson process of ``rate`` per second, without end."""
    draw = random.Random(seed)
    now = 0.0
    while True:
        now += draw.expovariate(rate)
        yield now
