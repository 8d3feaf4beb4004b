"""The packages that clients are imported from, and URLs that name other brokers than RabbitMQ."""

from __future__ import annotations

from prefetch_advisor.lint.source.facts import Client

PACKAGES = {
    Client.PIKA: "pika",
    Client.AIO_PIKA: "aio_pika",
    Client.AIORMQ: "aiormq",
    Client.KOMBU: "kombu",
    Client.AMQP: "amqp",
    Client.AMQPSTORM: "amqpstorm",
    Client.FASTSTREAM: "faststream",
    Client.DRAMATIQ: "dramatiq",
}
_AMQP = frozenset({"amqp", "amqps", "pyamqp", "librabbitmq"})


def other_broker(url: object) -> bool:
    """Whether a URL of kombu's names a broker that has no prefetch of AMQP's."""
    if not isinstance(url, str):
        return False
    scheme, found, _ = url.partition("://")
    return bool(found) and scheme.partition("+")[0].isalnum() and scheme.lower() not in _AMQP
