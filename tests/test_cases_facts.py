"""More situations that people met: no limit, stuck or slow, what the figures mean, who consumes.

Tests and rows are named after the number of the case. Left out, because they come as sources,
settings, definitions or logs: the cases about those; here they appear as what the broker shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from few_words import (
    CONSUMERS,
    QUEUES,
    Write,
    api_consumer,
    api_queue,
    counters,
    findings,
    overview,
    series,
    timings,
)

PROTOCOLS = ROOT / "tests" / "data" / "protocols"
CONNECTION = "127.0.0.1:4000{} -> 127.0.0.1:5672"


def whole(**fields: Any) -> dict[str, Any]:
    """A queue with all that the API shows, so that no message_stats means no traffic, ever."""
    return api_queue(memory=10_000, node="rabbit@a", reductions=1, garbage_collection={}, **fields)


def connection(channel: int = 1, **fields: Any) -> dict[str, Any]:
    return {
        "name": CONNECTION.format(channel),
        "protocol": "AMQP 0-9-1",
        "type": "network",
        "state": "running",
        "vhost": "/",
        "client_properties": {"product": "RabbitMQ"},
        **fields,
    }


def channel(number: int = 1, **fields: Any) -> dict[str, Any]:
    return {
        "name": CONNECTION.format(number) + " (1)",
        "vhost": "/",
        "number": 1,
        "connection_details": {"name": CONNECTION.format(number)},
        "consumer_count": 1,
        "messages_unacknowledged": 0,
        "prefetch_count": 0,
        "global_prefetch_count": 0,
        "state": "running",
        **fields,
    }


def minutes(count: int, ready: int, unacked: int, acks: float, grows: float = 0.0, **fields: Any):
    """Samples a minute apart: so many acked a second, ``ready`` growing by so many a second."""
    return [
        {
            "messages_ready": round(ready + 60 * grows * i),
            "messages_unacknowledged": unacked,
            "message_stats": counters(
                ack=round(1_000 + 60 * acks * i),
                deliver=round(1_000 + unacked + 60 * acks * i),
                deliver_get=round(1_000 + unacked + 60 * acks * i),
                publish=round(1_000 + unacked + ready + 60 * (acks + grows) * i),
            ),
            **fields,
        }
        for i in range(count)
    ]


@pytest.fixture
def saved(write: Write) -> Callable[..., list[Path]]:
    """Saved answers of the management API: queues=[...], consumers=[...] and so on."""

    def saved(**lists: Any) -> list[Path]:
        return [write(f"{name}.json", json.dumps(rows)) for name, rows in lists.items()]

    return saved


# no limit in force -----------------------------------------------------------------------------


def test_c151_an_unlimited_prefetch_is_the_cause_of_the_ack_timeout(advise, saved):
    files = saved(
        queues=[whole(consumers=1, messages_unacknowledged=5_000)],
        consumers=[api_consumer(0)],
        channels=[channel(messages_unacknowledged=5_000)],
    )
    # a second each: the last one waits 83 minutes
    options = ["--processing-time", "1s", "--rtt", "1ms", "--consumer-timeout", "60min"]
    queue = advise(*files, *options).only
    assert queue["verdict"] == "unbounded"
    risk = findings(queue)["ack-timeout-risk"]
    assert "5,000 in one unlimited consumer" in risk["message"]
    assert risk["help"] == "Set prefetch 1: a longer timeout only moves the failure."


def test_c151_a_short_backlog_of_the_same_consumer_runs_no_such_risk(advise, saved):
    files = saved(
        queues=[whole(consumers=1, messages_unacknowledged=50)],
        consumers=[api_consumer(0)],
        channels=[channel(messages_unacknowledged=50)],
    )
    options = ["--processing-time", "1s", "--consumer-timeout", "60min"]
    queue = advise(*files, *options).only
    assert queue["verdict"] == "unbounded"
    assert "ack-timeout-risk" not in findings(queue)


def test_c155_c199_c219_clients_that_never_set_a_prefetch_are_named_by_their_connection(
    advise, saved
):
    files = saved(
        queues=[whole(consumers=1, messages_unacknowledged=900)],
        consumers=[api_consumer(0, exclusive=True)],
        channels=[channel(messages_unacknowledged=900)],
    )
    queue = advise(*files).only
    assert queue["verdict"] == "unbounded"
    # C189: the offender may be somebody else's
    assert CONNECTION.format(1) in findings(queue)["unbounded-prefetch"]["message"]


@pytest.mark.parametrize(
    ("columns", "prefetch"), [("true\t50", None), ("false\t50", 50), ("false\t0", 0)]
)
def test_c177_c201_automatic_ack_voids_a_prefetch_that_looks_healthy(
    advise, write, columns, prefetch
):
    consumer = f"q\t<rabbit@a.1.2.0>\tctag\t{columns}\ttrue\n"
    queue = advise(write("x", f"{QUEUES}q\tclassic\t0\t0\t1\n\n{CONSUMERS}{consumer}")).only
    if prefetch is None:
        assert queue["verdict"] == "keeping-up"
        return
    assert queue["verdict"] == "unbounded"
    message = findings(queue)["auto-ack-ignores-prefetch"]["message"]
    assert (f"prefetch of {prefetch} is ignored" in message) == bool(prefetch)


def test_c193_a_prefetch_set_after_consuming_is_not_in_force(advise, saved):
    files = saved(
        queues=[whole(consumers=1, messages_unacknowledged=3_000)],
        consumers=[api_consumer(0)],
        channels=[channel(prefetch_count=100, messages_unacknowledged=3_000)],
    )
    queue = advise(*files).only
    assert queue["verdict"] == "unbounded"
    assert "channel prefetch 100" in findings(queue)["qos-not-in-force"]["message"]


def test_c195_the_one_consumer_without_a_limit_is_named(advise, saved):
    files = saved(
        queues=[whole(consumers=3, messages_unacknowledged=3_000)],
        consumers=[api_consumer(10, 1), api_consumer(10, 2), api_consumer(0, 3)],
        channels=[channel(n, messages_unacknowledged=m) for n, m in ((1, 10), (2, 10), (3, 2_980))],
    )
    queue = advise(*files).only
    assert queue["verdict"] == "unbounded"
    message = findings(queue)["unbounded-prefetch"]["message"]
    assert message.startswith("1 of 3 consumers")
    assert CONNECTION.format(3) in message
    assert CONNECTION.format(1) not in message


@pytest.mark.parametrize(
    ("kind", "verdict", "finding"),
    [
        ("classic", "unbounded", "unbounded-prefetch"),
        ("quorum", "at-limit", "quorum-unlimited-is-2000"),
        ("stream", "keeping-up", None),
    ],
)
def test_c183_what_a_prefetch_of_0_is_depends_on_the_type_of_the_queue(
    advise, saved, kind, verdict, finding
):
    held = 0 if kind == "stream" else 2_000
    files = saved(
        queues=[whole(consumers=1, messages_ready=5_000, messages_unacknowledged=held, type=kind)],
        consumers=[api_consumer(0)],
        channels=[channel(messages_unacknowledged=2_000)],
    )
    queue = advise(*files).only
    assert queue["verdict"] == verdict
    assert queue["limit"]["value"] == (2_000 if kind == "quorum" else None)
    limits = findings(queue).keys() & {"unbounded-prefetch", "quorum-unlimited-is-2000"}
    assert limits == ({finding} if finding else set())


# stuck, or only slow ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("processing", "verdict"), [(None, "stalled"), ("2", "stalled"), ("600", "at-limit")]
)
def test_c147_one_message_in_hand_is_stuck_or_a_long_task(advise, write, processing, verdict):
    files = series(write, [api_consumer(1)], minutes(3, 10, 1, acks=0, grows=0.1))
    if processing is not None:
        files.append(write("t.csv", timings("processing_s", processing)))
    queue = advise(*files, "--queue", "q", "--interval", "60s").only
    assert queue["verdict"] == verdict
    assert ("no-acks" in findings(queue)) == (verdict == "stalled")
    if verdict == "at-limit":
        # two minutes are there: what is missing is three times the longest task
        assert any(missing.startswith("30 min of history") for missing in queue["missing"])


def test_c169_a_counter_that_was_never_incremented_is_0_beside_others_and_acks_are_missing(
    advise, saved
):
    stats = {"publish": 22, "deliver": 10, "deliver_get": 10}
    row = whole(consumers=1, messages_ready=12, messages_unacknowledged=10, message_stats=stats)
    files = saved(first=[row], second=[row], third=[row], consumers=[api_consumer(10)])
    queue = advise(*files, "--interval", "60s").only
    assert queue["verdict"] == "stalled"
    assert queue["observed"]["ack_rate"] == 0


@pytest.mark.parametrize(
    ("consumers", "verdict"), [([api_consumer(10)], "delivery-limited"), ([], "no-consumers")]
)
def test_c169_messages_ready_and_none_ever_delivered(advise, saved, consumers, verdict):
    stats = {"publish": 12, "publish_details": {"rate": 0.0}}
    row = whole(consumers=len(consumers), messages_ready=12, message_stats=stats)
    files = saved(first=[row], second=[row], third=[row])
    files += saved(consumers=consumers) if consumers else []
    queue = advise(*files, "--interval", "60s").only
    assert queue["verdict"] == verdict
    assert queue["recommended"]["prefetch"] is None


# the ack timeout -------------------------------------------------------------------------------


def test_c153_prefetch_times_a_long_task_reaches_the_timeout(advise, write):
    files = series(write, [api_consumer(10)], [{"messages_ready": 9, "messages_unacknowledged": 9}])
    work = write("t.csv", timings("processing_s", "200"))
    queue = advise(*files, work, "--queue", "q", "--rtt", "5ms").only
    risk = findings(queue)["ack-timeout-risk"]
    assert "behind the others of prefetch 10" in risk["message"]
    assert "a longer timeout only moves the failure" in risk["help"]
    assert queue["recommended"]["prefetch"] == 1


@pytest.mark.parametrize(
    ("version", "kind", "risk"),
    [
        ("3.13.7", "classic", True),
        ("3.13.7", "quorum", True),
        ("4.2.0", "classic", True),
        ("4.3.0", "classic", False),
        ("4.3.0", "quorum", True),
    ],
)
def test_c209_which_queues_take_a_message_back_depends_on_version_and_type(
    advise, write, version, kind, risk
):
    stats = [counters(ack=100 + i, deliver=101 + i, publish=121 + i) for i in range(4)]
    samples = [
        {"messages_ready": 20, "messages_unacknowledged": 1, "type": kind, "message_stats": one}
        for one in stats
    ]
    files = series(write, [api_consumer(1)], samples)
    files.append(write("overview.json", overview(version)))
    options = ["--processing-time", "40min", "--rtt", "1ms", "--interval", "40min"]
    queue = advise(*files, *options).only
    assert queue["verdict"] == "processing-bound"
    assert ("ack-timeout-risk" in findings(queue)) == risk
    if risk:
        # the prefetch is 1 already: here it is the task that is too long
        assert "longest task" in findings(queue)["ack-timeout-risk"]["help"]


def test_c209_a_stuck_consumer_of_a_classic_queue_of_4_3_is_told_all_the_same(advise, write):
    files = series(write, [api_consumer(1)], minutes(4, 20, 1, acks=0, grows=0.02))
    files.append(write("overview.json", overview("4.3.0")))
    queue = advise(*files, "--processing-time", "10s", "--interval", "60s").only
    assert queue["verdict"] == "stalled"
    assert "ack-timeout-risk" not in findings(queue)


def test_c225_a_thousand_jobs_of_two_seconds_in_one_process(advise, write):
    work = write("t.csv", timings("processing_s", "2"))
    files = series(write, [api_consumer(1_000)], minutes(4, 0, 600, acks=0.5))
    queue = advise(*files, work, "--queue", "q", "--rtt", "1ms", "--interval", "60s").only
    assert queue["verdict"] == "hoarding"
    assert queue["recommended"]["prefetch"] == 1
    assert {"prefetch-too-large", "ack-timeout-risk"} <= findings(queue).keys()
    assert "33 min" in findings(queue)["ack-timeout-risk"]["message"]


def test_c157_a_scaler_that_counts_ready_sees_nothing_of_what_a_large_prefetch_hides(advise, write):
    files = series(write, [api_consumer(1_000)], minutes(4, 0, 300, acks=10))
    queue = advise(*files, "--interval", "60s").only
    assert queue["verdict"] == "hoarding"
    assert "the clients hold 300 messages" in queue["verdict_reason"]
    assert "prefetch-too-large" in findings(queue)


# what the figures mean -------------------------------------------------------------------------


@pytest.mark.parametrize("shown", ["null", '""', "0", "1", "0.0", '"NaN"', "NaN"])
def test_c159_c161_c163_capacity_says_nothing_of_an_idle_queue(advise, write, saved, shown):
    row = json.dumps([whole(consumers=1, consumer_utilisation="?", consumer_capacity="?")])
    files = [write("queues.json", row.replace('"?"', shown)), *saved(consumers=[api_consumer(10)])]
    run = advise(*files)
    assert run.code == 0
    assert run.only["verdict"] == "idle"
    assert run.only["findings"] == []
    assert run.only["recommended"]["prefetch"] is None


def test_c159_direct_delivery_is_no_lack_of_activity(advise, write):
    samples = minutes(3, 0, 0, acks=50, consumer_utilisation=None)
    queue = advise(*series(write, [api_consumer(10)], samples), "--interval", "60s").only
    assert queue["verdict"] == "keeping-up"
    assert "prefetch-below-round-trip" not in findings(queue)


def test_c163_a_capacity_of_0_beside_a_full_window_decides_nothing(advise, write, saved):
    row = whole(consumers=1, messages_ready=5, messages_unacknowledged=10, consumer_utilisation=0.0)
    queue = advise(*saved(queues=[row], consumers=[api_consumer(10)])).only
    assert queue["verdict"] == "at-limit"
    assert "no-rates" in findings(queue)
    assert "prefetch-below-round-trip" not in findings(queue)


def test_c161_the_broker_s_own_metrics_are_refused_by_name(advise, write):
    metrics = (
        "# TYPE rabbitmq_queue_consumer_capacity gauge\n"
        'rabbitmq_queue_consumer_capacity{vhost="/",queue="q"} NaN\n'
    )
    sizes = 'rabbitmq_message_size_bytes_bucket{protocol="amqp091",le="100"} 3\n'
    whole_scrape = "# TYPE erlang_vm_ets_limit gauge\n" + sizes
    for text in (metrics, metrics.partition("\n")[2], whole_scrape):
        run = advise(write("metrics.txt", text))
        assert run.code == 3
        assert "the broker's own Prometheus metrics" in run.err
        assert "/api/consumers" in run.err


def test_c165_the_slope_of_the_depth_of_a_quiet_queue_is_no_rate(advise, saved):
    row = whole(consumers=1, messages_details={"rate": -3.0})
    queue = advise(*saved(queues=[row], consumers=[api_consumer(10)])).only
    assert queue["verdict"] == "idle"
    assert queue["observed"]["ack_rate"] is None


def test_c149_a_capacity_below_1_of_a_lazy_queue_is_its_disk(advise, write):
    lazy = {"arguments": {"x-queue-mode": "lazy"}, "consumer_utilisation": 0.4}
    samples = minutes(4, 100_000, 10, acks=200, grows=100, **lazy)
    queue = advise(*series(write, [api_consumer(50)], samples), "--interval", "60s").only
    assert queue["verdict"] == "delivery-limited"
    assert "disk" in queue["verdict_reason"]
    assert "prefetch-below-round-trip" not in findings(queue)


def fetched(n: int, consumers: int) -> dict[str, Any]:
    stats = counters(publish=n, get_no_ack=n, deliver_get=n, deliver=0)
    return whole(consumers=consumers, message_stats=stats)


def test_c175_messages_that_were_read_once_by_hand_leave_an_idle_queue(advise, saved):
    queue = advise(*saved(queues=[fetched(2, 0)])).only
    assert queue["verdict"] == "idle"


@pytest.mark.parametrize(
    ("consumers", "verdict", "finding"),
    [(0, "polling", "polling-consumer"), (1, "keeping-up", "polled-beside-consumers")],
)
def test_c175_gets_are_told_from_deliveries(advise, write, consumers, verdict, finding):
    samples = [fetched(n, consumers) for n in (2, 62, 122)]
    files = [write(f"q{i}.json", json.dumps([row])) for i, row in enumerate(samples)]
    if consumers:
        files.append(write("c.json", json.dumps([api_consumer(10)])))
    queue = advise(*files, "--interval", "60s").only
    assert queue["verdict"] == verdict
    assert findings(queue).keys() == {finding}
    assert "1/s are fetched with basic.get" in findings(queue)[finding]["message"]


# text that people paste ------------------------------------------------------------------------

LISTED = (
    "queue_name\tchannel_pid\tconsumer_tag\tack_required\tprefetch_count\tactive\targuments\n"
    "q\t<rabbit@a.1.2.0>\ta\ttrue\t10\ttrue\t[]\n"
    "q\t<rabbit@a.1.3.0>\tb\ttrue\t10\t{}\t[]\n"
)


def test_c171_consumers_that_the_list_of_one_node_lacks_are_not_taken_for_none(advise, write):
    queues = "Listing queues for vhost / ...\n" + QUEUES + "q\tclassic\t10\t6\t3\n"
    queues += "here\tclassic\t0\t0\t1\n"
    consumers = "Listing consumers in vhost / ...\n" + CONSUMERS
    consumers += "here\t<rabbit@a.1.2.0>\tctag\ttrue\t10\ttrue\n"
    run = advise(write("q.txt", queues), write("c.txt", consumers))
    queue = run.queues["/", "q"]
    assert queue["verdict"] == "unknown"
    assert "inconsistent-input" in findings(queue)
    assert run.queues["/", "here"]["verdict"] == "keeping-up"


@pytest.mark.parametrize("end", ["", "...done.\n"])
@pytest.mark.parametrize(
    ("begin", "vhost"),
    [
        ("Listing queues ...\n", "/"),
        ("Listing queues for vhost prod ...\n", "prod"),
        ("Timeout: 60.0 seconds ...\nListing queues for vhost prod ...\n", "prod"),
        ("Timeout: 60 seconds ...\nListing queues ...\n", "/"),
    ],
)
def test_c173_decoration_is_no_queue_and_names_the_vhost(advise, write, begin, vhost, end):
    rows = "name\tmessages_ready\tmessages_unacknowledged\tconsumers\nq\t10\t0\t0\n"
    run = advise(write("q.txt", begin + rows + end))
    assert run.queues.keys() == {(vhost, "q")}
    assert run.only["verdict"] == "no-consumers"


@pytest.mark.parametrize(
    ("arguments", "second", "single"),
    [
        ('\t[{"x-single-active-consumer",true}]', "false", True),
        # on a mixed cluster active is always true: the argument decides
        ('\t[{"x-single-active-consumer",true}]', "true", True),
        # and where the arguments were not asked for, who is not active
        ("", "false", True),
        ("", "true", False),
    ],
)
def test_c227_seven_columns_tell_a_single_active_consumer(advise, write, arguments, second, single):
    header = QUEUES.strip() + ("\targuments" if arguments else "") + "\n"
    text = f"{header}q\tclassic\t90\t{10 if single else 20}\t2{arguments}\n\n"
    queue = advise(write("x.txt", text + LISTED.format(second))).only
    assert queue["limit"]["value"] == (10 if single else 20)
    assert queue["observed"]["full_share"] == 1
    assert ("single-active-consumer" in findings(queue)) == single


def test_c289_one_sample_just_after_the_start_is_marked_as_one(advise, write):
    text = f"{QUEUES}q\tclassic\t5\t2\t1\n\n{CONSUMERS}q\t<rabbit@a.1.2.0>\tctag\ttrue\t1\ttrue\n"
    queue = advise(write("x.txt", text)).only
    assert (queue["snapshot"], queue["confidence"]) == (True, "low")
    assert findings(queue)["unacked-above-limit"]["severity"] == "info"


# limits that are shared, and what they leave ---------------------------------------------------


def two_queues(minute: int, first: int, second: int) -> list[dict[str, Any]]:
    return [
        whole(
            name=name,
            consumers=1,
            messages_ready=300,
            messages_unacknowledged=held,
            message_stats=counters(
                ack=1_000 + 60 * rate * minute,
                deliver=1_000 + held + 60 * rate * minute,
                deliver_get=1_000 + held + 60 * rate * minute,
                publish=1_300 + held + 60 * rate * minute,
            ),
        )
        for name, held, rate in (("q", first, 10), ("r", second, 5))
    ]


@pytest.mark.parametrize(
    ("held", "limits", "verdicts"),
    [
        # at most 10 each and 15 together: the channel is full
        ((10, 5), (15, 15), ("processing-bound", "processing-bound")),
        # below 15 together, the one at its own 10 is full and the other is not
        ((10, 2), (10, 10), ("processing-bound", "delivery-limited")),
    ],
)
def test_c205_ten_each_and_fifteen_together(advise, saved, held, limits, verdicts):
    consumers = [api_consumer(10, tag=1), api_consumer(10, tag=2)]
    consumers[1]["queue"] = {"name": "r", "vhost": "/"}
    stats = counters(ack=1_900, deliver=1_915, deliver_get=1_915)
    stats |= {"ack_details": {"rate": 15.0}, "deliver_details": {"rate": 15.0}}
    shared = channel(
        consumer_count=2,
        prefetch_count=10,
        global_prefetch_count=15,
        messages_unacknowledged=sum(held),
        message_stats=stats,
    )
    files = [path for i in range(3) for path in saved(**{f"queues{i}": two_queues(i, *held)})]
    files += saved(consumers=consumers, channels=[shared], overview=json.loads(overview("3.13.7")))
    run = advise(*files, "--interval", "60s")
    queues = [run.queues["/", name] for name in "qr"]
    assert tuple(queue["limit"]["value"] for queue in queues) == limits
    assert tuple(queue["verdict"] for queue in queues) == verdicts
    for queue in queues:
        assert "unacked-above-limit" not in findings(queue)
        assert "global-qos" in findings(queue)


def test_c205_several_workers_each_with_a_channel_for_both_queues(advise, saved):
    consumers = []
    for number in (1, 2):
        for name in "qr":
            consumers.append(api_consumer(0, number, tag=name))
            consumers[-1]["queue"] = {"name": name, "vhost": "/"}
    rates = {"ack": 900, "ack_details": {"rate": 7.5}, "deliver": 915, "deliver_get": 915}
    shared = [
        channel(n, global_prefetch_count=15, messages_unacknowledged=15, message_stats=rates)
        for n in (1, 2)
    ]
    files = saved(
        queues=two_queues(0, 20, 10),
        consumers=consumers,
        channels=shared,
        overview=json.loads(overview("3.13.7")),
    )
    queue = advise(*files).queues["/", "q"]
    assert queue["limit"]["value"] == 30
    assert queue["observed"]["full_share"] == 1


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        # 3,500/s at prefetch 1: the cycle is 0.29 ms, capacity 14 % is no more than a hint
        ([], "at-limit"),
        (["--rtt", "0.25ms"], "round-trip-bound"),
        (["--rtt", "0.25ms", "--processing-time", "0.03ms"], "round-trip-bound"),
    ],
)
def test_c207_tiny_messages_at_prefetch_1(advise, write, options, verdict):
    samples = minutes(3, 5_000, 1, acks=3_500, consumer_utilisation=0.14)
    files = series(write, [api_consumer(1)], samples)
    queue = advise(*files, "--interval", "60s", *options).only
    assert queue["verdict"] == verdict
    assert "add-consumers" not in findings(queue)
    if options:
        assert queue["recommended"]["prefetch"] >= 4


def test_c207_at_prefetch_1000_a_capacity_of_74_percent_asks_for_no_more(advise, write):
    samples = minutes(3, 50_000, 1_000, acks=18_500, consumer_utilisation=0.74)
    files = series(write, [api_consumer(1_000)], samples)
    queue = advise(*files, "--interval", "60s", "--rtt", "0.25ms").only
    assert queue["verdict"] == "processing-bound"
    assert queue["rule"]["prefetch"] < 30
    assert queue["recommended"]["prefetch"] <= 1_000
    assert "prefetch-below-round-trip" not in findings(queue)


def test_c203_consumers_of_one_channel_share_its_thread(advise, write):
    consumers = [api_consumer(100, tag=tag) for tag in range(4)]
    files = series(write, consumers, minutes(3, 1_000, 400, acks=20, grows=10))
    options = ["--interval", "60s", "--processing-time", "50ms", "--rtt", "1ms"]
    queue = advise(*files, *options).only
    assert queue["verdict"] == "processing-bound"
    assert (
        "4 consumers are busy all the time on 1 channel"
        in (findings(queue)["add-consumers"]["message"])
    )
    assert "prefetch-too-large" in findings(queue)
    assert queue["recommended"]["prefetch"] <= 2


def test_c221_acks_that_leave_once_a_window_do_not_make_it_stuck_or_full(advise, write):
    held = (40, 130, 255, 12, 90, 250, 20)
    acked = [256 * windows for windows in (4, 8, 11, 16, 20, 23, 28)]
    samples = [
        {"messages_unacknowledged": n, "message_stats": counters(ack=a, deliver=a + n, publish=a)}
        for n, a in zip(held, acked, strict=True)
    ]
    queue = advise(*series(write, [api_consumer(256)], samples), "--interval", "5s").only
    assert queue["verdict"] == "keeping-up"
    # 24 windows in 30 s: the average, not the jumps
    assert queue["observed"]["ack_rate"] == pytest.approx(204.8)


def test_c221_a_backlog_read_in_whole_windows_loses_a_round_trip_for_each(advise, write):
    # 256 of 3 ms and 2 ms for the next 256
    files = series(write, [api_consumer(256)], minutes(4, 5_000, 256, acks=256 / 0.77, grows=10))
    options = ["--interval", "60s", "--batch", 256, "--processing-time", "3ms", "--rtt", "2ms"]
    queue = advise(*files, *options).only
    assert queue["verdict"] == "processing-bound"
    assert queue["current"]["busy_share"] == pytest.approx(256 * 3 / 770, abs=0.001)
    assert findings(queue)["batch-not-below-prefetch"]["severity"] == "warning"


# deliveries without progress, priorities -------------------------------------------------------


def again(share: float, rate: int = 100, held: int = 20, **fields: Any) -> list[dict[str, Any]]:
    """Four minutes in which this share of the deliveries is redelivered and the rest acked."""
    return [
        {
            "messages_unacknowledged": held,
            "message_stats": counters(
                ack=1_000 + round(60 * rate * (1 - share)) * i,
                deliver=2_000 + 60 * rate * i,
                deliver_get=2_000 + 60 * rate * i,
                redeliver=100 + round(60 * rate * share) * i,
                publish=1_000 + round(60 * rate * (1 - share)) * i,
            ),
            **fields,
        }
        for i in range(4)
    ]


QUORUM = {"type": "quorum", "arguments": {"x-queue-type": "quorum", "x-delivery-limit": 3}}


@pytest.mark.parametrize(("share", "told"), [(0.02, False), (0.3, True), (0.7, True)])
def test_c185_one_poison_message_drags_its_prefetched_neighbours_along(advise, write, share, told):
    files = series(write, [api_consumer(50)], again(share, **QUORUM))
    queue = advise(*files, "--interval", "60s").only
    assert ("many-redeliveries" in findings(queue)) == told
    if told:
        message = findings(queue)["many-redeliveries"]["message"]
        assert "gives back up to 50" in message
        assert "after 3 deliveries" in message


def test_c187_a_channel_for_each_message_gives_back_what_was_prefetched(advise, write):
    files = series(write, [api_consumer(4)], again(0.33, rate=15, held=2))
    options = ["--interval", "60s", "--processing-time", "20ms", "--rtt", "1ms"]
    queue = advise(*files, *options).only
    assert findings(queue)["many-redeliveries"]["help"].startswith("Set prefetch")
    assert "redelivery-loop" not in findings(queue)


def test_c185_a_loop_is_not_demand_and_asks_for_no_more_consumers(advise, write):
    samples = again(1.0, rate=50, held=10, messages_ready=500)
    files = series(write, [api_consumer(10)], samples)
    options = ["--interval", "60s", "--processing-time", "20ms", "--rtt", "1ms"]
    queue = advise(*files, *options).only
    assert "redelivery-loop" in findings(queue)
    assert not findings(queue).keys() & {"add-consumers", "many-redeliveries"}
    assert queue["recommended"]["consumers"] is None


@pytest.mark.parametrize(("prefetch", "defeated"), [(500, True), (2, False)])
def test_c211_a_large_prefetch_defeats_priorities(advise, write, prefetch, defeated):
    samples = minutes(3, 100, prefetch, acks=20, arguments={"x-max-priority": 5})
    queue = advise(*series(write, [api_consumer(prefetch)], samples), "--interval", "60s").only
    assert ("priorities-defeated" in findings(queue)) == defeated


# times -----------------------------------------------------------------------------------------


def test_c215_a_binder_s_default_of_1_starves_a_fast_handler(advise, write):
    work = write("t.csv", timings("processing_ms,rtt_ms", "0.2,1"))
    files = series(write, [api_consumer(1)], minutes(3, 5_000, 1, acks=833, grows=67))
    queue = advise(work, *files, "--queue", "q", "--interval", "60s").only
    assert queue["verdict"] == "round-trip-bound"
    assert queue["recommended"]["prefetch"] == queue["rule"]["prefetch"] == 6


def test_c249_an_early_ack_leaves_the_work_in_hand_unbounded(advise, write):
    work = write("t.csv", timings("processing_ms", "500"))
    samples = [
        {**sample, "messages_unacknowledged": i % 2}
        for i, sample in enumerate(minutes(5, 0, 1, acks=40))
    ]
    files = series(write, [api_consumer(5)], samples)
    queue = advise(work, *files, "--queue", "q", "--rtt", "1ms", "--interval", "60s").only
    # 20 in work, 0.4 unacked: near 0 is not idle
    assert queue["verdict"] == "keeping-up"
    assert "20 in work" in findings(queue)["early-ack"]["message"]


@pytest.mark.parametrize(("workers", "rule"), [(1, 41), (32, 1_312)])
def test_c271_a_poll_interval_plays_the_part_of_the_round_trip(advise, write, workers, rule):
    work = write("t.csv", timings("processing_ms,rtt_ms", "25,1000"))
    queue = advise(work, "--queue", "river", "--concurrency", workers).only
    assert queue["rule"]["prefetch"] == rule


def test_c259_without_an_interval_threads_over_p_is_the_capacity(advise, write):
    work = write("t.csv", timings("processing_ms", "500"))
    options = ["--queue", "solid", "--rtt", "1ms", "--arrival-rate", "60/min"]
    queue = advise(work, *options).only
    assert queue["offered_load"] == pytest.approx(0.5)
    assert queue["recommended"]["consumers"] == 1


def test_c279_counts_of_job_states_are_no_timings(advise, write):
    run = advise(write("oban.csv", "queue,state,count\ndefault,executing,10\n"))
    assert run.code == 3
    assert "no processing time" in run.err


# who consumes ----------------------------------------------------------------------------------


@pytest.fixture
def protocols(advise) -> dict[tuple[str, str], dict[str, Any]]:
    """A node with consumers of STOMP and MQTT, two shovels and a federation link, as it showed."""
    queues: dict[tuple[str, str], dict[str, Any]] = advise(*sorted(PROTOCOLS.glob("*.json"))).queues
    return queues


@pytest.mark.parametrize("name", ["shovelled.local", "shovelled.network"])
def test_c179_a_shovel_is_excused_be_it_direct_or_by_the_broker_s_address(protocols, name):
    queue = protocols["/", name]
    assert queue["limit"]["kind"] == "internal"
    assert queue["consumers"][0]["prefetch"] == 1_000
    assert queue["findings"] == []


def test_c213_stomp_without_its_header_has_no_limit_though_its_connection_is_direct(protocols):
    queue = protocols["/", "stomp.none"]
    assert queue["verdict"] == "unbounded"
    assert "prefetch-count of SUBSCRIBE" in findings(queue)["unbounded-prefetch"]["help"]
    # the channel shows the prefetch of another subscription, which was not meant for this one
    assert "qos-not-in-force" not in findings(queue)


def test_c213_stomp_with_its_header_is_limited_by_it(protocols):
    queue = protocols["/", "stomp.ten"]
    assert queue["limit"]["value"] == 10
    assert queue["verdict"] == "at-limit"


def test_c213_mqtt_is_excused(protocols):
    queue = protocols["/", "mqtt-subscription-sensorqos1"]
    assert queue["limit"]["kind"] == "internal"
    assert queue["findings"] == []


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"protocol": "Web MQTT 3-1-1"}, "internal"),
        ({"protocol": "Web STOMP 1.2", "type": "direct"}, "none"),
        ({"protocol": "AMQP 1-0"}, "credit"),
        ({"user_provided_name": "Federation link (upstream: up, policy: all)"}, "internal"),
        ({"client_properties": {"connection_name": "Shovel s"}}, "internal"),
        ({"user_provided_name": "Shovelware billing"}, "none"),
    ],
)
def test_c213_the_protocol_and_the_name_of_a_connection_tell_who_it_is(advise, saved, fields, kind):
    files = saved(
        queues=[whole(consumers=1, messages_ready=5, messages_unacknowledged=300)],
        consumers=[api_consumer(0)],
        channels=[channel(messages_unacknowledged=300)],
        connections=[connection(**fields)],
    )
    assert advise(*files).only["limit"]["kind"] == kind
