"""Consumers of any client, judged alone and with what settings know of their queue."""

from __future__ import annotations

from typing import Any

import pytest
from told import facts_in

from prefetch_advisor.lint.judges import consumers
from prefetch_advisor.model.lint import Consumer, LintFinding, Located, Place

OWN = "prefetch-advisor.toml"
SETTINGS = """\
[[queues]]
name = "mail"
processing-time = "0.5ms"
rtt = "5ms"
[[queues]]
name = "video"
type = "quorum"
processing-time = "10min"
rtt = "1ms"
[[queues]]
name = "thumbs"
machines = { new = "5ms", old = "80ms" }
rtt = "50ms"
[[queues]]
name = "twice"
processing-time = "0.5ms"
rtt = "5ms"
[[queues]]
name = "twice"
vhost = "other"
processing-time = "50ms"
rtt = "5ms"
"""


def at(value: Any, line: int = 7, **more: Any) -> Located[Any]:
    return Located(value, Place("app.yml", line, 5), **more)


def judged(**said: Any) -> list[LintFinding]:
    place = Place("app.yml", 2)
    return list(
        consumers.judge(
            [*facts_in({OWN: SETTINGS}), Consumer("worker", "Some client", place, **said)]
        )
    )


def codes(**said: Any) -> list[str]:
    return [found.finding.code for found in judged(**said)]


def test_what_a_consumer_says_of_itself_is_enough_for_some_rules():
    assert codes(prefetch=at(0)) == ["PA301"]
    assert codes(prefetch=at(10), ack=at("auto")) == ["PA302"]
    assert codes(prefetch=at(4), concurrency=at(8)) == ["PA319"]
    assert codes(prefetch=at(4), batch=at(4)) == ["PA320"]
    assert codes(prefetch=at(65_536)) == ["PA326"]
    assert codes(prefetch=at(10), ack=at("early")) == ["PA322"]
    assert codes(prefetch=at(10), concurrency=at(8), batch=at(4), ack=at("manual")) == []


def test_what_is_not_known_is_not_guessed():
    assert codes() == []
    assert codes(ack=at("auto")) == []  # how replies are read
    assert codes(concurrency=at(8), batch=at(9)) == []
    assert codes(queue="mail") == []


def test_a_finding_stands_at_the_value_that_is_wrong():
    (found,) = judged(prefetch=at(10, 4), ack=at("auto", 9))
    assert found.place == Place("app.yml", 9, 5)
    assert found.finding.subject == "worker"
    (found,) = judged(prefetch=at(4, 4), concurrency=at(8, 9))
    assert found.place == Place("app.yml", 4, 5)
    assert "concurrency 8 (line 9)" in found.finding.message


def test_an_error_rests_on_nothing_that_may_be_overridden():
    assert judged(prefetch=at(0))[0].severity.name == "ERROR"
    assert judged(prefetch=at(0, certain=False))[0].severity.name == "WARNING"
    (batch,) = judged(prefetch=at(4), batch=at(9))
    assert (batch.severity.name, "nothing is ever acked" in batch.finding.message) == (
        "WARNING",
        False,
    )


def test_a_prefetch_of_1_is_told_where_settings_call_the_queue_fast():
    (found,) = judged(queue="mail", prefetch=at(1))
    assert (found.finding.code, found.place.path) == ("PA303", "app.yml")
    assert f"processing-time 0.5 ms ({OWN}:3), rtt 5 ms ({OWN}:4)" in found.finding.message
    assert codes(queue="mail", prefetch=at(20)) == []
    assert codes(prefetch=at(1)) == codes(queue="other", prefetch=at(1)) == []


def test_a_large_prefetch_is_told_where_settings_call_the_queue_slow():
    found = judged(queue="video", prefetch=at(40, origin="4 x 10"), concurrency=at(10))
    assert {one.finding.code for one in found} == {"PA304", "PA309"}
    assert all("prefetch 40 (line 7, 4 x 10)" in one.finding.message for one in found)
    assert set(codes(queue="video", prefetch=at(40))) == {"PA304", "PA309"}
    assert codes(queue="video", prefetch=at(1)) == []
    assert codes(queue="video", prefetch=at(0)) == ["PA311"]


def test_one_number_for_machines_that_settings_call_unequal():
    assert codes(queue="thumbs", prefetch=at(5)) == ["PA313"]


@pytest.mark.parametrize("prefetch", [1, 5_000])
def test_a_name_of_two_queues_is_neither(prefetch):
    assert codes(queue="twice", prefetch=at(prefetch)) == []
