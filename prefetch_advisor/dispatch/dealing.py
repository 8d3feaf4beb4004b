"""The broker's side: the queue, whose turn it is, and what is on its way."""

from __future__ import annotations

import math
import random
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush, heapreplace

from prefetch_advisor.dispatch.consumer import Consumer, Message
from prefetch_advisor.dispatch.outcome import Server, Step
from prefetch_advisor.spread import Spread

#: messages between two signs of life
_LIFE = 8_192
#: messages whose figures are added up at once
_LARGEST, _SMALLEST, _BLOCKS = 8_192, 50, 64
_FAILURES_SEED = 43
#: what happens at a moment, in this order: an ack or a give-back reaches the broker, a message is
#: done in the client, a delivery arrives there, its loop turns, a consumer leaves, one comes
_ACK, _NACK, _DONE, _ARRIVE, _TURN, _DEATH, _JOIN = range(7)

Event = tuple[float, int, int, "Message | int | None"]


class Dealing:
    """One run."""

    def __init__(
        self,
        servers: Sequence[Server],
        single_active: bool,
        failure_rate: float,
        steps: Callable[[Step], None] | None,
        count: int,
    ) -> None:
        self.consumers = [Consumer(server, index) for index, server in enumerate(servers)]
        self.single_active = single_active
        self.fails: Callable[[], bool] | None = None
        if failure_rate:
            draw = random.Random(_FAILURES_SEED).random
            self.fails = lambda: draw() < failure_rate
        self.steps = steps
        #: deliveries may fail, or each is wanted
        self.watched = steps is not None or self.fails is not None
        self.events: list[Event] = []
        levels = sorted({-server.priority for server in servers})
        self.rotations: list[deque[Consumer]] = [deque() for _ in levels]
        self.rotation_of = [self.rotations[levels.index(-server.priority)] for server in servers]
        self.waiting: deque[Message] = deque()
        self.requeued: list[Message] = []
        self.backlog: Iterator[Message] = iter(())
        self.warm = 0
        self.first = self.end = self.last_ack = 0.0
        self.unacked = self.most_unacked = self.redelivered = self.left = 0
        self.held_time = 0.0
        #: dealt for the first time: how many, when the first that is measured was, and the last
        self.dealt = 0
        self.measured_from = self.measured_until = self.measured_work = 0.0
        self.ended = False
        self.block = max(_SMALLEST, min(_LARGEST, count // _BLOCKS))
        self._new_block()
        self.spreads = [Spread() for _ in range(4)]
        for consumer in self.consumers:
            if consumer.server.joins <= 0:
                self._join(consumer, 0.0)
            else:
                self._at(consumer.server.joins, _JOIN, consumer)
            if consumer.dies < math.inf:
                # the broker learns of it as soon as the connection tells
                self._at(consumer.dies + consumer.half, _DEATH, consumer)

    def _new_block(self) -> None:
        self.room = self.block
        self.waits, self.queue_waits = array("d"), array("d")
        self.buffer_waits, self.held = array("d"), array("d")

    # --- the two ways that messages come

    def work_off(
        self, messages: Iterator[Message], warm: int, progress: Callable[[int], None] | None
    ) -> None:
        """A backlog: a message is taken when there is credit for it."""
        self.backlog, self.warm, self.ended = messages, warm, False
        self._fill(0.0)
        self._until(math.inf, progress)

    def receive(
        self,
        arrivals: Iterable[tuple[float, float]],
        warm: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        """Messages that arrive, each with its time and its work."""
        self.warm = warm
        events, waiting, rotations = self.events, self.waiting, self.rotations
        number = -1
        for number, (now, work) in enumerate(arrivals):
            if not number:
                self.first = now
            if events and events[0][0] <= now:
                self._until(now, None)
            for rotation in rotations:
                if rotation:
                    self._deliver(rotation, (number, now, work, 0), now)
                    break
            else:
                waiting.append((number, now, work, 0))
            if progress is not None and not number % _LIFE:
                progress(number)
        if number < 0:
            raise ValueError("nothing can be dealt out: no message")
        self.left = len(waiting) + len(self.requeued)
        self._until(math.inf, None)

    def _until(self, limit: float, progress: Callable[[int], None] | None) -> None:
        """What happens up to a moment."""
        events, consumers = self.events, self.consumers
        count = 0
        while events and events[0][0] <= limit:
            now, what, index, payload = heappop(events)
            consumer = consumers[index]
            if what == _ACK:
                self._freed(consumer, now, payload or 1)  # type: ignore[arg-type]
            else:
                self._happens(what, consumer, payload, now)
            count += 1
            if progress is not None and not count % _LIFE:
                progress(self.dealt)

    def _happens(
        self, what: int, consumer: Consumer, payload: Message | int | None, now: float
    ) -> None:
        message: Message = payload  # type: ignore[assignment]
        if what == _NACK:
            self._requeue((message,))
            self._freed(consumer, now, 1)
        elif what == _DONE:
            self._group(consumer, message, now)
        elif what == _ARRIVE:
            self._arrive(consumer, message, now)
        elif what == _TURN:
            self._turn(consumer, now)
        elif what == _DEATH:
            self._death(consumer, now)
        else:
            self._join(consumer, now)

    def _at(
        self, when: float, what: int, consumer: Consumer, payload: Message | int | None = None
    ) -> None:
        heappush(self.events, (when, what, consumer.index, payload))

    # --- the broker

    def _fill(self, now: float) -> None:
        """Deal out what waits to whoever has credit."""
        waiting, requeued = self.waiting, self.requeued
        while True:
            for rotation in self.rotations:
                if rotation:
                    break
            else:
                return
            if waiting and not requeued:
                self._deliver(rotation, waiting.popleft(), now)
                continue
            message = self._next()
            if message is None:
                return
            self._deliver(rotation, message, now)

    def _next(self) -> Message | None:
        """What came back first, then the head of the queue."""
        if self.requeued:
            return heappop(self.requeued)
        if self.waiting:
            return self.waiting.popleft()
        if self.ended:
            return None
        message = next(self.backlog, None)
        self.ended = message is None
        return message

    def _freed(self, consumer: Consumer, now: float, count: int) -> None:
        """Credit came back: the consumer takes its turn again after all that have some."""
        self.unacked -= count
        self.held_time += now * count
        self.last_ack = now
        before = consumer.credit
        consumer.credit = before + count
        if consumer.alive and not before:
            self.rotation_of[consumer.index].append(consumer)
        self._fill(now)

    def _requeue(self, messages: Iterable[Message]) -> None:
        for number, arrival, work, before in messages:
            heappush(self.requeued, (number, arrival, work, before + 1))

    def _join(self, consumer: Consumer, now: float) -> None:
        active = any(self.rotations) or any(c.alive for c in self.consumers)
        if self.single_active and active:
            return  # it waits until its turn comes
        if consumer.dies <= now:
            return
        consumer.alive = True
        if consumer.credit:
            self.rotation_of[consumer.index].append(consumer)
        self._fill(now)

    def _death(self, consumer: Consumer, now: float) -> None:
        if not consumer.alive:
            return
        consumer.alive = False
        rotation = self.rotation_of[consumer.index]
        if consumer in rotation:
            rotation.remove(consumer)
        for message, dealt, _ in consumer.buffer:
            consumer.lost.append(message)
            self._record(consumer, message, dealt, consumer.dies, consumer.dies, lost=True)
        lost = [*consumer.unacked, *consumer.lost]
        consumer.buffer, consumer.unacked = [], []
        consumer.lost = lost
        self.unacked -= len(lost)
        self.held_time += now * len(lost)
        self._requeue(lost)
        if self.single_active:
            waits = (c for c in self.consumers if c.server.joins <= now < c.dies)
            heir = next(waits, None)
            if heir is not None:
                self._join(heir, now)
        self._fill(now)

    def _deliver(self, rotation: deque[Consumer], message: Message, now: float) -> None:
        """Hand one message to the consumer whose turn it is."""
        consumer = rotation.popleft()
        consumer.credit -= 1
        if consumer.credit:
            rotation.append(consumer)
        self.unacked += 1
        if self.unacked > self.most_unacked:
            self.most_unacked = self.unacked
        self.held_time -= now
        if message[3]:
            self.redelivered += 1
        elif (dealt := self.dealt + 1) <= self.warm:
            self.dealt = dealt
            self.measured_from = now
        else:
            self.dealt = dealt
            self.measured_until = now
            self.measured_work += message[2] / consumer.speed
        half = consumer.half if consumer.halves is None else next(consumer.halves)
        if consumer.kind == "loop":
            self._at(now + half, _ARRIVE, consumer, message)
            consumer.buffer.append((message, now, half))
            return
        start = now + half
        if consumer.workers:
            free = consumer.free
            if free[0] > start:
                start = free[0]
            done = start + message[2] / consumer.speed
            heapreplace(free, done)
            if consumer.steady and not self.watched:
                # what most messages of most runs go through: nothing can happen to them
                consumer.work += done - start
                consumer.messages += 1
                if done > self.end:
                    self.end = done
                if message[0] >= self.warm:
                    self._measure(message[1], now, start, done)
                heappush(self.events, (done + half, _ACK, consumer.index, None))
                return
        else:
            done = start + message[2] / consumer.speed
        if done > consumer.dies:
            consumer.lost.append(message)
            self._record(consumer, message, now, start, consumer.dies, lost=True)
            return
        failed = self.fails is not None and self.fails()
        self._record(consumer, message, now, start, done, failed=failed)
        if failed:
            heappush(self.events, (done + half, _NACK, consumer.index, message))
        elif consumer.plain:
            heappush(self.events, (done + half, _ACK, consumer.index, None))
        else:
            heappush(self.events, (done, _DONE, consumer.index, message))

    # --- the consumers

    def _group(self, consumer: Consumer, message: Message, now: float) -> None:
        """A message is done; an ack leaves for each full group."""
        consumer.unacked.append(message)
        if len(consumer.unacked) == consumer.server.batch:
            consumer.unacked = []
            self._at(now + consumer.way(), _ACK, consumer, consumer.server.batch)

    def _arrive(self, consumer: Consumer, message: Message, now: float) -> None:
        """A delivery is in the buffer of a loop, which turns when it is idle."""
        if not consumer.turning:
            consumer.turning = True
            self._at(now, _TURN, consumer)

    def _turn(self, consumer: Consumer, now: float) -> None:
        """All that has arrived is handled; only then the acks leave."""
        here = [held for held in consumer.buffer if held[1] + held[2] <= now]
        if not here or now > consumer.dies:
            consumer.turning = False
            return
        consumer.buffer = consumer.buffer[len(here) :]
        end = now + sum(message[2] for message, _, _ in here) / consumer.speed
        clock = now
        for message, dealt, half in here:
            done = clock + message[2] / consumer.speed
            if end > consumer.dies:
                consumer.lost.append(message)
                until = min(done, consumer.dies)
                self._record(consumer, message, dealt, min(clock, until), until, lost=True)
            else:
                failed = self.fails is not None and self.fails()
                self._record(consumer, message, dealt, clock, done, failed=failed)
                if failed:
                    self._at(end + half, _NACK, consumer, message)
                elif consumer.server.batch == 1:
                    self._at(end + half, _ACK, consumer)
                else:
                    self._at(end, _DONE, consumer, message)
            clock = done
        self._at(end, _TURN, consumer)

    def _record(
        self,
        consumer: Consumer,
        message: Message,
        dealt: float,
        begun: float,
        done: float,
        lost: bool = False,
        failed: bool = False,
    ) -> None:
        """One delivery and what became of it; ``begun`` may be after a death."""
        if self.steps is not None:
            self.steps(
                Step(consumer.index, message[0], dealt, min(begun, done), done, lost, failed)
            )
        if done > begun:
            consumer.work += done - begun
        if lost:
            return
        if done > self.end:
            self.end = done
        if failed:
            return
        consumer.messages += 1
        if message[0] < self.warm:
            return
        self._measure(message[1], dealt, begun, done)

    def _measure(self, came: float, dealt: float, begun: float, done: float) -> None:
        self.waits.append(begun - came)
        self.queue_waits.append(dealt - came)
        self.buffer_waits.append(begun - dealt)
        self.held.append(done - dealt)
        self.room -= 1
        if not self.room:
            self.flush()

    def flush(self) -> None:
        """Add up what was recorded."""
        blocks = (self.waits, self.queue_waits, self.buffer_waits, self.held)
        for spread, block in zip(self.spreads, blocks, strict=True):
            spread.extend(block)
        self._new_block()
