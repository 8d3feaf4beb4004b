"""PA5xx: buffers inside a process, between what delivers and what works."""

from prefetch_advisor.findings.rule import PREFETCH, Rule
from prefetch_advisor.model.advice import Severity

UNBOUNDED_HANDOFF = Rule(
    "PA501",
    "unbounded-handoff",
    Severity.WARNING,
    "A consumer's handler hands messages to something in its process that has no bound.",
    "A handler that acks and hands on is never busy, so the broker delivers as fast as the network "
    "takes it: the backlog moves from the queue, where it is durable and seen, into memory, where "
    "a crash loses it. With acks after the work the prefetch is the bound after all, as long as "
    "it is finite: the finding is then information only.",
    "Give the buffer a size and wait when it is full, or ack after the work, with a prefetch.",
    """\
import queue
import threading

import pika

jobs = queue.Queue()


def on_message(channel, method, properties, body):
    jobs.put(body)
    channel.basic_ack(method.delivery_tag)


def work():
    while True:
        print(jobs.get())


threading.Thread(target=work, daemon=True).start()
connection = pika.BlockingConnection()
channel = connection.channel()
channel.basic_qos(prefetch_count=20)
channel.basic_consume("tasks", on_message)
channel.start_consuming()
""",
    """\
import queue
import threading

import pika

jobs = queue.Queue(maxsize=20)


def on_message(channel, method, properties, body):
    jobs.put(body)
    channel.basic_ack(method.delivery_tag)


def work():
    while True:
        print(jobs.get())


threading.Thread(target=work, daemon=True).start()
connection = pika.BlockingConnection()
channel = connection.channel()
channel.basic_qos(prefetch_count=20)
channel.basic_consume("tasks", on_message)
channel.start_consuming()
""",
    PREFETCH,
    "worker.py",
)
