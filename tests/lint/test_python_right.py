"""Consumers in Python that are right: as the documentation of each library would have them."""

from __future__ import annotations

import pytest
from told import facts_in, lint_text

from prefetch_advisor.lint.source.facts import Consume

PIKA = """\
import functools
import logging
import queue
import threading
import time

import pika

LOGGER = logging.getLogger(__name__)
"""

RIGHT = {
    "pika, blocking": PIKA
    + """
def on_message(ch, method, properties, body):
    print(f" [x] Received {body.decode()}")
    time.sleep(body.count(b"."))
    ch.basic_ack(delivery_tag=method.delivery_tag)

connection = pika.BlockingConnection(pika.ConnectionParameters(host="localhost"))
channel = connection.channel()
channel.queue_declare(queue="task_queue", durable=True)
channel.basic_qos(prefetch_count=1)
channel.basic_consume(queue="task_queue", on_message_callback=on_message)
channel.start_consuming()
""",
    "pika, work in threads, acks by the connection's thread": PIKA
    + """
def ack_message(ch, delivery_tag):
    if ch.is_open:
        ch.basic_ack(delivery_tag)

def do_work(ch, delivery_tag, body):
    LOGGER.info("Delivery tag: %s Message body: %s", delivery_tag, body)
    time.sleep(10)
    cb = functools.partial(ack_message, ch, delivery_tag)
    ch.connection.add_callback_threadsafe(cb)

def on_message(ch, method_frame, _header_frame, body, args):
    thrds = args
    delivery_tag = method_frame.delivery_tag
    t = threading.Thread(target=do_work, args=(ch, delivery_tag, body))
    t.start()
    thrds.append(t)

connection = pika.BlockingConnection(pika.ConnectionParameters("localhost"))
channel = connection.channel()
channel.exchange_declare(exchange="test_exchange", durable=True)
channel.queue_declare(queue="standard", auto_delete=True)
channel.queue_bind(queue="standard", exchange="test_exchange", routing_key="standard_key")
channel.basic_qos(prefetch_count=1)
threads = []
on_message_callback = functools.partial(on_message, args=threads)
channel.basic_consume(on_message_callback=on_message_callback, queue="standard")
try:
    channel.start_consuming()
except KeyboardInterrupt:
    channel.stop_consuming()
for thread in threads:
    thread.join()
connection.close()
""",
    "pika, asynchronous": PIKA
    + """
class Consumer(object):
    def __init__(self, amqp_url):
        self._connection = None
        self._channel = None
        self._url = amqp_url
        self._prefetch_count = 1

    def connect(self):
        return pika.SelectConnection(
            parameters=pika.URLParameters(self._url),
            on_open_callback=self.on_connection_open,
        )

    def on_connection_open(self, _unused_connection):
        self._connection.channel(on_open_callback=self.on_channel_open)

    def on_channel_open(self, channel):
        self._channel = channel
        self._channel.add_on_close_callback(self.on_channel_closed)
        self.setup_queue("text")

    def on_channel_closed(self, channel, reason):
        LOGGER.warning("Channel %i was closed: %s", channel, reason)
        self._connection.close()

    def setup_queue(self, queue_name):
        self._channel.queue_declare(queue=queue_name, callback=self.on_queue_declareok)

    def on_queue_declareok(self, _unused_frame):
        self.set_qos()

    def set_qos(self):
        self._channel.basic_qos(prefetch_count=self._prefetch_count, callback=self.on_basic_qos_ok)

    def on_basic_qos_ok(self, _unused_frame):
        self.start_consuming()

    def start_consuming(self):
        self._consumer_tag = self._channel.basic_consume("text", self.on_message)

    def on_message(self, _unused_channel, basic_deliver, properties, body):
        LOGGER.info("Received message # %s: %s", basic_deliver.delivery_tag, body)
        self.acknowledge_message(basic_deliver.delivery_tag)

    def acknowledge_message(self, delivery_tag):
        self._channel.basic_ack(delivery_tag)

    def run(self):
        self._connection = self.connect()
        self._connection.ioloop.start()

Consumer("amqp://guest:guest@localhost:5672/%2F").run()
""",
    "pika, a generator": PIKA
    + """
connection = pika.BlockingConnection()
channel = connection.channel()
channel.basic_qos(prefetch_count=20)
for method_frame, properties, body in channel.consume("test"):
    print(method_frame, properties, body)
    channel.basic_ack(method_frame.delivery_tag)
    if method_frame.delivery_tag == 10:
        break
requeued_messages = channel.cancel()
connection.close()
""",
    "pika, replies": PIKA
    + """
class Client:
    def __init__(self):
        self.connection = pika.BlockingConnection()
        self.channel = self.connection.channel()
        result = self.channel.queue_declare(queue="", exclusive=True)
        self.callback_queue = result.method.queue
        self.channel.basic_consume(
            queue=self.callback_queue, on_message_callback=self.on_response, auto_ack=True)

    def on_response(self, ch, method, props, body):
        self.response = body
""",
    "pika, one message": PIKA
    + """
connection = pika.BlockingConnection()
channel = connection.channel()
method_frame, header_frame, body = channel.basic_get("test")
if method_frame:
    print(method_frame, header_frame, body)
    channel.basic_ack(method_frame.delivery_tag)
""",
    "pika, errors are nacked": PIKA
    + """
def on_message(ch, method, properties, body):
    try:
        handle(body)
    except ValueError:
        LOGGER.exception("bad message")
        ch.basic_reject(method.delivery_tag, requeue=False)
    except Exception:
        LOGGER.exception("failed")
        ch.basic_nack(method.delivery_tag, requeue=True)
        raise
    else:
        ch.basic_ack(method.delivery_tag)

def main():
    with pika.BlockingConnection() as connection:
        channel = connection.channel()
        channel.basic_qos(prefetch_count=10)
        channel.basic_consume("tasks", on_message)
        channel.start_consuming()

if __name__ == "__main__":
    main()
""",
    "pika, bounded queue and ack after the work": PIKA
    + """
jobs = queue.Queue(maxsize=10)

def on_message(ch, method, properties, body):
    jobs.put((method.delivery_tag, body))

def worker(connection, channel):
    while True:
        tag, body = jobs.get()
        handle(body)
        connection.add_callback_threadsafe(functools.partial(channel.basic_ack, tag))

connection = pika.BlockingConnection()
channel = connection.channel()
channel.basic_qos(prefetch_count=10)
channel.basic_consume("tasks", on_message)
threading.Thread(target=worker, args=(connection, channel)).start()
channel.start_consuming()
""",
    "pika, reconnecting": PIKA
    + """
class Worker:
    prefetch = 5

    def connect(self):
        self.connection = pika.BlockingConnection()
        self.channel = self.connection.channel()
        self.channel.basic_qos(prefetch_count=self.prefetch)

    def consume(self):
        self.channel.basic_consume("tasks", self.on_message)
        self.channel.start_consuming()

    def on_message(self, ch, method, properties, body):
        self.handle(body)
        ch.basic_ack(method.delivery_tag)

    def run(self):
        while True:
            try:
                self.connect()
                self.consume()
            except pika.exceptions.ConnectionClosedByBroker:
                break
            except pika.exceptions.AMQPConnectionError:
                continue
""",
    "aio-pika, consume": """\
import asyncio
import aio_pika

async def process_message(message: aio_pika.abc.AbstractIncomingMessage) -> None:
    async with message.process():
        print(message.body)
        await asyncio.sleep(1)

async def main() -> None:
    connection = await aio_pika.connect_robust("amqp://guest:guest@127.0.0.1/")
    queue_name = "test_queue"
    channel = await connection.channel()
    await channel.set_qos(prefetch_count=100)
    queue = await channel.declare_queue(queue_name, auto_delete=True)
    await queue.consume(process_message)
    try:
        await asyncio.Future()
    finally:
        await connection.close()

if __name__ == "__main__":
    asyncio.run(main())
""",
    "aio-pika, iterator": """\
import asyncio
import aio_pika

async def main() -> None:
    connection = await aio_pika.connect_robust("amqp://guest:guest@127.0.0.1/")
    async with connection:
        channel = await connection.channel()
        await channel.set_qos(prefetch_count=10)
        queue = await channel.declare_queue("test_queue", auto_delete=True)
        async with queue.iterator() as queue_iter:
            async for message in queue_iter:
                async with message.process():
                    print(message.body)
                    if queue.name in message.body.decode():
                        break

asyncio.run(main())
""",
    "aio-pika, pools": """\
import asyncio
import aio_pika
from aio_pika.abc import AbstractRobustConnection
from aio_pika.pool import Pool

async def main() -> None:
    async def get_connection() -> AbstractRobustConnection:
        return await aio_pika.connect_robust("amqp://guest:guest@localhost/")

    connection_pool: Pool = Pool(get_connection, max_size=2)

    async def get_channel() -> aio_pika.Channel:
        async with connection_pool.acquire() as connection:
            return await connection.channel()

    channel_pool: Pool = Pool(get_channel, max_size=10)

    async def consume() -> None:
        async with channel_pool.acquire() as channel:
            await channel.set_qos(10)
            queue = await channel.declare_queue("pool_queue", durable=False)
            async with queue.iterator() as queue_iter:
                async for message in queue_iter:
                    print(message)
                    await message.ack()

    await consume()

asyncio.run(main())
""",
    "aiormq": """\
import asyncio
import aiormq

async def on_message(message):
    try:
        await handle(message.body)
    except Exception:
        await message.channel.basic_nack(message.delivery.delivery_tag, requeue=False)
    else:
        await message.channel.basic_ack(message.delivery.delivery_tag)

async def main():
    connection = await aiormq.connect("amqp://guest:guest@localhost/")
    channel = await connection.channel()
    await channel.basic_qos(prefetch_count=1)
    declare_ok = await channel.queue_declare("task_queue", durable=True)
    await channel.basic_consume(declare_ok.queue, on_message, no_ack=False)

asyncio.get_event_loop().run_until_complete(main())
""",
    "kombu, mixin": """\
from kombu import Connection, Exchange, Queue
from kombu.mixins import ConsumerMixin

task_exchange = Exchange("tasks", type="direct")
task_queues = [Queue("hipri", task_exchange, routing_key="hipri")]

class Worker(ConsumerMixin):
    def __init__(self, connection):
        self.connection = connection

    def get_consumers(self, Consumer, channel):
        return [
            Consumer(
                queues=task_queues,
                accept=["pickle", "json"],
                callbacks=[self.process_task],
                prefetch_count=10,
            )
        ]

    def process_task(self, body, message):
        fun = body["fun"]
        try:
            fun(*body["args"], **body["kwargs"])
        except Exception as exc:
            logger.error("task raised exception: %r", exc)
        message.ack()

with Connection("amqp://guest:guest@localhost:5672//") as conn:
    Worker(conn).run()
""",
    "kombu, mixin and qos": """\
from kombu import Queue
from kombu.mixins import ConsumerMixin

class Worker(ConsumerMixin):
    def get_consumers(self, Consumer, channel):
        consumer = Consumer(Queue("q"), on_message=self.on_message)
        consumer.qos(prefetch_count=10)
        return [consumer]

    def on_message(self, message):
        self.handle(message.payload)
        message.ack()
""",
    "kombu, consumer": """\
import socket
from kombu import Connection, Consumer, Queue

def process(body, message):
    handle(body)
    message.ack()

with Connection("amqp://") as connection:
    with connection.channel() as channel:
        consumer = Consumer(channel, [Queue("tasks")], callbacks=[process], accept=["json"])
        consumer.qos(prefetch_count=10)
        with consumer:
            while True:
                try:
                    connection.drain_events(timeout=1)
                except socket.timeout:
                    pass
""",
    "Celery": """\
from celery import Celery

app = Celery("tasks", broker="amqp://localhost")
app.conf.worker_prefetch_multiplier = 1

@app.task(acks_late=True)
def add(x, y):
    return x + y

add.apply_async((2, 2))
""",
    "Celery, a step of its own": """\
from celery import Celery, bootsteps
from kombu import Consumer, Exchange, Queue

my_queue = Queue("custom", Exchange("custom"), "routing_key")
app = Celery(broker="amqp://")

class MyConsumerStep(bootsteps.ConsumerStep):
    def get_consumers(self, channel):
        return [Consumer(channel, queues=[my_queue], callbacks=[self.handle_message],
                         accept=["json"])]

    def handle_message(self, body, message):
        print("Received message: {0!r}".format(body))
        message.ack()

app.steps["consumer"].add(MyConsumerStep)
""",
    "dramatiq": """\
import dramatiq
from dramatiq.brokers.rabbitmq import RabbitmqBroker

dramatiq.set_broker(RabbitmqBroker(url="amqp://localhost"))

@dramatiq.actor(max_retries=3)
def count_words(url):
    print(url)

count_words.send_with_options(args=("x",), delay=10000)
""",
    "FastStream": """\
from faststream import FastStream
from faststream.rabbit import Channel, RabbitBroker, RabbitQueue

broker = RabbitBroker("amqp://localhost", default_channel=Channel(prefetch_count=10))
app = FastStream(broker)

@broker.subscriber("test-queue")
async def handle(body: str):
    print(body)

@broker.subscriber(RabbitQueue("other", durable=True), channel=Channel(prefetch_count=100))
async def other(body: str):
    print(body)
""",
    "nameko": """\
from kombu import Exchange, Queue
from nameko.messaging import consume
from nameko.rpc import rpc

class Service:
    name = "service"

    @consume(Queue("tasks", Exchange("tasks")))
    def handle(self, payload):
        print(payload)

    @rpc
    def method(self, value):
        return value
""",
    "amqpstorm, callback": """\
from amqpstorm import Connection

def on_message(message):
    print("Message:", message.body)
    message.ack()

with Connection("localhost", "guest", "guest") as connection:
    with connection.channel() as channel:
        channel.queue.declare("simple_queue")
        channel.basic.qos(100)
        channel.basic.consume(on_message, "simple_queue", no_ack=False)
        try:
            channel.start_consuming()
        except KeyboardInterrupt:
            channel.close()
""",
    "amqpstorm, generator": """\
from amqpstorm import Connection

with Connection("localhost", "guest", "guest") as connection:
    with connection.channel() as channel:
        channel.basic.qos(prefetch_count=10)
        channel.basic.consume(queue="simple_queue", no_ack=False)
        for message in channel.build_inbound_messages():
            print(message.body)
            message.ack()
""",
    "pika, acks by a decorator of the program's": PIKA
    + """
def acks(func):
    @functools.wraps(func)
    def inner(ch, method, properties, body):
        try:
            func(body)
        except Exception:
            LOGGER.exception("failed")
            ch.basic_nack(method.delivery_tag, requeue=False)
        else:
            ch.basic_ack(method.delivery_tag)
    return inner

@acks
def on_message(body):
    print(body)

channel = pika.BlockingConnection().channel()
channel.basic_qos(prefetch_count=10)
channel.basic_consume("tasks", on_message)
""",
    "pika, acks by a decorator of a method": PIKA
    + """
def acks(func):
    def inner(self, ch, method, properties, body):
        func(self, body)
        ch.basic_ack(method.delivery_tag)
    return inner

class Worker:
    def run(self):
        self.channel = pika.BlockingConnection().channel()
        self.channel.basic_qos(prefetch_count=10)
        self.channel.basic_consume("tasks", self.on_message)

    @acks
    def on_message(self, body):
        print(body)

Worker().run()
""",
    "pika, a decorator from elsewhere": PIKA
    + """
from elsewhere import acking

@acking(requeue=False)
def on_message(ch, method, properties, body):
    print(body)

channel = pika.BlockingConnection().channel()
channel.basic_qos(prefetch_count=10)
channel.basic_consume("tasks", on_message)
""",
    "pika, acks by a context manager of the program's": PIKA
    + """
import contextlib

@contextlib.contextmanager
def acking(ch, tag):
    try:
        yield
    except Exception:
        ch.basic_nack(tag)
        raise
    else:
        ch.basic_ack(tag)

def on_message(ch, method, properties, body):
    with acking(ch, method.delivery_tag):
        handle(body)

channel = pika.BlockingConnection().channel()
channel.basic_qos(prefetch_count=10)
channel.basic_consume("tasks", on_message)
""",
    "pika, acks as an object is left": PIKA
    + """
class Acking:
    def __init__(self, ch, tag):
        self.ch, self.tag = ch, tag

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.ch.basic_ack(self.tag)

def on_message(ch, method, properties, body):
    if not body:
        ch.basic_ack(method.delivery_tag)
        return
    with Acking(ch, method.delivery_tag):
        try:
            handle(body)
        except ValueError:
            LOGGER.exception("failed")

channel = pika.BlockingConnection().channel()
channel.basic_qos(prefetch_count=10)
channel.basic_consume("tasks", on_message)
""",
    "pika, a generator of the program's": PIKA
    + """
def messages(ch):
    for method, properties, body in ch.consume("tasks"):
        yield method, body

channel = pika.BlockingConnection().channel()
channel.basic_qos(prefetch_count=10)
for method, body in messages(channel):
    handle(body)
    channel.basic_ack(method.delivery_tag)
""",
    "aio-pika, messages are given to what may ack them": """\
import aio_pika
from elsewhere import process, retry

async def handle(message):
    try:
        await process(message)
    except Exception:
        print("failed")

async def other(message):
    try:
        await message.channel.reply(message.body)
    except Exception:
        await retry(message)
    else:
        await message.ack()

async def main():
    channel = await (await aio_pika.connect()).channel()
    await channel.set_qos(10)
    queue = await channel.declare_queue("q")
    await queue.consume(handle)
    await queue.consume(other)
""",
    "pika, replies into a queue": PIKA
    + """
class Client:
    def call(self, body):
        self.replies = queue.Queue()
        channel = pika.BlockingConnection().channel()
        channel.basic_consume("amq.rabbitmq.reply-to", self.on_reply, auto_ack=True)
        channel.basic_publish("", "rpc", body)
        return self.replies.get()

    def on_reply(self, ch, method, properties, body):
        self.replies.put(body)
""",
    "kombu, qos of consumers that were made elsewhere": """\
from kombu import Queue
from kombu.mixins import ConsumerMixin

class Worker(ConsumerMixin):
    def get_consumers(self, Consumer, channel):
        return [Consumer([Queue("q")], callbacks=[self.on_message])]

    def on_consume_ready(self, connection, channel, consumers, **kwargs):
        for consumer in consumers:
            consumer.qos(prefetch_count=10)

    def on_message(self, body, message):
        self.handle(body)
        message.ack()
""",
    "kombu, another broker": """\
from kombu import Connection, Consumer, Queue

def process(body, message):
    handle(body)
    message.ack()

with Connection("redis://localhost") as connection:
    with Consumer(connection.channel(), Queue("tasks"), callbacks=[process]):
        connection.drain_events()
""",
    "FastStream, a function that blocks in a thread": """\
import time
from faststream.rabbit import Channel, RabbitBroker

broker = RabbitBroker(default_channel=Channel(prefetch_count=10))

@broker.subscriber("tasks")
def handle(body: str):
    time.sleep(1)
""",
    "py-amqp": """\
import amqp

with amqp.Connection("localhost") as connection:
    channel = connection.channel()

    def on_message(message):
        print(message.body)
        channel.basic_ack(message.delivery_tag)

    channel.basic_qos(0, 10, False)
    channel.basic_consume(queue="test", callback=on_message)
    while True:
        connection.drain_events()
""",
}


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_a_consumer_that_is_right_has_no_finding(text):
    assert [
        (each.finding.code, each.place.line, each.finding.message)
        for each in lint_text({"worker.py": text})
    ] == []


#: what does not consume by itself: the framework or the one message does
_SILENT = {"pika, one message", "Celery", "dramatiq", "nameko", "kombu, another broker"}


@pytest.mark.parametrize("name", RIGHT)
def test_a_consumer_that_is_right_was_seen(name):
    facts = facts_in({"worker.py": RIGHT[name]})
    assert any(isinstance(fact, Consume) for fact in facts) is (name not in _SILENT)
