"""Quarkus and SmallRye: channels of the RabbitMQ connector."""

from __future__ import annotations

import pytest
from told import facts_in, lint_text

from prefetch_advisor.model.lint import Consumer

CHANNEL = "mp.messaging.incoming.orders"
RABBIT = f"{CHANNEL}.connector=smallrye-rabbitmq\n"


def consumers(text, name="application.properties"):
    return [fact for fact in facts_in({name: text}) if isinstance(fact, Consumer)]


def codes(text):
    found = lint_text({"application.properties": text})
    # PA3xx below are told of consumers of any client
    return [(one.finding.code, one.place.line) for one in found if one.finding.code > "PA350"]


def test_a_limit_and_what_else_a_channel_says():
    (one,) = consumers(
        f"{RABBIT}{CHANNEL}.max-outstanding-messages=100\n{CHANNEL}.queue.name=q.orders\n"
        f"{CHANNEL}.auto-acknowledgement=false\n{CHANNEL}.concurrency=3\n"
    )
    assert (one.prefetch.value, one.prefetch.place.line, one.prefetch.certain) == (100, 2, True)
    assert (one.subject, one.queue, one.ack.value, one.consumers.value) == (
        "orders", "q.orders", "manual", 3
    )  # fmt: skip


def test_without_a_limit_none_is_sent():
    (one,) = consumers(RABBIT)
    assert (one.prefetch.value, one.prefetch.place.line, one.prefetch.certain) == (0, 1, False)
    assert one.queue == "orders"
    (automatic,) = consumers(f"{RABBIT}{CHANNEL}.auto-acknowledgement=true\n")
    assert automatic.prefetch is None
    assert automatic.ack.value == "auto"
    (set_for_prod,) = consumers(RABBIT + f"%prod.{CHANNEL}.max-outstanding-messages=5\n")[:1]
    assert set_for_prod.prefetch is None
    beside = {
        "application.properties": RABBIT,
        "application-prod.properties": f"{CHANNEL}.max-outstanding-messages=5\n",
    }
    found = [fact for fact in facts_in(beside) if isinstance(fact, Consumer)]
    assert {one.subject: one.prefetch and one.prefetch.value for one in found} == {
        "orders": None, "orders (profile prod)": 5
    }  # fmt: skip


def test_in_yaml_and_for_profiles():
    text = (
        "mp:\n  messaging:\n    incoming:\n      orders:\n        connector: smallrye-rabbitmq\n"
        "        max-outstanding-messages: 100\n"
        '"%dev":\n  mp.messaging.incoming.orders.max-outstanding-messages: 1\n'
        '"%{prod,test}":\n  mp.messaging.incoming.orders.max-outstanding-messages: 7\n'
    )
    found = {one.subject: one.prefetch.value for one in consumers(text, "application.yaml")}
    assert found == {
        "orders": 100,
        "orders (profile dev)": 1,
        "orders (profile prod)": 7,
        "orders (profile test)": 7,
    }


def test_the_connectors_attributes_are_those_of_all_its_channels():
    text = f"{RABBIT}mp.messaging.connector.smallrye-rabbitmq.max-outstanding-messages=20\n"
    (one,) = consumers(text)
    assert (one.prefetch.value, one.prefetch.place.line) == (20, 2)


@pytest.mark.parametrize(
    "text",
    [
        f"{CHANNEL}.connector=smallrye-kafka\n# rabbit\n",
        f"{RABBIT}{CHANNEL}.enabled=false\n",
        f"{CHANNEL}.connector=${{CONNECTOR}}\n# rabbit\n",
        "mp.messaging.outgoing.orders.connector=smallrye-rabbitmq\n",
    ],
)
def test_channels_that_read_no_queue_of_rabbitmq(text):
    assert consumers(text) == []


def test_an_only_connector_is_attached_by_quarkus():
    (one,) = consumers(f"{CHANNEL}.max-outstanding-messages=0\n")
    assert (one.prefetch.value, one.prefetch.certain) == (0, True)
    (quoted,) = consumers('mp.messaging.incoming."a.b".max-outstanding-messages=5\n')
    assert quoted.subject == "a.b"


def test_an_internal_queue_limits_nothing_at_the_broker():
    size = f"{CHANNEL}.max-incoming-internal-queue-size=500\n"
    limit = f"{CHANNEL}.max-outstanding-messages="
    assert codes(f"{RABBIT}{limit}2000\n{size}") == [("PA370", 2)]
    assert codes(f"{RABBIT}{size}") == [("PA370", 2)]
    assert codes(f"{RABBIT}{limit}600000\n") == [("PA370", 2)]
    assert codes(f"{RABBIT}{limit}500\n{size}") == []
    assert codes(f"{RABBIT}{limit}${{N}}\n{size}") == []
    assert codes(f"{RABBIT}{limit}2000\n{size[:-4]}${{N}}\n") == []
    assert codes(f"{RABBIT}{size}{CHANNEL}.auto-acknowledgement=true\n") == []
