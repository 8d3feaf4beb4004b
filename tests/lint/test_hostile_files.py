"""No file of an application or a broker does anything but be read or refused."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from told import facts_in, lint_text

from prefetch_advisor.lint import facts_of, judge
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds import KINDS
from prefetch_advisor.model.lint import LintFinding

SPRING = """\
spring:
  profiles: prod
  rabbitmq.listener.simple: &s {prefetch: "${A:${B:5}}", concurrency: 3, batch-size: 9}
  cloud.stream.rabbit.bindings.a.consumer: {<<: *s, prefetch: 0}
---
"%dev": {mp.messaging.incoming.a: {connector: smallrye-rabbitmq}}
"""
#: a file of each kind that says much, by its name
SEEDS = {
    "application.yml": SPRING,
    "application-x.properties": (
        "spring.rabbitmq.listener.simple.prefetch=5\\\n0\n#---\nspring.profiles=a\n"
        '%{a,b}.mp.messaging.incoming."c".max-outstanding-messages=3\n!\\u0041'
    ),
    "dapr.yaml": (
        "kind: Component\nspec:\n  type: pubsub.rabbitmq\n  metadata:\n"
        "  - {name: prefetchCount, value: '300'}\n  - {name: autoAck, value: true}\n"
    ),
    "messenger.yaml": (
        "framework: {messenger: {transports: {a: 'amqp://h?prefetch_count=2',\n"
        " b: {dsn: 'amqp://h', options: {prefetch_count: 2, queues: {q: {prefetch_count: 1}}}}}}}\n"
    ),
    "telegraf.conf": (
        "[agent]\nmetric_buffer_limit = 5\n[[inputs.amqp_consumer]]\nqueue = 'a'\n"
        "prefetch_count = 10\nmax_undelivered_messages = 20\n"
    ),
    "logstash.conf": (
        'input { if [a] =~ /x/ { rabbitmq { queue => "a" codec => json { b => c }\n'
        " prefetch_count => 0 ack => false } } }\n"
    ),
    "nova.conf": "[oslo_messaging_rabbit]\nrabbit_qos_prefetch_count = 0\n",
    "rabbitmq.conf": (
        "consumer_timeout = 5 # x\ndefault_consumer_prefetch = 1\n"
        "default_policies.operator.a.max_length = 1\n"
    ),
    "advanced.config": (
        "[{rabbit, [{default_consumer_prefetch, {true, 5}}, {consumer_timeout, undefined},\n"
        " {permit_deprecated_features, #{global_qos => true}}]}]. % x\n"
    ),
    "definitions.json": (
        '{"rabbit_version": "4.3.1", "queues": [{"name": "a", "vhost": "/", "arguments":\n'
        '{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "b", "x-consumer-timeout": 5,'
        '"x-queue-type": "quorum", "x-max-priority": 3}}, {"name": "b", "vhost": "/"}],\n'
        '"policies": [{"pattern": "^a", "vhost": "/", "definition": {"consumer-timeout": 1}}],'
        '"bindings": [{}], "parameters": [{"component": "shovel", "value": {}}]}'
    ),
}
ODD = ["\t", "\r", "\n", "\ufeff", "\x00", "\udcff", "\u2028", "{", "}", "[", "]", '"', "'", "\\",
       "#", "%", "&a ", "*a", "<<: ", "${", "${A:", "{{", ": ", "=", "=>", ",", ".", "-", "0", "-1",
       "9" * 60, "null", "~", "é", "---\n", "<<", ">>", "#{", "/", "1e999",
       "!!python/x "]  # fmt: skip


def read(name: str, text: str, root) -> list[LintFinding]:
    """What every kind makes of a text, whether or not it would have taken it."""
    file = SourceFile(name, text, root / name)
    return list(judge([fact for kind in KINDS for fact in facts_of(file, [kind])]))


@st.composite
def spoilt(draw):
    """A seed with pieces cut out, put in twice, or replaced by what may hurt."""
    name = draw(st.sampled_from(sorted(SEEDS)))
    text = SEEDS[name]
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        middle = draw(
            st.one_of(st.sampled_from(ODD), st.just(text[start:end] * 2), st.text(max_size=4))
        )
        text = text[:start] + middle + text[end:]
    return name, text


#: those that are right, so far as the file alone tells
SILENT = {"application-x.properties"}


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_are_taken_and_say_something(name):
    assert facts_in({name: SEEDS[name]})
    assert bool(lint_text({name: SEEDS[name]})) is (name not in SILENT)


@settings(max_examples=600, deadline=None)
@given(spoilt())
def test_spoilt_files(tmp_path_factory, file):
    name, text = file
    lines = len(SourceFile(name, text, tmp_path_factory.getbasetemp()).lines)
    for found in read(name, text, tmp_path_factory.getbasetemp()):
        assert 1 <= found.place.line <= lines
        assert found.place.column >= 1


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(SEEDS)), st.binary(max_size=60), st.integers(0, 200))
def test_bytes_of_any_encoding(name, middle, at):
    data = SEEDS[name].encode("utf-8", "surrogateescape")
    lint_text({name: data[:at] + middle + data[at:]})
    lint_text({name: SEEDS[name].replace("\udcff", "").encode("utf-16")})


@pytest.mark.parametrize("name", SEEDS)
@pytest.mark.parametrize(
    "piece", ["{", "[", "(", '"', "${", "\\", "a\n", "<<", "a: &a\n", "://", "#{", "- "]
)
def test_long_and_deep_files_take_no_time(name, piece, tmp_path):
    # as many again take about twice the time; what grows with the square takes minutes
    start = time.perf_counter()
    read(name, SEEDS[name] + piece * 10_000, tmp_path)
    read(name, piece * 10_000 + SEEDS[name], tmp_path)
    assert time.perf_counter() - start < 5
