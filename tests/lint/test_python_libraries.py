"""Mistakes in each library, in the situations that people met, and across classes and files."""

from __future__ import annotations

import pytest
from told import lint_text

AIO = """\
import asyncio
import aio_pika

async def handle(message):
    async with message.process():
        print(message.body)

async def main():
    connection = await aio_pika.connect()
    channel = await connection.channel()
"""
KOMBU = """\
from kombu import Connection, Consumer, Queue

def process(body, message):
    handle(body)
    message.ack()

connection = Connection("amqp://")
channel = connection.channel()
"""
STORM = """\
import amqpstorm

def handle(message):
    work(message.body)
    message.ack()

channel = amqpstorm.Connection("localhost", "guest", "guest").channel()
"""
FAST = "from faststream import AckPolicy\nfrom faststream.rabbit import Channel, RabbitBroker\n"
WRONG = {
    "aio-pika, no qos": (
        "PA203",
        AIO
        + "    queue = await channel.declare_queue('q')\n    await queue.consume(handle)  # here\n",
    ),
    "aio-pika, an iterator without qos": (  # mosquito/aio-pika 440
        "PA203",
        AIO + "    queue = await channel.declare_queue('q')\n"
        "    async with queue.iterator() as messages:  # here\n"
        "        async for message in messages:\n            await message.ack()\n",
    ),
    "aio-pika, looping over a queue without qos": (
        "PA203",
        AIO + "    queue = await channel.declare_queue('q')\n"
        "    async for message in queue:  # here\n        await message.ack()\n",
    ),
    "aio-pika, qos late": (
        "PA201",
        AIO + "    queue = await channel.declare_queue('q')\n    await queue.consume(handle)\n"
        "    await channel.set_qos(10)  # here\n",
    ),
    "aio-pika, size for count": (
        "PA205",
        AIO + "    await channel.set_qos(0, 10)  # here\n"
        "    queue = await channel.declare_queue('q')\n    await queue.consume(handle)\n",
    ),
    "aio-pika, automatic ack": (
        "PA202",
        AIO.replace("    async with message.process():\n        print", "    print")
        + "    await channel.set_qos(10)\n    queue = await channel.declare_queue('q')\n"
        "    await queue.consume(handle, no_ack=True)  # here\n",
    ),
    "aio-pika, polling": (
        "PA208",
        AIO + "    queue = await channel.declare_queue('q')\n    while True:\n"
        "        message = await queue.get(fail=False)  # here\n",
    ),
    "aio-pika, a task for each message": (
        "PA501",
        AIO.replace(
            "    async with message.process():\n        print(message.body)",
            "    async with message.process():\n"
            "        asyncio.create_task(work(message.body))  # here",
        )
        + "    await channel.set_qos(10)\n    queue = await channel.declare_queue('q')\n"
        "    await queue.consume(handle)\n",
    ),
    "aiormq, 0 meant as none": (  # mosquito/aiormq 52
        "PA203",
        "import aiormq\n\nasync def handle(message):\n    try:\n        await work(message.body)\n"
        "    finally:\n"
        "        await message.channel.basic_ack(message.delivery.delivery_tag)\n\n"
        "async def main():\n    connection = await aiormq.connect('amqp://')\n"
        "    channel = await connection.channel()\n"
        "    await channel.basic_qos(prefetch_count=0, prefetch_size=0)  # here\n"
        "    await channel.basic_consume('q', handle)\n",
    ),
    "kombu, no prefetch": (
        "PA203",
        KOMBU
        + "with Consumer(channel, Queue('q'), callbacks=[process]):\n"
        "    connection.drain_events()\n".replace("with Consumer", "with Consumer"),
    ),
    "kombu, mixin without prefetch": (
        "PA203",
        "from kombu import Queue\nfrom kombu.mixins import ConsumerMixin\n\n"
        "class Worker(ConsumerMixin):\n    def get_consumers(self, Consumer, channel):\n"
        "        return [Consumer([Queue('q')], callbacks=[self.process])]  # here\n\n"
        "    def process(self, body, message):\n        self.work(body)\n        message.ack()\n",
    ),
    "kombu, qos once it consumes": (
        "PA201",
        KOMBU + "with connection.Consumer(Queue('q'), callbacks=[process]) as consumer:\n"
        "    consumer.qos(prefetch_count=10)  # here\n",
    ),
    "kombu, size for count": (
        "PA205",
        KOMBU + "consumer = Consumer(channel, Queue('q'), callbacks=[process])\n"
        "consumer.qos(10)  # here\nconsumer.consume()\n",
    ),
    "kombu, too large": (
        "PA206",
        KOMBU + "consumer = Consumer(channel, Queue('q'), callbacks=[process],\n"
        "                    prefetch_count=100_000)  # here\nconsumer.consume()\n",
    ),
    "kombu, automatic ack": (
        "PA202",
        KOMBU.replace("    message.ack()\n", "")
        + "consumer = Consumer(channel, Queue('q'), callbacks=[process], prefetch_count=9,\n"
        "                    no_ack=True)  # here\nconsumer.consume()\n",
    ),
    "kombu, an error is caught and the message kept": (
        "PA207",
        KOMBU.replace(
            "    handle(body)\n    message.ack()\n",
            "    try:\n        handle(body)\n        message.ack()\n"
            "    except Exception:  # here\n        print('failed')\n",
        )
        + "consumer = Consumer(channel, Queue('q'), callbacks=[process], prefetch_count=9)\n"
        "consumer.consume()\n",
    ),
    "kombu, priorities": (
        "PA213",
        KOMBU + "queue = Queue('q', max_priority=5)\n"
        "consumer = Consumer(channel, queue, callbacks=[process], prefetch_count=500)  # here\n"
        "consumer.consume()\n",
    ),
    "amqpstorm, no qos": ("PA203", STORM + "channel.basic.consume(handle, 'q')  # here\n"),
    "amqpstorm, size for count": (
        "PA205",
        STORM + "channel.basic.qos(0, 10)  # here\nchannel.basic.consume(handle, 'q')\n",
    ),
    "amqpstorm, qos late": (
        "PA201",
        STORM + "channel.basic.consume(handle, 'q')\nchannel.basic.qos(10)  # here\n",
    ),
    "amqpstorm, automatic ack": (
        "PA202",
        STORM.replace("    message.ack()\n", "")
        + "channel.basic.qos(10)\nchannel.basic.consume(handle, 'q', no_ack=True)  # here\n",
    ),
    "FastStream, no channel": (
        "PA203",
        FAST + "broker = RabbitBroker()\n\n@broker.subscriber('q')  # here\n"
        "async def handle(body):\n    print(body)\n",
    ),
    "FastStream, 0": (
        "PA203",
        FAST + "broker = RabbitBroker(default_channel=Channel(prefetch_count=0))  # here\n\n"
        "@broker.subscriber('q')\nasync def handle(body):\n    print(body)\n",
    ),
    "FastStream, ack first": (
        "PA202",
        FAST + "broker = RabbitBroker()\n\n@broker.subscriber(\n"
        "    'q', channel=Channel(10),\n"
        "    ack_policy=AckPolicy.ACK_FIRST,  # here\n)\nasync def f(body):\n    print(body)\n",
    ),
    "FastStream, blocking": (
        "PA209",
        FAST + "import requests\nbroker = RabbitBroker(default_channel=Channel(10))\n\n"
        "@broker.subscriber('q')\nasync def handle(body):\n"
        "    requests.post('http://x', json=body)  # here\n",
    ),
    "dramatiq, priorities": (
        "PA213",
        "from dramatiq.brokers.rabbitmq import RabbitmqBroker\n"
        "broker = RabbitmqBroker(url='amqp://', max_priority=10)  # here\n",
    ),
    "py-amqp, size for count": (
        "PA205",
        "import amqp\nchannel = amqp.Connection('localhost').channel()\n"
        "channel.basic_qos(10, 0, False)  # here\n"
        "channel.basic_consume('q', callback=lambda message: channel.basic_ack(message))\n",
    ),
    "pika, an executor without bound": (  # antonioterpin/tinyros 15
        "PA501",
        "import pika\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(max_workers=32)\n\n"
        "def handle(ch, method, properties, body):\n    pool.submit(work, body)  # here\n"
        "    ch.basic_ack(method.delivery_tag)\n\n"
        "channel = pika.BlockingConnection().channel()\nchannel.basic_qos(prefetch_count=10)\n"
        "channel.basic_consume('q', handle)\n",
    ),
    "aio-pika, a queue of asyncio's without a size": (  # HKUDS/nanobot 4780
        "PA501",
        AIO.replace(
            "async def handle", "inbound = asyncio.Queue(maxsize=0)\n\nasync def handle"
        ).replace("print(message.body)", "await inbound.put(message.body)  # here")
        + "    await channel.set_qos(10)\n    queue = await channel.declare_queue('q')\n"
        "    await queue.consume(handle)\n",
    ),
    "pika, no prefetch and a sleep": (  # pika/pika 753
        "PA203",
        "import time\nimport pika\n\ndef callback(ch, method, properties, body):\n"
        "    time.sleep(60)\n    ch.basic_ack(delivery_tag=method.delivery_tag)\n\n"
        "channel = pika.BlockingConnection().channel()\n"
        "channel.basic_consume(callback, queue='q')  # here\nchannel.start_consuming()\n",
    ),
    "fedora-messaging: qos on a channel of its own": (  # PR 224
        "PA204",
        "import pika\nfrom pika.adapters import twisted_connection\n\n"
        "def handle(ch, method, properties, body):\n    ch.basic_ack(method.delivery_tag)\n\n"
        "def connect(connection):\n    channel = connection.channel()\n"
        "    channel.basic_qos(prefetch_count=10, prefetch_size=0)  # here\n"
        "    for queue in ('a', 'b'):\n        own = connection.channel()\n"
        "        own.basic_consume(queue, handle)\n",
    ),
    "sarracenia: one limit for the channel": (
        "PA210",
        "import amqp\nconnection = amqp.Connection('localhost')\nchannel = connection.channel()\n"
        "channel.basic_qos(0, 25, True)  # here\n",
    ),
    "pika, 0 for the channel": (  # pika/pika 1348
        "PA203",
        "import pika\n\ndef handle(ch, method, properties, body):\n"
        "    ch.basic_ack(method.delivery_tag)\n\nchannel = pika.BlockingConnection().channel()\n"
        "channel.queue_declare('q', arguments={'x-queue-type': 'quorum'})\n"
        "channel.basic_qos(prefetch_count=0, global_qos=True)  # here\n"
        "channel.basic_consume('q', handle)\n",
    ),
    "Twisted, a handler that waits": (
        "PA209",
        "import time\nimport pika\n\nclass Worker:\n"
        "    def run(self):\n        self.connection = pika.SelectConnection(\n"
        "            on_open_callback=self.opened)\n        self.connection.ioloop.start()\n\n"
        "    def opened(self, link):\n        link.channel(on_open_callback=self.ready)\n\n"
        "    def ready(self, channel):\n        channel.basic_qos(prefetch_count=1)\n"
        "        channel.basic_consume('sms', self.handle)\n\n"
        "    def handle(self, ch, method, properties, body):\n        time.sleep(1)  # here\n"
        "        ch.basic_ack(method.delivery_tag)\n",
    ),
}


def told(text: str, name: str = "worker.py") -> list[tuple[str, int]]:
    return [(each.finding.code, each.place.line) for each in lint_text({name: text})]


def here(text: str) -> int:
    marked = [n for n, line in enumerate(text.splitlines(), 1) if line.endswith("# here")]
    return marked[0] if marked else text[: text.index("with Consumer")].count("\n") + 1


@pytest.mark.parametrize(("code", "text"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_found_in_every_library(code, text):
    assert told(text) == [(code, here(text))]


PIKA = """\
import pika

def on_message(ch, method, properties, body):
    work(body)
    ch.basic_ack(method.delivery_tag)

class Base:
    prefetch = 10

    def __init__(self):
        self.channel = pika.BlockingConnection().channel()

    def run(self):
        self.channel.basic_qos(prefetch_count=self.prefetch)
        self.channel.basic_consume("tasks", on_message)

class Heavy(Base):
    prefetch = 70_000
"""


def test_a_value_that_a_subclass_overrides_is_told_where_it_does():
    assert told(PIKA) == [("PA206", 18)]
    assert told(PIKA.replace("70_000", "20")) == []


def test_names_are_followed_to_other_files_of_the_package():
    files = {
        "app/__init__.py": "",
        "app/settings.py": "PREFETCH = 0\n",
        "app/rabbit.py": "import pika\n\ndef open_channel():\n"
        "    return pika.BlockingConnection().channel()\n\n"
        "def limit(channel, count):\n    channel.basic_qos(prefetch_count=count)\n",
        "app/worker.py": "import pika\nfrom . import rabbit\nfrom app.settings import PREFETCH\n\n"
        "def handle(ch, method, properties, body):\n    ch.basic_ack(method.delivery_tag)\n\n"
        "channel = rabbit.open_channel()\nrabbit.limit(channel, PREFETCH)\n"
        "channel.basic_consume('q', handle)\n",
    }
    found = lint_text(files)
    assert [(each.finding.code, each.place.path, each.place.line) for each in found] == [
        ("PA203", "app/worker.py", 9)
    ]
    files["app/settings.py"] = "PREFETCH = 5\n"
    assert lint_text(files) == []
    files["app/settings.py"] = "import os\nPREFETCH = int(os.environ['PREFETCH'])\n"
    assert lint_text(files) == []


CHAIN = """\
import functools, queue, threading
import pika

first = queue.Queue(maxsize=10)
second = queue.Queue()

def on_message(ch, method, properties, body):
    first.put((ch, method.delivery_tag, body))

def parse():
    while True:
        ch, tag, body = first.get()
        {early}second.put((tag, parsed(body)))

def store():
    while True:
        tag, row = second.get()
        save(row)
        channel.connection.add_callback_threadsafe(functools.partial(channel.basic_ack, tag))

channel = pika.BlockingConnection().channel()
{qos}
channel.basic_consume("tasks", on_message)
"""


@pytest.mark.parametrize(
    ("early", "qos", "severity"),
    [
        ("", "channel.basic_qos(prefetch_count=20)", "INFO"),
        ("ch.basic_ack(tag); ", "channel.basic_qos(prefetch_count=20)", "WARNING"),
        ("", "channel.basic_qos(prefetch_count=load())", "WARNING"),
    ],
)
def test_a_chain_of_buffers_is_followed_to_where_the_ack_is(early, qos, severity):
    (found,) = lint_text({"worker.py": CHAIN.format(early=early, qos=qos)})
    line = found.place.line
    assert (found.finding.code, line, found.severity.name) == ("PA501", 13, severity)


def test_what_cannot_be_followed_is_not_guessed():
    setup = "import pika\nfrom elsewhere import setup, PREFETCH, handle\n"
    channel = setup + "channel = pika.BlockingConnection().channel()\n"
    assert told(channel + "setup(channel)\nchannel.basic_consume('q', handle)\n") == []
    unknown = channel + "channel.basic_qos(prefetch_count=PREFETCH)\n"
    assert told(unknown + "channel.basic_consume('q', handle)\n") == []
    assert told(setup + "def run(channel):\n    channel.basic_consume('q', handle)\n") == []
    base = setup + "from elsewhere import Base\nclass Worker(Base):\n    def run(self):\n"
    assert told(base + "        self.channel.basic_consume('q', handle)\n") == []


DECLARED = """\
[[queues]]
name = "tasks"
type = "classic"
processing-time = "{time}"
rtt = "20ms"
"""


@pytest.mark.parametrize(
    ("time", "prefetch", "code"),
    [("1ms", 1, "PA303"), ("1s", 200, "PA304"), ("1ms", 40, ""), ("10s", 1, "")],
)
def test_a_literal_prefetch_is_judged_by_what_settings_say_of_its_queue(time, prefetch, code):
    text = (
        "import pika\n\ndef handle(ch, method, properties, body):\n    print(body)\n"
        "    ch.basic_ack(method.delivery_tag)\n\n"
        "channel = pika.BlockingConnection().channel()\n"
        f"channel.basic_qos(prefetch_count={prefetch})\nchannel.basic_consume('tasks', handle)\n"
    )
    files = {"worker.py": text, "prefetch-advisor.toml": DECLARED.format(time=time)}
    found = [
        (each.finding.code, each.place.path, each.place.line)
        for each in lint_text(files)
        if each.place.path == "worker.py"
    ]
    assert found == ([(code, "worker.py", 8)] if code else [])
    assert told(text) == []


@pytest.mark.parametrize(
    "handle",
    [
        "def handle(self, body):\n        raise NotImplementedError",
        "def handle(self, body):\n        raise NotImplementedError('how')",
        '@abc.abstractmethod\n    def handle(self, body):\n        """Works on it."""',
    ],
)
def test_a_method_that_others_are_to_write_says_nothing(handle):
    """What raises NotImplementedError here does not raise there, and the ack is reached."""
    text = f"""\
import abc
import pika


class Worker:
    def __init__(self):
        self.channel = pika.BlockingConnection().channel()
        self.channel.basic_qos(prefetch_count=8)
        self.channel.basic_consume("q", self.on_message)
        self.channel.start_consuming()

    def on_message(self, channel, method, properties, body):
        self.handle(body)
        channel.basic_ack(method.delivery_tag)

    {handle}
"""
    assert lint_text({"worker.py": text}) == []
    never = text.replace("        channel.basic_ack(method.delivery_tag)\n", "")
    assert [one.finding.code for one in lint_text({"worker.py": never})] == ["PA214"]


TASKS = """\
import asyncio
import aio_pika

async def job(message):
    async with message.process():
        await work(message.body)

async def handle(message):
    try:
        asyncio.create_task(job(message))
    except RuntimeError:
        print("closed")

async def main():
    channel = await (await aio_pika.connect()).channel()
    await channel.set_qos(10)
    queue = await channel.declare_queue("q")
    await queue.consume(handle)
"""


def test_what_a_task_acks_is_acked():
    (found,) = lint_text({"worker.py": TASKS})
    assert (found.finding.code, found.place.line, found.severity.name) == ("PA501", 10, "INFO")


DECORATED = """\
import pika

def timed(func):
    def inner(*args):
        print("begins")
        return func(*args)
    return inner

@timed
def handle(ch, method, properties, body):
    print(body)
    {}

channel = pika.BlockingConnection().channel()
channel.basic_qos(prefetch_count=8)
channel.basic_consume("q", handle)
"""


def test_decorators_of_the_program_are_followed():
    assert told(DECORATED.format("ch.basic_ack(method.delivery_tag)")) == []
    assert told(DECORATED.format("pass")) == [("PA214", 16)]


def test_a_consumer_that_starts_once_the_prefetch_is_confirmed_is_seen():
    text = (
        "import time\nimport pika\n\nclass Worker:\n"
        "    def opened(self, link):\n        link.channel(on_open_callback=self.ready)\n"
        "    def ready(self, channel):\n"
        "        channel.basic_qos(prefetch_count=5, callback=lambda _: channel.basic_consume(\n"
        "            'q', self.handle))\n"
        "    def handle(self, ch, method, properties, body):\n        time.sleep(1)  # here\n"
        "        ch.basic_ack(method.delivery_tag)\n\n"
        "worker = Worker()\npika.SelectConnection(on_open_callback=worker.opened).ioloop.start()\n"
    )
    assert told(text) == [("PA209", here(text))]
