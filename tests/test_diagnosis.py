"""Verdicts and advice for invented queues, each the neighbour of one that is judged otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from invented import (
    NOW,
    SAMPLES,
    STEP,
    channel,
    connection,
    consumer,
    per_second,
    queue,
    steady,
)

THREE = [consumer(10, place) for place in range(3)]
WORK = ("--processing-time", "20ms")
#: 3 consumers x 10, 20 ms each, 180/s arrive
BUSY = {"ack": per_second(150), "publish": per_second(180)}


@pytest.fixture
def judge(advise, tmp_path: Path):
    def run(
        one: dict[str, Any] | list[dict[str, Any]],
        consumers: list[dict[str, Any]],
        *options: str,
        channels: list[dict[str, Any]] | None = None,
        connections: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        lists = {
            "queues": one if isinstance(one, list) else [one],
            "consumers": consumers,
            "channels": channels,
            "connections": connections,
        }
        files = []
        for name, rows in lists.items():
            if rows:
                file = tmp_path / f"{name}.json"
                file.write_text(json.dumps(rows))
                files.append(file)
        return advise(*files, "--queue", "q", *options).only

    return run


def names(advice: dict[str, Any]) -> set[str]:
    return {finding["name"] for finding in advice["findings"]}


@pytest.mark.parametrize(
    ("full", "verdict", "confidence"),
    [
        (13, "processing-bound", "high"),
        (12, "processing-bound", "low"),
        (11, "keeping-up", "low"),
        (6, "delivery-limited", "high"),
    ],
)
def test_nine_samples_of_ten_must_be_full(judge, full, verdict, confidence):
    one = queue(unacked=lambda i: 30 if i < full else 20, **BUSY)
    advice = judge(one, THREE, "--rtt", "1ms")
    assert (advice["verdict"], advice["confidence"]) == (verdict, confidence)


def test_98_of_100_is_full_and_97_is_not(judge):
    two = [consumer(50, place) for place in range(2)]
    for held, verdict in ((98, "processing-bound"), (97, "delivery-limited")):
        advice = judge(queue(unacked=steady(held), consumers=2, **BUSY), two)
        assert advice["verdict"] == verdict


def test_a_processing_time_that_is_not_this_queues_advises_no_number(judge):
    short = judge(queue(**BUSY), THREE, "--processing-time", "2ms", "--rtt", "1ms")
    assert (short["verdict"], short["confidence"]) == ("round-trip-bound", "low")
    assert "acks-held-by-client" in names(short)
    assert short["recommended"]["prefetch"] is None
    assert short["recommended"]["consumers"] is None
    assert "settle that first" in short["recommended"]["reason"]
    long = judge(queue(**BUSY), THREE, "--processing-time", "200ms")
    assert "inconsistent-input" in names(long)
    assert long["confidence"] == "low"


def test_a_round_trip_longer_than_the_cycle_is_a_contradiction(judge):
    advice = judge(queue(**BUSY), THREE, "--rtt", "300ms")
    assert "inconsistent-input" in names(advice)
    assert advice["verdict"] == "processing-bound"
    assert advice["recommended"]["prefetch"] is None


@pytest.mark.parametrize(
    ("prefetch", "rtt", "confidence", "least", "longer"),
    [
        (1, "2ms", "high", None, ""),
        (1, "9ms", "high", None, ""),
        (1, "11ms", "medium", 0.0079, "that would be 7.9 ms, and the rule would ask for 3"),
        (1, "15ms", "low", 0.0035, "that would be 3.5 ms, and the rule would ask for 6"),
        (10, "20ms", "high", None, ""),
        (10, "179ms", "low", 0.0031, "that would be 3.1 ms, and the rule would ask for 65"),
    ],
)
def test_a_processing_time_is_as_sure_as_the_round_trip_it_is_the_rest_of(
    judge, prefetch, rtt, confidence, least, longer
):
    # 20 ms from one message to the next
    three = [consumer(prefetch, place) for place in range(3)]
    one = queue(unacked=steady(3 * prefetch), ack=per_second(150), publish=per_second(180))
    advice = judge(one, three, "--rtt", rtt)
    assert advice["confidence"] == confidence
    assert longer in advice["verdict_reason"]
    assert ("10 % longer" in advice["verdict_reason"]) == bool(longer)
    if least is not None:
        assert advice["processing_time"]["ci95"][0] == pytest.approx(least)
        assert any("--processing-time" in one for one in advice["missing"])


def test_rejected_messages_are_work_done_and_departures(judge):
    # dead-lettered: delivered once, never acked
    dead = queue(
        ready=per_second(-100, 8000),
        ack=steady(0),
        deliver=per_second(150),
        publish=per_second(50),
        redeliver=steady(0),
    )
    advice = judge(dead, THREE)
    assert advice["verdict"] == "processing-bound"
    assert advice["processing_time"]["mean"] == pytest.approx(0.02, rel=0.01)
    assert advice["arrival_rate"]["value"] == pytest.approx(50, rel=0.01)
    assert "no-acks" not in names(advice)
    # half of the deliveries requeued: each message is delivered twice
    twice = queue(
        ack=per_second(75),
        deliver=per_second(150),
        redeliver=per_second(75),
        publish=per_second(105),
    )
    advice = judge(twice, THREE, "--processing-time", "20ms")
    assert advice["verdict"] == "processing-bound"
    assert advice["offered_load"] == pytest.approx(105 * 0.02 * 2, rel=0.02)


def test_a_loop_of_redeliveries_is_no_demand(judge):
    loop = queue(
        ready=steady(100),
        ack=steady(0),
        deliver=per_second(100),
        redeliver=per_second(100),
        publish=steady(0),
    )
    advice = judge(loop, THREE)
    assert "redelivery-loop" in names(advice)
    assert advice["verdict"] != "stalled"
    assert advice["recommended"]["consumers"] is None


@pytest.mark.parametrize(
    ("minute", "options", "verdict"),
    [
        (13, [], "stalled"),
        (7, [], "at-limit"),
        (13, ["--processing-time", "15s"], "stalled"),
        (13, ["--processing-time", "40s"], "at-limit"),
    ],
)
def test_no_ack_is_a_stall_after_a_minute_and_three_times_the_longest_task(
    judge, minute, options, verdict
):
    silent = queue(ack=steady(500), publish=per_second(30), samples=minute)
    advice = judge(silent, THREE, *options)
    assert advice["verdict"] == verdict
    if verdict == "stalled":
        assert advice["current"]["busy_share"] in (None, 0)
        assert advice["recommended"]["prefetch"] is advice["recommended"]["consumers"] is None
        assert "no-acks" in names(advice)


def filling(per_sample: int, most: int):
    """Nothing is acked: arrivals fill the clients first, and then the queue."""

    def unacked(i: int) -> int:
        return min(most, per_sample * (i + 1))

    return (lambda i: per_sample * (i + 1) - unacked(i)), unacked


def test_consumers_that_filled_up_and_ack_nothing_are_no_consumers_that_keep_up(judge):
    # full in 10 of 13 samples: too few to call it saturated
    ready, unacked = filling(per_sample=10, most=30)
    dead = queue(ready, unacked, ack=steady(0), deliver=unacked, publish=per_second(2))
    advice = judge(dead, THREE)
    assert advice["observed"]["full_share"] < 0.9
    assert (advice["verdict"], advice["confidence"]) == ("stalled", "low")
    assert "no-acks" in names(advice)
    assert judge(dead, THREE, "--processing-time", "1s")["confidence"] == "low"  # 0.77 are full
    # half a minute of it is too short to say so
    young = queue(ready, unacked, ack=steady(0), deliver=unacked, samples=7)
    advice = judge(young, THREE)
    assert advice["verdict"] == "at-limit"
    assert "no-acks" not in names(advice)


def test_a_limit_reached_in_the_last_samples_is_said_unless_the_backlog_comes_and_goes(judge):
    flows = {"unacked": steady(30), "ack": per_second(150), "publish": per_second(150)}
    lately = judge(queue(ready=lambda i: 40 if i > 9 else 0, **flows), THREE)
    assert (lately["verdict"], lately["confidence"]) == ("at-limit", "low")
    assert "the last 3 of 13 samples" in lately["verdict_reason"]
    assert lately["processing_time"]["source"] == "bound"  # its departures are no capacity
    for_longer = judge(queue(ready=lambda i: 40 if i > 9 or i == 4 else 0, **flows), THREE)
    assert for_longer["verdict"] == "at-limit"
    again = judge(queue(ready=lambda i: 40 if i > 9 or i in (3, 4, 5) else 0, **flows), THREE)
    assert again["verdict"] == "keeping-up"
    often = {**flows, "unacked": lambda i: 30 if i > 3 else 0}
    for growth, verdict in ((-90, "keeping-up"), (-9, "at-limit"), (90, "at-limit")):
        assert judge(queue(ready=per_second(growth, 9000), **often), THREE)["verdict"] == verdict


@pytest.mark.parametrize(
    ("held", "options", "verdict"),
    [
        (3, [], "keeping-up"),
        (4, [], "stalled"),
        (3, ["--processing-time", "1s"], "stalled"),
        (3, ["--processing-time", "40s"], "keeping-up"),
    ],
)
def test_what_is_held_in_silence_may_be_work_only_while_it_is_no_more_than_workers(
    judge, held, options, verdict
):
    silent = queue(ready=steady(0), unacked=steady(held), ack=steady(500), publish=steady(500))
    advice = judge(silent, THREE, *options)
    assert advice["verdict"] == verdict
    assert ("no-acks" in names(advice)) == (verdict == "stalled")


def test_clients_with_a_hoard_and_no_room_are_at_their_limit(judge):
    # nothing was ready for half of the minute, while what the clients hold grew
    one = queue(
        ready=lambda i: 10 * max(0, i - 6),
        unacked=lambda i: min(2000, 800 + 200 * i),
        consumers=1,
        ack=per_second(20),
        deliver=per_second(60),
        publish=per_second(60),
    )
    full = judge(one, [consumer(2000)], "--processing-time", "50ms")
    assert (full["verdict"], full["observed"]["ready"]) == ("at-limit", 60)
    room = judge(one, [consumer(4000)], "--processing-time", "50ms")
    assert room["verdict"] != "at-limit"
    one["messages_ready_details"]["samples"][0]["sample"] = one["messages_ready"] = 0
    assert judge(one, [consumer(2000)], "--processing-time", "50ms")["verdict"] == "hoarding"


@pytest.mark.parametrize(
    ("growth", "options", "severity"),
    [
        (30, [], "warning"),
        (-3, [], "warning"),  # less than the samples stray by
        (-18, [], "info"),
        (-18, ["--drain-within", "10s"], "warning"),
        (-18, ["--arrival-rate", "170"], "warning"),
    ],
)
def test_a_backlog_that_drains_by_itself_is_no_warning(judge, growth, options, severity):
    one = queue(
        ready=per_second(growth, 9000), ack=per_second(150), publish=per_second(150 + growth)
    )
    advice = judge(one, THREE, *options)
    assert advice["verdict"] == "processing-bound"
    (more,) = (f for f in advice["findings"] if f["name"] == "add-consumers")
    assert more["severity"] == severity
    if severity == "info":
        # (9,000 - 18 x 60 + 30) / 18
        assert "gone in 7 min 22 s" in more["message"]
        assert "--drain-within" in more["help"]


def test_arrivals_that_are_held_back_do_not_let_a_backlog_drain(judge):
    flow = queue(
        ready=per_second(-18, 9000), state="flow", ack=per_second(150), publish=per_second(132)
    )
    (more,) = (f for f in judge(flow, THREE)["findings"] if f["name"] == "add-consumers")
    assert more["severity"] == "warning"


def test_no_fewer_consumers_are_advised_while_all_are_busy_with_a_backlog(judge):
    one = queue(ready=per_second(-110, 9000), ack=per_second(150), publish=per_second(40))
    advised = judge(one, THREE)["recommended"]
    assert (advised["consumers"], advised["least_consumers"]) == (3, 1)
    assert advised["utilisation"] == pytest.approx(40 / 150, rel=0.01)
    gone = judge(queue(ready=steady(0), unacked=steady(2), ack=per_second(40)), THREE, *WORK)
    assert gone["recommended"]["consumers"] == 1


def test_consumers_of_one_channel_share_its_thread(judge):
    shared = [consumer(15, 0), consumer(15, 0, consumer_tag="other")]
    one = queue(consumers=2, ack=per_second(50), publish=per_second(60))
    advice = judge(one, shared, channels=[channel(0, 30)])
    assert advice["processing_time"]["mean"] == pytest.approx(0.02, rel=0.01)
    assert advice["current"]["utilisation"] > 1
    assert not advice["recommended"]["keep_consumers"]
    assert "share its thread" in json.dumps(advice["findings"])


def test_a_channel_of_two_queues_is_judged_by_all_it_does(judge):
    other = queue(name="other", unacked=steady(10), consumers=1, ack=per_second(44))
    one = queue(unacked=steady(10), consumers=1, ack=per_second(44), publish=per_second(60))
    both = [consumer(10), consumer(10, name="other")]
    advice = judge([one, other], both, channels=[channel(0, 20, ack_rate=88.0)])
    assert advice["processing_time"]["mean"] == pytest.approx(1 / 88, rel=0.01)
    silent = channel(0, 20)
    del silent["message_stats"]
    advice = judge([one, other], both, channels=[silent])
    assert advice["verdict"] == "at-limit"


def test_waiting_messages_that_nobody_may_take_are_not_kept_up_with(judge):
    asleep = [
        consumer(10, place, active=False, activity_status="suspected_down") for place in (0, 1)
    ]
    advice = judge(queue(unacked=steady(0), consumers=2, publish=per_second(30)), asleep)
    assert advice["verdict"] == "delivery-limited"
    credit = judge(
        queue(unacked=steady(100), consumers=1, **BUSY),
        [consumer(0)],
        connections=[connection(protocol="AMQP 1-0")],
    )
    assert credit["verdict"] == "unknown"


def test_the_brokers_own_consumers_are_excused(judge):
    mqtt = judge(
        queue(unacked=steady(10), consumers=1, **BUSY),
        [consumer(10)],
        connections=[connection(protocol="MQTT 3.1.1")],
    )
    assert mqtt["verdict"] == "keeping-up"
    assert not names(mqtt)


def test_one_shared_global_limit_is_not_unbounded(judge):
    seen = judge(
        queue(unacked=steady(25), consumers=2, **BUSY),
        [consumer(0), consumer(0, consumer_tag="other")],
        channels=[channel(0, 25, global_prefetch_count=25)],
    )
    assert seen["limit"]["value"] == 25
    assert "unbounded-prefetch" not in names(seen)
    assert "global-qos" in names(seen)
    unseen = judge(queue(unacked=steady(25), consumers=1, **BUSY), [consumer(0)])
    assert (unseen["verdict"], unseen["limit"]["source"]) == ("at-limit", "inferred")
    moving = judge(queue(unacked=per_second(20, 100), consumers=1, **BUSY), [consumer(0)])
    assert moving["verdict"] == "unbounded"


def test_the_smallest_prefetch_decides_what_round_trip_is_covered(judge):
    mixed = [consumer(1, 0), consumer(100, 1)]
    advice = judge(queue(unacked=steady(101), consumers=2, ack=per_second(140)), mixed)
    assert advice["current"]["rtt_covered"] == 0
    assert advice["verdict"] == "at-limit"


def test_the_smallest_prefetch_decides_also_where_a_queue_or_a_channel_adds_a_limit(judge):
    two = [consumer(0, 0), consumer(10, 1)]
    one = queue(unacked=steady(2010), consumers=2, type="quorum", ack=per_second(100))
    advice = judge(one, two)
    assert advice["limit"]["value"] == 2010
    assert advice["current"]["rtt_covered"] == pytest.approx(9 / 50, rel=0.01)
    capped = [channel(0, 5, global_prefetch_count=5), channel(1, 20)]
    advice = judge(
        queue(unacked=steady(25), consumers=2, ack=per_second(100)),
        [consumer(20, 0), consumer(20, 1)],
        channels=capped,
    )
    assert advice["limit"]["value"] == 25
    assert advice["current"]["rtt_covered"] == pytest.approx(4 / 50, rel=0.01)


def test_an_assumed_concurrency_does_not_cut_a_small_buffer(judge):
    pool = queue(unacked=steady(20), consumers=1, ack=per_second(170), publish=per_second(200))
    advice = judge(pool, [consumer(20)], "--rtt", "0.3ms")
    assert (advice["recommended"]["prefetch"], advice["recommended"]["keep"]) == (20, True)
    known = judge(pool, [consumer(20)], "--rtt", "0.3ms", "--concurrency", "1")
    assert known["recommended"]["prefetch"] < 20


@pytest.mark.parametrize(
    ("settings", "ready"),
    [({"x-max-length": 1000}, steady(995)), ({"x-max-length-bytes": 1000}, steady(10))],
)
def test_a_queue_at_its_length_limit_bounds_the_arrivals(judge, settings, ready):
    one = queue(ready=ready, arguments=settings, message_bytes_ready=1000, **BUSY)
    advice = judge(one, THREE)
    assert advice["arrival_rate"]["source"] == "bound"
    assert advice["recommended"]["consumers"] is None


def test_what_is_published_and_does_not_stay_was_wanted_all_the_same(judge):
    expiring = queue(ready=steady(500), ack=per_second(150), publish=per_second(300))
    advice = judge(expiring, THREE)
    assert advice["arrival_rate"]["value"] == pytest.approx(300)


def test_a_stream_is_judged_reader_by_reader(judge):
    stream = queue(
        ready=per_second(80, 13_000),
        unacked=steady(0),
        consumers=2,
        type="stream",
        ack=per_second(100),
        publish=per_second(80),
    )
    readers = [consumer(100, 0), consumer(100, 1)]
    quick, slow = channel(0, 20, ack_rate=80.0), channel(1, 100, ack_rate=20.0)
    advice = judge(stream, readers, channels=[quick, slow])
    assert advice["verdict"] == "processing-bound"
    assert "1 of 2 readers" in advice["verdict_reason"]
    assert advice["arrival_rate"]["value"] == pytest.approx(80)
    assert "add-consumers" not in names(advice)
    slow["message_stats"]["ack_details"]["rate"] = 79.0
    assert judge(stream, readers, channels=[quick, slow])["verdict"] == "keeping-up"
    assert judge(stream, readers)["verdict"] == "unknown"


def test_a_reader_at_its_credit_is_judged_whatever_else_limits_it(judge):
    stream = queue(
        ready=per_second(80, 13_000),
        unacked=steady(0),
        consumers=1,
        type="stream",
        ack=per_second(20),
        publish=per_second(80),
    )
    for reader in (consumer(100, ack_required=False), consumer(100)):
        links = [connection(protocol="AMQP 1-0")]
        advice = judge(stream, [reader], channels=[channel(0, 100)], connections=links)
        assert advice["verdict"] == "processing-bound"
        assert advice["processing_time"]["mean"] == pytest.approx(1 / 20, rel=0.01)


def test_what_moved_is_not_idle_when_its_consumers_are_gone(judge):
    nothing = {"ready": steady(0), "unacked": steady(0), "consumers": 0}
    assert judge(queue(**nothing, publish=steady(9), ack=steady(9)), [])["verdict"] == "idle"
    left = judge(queue(**nothing, ack=per_second(20), publish=per_second(20)), [])
    assert left["verdict"] == "no-consumers"
    assert [f["severity"] for f in left["findings"]] == ["info"]
    dropped = judge(queue(**nothing, publish=per_second(20), deliver=steady(0)), [])
    assert (dropped["verdict"], names(dropped)) == ("no-consumers", {"no-consumers"})
    delays = queue(
        **nothing,
        arguments={"x-message-ttl": 1000, "x-dead-letter-exchange": "d"},
        publish=per_second(20),
    )
    assert judge(delays, [])["verdict"] == "idle"


def test_no_prefetch_is_called_too_large_and_too_small_at_once(judge):
    hours = queue(unacked=steady(300), ack=per_second(4), publish=per_second(600))
    advice = judge(hours, [consumer(100, place) for place in range(3)], *WORK)
    assert advice["verdict"] == "round-trip-bound"
    assert advice["current"]["buffered_time"] > 1
    assert "prefetch-too-large" not in names(advice)
    # messages wait for 100 s in clients that the figures say are starved
    hoard = queue(ready=steady(0), unacked=steady(100), consumers=1, ack=per_second(1))
    advice = judge(
        hoard, [consumer(110)], "--processing-time", "0.1ms", "--rtt", "50ms", "--arrival-rate", "1"
    )
    assert advice["verdict"] == "hoarding"
    assert advice["rule"]["prefetch"] == 501
    assert advice["recommended"]["prefetch"] is None
    assert "settle that first" in advice["recommended"]["reason"]
    assert "prefetch-below-round-trip" not in names(advice)


def test_a_hoard_that_is_gone_is_none(judge):
    for rest, verdict in ((3, "keeping-up"), (4, "hoarding")):
        one = queue(
            ready=steady(0),
            unacked=lambda i, rest=rest: 30 if i < 12 else rest,
            ack=per_second(2),
            publish=per_second(2),
        )
        assert judge(one, THREE, *WORK)["verdict"] == verdict


def test_a_limit_shared_by_more_consumers_than_it_has_messages_is_not_unlimited(judge):
    three = [consumer(0, 0, consumer_tag=f"c{i}") for i in range(3)]
    three += [consumer(0, 1, consumer_tag="d")]
    one = queue(
        ready=lambda i: 5 if i in (2, 3, 4) else 0,
        unacked=steady(1),
        consumers=4,
        ack=per_second(20),
        publish=per_second(20),
    )
    advice = judge(one, three, *WORK, "--rtt", "20ms")
    assert (advice["limit"]["value"], advice["limit"]["source"]) == (1, "inferred")
    assert advice["current"]["busy_share"] == pytest.approx(0.5)


def test_a_prefetch_that_its_bound_keeps_is_not_told_to_be_set(judge):
    slow = queue(unacked=steady(3), ack=per_second(4), publish=per_second(9))
    ones = [consumer(1, place) for place in range(3)]
    advice = judge(slow, ones, "--processing-time", "500ms", "--max-buffered-time", "100ms")
    (low,) = (f for f in advice["findings"] if f["name"] == "prefetch-below-round-trip")
    assert advice["recommended"]["prefetch"] == 1
    assert "buffered-time) allows no more" in low["message"]
    assert low["help"].startswith("Allow more")


def test_early_acks_show_as_too_few_unacked(judge):
    early = queue(ready=steady(0), unacked=steady(0), consumers=1, ack=per_second(10))
    assert "early-ack" in names(judge(early, [consumer(10)], "--processing-time", "50ms"))
    late = queue(ready=steady(0), unacked=steady(1), consumers=1, ack=per_second(10))
    assert "early-ack" not in names(judge(late, [consumer(10)], "--processing-time", "50ms"))


def test_one_consumer_that_never_acks_is_found_among_others(judge):
    one = queue(
        ready=steady(0),
        unacked=lambda i: 11 + i % 2,
        consumers=2,
        ack=per_second(20),
        publish=per_second(20),
    )
    two = [consumer(10, 0), consumer(10, 1)]
    dead = judge(one, two, channels=[channel(0, 10, acked=0), channel(1, 1)])
    assert "no-acks" in names(dead)
    assert "no-acks" not in names(judge(one, two, channels=[channel(0, 10), channel(1, 1)]))


def test_a_known_processing_time_is_held_against_a_backlog_in_the_clients(judge):
    hoard = queue(
        ready=steady(0),
        unacked=per_second(20, 5000),
        consumers=1,
        ack=per_second(20),
        deliver=per_second(40),
        publish=per_second(40),
    )
    right = judge(hoard, [consumer(0)], "--processing-time", "50ms")
    assert "inconsistent-input" not in names(right)
    assert right["recommended"]["consumers"] == 3
    wrong = judge(hoard, [consumer(0)], "--processing-time", "20ms")
    assert "inconsistent-input" in names(wrong)
    assert wrong["recommended"]["consumers"] is None


def work(*done: int) -> dict[str, Any]:
    """What the queue's process did by each of the last samples; nothing before."""
    shown = [0] * (SAMPLES - len(done)) + list(done)
    samples = [
        {"sample": value, "timestamp": NOW - i * STEP * 1000} for i, value in enumerate(shown[::-1])
    ]
    return {"reductions": shown[-1], "reductions_details": {"rate": 0.0, "samples": samples}}


def test_a_queue_declared_again_is_not_stalled_by_the_time_before_it(judge):
    full = {"ready": lambda i: 170 * (i > 10), "unacked": lambda i: 30 * (i > 10)}
    counts = {"ack": steady(0), "deliver": steady(0), "publish": steady(0)}
    young = judge(queue(steady(0), steady(0), consumers=0, **counts, **work(6217)), THREE)
    assert young["verdict"] == "unknown"
    assert "a few seconds ago" in young["verdict_reason"]
    first = judge(queue(**full, **counts, **work(6217)), THREE)
    assert (first["verdict"], first["snapshot"]) == ("at-limit", True)
    assert "no ack rate is known" in first["verdict_reason"]
    looked = judge(queue(**full, **counts, **work(6217, 7000, 8000)), THREE)
    assert (looked["verdict"], looked["observed"]["samples"]) == ("at-limit", 2)
    assert "no ack in 5 s; too short to call it stalled" in looked["verdict_reason"]
    held = queue(steady(170), steady(30), **counts, **work(*range(1, SAMPLES + 1)))
    assert judge(held, THREE)["verdict"] == "stalled"


def test_a_counter_of_which_the_broker_shows_less_of_the_minute_counted_no_more(judge):
    resting = queue(steady(0), steady(0), ack=steady(20), publish=steady(20))
    assert judge(resting, THREE)["verdict"] == "idle"
    resting["message_stats"]["publish_details"]["samples"].pop()
    advice = judge(resting, THREE)
    assert (advice["verdict"], advice["observed"]["publish_rate"]) == ("idle", 0)
    busy = queue(**BUSY)
    del busy["message_stats"]["ack_details"]["samples"][0]
    advice = judge(busy, THREE)
    assert advice["observed"]["ack_rate"] == pytest.approx(150, rel=0.01)


def test_samples_with_more_unacked_than_its_consumers_may_hold_are_of_other_consumers(judge):
    two = THREE[:2]
    left = queue(unacked=lambda i: 30 if i < 6 else 20, consumers=2, **BUSY)
    advice = judge(left, two)
    assert advice["observed"]["samples"] == 6
    assert any("last change of its consumers" in note for note in advice["notes"])
    assert judge(queue(unacked=steady(20), consumers=2, **BUSY), two)["observed"]["samples"] == 13
    going = judge(queue(unacked=steady(30), consumers=3, **BUSY), two)
    assert going["recommended"]["consumers"] is None
    assert "changed while they were listed" in going["recommended"]["consumers_reason"]


def test_a_queue_of_which_nothing_is_known_yet_is_no_bug(judge):
    counts = {"ack": steady(0), "publish": steady(0)}
    bare = queue(steady(0), steady(0), consumers=0, **counts, **work(6217))
    advice = judge(bare, [], "--processing-time", "5ms")
    assert (advice["verdict"], advice["recommended"]["consumers"]) == ("unknown", None)


def test_redeliveries_that_are_all_acked_are_no_more_work(judge):
    kept = queue(**BUSY, deliver=per_second(150), redeliver=per_second(50))
    assert judge(kept, THREE)["offered_load"] == pytest.approx(3.6, rel=0.01)
    requeued = queue(**BUSY, deliver=per_second(200), redeliver=per_second(50))
    assert judge(requeued, THREE)["offered_load"] == pytest.approx(3.6, rel=0.01)


def test_a_node_that_was_restarted_was_not_idle_before(judge):
    zeros = queue(steady(0), steady(0), consumers=1, ack=steady(0), publish=steady(0), **work(1, 2))
    restarted = judge(zeros, [consumer(10)])
    assert restarted["observed"]["window"] == 0
    assert "60 s" not in restarted["verdict_reason"]
    idle = judge({**zeros, **work(*range(1, SAMPLES + 1))}, [consumer(10)])
    assert (idle["verdict"], idle["observed"]["window"]) == ("idle", 60)


def test_consumers_that_are_listed_and_not_counted_yet_leave_it_open(judge):
    came = judge(queue(steady(500), steady(0), consumers=0, ack=steady(0)), THREE)
    assert came["verdict"] == "unknown"
    assert "just came: 3 listed, 0 counted yet" in came["verdict_reason"]
    assert judge(queue(steady(500), steady(0), consumers=0), [])["verdict"] == "no-consumers"


def test_no_count_of_consumers_comes_from_a_history_of_seconds(judge):
    for samples, enough in ((2, False), (3, False), (4, True), (13, True)):
        advice = judge(queue(**BUSY, samples=samples), THREE)
        assert advice["verdict"] == "processing-bound", samples
        assert (advice["recommended"]["consumers"] is not None) == enough, samples
        assert ("add-consumers" in names(advice)) == enough, samples
        if not enough:
            assert "ask again in" in advice["recommended"]["consumers_reason"]
    one = judge(queue(ack=per_second(150), samples=3, **work(5, 6, 7)), THREE)
    assert "add-consumers" not in names(one)
    given = judge(queue(**BUSY, samples=2), THREE, "--arrival-rate", "180/s")
    assert given["recommended"]["consumers"] == 5


def test_a_consumer_that_just_came_does_not_make_the_others_unequal(judge):
    """Its channel shows a part of the last seconds' acks."""
    two = [consumer(10, place) for place in range(2)]
    held = [channel(0, unacked=10, ack_rate=50.0), channel(1, unacked=10, ack_rate=12.0)]
    for age, found in ((12, False), (3600, True)):
        joined = [connection(0), connection(1, connected_at=NOW - age * 1000)]
        full = queue(unacked=steady(20), consumers=2, ack=per_second(62), publish=per_second(92))
        advice = judge(full, two, channels=held, connections=joined)
        assert advice["observed"]["full_share"] == 1, age
        assert ("unequal-consumers" in names(advice)) == found, age


def test_no_count_of_consumers_comes_from_flows_that_contradict_each_other(judge):
    flows = {"ack": per_second(122), "publish": per_second(189)}
    short = judge(queue(steady(900), **flows, samples=5), THREE)
    assert short["recommended"]["consumers"] is None
    assert "add-consumers" not in names(short)
    reason = short["recommended"]["consumers_reason"]
    assert "189/s published and 122/s gone do not fit a growth by 0/s" in reason
    fits = judge(queue(per_second(67, 900), **flows, samples=5), THREE)
    assert fits["recommended"]["consumers"] is not None
    # over the whole minute such messages expired or were dropped
    settled = judge(queue(steady(900), **flows), THREE)
    assert settled["recommended"]["consumers"] is not None


def test_zeros_from_before_a_queue_was_there_are_no_history(judge):
    def since(rate: float):
        return lambda i: max(0, i - 6) * rate * 5

    young = queue(
        ready=since(30),
        unacked=lambda i: 30 if i > 6 else 0,
        ack=since(150),
        publish=since(180),
    )
    advice = judge(young, THREE)
    assert advice["verdict"] == "processing-bound"
    assert advice["observed"]["ack_rate"] == pytest.approx(150, rel=0.01)


def test_a_saturated_loop_is_bound_by_the_round_trips_it_must_wait_for(judge):
    # N 10, P 5 ms, R 50 ms: 10 / (50 + 50 ms) = 100/s a consumer
    one = queue(ack=per_second(300), publish=per_second(330))
    known = judge(one, THREE, "--concurrency", "loop", "--processing-time", "5ms")
    assert known["verdict"] == "round-trip-bound"
    assert known["rtt"]["mean"] == pytest.approx(0.05)
    solved = judge(one, THREE, "--concurrency", "loop", "--rtt", "50ms")
    assert solved["verdict"] == "round-trip-bound"
    assert solved["processing_time"]["mean"] == pytest.approx(0.005)
    # 19 R / P for 95 %
    assert solved["recommended"]["prefetch"] == 190
    blind = judge(one, THREE, "--concurrency", "loop")
    assert blind["verdict"] == "at-limit"
    assert blind["current"]["rtt_covered"] == pytest.approx(0.1 * (1 - 1 / 1.05))
    # with a millisecond of round trip the same rate is work
    near = judge(one, THREE, "--concurrency", "loop", "--rtt", "1ms")
    assert near["verdict"] == "processing-bound"


def test_a_saturated_async_client_is_bound_by_its_prefetch(judge):
    # 10 in hand of each, 100 ms each: 100/s a consumer
    one = queue(ack=per_second(300), publish=per_second(330))
    advice = judge(one, THREE, "--concurrency", "async", "--rtt", "20ms")
    assert advice["verdict"] == "round-trip-bound"
    assert advice["processing_time"]["mean"] == pytest.approx(0.08)
    assert advice["concurrency"]["kind"] == "async"
    # 330/s x 100 ms / 0.8 / 3 consumers
    assert advice["recommended"]["prefetch"] == 14
    assert (advice["rule"], advice["fed"], advice["recommended"]["consumers"]) == (None, None, None)


@pytest.mark.parametrize(
    ("version", "kind", "risk"),
    [
        ("3.8.10", "classic", False),
        ("4.2.1", "classic", True),
        ("4.2.1", "quorum", True),
        ("4.3.0", "classic", False),
        ("4.3.0", "quorum", True),
    ],
)
def test_the_ack_timeout_depends_on_version_and_type(judge, advise, tmp_path, version, kind, risk):
    # 10 of 2 min each: the last is unacked for 20 min
    overview = tmp_path / "overview.json"
    overview.write_text(json.dumps({"management_version": version, "rabbitmq_version": version}))
    for name, rows in (
        ("queues", [queue(type=kind, ack=per_second(1), publish=per_second(1))]),
        ("consumers", THREE),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    files = [overview, tmp_path / "queues.json", tmp_path / "consumers.json"]
    advice = advise(*files, "--processing-time", "2min", "--rtt", "1ms").only
    assert ("ack-timeout-risk" in names(advice)) is risk
    # whatever a version enforces, the timeout that is given counts
    longer = advise(*files, "--processing-time", "2min", "--consumer-timeout", "10h").only
    assert "ack-timeout-risk" not in names(longer)


def test_memory_and_batch_bound_the_prefetch(judge):
    # 1,030 messages of 300 kB on the queue
    one = queue(ready=steady(1000), message_bytes=309_000_000, **BUSY)
    options = ("--processing-time", "20ms", "--rtt", "100ms")
    free = judge(one, THREE, *options)
    assert free["recommended"]["prefetch"] == 6
    tight = judge(one, THREE, *options, "--memory-budget", "1MB")
    assert (tight["recommended"]["prefetch"], tight["recommended"]["limited_by"]) == (3, "memory")
    assert "memory-over-budget" in names(tight)
    grouped = judge(one, THREE, *options, "--batch", "20")
    assert grouped["recommended"]["prefetch"] == 40
    assert {
        f["severity"] for f in grouped["findings"] if f["name"] == "batch-not-below-prefetch"
    } == {"error"}
    # bytes are the broker's: not wrong usage, but nothing that can be advised
    both = judge(one, THREE, *options, "--batch", "20", "--memory-budget", "1MB")
    assert both["recommended"]["prefetch"] is None
    assert "at least 40" in both["recommended"]["reason"]
    assert "at most 3" in both["recommended"]["reason"]
    assert {f["severity"] for f in both["findings"] if f["name"] == "memory-over-budget"} == {
        "error"
    }
