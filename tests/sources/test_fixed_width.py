"""rabbitmqadmin v2 without names of columns, and in styles that are told by place."""

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


def read(path: Path) -> Intake:
    (intake,) = read_inputs([str(path)], InputOptions())
    return intake


def pasted(text: str) -> Intake:
    (intake,) = read_inputs(["-"], InputOptions(), io.BytesIO(text.encode()))
    return intake


@pytest.mark.parametrize("what", ["queues", "channels"])
@pytest.mark.parametrize("form", [".txt", "_psql.table", "_dots.table", "_borderless.table"])
def test_every_style_tells_what_the_drawn_table_tells(what, form):
    """Names of wide characters, accents, escapes, bars, colons and double blanks among them."""
    drawn, found = read(LISTS / f"v2_{what}.table"), read(LISTS / f"v2_{what}{form}")

    def rows(intake):
        # blanks around a name are the table's where lines are drawn
        return [
            replace(row, where="", **({"name": row.name.strip()} if what == "queues" else {}))
            for row in getattr(intake, what)
        ]

    assert rows(found) == rows(drawn)
    assert drawn.bad_count == found.bad_count == 0
    if what == "queues":
        names = {row.name for row in found.queues}
        assert {
            "café",
            "日本",
            "emoji 🐇",
            "a|b",
            "two  spaces",
            "tab\there",
            "key: value",
        } <= names


def test_arguments_of_several_lines_are_those_of_the_json():
    api = read(LISTS / "v1_queues_deep.raw_json")
    of_json = {row.name: row.settings for row in api.queues if row.vhost == "/"}
    for form in (".txt", ".table", "_psql.table"):
        for row in read(LISTS / f"v2_queues{form}").queues:
            if row.name in ("café", "Übergröße", "quorum"):
                assert row.settings == of_json[row.name]


@pytest.mark.parametrize(
    ("name", "drawn", "what"),
    [
        ("queues_list_non_interactive", "queues_list", "queues"),
        ("list_consumers_non_interactive", "list_consumers", "consumers"),
    ],
)
def test_captured_lists_agree_with_the_drawn_ones(name, drawn, what):
    found = read(CAPTURES / f"4.3/admin/{name}.txt")
    other = read(CAPTURES / f"4.3/admin/{drawn}.table")
    # a queue called " " cannot be told from none
    assert found.bad_count == 1
    if what == "queues":
        told = [{(q.vhost, q.name, q.type, q.consumers) for q in i.queues} for i in (found, other)]
    else:
        told = [
            {(c.vhost, c.queue, c.tag, c.prefetch, c.ack, c.active) for c in i.consumers}
            for i in (found, other)
        ]
    assert told[0] == told[1]
    assert "漢字キュー" in str(told[0])


def test_without_blanks_at_the_ends_of_lines_it_is_read_too():
    path = LISTS / "v2_channels.txt"
    stripped = "\n".join(line.rstrip() for line in path.read_text("utf-8").split("\n"))
    assert [replace(row, where="") for row in pasted(stripped).channels] == [
        replace(row, where="") for row in read(path).channels
    ]


@pytest.mark.parametrize("name", ["v2_queues_cols.txt", "v2_connections.txt"])
def test_columns_that_cannot_be_told_say_which_option_to_leave_out(name):
    with pytest.raises(InputError, match=r"cannot be told for certain.*without --non-interactive"):
        read(LISTS / name)


def test_a_row_that_is_out_of_place_is_a_bad_row():
    lines = (LISTS / "v2_channels.txt").read_text("utf-8").split("\n")
    lines[3] = "x" + lines[3]
    intake = pasted("\n".join(lines))
    assert len(intake.channels) == 23
    assert [bad.line for bad in intake.bad_rows] == [4]


WIDE = "漢字キュー한글"
NAMES = st.text(st.sampled_from("abc-_.:|é" + WIDE), min_size=1, max_size=20)


@given(st.lists(st.tuples(NAMES, st.integers(0, 10**6)), min_size=1, max_size=6))
@settings(deadline=None, max_examples=60)
def test_what_is_laid_out_is_read(rows):
    def padded(cells):
        places = [len(cell) + sum(character in WIDE for character in cell) for cell in cells]
        return [cell + " " * (max(places) - n + 2) for cell, n in zip(cells, places, strict=True)]

    columns = (
        ["1"] * len(rows),
        [name for name, _ in rows],
        ["/"] * len(rows),
        ["running"] * len(rows),
        ["1"] * len(rows),
        ["false"] * len(rows),
        [str(count) for _, count in rows],
        [str(count) for _, count in rows],
        ["0"] * len(rows),
    )
    text = "\n".join("".join(row)[:-1] for row in zip(*map(padded, columns), strict=True))
    assert [(row.id, row.unacked) for row in pasted(f"{text}\n").channels] == rows
