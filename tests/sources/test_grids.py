"""Lists as CSV and as drawn tables agree with their JSON."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from conftest import CAPTURES
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources import InputOptions, read_inputs
from prefetch_advisor.sources.grids import drawn, is_csv, read_csv, read_drawn


def read(path: Path) -> list[Intake]:
    return read_inputs([str(path)], InputOptions())


def by_queue(intakes: list[Intake], what: str = "queues") -> dict[str, int]:
    """How many rows each queue has."""
    found: dict[str, int] = {}
    for intake in intakes:
        for row in getattr(intake, what):
            name = row.name if what == "queues" else row.queue
            found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.parametrize(
    ("form", "original", "what"),
    [
        ("4.3/ctl/list_queues_small.csv", "4.3/ctl/list_queues_small.json", "queues"),
        ("3.10/ctl/list_queues_small.csv", "3.10/ctl/list_queues_small.json", "queues"),
        ("4.3/ctl/list_consumers_no_pid.csv", "4.3/ctl/list_consumers_default.json", "consumers"),
        ("3.10/ctl/list_consumers_cols.csv", "3.10/ctl/list_consumers_cols.json", "consumers"),
        ("4.3/ctl/list_queues_vhost2.pretty_table", "4.3/ctl/list_queues_vhost2.json", "queues"),
        ("3.10/ctl/list_queues_vhost2.pretty_table", "3.10/ctl/list_queues_vhost2.json", "queues"),
        (
            "4.3/ctl/list_consumers_vhost2.pretty_table",
            "4.3/ctl/list_consumers_vhost2.json",
            "consumers",
        ),
    ],
)
def test_every_form_lists_what_its_json_lists(form, original, what):
    assert by_queue(read(CAPTURES / form), what) == by_queue(read(CAPTURES / original), what)


def test_rabbitmqadmin_of_both_versions_is_read_under_rabbitmqctls_names():
    (old,) = read(CAPTURES / "3.10/admin/list_queues_cols.table")
    (new,) = read(CAPTURES / "4.3/admin/queues_list.table")
    truth = {"sc.saturated", "sc.unbounded", "sc.quorum100", "sc.stalled"}
    for intake in (old, new):
        rows = {(row.vhost, row.name): row for row in intake.queues}
        assert {("/", name) for name in truth} <= rows.keys()
        assert rows["/", "sc.saturated"].consumers == 3
        assert rows["/", "sc.saturated"].unacked == 30
        assert (rows["/", "sc.saturated"].ready or 0) > 100
        # names that the table cannot carry are named as left out
        assert intake.bad_count == len([*intake.bad_rows]) > 0
    (consumers,) = read(CAPTURES / "4.3/admin/list_consumers.table")
    prefetch = {(c.queue, c.prefetch, c.ack) for c in consumers.consumers}
    assert ("sc.saturated", 10, "manual") in prefetch
    assert ("sc.autoack", 10, "auto") in prefetch


def test_consumers_without_their_queue_are_refused_with_the_column_to_ask_for():
    with pytest.raises(InputError, match=r"rabbitmqadmin: queue\.name"):
        read(CAPTURES / "3.10/admin/list_consumers.table")


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="|│\r\n\t\x1b", exclude_categories=["Cs"]),
    min_size=1,
    max_size=20,
).filter(lambda name: name.strip(" ") == name)
ROWS = st.lists(st.tuples(NAMES, st.integers(0, 10**9)), min_size=1, max_size=8)


@given(ROWS, st.sampled_from(["|", "│"]), st.integers(0, 3))
@settings(deadline=None, max_examples=100)
def test_what_is_drawn_is_read(rows, bar, padding):
    pad = " " * padding
    lines = [f"{bar} {pad}{name}{pad} {bar} {ready} {bar}" for name, ready in rows]
    rule = "+-----+----+" if bar == "|" else "├─────┼────┤"
    text = "\n".join([rule, f"{bar} name {bar} messages_ready {bar}", rule, *lines, rule])
    assert drawn(text)
    (intake,) = read_drawn(text, "t")
    assert [(row.name, row.ready) for row in intake.queues] == rows


@given(st.lists(st.tuples(st.text(min_size=1, max_size=20), st.integers(0, 10**9)), min_size=1))
@settings(deadline=None, max_examples=100)
@example([('a "b", c', 1), ("new\nline", 2), ("tab\t", 3)])
def test_any_name_survives_csv(rows):
    text = io.StringIO(newline="")
    out = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    out.writerow(["name", "messages_ready"])
    out.writerows(rows)
    assert is_csv(text.getvalue())
    (intake,) = read_csv(text.getvalue(), "t")
    assert [(row.name, row.ready) for row in intake.queues] == rows


def test_a_line_that_goes_on_below_a_row_that_is_cut_is_no_part_of_it():
    table = (
        "| name | arguments | messages |\n|---|---|---|\n| a | x: 1 | 3 |\n|  | y: true |  |\n"
        "| b |\n|  | z: 2 |  |\n"
    )
    (intake,) = read_drawn(table, "t")
    assert [(row.name, row.messages) for row in intake.queues] == [("a", 3)]
    assert [bad.line for bad in intake.bad_rows] == [5, 6]
