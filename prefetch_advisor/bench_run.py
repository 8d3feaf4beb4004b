"""Measures throughput on a real broker: one consumer, a queue that never empties, one prefetch."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from prefetch_advisor.bench import (
    LEAST_MESSAGES,
    BenchPlan,
    BenchResult,
    Measured,
    around_advised,
    judge,
)
from prefetch_advisor.errors import AdvisorError
from prefetch_advisor.probe_connection import close, connect, failures, silent
from prefetch_advisor.probe_failures import explain
from prefetch_advisor.probe_queue import ProbeQueue
from prefetch_advisor.probe_run import measure
from prefetch_advisor.probe_session import Session
from prefetch_advisor.probe_stop import Stop
from prefetch_advisor.units import duration, plural

if TYPE_CHECKING:
    from collections.abc import Iterable

#: seconds; shorter work spins, since a sleep is longer than what is asked for by about 0.1 ms
_SPIN = 0.0006
#: messages published before the queue is asked whether it has them
_PUBLISHED_AT_ONCE = 500


def bench(plan: BenchPlan, progress: Callable[[float, float], None]) -> BenchResult:
    """Probe, measure every prefetch, and leave nothing on the broker.

    ``progress`` is told how many seconds have passed, of at most how many.

    Raises:
        AdvisorError: the broker cannot be reached or used, or does not answer in time.
        KeyboardInterrupt: a signal, and no prefetch was measured until then.
    """
    probed = measure(plan.probe)
    if probed.interrupted:
        raise KeyboardInterrupt
    prefetches = plan.prefetches or around_advised(plan, probed)
    started = time.monotonic()
    measured: list[Measured] = []
    notes: list[str] = []
    interrupted = False
    try:
        for prefetch in prefetches:
            progress(time.monotonic() - started, plan.duration * len(prefetches))
            point, left, interrupted = bench_one(plan, prefetch)
            measured.append(point)
            notes += [left] if left else []
            if point.cut:
                notes.append(
                    f"prefetch {prefetch}: {plural(point.messages, 'message')} in the"
                    f" {duration(plan.duration)} that it may take"
                )
            if interrupted:
                break
    except KeyboardInterrupt:
        if not measured:
            raise
        interrupted = True
    result = judge(plan, probed, measured)
    return replace(result, notes=(*probed.notes, *notes), interrupted=interrupted)


def bench_one(
    plan: BenchPlan, prefetch: int, seen: Callable[[Consumer], None] | None = None
) -> tuple[Measured, str | None, bool]:
    """One prefetch on a connection and a queue of its own, without a probe.

    Beside it, what could not be cleaned up, and whether a signal came when all was measured.
    ``seen`` is shown the consumer before it begins.

    Raises:
        AdvisorError: the broker cannot be reached or used, or does not answer in time.
        KeyboardInterrupt: a signal came before all was measured.
    """
    broken = failures()
    with silent():
        try:
            connection = connect(plan.probe.uri, plan.probe.timeout)
        except broken as error:
            raise AdvisorError(explain(error, plan.probe.uri, plan.probe.timeout)) from None
        with Stop() as stop:
            return *_measured(connection, plan, prefetch, stop, seen), stop.noted


def _measured(
    connection: Any,
    plan: BenchPlan,
    prefetch: int,
    stop: Stop,
    seen: Callable[[Consumer], None] | None,
) -> tuple[Measured, str | None]:
    own = ProbeQueue(connection, plan.probe)
    consumer = _STYLES[plan.style](connection, own, plan, prefetch, stop)
    if seen is not None:
        seen(consumer)
    failure = left = point = None
    try:
        own.declare()
        point = consumer.run()
    except failures() as error:
        failure = explain(error, plan.probe.uri, plan.probe.timeout, consumer.blocked)
    except AdvisorError as error:
        failure = str(error)
    finally:
        consumer.end()
        if not stop.insisted:
            left = own.remove()
            close(connection)
    if failure or point is None:
        raise AdvisorError("; ".join(part for part in (failure, left) if part))
    return point, left


class Consumer(Session):
    """A consumer that takes the given time for each message and acks it; one handler at a time."""

    def __init__(
        self, connection: Any, own: ProbeQueue, plan: BenchPlan, prefetch: int, stop: Stop
    ) -> None:
        super().__init__(connection, own, plan.probe, stop)
        self.bench = plan
        self.prefetch = prefetch
        self.warm, count = plan.counts(prefetch)
        self.total = self.warm + count
        self.times = _times(plan.work.times(plan.seed))
        #: handlers that are done, how long they took, and when the last one was
        self.durations: list[float] = []
        self.started_at = self.begun_at = self.done_at = 0.0
        self.batched = 0

    def run(self) -> Measured:
        """Fill the queue, consume it, measure; raises as ``Session.turn``."""
        self.open(self.prefetch)
        # more than is measured, so that the queue is never empty meanwhile
        self._fill_up(self.total + self.prefetch)
        self.channel.basic_consume(self.queue.name, self._on_message)
        self.started_at = time.perf_counter()
        patience = self.started_at + self.plan.timeout
        while len(self.durations) < self.total and not self.over():
            seen = len(self.durations)
            self.connection.process_data_events(time_limit=None)
            self.after_turn()
            if len(self.durations) > seen:
                patience = time.perf_counter() + self.plan.timeout
            self.check(patience)
        if len(self.durations) < self.total:
            self.stop.check()
        return self._point()

    def over(self) -> bool:
        """Whether time is up, of what passes first or of what is measured, or a signal came.

        Asked in handlers too: the client returns from a turn only when no delivery is at hand.
        """
        if self.stop.noted:
            return True
        since = self.started_at if len(self.durations) < self.warm else self.begun_at
        return time.perf_counter() > since + self.bench.duration

    def _fill_up(self, count: int) -> None:
        published = 0
        while published < count:
            some = min(_PUBLISHED_AT_ONCE, count - published)
            published += some
            self.publish(some)
            self.until_ready(published)

    def _point(self) -> Measured:
        measured = self.durations[self.warm : self.total]
        if len(measured) < LEAST_MESSAGES:
            raise AdvisorError(
                f"prefetch {self.prefetch}: only {plural(len(self.durations), 'message')} within"
                f" {duration(self.bench.duration)}, of {self.warm:,} before measuring starts: give"
                " a longer --duration or fewer --messages"
            )
        return Measured(
            self.prefetch,
            len(measured),
            self.done_at - self.begun_at,
            sum(measured),
            measured,
            cut=len(self.durations) < self.total,
        )

    def _on_message(self, _channel: Any, method: Any, _properties: object, _body: bytes) -> None:
        if len(self.durations) >= self.total or self.over():
            return
        start = time.perf_counter()
        _work(next(self.times))
        self.acknowledge(method.delivery_tag)
        # the ack included: the client sends it before it takes the next message
        self.count(time.perf_counter() - start)

    def finished(self, tag: int, took: float) -> None:
        """Work that others did is over; the ack is not a part of ``took``."""
        self.count(took)
        self.acknowledge(tag)

    def acknowledge(self, tag: int) -> None:
        """Ack a message, or the group that it completes."""
        self.batched += 1
        if self.batched == self.bench.batch:
            self.batched = 0
            self.channel.basic_ack(tag, multiple=self.bench.batch > 1)

    def count(self, took: float) -> None:
        """Note what a handler took."""
        done = len(self.durations)
        if done < self.total:
            self.durations.append(took)
            now = time.perf_counter()
            if done + 1 == self.warm:
                self.begun_at = now
            self.done_at = now

    def after_turn(self) -> None:
        """The client's loop has handled what was at hand."""

    def end(self) -> None:
        """No message is worked on any more."""


class Loop(Consumer):
    """Handlers block the loop: acks leave when all deliveries at hand are handled."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._acks: list[int] = []

    def acknowledge(self, tag: int) -> None:
        self._acks.append(tag)

    def after_turn(self) -> None:
        acks, self._acks = self._acks, []
        for tag in acks:
            super().acknowledge(tag)


class AtOnce(Consumer):
    """Every delivery is started as it comes, and takes its time beside the others."""

    def _on_message(self, _channel: Any, method: Any, _properties: object, _body: bytes) -> None:
        start = time.perf_counter()

        def done() -> None:
            if self.channel.is_open and len(self.durations) < self.total:
                self.finished(method.delivery_tag, time.perf_counter() - start)

        self.connection.call_later(next(self.times), done)


class Threads(Consumer):
    """k threads work; the connection's thread acks."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        # as long as the prefetch at most, by what the broker sends
        self._waiting: queue.SimpleQueue[tuple[int, float] | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work_on, daemon=True) for _ in range(self.bench.workers)
        ]
        for thread in self._threads:
            thread.start()

    def _on_message(self, _channel: Any, method: Any, _properties: object, _body: bytes) -> None:
        self._waiting.put((method.delivery_tag, next(self.times)))

    def _work_on(self) -> None:
        while (item := self._waiting.get()) is not None:
            tag, seconds = item
            if self.over():
                return
            start = time.perf_counter()
            # never spinning: only one thread at a time can
            time.sleep(seconds)
            took = time.perf_counter() - start
            if len(self.durations) >= self.total or not self.connection.is_open:
                return
            self.connection.add_callback_threadsafe(
                lambda tag=tag, took=took: self._done(tag, took)
            )

    def _done(self, tag: int, took: float) -> None:
        if self.channel.is_open and len(self.durations) < self.total:
            self.finished(tag, took)

    def end(self) -> None:
        for _ in self._threads:
            self._waiting.put(None)


_STYLES: dict[str, type[Consumer]] = {
    "blocking": Consumer,
    "threads": Threads,
    "async": AtOnce,
    "loop": Loop,
}


def _times(times: Iterable[float]) -> Iterator[float]:
    """Without end: a list of tasks is used in turn."""
    return itertools.cycle(times) if isinstance(times, Sequence) else iter(times)


def _work(seconds: float) -> None:
    if seconds >= _SPIN:
        time.sleep(seconds)
        return
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
