"""Declared queues and buffers: every key right and wrong, in TOML and INI, and its schema."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from importlib import resources

import jsonschema
import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from told import facts_in, lint_text

from prefetch_advisor.findings import RULES
from prefetch_advisor.lint import settings as lint_settings
from prefetch_advisor.lint.declared import Buffer, DeclaredQueue
from prefetch_advisor.lint.declared.keys import BUFFER, DEFAULTS, QUEUE, Key
from prefetch_advisor.lint.declared.schema import LINT, schema
from prefetch_advisor.model.lint import LintFinding, Located

OWN = "prefetch-advisor.toml"
TIMINGS = "processing_time_ms,rtt_ms\n" + "20,1\n" * 1_000
SCHEMA = jsonschema.Draft202012Validator(schema())

#: a value that means something, and one that does not with what is said of it
QUEUE_VALUES = {
    "name": ('"tasks"', "3", "expected a name, found 3"),
    "vhost": ('"orders"', '""', "expected a name, found ''"),
    "type": ('"quorum"', '"mirrored"', "expected classic, quorum or stream, found 'mirrored'"),
    "prefetch": ("10", "-1", "expected a whole number from 0 to"),
    "consumers": ("3", "0", "expected a whole number from 1 to 10,000"),
    "concurrency": ('"async"', '"threads"', "async or loop, found 'threads'"),
    "ack": ('"manual"', "true", "expected manual, auto or early, found true"),
    "processing-time": ('"20 ms"', "20", "expected a duration such as '20ms', found 20"),
    "cv": ("0.5", "-0.5", "expected a number from 0 to 100, found -0.5"),
    "timings": ('"times.csv"', "[]", "expected the name of a file, found a list"),
    "machines": ('{ a = "5ms", b = "6ms" }', '"5ms"', "expected a table with a value for each"),
    "rtt": ('"0s"', '"1 parsec"', "unknown unit 'parsec'"),
    "arrival-rate": ("180", '"180 per s"', "expected a rate such as 180/s"),
    "message-bytes": ('"20KiB"', '"0KB"', "expected a size from 1 byte"),
    "batch": ("1", "1.5", "expected a whole number from 1 to 65,535, found 1.5"),
    "consumer-timeout": ('"1h"', '"0s"', "expected a duration from 1ns to 365d"),
    "broker-version": ('"4.1.0-rc.2"', "4.1", "expected a version such as '4.1.0', found 4.1"),
    "single-active-consumer": ("true", '"yes"', "expected true or false, found 'yes'"),
    "priorities": ("5", "256", "expected a whole number from 0 to 255, found 256"),
    "global-qos": ("false", "0", "expected true or false, found 0"),
    "memory-budget": ('"256MB"', '"256MX"', "unknown unit"),
    "max-buffered-time": ('"0s"', "{}", "found a table"),
    "max-utilisation": ("1", "nan", "expected a number from 0.01 to 1, found nan"),
    "target-busy-share": ("0.95", "1", "expected a number from 0.01 to 0.9999"),
}
BUFFER_VALUES = {
    "name": ('"jobs"', '""', "expected a name"),
    "capacity": ("100", '"100"', "expected a whole number from 0 to"),
    "workers": ("10", "0", "expected a whole number from 1 to"),
    "claim-latency": ('"8ms"', '"8"', "expected a duration with its unit"),
    "batch": ("20", "0", "expected a whole number from 1 to"),
    "lease": ('"5min"', '"0s"', "expected a duration from 1ns to 365d"),
    "connections": ("12", "0", "expected a whole number from 1 to"),
    "shutdown-grace": ('"30s"', '"30"', "expected a duration with its unit"),
    "item-bytes": ('"20KB"', '"0KB"', "expected a size"),
    "memory-budget": ('"256MB"', '"much"', "expected a size"),
    "poll-interval": ('"0s"', '"-1s"', "expected a duration of 0 or more"),
    "processing-time": ('"200ms"', "inf", "expected a duration"),
}
#: out of a range that a pattern does not tell; a NaN, which JSON has not
BEYOND_A_SCHEMA = ('"0s"', '"0KB"', "nan")


def text(table: str, key: str, value: str) -> str:
    """A settings file whose line 4 is ``key = value``, or line 3 where that is the name."""
    head = "# what we know\n"
    name = "" if key == "name" else 'name = "tasks"\n'
    return f"{head}[[{table}]]\n{name}{key} = {value}\n# end\n"


def values(fact: object) -> dict[str, object]:
    """What a fact says, without where it says it."""
    found = {}
    for field in dataclasses.fields(fact):  # type: ignore[arg-type]
        value = getattr(fact, field.name)
        if isinstance(value, Located):
            found[field.name] = value.value
        elif isinstance(value, Mapping):
            found[field.name] = {name: each.value for name, each in value.items()}
    return found


ALL = [
    *(("queues", key, QUEUE_VALUES[key.name]) for key in QUEUE),
    *(("buffers", key, BUFFER_VALUES[key.name]) for key in BUFFER),
]
IDS = [f"{table}-{key.name}" for table, key, _ in ALL]


@pytest.mark.parametrize(("table", "key", "each"), ALL, ids=IDS)
def test_a_key_that_is_right_is_silent_and_one_that_is_wrong_is_told_where_it_stands(
    table, key, each
):
    right, wrong, words = each
    more = {"times.csv": TIMINGS}
    good = text(table, key.name, right)
    if key.name == "cv":
        good += 'processing-time = "1s"\n'
    assert lint_text({OWN: good, **more}) == []
    assert SCHEMA.is_valid(tomllib.loads(good))
    facts = [one for one in facts_in({OWN: good}) if isinstance(one, DeclaredQueue | Buffer)]
    assert len(facts) == 1
    assert getattr(facts[0], key.field) is not None

    (found,) = lint_text({OWN: text(table, key.name, wrong), **more})
    line = 3 if key.name == "name" else 4
    assert (found.finding.code, found.severity.name) == ("PA009", "ERROR")
    assert (found.place.line, found.place.column) == (line, len(key.name) + 4)
    assert words in found.finding.message
    valid = SCHEMA.is_valid(tomllib.loads(text(table, key.name, wrong)))
    assert valid is (wrong in BEYOND_A_SCHEMA)


def test_every_key_is_a_field_of_its_fact_and_is_tried_above():
    for keys, fact, tried in (
        (QUEUE, DeclaredQueue, QUEUE_VALUES),
        (BUFFER, Buffer, BUFFER_VALUES),
    ):
        fields = [field.name for field in dataclasses.fields(fact)]
        assert {key.field for key in keys} == set(fields) - {"place", "base"}
        assert [key.name for key in keys] == list(tried)


@pytest.mark.parametrize(
    ("written", "line", "column", "words"),
    [
        ("[[queue]]\nname = 'a'\n", 1, 1, "unknown table; did you mean queues?"),
        ("rtt = '5ms'\n", 1, 1, "it belongs to a queue, or to defaults"),
        ("[[queues]]\nname = 'a'\nprefetch_count = 1\n", 3, 1, "did you mean prefetch?"),
        ("[[queues]]\nname = 'a'\n  ack-mode = 'auto'\n", 3, 3, "did you mean ack?"),
        ("[[queues]]\nname = 'a'\nprocesing-time = 1\n", 3, 1, "did you mean processing-time?"),
        ("[[queues]]\nname = 'a'\nzzz = 1\n", 3, 1, "unknown key; known: name, vhost, type,"),
        ("[[queues]]\nprefetch = 1\n", 1, 1, "expected a name, found none"),
        ("\n[[queues]]\n", 2, 1, "expected a name, found none"),
        ("queues = 'a'\n", 1, 1, "expected [[queues]] for each, found 'a'"),
        ("[queues.a]\nprefetch = 1\n", 1, 1, "expected [[queues]] for each, found a table"),
        ("queues = [ 3 ]\n", 1, 12, "expected a table, found 3"),
        ("defaults = 3\n", 1, 12, "expected a table, found 3"),
        ("[defaults]\nname = 'a'\n", 2, 1, "unknown key"),
        ("[[queues]]\nname = 'a'\n[[queues]]\nname = 'a'\nvhost = '/'\n", 4, 8, "first on line 2"),
        ("[[buffers]]\nname = 'a'\n[[buffers]]\nname = 'a'\n", 4, 8, "declared twice"),
        ("[[queues]]\nname = 'a'\nprefetch = { m = 0.5 }\n", 3, 18, "expected a whole number"),
        ("[[queues]]\nname = 'a'\nprefetch = { m = 5 }\n", 3, 18, "no processing time for it"),
        ("[[queues]]\nname = 'a'\nprefetch = {}\n", 3, 12, "found an empty table"),
        (
            "[[queues]]\nname = 'a'\nprefetch = { m = 5 }\nmachines = { n = '1ms' }\n",
            3,
            18,
            "there are: n",
        ),
        (
            "[[queues]]\nname = 'a'\nprocessing-time = '1ms'\ntimings = 'times.csv'\n",
            4,
            11,
            "beside processing-time",
        ),
        ("[[queues]]\nname = 'a'\ncv = 1\n", 3, 6, "goes with processing-time"),
    ],
)
def test_what_means_nothing_is_told_once_and_where_it_stands(written, line, column, words):
    (found,) = lint_text({OWN: written, "times.csv": TIMINGS})
    assert (found.finding.code, found.place.line, found.place.column) == ("PA009", line, column)
    assert words in found.finding.message


def test_a_default_that_fits_only_some_queues_is_no_mistake():
    text = "[defaults]\nrtt = '5ms'\ncv = 1\n[[queues]]\nname = 'a'\nprefetch = 2\n"
    assert lint_text({OWN: text}) == []
    facts = facts_in({OWN: text + "processing-time = '1ms'\n"})
    assert values(facts[0])["cv"] == 1


def test_defaults_hold_for_queues_that_say_nothing_else():
    facts = facts_in(
        {
            OWN: "[defaults]\nrtt = '5ms'\nprocessing-time = '1ms'\ncv = 1\n"
            "[[queues]]\nname = 'a'\n"
            "[[queues]]\nname = 'b'\nrtt = '6ms'\nmachines = { m = '2ms' }\n"
        }
    )
    first, second = (values(fact) for fact in facts)
    assert first == {"name": "a", "rtt": 0.005, "processing_time": 0.001, "cv": 1}
    assert second == {"name": "b", "rtt": 0.006, "machines": {"m": 0.002}}
    assert facts[0].rtt.place.line == 2  # type: ignore[attr-defined]


INI = """\
[metadata]
name = app

[prefetch-advisor:defaults]
broker_version = 4.2.1
[prefetch-advisor:queues:tasks: urgent]
prefetch = fast = 11, slow = 2
machines =
    fast = 5ms
    slow = 50ms
consumers = 3
rtt = 50 ms
single-active-consumer = no
max_utilisation = 0.9
ack = manual
[prefetch-advisor:queues:mail]
concurrency = loop
arrival-rate = 1_000/s
message_bytes = 4096
batch = 2
[prefetch-advisor:buffers:jobs]
capacity = 100
lease = 5min
"""
TOML = """\
[tool.prefetch-advisor.defaults]
broker-version = "4.2.1"
[[tool.prefetch-advisor.queues]]
name = "tasks: urgent"
prefetch = { fast = 11, slow = 2 }
machines = { fast = "5ms", slow = "50ms" }
consumers = 3
rtt = "50 ms"
single-active-consumer = false
max-utilisation = 0.9
ack = "manual"
[[tool.prefetch-advisor.queues]]
name = "mail"
concurrency = "loop"
arrival-rate = "1_000/s"
message-bytes = 4096
batch = 2
[[tool.prefetch-advisor.buffers]]
name = "jobs"
capacity = 100
lease = "5min"
"""


def test_ini_and_toml_say_the_same():
    ini = [values(fact) for fact in facts_in({"setup.cfg": INI})]
    toml = [values(fact) for fact in facts_in({"pyproject.toml": TOML})]
    assert ini == toml
    assert ini[0]["prefetch"] == {"fast": 11, "slow": 2}
    assert ini[0]["single_active_consumer"] is False
    assert [len(each) for each in ini] == [9, 6, 3]


@pytest.mark.parametrize(("table", "key", "each"), ALL, ids=IDS)
def test_a_key_of_an_ini_file_is_checked_like_one_of_toml(table, key, each):
    right, wrong, _ = each
    if key.name == "name":
        return  # it is that of the section
    more = "processing-time = 1s\n" if key.name == "cv" else ""
    said = tomllib.loads(f"v = {right}")["v"]
    if isinstance(said, dict):
        said = ", ".join(f"{name} = {value}" for name, value in said.items())
    shown = str(said).lower() if isinstance(said, bool) else said
    (ini,) = facts_in(
        {"setup.cfg": f"[prefetch-advisor:{table}:tasks]\n{key.name} = {shown}\n{more}"}
    )
    toml = text(table, key.name, right) + ('processing-time = "1s"\n' if more else "")
    (same,) = facts_in({OWN: toml})
    assert values(ini) == values(same)

    # texts, which TOML tells from numbers and truths
    taken = {"ack": "yes", "broker-version": "4", "single-active-consumer": "perhaps"}
    taken |= {"arrival-rate": "180 per s", "capacity": "many", "timings": ""}
    shown = taken.get(key.name, wrong.strip('"'))
    found = facts_in({"setup.cfg": f"[prefetch-advisor:{table}:tasks]\n {key.name} = {shown}\n"})
    wrongs = [one for one in found if isinstance(one, LintFinding)]
    assert [(one.finding.code, one.place.line) for one in wrongs] == [("PA009", 2)]


def test_files_of_others_are_left_alone():
    assert lint_text({"pyproject.toml": "[tool.x]\nprefetch = 0\n"}) == []
    assert (
        lint_text({"setup.cfg": "[metadata]\nname = prefetch-advisor\n[prefetch]\nx = 1\n"}) == []
    )
    assert lint_text({OWN: ""}) == []


def test_the_schema_that_ships_is_that_of_the_tables():
    """Written anew by ``python -m prefetch_advisor.lint.declared``."""
    shipped = resources.files("prefetch_advisor") / "schemas" / "settings.schema.json"
    assert json.loads(shipped.read_text()) == schema()
    jsonschema.Draft202012Validator.check_schema(schema())
    assert list(LINT) == list(lint_settings.KEYS)


def test_examples_are_valid_by_the_schema():
    for keys, table in ((QUEUE, "queues"), (BUFFER, "buffers")):
        for key in keys:
            assert SCHEMA.is_valid({table: [{"name": "a", key.name: key.example}]}), key.name
    for key in DEFAULTS:
        assert SCHEMA.is_valid({"defaults": {key.name: key.example}})
    for rule in RULES:
        if rule.file == OWN:
            SCHEMA.validate(tomllib.loads(rule.good))
    for sample in sorted((ROOT / "samples" / "lint" / "good").rglob("*.toml")):
        SCHEMA.validate(tomllib.loads(sample.read_text()))


SCALARS = st.one_of(
    st.integers(-2, 70_000),
    st.floats(),
    st.booleans(),
    st.text(max_size=8),
    st.sampled_from(
        ["20ms", "1e999s", "9" * 5_000, "5/s", "1/fortnight", "20KB", "async", "quorum", "a = 1"]
    ),
    st.sampled_from(["early", "auto", "4.3", "  1 h ", "1_0ms", "_1ms", "1e3", "-1s", "٣ms", "."]),
)
RAW = st.recursive(
    SCALARS,
    lambda each: (
        st.lists(each, max_size=2) | st.dictionaries(st.text(max_size=3), each, max_size=2)
    ),
    max_leaves=4,
)


def keyed(keys: tuple[Key, ...]) -> st.SearchStrategy[dict[str, object]]:
    names = st.sampled_from([*(key.name for key in keys), "bogus", "broker_version"])
    return st.dictionaries(names, RAW, max_size=5).map(lambda table: {"name": "q", **table})


DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "queues": st.lists(keyed(QUEUE), max_size=3),
        "buffers": st.lists(keyed(BUFFER), max_size=2) | RAW,
        "defaults": keyed(DEFAULTS) | RAW,
    },
)


def written(value: object) -> str:
    """A value as TOML has it."""
    if isinstance(value, dict):
        parts = (f"{json.dumps(key)} = {written(each)}" for key, each in value.items())
        return f"{{ {', '.join(parts)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, float):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    return json.dumps(value)


@given(DOCUMENTS)
@settings(deadline=None, max_examples=200)
def test_any_settings_are_read_and_what_passes_is_valid(document):
    text = "".join(f"{key} = {written(value)}\n" for key, value in document.items())
    try:
        document = tomllib.loads(text)
    except ValueError:
        return  # JSON writes some characters as TOML does not
    found = lint_text({OWN: text})
    for one in found:
        assert one.place.line >= 1
        assert one.place.column >= 1
    if all(one.finding.code not in ("PA009", "PA006") for one in found):
        SCHEMA.validate(document)


@given(st.dictionaries(st.sampled_from([key.name for key in QUEUE]), st.text(max_size=12)))
@settings(deadline=None, max_examples=200)
def test_any_ini_is_read(table):
    body = "".join(f"{name} = {value}\n" for name, value in table.items())
    for one in lint_text({"setup.cfg": f"[prefetch-advisor:queues:a]\n{body}"}):
        assert one.place.line >= 1
