"""The advised values as the lines that one puts into a client's code or settings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from prefetch_advisor.units import plural

if TYPE_CHECKING:
    from prefetch_advisor.model.advice import QueueAdvice


class Values(NamedTuple):
    """What is to be set for one consumer of a queue."""

    queue: str
    prefetch: int
    #: messages worked on at once; the prefetch where the client starts every delivery
    workers: int
    #: every delivery is started at once
    at_once: bool
    #: consumers of the queue in all; ``None``: no advice
    consumers: int | None


class Paste(NamedTuple):
    """Lines to paste, and what they cannot say."""

    lines: tuple[str, ...]
    notes: tuple[str, ...]


def paste(advice: QueueAdvice, client: str) -> Paste:
    """The lines for one of :data:`CLIENTS`; none, with the reason, where no prefetch is advised."""
    then, now = advice.recommended, advice.current
    prefetch = now.prefetch if then.keep and now.prefetch else then.prefetch
    if prefetch is None:
        return Paste((), (f"nothing to set: {then.reason}",))
    workers = advice.concurrency.value
    values = Values(
        advice.key.name,
        prefetch,
        prefetch if workers is None else max(1, round(workers)),
        workers is None,
        then.consumers,
    )
    lines, notes = CLIENTS[client](values)
    if then.consumers is not None and not then.keep_consumers:
        have = "" if now.consumers is None else f", now {now.consumers:,}"
        notes.append(f"run {plural(then.consumers, 'consumer')} in all{have}")
    return Paste(tuple(lines), tuple(notes))


Snippet = tuple[list[str], list[str]]


def _pika(values: Values) -> Snippet:
    return [
        f"channel.basic_qos(prefetch_count={values.prefetch})  # before basic_consume",
        f"channel.basic_consume({values.queue!r}, on_message_callback=handle, auto_ack=False)",
    ], _threads(values, "pika calls one handler at a time; hand the work to")


def _aio_pika(values: Values) -> Snippet:
    qos = f"await channel.set_qos(prefetch_count={values.prefetch})"
    queue = f"queue = await channel.get_queue({values.queue!r})"
    if values.at_once:
        return [qos, queue, "await queue.consume(handle, no_ack=False)"], []
    lines = [
        qos,
        queue,
        "async with queue.iterator() as messages:  # one after the other",
        "    async for message in messages:",
        "        async with message.process():",
        "            await handle(message)",
    ]
    notes = ["queue.consume starts every delivery at once: size that by --concurrency async"]
    return lines, notes + _threads(values, "an iterator works on one message at a time; run")


def _celery(values: Values) -> Snippet:
    multiplier = math.ceil(values.prefetch / values.workers)
    got = multiplier * values.workers
    notes = []
    if got != values.prefetch:
        notes.append(
            f"Celery prefetches concurrency x multiplier = {got}: {values.prefetch} cannot be set"
        )
    notes.append("acks late: what a worker that dies has not finished is delivered again")
    return [
        f"worker_concurrency = {values.workers}",
        f"worker_prefetch_multiplier = {multiplier}",
        "task_acks_late = True",
    ], notes


def _dramatiq(values: Values) -> Snippet:
    return [
        f"dramatiq_queue_prefetch={values.prefetch} dramatiq app --processes 1"
        f" --threads {values.workers}"
    ], ["the variable's name is in lower case; it counts for each queue of each process"]


def _spring(values: Values) -> Snippet:
    lines = [
        f"spring.rabbitmq.listener.simple.prefetch={values.prefetch}",
        "spring.rabbitmq.listener.simple.acknowledge-mode=auto",
    ]
    if values.consumers is not None:
        lines.append(f"spring.rabbitmq.listener.simple.concurrency={values.consumers}")
    notes = ["concurrency is the number of consumers of one instance: divide it by the instances"]
    return lines, notes if values.consumers is not None else []


def _amqplib(values: Values) -> Snippet:
    notes = []
    if not values.at_once:
        notes.append("Node starts every delivery at once: size that by --concurrency async")
    return [
        f"await channel.prefetch({values.prefetch});",
        f"await channel.consume({_utf16(values.queue)}, handle, {{ noAck: false }});",
    ], notes


def _go(values: Values) -> Snippet:
    return [
        f"if err := ch.Qos({values.prefetch}, 0, false); err != nil {{ return err }}",
        f'msgs, err := ch.Consume({_go_text(values.queue)}, "", false, false, false, false, nil)',
    ], _threads(values, "the channel of deliveries is read by")


def _dotnet(values: Values) -> Snippet:
    lines = [
        f"await channel.BasicQosAsync(prefetchSize: 0, prefetchCount: {values.prefetch}, "
        "global: false);",
        f"await channel.BasicConsumeAsync({_utf16(values.queue)}, autoAck: false, consumer);",
    ]
    if values.workers > 1:
        lines.insert(0, f"factory.ConsumerDispatchConcurrency = {values.workers};")
    return lines, []


#: by the name that ``--for`` takes
CLIENTS: dict[str, Callable[[Values], Snippet]] = {
    "pika": _pika,
    "aio-pika": _aio_pika,
    "celery": _celery,
    "dramatiq": _dramatiq,
    "spring": _spring,
    "amqplib": _amqplib,
    "go": _go,
    "dotnet": _dotnet,
}


def _threads(values: Values, why: str) -> list[str]:
    if values.workers < 2:
        return []
    return [f"{why} {values.workers} workers of your own"]


def _utf16(name: str) -> str:
    """A string literal of JavaScript and C#: everything but plain ASCII as its UTF-16 units."""
    units = name.encode("utf-16-be", "surrogatepass")
    codes = [units[i] << 8 | units[i + 1] for i in range(0, len(units), 2)]
    return '"' + "".join(_plain(code) or f"\\u{code:04x}" for code in codes) + '"'


def _go_text(name: str) -> str:
    """A string literal of Go: bytes that are no UTF-8 as such."""
    parts = []
    for char in name:
        code = ord(char)
        if 0xDC80 <= code <= 0xDCFF:
            parts.append(f"\\x{code - 0xDC00:02x}")
        else:
            wide = f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
            parts.append(_plain(code) or wide)
    return '"' + "".join(parts) + '"'


def _plain(code: int) -> str:
    """A character that stands for itself in a literal of any of these languages, or nothing."""
    char = chr(code)
    return char if 0x20 <= code < 0x7F and char not in "\"\\'" else ""
