"""What definitions and the broker's settings know of queues that are declared or read."""

from __future__ import annotations

import json

import pytest
from told import lint_text

DECLARED = '[[queues]]\nname = "tasks"\nprefetch = 40\nprocessing-time = "10s"\nrtt = "1ms"\n'
CONF = "consumer_timeout = 330000\n"


def definitions(kind="classic", version="4.0.0", policies=(), **arguments):
    named = {key.replace("_", "-"): value for key, value in arguments.items()}
    queue = {"vhost": "/", "name": "tasks", "type": kind, "arguments": named}
    return json.dumps({"rabbit_version": version, "queues": [queue], "policies": list(policies)})


def of(**arguments):
    return {"definitions.json": definitions(**arguments)}


def policy(milliseconds, pattern="^tasks$"):
    return {
        "vhost": "/", "name": "p", "pattern": pattern, "apply-to": "queues", "priority": 0,
        "definition": {"consumer-timeout": milliseconds},
    }  # fmt: skip


def told(code, files):
    return [one for one in lint_text(files) if one.finding.code == code]


def at_risk(files):
    return told("PA309", {"prefetch-advisor.toml": DECLARED, **files})


@pytest.mark.parametrize(
    ("files", "says"),
    [
        (of(x_consumer_timeout=300000), "5 min"),
        (of(policies=[policy(300000)]), "5 min"),
        (of(policies=[policy(330000)], x_consumer_timeout=300000), "5 min"),
        (of(policies=[policy(300000)], x_consumer_timeout=330000), "5 min"),
        (of(policies=[policy(300000, "^other")], x_consumer_timeout=330000), "5 min 30 s"),
        ({"rabbitmq.conf": CONF}, "5 min 30 s"),
        ({"advanced.config": "[{rabbit, [{consumer_timeout, 330000}]}]."}, "5 min 30 s"),
        ({"rabbitmq.conf": CONF} | of(x_consumer_timeout=300000), "5 min"),
    ],
)
def test_a_timeout_below_what_a_full_prefetch_takes(files, says):
    (found,) = at_risk(files)
    assert (found.place.path, found.place.line) == ("prefetch-advisor.toml", 3)
    assert says in found.finding.message


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"definitions.json": definitions(x_consumer_timeout=60000000)},
        {"definitions.json": definitions("classic", "4.3.0", x_consumer_timeout=300000)},
        {"a/rabbitmq.conf": CONF, "b/rabbitmq.conf": CONF},
        {"a.json": definitions(x_consumer_timeout=300000), "b.json": definitions()},
    ],
)
def test_no_timeout_that_is_surely_too_short(files):
    assert at_risk(files) == []


def test_what_is_declared_comes_first():
    own = DECLARED + 'consumer-timeout = "2h"\n'
    files = {"prefetch-advisor.toml": own, "d.json": definitions(x_consumer_timeout=300000)}
    assert told("PA309", files) == []


def test_a_type_that_only_the_broker_knows():
    unlimited = '[[queues]]\nname = "tasks"\nprefetch = 0\n'
    files = {"prefetch-advisor.toml": unlimited, "definitions.json": definitions("quorum")}
    assert [one.finding.code for one in lint_text(files)] == ["PA311"]
    component = (
        "kind: Component\nspec:\n  type: bindings.rabbitmq\n  metadata:\n"
        "  - {name: queueName, value: tasks}\n  - {name: prefetchCount, value: 0}\n"
    )
    for kind, code in (("quorum", "PA311"), ("stream", "PA321"), ("classic", "PA301")):
        files = {"c.yaml": component, "definitions.json": definitions(kind)}
        (found,) = lint_text(files)
        assert (found.finding.code, found.place.path, found.place.line) == (code, "c.yaml", 6)


def test_a_single_active_consumer_that_only_the_broker_knows():
    many = '[[queues]]\nname = "tasks"\nprefetch = 5\nconsumers = 4\n'
    single = definitions(x_single_active_consumer=True)
    files = {"prefetch-advisor.toml": many, "definitions.json": single}
    assert [one.finding.code for one in lint_text(files)] == ["PA312"]
    files["definitions.json"] = definitions(x_single_active_consumer=False)
    assert lint_text(files) == []


SUBSCRIBER = "kind: Component\nspec:\n  type: pubsub.rabbitmq\n  metadata: []\n"
DEFAULT = "[{rabbit, [{default_consumer_prefetch, {false, 250}}]}].\n"


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        ({"c.yaml": SUBSCRIBER}, ["PA301"]),
        ({"c.yaml": SUBSCRIBER, "advanced.config": DEFAULT}, []),
        ({"c.yaml": SUBSCRIBER, "advanced.config": DEFAULT.replace("250", "0")}, ["PA301"]),
        ({"c.yaml": SUBSCRIBER, "a/a.config": DEFAULT, "b/a.config": DEFAULT}, ["PA301"]),
        ({"c.yaml": SUBSCRIBER.replace("[]", "[{name: prefetchCount, value: 9}]"),
          "advanced.config": DEFAULT.replace("250", "0")}, []),
        ({"c.yaml": SUBSCRIBER.replace("pubsub", "bindings").replace(
            "[]", "[{name: queueName, value: q}, {name: prefetchCount, value: 0}]"),
          "advanced.config": DEFAULT}, ["PA301"]),
        ({"application.properties": "mp.messaging.incoming.a.connector=smallrye-rabbitmq\n",
          "advanced.config": DEFAULT}, []),
    ],
)  # fmt: skip
def test_a_default_of_the_node_is_a_limit_unless_the_client_sends_one(files, codes):
    assert [one.finding.code for one in lint_text(files)] == codes


def test_a_finding_speaks_the_words_of_the_client():
    (found,) = lint_text({"c.yaml": SUBSCRIBER})
    assert found.finding.message.endswith("without prefetchCount there is no limit")
    assert found.finding.help == "Set prefetchCount to a number above 0."
    (found,) = lint_text({"nova.conf": "[oslo_messaging_rabbit]\nrabbit_qos_prefetch_count=0\n"})
    assert found.finding.help == "Set rabbit_qos_prefetch_count to a number above 0."
