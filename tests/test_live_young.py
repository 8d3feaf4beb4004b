"""A real broker, asked from the first second on: what was there before is no news of a queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pika
import pytest
from rabbitmq_node import Node

pytestmark = pytest.mark.broker

#: verdicts that a queue, read by one busy consumer that acks, may get while the broker learns of it
TRUE = {"unknown", "at-limit", "processing-bound"}
NAME = "young"


@contextmanager
def declared(node: Node) -> Iterator[None]:
    """The queue declared anew, 3,000 messages in it, and a consumer that takes 20 ms for one."""
    stop = threading.Event()
    where = pika.ConnectionParameters("127.0.0.1", node.ports.amqp, heartbeat=0)
    with pika.BlockingConnection(where) as connection:
        channel = connection.channel()
        channel.queue_delete(NAME)
        channel.queue_declare(NAME)
        for _ in range(3000):
            channel.basic_publish("", NAME, b"x")

    def work() -> None:
        with pika.BlockingConnection(where) as own:
            channel = own.channel()
            channel.basic_qos(prefetch_count=20)
            for method, _, _ in channel.consume(NAME, inactivity_timeout=0.2):
                if stop.is_set():
                    return
                time.sleep(0.02)
                if method is not None:
                    channel.basic_ack(method.delivery_tag)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(20)
        assert not thread.is_alive()


def test_no_verdict_is_false_while_a_queue_is_declared_again_and_again(advise, broker):
    there = ("-H", "127.0.0.1", "-P", broker.ports.management)
    said: list[str] = []
    for seconds in (4, 12):
        with declared(broker):
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                for one in (advise(*there).queues["/", NAME], advise(*there, "--queue", NAME).only):
                    said.append(one["verdict"])
                    assert one["verdict"] in TRUE, one["verdict_reason"]
                    assert one["recommended"]["consumers"] is None
                    assert not {f["name"] for f in one["findings"]} & {"add-consumers", "no-acks"}
                    # the slots of the broker's history are five seconds wide
                    assert (one["observed"]["window"] or 0) <= seconds + 5
    assert said[0] == "unknown"
    assert said[-1] in ("at-limit", "processing-bound")
