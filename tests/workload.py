"""Queues in known trouble on a real broker: ``python workload.py AMQP_PORT``, until it is ended.

Prints "ready" when every consumer is connected. Handlers sleep, so that what limits each queue is
known: the processing time, the round trip, the missing limit or the missing ack.
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, field

import pika
from delay_proxy import delayed

ONE_WAY = 0.005  # of the slow line; the round trip is a little above twice that


@dataclass(frozen=True)
class Consumer:
    prefetch: int
    #: seconds of work for a message
    work: float
    acks: bool = True
    slow_line: bool = False


@dataclass(frozen=True)
class Queue:
    name: str
    consumers: tuple[Consumer, ...] = ()
    #: messages there before the consumers come
    preload: int = 0
    #: messages per second from then on
    arrivals: float = 0.0
    arguments: dict[str, object] = field(default_factory=dict)


QUEUES = (
    Queue("emails", (Consumer(10, 0.020),) * 3, preload=200, arrivals=180),
    Queue("orders", (Consumer(0, 0.050),), preload=500, arrivals=40),
    Queue("invoices", (Consumer(1, 0.005, acks=False),), preload=20, arrivals=5),
    Queue("payments", (Consumer(1, 0.0005, slow_line=True),), preload=6000, arrivals=40),
    Queue("thumbnails", (Consumer(500, 0.2),) * 2, preload=600, arrivals=8),
    Queue("notifications", (Consumer(20, 0.010),) * 2, arrivals=100),
    Queue("exports", preload=50),
)


def connect(port: int) -> pika.BlockingConnection:
    credentials = pika.PlainCredentials("guest", "guest")
    where = pika.ConnectionParameters("127.0.0.1", port, credentials=credentials, heartbeat=0)
    return pika.BlockingConnection(where)


def consume(queue: str, consumer: Consumer, port: int, ready: threading.Barrier) -> None:
    """One connection, one channel, one message at a time, an ack for each."""
    channel = connect(port).channel()
    channel.basic_qos(prefetch_count=consumer.prefetch)

    def handle(channel, method, _properties, _body):  # type: ignore[no-untyped-def]
        time.sleep(consumer.work)
        if consumer.acks:
            channel.basic_ack(method.delivery_tag)

    channel.basic_consume(queue, handle)
    ready.wait()
    channel.start_consuming()


def publish(port: int) -> None:
    """Every queue's arrivals, evenly spaced."""
    connection = connect(port)
    channel = connection.channel()
    start = time.monotonic()
    sent = {queue.name: 0 for queue in QUEUES}
    while True:
        elapsed = time.monotonic() - start
        for queue in QUEUES:
            while sent[queue.name] < queue.arrivals * elapsed:
                channel.basic_publish("", queue.name, b"x" * 40)
                sent[queue.name] += 1
        connection.process_data_events(time_limit=0)
        time.sleep(0.01)


def main(port: int) -> None:
    sys.setswitchinterval(0.0005)
    slow_port = delayed(port, ONE_WAY)
    connection = connect(port)
    channel = connection.channel()
    for queue in QUEUES:
        channel.queue_declare(queue.name, durable=True, arguments=queue.arguments or None)
        for _ in range(queue.preload):
            channel.basic_publish("", queue.name, b"x" * 40)
    connection.close()
    pairs = [(queue.name, consumer) for queue in QUEUES for consumer in queue.consumers]
    ready = threading.Barrier(len(pairs) + 1)
    for name, consumer in pairs:
        arguments = (name, consumer, slow_port if consumer.slow_line else port, ready)
        threading.Thread(target=consume, args=arguments, daemon=True).start()
    ready.wait(timeout=30)
    print("ready", flush=True)
    publish(port)


if __name__ == "__main__":
    main(int(sys.argv[1]))
