"""The simulator: tokens circle between a first-come-first-served station and a round trip.

N tokens (the prefetch) circle between k workers, who take the given processing times in order,
and a delay (the round trip), constant or taken from measured values in order. All tokens stand
at the station when the clock starts; the queue on the broker is never empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from itertools import cycle, islice, repeat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prefetch_advisor.model.timing import Floats

#: messages of one simulation, and messages for each token
MESSAGES = 20_000
MESSAGES_PER_TOKEN = 50
#: share of the messages that pass before measuring starts
WARM_UP = 0.2
#: prefetch below which a plain loop is faster than numpy's blocks
_FEW = 100
#: what rounding of the clock cannot be told from
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Span:
    """How many messages pass before measuring starts, and in all: multiples of the prefetch.

    Whole rounds of the tokens make constant times come out exactly.
    """

    warm: int
    total: int


def span(prefetch: int, messages: int = MESSAGES, rounds: int = MESSAGES_PER_TOKEN) -> Span:
    """At least ``messages`` messages and ``rounds`` rounds of the tokens, a fifth unmeasured."""
    total = max(math.ceil(messages / prefetch), rounds)
    return Span(warm=math.ceil(total * WARM_UP) * prefetch, total=total * prefetch)


def busy_share(
    processing: Sequence[float] | Floats,
    rtt: float | Sequence[float] | Floats,
    prefetch: int,
    workers: int = 1,
    length: Span | None = None,
    batch: int = 1,
) -> float:
    """Share of their time that the workers work, cycling through the samples.

    Seconds. For one worker and a constant round trip
    done(i) = max(done(i-1), done(i-N) + R) + P(i); else in order of completion and arrival.
    ``batch`` messages are acked together when the last of them is done.

    Raises:
        ValueError: a prefetch below the batch: nothing would ever be acked.
    """
    length = length or span(prefetch)
    if batch > 1:
        delays = rtt if isinstance(rtt, (int, float)) else _plain(rtt)
        return circulate_in_groups(_plain(processing), delays, prefetch, workers, length, batch)
    if workers == 1 and isinstance(rtt, (int, float)):
        if prefetch < _FEW:
            return _one_by_one(_plain(processing), rtt, prefetch, length)
        import numpy as np

        rows = np.asarray(processing, dtype=np.float64)[np.newaxis]
        return float(busy_shares(rows, rtt, prefetch, length)[0])
    delays = rtt if isinstance(rtt, (int, float)) else _plain(rtt)
    return circulate(_plain(processing), delays, prefetch, workers, length)


def _plain(values: Sequence[float] | Floats) -> Sequence[float]:
    """Python's own floats: a loop over numpy's is several times slower."""
    return values if isinstance(values, Sequence) else values.tolist()


def circulate(
    processing: Sequence[float],
    rtt: float | Sequence[float],
    prefetch: int,
    workers: int,
    length: Span,
) -> float:
    """Busy share of any number of workers, with messages that overtake one another.

    Every token's next arrival is known when its message starts, so the earliest of N arrivals
    meets the earliest of k free workers.
    """
    arrivals = [0.0] * prefetch
    free = [0.0] * workers
    delays = repeat(float(rtt)) if isinstance(rtt, (int, float)) else cycle(rtt)
    pairs = zip(cycle(processing), delays, strict=False)
    _advance(islice(pairs, length.warm), arrivals, free)
    begin, pending = _now(arrivals, free)
    work = _advance(islice(pairs, length.total - length.warm), arrivals, free)
    end, left = _now(arrivals, free)
    return _share(work + pending - left, workers * (end - begin))


def circulate_in_groups(
    processing: Sequence[float],
    rtt: float | Sequence[float],
    prefetch: int,
    workers: int,
    length: Span,
    batch: int,
) -> float:
    """As :func:`circulate`, acks leaving for ``batch`` messages at once, in order of completion."""
    if not 1 <= batch <= prefetch:
        raise ValueError(f"a prefetch of {prefetch} never fills a batch of {batch}")
    arrivals, free = [0.0] * prefetch, [0.0] * workers
    delays = repeat(float(rtt)) if isinstance(rtt, (int, float)) else cycle(rtt)
    times = cycle(processing)
    under_way: list[float] = []
    done = 0

    def settle() -> None:
        """Ack what is done before the next message can start."""
        nonlocal done
        while under_way and not (arrivals and max(arrivals[0], free[0]) < under_way[0]):
            now = heappop(under_way)
            done += 1
            if done == batch:
                done = 0
                back = now + next(delays)
                for _ in range(batch):
                    heappush(arrivals, back)

    def advance(count: int) -> float:
        work = 0.0
        for time in islice(times, count):
            settle()
            end = max(heappop(arrivals), free[0]) + time
            heapreplace(free, end)
            heappush(under_way, end)
            work += time
        settle()
        return work

    advance(length.warm)
    begin, pending = _now(arrivals, free)
    work = advance(length.total - length.warm)
    end, left = _now(arrivals, free)
    return _share(work + pending - left, workers * (end - begin))


def _advance(
    pairs: Iterator[tuple[float, float]], arrivals: list[float], free: list[float]
) -> float:
    """Let the messages start one after the other; the work they brought."""
    work = 0.0
    for time, delay in pairs:
        arrival, idle = arrivals[0], free[0]
        done = (arrival if arrival > idle else idle) + time
        heapreplace(free, done)
        heapreplace(arrivals, done + delay)
        work += time
    return work


def _now(arrivals: list[float], free: list[float]) -> tuple[float, float]:
    """The moment the next message starts, and the work then still in the workers' hands."""
    now = max(arrivals[0], free[0])
    return now, math.fsum(until - now for until in free if until > now)


def _one_by_one(processing: Sequence[float], rtt: float, prefetch: int, length: Span) -> float:
    """One worker, constant round trip: a plain loop, whose list grows as it is read."""
    arrivals = [0.0] * prefetch
    pairs = zip(arrivals, cycle(processing), strict=False)

    def advance(clock: float, count: int) -> tuple[float, float]:
        work = 0.0
        for arrival, time in islice(pairs, count):
            if arrival > clock:
                clock = arrival
            clock += time
            arrivals.append(clock + rtt)
            work += time
        return clock, work

    clock, _ = advance(0.0, length.warm)
    begin = max(clock, arrivals[length.warm])
    clock, work = advance(clock, length.total - length.warm)
    return _share(work, max(clock, arrivals[length.total]) - begin)


def busy_shares(processing: Floats, rtt: float, prefetch: int, length: Span) -> Floats:
    """Busy share of each row of ``processing``, one worker and a constant round trip, side by side.

    In a block of N messages every arrival is known, and
    done(i) = max(done(i-1), a(i)) + P(i) is C(i) + max over j <= i of a(j) - C(j-1)
    with C the running sum of P.
    """
    import numpy as np

    rows, samples = processing.shape
    # message by message, the rows side by side: the inner loop of numpy runs over the longer one
    times = np.ascontiguousarray(processing.T)
    arrivals = np.zeros((prefetch, rows))
    begin = clock = np.zeros(rows)
    work = np.zeros(rows)
    for first in range(0, length.total, prefetch):
        if first == length.warm:
            begin = np.maximum(clock, arrivals[0])
            work = np.zeros(rows)
        at = first % samples
        if at + prefetch <= samples:
            block = times[at : at + prefetch]
        else:
            block = times.take(np.arange(at, at + prefetch), axis=0, mode="wrap")
        total = block.cumsum(axis=0)
        np.maximum(arrivals[0], clock, out=arrivals[0])
        arrivals -= total
        arrivals += block
        np.maximum.accumulate(arrivals, axis=0, out=arrivals)
        arrivals += total
        clock = arrivals[-1].copy()
        work += total[-1]
        arrivals += rtt
    time = np.maximum(clock, arrivals[0]) - begin
    shares = np.divide(work, time, out=np.ones(rows), where=time > 0)
    rounded: Floats = np.minimum(np.round(shares, _DIGITS), 1.0)
    return rounded


def _share(work: float, time: float) -> float:
    """No time passes only where neither work nor the round trip takes any: never idle."""
    return min(round(work / time, _DIGITS), 1.0) if time > 0 else 1.0
