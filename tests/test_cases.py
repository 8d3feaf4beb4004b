"""Situations that people met and described, fed in the form they had them, with the right answer.

Each test is named after the number of its case. The numbers are those of the description, not of a
previous run. Left out, because timings and saved output cannot carry them: sources and settings
(F39, F63 and the like), and F15's event loop that starts every delivery at once, which is tested
here only as a concurrency that is given.
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
    overview,
    series,
    timings,
)

# the textbook sums -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("processing", "rtt", "rule", "advised"),
    [
        ("5ms", "1ms", 2, 2),
        ("0.2ms", "1ms", 6, 6),
        ("4ms", "100ms", 26, 26),
        ("5ms", "120ms", 25, 25),
        ("10s", "1ms", 2, 1),
    ],
)
def test_two_times_by_option_are_enough_for_a_prefetch(advise, processing, rtt, rule, advised):
    queue = advise("--queue", "q", "--processing-time", processing, "--rtt", rtt).only
    assert queue["rule"]["prefetch"] == rule
    assert queue["recommended"]["prefetch"] == advised
    assert queue["recommended"]["reason"]
    assert queue["recommended"]["consumers"] is None


def test_eight_workers_on_a_line_as_long_as_the_work(advise):
    options = ["--processing-time", "20ms", "--rtt", "20ms", "--concurrency", "8"]
    queue = advise("--queue", "q", *options).only
    assert queue["rule"]["prefetch"] == 16


def test_f01_the_round_trip_of_the_textbook_is_100_and_not_104(advise, write):
    file = write("t.csv", timings("processing_ms,rtt_ms", "4,100"))
    queue = advise(file, "--queue", "q").only
    assert queue["rule"]["prefetch"] == 26
    assert queue["recommended"]["prefetch"] == 26


def test_f01_with_prefetch_1_in_force_it_is_the_round_trip_that_binds(advise, write):
    file = write("t.csv", timings("processing_ms,rtt_ms", "4,100"))
    # one message in 104 ms
    samples = [
        {
            "messages_unacknowledged": 1,
            "messages_ready": 500,
            "message_stats": counters(ack=count, deliver=count + 1, publish=count + 501),
        }
        for count in (100, 677)
    ]
    files = series(write, [api_consumer(1)], samples)
    queue = advise(file, *files, "--queue", "q", "--interval", "60s").only
    assert queue["verdict"] == "round-trip-bound"
    assert queue["recommended"]["prefetch"] == 26
    assert "prefetch-below-round-trip" in findings(queue)
    assert "add-consumers" not in findings(queue)


def test_f02_a_cycle_contains_the_work(advise, write):
    file = write("t.csv", timings("processing_ms,cycle_ms", "4,104"))
    queue = advise(file, "--queue", "q").only
    assert queue["rtt"]["mean"] == pytest.approx(0.1)
    assert queue["recommended"]["prefetch"] == 26


def test_f05_float_noise_does_not_add_one(advise, write):
    file = write("t.csv", timings("processing_time_s,rtt_s", "0.005,0.12"))
    queue = advise(file, "--queue", "q").only
    assert queue["recommended"]["prefetch"] == 25


# how many handlers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("concurrency", "consumers", "least"), [(1, 14, 12), (5, 3, 3), (20, 1, 1)]
)
def test_f13_handlers_are_consumers_times_concurrency(advise, write, concurrency, consumers, least):
    file = write("t.csv", timings("processing_ms", "5.6"))
    options = ["--arrival-rate", "2000/s", "--concurrency", concurrency, "--rtt", "0.2ms"]
    queue = advise(file, "--queue", "q", *options).only
    assert queue["offered_load"] == pytest.approx(11.2)
    assert queue["recommended"]["consumers"] == consumers
    assert queue["recommended"]["least_consumers"] == least
    assert queue["recommended"]["prefetch"] >= concurrency


def test_f15_work_that_mostly_waits_needs_as_many_in_hand_as_are_wanted(advise):
    options = ["--processing-time", "1s", "--rtt", "1ms", "--concurrency", 110]
    queue = advise("--queue", "sms", *options, "--arrival-rate", "80/s").only
    assert 110 <= queue["recommended"]["prefetch"] <= 112
    assert queue["recommended"]["consumers"] == 1


# at the limit ----------------------------------------------------------------------------------


def test_f16_a_full_window_without_acks_is_stuck(advise, write):
    stuck = {"messages_unacknowledged": 10, "messages_ready": 500}
    stats = counters(ack=90, deliver=100, publish=600)
    files = series(write, [api_consumer(10)], [{**stuck, "message_stats": stats}] * 11)
    # 99 in 100 take a second, p99 is two
    work = write("t.csv", "processing_ms\n" + "\n".join(["1000"] * 1_475 + ["2000"] * 25) + "\n")
    queue = advise(*files, work, "--queue", "q", "--interval", "60s").only
    assert queue["verdict"] == "stalled"
    assert queue["observed"]["window"] == 600
    assert "no-acks" in findings(queue)
    assert "add-consumers" not in findings(queue)


def test_f17_twice_80_unacked_160_and_nothing_moves(advise, write):
    stats = counters(ack=5_000, deliver=5_160, publish=5_560)
    stuck = {"messages_unacknowledged": 160, "messages_ready": 400, "message_stats": stats}
    files = series(write, [api_consumer(80, 1), api_consumer(80, 2)], [stuck] * 3)
    queue = advise(*files, "--interval", "60s").only
    assert queue["limit"]["value"] == 160
    assert queue["verdict"] == "stalled"
    assert "add-consumers" not in findings(queue)
    assert queue["recommended"]["prefetch"] is None


def test_f18_of_160_in_hand_120_only_wait(advise, write):
    consumers = [api_consumer(80, 1), api_consumer(80, 2)]
    samples = [
        {
            "messages_unacknowledged": 160,
            "messages_ready": 400 + 10 * 60 * minute,
            "message_stats": counters(
                ack=5_000 + 40 * 60 * minute,
                deliver=5_160 + 40 * 60 * minute,
                publish=5_560 + 50 * 60 * minute,
            ),
        }
        for minute in range(3)
    ]
    files = series(write, consumers, samples)
    options = ["--processing-time", "1s", "--rtt", "1ms", "--concurrency", 20]
    queue = advise(*files, "--interval", "60s", *options).only
    assert queue["verdict"] == "processing-bound"
    assert queue["current"]["busy_share"] == pytest.approx(1, abs=0.01)
    assert 20 <= queue["recommended"]["prefetch"] <= 25
    # 50/s for a second each: 50 busy workers, of which 40 are there
    assert queue["offered_load"] == pytest.approx(50, rel=0.01)
    assert queue["recommended"]["least_consumers"] == 3
    assert queue["recommended"]["consumers"] == 4


def test_f24_two_limits_at_once_the_smaller_holds(advise, write):
    consumers = [api_consumer(10, tag=1), api_consumer(10, tag=2)]
    channel = {
        "name": consumers[0]["channel_details"]["name"],
        "vhost": "/",
        "number": 1,
        "connection_details": {"name": consumers[0]["channel_details"]["connection_name"]},
        "consumer_count": 2,
        "messages_unacknowledged": 15,
        "prefetch_count": 10,
        "global_prefetch_count": 15,
        "state": "running",
    }
    samples = [
        {
            "messages_unacknowledged": 15,
            "messages_ready": 300,
            "message_stats": counters(
                ack=100 + 3_000 * minute, deliver=115 + 3_000 * minute, publish=415 + 3_000 * minute
            ),
        }
        for minute in range(3)
    ]
    files = series(write, consumers, samples)
    files += [
        write("channels.json", json.dumps([channel])),
        write("overview.json", overview("3.13.7")),
    ]
    queue = advise(*files, "--interval", "60s").only
    assert queue["limit"]["value"] == 15
    assert queue["verdict"] == "processing-bound"
    assert "global-qos" in findings(queue)


def test_f29_more_unacked_than_the_limit_is_no_error(advise, write):
    listing = (
        "Listing queues for vhost / ...\n"
        "name\tmessages_ready\tmessages_unacknowledged\tconsumers\n"
        "q\t50\t110\t1\n"
        "Listing consumers in vhost / ...\n"
        "queue_name\tchannel_pid\tconsumer_tag\tack_required\tprefetch_count\tactive\targuments\n"
        "q\t<rabbit@a.1.2.0>\tctag1\ttrue\t100\ttrue\t[]\n"
    )
    run = advise(write("ctl.txt", listing), "--fail-on", "error")
    assert run.code == 0
    assert run.only["verdict"] == "at-limit"
    assert run.only["limit"]["value"] == 100
    assert run.only["observed"]["full_share"] == 1


def test_f34_a_classic_queue_of_4_3_has_no_ack_timeout(advise, write):
    samples = [
        {
            "messages_unacknowledged": 1,
            "messages_ready": 20,
            "message_stats": counters(ack=100 + step, deliver=101 + step, publish=121 + step),
        }
        for step in range(4)
    ]
    files = series(write, [api_consumer(1)], samples)
    files.append(write("overview.json", overview("4.3.6")))
    options = ["--processing-time", "40min", "--rtt", "1ms", "--interval", "40min"]
    queue = advise(*files, *options).only
    assert queue["verdict"] == "processing-bound"
    assert queue["recommended"]["prefetch"] == 1
    assert "ack-timeout-risk" not in findings(queue)


def test_f57_acks_that_wait_for_the_next_read_are_part_of_the_round_trip(advise, write):
    work = write("t.csv", timings("processing_ms,rtt_ms", "10,1000"))
    samples = [
        {
            "messages_unacknowledged": 10,
            "messages_ready": 300,
            "message_stats": counters(
                ack=100 + 600 * minute, deliver=110 + 600 * minute, publish=410 + 600 * minute
            ),
        }
        for minute in range(3)
    ]
    files = series(write, [api_consumer(10)], samples)
    options = ["--queue", "q", "--concurrency", 10, "--interval", "60s"]
    queue = advise(work, *files, *options).only
    assert queue["verdict"] == "round-trip-bound"
    assert queue["current"]["busy_share"] == pytest.approx(0.01, abs=0.002)
    assert queue["rule"]["prefetch"] == 1_010
    assert queue["recommended"]["prefetch"] > 10
    assert "add-consumers" not in findings(queue)


# no limit, or one that is somewhere else --------------------------------------------------------


def test_f21_half_a_million_messages_in_one_process_is_10_gigabytes(advise, write):
    queue = api_queue(
        messages_unacknowledged=500_000,
        consumers=1,
        message_bytes=10_000_000_000,
        message_bytes_unacknowledged=10_000_000_000,
        message_bytes_ready=0,
    )
    files = [
        write("queues.json", json.dumps([queue])),
        write("consumers.json", json.dumps([api_consumer(0)])),
        write(
            "connections.json",
            json.dumps(
                [
                    {
                        "name": "127.0.0.1:40001 -> 127.0.0.1:5672",
                        "protocol": "AMQP 0-9-1",
                        "type": "network",
                        "state": "running",
                        "vhost": "/",
                        "channels": 1,
                        "client_properties": {"product": "RabbitMQ"},
                    }
                ]
            ),
        ),
    ]
    advice = advise(*files).only
    assert advice["verdict"] == "unbounded"
    assert advice["limit"]["value"] is None
    assert advice["limit"]["kind"] == "none"
    assert "10 GB" in findings(advice)["unbounded-prefetch"]["message"]


def test_f22_a_limit_on_the_channel_is_a_limit(advise, write):
    listing = (
        f"{QUEUES}q\tclassic\t0\t3\t1\n\n"
        f"{CONSUMERS}q\t<rabbit@a.1.2.0>\tctag1\ttrue\t0\ttrue\n\n"
        f"{CHANNELS}<rabbit@a.1.2.0>\t127.0.0.1:1 -> 127.0.0.1:5672 (1)\t1\t0\t25\n"
    )
    queue = advise(write("ctl.txt", listing)).only
    assert queue["verdict"] == "keeping-up"
    assert queue["limit"]["value"] == 25
    assert queue["limit"]["kind"] == "channel"
    assert "global-qos" in findings(queue)
    assert "unbounded-prefetch" not in findings(queue)


def test_f23_a_limit_on_a_channel_without_consumers_is_none(advise, write):
    listing = (
        f"{QUEUES}q\tclassic\t0\t3000\t1\n\n"
        f"{CONSUMERS}q\t<rabbit@a.1.2.0>\tctag1\ttrue\t0\ttrue\n\n"
        f"{CHANNELS}<rabbit@a.1.2.0>\t127.0.0.1:1 -> 127.0.0.1:5672 (1)\t1\t0\t0\n"
        "<rabbit@a.1.3.0>\t127.0.0.1:1 -> 127.0.0.1:5672 (2)\t0\t10\t10\n"
    )
    queue = advise(write("ctl.txt", listing)).only
    assert queue["verdict"] == "unbounded"
    assert queue["limit"]["value"] is None
    assert "unbounded-prefetch" in findings(queue)


# nothing to judge, or not enough ----------------------------------------------------------------


def test_f48_no_utilisation_on_an_idle_queue_is_no_reason_to_raise_anything(advise, write):
    stats = counters(ack=10, deliver=10, publish=10)
    sample = {"consumer_utilisation": None, "message_stats": stats}
    files = series(write, [api_consumer(10)], [sample] * 3)
    queue = advise(*files, "--interval", "60s").only
    assert queue["verdict"] == "idle"
    assert queue["recommended"]["prefetch"] is None
    assert not {"prefetch-below-round-trip", "prefetch-too-large"} & findings(queue).keys()


def test_f51_the_slope_of_the_depth_is_not_an_ack_rate(advise, write):
    queue = api_queue(
        messages_ready=500,
        messages_unacknowledged=10,
        consumers=1,
        messages_details={"rate": -3.0},
        messages_ready_details={"rate": -3.0},
        messages_unacknowledged_details={"rate": 0.0},
    )
    files = [
        write("queues.json", json.dumps([queue])),
        write("consumers.json", json.dumps([api_consumer(10)])),
    ]
    advice = advise(*files).only
    assert advice["verdict"] in ("at-limit", "unknown")
    assert advice["observed"]["ack_rate"] is None
    assert "no-rates" in findings(advice)
    assert any("rate" in missing for missing in advice["missing"])


def test_f52_unacked_without_consumers_is_somebody_polling(advise, write):
    queue = advise(write("ctl.txt", f"{QUEUES}q\tclassic\t0\t50000\t0\n")).only
    assert queue["verdict"] == "polling"
    assert "polling-consumer" in findings(queue)


def test_f54_a_queue_without_counters_is_not_judged_and_a_gate_can_tell(advise, write):
    fresh = {"name": "q", "vhost": "/", "arguments": {}, "durable": True, "consumer_details": []}
    file = write("queue.json", json.dumps([fresh]))
    run = advise(file, "--from", "management")
    assert run.code == 0
    assert run.only["verdict"] == "unknown"
    assert run.only["missing"]
    assert "no-data" in findings(run.only)
    assert advise(file, "--from", "management", "--fail-on", "warning").code == 1


# fairness --------------------------------------------------------------------------------------


def test_f56_one_slow_job_must_not_block_half_of_the_quick_ones(advise, write):
    # the median is a tenth of a second; three in a hundred take a minute
    slow = {index * 33 for index in range(1, 46)}
    rows = ["60" if index in slow else "0.1" for index in range(1_500)]
    work = write("t.csv", "processing_s\n" + "\n".join(rows) + "\n")
    stats = counters(ack=500, deliver=600, publish=600)
    sample = {"messages_unacknowledged": 100, "message_stats": stats}
    files = series(write, [api_consumer(250, 1), api_consumer(250, 2)], [sample])
    queue = advise(work, *files, "--queue", "q", "--rtt", "1ms").only
    assert queue["recommended"]["prefetch"] == 1
    assert "prefetch-too-large" in findings(queue)


def test_f81_a_heavy_tail_with_a_mean_of_15_seconds_wants_a_prefetch_of_1(advise, write):
    # mean 14.8 s, standard deviation 49 s
    options = ["--processing-time", "14.8s", "--cv", "3.31", "--rtt", "1ms"]
    sample = {"messages_unacknowledged": 32, "messages_ready": 5}
    files = series(write, [api_consumer(32)], [sample])
    queue = advise(*files, *options).only
    assert queue["recommended"]["prefetch"] == 1
    assert "prefetch-too-large" in findings(queue)


def test_f81_42_microseconds_of_work_do_not_get_a_prefetch_of_thousands_unsaid(advise):
    options = ["--processing-time", "0.042ms", "--rtt", "13ms"]
    queue = advise("--queue", "api", *options).only
    assert queue["rule"]["prefetch"] == 311
    assert queue["recommended"]["prefetch"] <= 311
