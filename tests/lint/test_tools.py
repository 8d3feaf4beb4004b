"""Dapr, Telegraf, Logstash, Symfony Messenger and oslo.messaging."""

from __future__ import annotations

import json

import pytest
from told import facts_in, lint_text

from prefetch_advisor.model.lint import Consumer


def consumers(name, text):
    return [fact for fact in facts_in({name: text}) if isinstance(fact, Consumer)]


def value(located):
    return None if located is None else (located.value, located.place.line, located.certain)


def codes(files):
    return [(one.finding.code, one.place.line, one.severity.name) for one in lint_text(files)]


# Dapr

COMPONENT = (
    "apiVersion: dapr.io/v1alpha1\nkind: Component\nmetadata:\n  name: orders\nspec:\n"
    "  type: pubsub.rabbitmq\n  version: v1\n  metadata:\n"
)


def metadata(**values):
    return "".join(f"  - name: {name}\n    value: {text}\n" for name, text in values.items())


def test_a_subscriber_of_dapr():
    text = COMPONENT + metadata(prefetchCount='"20"', autoAck='"true"', concurrency="single")
    (one,) = consumers("components/a.yaml", text)
    assert (one.subject, one.client, one.place.line) == ("orders", "Dapr", 6)
    assert value(one.prefetch) == (20, 10, True)
    assert (one.ack.value, one.ack.place.line) == ("auto", 12)
    assert value(one.concurrency) == (1, 14, True)
    (number,) = consumers("a.yml", COMPONENT + metadata(PrefetchCount="20", autoAck="false"))
    assert (value(number.prefetch), number.ack.value) == ((20, 10, True), "manual")


def test_a_subscriber_without_a_prefetch_has_no_limit():
    (one,) = consumers("a.yaml", COMPONENT + metadata(host="amqp://localhost"))
    assert value(one.prefetch) == (0, 6, False)
    secret = "  - name: prefetchCount\n    secretKeyRef:\n      name: s\n      key: k\n"
    (unknown,) = consumers("a.yaml", COMPONENT + secret)
    assert unknown.prefetch is None
    (placed,) = consumers("a.yaml", COMPONENT + metadata(prefetchCount='"{{ n }}"'))
    assert placed.prefetch is None


@pytest.mark.parametrize("count", ["256", '"300"', "-1"])
def test_more_than_eight_bits(count):
    text = COMPONENT + metadata(prefetchCount=count)
    assert codes({"a.yaml": text}) == [("PA366", 10, "ERROR")]
    assert consumers("a.yaml", text)[0].prefetch is None


def test_several_documents_and_bindings():
    binding = COMPONENT.replace("pubsub", "bindings").replace("orders", "jobs")
    text = "---\n".join(
        [
            COMPONENT + metadata(prefetchCount="10"),
            "kind: ConfigMap\nspec: {type: pubsub.rabbitmq}\n",
            binding + metadata(queueName="work", prefetchCount="300"),
            binding + metadata(queueName="out"),
            binding + metadata(queueName="in", direction='"input, output"'),
            COMPONENT.replace("pubsub.rabbitmq", "pubsub.redis"),
        ]
    )
    found = consumers("all.yaml", text)
    assert [(one.subject, one.queue, one.prefetch.value) for one in found] == [
        ("orders", None, 10), ("jobs", "work", 300), ("jobs", "in", 0)
    ]  # fmt: skip
    assert [one.concurrency and one.concurrency.value for one in found] == [None, 1, 1]
    assert codes({"all.yaml": text}) == [("PA301", 44, "ERROR")]


def test_a_template_of_a_component_is_left_alone():
    text = COMPONENT.replace("orders", "{{ .Release.Name }}") + metadata(prefetchCount='"300"')
    assert lint_text({"templates/a.yaml": text}) == []


# Telegraf

INPUT = '[[inputs.amqp_consumer]]\n  queue = "telegraf"\n'


def test_the_limits_of_telegraf():
    (one,) = consumers("telegraf.conf", f"{INPUT}  prefetch_count = 100\n")
    assert (one.subject, one.queue, value(one.prefetch)) == ("telegraf", "telegraf", (100, 3, True))
    (default,) = consumers("telegraf.d/in.conf", f"{INPUT}  prefetch_count = 0\n")
    assert (value(default.prefetch), default.prefetch.origin) == ((50, 3, True), "the default")
    (second,) = consumers("t.toml", f"{INPUT}\n{INPUT}  prefetch_count = 7\n")[1:]
    assert value(second.prefetch) == (7, 6, True)
    for text in ("prefetch_count = -5", 'prefetch_count = "${N}"', "prefetch_count = true"):
        assert consumers("telegraf.conf", f"{INPUT}  {text}\n")[0].prefetch is None


BOTH = "prefetch_count = 20000\nmax_undelivered_messages = 20000"
SMALL = "[agent]\nmetric_buffer_limit = 500"


@pytest.mark.parametrize(
    ("limits", "agent", "expected"),
    [
        ("", "", []),
        ("max_undelivered_messages = 1000", "", [("PA367", 3, "WARNING")]),
        ("max_undelivered_messages = 50", "", []),
        ("prefetch_count = 500\nmax_undelivered_messages = 600", "", [("PA367", 4, "WARNING")]),
        ("prefetch_count = 600\nmax_undelivered_messages = 500", "", []),
        ("prefetch_count = 600", SMALL, [("PA368", 3, "WARNING")]),
        ("prefetch_count = 20000", "[agent]", []),
        (BOTH, "[agent]", [("PA368", 3, "WARNING")]),
        (BOTH, "", []),
        ("prefetch_count = 600", f"{SMALL}\n[[outputs.x]]\nmetric_buffer_limit = 900", []),
    ],
)
def test_the_limits_that_do_not_go_together(limits, agent, expected):
    assert codes({"telegraf.conf": f"{INPUT}{limits}\n{agent}\n"}) == expected


def test_what_telegraf_reads_before_it_is_toml():
    assert codes({"telegraf.conf": f"{INPUT}prefetch_count = ${{N}}\n"}) == []
    assert codes({"telegraf.conf": f"{INPUT}prefetch_count = {{{{ n }}}}\n"}) == []
    assert codes({"telegraf.conf": f"{INPUT}prefetch_count = \n"}) == [("PA006", 3, "ERROR")]
    deep = f"{INPUT}x = {'[' * 9000}{']' * 9000}\n"
    assert [code for code, _, _ in codes({"telegraf.conf": deep})] == ["PA006"]


# Logstash

PIPELINE = """\
# rabbitmq { in a comment
input {
  if [type] == "rabbitmq" { stdin { } }
  rabbitmq {
    host => ["a", "b"]   # two
    codec => json { charset => "UTF-8" }
    arguments => { "x-queue-type" => "quorum" }
    queue => 'logs'
    prefetch_count => 512
    ack => false
    threads => 4
  }
}
filter { if [m] =~ /a{2}"/ { grok { match => { "m" => "%{A:b}" } } } }
output { rabbitmq { exchange => "x" exchange_type => "direct" prefetch_count => 0 } }
"""


def test_an_input_of_logstash():
    (one,) = consumers("pipeline.conf", PIPELINE)
    assert (one.subject, one.client, one.queue, one.place.line) == ("logs", "Logstash", "logs", 4)
    assert value(one.prefetch) == (512, 9, True)
    assert (one.ack.value, one.ack.place.line) == ("auto", 10)
    assert value(one.consumers) == (4, 11, True)
    # automatic ack, told of consumers of any client
    assert codes({"pipeline.conf": PIPELINE}) == [("PA302", 10, "ERROR")]
    acked = PIPELINE.replace("ack => false", "ack => true")
    assert lint_text({"pipeline.conf": acked}) == []


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("", (256, 1, True)),
        ("prefetch_count => 10", (10, 2, True)),
        ('prefetch_count => "10"', (10, 2, True)),
        ('prefetch_count => "${N:64}"', (64, 2, False)),
        ("prefetch_count => ${N:64}", (64, 2, False)),
        ("prefetch_count => ${N}", None),
        ("prefetch_count => 'x${N:1}'", None),
        ("prefetch_count => ten", None),
        ("ack => false", None),
    ],
)
def test_a_prefetch_of_logstash(setting, expected):
    (one,) = consumers("a.conf", f"input {{ rabbitmq {{\n{setting}\n}} }}")
    assert value(one.prefetch) == expected


def test_no_input_starts_with_zero():
    text = "input {{ rabbitmq {{\r\n  prefetch_count => {}\r\n}} }}"
    assert codes({"a.conf": text.format("0")}) == [("PA369", 2, "ERROR")]
    assert codes({"a.conf": text.format('"${N:0}"')}) == [("PA369", 2, "WARNING")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("input {\n  rabbitmq {\n", 2),
        ("input { rabbitmq { } }\n}\n", 2),
        ("input { rabbitmq {\n a => 'b\n} }\n", 2),
    ],
)
def test_a_pipeline_that_does_not_parse(text, line):
    assert codes({"a.conf": text}) == [("PA006", line, "ERROR")]


def test_a_template_of_a_pipeline_is_left_alone():
    for text in (
        "input { rabbitmq { prefetch_count => {{ n }} } }",
        "input { {% if x %} rabbitmq { prefetch_count => 0 } {% endif %} }",
    ):
        assert facts_in({"a.conf": text}) == []
    quoted = (
        "input { rabbitmq { key => '{{x}}' prefetch_count => 5 } }\nfilter { a { b => \"{%{C}\" } }"
    )
    assert consumers("a.conf", quoted)[0].prefetch.value == 5


# Symfony Messenger

OPTIONS = (
    "framework:\n  messenger:\n    transports:\n      jobs:\n        dsn: '{dsn}'\n"
    "        options:\n          prefetch_count: 20\n"
)
NAME = "config/packages/messenger.yaml"


def lock(**versions):
    packages = [
        {"name": name.replace("__", "/").replace("_", "-"), "version": version}
        for name, version in versions.items()
    ]
    return json.dumps({"packages": packages})


@pytest.mark.parametrize(
    ("dsn", "installed", "expected"),
    [
        ("amqp://localhost", {}, [("PA365", 7, "INFO")]),
        ("%env(DSN)%", {}, []),
        ("doctrine://default", {"symfony__amqp_messenger": "v6.4.1"}, []),
        ("%env(DSN)%", {"symfony__amqp_messenger": "v5.4.1"}, [("PA365", 7, "WARNING")]),
        ("amqps://x", {"symfony__messenger": "v4.4.1"}, [("PA365", 7, "WARNING")]),
        ("amqp://x", {"symfony__amqp_messenger": "v6.4.1"}, [("PA365", 7, "ERROR")]),
        ("%env(DSN)%", {"symfony__amqp_messenger": "v6.4.1"}, [("PA365", 7, "WARNING")]),
        ("amqp://x", {"symfony__amqp_messenger": "v8.1.0"}, [("PA365", 7, "ERROR")]),
        ("amqp://x", {"symfony__amqp_messenger": "v8.2.0"}, []),
        ("%env(DSN)%", {"symfony__messenger": "v6.4.1", "jwage__phpamqplib_messenger": "v1.0"}, []),
        ("amqp://x", {"symfony__amqp_messenger": "dev-main"}, [("PA365", 7, "INFO")]),
    ],
)  # fmt: skip
def test_a_prefetch_of_symfony_by_version(dsn, installed, expected):
    files = {NAME: OPTIONS.replace("{dsn}", dsn)}
    if installed:
        files["composer.lock"] = lock(**installed)
    assert codes(files) == expected


def test_from_8_2_on_it_is_a_consumers_prefetch():
    files = {
        NAME: OPTIONS.replace("{dsn}", "amqp://x"),
        "composer.lock": lock(symfony__amqp_messenger="v8.2.0"),
    }
    (one,) = (fact for fact in facts_in(files) if isinstance(fact, Consumer))
    assert (one.subject, one.client, value(one.prefetch)) == (
        "jobs", "Symfony Messenger", (20, 7, True)
    )  # fmt: skip


def test_every_place_of_symfonys_prefetch():
    text = (
        "when@prod:\n  framework:\n    messenger:\n      transports:\n"
        "        a: 'amqp://u:p@h/%2f/m?prefetch_count=20&x=1'\n"
        "        b:\n          dsn: amqp://h\n          options:\n            queues:\n"
        "              q:\n                prefetch_count: 3\n"
        "        c: {dsn: 'redis://h', options: {prefetch_count: 3}}\n"
        "        d: 'amqp://h'\n"
    )
    assert codes({NAME: text}) == [("PA365", 5, "INFO"), ("PA365", 11, "INFO")]
    assert "u:p" not in str(lint_text({NAME: text}))


# oslo.messaging


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[oslo_messaging_rabbit]\nrabbit_qos_prefetch_count = 10\n", (10, 2, True)),
        ("[a]\nx=1\nx=2\n[oslo_messaging_rabbit]\nrabbit_qos_prefetch_count: 0", (0, 5, True)),
        ("[oslo_messaging_rabbit]\nssl = True\n", (0, 1, False)),
        ("[oslo_messaging_rabbit]\n# rabbit_qos_prefetch_count = 5\n", (0, 1, False)),
        ("[oslo_messaging_rabbit]\n[x]\nrabbit_qos_prefetch_count = 5\n", (0, 1, False)),
        ("[oslo_messaging_rabbit]\nrabbit_qos_prefetch_count = $other\n", None),
    ],
)  # fmt: skip
def test_the_prefetch_of_oslo(text, expected):
    (one,) = consumers("nova.conf", text)
    assert (value(one.prefetch), one.concurrency) == (expected, None)


def test_a_template_of_oslos_settings_is_left_alone():
    text = "[oslo_messaging_rabbit]\n{% if x %}\nrabbit_qos_prefetch_count = 5\n{% endif %}\n"
    assert facts_in({"nova.conf": text}) == []
