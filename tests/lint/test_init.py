"""``init``: a settings file that lint takes, of its own keys or of what a broker shows."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from conftest import ROOT, Advise
from hypothesis import given, settings
from hypothesis import strategies as st
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
