"""Spring Boot and Spring Cloud Stream: every form of their settings."""

from __future__ import annotations

import pytest
from told import facts_in, lint_text

from prefetch_advisor.model.lint import Consumer, LintFinding

SIMPLE = "spring.rabbitmq.listener.simple"
DIRECT = "spring.rabbitmq.listener.direct"


def consumers(files):
    if isinstance(files, str):
        files = {"application.yml": files}
    return [fact for fact in facts_in(files) if isinstance(fact, Consumer)]


def consumer(files):
    (one,) = consumers(files)
    return one


def value(located):
    return None if located is None else (located.value, located.place.line, located.certain)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("application.yml", "spring:\n rabbitmq:\n  listener:\n   simple:\n    prefetch: 50", 5),
        ("application.yaml", "spring.rabbitmq.listener:\n  simple.prefetch: 50\n", 2),
        ("application.yml", "spring:\n  rabbitmq.listener:\n    simple: {prefetch: '50'}\n", 3),
        ("application.yml", "spring.rabbitmq.listener.simple.pre_fetch: 50\n", 1),
        ("application.yml", "\ufeffspring.rabbitmq.listener.simple.prefetch: 50\r\n", 1),
        ("application.properties", f"# rabbit\n{SIMPLE}.prefetch=50\n", 2),
        ("application.properties", f"{SIMPLE}.prefetch : 50\r\n", 1),
        ("application.properties", f"{SIMPLE}.prefetch 50", 1),
        ("application.properties", f"a=b\n{SIMPLE}.pre\\\n   fetch = \\\n  50\n", 2),
        ("application.properties", "spring.rabbitmq.listener.simple.\\u0070refetch=50\n", 1),
        ("application.properties", "spring.rabbitmq.listener.SIMPLE.Prefetch=50\n", 1),
        ("src/main/resources/application-prod.yml", f"{SIMPLE}.prefetch: 50\n", 1),
        ("bootstrap.yml", f"{SIMPLE}.prefetch: 50\n", 1),
    ],
)  # fmt: skip
def test_every_form_of_a_prefetch(name, text, line):
    one = consumer({name: text})
    assert value(one.prefetch) == (50, line, True)
    assert one.client == "Spring AMQP"


def test_all_that_a_container_says():
    one = consumer(
        "spring:\n  rabbitmq:\n    listener:\n      type: simple\n      simple:\n"
        "        acknowledge-mode: none\n        prefetch: 20\n        concurrency: 3\n"
        "        max-concurrency: 10\n"
    )
    assert (one.ack.value, one.ack.place.line) == ("auto", 6)
    assert value(one.prefetch) == (20, 7, True)
    assert value(one.consumers) == (10, 9, True)
    ack = consumer(f"{SIMPLE}: {{acknowledgeMode: AUTO, concurrency: 2}}").ack
    assert ack.value == "manual"


def test_a_simple_container_asks_for_one_or_for_its_batch_at_least():
    assert value(consumer(f"{SIMPLE}.prefetch: 0").prefetch) == (1, 1, True)
    one = consumer(f"{SIMPLE}:\n  prefetch: 20\n  batch-size: 500\n  consumer-batch-enabled: true")
    assert value(one.prefetch) == (500, 2, True)
    assert one.prefetch.origin == "20 raised to the batch size"
    unknown = consumer(f"{SIMPLE}:\n  prefetch: 20\n  batch-size: ${{BATCH}}\n")
    assert unknown.prefetch is None


def test_a_direct_container_is_read_where_it_is_the_type():
    text = "spring.rabbitmq.listener:\n  type: direct\n  direct:\n    prefetch: 0\n"
    one = consumer(text + "    consumers-per-queue: 4\n")
    assert value(one.prefetch) == (0, 4, True)
    assert value(one.consumers) == (4, 5, True)
    unset = {"application.yml": "spring.rabbitmq.listener.direct.prefetch: 10\n"}
    assert consumers(unset) == []
    (found,) = lint_text(unset)
    assert (found.finding.code, found.place.line, found.severity.name) == ("PA365", 1, "INFO")
    settled = {**unset, "application-prod.yml": "spring.rabbitmq.listener.type: direct\n"}
    assert lint_text(settled) == []
    open_ = "spring.rabbitmq.listener:\n  type: ${KIND}\n  direct.prefetch: 10\n"
    assert facts_in({"application.yml": open_}) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${PREFETCH:250}", (250, 1, False)),
        ("${PREFETCH}", None),
        ("${PREFETCH:${OTHER:7}}", (7, 1, False)),
        ("${PREFETCH:}", None),
        ("${my.prefetch}", (9, 1, True)),
        ("${my.pre-fetch:1}", (9, 1, True)),
        ("${my.open:5}", None),
        ("1${ZEROS}", None),
        ("${A:1}${B:2}", None),
        ("#{2 * 5}", None),
        ("@prefetch@", None),
        ("ten", None),
        ("-1", None),
        ("9" * 30, None),
        ("", None),
        ("${self}", None),
    ],
)
def test_placeholders(text, expected):
    more = "my.prefetch=9\nmy.open=${ELSEWHERE}\nself=${self}\n"
    files = {"application.properties": f"{SIMPLE}.prefetch={text}\n{more}"}
    (one,) = consumers(files)
    assert value(one.prefetch) == expected


def test_what_is_imported_may_say_otherwise():
    direct = "spring.rabbitmq.listener:\n  type: direct\n  direct.prefetch: 0\n"
    (found,) = lint_text({"application.yml": direct})
    assert (found.finding.code, found.place.line, found.severity.name) == ("PA301", 3, "ERROR")
    for imports in ("spring.config.import: vault://", "spring.config.import: ['a.yml', 'b.yml']"):
        (found,) = lint_text({"application.yml": f"{direct}{imports}\n"})
        assert (found.finding.code, found.place.line, found.severity.name) == (
            "PA301",
            3,
            "WARNING",
        )


def test_a_default_of_a_placeholder_makes_no_error():
    for text, severity in (("0", "ERROR"), ("${my.prefetch}", "ERROR"), ("${N:0}", "WARNING")):
        lines = f"spring.rabbitmq.listener.type=direct\nmy.prefetch=0\n{DIRECT}.prefetch={text}\n"
        (found,) = lint_text({"application.properties": lines})
        assert (found.finding.code, found.place.line, found.severity.name) == ("PA301", 3, severity)


def test_documents_of_profiles_change_what_holds_always():
    text = (
        f"{SIMPLE}:\n  prefetch: 50\n  concurrency: 2\n---\n"
        "spring.config.activate.on-profile: prod, staging\n"
        f"{SIMPLE}.prefetch: 400\n---\n"
        f"spring:\n  profiles: [test]\n{SIMPLE}.concurrency: 1\n"
    )
    found = {one.subject: (one.prefetch.value, one.consumers.value) for one in consumers(text)}
    assert found == {
        "listener.simple": (50, 2),
        "listener.simple (profile prod)": (400, 2),
        "listener.simple (profile staging)": (400, 2),
        "listener.simple (profile test)": (50, 1),
    }


def test_documents_of_properties():
    text = (
        f"{SIMPLE}.prefetch=50\n#---\nspring.config.activate.on-profile=prod\n"
        f"{SIMPLE}.prefetch=60\n!---\nspring.profiles[0]=old\n{SIMPLE}.prefetch=70\n"
    )
    found = [one.prefetch.value for one in consumers({"application.properties": text})]
    assert found == [50, 70, 60]


def test_a_file_of_a_profile_stands_on_the_files_beside_it():
    files = {
        "app/application.yml": f"{SIMPLE}.acknowledge-mode: none\nx: rabbit\n",
        "app/application-prod.properties": f"{SIMPLE}.prefetch=50\n",
        "other/application-prod.yml": f"{SIMPLE}.prefetch: 60\n",
    }
    found = {(one.place.path, one.subject): one for one in consumers(files)}
    prod = found["app/application-prod.properties", "listener.simple (profile prod)"]
    assert (prod.ack.value, prod.ack.place.path) == ("auto", "app/application.yml")
    assert found["other/application-prod.yml", "listener.simple (profile prod)"].ack is None
    assert found["app/application.yml", "listener.simple"].prefetch is None
    assert len(found) == 3


def test_properties_win_over_yaml_beside_them():
    files = {
        "application.yml": f"{SIMPLE}:\n  prefetch: 10\n  concurrency: 2\n",
        "application.properties": f"{SIMPLE}.prefetch=20\n",
    }
    found = set(consumers(files))
    assert {one.prefetch.value for one in found} == {20}
    assert {one.consumers.value for one in found} == {2}


def test_anchors_and_merge_keys():
    text = (
        "x-base: &base\n  prefetch: 0\n  concurrency: 2\nspring:\n  rabbitmq:\n    listener:\n"
        "      type: direct\n      direct:\n        <<: *base\n        consumers-per-queue: 2\n"
    )
    assert value(consumer(text).prefetch) == (0, 2, True)


def test_a_key_that_is_there_twice_is_refused_as_spring_does():
    text = f"spring:\n  rabbitmq:\n    host: a\n  rabbitmq:\n    host: b\n{SIMPLE}.prefetch: 1\n"
    (found,) = lint_text({"application.yml": text})
    assert (found.finding.code, found.place.line) == ("PA006", 4)


BINDING = "spring.cloud.stream.rabbit.bindings.orders-in-0.consumer"


def test_bindings_of_the_binder():
    one = consumer(
        "spring.cloud.stream:\n  bindings:\n    orders-in-0:\n      destination: orders\n"
        "      group: billing\n      consumer:\n        concurrency: 4\n  rabbit:\n"
        "    default.consumer.acknowledge-mode: MANUAL\n    bindings:\n      orders-in-0:\n"
        "        consumer:\n          prefetch: 0\n"
    )
    assert (one.subject, one.client, one.queue) == (
        "orders-in-0", "Spring Cloud Stream", "orders.billing"
    )  # fmt: skip
    assert value(one.prefetch) == (1, 13, True)
    assert value(one.consumers) == (4, 7, True)
    assert one.ack.value == "manual"
    both = f"{BINDING}.max-concurrency: 2\n"
    both += "spring.cloud.stream.bindings.orders-in-0.consumer.concurrency: 3\n"
    assert value(consumer(both).consumers) == (3, 2, True)
    assert consumer(both.replace("3", "${N}")).consumers is None
    direct = consumer(f"{BINDING}:\n  container-type: direct\n  prefetch: 0\n")
    assert value(direct.prefetch) == (0, 3, True)
    assert consumers(f"{BINDING}: {{container-type: stream, prefetch: 5}}") == []
    assert consumers(f"{BINDING}.auto-bind-dlq: true") == []
    bracketed = "spring.cloud.stream.rabbit.bindings[orders-in-0].consumer.prefetch=5\n"
    assert consumer({"application.properties": bracketed}).subject == "orders-in-0"


def test_a_listeners_prefetch_is_not_that_of_bindings():
    text = f"{SIMPLE}.prefetch: 50\n{BINDING}.max-concurrency: 4\n"
    (found,) = lint_text({"application.yml": text})
    assert (found.finding.code, found.place.line, found.severity.name) == ("PA365", 1, "WARNING")
    assert lint_text({"application.yml": text + f"{BINDING}.prefetch: 50\n"}) == []
    default = "spring.cloud.stream.rabbit.default.consumer.prefetch: 50\n"
    assert lint_text({"application.yml": text + default}) == []
    for other in (f"{BINDING}.prefetch: 50\n", default):
        assert lint_text({"application.yml": text, "application-prod.yml": other}) == []
        document = f"{text}---\nspring.config.activate.on-profile: prod\n{other}"
        assert lint_text({"application.yml": document}) == []
    kafka = f"{SIMPLE}.prefetch: 50\nspring.cloud.stream.bindings.a.consumer.concurrency: 4\n"
    assert lint_text({"application.yml": kafka}) == []


@pytest.mark.parametrize(
    "text",
    [
        "spring:\n  rabbitmq:\n    host: {{ .Values.host }}\n",
        "{{- if .Values.rabbit }}\nspring.rabbitmq.listener.simple.prefetch: 0\n{{- end }}\n",
        "spring.rabbitmq.host: localhost\n",
        "spring: rabbit\n",
        "- rabbit\n",
        "rabbit\n",
        "spring.rabbitmq.listener.simple.prefetch: [1, 2]\n",
        "spring.rabbitmq.listener.simple.prefetch: !secret x\n",
        "rabbitmq:\n  prefetch: 0\n",
    ],
)
def test_what_is_not_known_says_nothing(text):
    assert lint_text({"application.yml": text}) == []
    assert all(one.prefetch is None for one in consumers(text))


def test_nothing_but_facts_and_findings():
    text = f"{SIMPLE}.prefetch: 50\n{BINDING}.max-concurrency: 4\n"
    assert {type(fact) for fact in facts_in({"application.yml": text})} == {Consumer, LintFinding}
