"""Consumers of queues that are gone are left out, and those of queues not looked at are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources.combine import Fleet, combine
from prefetch_advisor.sources.json_documents import read_json

GONE = "prefetch-advisor.probe.5f07b904a29ff8f2"


def consumer(queue: str, channel: str | None, vhost: str = "/") -> dict[str, Any]:
    """As a broker of 3.10 lists it; of a quorum queue that was deleted, for half a minute."""
    details: Any = [] if channel is None else {"name": channel, "connection_name": "c"}
    return {
        "arguments": {},
        "ack_required": True,
        "active": True,
        "activity_status": "up",
        "channel_details": details,
        "consumer_tag": "ctag1.722df7b53d2f48c08ea98b8a9e8bdd6e",
        "exclusive": False,
        "prefetch_count": 1,
        "queue": {"name": queue, "vhost": vhost},
    }


def row(name: str, vhost: str = "/") -> dict[str, Any]:
    return {"name": name, "vhost": vhost, "type": "quorum", "durable": True, "messages": 0}


def page(rows: list[dict[str, Any]], **changes: int) -> dict[str, Any]:
    counts = {"filtered_count": len(rows), "total_count": len(rows), "page_count": 1}
    return {
        "items": rows,
        "item_count": len(rows),
        "page": 1,
        "page_size": 100,
        **counts,
        **changes,
    }


def fleet(*documents: object) -> Fleet:
    intakes: list[Intake] = []
    for number, document in enumerate(documents):
        intakes += read_json(json.dumps(document), f"{number}.json")
    return combine(intakes)


def names(found: Fleet) -> set[str]:
    return {one.key.name for one in found.queues}


HERE, THERE = row("tasks"), consumer("tasks", "c (1)")


@pytest.mark.parametrize("queues", [[HERE], page([HERE])], ids=["list", "only page"])
def test_a_consumer_without_a_channel_of_a_queue_that_is_gone_is_left_out_and_told(queues):
    found = fleet(queues, [THERE, consumer(GONE, None), consumer(GONE, None)])
    assert names(found) == {"tasks"}
    assert found.notes == (f"2 consumers left out: '{GONE}' is not in the list of queues any more",)


def test_where_its_vhost_is_not_listed_or_its_channel_is_there_the_consumer_is_kept():
    elsewhere = fleet([row("tasks", "other")], [THERE, consumer(GONE, None)])
    assert names(elsewhere) == {"tasks", GONE}
    assert not elsewhere.notes
    assert names(fleet([HERE], [THERE, consumer(GONE, "c (1)")])) == {"tasks", GONE}


def test_a_queue_that_an_earlier_list_shows_keeps_its_consumers():
    found = fleet([HERE, row(GONE)], [THERE, consumer(GONE, None)], [HERE])
    assert names(found) == {"tasks", GONE}
