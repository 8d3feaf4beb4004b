"""``init``: a settings file that lint takes, of its own keys or of what a broker shows."""

from __future__ import annotations

import json
import re
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT, Advise
from hypothesis import given, settings
from hypothesis import strategies as st
from rabbitmq_node import Node
from told import lint_text

from prefetch_advisor.lint.declared.keys import BUFFER, QUEUE
from prefetch_advisor.lint.declared.schema import schema
from prefetch_advisor.lint.declared.template import SeenQueue, template, toml

sys.path.insert(0, str(ROOT / "tests" / "sources"))
from captured_broker import CapturedBroker, serving_captures

OWN = "prefetch-advisor.toml"
VALIDATOR = jsonschema.Draft202012Validator(schema())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_file_says_nothing_until_somebody_does(cli: Advise, here: Path):
    done = cli("init")
    assert (done.code, done.out) == (0, "")
    assert "prefetch-advisor.toml written" in done.err
    text = (here / OWN).read_text()
    assert tomllib.loads(text) == {}
    assert max(map(len, text.splitlines())) <= 100
    done = cli("lint", "--format", "json")
    assert (done.code, json.loads(done.out)["findings"]) == (0, [])


def uncommented(text: str) -> str:
    """The file with every value said, and its remarks left as they are."""
    return re.sub(r"^# (?=\[|[a-z-]+ = )", "", text, flags=re.MULTILINE)


def test_every_value_that_is_written_as_an_example_is_right():
    text = uncommented(template())
    document = tomllib.loads(text)
    VALIDATOR.validate({**document, "queues": [{"name": "a"}]})
    (queue,), (buffer,) = document["queues"], document["buffers"]
    assert list(queue) == [key.name for key in QUEUE]
    assert list(buffer) == [key.name for key in BUFFER]
    # there are three ways to say how long a message takes, and one is to be chosen
    for said in ("processing-time", "timings", "machines"):
        others = {"processing-time", "timings", "machines", "cv"} - {said}
        lines = [line for line in text.splitlines() if line.partition(" =")[0] not in others]
        timings = "processing_time_ms\n" + "20\n" * 1_000
        found = lint_text({OWN: "\n".join(lines), "timings.csv": timings})
        assert [one for one in found if one.finding.code == "PA009"] == []


def test_a_file_that_is_there_is_never_replaced(cli: Advise, here: Path):
    (here / OWN).write_text("mine")
    done = cli("init")
    assert done.code == 2
    assert "is there already" in done.err
    assert (here / OWN).read_text() == "mine"
    (here / "gone.toml").symlink_to(here / "nowhere")
    assert cli("init", "-o", "gone.toml").code == 2
    assert not (here / "nowhere").exists()
    assert cli("init", "-o", "new.toml").code == 0
    assert cli("init", "-o", "no/such/directory.toml").code == 3
    done = cli("init", "-o", "-")
    assert (done.code, done.out) == (0, template())


def test_the_schema_can_be_written(cli: Advise, here: Path):
    assert json.loads(cli("init", "--schema").out) == schema()
    assert cli("init", "--schema", "-o", "s.json").code == 0
    assert json.loads((here / "s.json").read_text()) == schema()
    assert cli("init", "--schema", "--live", "management").code == 2


@pytest.mark.parametrize("arguments", [("-o", ""), ("-V", ""), ("-V", "/"), ("--window", "5s")])
def test_options_that_mean_nothing_are_refused(cli: Advise, here: Path, arguments):
    assert cli("init", *arguments).code == 2
    assert not (here / OWN).exists()


@pytest.mark.parametrize("version", ["3.10", "4.3"])
def test_a_brokers_queues_are_listed_with_what_it_shows(cli: Advise, here: Path, version):
    with serving_captures(CapturedBroker(version)) as broker:
        done = cli("init", "--live", "management", "-P", broker.port, "--timeout", 5)
        every = {(q["vhost"], q["name"]): q for q in broker.queues}
        consumers = broker.consumers
    assert (done.code, done.out) == (0, "")
    text = (here / OWN).read_text()
    document = tomllib.loads(text)
    VALIDATOR.validate(document)
    assert document["defaults"]["broker-version"].startswith(version)
    listed = {(q.get("vhost", "/"), q["name"]): q for q in document["queues"]}
    read = {(c["queue"]["vhost"], c["queue"]["name"]) for c in consumers}
    assert listed.keys() <= read
    assert len(listed) >= len(read) / 2
    for key, queue in listed.items():
        own = [c for c in consumers if (c["queue"]["vhost"], c["queue"]["name"]) == key]
        assert queue["type"] == every[key].get("type", "classic")
        assert queue["consumers"] == len(own)
        if queue.get("global-qos"):
            continue
        assert queue["prefetch"] in {c["prefetch_count"] for c in own}
    left_out = len(every) - len(listed)
    counts = [int(n) for n in re.findall(r"Left out: (\d+) queue", text)]
    assert sum(counts) == left_out
    # nothing is invented: what is found is what the broker shows to be wrong
    found = lint_text({OWN: text})
    assert found
    allowed = {"PA301", "PA302", "PA310", "PA311", "PA312", "PA317", "PA309", "PA321"}
    assert {one.finding.code for one in found} <= allowed
    unlimited = [key for key, q in listed.items() if q.get("prefetch") == 0]
    assert sum(one.finding.code in ("PA301", "PA311", "PA302") for one in found) >= len(unlimited)


def test_one_vhost_can_be_asked_for(cli: Advise, here: Path):
    with serving_captures(CapturedBroker("4.3")) as broker:
        done = cli("init", "-P", broker.port, "-V", "a/b c", "-o", "-")
    document = tomllib.loads(done.out)
    assert {queue["vhost"] for queue in document["queues"]} == {"a/b c"}


def test_a_broker_that_is_not_there_leaves_no_file(cli: Advise, here: Path):
    done = cli("init", "--live", "management", "-P", 1, "-p", "s3cret", "--timeout", 2)
    assert done.code == 3
    assert "s3cret" not in done.err
    assert not (here / OWN).exists()


@given(st.text())
@settings(deadline=None, max_examples=300)
def test_any_name_is_a_text_of_toml(name):
    try:
        name.encode()
    except UnicodeEncodeError:
        return
    assert tomllib.loads(f"k = {toml(name)}")["k"] == name
    line = toml({name: [name, True, 1.5]})
    assert line.isprintable()
    assert tomllib.loads(f"k = {line}")["k"] == {name: [name, True, 1.5]}


def test_hostile_names_stay_names():
    names = ['"]\nprefetch = 0 # ', "\x1b[31m\u202e", "a'b\\", "[[queues]]", "\u2028", "\x7f"]
    seen = [SeenQueue({"name": name, "vhost": name, "prefetch": 10}) for name in names]
    document = tomllib.loads(template(seen))
    assert [queue["name"] for queue in document["queues"]] == names
    assert lint_text({OWN: template(seen)}) == []


@pytest.fixture
def consumed(broker: Node) -> Iterator[Node]:
    """The node with queues of each kind, read by consumers of a connection of its own."""
    pika = pytest.importorskip("pika")
    where = pika.ConnectionParameters("127.0.0.1", broker.ports.amqp)
    consumed_names = set()
    with pika.BlockingConnection(where) as connection:

        def consume(name: str, prefetch: int, **more: Any) -> None:
            consumed_names.add(name)
            channel = connection.channel()
            arguments = more.pop("arguments", {})
            channel.queue_declare(name, durable=True, arguments=arguments)
            channel.basic_qos(prefetch_count=prefetch, global_qos=more.pop("shared", False))
            channel.basic_consume(name, lambda *_: None, **more)

        consume("init-plain", 7)
        consume("init-plain", 9)
        consume("init-unlimited", 0)
        consume("init-auto", 5, auto_ack=True)
        consume("init-shared", 5, shared=True)
        consume("init-single", 2, arguments={"x-single-active-consumer": True})
        consume("init-levels", 2, arguments={"x-max-priority": 5})
        consume("init-quorum", 0, arguments={"x-queue-type": "quorum"})
        consume('init-"] # \\', 3)
        yield broker
    # first the consumers: the API goes on listing those of a quorum queue that is gone
    with pika.BlockingConnection(where) as connection:
        for name in consumed_names:
            connection.channel().queue_delete(name)


@pytest.mark.broker
@pytest.mark.parametrize("kind", ["management", "rabbitmqctl"])
def test_a_running_broker_is_written_down_as_it_is(cli: Advise, here: Path, consumed: Node, kind):
    program = here / "rabbitmqctl"
    exports = "".join(f"export {key}='{value}'\n" for key, value in consumed.environment.items())
    program.write_text(f'#!/bin/sh\n{exports}exec "{consumed.programs}/rabbitmqctl" "$@"\n')
    program.chmod(0o755)
    asked = ("--rabbitmqctl", program, "--window", "0s") if kind == "rabbitmqctl" else ()
    for _ in range(20):  # the API shows them after its next look
        done = cli("init", "--live", kind, "-P", consumed.ports.management, *asked, "-o", "-")
        assert done.code == 0, done.err
        found = {queue["name"]: queue for queue in tomllib.loads(done.out).get("queues", ())}
        if len(found) >= 8 and found["init-plain"].get("consumers") == 2:
            break
        time.sleep(0.5)
    common = {"type": "classic", "consumers": 1, "ack": "manual"}
    assert found["init-unlimited"] == {"name": "init-unlimited", "prefetch": 0, **common}
    assert found["init-plain"] == {**common, "name": "init-plain", "prefetch": 9, "consumers": 2}
    assert "# Its consumers differ: their prefetch is 7, 9." in done.out
    assert found["init-auto"]["ack"] == "auto"
    assert found["init-shared"] == {
        **common,
        "name": "init-shared",
        "prefetch": 5,
        "global-qos": True,
    }
    assert found["init-single"]["single-active-consumer"] is True
    assert found["init-levels"]["priorities"] == 5
    assert found["init-quorum"] == {
        **common,
        "name": "init-quorum",
        "type": "quorum",
        "prefetch": 0,
    }
    assert found['init-"] # \\']["prefetch"] == 3
    lines = done.out.splitlines()
    told = {
        (tomllib.loads(_table_before(lines, one.place.line))["name"], one.finding.code)
        for one in lint_text({OWN: done.out})
    }
    assert told == {
        ("init-unlimited", "PA301"),
        ("init-auto", "PA302"),
        ("init-shared", "PA310"),
        ("init-quorum", "PA311"),
    }


def _table_before(lines: list[str], number: int) -> str:
    start = max(i for i in range(number) if lines[i] == "[[queues]]")
    return "\n".join(lines[start + 1 : number])
