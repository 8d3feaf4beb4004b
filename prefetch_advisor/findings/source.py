"""PA2xx: source code of consumers."""

from prefetch_advisor.findings.rule import CONFIRMS, CONSUMERS, DOCS, PREFETCH, Rule
from prefetch_advisor.model.advice import Severity

_FILE = "worker.py"
_ACKS = CONFIRMS + "#consumer-acknowledgements"


def _pika(
    calls: str, handler: str = "    print(body)\n    ch.basic_ack(method.delivery_tag)\n"
) -> str:
    """A whole consumer of pika's around the lines that matter."""
    return (
        "import pika\n\n\n"
        "def on_message(ch, method, properties, body):\n"
        f"{handler}\n\n"
        "connection = pika.BlockingConnection()\n"
        "channel = connection.channel()\n"
        f"{calls}"
        "channel.start_consuming()\n"
    )


def _aio_pika(qos: str, handler: str, head: str = "") -> str:
    return (
        f"import asyncio\n{head}\nimport aio_pika\n\n\n"
        "async def on_message(message):\n"
        f"{handler}\n\n"
        "async def main():\n"
        "    connection = await aio_pika.connect_robust()\n"
        "    channel = await connection.channel()\n"
        f"{qos}"
        '    queue = await channel.get_queue("tasks")\n'
        "    await queue.consume(on_message)\n"
        "    await asyncio.Future()\n\n\n"
        "asyncio.run(main())\n"
    )


_CONSUME = 'channel.basic_consume("tasks", on_message)\n'
_QOS = "channel.basic_qos(prefetch_count=20)\n"

QOS_AFTER_CONSUME = Rule(
    "PA201",
    "qos-after-consume",
    Severity.ERROR,
    "The prefetch is set after the consumer has started, so it is not in force.",
    "basic.qos changes only the consumers that are created afterwards on that channel: the one "
    "that runs already keeps what it had, by default no limit at all.",
    "Set the prefetch before consuming.",
    _pika(_CONSUME + _QOS),
    _pika(_QOS + _CONSUME),
    PREFETCH,
    _FILE,
)
QOS_WITH_AUTO_ACK = Rule(
    "PA202",
    "qos-with-auto-ack",
    Severity.ERROR,
    "A prefetch is set for a consumer with automatic ack, which no prefetch limits.",
    "The broker forgets a message as it sends it: nothing is ever unacked, so there is nothing "
    "that a prefetch could count. Messages come as fast as the socket takes them, and those in the "
    "process are lost with it.",
    "Use manual ack, after the work; or leave the prefetch out where losing messages is meant.",
    _pika(
        _QOS + 'channel.basic_consume("tasks", on_message, auto_ack=True)\n', "    print(body)\n"
    ),
    _pika(_QOS + _CONSUME),
    _ACKS,
    _FILE,
)
CONSUME_WITHOUT_QOS = Rule(
    "PA203",
    "consume-without-qos",
    Severity.WARNING,
    "A consumer with manual ack is started on a channel without a prefetch.",
    "Every message of the queue is sent to the first consumer that asks: its memory grows with the "
    "backlog, other consumers idle, a crash gives all of it back at once, and the queue looks "
    "empty. 0 means no limit. (A broker may have a default prefetch; few do.)",
    "Set a prefetch before consuming.",
    _pika(_CONSUME),
    _pika(_QOS + _CONSUME),
    CONFIRMS + "#channel-qos-prefetch",
    _FILE,
)
QOS_ON_OTHER_CHANNEL = Rule(
    "PA204",
    "qos-on-other-channel",
    Severity.ERROR,
    "The prefetch is set on one channel, and the consumer is started on another.",
    "A prefetch belongs to the channel it was set on. The channel that consumes has none.",
    "Set the prefetch on the channel that consumes.",
    _pika("setup = connection.channel()\nsetup.basic_qos(prefetch_count=20)\n" + _CONSUME),
    _pika('setup = connection.channel()\nsetup.queue_declare("tasks")\n' + _QOS + _CONSUME),
    PREFETCH,
    _FILE,
)
SWAPPED_ARGUMENTS = Rule(
    "PA205",
    "swapped-qos-arguments",
    Severity.ERROR,
    "A size of messages is limited where their number was meant.",
    "The first argument is the size in bytes in pika, kombu and py-amqp, and the count in "
    "aio-pika and amqpstorm. RabbitMQ has no limit by size: it closes the connection (540, not "
    "implemented).",
    "Name the argument: prefetch_count.",
    _pika("channel.basic_qos(20)\n" + _CONSUME),
    _pika(_QOS + _CONSUME),
    PREFETCH,
    _FILE,
)
ABOVE_PROTOCOL = Rule(
    "PA206",
    "prefetch-above-65535",
    Severity.ERROR,
    "The prefetch is larger than the protocol can carry.",
    "The field has 16 bits. Some clients raise an error, others send what is left of the number, "
    "or 0, which is no limit. The broker's documentation sees little gain above 300.",
    "Take a prefetch that keeps the consumer fed: prefetch-advisor advise finds it.",
    _pika("channel.basic_qos(prefetch_count=100_000)\n" + _CONSUME),
    _pika("channel.basic_qos(prefetch_count=300)\n" + _CONSUME),
    CONFIRMS + "#channel-qos-prefetch",
    _FILE,
)
ACK_MISSING_ON_ERROR = Rule(
    "PA207",
    "ack-missing-on-error",
    Severity.WARNING,
    "When the work fails, the message is neither acked nor given back.",
    "It stays unacked and takes a place in the prefetch for as long as the channel lives. After as "
    "many failures as the prefetch has places, the consumer gets nothing more.",
    "Nack or reject in every path that catches an error, or raise it again where that ends the "
    "consumer.",
    _pika(
        _QOS + _CONSUME,
        "    try:\n"
        "        work(body)\n"
        "        ch.basic_ack(method.delivery_tag)\n"
        "    except Exception as error:\n"
        "        print(error)\n",
    ),
    _pika(
        _QOS + _CONSUME,
        "    try:\n"
        "        work(body)\n"
        "        ch.basic_ack(method.delivery_tag)\n"
        "    except Exception as error:\n"
        "        print(error)\n"
        "        ch.basic_nack(method.delivery_tag, requeue=False)\n",
    ),
    _ACKS,
    _FILE,
)
POLLING_LOOP = Rule(
    "PA208",
    "polling-loop",
    Severity.WARNING,
    "Messages are fetched one at a time in a loop.",
    "Each basic.get costs a round trip, also when there is nothing, and no prefetch applies to it: "
    "it is the slowest way to read a queue, and the hardest on the broker.",
    "Consume instead: the broker pushes, as many as the prefetch allows.",
    "import time\n\nimport pika\n\n"
    "connection = pika.BlockingConnection()\n"
    "channel = connection.channel()\n"
    "while True:\n"
    '    method, properties, body = channel.basic_get("tasks")\n'
    "    if method is None:\n"
    "        time.sleep(1)\n"
    "        continue\n"
    "    print(body)\n"
    "    channel.basic_ack(method.delivery_tag)\n",
    "import pika\n\n"
    "connection = pika.BlockingConnection()\n"
    "channel = connection.channel()\n"
    "channel.basic_qos(prefetch_count=20)\n"
    'for method, properties, body in channel.consume("tasks"):\n'
    "    print(body)\n"
    "    channel.basic_ack(method.delivery_tag)\n",
    CONSUMERS + "#polling",
    _FILE,
)
BLOCKING_HANDLER = Rule(
    "PA209",
    "blocking-handler-in-event-loop",
    Severity.WARNING,
    "A handler on an event loop makes a call that blocks it.",
    "While it blocks, nothing else runs: no other delivery is worked on, and no ack or heartbeat "
    "leaves. Acks leave only after every message that is buffered, so that no prefetch helps.",
    "Use the asynchronous form of the call, or give it to a thread: asyncio.to_thread.",
    _aio_pika(
        "    await channel.set_qos(prefetch_count=20)\n",
        "    async with message.process():\n        time.sleep(1)\n",
        "import time\n",
    ),
    _aio_pika(
        "    await channel.set_qos(prefetch_count=20)\n",
        "    async with message.process():\n        await asyncio.sleep(1)\n",
    ),
    CONSUMERS,
    _FILE,
)
GLOBAL_QOS = Rule(
    "PA210",
    "channel-wide-qos",
    Severity.WARNING,
    "The prefetch is asked for as one limit of the whole channel.",
    "Quorum queues and streams refuse it: consuming closes the connection (540). RabbitMQ 4.3 does "
    "not share the limit any more and gives it to each consumer instead, without a word.",
    "Leave it out: a prefetch for each consumer is the default.",
    _pika("channel.basic_qos(prefetch_count=20, global_qos=True)\n" + _CONSUME),
    _pika(_QOS + _CONSUME),
    PREFETCH,
    _FILE,
)
ACK_BEFORE_WORK = Rule(
    "PA211",
    "ack-before-work",
    Severity.WARNING,
    "A message is acked before its work is done.",
    "The next one is delivered while this one is in work, and a crash loses it: the prefetch "
    "bounds nothing that matters.",
    "Ack after the work.",
    _pika(_QOS + _CONSUME, "    ch.basic_ack(method.delivery_tag)\n    work(body)\n"),
    _pika(_QOS + _CONSUME, "    work(body)\n    ch.basic_ack(method.delivery_tag)\n"),
    _ACKS,
    _FILE,
)


def _batch(size: int) -> str:
    return (
        "import pika\n\n"
        "batch = []\n\n\n"
        "def on_message(ch, method, properties, body):\n"
        "    batch.append(body)\n"
        f"    if len(batch) >= {size}:\n"
        "        print(batch)\n"
        "        batch.clear()\n"
        "        ch.basic_ack(method.delivery_tag, multiple=True)\n\n\n"
        "connection = pika.BlockingConnection()\n"
        "channel = connection.channel()\n" + _QOS + _CONSUME + "channel.start_consuming()\n"
    )


BATCH_EXCEEDS = Rule(
    "PA212",
    "batch-exceeds-prefetch",
    Severity.ERROR,
    "The messages that are acked together are not fewer than the prefetch.",
    "Above the prefetch the batch never fills: the broker waits for acks, the consumer for "
    "messages, for ever. At the prefetch it waits a whole round trip after each batch.",
    "Set the prefetch to twice the batch at least, or ack more often.",
    _batch(50),
    _batch(10),
    CONFIRMS + "#consumer-acks-multiple-parameter",
    _FILE,
)
PRIORITY_BEHIND = Rule(
    "PA213",
    "priority-behind-prefetch",
    Severity.INFO,
    "A queue with priorities is read with a large prefetch.",
    "Priorities order what is in the queue. What a consumer has prefetched is worked off first, "
    "however urgent a message is that arrives after it.",
    "Lower the prefetch to what keeps the consumer busy: prefetch-advisor advise finds it.",
    _pika(
        'channel.queue_declare("tasks", durable=True, arguments={"x-max-priority": 5})\n'
        "channel.basic_qos(prefetch_count=100)\n" + _CONSUME
    ),
    _pika(
        'channel.queue_declare("tasks", durable=True, arguments={"x-max-priority": 5})\n'
        "channel.basic_qos(prefetch_count=2)\n" + _CONSUME
    ),
    DOCS + "priority",
    _FILE,
)
NEVER_ACKED = Rule(
    "PA214",
    "never-acked",
    Severity.ERROR,
    "The handler of a consumer with manual ack never acks.",
    "Once as many messages are held as the prefetch allows, nothing more is delivered; when the "
    "channel closes, all of them are delivered again.",
    "Ack each message after its work.",
    _pika(_QOS + _CONSUME, "    print(body)\n"),
    _pika(_QOS + _CONSUME),
    _ACKS,
    _FILE,
)
