"""Facts of consumer code that rules see, whatever the language: channels, calls on them, handlers.

A reader follows names, wrappers and callbacks as far as it can; ``None`` is what it could not.
"""

from __future__ import annotations

from enum import StrEnum

from prefetch_advisor.model.lint import AckMode, Located, Place
from prefetch_advisor.model.record import record


class Client(StrEnum):
    """A client library, as people call it."""

    PIKA = "pika"
    AIO_PIKA = "aio-pika"
    AIORMQ = "aiormq"
    KOMBU = "kombu"
    AMQP = "py-amqp"
    AMQPSTORM = "amqpstorm"
    FASTSTREAM = "FastStream"
    DRAMATIQ = "dramatiq"


class Concurrency(StrEnum):
    """How handlers of a client run."""

    #: one at a time, on the thread that reads
    BLOCKING = "blocking"
    #: one at a time, on an event loop that reads between them
    LOOP = "loop"
    #: each delivery is a task of its own on an event loop
    TASKS = "tasks"
    #: in a loop over the deliveries
    ITERATOR = "iterator"


@record
class Step:
    """When a call happens, among those of one run of the program."""

    run: str
    number: int
    #: branches it stands in, with the arm of each
    arms: tuple[tuple[int, int], ...] = ()
    #: the calls of the program's own functions that lead to it
    calls: tuple[Place, ...] = ()

    def excludes(self, other: Step) -> bool:
        """Whether the two stand in different arms of one branch."""
        arms = dict(self.arms)
        return any(arms.get(branch, arm) != arm for branch, arm in other.arms)

    def before(self, other: Step) -> bool:
        """Whether it happens before the other whenever both do."""
        same = self.run == other.run and self.number < other.number
        return same and not self.excludes(other)


@record
class Channel:
    """A channel, or what holds a prefetch of its own in this client."""

    key: str
    client: Client
    #: where it is made; ``None``: elsewhere
    made: Place | None
    #: nothing but the calls that are facts can have set its prefetch
    closed: bool
    #: levels of the queues with priorities that are declared on it: queue -> levels
    priorities: tuple[tuple[str, Located[int]], ...] = ()
    #: type of the queues declared on it, where it is said: queue -> type
    types: tuple[tuple[str, str], ...] = ()


@record
class Qos:
    """A call that sets a prefetch."""

    client: Client
    #: as the library calls it
    call: str
    channel: str
    place: Place
    step: Step
    #: ``None``: not known; absent is 0, as the protocol has it
    count: Located[int] | None
    size: Located[int | None]
    whole_channel: Located[bool] | None = None
    #: the size is its only argument, and not named
    positional: bool = False


@record
class Handoff:
    """A place where a handler gives a message on to something else in its process."""

    place: Place
    #: as it is written: "queue.Queue()"
    what: str
    #: it holds no more than it was made for; ``None``: not known
    bounded: bool | None
    #: the buffer it goes into; empty: work that is started at once
    buffer: str = ""
    #: it happens where the message is acked already, or is in the same function
    acked: bool = False
    #: what it starts acks the message when it is done
    acks_later: bool = False


@record
class Stage:
    """Code that takes messages out of a buffer."""

    buffer: str
    acks: bool
    handoffs: tuple[Handoff, ...]


@record
class Handler:
    """What is done with a delivery."""

    name: str
    client: Client
    place: Place
    concurrency: Concurrency
    #: it acks, nacks or rejects on some path
    settles: bool
    #: where an ack stands that an exception skips, so that nobody settles the message
    skipped: Place | None = None
    #: where an exception is caught that leaves the message unsettled
    swallowed: tuple[Place, ...] = ()
    #: an ack that stands before the work
    early: Place | None = None
    #: calls that block the event loop
    blocking: tuple[Located[str], ...] = ()
    handoffs: tuple[Handoff, ...] = ()
    #: messages that are collected before they are acked together
    batch: Located[int] | None = None
    #: what collects them looks at the clock too
    batch_flushed: bool = False
    #: the delivery, or what acks it, goes where it was not followed
    escapes: bool = False


@record
class Consume:
    """A call that starts to consume."""

    client: Client
    call: str
    channel: str
    place: Place
    step: Step
    queue: str | None
    ack: Located[AckMode] | None
    handlers: tuple[Handler, ...] = ()
    #: a prefetch that is given with the call itself
    prefetch: Located[int] | None = None
    arguments: tuple[str, ...] = ()


@record
class Get:
    """A message is asked for in a loop."""

    client: Client
    call: str
    place: Place
    queue: str | None
    #: the loop ends when there is none
    drains: bool


@record
class BrokerPriorities:
    """A framework's broker whose queues have priorities, read with a window of its own."""

    client: Client
    place: Place
    levels: int
