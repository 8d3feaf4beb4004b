"""The simulation beside SimPy and Ciw, on the same models: its figures, and messages a second.

    python benchmarks/simulate.py       needs: pip install simpy ciw

Open: Poisson arrivals, c workers with exponential times (M/M/c): the mean wait. Closed: a backlog,
N messages in flight to one worker, a constant round trip (what a prefetch is): the busy share. The
models in SimPy keep what the simulation keeps: of each message when it came, was dealt, begun and
done, and by whom; how many were unacked; and the percentiles of it all. Ciw keeps records anyway.

Then a million messages in a process of their own: memory, against that of 50,000.
"""

import math
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import ciw
import simpy

sys.path.insert(0, str(Path(__file__).parent.parent))

from prefetch_advisor.dispatch import Server, deal, poisson_process

MESSAGES = 20_000
WARM = 0.1
REPEATS = 7
MEAN, LOAD = 0.005, 0.8
#: times as many messages a second as SimPy, at least
AT_LEAST = 5.0


def times(seed: int) -> Iterator[float]:
    draw = random.Random(seed)
    while True:
        yield draw.expovariate(1 / MEAN)


# --- open: the mean wait


def own_open(seed: int, workers: int) -> float:
    rate = LOAD * workers / MEAN
    servers = [Server(1) for _ in range(workers)]
    works = islice(times(seed), MESSAGES)
    return deal(
        poisson_process(rate, seed + 1), works, servers, count=MESSAGES, warm=int(WARM * MESSAGES)
    ).wait


class Records:
    """What the simulation keeps, for the models in SimPy: of a message, and of what is unacked."""

    def __init__(self, environment: simpy.Environment) -> None:
        self.environment = environment
        #: came, dealt, begun, done, and which consumer did it
        self.messages: list[tuple[float, float, float, float, int]] = []
        self.unacked = self.most = 0
        self.area = self.since = 0.0

    def change(self, by: int) -> None:
        now = self.environment.now
        self.area += self.unacked * (now - self.since)
        self.unacked, self.since = self.unacked + by, now
        self.most = max(self.most, self.unacked)

    def summed_up(self) -> float:
        """The mean wait; percentiles of all four times and the work of consumers are made too."""
        measured = self.messages[int(WARM * MESSAGES) :]
        for later, earlier in ((2, 0), (1, 0), (2, 1), (3, 1)):
            ordered = sorted(one[later] - one[earlier] for one in measured)
            _ = [ordered[int(share * len(ordered))] for share in (0.5, 0.95, 0.99)]
        work: dict[int, float] = {}
        for _, _, begun, done, consumer in measured:
            work[consumer] = work.get(consumer, 0.0) + done - begun
        return statistics.fmean(one[2] - one[0] for one in measured)


def simpy_open(seed: int, workers: int) -> float:
    rate = LOAD * workers / MEAN
    environment = simpy.Environment()
    records = Records(environment)
    idle = simpy.Store(environment)
    idle.items.extend(range(workers))

    def message(work: float) -> Iterator[simpy.Event]:
        came = environment.now
        consumer = yield idle.get()
        begun = environment.now
        records.change(1)
        yield environment.timeout(work)
        records.change(-1)
        records.messages.append((came, begun, begun, environment.now, consumer))
        yield idle.put(consumer)

    def arrivals() -> Iterator[simpy.Event]:
        draw, works = random.Random(seed + 1), times(seed)
        for _ in range(MESSAGES):
            yield environment.timeout(draw.expovariate(rate))
            environment.process(message(next(works)))

    environment.process(arrivals())
    environment.run()
    records.messages.sort()
    return records.summed_up()


def ciw_open(seed: int, workers: int) -> float:
    rate = LOAD * workers / MEAN
    ciw.seed(seed)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate)],
        service_distributions=[ciw.dists.Exponential(1 / MEAN)],
        number_of_servers=[workers],
    )
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_customers(MESSAGES)
    records = sorted(simulation.get_all_records(), key=lambda record: record.arrival_date)
    return statistics.fmean(r.waiting_time for r in records[int(WARM * MESSAGES) :])


def erlang_wait(workers: int) -> float:
    """Erlang C, seconds."""
    load = LOAD * workers
    terms = [load**n / math.factorial(n) for n in range(workers)]
    last = load**workers / math.factorial(workers) / (1 - LOAD)
    return last / (sum(terms) + last) * MEAN / (workers * (1 - LOAD))


# --- closed: the busy share of one worker, N messages in flight, round trip of 4 works

ROUND_TRIP = 4 * MEAN


def own_closed(seed: int, prefetch: int) -> float:
    servers = [Server(prefetch, rtt=ROUND_TRIP)]
    works = islice(times(seed), MESSAGES)
    return deal(None, works, servers, count=MESSAGES, warm=int(WARM * MESSAGES)).steady


def simpy_closed(seed: int, prefetch: int) -> float:
    environment = simpy.Environment()
    records = Records(environment)
    credit = simpy.Container(environment, init=prefetch)
    buffer = simpy.Store(environment)

    def deliver() -> Iterator[simpy.Event]:
        records.change(1)
        dealt = environment.now
        yield environment.timeout(ROUND_TRIP / 2)
        yield buffer.put(dealt)

    def ack() -> Iterator[simpy.Event]:
        yield environment.timeout(ROUND_TRIP / 2)
        records.change(-1)
        yield credit.put(1)

    def queue() -> Iterator[simpy.Event]:
        for _ in range(MESSAGES):
            yield credit.get(1)
            environment.process(deliver())

    def worker() -> Iterator[simpy.Event]:
        works = times(seed)
        for _ in range(MESSAGES):
            dealt = yield buffer.get()
            begun = environment.now
            yield environment.timeout(next(works))
            records.messages.append((0.0, dealt, begun, environment.now, 0))
            environment.process(ack())

    environment.process(queue())
    environment.process(worker())
    environment.run()
    records.summed_up()
    done = records.messages
    warm = int(WARM * MESSAGES)
    return sum(one[3] - one[2] for one in done[warm:]) / (done[-1][3] - done[warm - 1][3])


def ciw_closed(seed: int, prefetch: int) -> float:
    """Two nodes: the worker, and the line as so many servers that each holds one message."""
    ciw.seed(seed)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Sequential([0.0] * prefetch + [math.inf]), None],
        service_distributions=[
            ciw.dists.Exponential(1 / MEAN),
            ciw.dists.Deterministic(ROUND_TRIP),
        ],
        number_of_servers=[1, prefetch],
        routing=[[0.0, 1.0], [1.0, 0.0]],
    )
    simulation = ciw.Simulation(network)
    until = MESSAGES * max(MEAN, (MEAN + ROUND_TRIP) / prefetch)
    simulation.simulate_until_max_time(until)
    own = [r for r in simulation.get_all_records() if r.node == 1]
    own.sort(key=lambda record: record.service_end_date)
    own = own[int(WARM * len(own)) :]
    span = own[-1].service_end_date - own[0].service_end_date
    return sum(r.service_time for r in own[1:]) / span


def erlang_busy(prefetch: int) -> float:
    """1 - Erlang B(N, R/P)."""
    load, blocked = ROUND_TRIP / MEAN, 1.0
    for n in range(1, prefetch + 1):
        blocked = load * blocked / (n + load * blocked)
    return 1 - blocked


def compare(
    title: str, theory: float, engines: dict[str, Callable[[int, int], float]], argument: int
) -> None:
    print(f"\n{title}: theory {theory:.5g}")
    speeds: dict[str, list[float]] = {name: [] for name in engines}
    figures: dict[str, list[float]] = {name: [] for name in engines}
    for repeat in range(REPEATS):
        for name, engine in engines.items():
            started = time.process_time()
            figures[name].append(engine(100 * repeat, argument))
            speeds[name].append(MESSAGES / (time.process_time() - started))
    for name, found in figures.items():
        mean = statistics.fmean(found)
        half = 2.45 * statistics.stdev(found) / math.sqrt(len(found))  # t of 6 degrees
        speed = statistics.median(speeds[name])
        within = "within" if abs(mean - theory) <= half else "outside"
        print(
            f"  {name:17} {mean:.5g} +- {half:.2g} (theory {within}), {speed:9,.0f} messages/s"
            f" of CPU time, {speed / statistics.median(speeds['SimPy']):5.1f} x SimPy"
        )


def memory() -> None:
    """Peaks of processes that simulate 50,000 and a million messages."""
    code = (
        "import resource, sys; from prefetch_advisor.cli import main; main(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)"
    )
    for count in (50_000, 1_000_000):
        arguments = ["simulate", "--processing-time", "5ms", "--cv", "1", "--rtt", "20ms"]
        arguments += ["--arrival-rate", "160/s", "--prefetch", "5", "--messages", str(count)]
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments, "-o", "/dev/null"],
            cwd=Path(__file__).parent.parent, stderr=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        took = time.monotonic() - started
        print(f"{count:,} messages: {done.stderr.split()[-1]} MB at most, {took:.1f} s")


def main() -> None:
    open_ = {"prefetch-advisor": own_open, "SimPy": simpy_open, "Ciw": ciw_open}
    for workers in (1, 4):
        compare(
            f"M/M/{workers} at {LOAD:.0%}, mean wait in s", erlang_wait(workers), open_, workers
        )
    closed = {"prefetch-advisor": own_closed, "SimPy": simpy_closed, "Ciw": ciw_closed}
    for prefetch in (3, 8):
        title = f"prefetch {prefetch}, round trip of 4 works, busy share"
        compare(title, erlang_busy(prefetch), closed, prefetch)
    print(f"\nbound: {AT_LEAST:g} x SimPy\n")
    memory()


if __name__ == "__main__":
    main()
