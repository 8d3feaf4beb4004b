"""A history counts from when the broker looked at the queue for the second time, and no earlier."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented import NOW, SAMPLES, STEP, queue, steady

from prefetch_advisor.model.observation import QueueRow
from prefetch_advisor.sources.combine import combine
from prefetch_advisor.sources.json_documents import read_json


def work(*done: int, step: int = STEP) -> dict[str, Any]:
    """The history of what a queue's process did, as the broker prints it: newest first."""
    last = len(done) - 1
    samples = [
        {"sample": value, "timestamp": NOW - (last - i) * step * 1000}
        for i, value in enumerate(done)
    ]
    return {"rate": 0.0, "samples": samples[::-1]}


def looked(*done: int) -> dict[str, Any]:
    """... after zeros for the rest of the minute."""
    return work(*[0] * (SAMPLES - len(done)), *done)


def row_of(*rows: dict[str, Any], **more: list[dict[str, Any]]) -> QueueRow:
    intakes = [one for row in rows for one in read_json(json.dumps([row]), "queues")]
    intakes += [one for name, rest in more.items() for one in read_json(json.dumps(rest), name)]
    (observation,) = combine(intakes).queues
    assert observation.row is not None
    return observation.row


def spans(row: QueueRow) -> tuple[int, int]:
    return len(row.lengths), len(row.traffic)


@pytest.mark.parametrize(
    "details",
    [
        {"reductions": 0},
        {"reductions": 0, "reductions_details": looked()},
        {"reductions": 6217, "reductions_details": looked(6217)},
        # the first look, shown three times over
        {"reductions": 6217, "reductions_details": looked(6217, 6217)},
    ],
    ids=["no history", "none", "one", "one, repeated"],
)
def test_a_queue_that_was_not_looked_at_twice_has_no_figures(details):
    counts = {"ack": steady(0), "publish": lambda i: 200 * (i == 12)}
    row = row_of({**queue(steady(0), steady(0), consumers=0, **counts), **details})
    assert row.young
    assert (row.ready, row.unacked, row.consumers, row.has_stats) == (None, None, None, False)
    assert spans(row) == (0, 0)
    # or those of now, where they cannot be those of its declaration
    row = row_of({**queue(lambda i: 9 * (i == 12), steady(0), **counts), **details})
    assert (row.young, row.ready, spans(row), row.rates) == (True, 9, (1, 0), None)


def test_from_the_second_look_on_figures_count():
    zeros = queue(steady(0), steady(0), ack=steady(0), publish=steady(0))
    row = row_of({**zeros, "reductions": 89, "reductions_details": looked(62, 71, 89)})
    assert not row.young
    assert spans(row) == (2, 2)
    assert row.known_since == NOW / 1000 - 2 * STEP
    # a queue that rests does no work, and is looked at all the same
    row = row_of({**zeros, "reductions": 62, "reductions_details": looked(62, 62, 62)})
    assert (row.young, spans(row)) == (False, (2, 2))


def test_counts_of_the_first_look_serve_where_every_counter_had_begun():
    def shown(acked: int) -> QueueRow:
        acks = [0] * 10 + [acked, 750, 1500]
        counts = {"publish": lambda i: 900 * max(0, i - 9), "ack": lambda i: acks[i]}
        one = queue(steady(9), steady(3), deliver=counts["ack"], **counts)
        return row_of({**one, "reductions": 89, "reductions_details": looked(62, 71, 89)})

    assert spans(shown(acked=40)) == (2, 3)
    assert spans(shown(acked=0)) == (2, 2)


@pytest.mark.parametrize("kind", ["classic", "stream"])
def test_an_older_queue_keeps_its_history(kind):
    row = queue(steady(0), steady(0), ack=steady(0), type=kind)
    done = work(*range(1, SAMPLES + 1)) if kind == "classic" else looked()
    assert spans(row_of({**row, "reductions_details": done, "reductions": 0})) == (13, 13)


def test_a_queue_whose_process_is_not_counted_is_not_young():
    assert spans(row_of({**queue(ack=steady(9)), "reductions": 0})) == (13, 13)


def test_another_queue_of_the_same_name_lends_the_new_one_nothing():
    old, new = (
        queue(steady(70), steady(30), ack=steady(9)),
        queue(steady(0), steady(0), consumers=0),
    )
    row = row_of(old, {**new, "reductions": 0, "reductions_details": looked()})
    assert (row.young, row.ready, row.traffic) == (True, None, ())


def test_what_the_history_of_the_work_says_wrong_is_told_and_does_not_stop_the_rest():
    for wrong in ("x", {"samples": "x"}, {"samples": [{"sample": 0}]}, {"samples": [5]}):
        row = row_of({**queue(ack=steady(9)), "reductions_details": wrong})
        assert spans(row) == (13, 13)


@given(padding=st.integers(1, 11), done=st.lists(st.integers(1, 10**9), min_size=2, max_size=12))
@settings(deadline=None, max_examples=60)
def test_nothing_from_before_the_second_look_is_left(padding, done):
    history = work(*[0] * padding, *done)
    depths = queue(steady(3), steady(2), ack=steady(0), samples=padding + len(done))
    row = row_of({**depths, "reductions": done[-1], "reductions_details": history})
    first = NOW / 1000 - (len(done) - 1) * STEP
    assert all(s.at is not None and s.at > first for s in (*row.lengths, *row.traffic))
    assert row.known_since == first


NODE = {"name": "rabbit@a", "running": True, "mem_alarm": False, "uptime": 22_000}


def test_nothing_counts_from_before_the_node_was_started():
    stream = queue(steady(0), steady(0), ack=steady(0), type="stream")
    row = row_of(stream, nodes=[NODE])
    assert spans(row) == (5, 5)
    assert row.known_since == NOW / 1000 - 22
    assert spans(row_of(stream, nodes=[{**NODE, "name": "rabbit@b"}])) == (13, 13)
    assert spans(row_of(stream, nodes=[{**NODE, "uptime": 3_600_000}])) == (13, 13)
    assert spans(row_of(stream, nodes=[{**NODE, "uptime": "soon"}])) == (13, 13)


def test_an_uptime_of_another_time_is_not_believed():
    older = queue(lambda i: 5 if i < 4 else 0, steady(0), ack=steady(0), type="stream")
    assert spans(row_of(older, nodes=[NODE])) == (13, 13)
