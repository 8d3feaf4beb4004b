"""rabbitmqadmin's formats kvp, long and tsv tell what its JSON of the same moment tells."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import CAPTURES, ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources import InputOptions, read_inputs

LISTS = ROOT / "tests" / "data" / "lists"
#: it looks like two columns
DOUBTFUL = 'a" vhost="b'


def read(path: Path) -> Intake:
    (intake,) = read_inputs([str(path)], InputOptions())
    return intake


def pasted(text: str) -> list[Intake]:
    return read_inputs(["-"], InputOptions(), io.BytesIO(text.encode()))


def depths(intake: Intake) -> list[object]:
    return [(q.vhost, q.name, q.ready, q.unacked, q.consumers) for q in intake.queues]


@pytest.mark.parametrize("form", ["kvp", "long"])
def test_every_queue_has_the_figures_of_its_json(form):
    found, expected = read(LISTS / f"v1_queues.{form}"), read(LISTS / "v1_queues.raw_json")
    assert {"café", "two  spaces", " lead", "trail ", "None", "key: value"} <= {
        row.name for row in found.queues
    }
    doubtful = [(row.line, row.found) for row in found.bad_rows]
    assert [line for line, _ in doubtful] == ([6] if form == "kvp" else [])
    known = [row for row in expected.queues if form == "long" or row.name != DOUBTFUL]
    assert depths(found) == depths(replace(expected, queues=tuple(known)))


@pytest.mark.parametrize("form", ["kvp", "long"])
def test_captured_queues_agree_with_their_json(form):
    found = read(CAPTURES / f"3.10/admin/list_queues.{form}")
    expected = read(CAPTURES / "3.10/admin/list_queues.raw_json")
    assert {(row.vhost, row.name) for row in found.queues} == {
        (row.vhost, row.name) for row in expected.queues
    }
    assert found.bad_count == 0
    stalled = next(row for row in found.queues if row.name == "sc.saturated")
    assert (stalled.unacked, stalled.consumers) == (30, 3)


def test_a_name_that_looks_like_a_column_is_told_by_the_other_rows():
    found, expected = read(LISTS / "v1_queues_deep.kvp"), read(LISTS / "v1_queues_deep.raw_json")
    assert found.bad_count == 0
    assert depths(found) == depths(expected)
    for one, other in zip(found.queues, expected.queues, strict=True):
        assert (one.type, one.state, one.messages) == (other.type, other.state, other.messages)
        # arguments are columns of their own
        assert one.settings == other.settings
    assert next(row for row in found.queues if row.name == "café").settings["max-length"] == 1001


@pytest.mark.parametrize(
    "name", ["v1_consumers.kvp", "v1_consumers.long", "v1_consumers_d2.kvp", "v1_consumers.tsv"]
)
def test_every_consumer_is_that_of_the_json(name):
    found, expected = read(LISTS / name), read(LISTS / "v1_consumers.raw_json")

    def told(intake):
        return sorted(
            (c.vhost, c.queue, c.tag, c.prefetch, c.ack, c.active, c.channel)
            for c in intake.consumers
        )

    left_out = [row for row in told(expected) if name.endswith(".tsv") and "\t" in row[1]]
    assert told(found) == [row for row in told(expected) if row not in left_out]
    assert found.bad_count == len(left_out)
    assert len(found.consumers) + len(left_out) == 23
    if "d2" in name:
        assert [c.priority for c in found.consumers if c.queue == "orders" and c.vhost == "/"] == [
            5
        ]


@pytest.mark.parametrize("form", ["kvp", "long"])
def test_channels_join_consumers_by_name(form):
    channels = read(LISTS / f"v1_channels.{form}").channels
    assert {row.channel for row in read(LISTS / f"v1_consumers.{form}").consumers} <= {
        row.id for row in channels
    }
    assert {row.prefetch for row in channels} >= {0, 7}


def test_without_names_of_queues_it_says_which_columns_are_missing():
    with pytest.raises(InputError, match=r"rabbitmqadmin: queue\.name.*found 'ack_required, act"):
        read(LISTS / "v1_consumers_d1.kvp")


def test_two_lists_below_their_prompts_are_two():
    text = (
        '$ rabbitmqadmin -f kvp list queues name messages\nname="a" messages="3"\n'
        '$ rabbitmqadmin -f kvp list consumers\nqueue.name="a" prefetch_count="7" active="True"\n'
        'queue.name="b" prefetch_count="x" active="True"\nqueue.name="c" prefe\n'
    )
    queues, consumers = pasted(text)
    assert [(row.name, row.messages) for row in queues.queues] == [("a", 3)]
    assert [(row.queue, row.prefetch) for row in consumers.consumers] == [("a", 7)]
    assert [bad.line for bad in consumers.bad_rows] == [6, 5]


ROWS = st.lists(
    st.tuples(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1),
        st.integers(0, 10**9),
    ),
    min_size=3,
    max_size=8,
)


@given(ROWS)
@settings(deadline=None, max_examples=100)
def test_a_name_is_read_whole_or_not_at_all(rows):
    rows += [("plain", 1), ("plainer", 2)]
    kvp = "\n".join(f'name="{name}" messages="{count}"' for name, count in rows)
    rule = "-" * 80
    long = f"\n{rule}\n\n" + f"\n{rule}\n\n".join(
        f"    name: {name}\nmessages: {count}\n" for name, count in rows
    )
    for text in (kvp, long):
        (intake,) = pasted(text)
        found = [(row.name, row.messages) for row in intake.queues]
        assert set(found) <= set(rows)
        assert len(found) + intake.bad_count == len(rows)
