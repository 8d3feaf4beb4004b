"""A connection with a queue of its own: publishing, bounded waits, noticing what ends it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from prefetch_advisor import units
from prefetch_advisor.errors import AdvisorError
from prefetch_advisor.probe_connection import closed_because

if TYPE_CHECKING:
    from prefetch_advisor.probe import ProbePlan
    from prefetch_advisor.probe_queue import ProbeQueue
    from prefetch_advisor.probe_stop import Stop

#: seconds between looks at signals and limits while nothing arrives
_TICK = 0.1
#: seconds between looks at the queue while it fills: the first, and the longest
_PAUSE = (0.001, 0.05)


class Session:
    """Two channels of one connection: one that consumes, and one for everything else.

    It drives the connection as ``start_consuming`` does, so that the client's I/O loop adds to
    each message what it adds to any consumer's.
    """

    def __init__(self, connection: Any, queue: ProbeQueue, plan: ProbePlan, stop: Stop) -> None:
        self.connection = connection
        self.queue = queue
        self.plan = plan
        self.stop = stop
        #: why the broker blocks this connection, in its words
        self.blocked: str | None = None
        self._body = b"x" * plan.message_size
        self._cancelled = False

    def open(self, prefetch: int) -> None:
        """Open the channels.

        Raises:
            Exception: one of ``probe_connection.failures()``.
        """
        self.connection.add_on_connection_blocked_callback(self._on_blocked)
        self.connection.add_on_connection_unblocked_callback(self._on_unblocked)
        self._on_tick()
        self.channel = self.connection.channel()
        self.channel.basic_qos(prefetch_count=prefetch)
        self.channel.add_on_cancel_callback(self._on_cancelled)
        self.control = self.connection.channel()

    def turn(self, limit: float | None = None) -> None:
        """Let the client handle what has arrived; waits for something to happen.

        ``limit``: when, by the clock of ``perf_counter``, something must have come.

        Raises:
            AdvisorError: nothing came, the queue or a channel is gone.
            KeyboardInterrupt: a signal came.
            Exception: one of ``probe_connection.failures()``.
        """
        # no limit of time, as in start_consuming: it is left whenever something happened
        self.connection.process_data_events(time_limit=None)
        self.check(limit)

    def check(self, limit: float | None = None) -> None:
        """Whether it can go on; raises as :meth:`turn`."""
        self.stop.check()
        # a refusal to publish closes the channel that publishes, and no delivery ever comes
        for channel in (self.channel, self.control):
            if not channel.is_open:
                raise closed_because(channel) or AdvisorError(
                    f"the broker at {self.plan.uri.place} closed the probe's channel"
                )
        if self._cancelled:
            raise AdvisorError(f"the probe's queue {self.queue.name!r} was deleted meanwhile")
        # while blocked, the client ends the connection by itself
        if limit is not None and time.perf_counter() > limit and self.blocked is None:
            raise AdvisorError(
                f"no delivery came from {self.plan.uri.place} within "
                f"{units.duration(self.plan.timeout)}"
            )

    def fill(self, count: int) -> None:
        """Publish, and wait until the queue holds the messages; raises as :meth:`turn`."""
        self.publish(count)
        self.until_ready(count)

    def publish(self, count: int) -> None:
        """Publish without waiting."""
        for _ in range(count):
            self.control.basic_publish("", self.queue.name, self._body)

    def until_ready(self, count: int) -> None:
        """Wait until the queue itself says that it holds the messages; raises as :meth:`turn`."""
        limit = time.perf_counter() + self.plan.timeout
        pause, longest = _PAUSE
        while (there := self._ready()) < count:
            if time.perf_counter() > limit:
                raise AdvisorError(
                    f"of {count} messages published only {there} are in the queue "
                    f"{self.queue.name!r}: does a policy bound or expire it?"
                )
            self.connection.process_data_events(time_limit=pause)
            # without the limit: what it says is of deliveries, and none is waited for
            self.check()
            pause = min(2 * pause, longest)

    def _ready(self) -> int:
        count: int = self.control.queue_declare(self.queue.name, passive=True).method.message_count
        return count

    def _on_cancelled(self, _frame: object) -> None:
        self._cancelled = True

    def _on_blocked(self, _connection: object, frame: Any) -> None:
        reason = frame.method.reason
        self.blocked = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason

    def _on_unblocked(self, _connection: object, _frame: object) -> None:
        self.blocked = None

    def _on_tick(self) -> None:
        self.connection.call_later(_TICK, self._on_tick)
