"""Writes samples/timings.csv: 20 seconds of four made-up queues, the same bytes at every run.

    python samples/make_timings.py > samples/timings.csv

Each consumer works on one message after another, as the consumers did whose broker's output lies
in samples/broker/, so the two files tell one story.
"""

import csv
import heapq
import math
import random
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 30, 21, 5, 20, tzinfo=UTC)
SECONDS = 20.0
Draw = Callable[[random.Random], float]


def lognormal(mean: float, cv: float) -> Draw:
    """A positive value with a longer tail on the right, as most handlers have."""
    variance = math.log(1 + cv * cv)
    return lambda rng: rng.lognormvariate(math.log(mean) - variance / 2, math.sqrt(variance))


def lan(rng: random.Random) -> float:
    """The next message from a broker next door."""
    return 0.00025 + rng.expovariate(1 / 0.0001)


def either(share: float, rare: Draw, common: Draw) -> Draw:
    """Two kinds of message on one queue."""
    return lambda rng: rare(rng) if rng.random() < share else common(rng)


#: queue: consumers, seconds of work, seconds of waiting for the next message
QUEUES: dict[str, tuple[int, Draw, Draw]] = {
    # rendering and handing over to a mail server
    "emails": (3, lognormal(0.0202, 0.6), lan),
    # a photo from a phone now and then among small pictures
    "thumbnails": (
        2,
        either(0.10, lognormal(1.00, 0.30), lognormal(0.11, 0.25)),
        lan,
    ),
    # hardly any work, but the workers sit in another region
    "payments": (1, lognormal(0.00063, 0.2), lambda rng: 0.0108 + rng.expovariate(1 / 0.0003)),
    # the warehouse system answers slowly
    "orders": (1, lognormal(0.0502, 0.3), lan),
}


def rows(queue: str, rng: random.Random) -> list[tuple[float, str, str, float, float]]:
    """What a queue's consumers would have logged: moment, queue, consumer, seconds, seconds."""
    count, work, wait = QUEUES[queue]
    free = [(rng.random() * 0.02, f"{queue}-{number}") for number in range(1, count + 1)]
    logged = []
    while free[0][0] < SECONDS:
        moment, consumer = free[0]
        processing, rtt = work(rng), wait(rng)
        logged.append((moment + processing, queue, consumer, processing, rtt))
        heapq.heapreplace(free, (moment + processing + rtt, consumer))
    return logged


def main() -> None:
    rng = random.Random(20261130)
    logged = sorted(row for queue in QUEUES for row in rows(queue, rng))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["timestamp", "queue", "consumer", "processing_ms", "rtt_ms"])
    for moment, queue, consumer, processing, rtt in logged:
        when = (START + timedelta(seconds=moment)).isoformat(timespec="milliseconds")
        figures = [f"{processing * 1000:.3f}", f"{rtt * 1000:.2f}"]
        out.writerow([when.replace("+00:00", "Z"), queue, consumer, *figures])


if __name__ == "__main__":
    main()
