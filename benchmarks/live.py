"""A large running broker: JSON advice, against fetching and parsing the same pages.

    python benchmarks/live.py [QUEUES]      10,000 by default, each with two consumers

It starts a RabbitMQ node of its own, as the tests do, and stops it.
"""

import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

import pika
from pairs import advisor, compare, python, run

from prefetch_advisor.sources import live_lists

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from rabbitmq_node import Node, running_node

CONSUMERS = 2
CONNECTIONS, CHANNELS = 20, 10
PREFETCH, MESSAGES = 5, 10
FETCH = """
import json, requests
session = requests.Session()
session.auth = ("guest", "guest")
session.headers["Accept-Encoding"] = "identity"
for path, query in {lists!r}:
    page, count = 1, 1
    while page <= count:
        answer = session.get(f"http://127.0.0.1:{port}{{path}}?page={{page}}&{{query}}")
        document = json.loads(answer.content)
        # some versions give some lists as a whole
        count, page = document["page_count"] if isinstance(document, dict) else 1, page + 1
"""


def lists() -> list[tuple[str, str]]:
    """What the advisor asks for, page by page."""
    size = {"page_size": live_lists.PAGE_SIZE}
    queries = {
        "/api/queues": {"columns": live_lists.QUEUE_COLUMNS, **live_lists.MINUTE},
        "/api/consumers": {"columns": live_lists.CONSUMER_COLUMNS},
        "/api/channels": {"columns": live_lists.CHANNEL_COLUMNS, **live_lists.RATES},
        "/api/connections": {"columns": live_lists.CONNECTION_COLUMNS},
    }
    return [(path, urlencode({**size, **query})) for path, query in queries.items()]


def fill(node: Node, queues: int) -> list[pika.BlockingConnection]:
    """Queues with messages and consumers that hold some of them; the connections that do."""
    parameters = pika.ConnectionParameters("127.0.0.1", node.ports.amqp, heartbeat=0)
    connections = [pika.BlockingConnection(parameters) for _ in range(CONNECTIONS)]
    channels = [c.channel() for c in connections for _ in range(CHANNELS)]
    for channel in channels:
        channel.basic_qos(prefetch_count=PREFETCH)
    for number in range(queues):
        name = f"fleet.{number}"
        channels[number % len(channels)].queue_declare(name)
        for _ in range(MESSAGES):
            channels[number % len(channels)].basic_publish("", name, b"x" * 100)
        for place in range(CONSUMERS):
            channel = channels[(number + place * CHANNELS) % len(channels)]
            # prefetch-advisor: ignore[PA214] they are to hold what they get
            channel.basic_consume(name, lambda *_: None)
    return connections


def main() -> None:
    """Print the comparison."""
    queues = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as home, running_node(Path(home)) as node:
        connections = fill(node, queues)
        # until every queue has its statistics
        time.sleep(15)
        port = str(node.ports.management)
        broker = ("--live", "management", "-H", "127.0.0.1", "-P", port)
        compare(
            f"advise --format json, {queues:,} queues, {queues * CONSUMERS:,} consumers, live, "
            "below 300 MB",
            lambda: run(advisor("advise", *broker, "--format", "json")),
            {
                "fetch and parse the pages": lambda: run(
                    python(FETCH.format(lists=lists(), port=port))
                )
            },
            at_most=1.5,
        )
        for connection in connections:
            connection.close()


if __name__ == "__main__":
    main()
