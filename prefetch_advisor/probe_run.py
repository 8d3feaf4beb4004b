"""Measures the round trip on a real broker: prefetch 1, an ack, and the delivery it allows."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

from prefetch_advisor import units
from prefetch_advisor.errors import AdvisorError
from prefetch_advisor.probe import (
    CYCLES_PER_SYNC,
    DRAINED_LEAST,
    LEAST_CYCLES,
    ProbePlan,
    ProbeResult,
    Readings,
    batch_size,
    drain_size,
    is_warm_up,
    round_trip,
    summarise,
)
from prefetch_advisor.probe_connection import (
    broker_of,
    close,
    connect,
    failures,
    silent,
)
from prefetch_advisor.probe_failures import explain
from prefetch_advisor.probe_queue import ProbeQueue
from prefetch_advisor.probe_session import Session
from prefetch_advisor.probe_stop import Stop

if TYPE_CHECKING:
    from prefetch_advisor.model.figures import RoundTrip


def measure(plan: ProbePlan) -> ProbeResult:
    """Probe the broker, and leave nothing on it.

    Raises:
        AdvisorError: it cannot be reached or used, or does not answer in time.
        KeyboardInterrupt: a signal, once all is clean, and too little was measured to report it.
    """
    broken = failures()
    with silent():
        try:
            connection = connect(plan.uri, plan.timeout)
        except broken as error:
            raise AdvisorError(explain(error, plan.uri, plan.timeout)) from None
        # before it there is nothing to clean up
        with Stop() as stop:
            return _measured(connection, plan, stop)


def measure_round_trip(plan: ProbePlan) -> RoundTrip:
    """R of the path from here to the broker, with samples; raises as :func:`measure`.

    A signal is always a ``KeyboardInterrupt``: who stops it wants no advice from it.
    """
    result = measure(plan)
    if result.interrupted:
        raise KeyboardInterrupt
    return round_trip(result)


def _measured(connection: Any, plan: ProbePlan, stop: Stop) -> ProbeResult:
    product, version = broker_of(connection)
    queue = ProbeQueue(connection, plan)
    cycles = Cycles(connection, queue, plan, stop)
    failure = left = None
    try:
        queue.declare()
        cycles.run()
    except KeyboardInterrupt:
        if stop.insisted:
            raise
    except failures() as error:
        failure = explain(error, plan.uri, plan.timeout, cycles.blocked)
    except AdvisorError as error:
        failure = str(error)
    finally:
        if not stop.insisted:
            left = queue.remove()
            close(connection)
    if failure:
        raise AdvisorError("; ".join(part for part in (failure, left) if part))
    if stop.noted and len(cycles.readings.rtt) < LEAST_CYCLES:
        raise KeyboardInterrupt
    return summarise(
        cycles.readings,
        plan,
        product=product,
        version=version,
        measured_from=socket.gethostname(),
        notes=(left,) if left else (),
        interrupted=stop.noted,
    )


class Cycles(Session):
    """One consumer with prefetch 1 that acks each message as soon as it has it."""

    def __init__(self, connection: Any, queue: ProbeQueue, plan: ProbePlan, stop: Stop) -> None:
        super().__init__(connection, queue, plan, stop)
        self.readings = Readings()
        #: the delivery that is not acked yet, and when it came
        self._tag: int | None = None
        self._arrived = 0.0

    def run(self) -> None:
        """Measure.

        Raises:
            AdvisorError: too slow a path for the duration, messages that do not arrive.
            KeyboardInterrupt: a signal came.
            Exception: one of ``probe_connection.failures()``.
        """
        self.open(prefetch=1)
        self.channel.basic_consume(self.queue.name, self._on_message)
        self._measure_cycles()
        self._measure_client_cost()

    def _measure_cycles(self) -> None:
        plan, readings = self.plan, self.readings
        start = time.perf_counter()
        try:
            self._cycle_on(start)
        finally:
            readings.elapsed = time.perf_counter() - start
        if len(readings.rtt) < LEAST_CYCLES:
            cycles = readings.warm_up + len(readings.rtt)
            raise AdvisorError(
                f"only {units.plural(cycles, 'cycle')} within {units.duration(plan.duration)}: "
                "the path is slow, so give a longer --duration"
            )

    def _cycle_on(self, start: float) -> None:
        plan, readings = self.plan, self.readings
        ready = self._first_messages()
        cycle = 0
        while len(readings.rtt) < plan.count:
            elapsed = time.perf_counter() - start
            if elapsed >= plan.duration:
                break
            self.stop.check()
            if not ready:
                ready = batch_size(plan.message_size, plan.count - len(readings.rtt))
                self.fill(ready)
            warm_up = is_warm_up(cycle, elapsed, plan.duration)
            if warm_up:
                readings.warm_up += 1
            if cycle % CYCLES_PER_SYNC == 0:
                took = self._call()
                if not warm_up or not readings.sync:
                    readings.sync.append(took)
            took = self._cycle()
            ready -= 1
            cycle += 1
            if not warm_up:
                readings.rtt.append(took)

    def _first_messages(self) -> int:
        """Publish for the first time; this is where an alarm shows. Returns what is ready."""
        count = batch_size(self.plan.message_size, self.plan.count)
        self.publish(count)
        # not in a synchronous call: the reason for being blocked only arrives outside of them
        self._wait()
        self.until_ready(count - 1)
        return count - 1

    def _cycle(self) -> float:
        """Seconds from the ack on its way until the next delivery is in the handler."""
        tag, self._tag = self._tag, None
        self.channel.basic_ack(tag)
        # basic_ack returns when the frame has been handed to the socket
        sent = time.perf_counter()
        self._wait()
        return self._arrived - sent

    def _call(self) -> float:
        """Seconds of a synchronous method that no queue has a part in."""
        start = time.perf_counter()
        self.control.basic_qos(prefetch_count=1)
        return time.perf_counter() - start

    def _wait(self) -> None:
        limit = time.perf_counter() + self.plan.timeout
        while self._tag is None:
            self.connection.process_data_events(time_limit=None)
            if self._tag is None:
                self.check(limit)

    def _measure_client_cost(self) -> None:
        """CPU time for each message while messages are at hand, the handler only acking.

        CPU time rather than 1 / rate: waiting for the broker or the network is not in it.
        """
        count = drain_size(self.plan.message_size)
        try:
            self.fill(count)
        except AdvisorError:
            # a queue that takes fewer: the round trip is measured all the same
            return
        channel = self.connection.channel()
        channel.basic_qos(prefetch_count=count)
        done = 0

        def handle(channel: Any, method: Any, _properties: object, _body: bytes) -> None:
            nonlocal done
            channel.basic_ack(method.delivery_tag)
            done += 1

        limit = time.perf_counter() + max(1.0, self.plan.duration / 5)
        start = time.thread_time()
        channel.basic_consume(self.queue.name, handle)
        while done < count and time.perf_counter() < limit and channel.is_open:
            self.connection.process_data_events(time_limit=None)
            self.stop.check()
        spent = time.thread_time() - start
        if done >= DRAINED_LEAST:
            self.readings.client_cost = spent / done
            self.readings.drained = done

    def _on_message(self, _channel: Any, method: Any, _properties: object, _body: bytes) -> None:
        self._arrived = time.perf_counter()
        self._tag = method.delivery_tag
