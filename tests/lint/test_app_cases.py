"""Situations that people met, as the settings or broker files that they had."""

from __future__ import annotations

import json

import pytest
from told import facts_in, lint_text

from prefetch_advisor.model.lint import Consumer

SPRING = "spring.rabbitmq.listener.simple"
BINDING = "spring.cloud.stream.rabbit.bindings.orders-in-0.consumer"
QUARKUS = "mp.messaging.incoming.orders"
DAPR = "kind: Component\nspec:\n  type: pubsub.rabbitmq\n  version: v1\n  metadata: []\n"
TELEGRAF = "[agent]\n  metric_buffer_limit = 10000\n[[inputs.amqp_consumer]]\n  queue = 'm'\n"
SYMFONY = "framework:\n  messenger:\n    transports:\n      a:\n        dsn: amqp://h\n"
SYMFONY += "        options:\n          prefetch_count: 5\n"


def lock(version):
    return json.dumps({"packages": [{"name": "symfony/amqp-messenger", "version": version}]})


def timed(kind, version, **more):
    queue = {"vhost": "/", "name": "q", "type": kind, "arguments": {"x-consumer-timeout": 600000}}
    return json.dumps({"rabbitmq_version": version, "queues": [queue | more]}, indent=1)


#: what was met, the files, and each finding with its line
CASES = [
    ("500 for bursts: whether it is too much, timings tell",
     {"application.yml": f"{SPRING}.prefetch: 500\n"}, []),
    ("no prefetch set: 1 or 250, by a version that is not told here",
     {"application.yml": f"{SPRING}.concurrency: 2\n"}, []),
    ("250 with one consumer that may become ten",
     {"application.properties": f"{SPRING}.prefetch=250\n{SPRING}.concurrency=1\n"
                                f"{SPRING}.max-concurrency=10\n"}, []),
    ("a prefetch of Symfony's poller, and priorities that seem ignored",
     {"config/packages/messenger.yaml": SYMFONY, "composer.lock": lock("v4.4.9")}, [("PA365", 7)]),
    ("the same where the transport reads it",
     {"config/packages/messenger.yaml": SYMFONY, "composer.lock": lock("v8.2.1")}, []),
    ("the binder's 1 beside 250 of the listeners",
     {"application.yml": f"{SPRING}.prefetch: 250\n{BINDING}.max-concurrency: 4\n"},
     [("PA365", 1)]),
    ("a client's buffer taken for a limit of the broker",
     {"application.properties": f"{QUARKUS}.connector=smallrye-rabbitmq\n"
                                f"{QUARKUS}.max-incoming-internal-queue-size=100\n"},
     [("PA370", 2)]),
    ("Telegraf reads more than its buffer and drops",
     {"telegraf.conf": TELEGRAF + "  prefetch_count = 60000\n"
                                  "  max_undelivered_messages = 50000\n"}, [("PA368", 6)]),
    ("the ceiling kept, the floor missed",
     {"telegraf.conf": TELEGRAF + "  max_undelivered_messages = 1000\n"}, [("PA367", 5)]),
    ("Logstash acks once for a whole window",
     {"a.conf": "input { rabbitmq { queue => 'logs' ack => true } }\n"}, []),
    ("the timeout raised in place of a prefetch: an hour hides nothing",
     {"rabbitmq.conf": "consumer_timeout = 3600000\n"}, []),
    ("the timeout raised to a day, three days, 200 hours, a year",
     {"a/rabbitmq.conf": "consumer_timeout = 86400000 # 24 hours\n",
      "b/rabbitmq.conf": "consumer_timeout = 259200000\n",
      "c/advanced.config": "[{rabbit, [{consumer_timeout, 720000000}]}].\n",
      "d/rabbitmq.conf": "\nconsumer_timeout = 31622400000\n"},
     [("PA407", 1), ("PA407", 1), ("PA407", 1), ("PA407", 2)]),
    ("the timeout as arithmetic of a template",
     {"rabbitmq.conf": "consumer_timeout = {{ mul .Values.hours 3600000 }}\n"}, []),
    ("an ack timeout of a classic queue from 4.3 on",
     {"definitions.json": timed("classic", "4.3.0")}, [("PA409", 9)]),
    ("the same of a quorum queue, and of a classic one before",
     {"a/definitions.json": timed("quorum", "4.3.0"),
      "b/definitions.json": timed("classic", "4.2.0")}, []),
    ("x-max-priority on a quorum queue",
     {"definitions.json": timed("quorum", "4.0.0", arguments={"x-max-priority": 10})},
     [("PA410", 9)]),
    ("a shovel inside the broker, with a window of its own",
     {"definitions.json": json.dumps({"queues": [{"name": "q", "vhost": "/", "arguments": {
         "x-queue-type": "classic"}}], "parameters": [{"component": "shovel", "vhost": "/",
         "name": "s", "value": {"src-uri": "amqp://", "src-queue": "q", "ack-mode": "on-confirm",
                                "dest-uri": "amqp://", "dest-queue": "r"}}]})}, []),
    ("the prefetch of MQTT, which has a key of its own",
     {"rabbitmq.conf": "mqtt.prefetch = 10\nconsumer_timeout = 1800000\n"}, []),
    ("max-length, which bounds what is ready and no consumer",
     {"definitions.json": json.dumps({"policies": [{"vhost": "/", "name": "p", "pattern": "",
      "apply-to": "queues", "definition": {"max-length": 1000}}]})}, []),
    ("the default that guards against such consumers, where it belongs and where not",
     {"advanced.config": "[{rabbit, [{default_consumer_prefetch, {false, 250}}]}].\n",
      "rabbitmq.conf": "default_consumer_prefetch = 250\n"}, [("PA401", 1)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_case(files, expected):
    found = sorted(lint_text(files), key=lambda one: (one.place.path, one.place.line))
    # what all consumers are judged by is tested with its rules
    own = [one for one in found if not "PA300" < one.finding.code < "PA350"]
    assert [(one.finding.code, one.place.line) for one in own] == expected


@pytest.mark.parametrize(
    ("files", "prefetch"),
    [
        ({"application.yml": f"{SPRING}.prefetch: 500\n"}, 500),
        ({"application.yml": f"{SPRING}.concurrency: 2\n"}, None),
        ({"application.properties": f"{QUARKUS}.connector=smallrye-rabbitmq\n"}, 0),
        ({"dapr.yaml": DAPR}, 0),
        ({"a.conf": "input { rabbitmq { queue => 'logs' } }\n"}, 256),
        ({"telegraf.conf": TELEGRAF}, 50),
    ],
)
def test_the_limit_that_is_in_force(files, prefetch):
    (one,) = (fact for fact in facts_in(files) if isinstance(fact, Consumer))
    assert (one.prefetch.value if one.prefetch else None) == prefetch
    assert one.batch is None
