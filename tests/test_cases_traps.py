"""The traps for a naive implementation that no described case springs: one test for each.

The numbers are those of the list of traps. Those of sources and settings are not for ``advise``.
"""

from __future__ import annotations

import json

import pytest
from few_words import (
    CHANNELS,
    CONSUMERS,
    QUEUES,
    api_consumer,
    api_queue,
    counters,
    findings,
    series,
    timings,
)


def steady(count: int, ready: int, unacked: int, acks: float, grows: float = 0.0):
    """Samples a minute apart with so many acks a second."""
    return [
        {
            "messages_ready": round(ready + 60 * grows * i),
            "messages_unacknowledged": unacked,
            "message_stats": counters(
                ack=round(60 * acks * i),
                deliver=round(unacked + 60 * acks * i),
                deliver_get=round(unacked + 60 * acks * i),
                publish=round(unacked + ready + 60 * (acks + grows) * i),
            ),
        }
        for i in range(count)
    ]


@pytest.mark.parametrize(
    ("consumer", "channel", "limit"),
    [(10, 0, 10), (0, 25, 25), (10, 25, 10), (50, 25, 25), (0, 0, None)],
)
def test_trap_1_of_consumer_and_channel_the_smaller_limit_holds(
    advise, write, consumer, channel, limit
):
    text = (
        f"{QUEUES}q\tclassic\t0\t3\t1\n\n"
        f"{CONSUMERS}q\t<rabbit@a.1.2.0>\tctag\ttrue\t{consumer}\ttrue\n\n"
        f"{CHANNELS}<rabbit@a.1.2.0>\t127.0.0.1:1 -> 127.0.0.1:5672 (1)\t1\t0\t{channel}\n"
    )
    queue = advise(write("x.txt", text)).only
    assert queue["limit"]["value"] == limit
    assert (queue["verdict"] == "unbounded") == (limit is None)


@pytest.mark.parametrize(
    ("acks", "options", "verdict"),
    [
        (0, [], "stalled"),
        # 20 in hand at 100/s: the cycle is 0.2 s
        (100, ["--processing-time", "10ms", "--rtt", "190ms"], "processing-bound"),
        (100, ["--processing-time", "1ms", "--rtt", "199ms"], "round-trip-bound"),
        (
            100,
            ["--processing-time", "40ms", "--rtt", "1ms", "--concurrency", 4],
            "processing-bound",
        ),
        (100, ["--processing-time", "0.5ms"], "round-trip-bound"),
        (3_000, [], "at-limit"),
    ],
)
def test_traps_4_to_6_a_full_window_is_shown_by_the_dead_the_starved_and_the_busy(
    advise, write, acks, options, verdict
):
    files = series(write, [api_consumer(20)], steady(3, 500, 20, acks))
    queue = advise(*files, "--interval", "60s", *options).only
    assert queue["verdict"] == verdict
    assert queue["observed"]["full_share"] == 1


@pytest.mark.parametrize("column", ["cycle_ms", "rtt_ms"])
def test_trap_7_no_processing_time_at_all_is_no_division_and_no_prefetch_of_thousands(
    advise, write, column
):
    file = write("t.csv", timings(f"processing_ms,{column}", "0,1"))
    run = advise(file, "--queue", "q")
    assert run.code == 0
    assert run.only["recommended"]["prefetch"] is None
    assert any("processing time" in missing for missing in run.only["missing"])


def test_trap_9_windows_are_added_up_not_multiplied(advise, write):
    consumers = [api_consumer(10, 1), api_consumer(50, 2), api_consumer(50, 3, active=False)]
    queue = advise(*series(write, consumers, steady(3, 500, 60, 20)), "--interval", "60s").only
    assert queue["limit"]["value"] == 60
    assert queue["observed"]["full_share"] == 1


@pytest.mark.parametrize(("samples", "confidence"), [(1, "low"), (2, "low"), (4, "high")])
def test_trap_11_one_sample_proves_little(advise, write, samples, confidence):
    files = series(write, [api_consumer(10)], steady(samples, 500, 10, 50))
    options = ["--processing-time", "20ms", "--rtt", "1ms"]
    queue = advise(*files, "--interval", "60s", *options).only
    assert queue["snapshot"] == (samples == 1)
    assert queue["confidence"] == confidence


def test_trap_14_a_batch_is_a_floor_that_names_itself(advise):
    options = ["--processing-time", "10ms", "--rtt", "1ms", "--batch", "50"]
    queue = advise("--queue", "q", *options).only
    assert queue["recommended"]["prefetch"] == 100
    assert queue["recommended"]["lower_bound_by"] == "batch"


def test_traps_14_and_15_a_floor_above_the_ceiling_of_the_timeout_is_an_error(advise):
    # (N - 1) x 2 s + 2 s below half of 30 min
    options = ["--processing-time", "2s", "--rtt", "1ms", "--batch", "300"]
    run = advise("--queue", "q", *options, "--consumer-timeout", "30min")
    assert run.code == 2
    assert "at least 600" in run.err
    assert "at most 450" in run.err


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"messages_ready": 300}, "no-consumers"),
        (
            {
                "messages_ready": 300,
                "arguments": {"x-message-ttl": 60_000, "x-dead-letter-exchange": ""},
            },
            "idle",
        ),
        ({"messages_unacknowledged": 300}, "polling"),
        ({}, "idle"),
    ],
)
def test_trap_18_no_consumers_has_four_reasons(advise, write, fields, verdict):
    file = write("q.json", json.dumps([api_queue(consumers=0, **fields)]))
    assert advise(file).only["verdict"] == verdict


@pytest.mark.parametrize(
    ("prefetch", "unacked", "verdict"),
    [(500, 400, "hoarding"), (10, 2, "keeping-up"), (0, 400, "unbounded")],
)
def test_trap_19_nothing_ready_is_not_healthy_by_itself(advise, write, prefetch, unacked, verdict):
    samples = steady(4, 0, unacked, 10)
    queue = advise(*series(write, [api_consumer(prefetch)], samples), "--interval", "60s").only
    assert queue["verdict"] == verdict


def test_trap_22_of_an_async_client_the_prefetch_is_the_concurrency(advise):
    options = ["--processing-time", "1s", "--rtt", "1ms", "--arrival-rate", "80/s"]
    queue = advise("--queue", "sms", *options, "--concurrency", "async").only
    # ceil(80 x 1.001 / 0.8), however many would feed one handler at a time
    assert queue["recommended"]["prefetch"] == 101


@pytest.mark.parametrize("alarm", [True, False])
def test_trap_32_under_an_alarm_what_arrives_is_not_the_demand(advise, write, alarm):
    files = series(write, [api_consumer(10)], steady(3, 5_000, 10, 50, grows=10))
    node = {"name": "rabbit@a", "running": True, "mem_alarm": alarm, "disk_free_alarm": False}
    node |= {"mem_used": 1, "fd_used": 1, "proc_used": 1, "partitions": [], "uptime": 10_000_000}
    files.append(write("nodes.json", json.dumps([node])))
    queue = advise(*files, "--interval", "60s").only
    assert queue["verdict"] == "processing-bound"
    assert queue["recommended"]["consumers"] == (None if alarm else 2)
    message = findings(queue)["add-consumers"]["message"]
    assert ("at least 2" in message) == alarm
