"""rabbitmq.conf, advanced.config and definitions.json: right once, and wrong once."""

from __future__ import annotations

import json

import pytest
from conftest import CAPTURES
from told import facts_in, lint_text

from prefetch_advisor.lint.kinds.broker.facts import Definitions


def codes(files):
    return [(one.finding.code, one.place.line, one.severity.name) for one in lint_text(files)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("consumer_timeout = 1800000\n", []),
        ("consumer_timeout = 30000   # half a minute\n", [("PA402", 1, "WARNING")]),
        ("a.b = 1\r\nconsumer_timeout = 120000\r\n", [("PA402", 2, "INFO")]),
        ("consumer_timeout=86400000", [("PA407", 1, "INFO")]),
        ("consumer_timeout = 31622400000 # a year", [("PA407", 1, "INFO")]),
        ("consumer_timeout = 86399999", []),
        ("consumer_timeout = 0", [("PA405", 1, "ERROR")]),
        ("consumer_timeout = undefined", [("PA405", 1, "ERROR")]),
        ("consumer_timeout = 30m", [("PA405", 1, "ERROR")]),
        ("consumer_timeout =", [("PA405", 1, "ERROR")]),
        ("consumer_timeout = 60 * 60 * 1000", [("PA405", 1, "ERROR")]),
        ("rabbit.consumer_timeout = 7200000", [("PA405", 1, "ERROR")]),
        ("# consumer_timeout = 0\n", []),
        ("consumer_timeout = 100\nconsumer_timeout = 1800000\n", []),
        ("consumer_timeout = {{ timeout }}\n", []),
        ("consumer_timeout = $(TIMEOUT)\n", []),
        ("consumer_timeout = ${TIMEOUT}\n", []),
        ("{{ if x }}\nconsumer_timeout = 100\n{{ end }}\n", [("PA402", 2, "WARNING")]),
        ("default_consumer_prefetch = 250\n", [("PA401", 1, "ERROR")]),
        ("\ndefault_consumer_prefetch.count = 250\n", [("PA401", 2, "ERROR")]),
        ("rabbit.default_consumer_prefetch = 250\n", [("PA401", 1, "ERROR")]),
        ("deprecated_features.permit.global_qos = true\n", [("PA403", 1, "WARNING")]),
        ("deprecated_features.permit.global_qos = false\n", []),
        ("deprecated_features.permit.transient_nonexcl_queues = true\n", []),
        ("consumer_timeout = 1800000\n{rabbit, []}.\n", [("PA006", 2, "ERROR")]),
    ],
)
def test_rabbitmq_conf(text, expected):
    assert codes({"rabbitmq.conf": text}) == expected
    assert codes({"conf.d/10-own.conf": text}) == expected


def test_other_conf_files_are_left_alone():
    assert facts_in({"nginx.conf": "consumer_timeout = 0\n"}) == []


def app(settings, name="rabbit"):
    return f"%% comment {{ \" '\n[\n {{{name}, [\n  {settings}\n ]}}\n].\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (app("{default_consumer_prefetch, {false, 250}}"), []),
        (app("{default_consumer_prefetch, {false, 0}}"), []),
        (app("{default_consumer_prefetch, {true, 0}}"), []),
        (app("{default_consumer_prefetch, {true, 250}}"), [("PA403", 4, "WARNING")]),
        (app("{default_consumer_prefetch, 250}"), [("PA408", 4, "ERROR")]),
        (app("{default_consumer_prefetch, {250, false}}"), [("PA408", 4, "ERROR")]),
        (app('{default_consumer_prefetch, {"false", 250}}'), [("PA408", 4, "ERROR")]),
        (app("{default_consumer_prefetch, {false, -1}}"), [("PA408", 4, "ERROR")]),
        (app("{default_consumer_prefetch, {false, 250}}", "ssl"), [("PA401", 4, "ERROR")]),
        ("[{default_consumer_prefetch, {false, 250}}].", [("PA401", 1, "ERROR")]),
        (app("%{default_consumer_prefetch, 250}\n{x, <<\"a,b\">>}"), []),
        (app("{consumer_timeout, undefined}"), [("PA406", 4, "WARNING")]),
        (app("{consumer_timeout, infinity}"), [("PA406", 4, "WARNING")]),
        (app("{consumer_timeout, 1800000}"), []),
        (app("{consumer_timeout, 1_800_000}"), []),
        (app("{consumer_timeout, 45000}"), [("PA402", 4, "WARNING")]),
        (app("{consumer_timeout, 720000000}"), [("PA407", 4, "INFO")]),
        (app("{permit_deprecated_features, #{global_qos => true}}"), [("PA403", 4, "WARNING")]),
        (app("{permit_deprecated_features, #{global_qos => false}}"), []),
        (app("{permit_deprecated_features, [{'global_qos', true}]}"), [("PA403", 4, "WARNING")]),
        ("[{rabbit, [{consumer_timeout, undefined}]}]", [("PA006", 1, "ERROR")]),
        ("[{rabbit, [\n{consumer_timeout, undefined]}].", [("PA006", 2, "ERROR")]),
        ("[{rabbit, [{consumer_timeout, \"x}]}].", [("PA006", 1, "ERROR")]),
        ("[{rabbit, [{consumer_timeout, undefined}]}.", [("PA006", 1, "ERROR")]),
        ("[{rabbit, [{consumer_timeout, {{ t }}}]}", []),
        ("\ufeff[{rabbit, [{consumer_timeout, 45000}]}].\r\n", [("PA402", 1, "WARNING")]),
    ],
)  # fmt: skip
def test_advanced_config(text, expected):
    assert codes({"etc/advanced.config": text}) == expected
    assert codes({"rabbitmq.config": text}) == expected


def definitions(**parts):
    return json.dumps(parts, indent=1)


def queue(name, kind=None, **arguments):
    named = {key.replace("_", "-"): value for key, value in arguments.items()}
    return {"vhost": "/", "name": name, "arguments": named} | ({"type": kind} if kind else {})


def policy(name="p", pattern=".*", apply_to="queues", priority=0, **definition):
    named = {key.replace("_", "-"): value for key, value in definition.items()}
    return {
        "vhost": "/", "name": name, "pattern": pattern, "apply-to": apply_to,
        "priority": priority, "definition": named,
    }  # fmt: skip


def said(**parts):
    text = definitions(**parts)
    lines = text.splitlines()
    return [
        (one.finding.code, one.finding.subject, lines[one.place.line - 1].strip().rstrip(","))
        for one in lint_text({"definitions.json": text})
    ]


def test_timeouts_of_queues_and_policies():
    timeout = queue("q", x_consumer_timeout=30000)
    assert said(queues=[timeout]) == [
        ("PA402", "q: x-consumer-timeout", '"x-consumer-timeout": 30000')
    ]
    assert said(queues=[queue("q", x_consumer_timeout=600000)]) == []
    assert said(policies=[policy(consumer_timeout=100)]) == [
        ("PA402", "p: consumer-timeout", '"consumer-timeout": 100')
    ]
    assert said(policies=[policy(consumer_timeout=172800000)])[0][0] == "PA407"
    assert said(policies=[policy(consumer_timeout=600000)]) == []


@pytest.mark.parametrize(
    ("version", "kind", "expected"),
    [
        ("4.3.0", "classic", ["PA409"]),
        ("4.3.0", "stream", ["PA409"]),
        ("4.3.0", "quorum", []),
        ("4.3.0", None, []),
        ("4.2.9", "classic", []),
        ("3.12.0", "classic", []),
        ("3.11.28", "quorum", ["PA409"]),
        ("next", "classic", []),
    ],
)
def test_a_timeout_by_version_and_type(version, kind, expected):
    found = said(rabbit_version=version, queues=[queue("q", kind, x_consumer_timeout=600000)])
    assert [code for code, _, _ in found] == expected
    applied = {"classic": "classic_queues", "quorum": "quorum_queues", "stream": "streams"}
    one = policy(apply_to=applied.get(kind, "all"), consumer_timeout=600000)
    assert [code for code, _, _ in said(rabbit_version=version, policies=[one])] == expected


def test_priorities_on_a_quorum_queue():
    assert said(queues=[queue("q", "classic", x_queue_type="quorum", x_max_priority=5)]) == [
        ("PA410", "q", '"x-max-priority": 5')
    ]
    assert said(queues=[queue("q", "classic", x_max_priority=5)]) == []


WORK = queue("work", x_dead_letter_exchange="", x_dead_letter_routing_key="dead")
UNLIMITED = [("PA404", "dead", '"name": "dead"')]


def test_dead_letters_without_a_limit():
    assert said(queues=[WORK, queue("dead")]) == UNLIMITED
    for limit in ("x_max_length", "x_max_length_bytes", "x_message_ttl", "x_expires", "x_max_age"):
        assert said(queues=[WORK, queue("dead", **{limit: 1000})]) == []
    assert said(queues=[WORK, queue("other")]) == []
    assert said(queues=[WORK, {**queue("dead"), "vhost": "elsewhere"}]) == []


def test_dead_letters_by_policy_and_by_exchange():
    exchange = {"vhost": "/", "name": "dlx", "type": "fanout"}
    bound = {
        "vhost": "/", "source": "dlx", "destination": "dead", "destination_type": "queue",
        "routing_key": "k",
    }  # fmt: skip
    by_policy = policy(pattern="^work", dead_letter_exchange="dlx")
    parts = {"queues": [queue("work"), queue("dead")], "exchanges": [exchange], "bindings": [bound]}
    assert said(**parts, policies=[by_policy]) == UNLIMITED
    assert said(**parts, policies=[policy(pattern="^other", dead_letter_exchange="dlx")]) == []
    # the policy of the higher priority is the only one in force
    assert said(**parts, policies=[by_policy, policy(priority=5, ha_mode="all")]) == []
    direct = {**parts, "exchanges": [{**exchange, "type": "direct"}]}
    assert said(**direct, policies=[by_policy]) == []
    topic = {**parts, "exchanges": [{**exchange, "type": "topic"}]}
    assert said(**topic, policies=[by_policy]) == []
    assert said(**{**topic, "bindings": [{**bound, "routing_key": "#"}]}, policies=[by_policy]) == (
        UNLIMITED
    )
    keyed = policy(pattern="^work", dead_letter_exchange="dlx", dead_letter_routing_key="k")
    assert said(**direct, policies=[keyed]) == UNLIMITED


@pytest.mark.parametrize(
    "limiting",
    [
        policy(max_length=10),
        policy(pattern="^dead$", max_length_bytes=10),
        policy(apply_to="all", message_ttl=10),
        policy(pattern="(a+)+$", max_length=10),
        policy(pattern="(?<bad", max_length=10),
    ],
)
def test_a_policy_that_limits_or_may(limiting):
    limiting = {**limiting, "priority": -1}
    assert said(queues=[WORK, queue("dead")], policies=[limiting]) == []


@pytest.mark.parametrize(
    "other",
    [
        policy(pattern="^work$", max_length=10),
        policy(apply_to="exchanges", max_length=10),
        policy(expires_not=10),
        {**policy(max_length=10), "vhost": "elsewhere"},
    ],
)
def test_a_policy_that_does_not_limit(other):
    assert said(queues=[WORK, queue("dead", "classic")], policies=[other]) == UNLIMITED
    quorum = policy(apply_to="quorum_queues", max_length=10)
    assert said(queues=[WORK, queue("dead", "classic")], policies=[quorum]) == UNLIMITED


def test_policies_of_the_operator():
    value = {"pattern": "^dead", "apply-to": "queues", "definition": {"max-length": 9}}
    operator = {"component": "operator_policy", "vhost": "/", "name": "o", "value": value}
    assert said(queues=[WORK, queue("dead")], parameters=[operator]) == []
    text = definitions(queues=[WORK, queue("dead")])
    conf = "default_policies.operator.a.queue_pattern = ^de\ndefault_policies.operator.a.{} = 10\n"
    for key, expected in (("max_length", []), ("delivery_limit", ["PA404"])):
        files = {"definitions.json": text, "conf.d/a.conf": conf.replace("{}", key)}
        assert [code for code, _, _ in codes(files)] == expected


def test_what_is_no_buffer():
    delay = queue("wait", x_message_ttl=5, x_dead_letter_exchange="", x_dead_letter_routing_key="w")
    assert said(queues=[delay, queue("w")]) == []
    retry = queue("dead", x_dead_letter_exchange="", x_dead_letter_routing_key="work")
    assert said(queues=[WORK, retry]) == []
    no_key = queue("work", x_dead_letter_exchange="")
    assert said(queues=[no_key, queue("dead")]) == []
    component = (
        "kind: Component\nspec:\n  type: bindings.rabbitmq\n  metadata:\n"
        "  - {name: queueName, value: dead}\n  - {name: prefetchCount, value: 5}\n"
    )
    files = {"d.json": definitions(queues=[WORK, queue("dead")]), "c.yaml": component}
    assert codes(files) == []


def shovel(**value):
    named = {key.replace("_", "-"): one for key, one in value.items()}
    return {"component": "shovel", "vhost": "/", "name": "s", "value": named}


def test_a_queue_that_waits_for_another_broker():
    parts = {"queues": [queue("dead")]}
    away = shovel(
        src_uri="amqp://", src_queue="dead", dest_uri="amqps://far.example", dest_queue="d"
    )
    assert said(**parts, parameters=[away]) == UNLIMITED
    several = {**away, "value": {**away["value"], "dest-uri": ["amqp://a", "amqp://b"]}}
    assert said(**parts, parameters=[several]) == UNLIMITED
    near = shovel(src_uri="amqp://", src_queue="dead", dest_uri="amqp:///%2f", dest_queue="d")
    assert said(**parts, parameters=[near]) == []
    same = shovel(src_uri="amqp://h", src_queue="dead", dest_uri="amqp://h", dest_queue="d")
    assert said(**parts, parameters=[same]) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"queues": [{"name": "q", "arguments": {"x-a": 1,}}]}', 1),
        ('{"queues": [\n{"x-a": 01}]}', 2),
        ('{"queues": [\n{"x-a": tru}]}', 2),
        ('{"queues": [\n{"x-a": "\n"}]}', 2),
        ('{"queues": [\n{"x-a": "a\\x"}]}', 2),
        ('{"queues": [{"x-a": 1}]\n', 2),
        ('{"queues": [{"x-a": 1}]}\n}', 2),
        ('{"queues": [{"x-a": \'b\'}]}', 1),
        ('{"queues": ' + "[" * 5000 + '"x-a"', 1),
    ],
)
def test_what_is_no_json(text, line):
    assert codes({"definitions.json": text}) == [("PA006", line, "ERROR")]


@pytest.mark.parametrize(
    "text",
    [
        '["queues", "x-a"]',
        '{"queues": {"x-a": 1}}',
        '{"queues": [1, null, {"name": {"x-": 1}, "arguments": [1]}], "policies": 5}',
        '{"queues": "{{ queues }}", "x-a": {{ x }} }',
        '{"queues": [{"name": "a", "x-a": 1e999, "arguments": {"x-consumer-timeout": "10"}}]}',
        '{"policies": [{"definition": {"consumer-timeout": 1.5}, "x-": -0}]}',
    ],
)
def test_json_of_any_shape_says_nothing(text):
    assert codes({"definitions.json": text}) == []


def test_answers_of_the_api_are_no_definitions():
    for name in ("queues.json", "policies.json"):
        text = (CAPTURES / "3.10" / "api" / name).read_text()
        assert lint_text({name: text}) == []


def test_every_value_of_a_definitions_file():
    text = definitions(
        rabbitmq_version="4.1.2",
        queues=[queue("a\u20ac\ud83d\ude00", "quorum", x_single_active_consumer=True)],
        policies=[policy(max_length=5)],
    )
    (found,) = facts_in({"definitions.json": "\ufeff" + text.replace("\n", "\r\n")})
    assert isinstance(found, Definitions)
    (one,) = found.queues
    assert (found.version, one.name, one.type) == ((4, 1), "a\u20ac\U0001f600", "quorum")
    assert one.arguments["x-single-active-consumer"].text == "true"
    assert one.place.line == 1 + text[: text.index('"name": "a')].count("\n")
