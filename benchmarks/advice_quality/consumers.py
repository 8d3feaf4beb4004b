"""Several consumers on one queue: is the number advised right, and what does a prefetch cost?

    python benchmarks/advice_quality/consumers.py loads --port 5672
    python benchmarks/advice_quality/consumers.py fairness --port 5672

``loads``: Poisson arrivals at a known rate, the consumers and the prefetch that are advised for it;
utilisation and mean wait beside what was predicted. ``fairness``: two consumers share a backlog,
the second one comes a second later. Each run appends a line to its file; what is there stays.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

import pika
from cells import POINTS, TODAY, Cell
from measure import _now, _record, _tool

from prefetch_advisor.dispatch import poisson_process
from prefetch_advisor.draws import draws

#: arrivals a second and how many of them are measured, for three loads
LOADS = ((50.0, 10_000), (130.0, 25_000), (300.0, 45_000))
#: messages before measuring starts
_WARM = 500
#: a batch's mean is nearly independent of the next one's: what the interval rests on
_BATCHES = 20
_TASK = Cell("exponential", 10.0, 0.0, "classic", "blocking")
#: a backlog, and when the second consumer joins, seconds
_BACKLOG, _LATE = 400, 1.0
_CONTEXT = get_context("spawn")


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["loads", "fairness"])
    parser.add_argument("--port", type=int, default=5672)
    options = parser.parse_args()
    file = POINTS / f"consumers-{options.what}.jsonl"
    there = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    make = loads if options.what == "loads" else fairness
    for line in make(options.port, there):
        with file.open("a") as opened:
            opened.write(json.dumps(line) + "\n")


def loads(port: int, there: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every load that is missing, all at the same time: handlers sleep."""
    known = {line["rate"] for line in there}
    wanted = [load for load in LOADS if load[0] not in known]
    with ThreadPoolExecutor(len(LOADS)) as pool:
        return list(pool.map(lambda load: _load(port, *load), wanted))


def _load(port: int, rate: float, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        timings = Path(directory) / "timings.csv"
        _record(_TASK, port, timings)
        probed = _tool("probe", "--uri", f"amqp://localhost:{port}")
        said = _tool(
            *("advise", str(timings), "--rtt", f"{probed['rtt']['mean']:.9f}s"),
            *("--arrival-rate", f"{rate:g}/s"),
        )["queues"][0]
    advised = said["recommended"]
    total = _WARM + count
    rows = _run(
        port,
        advised["consumers"],
        advised["prefetch"],
        list(islice(poisson_process(rate, 21), total)),
        list(islice(draws("exponential", _TASK.processing / 1_000, None, 22), total)),
    )[_WARM:]
    waits = [begun - published for _, published, begun, _ in rows]
    size = len(waits) // _BATCHES
    means = [statistics.fmean(waits[i * size : (i + 1) * size]) for i in range(_BATCHES)]
    span = rows[-1][1] - rows[0][1]
    work = math.fsum(done - begun for _, _, begun, done in rows)
    return {
        "rate": rate,
        "consumers": advised["consumers"],
        "prefetch": advised["prefetch"],
        "predicted_utilisation": advised["utilisation"],
        "predicted_wait": advised["wait"],
        "processing": said["processing_time"]["mean"],
        "messages": len(rows),
        "arrived_a_second": (len(rows) - 1) / span,
        "utilisation": work / span / advised["consumers"],
        "wait": statistics.fmean(waits),
        "wait_of_batches": [round(mean, 6) for mean in means],
        "broker": f"{probed['broker']['product']} {probed['broker']['version']}",
        "at": _now(),
    }


def fairness(port: int, there: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A backlog of uneven tasks, two consumers, several prefetches, 0 being no limit."""
    known = {line["prefetch"] for line in there}
    times = list(islice(draws("lognormal", 0.05, 3.0, 2), _BACKLOG))
    scale = 0.05 * _BACKLOG / math.fsum(times)
    times = [value * scale for value in times]

    def one(prefetch: int) -> dict[str, Any]:
        rows = _run(port, 2, prefetch, [0.0] * _BACKLOG, times, late=_LATE)
        start = min(row[2] for row in rows)
        # a sleep is longer than what was asked for: what they really worked
        work = math.fsum(row[3] - row[2] for row in rows)
        handled = [sum(row[0] == consumer for row in rows) for consumer in range(2)]
        return {
            "prefetch": prefetch,
            "makespan": round(max(row[3] for row in rows) - start, 4),
            "ideal": round((work + _LATE) / 2, 4),
            "wait": round(statistics.fmean(row[2] - start for row in rows), 4),
            "handled": handled,
            "longest": round(max(times), 4),
            "at": _now(),
        }

    wanted = [n for n in (2, *TODAY, 0) if n not in known]
    with ThreadPoolExecutor(len(wanted) or 1) as pool:
        return list(pool.map(one, wanted))


def _run(
    port: int,
    consumers: int,
    prefetch: int,
    arrivals: list[float],
    times: list[float],
    late: float | None = None,
) -> list[tuple[int, float, float, float]]:
    """Consumer, published, begun, done of every message, as it was published. Seconds."""
    connection = _connect(port)
    channel = connection.channel()
    name = channel.queue_declare("", auto_delete=False, exclusive=False).method.queue
    answers: Queue[list[tuple[int, int, float, float, float]]] = _CONTEXT.Queue()
    ready = _CONTEXT.Barrier(consumers + 1)
    workers = []
    for number in range(consumers):
        joins = late if late is not None and number else 0.0
        wanted = (port, name, prefetch, len(times), number, joins)
        workers.append(_CONTEXT.Process(target=_consume, args=(answers, ready, *wanted)))
    try:
        if late is not None:
            _publish(channel, name, arrivals, times)
        for worker in workers:
            worker.start()
        ready.wait()
        if late is None:
            _publish(channel, name, arrivals, times)
        rows = [row for _ in workers for row in answers.get()]
    finally:
        for worker in workers:
            worker.join(10)
            worker.terminate()
        channel.queue_delete(name)
        connection.close()
    return [row[1:] for row in sorted((i, n, p, b, d) for n, i, p, b, d in rows)]


def _publish(channel: Any, name: str, arrivals: list[float], times: list[float]) -> None:
    start = time.monotonic() + 0.2
    for number, (at, takes) in enumerate(zip(arrivals, times, strict=True)):
        time.sleep(max(0.0, start + at - time.monotonic()))
        channel.basic_publish("", name, f"{number} {time.monotonic()} {takes}".encode())


def _consume(
    answers: Any,
    ready: Any,
    port: int,
    name: str,
    prefetch: int,
    count: int,
    own: int,
    joins: float,
) -> None:
    connection = _connect(port)
    channel = connection.channel()
    channel.basic_qos(prefetch_count=prefetch)
    rows: list[tuple[int, int, float, float, float]] = []
    ready.wait()
    time.sleep(joins)

    def handle(channel: Any, method: Any, _properties: Any, body: bytes) -> None:
        begun = time.monotonic()
        number, published, takes = body.split()
        time.sleep(float(takes))
        channel.basic_ack(method.delivery_tag)
        rows.append((own, int(number), float(published), begun, time.monotonic()))

    channel.basic_consume(name, handle)
    idle = time.monotonic()
    seen = 0
    # all have had their turn once nothing is left anywhere for a while
    while time.monotonic() - idle < 6:
        connection.process_data_events(time_limit=1)
        if len(rows) > seen:
            seen, idle = len(rows), time.monotonic()
    answers.put(rows)
    connection.close()


def _connect(port: int) -> Any:
    return pika.BlockingConnection(pika.ConnectionParameters("localhost", port, heartbeat=0))


if __name__ == "__main__":
    main()
