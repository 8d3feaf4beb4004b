"""Each mistake in Python source, written six ways, is exactly one finding on its line.

The line is the one that ends in ``# here``. The ways: under an alias, by position, with a constant,
on an attribute, by ``functools.partial``, in a wrapper.
"""

from __future__ import annotations

import pytest
from told import lint_text

HEAD = """\
import functools
import pika

def on_message(ch, method, properties, body):
    work(body)
    ch.basic_ack(method.delivery_tag)

connection = pika.BlockingConnection()
"""
CHANNEL = HEAD + "channel = connection.channel()\n"
CONSUME = "channel.basic_consume('tasks', on_message)\n"
QOS = "channel.basic_qos(prefetch_count=10)\n"


def worker(body: str, first: str = "") -> str:
    return (
        HEAD
        + f"class Worker:\n{first}    def __init__(self):\n"
        + "        self.channel = connection.channel()\n"
        + body
        + "Worker().run()\n"
    )


WAYS: dict[str, dict[str, str]] = {
    "PA201": {
        "alias": HEAD.replace("import pika", "from pika import BlockingConnection as Link")
        .replace("pika.Blocking", "Blocking")
        .replace("BlockingConnection()", "Link()")
        + "channel = connection.channel()\nch = channel\nconsume = ch.basic_consume\n"
        + "consume('tasks', on_message)\nchannel.basic_qos(prefetch_count=10)  # here\n",
        "positional": CHANNEL + CONSUME + "channel.basic_qos(0, 10)  # here\n",
        "constant": CHANNEL
        + "PREFETCH = 10\n"
        + CONSUME
        + "channel.basic_qos(prefetch_count=PREFETCH)  # here\n",
        "attribute": worker(
            "    def run(self):\n"
            "        self.channel.basic_consume('tasks', on_message)\n"
            "        self.channel.basic_qos(prefetch_count=10)  # here\n"
        ),
        "partial": CHANNEL
        + "limit = functools.partial(channel.basic_qos, prefetch_count=10)\n"
        + CONSUME
        + "limit()  # here\n",
        "wrapper": CHANNEL
        + "def limit(ch, count):\n    ch.basic_qos(prefetch_count=count)\n\n"
        + CONSUME
        + "limit(channel, 10)  # here\n",
    },
    "PA202": {
        "alias": CHANNEL + QOS + "consume = channel.basic_consume\n"
        "consume('tasks', on_message, auto_ack=True)  # here\n",
        "positional": CHANNEL + QOS + "channel.basic_consume('tasks', on_message, True)  # here\n",
        "constant": CHANNEL
        + "AUTO = True\n"
        + QOS
        + "channel.basic_consume('tasks', on_message, auto_ack=AUTO)  # here\n",
        "attribute": worker(
            "    def run(self):\n"
            "        self.channel.basic_qos(prefetch_count=10)\n"
            "        self.channel.basic_consume('tasks', on_message, auto_ack=self.auto)  # here\n",
            "    auto = True\n",
        ),
        "partial": CHANNEL
        + QOS
        + "consume = functools.partial(channel.basic_consume, 'tasks', auto_ack=True)  # here\n"
        + "consume(on_message_callback=on_message)\n",
        "wrapper": CHANNEL + "def consume(ch):\n"
        "    ch.basic_consume('tasks', on_message, auto_ack=True)  # here\n\n"
        + QOS
        + "consume(channel)\n",
    },
    "PA203": {
        "alias": CHANNEL + "start = channel.basic_consume\nstart('tasks', on_message)  # here\n",
        "positional": CHANNEL + "channel.basic_consume('tasks', on_message, False)  # here\n",
        "constant": CHANNEL + "QUEUE = 'tasks'\n"
        "channel.basic_consume(QUEUE, on_message_callback=on_message)  # here\n",
        "attribute": worker(
            "    def run(self):\n        self.channel.basic_consume('tasks', on_message)  # here\n"
        ),
        "partial": CHANNEL + "start = functools.partial(channel.basic_consume, 'tasks')\n"
        "start(on_message_callback=on_message)  # here\n",
        "wrapper": HEAD + "def consume(ch):\n    ch.basic_consume('tasks', on_message)  # here\n\n"
        "consume(connection.channel())\n",
    },
    "PA203 of 0": {
        "alias": CHANNEL + "limit = channel.basic_qos\nlimit(prefetch_count=0)  # here\n" + CONSUME,
        "positional": CHANNEL + "channel.basic_qos(0, 0)  # here\n" + CONSUME,
        "constant": CHANNEL
        + "PREFETCH = 0\nchannel.basic_qos(prefetch_count=PREFETCH)  # here\n"
        + CONSUME,
        "attribute": worker(
            "    def run(self):\n"
            "        self.channel.basic_qos(prefetch_count=self.prefetch)  # here\n"
            "        self.channel.basic_consume('tasks', on_message)\n",
            "    prefetch = 0\n",
        ),
        "partial": CHANNEL
        + "limit = functools.partial(channel.basic_qos, prefetch_count=0)  # here\n"
        "limit()\n" + CONSUME,
        "wrapper": CHANNEL + "def limit(ch, count):\n    ch.basic_qos(prefetch_count=count)\n\n"
        "limit(channel, 0)  # here\n" + CONSUME,
    },
    "PA204": {
        "alias": CHANNEL + "other = connection.channel()\nsetup = other\n"
        "setup.basic_qos(prefetch_count=10)  # here\n" + CONSUME,
        "positional": CHANNEL
        + "other = connection.channel()\nother.basic_qos(0, 10)  # here\n"
        + CONSUME,
        "constant": CHANNEL + "PREFETCH = 10\nother = connection.channel()\n"
        "other.basic_qos(prefetch_count=PREFETCH)  # here\n" + CONSUME,
        "attribute": worker(
            "        self.setup = connection.channel()\n"
            "        self.setup.basic_qos(prefetch_count=10)  # here\n"
            "    def run(self):\n"
            "        self.channel.basic_consume('tasks', on_message)\n"
        ),
        "partial": CHANNEL + "other = connection.channel()\n"
        "limit = functools.partial(other.basic_qos, prefetch_count=10)\nlimit()  # here\n"
        + CONSUME,
        "wrapper": HEAD + "def limited():\n    ch = connection.channel()\n"
        "    ch.basic_qos(prefetch_count=10)  # here\n    ch.queue_declare('tasks')\n\n"
        "limited()\nchannel = connection.channel()\n" + CONSUME,
    },
    "PA205": {
        "alias": CHANNEL + "limit = channel.basic_qos\nlimit(10)  # here\n" + CONSUME,
        "positional": CHANNEL + "channel.basic_qos(10)  # here\n" + CONSUME,
        "constant": CHANNEL + "PREFETCH = 10\nchannel.basic_qos(PREFETCH)  # here\n" + CONSUME,
        "attribute": worker(
            "    def run(self):\n"
            "        self.channel.basic_qos(self.prefetch)  # here\n"
            "        self.channel.basic_consume('tasks', on_message)\n",
            "    prefetch = 10\n",
        ),
        "partial": CHANNEL
        + "limit = functools.partial(channel.basic_qos, 10)  # here\nlimit()\n"
        + CONSUME,
        "wrapper": CHANNEL + "def limit(ch, count):\n    ch.basic_qos(count)  # here\n\n"
        "limit(channel, 10)\n" + CONSUME,
    },
    "PA206": {
        "alias": CHANNEL
        + "limit = channel.basic_qos\nlimit(prefetch_count=70_000)  # here\n"
        + CONSUME,
        "positional": CHANNEL + "channel.basic_qos(0, 65_536)  # here\n" + CONSUME,
        "constant": CHANNEL + "PREFETCH = 100 * 1000\n"
        "channel.basic_qos(prefetch_count=PREFETCH)  # here\n" + CONSUME,
        "attribute": worker(
            "    def run(self):\n"
            "        self.channel.basic_qos(prefetch_count=self.prefetch)  # here\n"
            "        self.channel.basic_consume('tasks', on_message)\n",
            "    prefetch = 70_000\n",
        ),
        "partial": CHANNEL
        + "limit = functools.partial(channel.basic_qos, prefetch_count=70_000)  # here\nlimit()\n"
        + CONSUME,
        "wrapper": CHANNEL + "def limit(ch, count=10):\n    ch.basic_qos(prefetch_count=count)\n\n"
        "limit(channel, count=70_000)  # here\n" + CONSUME,
    },
    "PA207": {
        "alias": CHANNEL
        + QOS
        + "def handle(ch, method, properties, body):\n    ack = ch.basic_ack\n    try:\n"
        "        work(body)\n        ack(method.delivery_tag)\n    except Exception:  # here\n"
        "        print('failed')\n\nchannel.basic_consume('tasks', handle)\n",
        "positional": CHANNEL
        + QOS
        + "def handle(ch, method, properties, body):\n    try:\n        work(body)\n"
        "    except ValueError:  # here\n        return\n"
        "    ch.basic_ack(method.delivery_tag, False)\n\nchannel.basic_consume('tasks', handle)\n",
        "constant": CHANNEL + QOS + "REQUEUE = False\n"
        "def handle(ch, method, properties, body):\n    try:\n        work(body)\n"
        "    except KeyError:\n        ch.basic_nack(method.delivery_tag, requeue=REQUEUE)\n"
        "    except Exception:  # here\n        log.exception('failed')\n    else:\n"
        "        ch.basic_ack(method.delivery_tag)\n\nchannel.basic_consume('tasks', handle)\n",
        "attribute": worker(
            "    def run(self):\n"
            "        self.channel.basic_qos(prefetch_count=10)\n"
            "        self.channel.basic_consume('tasks', self.handle)\n"
            "    def handle(self, ch, method, properties, body):\n        try:\n"
            "            self.work(body)\n            self.channel.basic_ack(method.delivery_tag)\n"
            "        except Exception:  # here\n            print('failed')\n"
        ),
        "partial": CHANNEL
        + QOS
        + "def handle(queue, ch, method, properties, body):\n    try:\n        work(queue, body)\n"
        "        ch.basic_ack(method.delivery_tag)\n    except Exception:  # here\n        pass\n\n"
        "channel.basic_consume('tasks', functools.partial(handle, 'tasks'))\n",
        "wrapper": CHANNEL
        + QOS
        + "def done(ch, method):\n    ch.basic_ack(method.delivery_tag)\n\n"
        "def handle(ch, method, properties, body):\n    try:\n        work(body)\n"
        "        done(ch, method)\n    except Exception:  # here\n        print('failed')\n\n"
        "channel.basic_consume('tasks', handle)\n",
    },
    "PA208": {
        "alias": CHANNEL
        + "fetch = channel.basic_get\nwhile True:\n    found = fetch('tasks')  # here\n",
        "positional": CHANNEL
        + "while True:\n    found = channel.basic_get('tasks', True)  # here\n",
        "constant": CHANNEL + "QUEUE = 'tasks'\nwhile 1:\n"
        "    found = channel.basic_get(queue=QUEUE)  # here\n",
        "attribute": worker(
            "    def run(self):\n        while self.running:\n"
            "            found = self.channel.basic_get('tasks')  # here\n"
        ),
        "partial": CHANNEL + "fetch = functools.partial(channel.basic_get, 'tasks')\n"
        "while True:\n    found = fetch()  # here\n",
        "wrapper": CHANNEL + "def fetch():\n    return channel.basic_get('tasks')  # here\n\n"
        "while True:\n    found = fetch()\n",
    },
    "PA210": {
        "alias": CHANNEL + "limit = channel.basic_qos\n"
        "limit(prefetch_count=10, global_qos=True)  # here\n" + CONSUME,
        "positional": CHANNEL + "channel.basic_qos(0, 10, True)  # here\n" + CONSUME,
        "constant": CHANNEL + "SHARED = True\n"
        "channel.basic_qos(prefetch_count=10, global_qos=SHARED)  # here\n" + CONSUME,
        "attribute": worker(
            "    def run(self):\n"
            "        self.channel.basic_qos(0, 10, self.shared)  # here\n"
            "        self.channel.basic_consume('tasks', on_message)\n",
            "    shared = True\n",
        ),
        "partial": CHANNEL
        + "limit = functools.partial(channel.basic_qos, global_qos=True)  # here\n"
        "limit(prefetch_count=10)\n" + CONSUME,
        "wrapper": CHANNEL + "def limit(ch):\n"
        "    ch.basic_qos(prefetch_count=10, global_qos=True)  # here\n\nlimit(channel)\n"
        + CONSUME,
    },
    "PA211": {
        "alias": CHANNEL + QOS + "def handle(ch, method, properties, body):\n"
        "    ack = ch.basic_ack\n    ack(method.delivery_tag)  # here\n    work(body)\n\n"
        "channel.basic_consume('tasks', handle)\n",
        "positional": CHANNEL + QOS + "def handle(ch, method, properties, body):\n"
        "    ch.basic_ack(method.delivery_tag, False)  # here\n    work(body)\n\n"
        "channel.basic_consume('tasks', handle)\n",
        "constant": CHANNEL + QOS + "MANY = False\ndef handle(ch, method, properties, body):\n"
        "    data = json.loads(body)\n"
        "    ch.basic_ack(method.delivery_tag, multiple=MANY)  # here\n    work(data)\n\n"
        "channel.basic_consume('tasks', handle)\n",
        "attribute": worker(
            "    def run(self):\n"
            "        self.channel.basic_qos(prefetch_count=10)\n"
            "        self.channel.basic_consume('tasks', self.handle)\n"
            "    def handle(self, ch, method, properties, body):\n"
            "        self.channel.basic_ack(method.delivery_tag)  # here\n"
            "        self.work(body)\n"
        ),
        "partial": CHANNEL + QOS + "def handle(name, ch, method, properties, body):\n"
        "    ch.basic_ack(method.delivery_tag)  # here\n    work(name, body)\n\n"
        "channel.basic_consume('tasks', functools.partial(handle, 'x'))\n",
        "wrapper": CHANNEL + QOS + "def done(ch, method):\n"
        "    ch.basic_ack(method.delivery_tag)  # here\n\n"
        "def handle(ch, method, properties, body):\n    done(ch, method)\n    work(body)\n\n"
        "channel.basic_consume('tasks', handle)\n",
    },
    "PA214": {
        "alias": CHANNEL + QOS + "def handle(ch, method, properties, body):\n    show = print\n"
        "    show(body)\n\nstart = channel.basic_consume\nstart('tasks', handle)  # here\n",
        "positional": CHANNEL
        + QOS
        + "def handle(ch, method, properties, body):\n    work(body)\n\n"
        "channel.basic_consume('tasks', handle, False)  # here\n",
        "constant": CHANNEL + QOS + "AUTO = False\ndef handle(ch, method, properties, body):\n"
        "    work(body)\n\nchannel.basic_consume('tasks', handle, auto_ack=AUTO)  # here\n",
        "attribute": worker(
            "    def run(self):\n"
            "        self.channel.basic_qos(prefetch_count=10)\n"
            "        self.channel.basic_consume('tasks', self.handle)  # here\n"
            "    def handle(self, ch, method, properties, body):\n        print(body)\n"
        ),
        "partial": CHANNEL + QOS + "def handle(name, ch, method, properties, body):\n"
        "    work(name, body)\n\n"
        "channel.basic_consume('tasks', functools.partial(handle, 'x'))  # here\n",
        "wrapper": CHANNEL
        + QOS
        + "def handle(ch, method, properties, body):\n    process(body)\n\n"
        "def process(body):\n    print(body)\n\nchannel.basic_consume('tasks', handle)  # here\n",
    },
}

AIO = """\
import asyncio
import functools
import time
import aio_pika

"""


def aio(handler: str, consume: str = "    await queue.consume(handle)\n", head: str = "") -> str:
    return (
        f"{AIO}{head}{handler}\n\nasync def main():\n"
        "    connection = await aio_pika.connect_robust('amqp://localhost')\n"
        "    channel = await connection.channel()\n"
        "    await channel.set_qos(prefetch_count=10)\n"
        "    queue = await channel.declare_queue('tasks')\n"
        f"{consume}    await asyncio.Future()\n\nasyncio.run(main())\n"
    )


DEF = "async def handle(message):\n"
WAYS["PA209"] = {
    "alias": aio(
        DEF + "    async with message.process():\n        pause(1)  # here\n",
        head="from time import sleep as pause\n",
    ),
    "positional": aio(
        DEF + "    async with message.process(True):\n        time.sleep(1)  # here\n"
    ),
    "constant": aio(
        DEF + "    async with message.process():\n        time.sleep(PAUSE)  # here\n",
        head="PAUSE = 1\n",
    ),
    "attribute": aio(
        "class Worker:\n    async def handle(self, message):\n"
        "        async with message.process():\n            time.sleep(self.pause)  # here\n",
        "    await queue.consume(Worker().handle)\n",
    ),
    "partial": aio(
        "async def handle(name, message):\n    async with message.process():\n"
        "        time.sleep(1)  # here\n",
        "    await queue.consume(functools.partial(handle, 'x'))\n",
    ),
    "wrapper": aio(
        "def work(body):\n    time.sleep(1)  # here\n\n"
        + DEF
        + "    async with message.process():\n        work(message.body)\n"
    ),
}
WAYS["PA207 of aio-pika"] = {
    "alias": aio(
        DEF + "    await work(message.body)\n    done = message.ack\n    await done()  # here\n"
    ),
    "positional": aio(DEF + "    await work(message.body)\n    await message.ack(False)  # here\n"),
    "constant": aio(
        DEF + "    await work(message.body)\n    await message.ack(multiple=MANY)  # here\n",
        head="MANY = False\n",
    ),
    "attribute": aio(
        "class Worker:\n    async def handle(self, message):\n"
        "        await self.work(message.body)\n        await message.ack()  # here\n",
        "    await queue.consume(Worker().handle)\n",
    ),
    "partial": aio(
        "async def handle(name, message):\n    await work(name, message.body)\n"
        "    await message.ack()  # here\n",
        "    await queue.consume(functools.partial(handle, 'x'))\n",
    ),
    "wrapper": aio(
        "async def done(message):\n    await message.ack()  # here\n\n"
        + DEF
        + "    await work(message.body)\n    await done(message)\n"
    ),
}


def batch(start: str, test: str, consume: str = "channel.basic_consume('tasks', handle)\n") -> str:
    return (
        CHANNEL + QOS + start + "def handle(ch, method, properties, body):\n"
        f"    batch.append(body)\n    if {test}:  # here\n        store(batch)\n"
        f"        ch.basic_ack(method.delivery_tag, multiple=True)\n\n{consume}"
    )


WAYS["PA212"] = {
    "alias": batch("batch = []\n", "len(batch) >= 20").replace(
        "        ch.basic_ack(", "        ack = ch.basic_ack\n        ack("
    ),
    "positional": batch("batch = []\n", "len(batch) == 20").replace("multiple=True", "True"),
    "constant": batch("batch = []\nSIZE = 20\n", "len(batch) >= SIZE"),
    "attribute": worker(
        "        self.batch = []\n"
        "    def run(self):\n"
        "        self.channel.basic_qos(prefetch_count=10)\n"
        "        self.channel.basic_consume('tasks', self.handle)\n"
        "    def handle(self, ch, method, properties, body):\n"
        "        self.batch.append(body)\n"
        "        if len(self.batch) > self.size:  # here\n"
        "            ch.basic_ack(method.delivery_tag, multiple=True)\n",
        "    size = 20\n",
    ),
    "partial": batch("batch = []\n", "len(batch) >= 20").replace(
        "        ch.basic_ack(",
        "        ack = functools.partial(ch.basic_ack, method.delivery_tag, multiple=True)\n"
        "        ack()\n        print(",
    ),
    "wrapper": batch("batch = []\n", "len(batch) >= 20").replace(
        "        ch.basic_ack(method.delivery_tag, multiple=True)\n",
        "        flush(ch, method)\n\n"
        "def flush(ch, method):\n    ch.basic_ack(method.delivery_tag, multiple=True)\n",
    ),
}


def handoff(made: str, put: str, consume: str = "channel.basic_consume('tasks', handle)\n") -> str:
    return (
        CHANNEL + "import asyncio, collections, multiprocessing, queue\n"
        "import concurrent.futures\nfrom queue import Queue as Jobs\n"
        + QOS
        + made
        + f"def handle(ch, method, properties, body):\n    {put}  # here\n"
        f"    ch.basic_ack(method.delivery_tag)\n\n{consume}"
    )


WAYS["PA501"] = {
    "alias": handoff("jobs = Jobs()\n", "jobs.put(body)"),
    "positional": handoff("jobs = queue.Queue(0)\n", "jobs.put(body, True)"),
    "constant": handoff("SIZE = -1\njobs = queue.Queue(maxsize=SIZE)\n", "jobs.put_nowait(body)"),
    "attribute": worker(
        "        self.pool = ThreadPoolExecutor(4)\n"
        "    def run(self):\n"
        "        self.channel.basic_qos(prefetch_count=10)\n"
        "        self.channel.basic_consume('tasks', self.handle)\n"
        "    def handle(self, ch, method, properties, body):\n"
        "        self.pool.submit(work, body)  # here\n"
        "        ch.basic_ack(method.delivery_tag)\n"
    ).replace("import pika", "import pika\nfrom concurrent.futures import ThreadPoolExecutor"),
    "partial": handoff(
        "jobs = queue.SimpleQueue()\nput = functools.partial(jobs.put)\n", "put(body)"
    ),
    "wrapper": handoff(
        "jobs = multiprocessing.Queue()\ndef give(item):\n    jobs.put(item)  # here\n\n",
        "give(body)",
    ).replace("    give(body)  # here", "    give(body)"),
}


CASES = [
    pytest.param(rule.split()[0], text, id=f"{rule} {way}")
    for rule, ways in WAYS.items()
    for way, text in ways.items()
]


@pytest.mark.parametrize(("code", "text"), CASES)
def test_a_mistake_is_one_finding_on_its_line(code, text):
    expected = [
        number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# here")
    ]
    found = [(each.finding.code, each.place.line) for each in lint_text({"worker.py": text})]
    assert found == [(code, expected[0])], text
