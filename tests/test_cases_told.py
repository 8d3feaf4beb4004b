"""The situations of test_cases.py and more of their kind, up to number 145, a line in a table each.

Left out are those that only a source, a setting or a schema shows; what a broker shows of them is
here where it says something that no other case does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Advise, Run, Write
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

Course = float | Callable[[float], float]


def at(course: Course, seconds: float) -> int:
    return int(course(seconds) if callable(course) else course)


def course(
    ready: Course,
    unacked: Course,
    ack: float = 0.0,
    publish: float = 0.0,
    *,
    deliver: float | None = None,
    count: int = 13,
    step: float = 5.0,
    **fields: Any,
) -> list[dict[str, Any]]:
    """Samples of a queue, ``step`` seconds apart; depths as numbers or by the second."""
    rates = {"ack": ack, "deliver": ack if deliver is None else deliver, "publish": publish}
    return [
        {
            "messages_ready": at(ready, step * i),
            "messages_unacknowledged": at(unacked, step * i),
            "message_stats": counters(**{k: 1_000 + round(v * step * i) for k, v in rates.items()}),
            **fields,
        }
        for i in range(count)
    ]


def each(prefetch: int, consumers: int = 1, **fields: Any) -> list[dict[str, Any]]:
    """Consumers, each on a channel of its own."""
    return [api_consumer(prefetch, i + 1, **fields) for i in range(consumers)]


def listing(ready: int, unacked: int, prefetches: list[int], *, ack: bool = True) -> str:
    """What rabbitmqctl list_queues and list_consumers print for a classic queue."""
    rows = "".join(
        f"q\t<rabbit@a.1.{i + 2}.0>\tctag{i}\t{str(ack).lower()}\t{prefetch}\ttrue\n"
        for i, prefetch in enumerate(prefetches)
    )
    return f"{QUEUES}q\tclassic\t{ready}\t{unacked}\t{len(prefetches)}\n\n{CONSUMERS}{rows}"


def channel(of: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The channel of a consumer as GET /api/channels lists it."""
    details = of["channel_details"]
    return {
        "name": details["name"],
        "vhost": "/",
        "number": 1,
        "connection_details": {"name": details["connection_name"]},
        "consumer_count": 1,
        "messages_unacknowledged": 0,
        "prefetch_count": 0,
        "global_prefetch_count": 0,
        "state": "running",
        **fields,
    }


def connection(of: dict[str, Any], protocol: str, product: str) -> dict[str, Any]:
    return {
        "name": of["channel_details"]["connection_name"],
        "protocol": protocol,
        "type": "network",
        "state": "running",
        "vhost": "/",
        "client_properties": {"product": product},
    }


@pytest.fixture
def watched(advise: Advise, write: Write) -> Callable[..., dict[str, Any]]:
    """Advice for samples of one queue from the management API, and other lists beside them."""

    def watched(
        consumers: list[dict[str, Any]],
        samples: list[dict[str, Any]],
        *options: object,
        step: float = 5.0,
        **lists: object,
    ) -> dict[str, Any]:
        files: list[Path] = series(write, consumers, samples)
        files += [write(f"{name}.json", json.dumps(value)) for name, value in lists.items()]
        run: Run = advise(*files, "--queue", "q", "--interval", f"{step}s", *options)
        return run.only

    return watched


# the round trip, and what looks like it --------------------------------------------------------


def test_c005_a_prefetch_for_bursts_is_a_hoard_and_comes_back_after_a_restart(advise, write):
    held = [(2, 50), (3, 500), (3, 1_300), (0, 2_000)]
    files = [write(f"q{i}.txt", listing(*depth, [500] * 4)) for i, depth in enumerate(held)]
    work = write("t.csv", timings("processing_ms,rtt_ms", "100,1"))
    queue = advise(*files, work, "--queue", "q", "--interval", "60s").only
    assert queue["verdict"] == "hoarding"
    assert queue["recommended"]["prefetch"] <= 2
    assert "2,000 messages again" in findings(queue)["prefetch-too-large"]["help"]
    assert "add-consumers" not in findings(queue)


def test_c007_a_low_utilisation_does_not_mean_busy_consumers(watched):
    low = course(lambda t: 500 + t, 1, ack=50, publish=51, consumer_utilisation=0.14)
    queue = watched(each(1), low)
    assert queue["verdict"] == "at-limit"
    assert "add-consumers" not in findings(queue)
    assert watched(each(1), low, "--rtt", "18ms")["verdict"] == "round-trip-bound"


def test_c007_a_full_utilisation_beside_a_growing_queue_is_not_the_prefetch(watched):
    growing = course(lambda t: 500 + 100 * t, 40, ack=5_000, publish=5_100, consumer_utilisation=1)
    queue = watched(each(100), growing)
    assert queue["verdict"] == "delivery-limited"
    assert "own core" in queue["verdict_reason"]
    assert queue["recommended"]["prefetch"] is None


def test_c009_aggregates_need_as_many_in_hand_as_they_aggregate(advise, write, watched):
    """8 drains of 500 each, cut to 20; before, without a limit, they held 4,000."""
    before = advise(write("before.txt", listing(0, 4_000, [0] * 8))).only
    assert before["verdict"] == "unbounded"
    cut = course(lambda t: 1_000 + 20 * t, 160, ack=400, publish=420)
    for options in (["--concurrency", 500], ["--batch", 250]):
        queue = watched(each(20, 8), cut, "--rtt", "1ms", *options)
        assert queue["verdict"] == "round-trip-bound"
        assert queue["recommended"]["prefetch"] == 500
        assert "add-consumers" not in findings(queue)


@pytest.mark.parametrize(
    ("prefetch", "batch", "options", "advised"),
    [
        # C069: the endpoint's limit, cores of the machine, is below the batch
        (12, 30, ["--processing-time", "5ms", "--rtt", "1ms"], 60),
        # C071: the library's default
        (10, 156, [], 312),
    ],
)
def test_batches_that_never_fill_wait_for_a_timer(watched, prefetch, batch, options, advised):
    samples = course(lambda t: 300 + t, prefetch, ack=9, publish=10)
    queue = watched(each(prefetch), samples, "--batch", batch, *options)
    assert queue["verdict"] == "round-trip-bound"
    assert "timer" in queue["verdict_reason"]
    assert queue["recommended"]["prefetch"] == advised
    assert "timer" in findings(queue)["batch-not-below-prefetch"]["message"]
    assert not {"add-consumers", "acks-held-by-client"} & findings(queue).keys()


def test_a_batch_above_the_prefetch_does_not_hide_consumers_that_are_busy(watched):
    samples = course(lambda t: 300 + t, 12, ack=9, publish=10)
    busy = watched(each(12), samples, "--batch", 30, "--processing-time", "110ms", "--rtt", "1ms")
    assert busy["verdict"] == "processing-bound"


def test_c037_what_is_called_short_is_not_lowered(watched):
    """A prefetch of 1,000 on a classic queue: above some hundreds more of it gives little."""
    samples = course(lambda t: 9e5 - 15_000 * t, 1_000, ack=15_000)
    queue = watched(each(1_000), samples, "--rtt", "40ms", "--processing-time", "0.05ms")
    assert queue["verdict"] == "round-trip-bound"
    assert queue["recommended"]["prefetch"] > 1_000
    assert "above 300" in queue["recommended"]["reason"]


def test_c075_a_ping_is_not_the_delay_of_the_acks(advise, write, watched):
    samples = course(lambda t: 300 + t, 10, ack=10, publish=11)
    pinged = ["--processing-time", "10ms", "--rtt", "0.3ms", "--concurrency", 10]
    queue = watched(each(10), samples, *pinged)
    assert queue["verdict"] == "round-trip-bound"
    assert "990 ms" in findings(queue)["acks-held-by-client"]["message"]
    assert "add-consumers" not in findings(queue)
    delay = write("t.csv", timings("processing_ms,ack_delay_ms", "10,1000"))
    assert advise(delay, "--queue", "q").only["rtt"]["mean"] == pytest.approx(1)


def test_c111_a_prefetch_of_as_many_as_there_are_workers_covers_no_round_trip(watched):
    samples = course(lambda t: 500 + 10 * t, 10, ack=500, publish=510)
    options = ["--concurrency", 10, "--processing-time", "5ms", "--rtt", "15ms"]
    queue = watched(each(10), samples, *options)
    assert queue["verdict"] == "round-trip-bound"
    assert queue["recommended"]["prefetch"] == 40
    fewer = watched(each(8), course(0, 3, ack=200, publish=200), *options)
    assert "prefetch-below-concurrency" in findings(fewer)


# work, and who does it -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "acks", "verdict", "consumers"),
    [(1, 163.7, "processing-bound", 14), (5, 828, "processing-bound", 3), (20, 1_999, "", 1)],
)
def test_c017_three_dispatch_concurrencies(watched, workers, acks, verdict, consumers):
    """2,000/s of 5.6 ms each, to a client that works on 1, 5 or 20 at once."""
    options = ["--processing-time", "5.6ms", "--rtt", "0.2ms"]
    keeps_up = workers == 20
    ready = 0 if keeps_up else lambda t: 3_000 + (2_000 - acks) * t
    samples = course(ready, 12 if keeps_up else 50, ack=acks, publish=2_000)
    queue = watched(each(50), samples, *options, "--concurrency", workers)
    assert queue["verdict"] == (verdict or "keeping-up")
    assert queue["recommended"]["consumers"] == consumers
    assert queue["recommended"]["prefetch"] < 50


@pytest.mark.parametrize(
    ("prefetch", "acks", "processing", "workers"), [(50, 828, "5.6ms", 5), (100, 500, "0.1s", 50)]
)
def test_c017_c105_more_at_once_than_was_said_gets_no_numbers(
    watched, prefetch, acks, processing, workers
):
    """Neither a prefetch of one, which would starve its workers, nor consumers that are one."""
    samples = course(lambda t: 500 + 100 * t, prefetch, ack=acks, publish=acks + 100)
    options = ["--processing-time", processing, "--rtt", "0.2ms"]
    queue = watched(each(prefetch), samples, *options)
    assert queue["verdict"] == "processing-bound"
    assert queue["recommended"]["prefetch"] is queue["recommended"]["consumers"] is None
    assert f"--concurrency {workers}" in findings(queue)["inconsistent-input"]["help"]
    assert not {"add-consumers", "prefetch-too-large"} & findings(queue).keys()
    known = watched(each(prefetch), samples, *options, "--concurrency", workers)
    assert known["verdict"] == "processing-bound"
    assert workers <= known["recommended"]["prefetch"] < prefetch
    assert "add-consumers" in findings(known)


def test_c019_a_client_that_waits_for_an_answer_needs_its_rate_times_its_wait(watched):
    samples = course(lambda t: 500 + 109 * t, 1, ack=1, publish=110)
    queue = watched(
        each(1), samples, "--concurrency", "async", "--processing-time", "1s", "--rtt", "1ms"
    )
    assert queue["verdict"] == "round-trip-bound"
    # 110/s x 1 s, 80 % of it in use
    assert queue["recommended"]["prefetch"] == 138
    assert "busy" not in findings(queue)["prefetch-below-round-trip"]["message"]
    assert "add-consumers" not in findings(queue)


def test_c021_order_forbids_more_consumers(watched):
    samples = course(lambda t: 50_000 + 1_000 * t, 350, ack=12_800, publish=13_800)
    queue = watched(each(1_000), samples, "--ordered", "--processing-time", "0.07ms")
    assert queue["verdict"] == "delivery-limited"
    assert queue["recommended"]["consumers"] is None
    assert not {"add-consumers", "prefetch-below-round-trip"} & findings(queue).keys()


def test_c023_a_burst_is_no_lasting_shortage(watched):
    """100/s for 20 s to a consumer of 50/s, then nothing."""

    def backlog(t: float) -> float:
        return 50 * t if t <= 20 else max(0, 1_000 - 50 * (t - 20))

    samples = course(backlog, lambda t: 50 if t <= 40 else 0)
    for i, sample in enumerate(samples):
        done, came = 50 * min(5 * i, 40), 100 * min(5 * i, 20)
        sample["message_stats"] = counters(ack=done, deliver=done + 50, publish=came)
    options = ["--rtt", "1ms"]
    assert watched(each(50), samples, *options)["verdict"] == "keeping-up"
    within = watched(each(50), samples[1:5], *options)
    assert within["verdict"] == "processing-bound"
    assert 2 <= within["recommended"]["consumers"] <= 3
    hurried = watched(each(50), samples[1:3], *options)
    assert hurried["confidence"] == "low"
    drains = watched(each(50), samples[4:8], *options)
    assert "add-consumers" not in findings(drains)


def test_c025_five_hours_behind(advise, write):
    """100,000 messages in 5 h by 30 workers are 5.4 s each; the sums need no broker."""
    work = write("t.csv", timings("processing_s", "5.4"))
    options = ["--concurrency", 30, "--arrival-rate", "8/s", "--rtt", "1ms"]
    queue = advise(work, "--queue", "q", *options).only
    assert queue["offered_load"] == pytest.approx(43.2)
    assert queue["recommended"]["least_consumers"] == 2
    behind = write("q.txt", listing(100_000, 0, []))
    queue = advise(work, behind, "--queue", "q", *options, "--drain-within", "1h").only
    # 8/s + 100,000 in an hour, of 5.4 s, by 30 at 80 %
    assert queue["recommended"]["consumers"] == 9


def test_c043_no_prefetch_is_raised_and_no_arrival_believed_under_an_alarm(watched):
    samples = course(lambda t: 2.1e6 + 300 * t, 150, ack=150, publish=450)
    node = {"name": "rabbit@a", "mem_alarm": True, "disk_free_alarm": False, "running": True}
    queue = watched(each(50, 3), samples, "--rtt", "1ms", nodes=[node])
    assert queue["verdict"] == "processing-bound"
    assert queue["arrival_rate"]["source"] == "bound"
    assert queue["recommended"]["consumers"] is None
    assert queue["recommended"]["least_consumers"] == 10
    assert queue["recommended"]["prefetch"] <= 50
    assert "at least 10" in findings(queue)["add-consumers"]["message"]


def test_c067_a_prefetch_is_no_parallelism(watched):
    samples = course(lambda t: 300 + t, 10, ack=1, publish=2)
    queue = watched(each(10), samples, "--processing-time", "1s", "--rtt", "1ms")
    assert queue["verdict"] == "processing-bound"
    assert queue["recommended"]["prefetch"] == 1
    assert queue["recommended"]["consumers"] == 3


def test_c117_waiting_for_what_comes_after_is_work_whatever_the_credit(watched):
    """AMQP 1.0: no prefetch is listed, but half a message a second of 2 s each is all of one."""
    consumers = each(0)
    links = [connection(consumers[0], "AMQP 1.0", "smallrye")]
    slow = course(lambda t: 100 + 4.5 * t, 1, ack=0.5, publish=5)
    options = ["--processing-time", "2s", "--rtt", "1ms"]
    queue = watched(consumers, slow, *options, connections=links)
    assert queue["verdict"] == "processing-bound"
    assert queue["limit"]["kind"] == "credit"
    assert queue["recommended"]["consumers"] == 13
    unknown = watched(consumers, slow, connections=links)
    assert unknown["verdict"] == "unknown"
    assert any("credit" in missing for missing in unknown["missing"])
    assert "credit" in findings(unknown)["no-data"]["help"]


# too much in hand ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefetch", "consumers", "workers", "processing", "advised"),
    [
        pytest.param(1_000, 4, 1, "50ms", 2, id="C041 one takes all, three idle"),
        pytest.param(32, 1, 8, "10min", 8, id="C077 four for each process, long tasks"),
        pytest.param(16, 2, 4, "1h", 4, id="C093 behind tasks of a day"),
        pytest.param(24, 24, 1, "100ms", 1, id="C097 24 workers with 24 each"),
        pytest.param(8, 1, 2, "2min", 2, id="C113 unseen in the buffers of workers"),
        pytest.param(3, 1, 1, "10min", 1, id="C133 a default of 3 for encoding jobs"),
        pytest.param(250, 10, 1, "100ms", 1, id="C137 250 each of up to 10"),
    ],
)
def test_the_broker_s_number_is_the_product_and_it_is_too_large(
    advise, write, prefetch, consumers, workers, processing, advised
):
    file = write("q.txt", listing(0, prefetch * consumers - 1, [prefetch] * consumers))
    options = ["--processing-time", processing, "--rtt", "2ms", "--concurrency", workers]
    queue = advise(file, *options, "--consumer-timeout", "48h").only
    assert queue["limit"]["value"] == prefetch * consumers
    assert queue["recommended"]["prefetch"] == advised
    assert "prefetch-too-large" in findings(queue)


def test_a_second_message_of_half_a_minute_is_not_too_much(advise, write):
    file = write("q.txt", listing(0, 1, [2]))
    queue = advise(file, "--processing-time", "30s", "--rtt", "2ms").only
    assert "prefetch-too-large" not in findings(queue)


def test_c101_consumers_times_prefetch_is_the_limit(advise, write):
    queue = advise(write("q.txt", listing(0, 3, [10] * 10))).only
    assert queue["limit"]["value"] == 100


def test_c035_half_of_300_000_are_held(advise, write, watched):
    shown = listing(150_000, 150_000, [0] * 5) + "\n" + CHANNELS
    shown += "".join(f"<rabbit@a.1.{i + 2}.0>\t1.2.3.4:{i} (1)\t1\t0\t0\n" for i in range(5))
    assert advise(write("q.txt", shown)).only["verdict"] == "unbounded"
    drains = course(lambda t: 150_000 - 150 * t, 150_000, ack=150)
    queue = watched(each(30_000, 5), drains, "--rtt", "1ms")
    assert "16 min 40 s" in findings(queue)["prefetch-too-large"]["message"]
    assert queue["recommended"]["prefetch"] <= 10


def test_c137_samples_of_a_number_of_consumers_that_varies(advise, write):
    files = []
    for i, count in enumerate((1, 2, 4)):
        total = 1_000 + 1_200 * i
        stats = counters(ack=total - 250 * count, deliver=total, publish=total)
        one = api_queue(consumers=count, messages_unacknowledged=250 * count, message_stats=stats)
        files.append(write(f"queues{i}.json", json.dumps([one])))
        files.append(write(f"consumers{i}.json", json.dumps(each(250, count))))
    options = ["--interval", "60s", "--processing-time", "100ms", "--rtt", "1ms"]
    queue = advise(*files, *options).only
    assert queue["limit"]["value"] == 1_000
    assert queue["verdict"] == "hoarding"
    assert queue["recommended"]["prefetch"] == 1


# no limit --------------------------------------------------------------------------------------


def test_c033_a_maximal_length_is_no_bound_of_what_is_unacked(watched):
    consumers = each(0)
    grows = course(
        0, lambda t: 10_000 + 100 * t, deliver=100, publish=100, arguments={"x-max-length": 1_000}
    )
    channels = [channel(consumers[0], messages_unacknowledged=16_000)]
    queue = watched(consumers, grows, channels=channels)
    assert queue["verdict"] == "unbounded"
    assert "ready messages only" in findings(queue)["unbounded-prefetch"]["help"]
    assert "no-acks" in findings(queue)
    for sample in grows:
        del sample["arguments"]
    plain = watched(consumers, grows, channels=channels)
    assert "ready messages only" not in findings(plain)["unbounded-prefetch"]["help"]


@pytest.mark.parametrize("held", [0, 300])
def test_c055_and_others_prefetch_0_is_no_limit(advise, write, held):
    """So a broker shows C047, C049, C055, C065, C115, C119, C135, C143 and C145."""
    shown = listing(0, held, [0]) + f"\n{CHANNELS}<rabbit@a.1.2.0>\t1.2.3.4:1 (1)\t1\t0\t0\n"
    run = advise(write("q.txt", shown), "--fail-on", "error")
    assert run.code == 1
    assert run.only["verdict"] == "unbounded"
    assert "unbounded-prefetch" in findings(run.only)


@pytest.mark.parametrize(("prefetch", "ignored"), [(100, "100"), (50, "50"), (0, None)])
def test_c051_c053_c121_automatic_ack_voids_every_prefetch(advise, write, prefetch, ignored):
    run = advise(write("q.txt", listing(0, 0, [prefetch], ack=False)), "--fail-on", "error")
    assert run.code == 1
    assert run.only["verdict"] == "unbounded"
    message = findings(run.only)["auto-ack-ignores-prefetch"]["message"]
    assert ("ignored" in message) is (ignored is not None)
    assert ignored is None or ignored in message


def test_c063_the_limit_is_on_the_channel_or_it_is_not_known(watched):
    consumers, sample = each(0), course(20, 5, count=1)
    queue = watched(consumers, sample, channels=[channel(consumers[0], global_prefetch_count=16)])
    assert (queue["limit"]["value"], queue["limit"]["kind"]) == (16, "channel")
    assert "unbounded-prefetch" not in findings(queue)
    unseen = watched(consumers, sample)
    assert unseen["verdict"] == "unknown"
    assert "global_prefetch_count" in findings(unseen)["no-data"]["help"]


def test_c143_without_a_limit_every_call_is_made_at_once(watched):
    """The prefetch of such a client is what the service it calls has to bear."""
    samples = course(0, 300, ack=30, publish=30)
    options = ["--concurrency", "async", "--processing-time", "10s", "--rtt", "1ms"]
    consumers = each(0)
    queue = watched(consumers, samples, *options, channels=[channel(consumers[0])])
    assert queue["verdict"] == "unbounded"
    assert queue["recommended"]["prefetch"] == 376  # 30/s x 10.001 s, 80 % of it in use
    assert "bear" in queue["recommended"]["reason"]


# nothing moves ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefetch", "consumers", "ready", "fields", "options"),
    [
        pytest.param(1_000, 1, 500, {"type": "quorum"}, ["--batch", 1_000], id="C027"),
        pytest.param(100, 1, 300, {}, [], id="C083"),
        pytest.param(4, 1, 300, {"type": "quorum"}, ["--concurrency", 4], id="C085"),
        pytest.param(10, 1, 5_000, {}, [], id="C099"),
        pytest.param(50, 1, 100, {}, [], id="C107"),
    ],
)
def test_a_full_window_without_an_ack_is_stalled(
    watched, prefetch, consumers, ready, fields, options
):
    held = prefetch * consumers
    queue = watched(each(prefetch, consumers), course(ready, held, **fields), *options)
    assert queue["verdict"] == "stalled"
    assert "no-acks" in findings(queue)
    assert "add-consumers" not in findings(queue)
    assert queue["recommended"]["prefetch"] is queue["recommended"]["consumers"] is None
    assert ("batch-not-below-prefetch" in findings(queue)) is ("--batch" in options)


@pytest.mark.parametrize(("product", "said"), [("py-amqp", True), ("pika", False)])
def test_c083_what_celery_holds_may_be_waiting_for_its_time(watched, product, said):
    consumers = each(100)
    connections = [connection(consumers[0], "AMQP 0-9-1", product)]
    queue = watched(consumers, course(300, 100), connections=connections)
    assert ("ETA" in findings(queue)["no-acks"]["help"]) is said


def test_c081_a_prefetch_that_rises_is_no_setting(advise, write):
    """Tasks with an ETA raise the limit of their worker, until it is no limit any more."""

    def shown(*limits: int) -> list[Path]:
        return [
            write(
                f"q{i}.txt",
                listing(0, limit, [0])
                + f"\n{CHANNELS}<rabbit@a.1.2.0>\t1.2.3.4:1 (1)\t1\t0\t{limit}\n",
            )
            for i, limit in enumerate(limits)
        ]

    queue = advise(*shown(14, 140, 1_400), "--interval", "60s").only
    assert "14, then 1,400" in findings(queue)["prefetch-grows"]["message"]
    # a worker more
    queue = advise(*shown(40, 44), "--interval", "60s").only
    assert "prefetch-grows" not in findings(queue)


def test_c029_a_consumer_to_which_nothing_is_delivered(advise, write, watched):
    run = watched(each(10), course(56_000, 0))
    files = [write(f"q{i}.txt", listing(56_000, 0, [10])) for i in range(3)]
    listed = advise(*files, "--interval", "30s", "--fail-on", "warning")
    assert listed.code == 1
    for queue in (run, listed.only):
        assert queue["verdict"] == "delivery-limited"
        assert "room for 10" in findings(queue)["nothing-delivered"]["message"]
    flows = watched(each(10), course(56_000, 3, ack=40, publish=40))
    assert flows["verdict"] == "delivery-limited"
    assert "nothing-delivered" not in findings(flows)
    away = watched(each(10, 2, active=False, activity_status="suspected_down"), course(56_000, 0))
    assert "none of 2" in findings(away)["nothing-delivered"]["message"]
    short = watched(each(10), course(56_000, 0, count=3))
    assert "nothing-delivered" not in findings(short)


def test_c031_a_channel_holds_the_prefetch_of_each_of_its_consumers(advise, write):
    """4 unacked at prefetch 1: legal, for the channel has a consumer on each of 4 queues."""
    names = [f"q{i}" for i in range(4)]
    rows = "".join(f"{name}\tclassic\t200\t1\t1\n" for name in names)
    consumers = "".join(f"{name}\t<rabbit@a.1.2.0>\t{name}\ttrue\t1\ttrue\n" for name in names)
    shown = f"{QUEUES}{rows}\n{CONSUMERS}{consumers}\n"
    shown += "pid\tname\tconsumer_count\tmessages_unacknowledged\tprefetch_count\n"
    shown += "<rabbit@a.1.2.0>\t1.2.3.4:1 (1)\t4\t4\t1\n"
    for queue in advise(write("q.txt", shown)).queues.values():
        assert queue["verdict"] == "at-limit"
        assert findings(queue).keys() == {"no-rates"}

    listed = [api_consumer(1, tag=name, queue={"name": name, "vhost": "/"}) for name in names]
    stats = counters(ack=50, deliver=51, publish=251)
    depth = {"messages_ready": 200, "messages_unacknowledged": 1, "message_stats": stats}
    queues = json.dumps([api_queue(name=name, consumers=1, **depth) for name in names])
    files = [write(f"queues{i}.json", queues) for i in range(3)]
    files.append(write("consumers.json", json.dumps(listed)))
    four = channel(listed[0], consumer_count=4, messages_unacknowledged=4, prefetch_count=1)
    files.append(write("channels.json", json.dumps([four])))
    for queue in advise(*files, "--interval", "60s").queues.values():
        assert queue["verdict"] == "stalled"
        assert findings(queue).keys() == {"no-acks"}


def test_c073_a_batch_that_waits_for_its_last_messages(watched):
    """Prefetch and batch 10, and no more than 7 came: no timer acks them."""
    tail = course(0, 7, step=180)
    queue = watched(each(10), tail, "--batch", 10, step=180)
    assert queue["verdict"] == "stalled"
    assert "batch of 10 to fill" in queue["verdict_reason"]
    assert "timer" in findings(queue)["no-acks"]["help"]
    assert "batch" not in watched(each(10), tail, step=180)["verdict_reason"]


# looks worse than it is ------------------------------------------------------------------------


def test_c125_what_was_delivered_at_the_start_passes(advise, write, watched):
    run = advise(write("q.txt", listing(500, 210, [10])), "--fail-on", "error")
    assert run.code == 0
    assert run.only["confidence"] == "low"
    assert findings(run.only)["unacked-above-limit"]["severity"] == "info"
    later = course(500, lambda t: 10 if t else 210, ack=20, publish=20)
    assert "unacked-above-limit" not in findings(watched(each(10), later))


def test_c139_ten_seconds_without_an_ack_are_no_stall(advise, write, watched):
    """After a break of the network some stay unacked until heartbeats tell who is gone."""
    stands = course(40, 32, count=2, step=10)
    queue = watched(each(16, 2), stands, "--concurrency", 4, step=10)
    assert queue["verdict"] == "at-limit"
    assert "too short" in queue["verdict_reason"]
    assert "no-acks" not in findings(queue)
    lasts = course(40, 32, count=19, step=10)
    assert watched(each(16, 2), lasts, "--concurrency", 4, step=10)["verdict"] == "stalled"


@pytest.mark.parametrize(
    ("prefetch", "held", "defeated"), [(500, 120, True), (2, 1, False)], ids=["deep", "shallow"]
)
def test_c129_priorities_order_only_what_still_waits(advise, write, prefetch, held, defeated):
    columns = "name\ttype\tmessages_ready\tmessages_unacknowledged\tconsumers\targuments\n"
    shown = f'{columns}q\tclassic\t0\t{held}\t1\t[{{"x-max-priority",10}}]\n\n'
    shown += f"{CONSUMERS}q\t<rabbit@a.1.2.0>\tctag\ttrue\t{prefetch}\ttrue\n"
    queue = advise(write("q.txt", shown), "--processing-time", "20ms", "--rtt", "1ms").only
    assert ("priorities-defeated" in findings(queue)) is defeated


@pytest.mark.parametrize(("held", "early"), [(0, True), (4, False)])
def test_c079_acked_before_the_work_the_prefetch_bounds_nothing(watched, held, early):
    """4/s of 1 s each are 4 in work, whether the broker sees them or not."""
    samples = course(0, held, ack=4, publish=4)
    queue = watched(each(8), samples, "--processing-time", "1s", "--rtt", "1ms", "--concurrency", 8)
    assert ("early-ack" in findings(queue)) is early


@pytest.mark.parametrize("ranked", [True, False])
def test_c131_consumers_of_different_priority_are_not_unequal(watched, ranked):
    priorities = range(4) if ranked else [0] * 4
    consumers = [
        api_consumer(4, i + 1, arguments={"x-priority": priority})
        for i, priority in enumerate(priorities)
    ]
    channels = [
        channel(
            one,
            messages_unacknowledged=4,
            message_stats={"ack": 100, "ack_details": {"rate": 10.0 * (i + 1)}},
        )
        for i, one in enumerate(consumers)
    ]
    queue = watched(consumers, course(40, 16, ack=100, publish=100), channels=channels)
    assert ("unequal-consumers" in findings(queue)) is not ranked
    alone = watched(consumers, course(0, 4, ack=40, publish=40))
    assert alone["verdict"] == "keeping-up"
    assert alone["limit"]["value"] == 16


def test_c141_two_consumers_that_share_a_limit_of_one(advise, write):
    rows = "".join(f"q\t<rabbit@a.1.2.0>\t{tag}\ttrue\t0\ttrue\n" for tag in "ab")
    shown = f"{QUEUES}q\tclassic\t30\t1\t2\n\n{CONSUMERS}{rows}\n"
    shown += f"{CHANNELS}<rabbit@a.1.2.0>\t1.2.3.4:1 (1)\t2\t0\t1\n"
    queue = advise(write("q.txt", shown)).only
    assert queue["verdict"] == "at-limit"
    assert queue["limit"]["value"] == 1
    assert "global-qos" in findings(queue)


def test_c013_a_loop_of_gets_is_no_consumer(advise, write):
    fetched = {"get": 100, "ack": 100, "publish": 100}
    stats: dict[str, Any] = dict(fetched)
    stats |= {f"{name}_details": {"rate": 20.0} for name in fetched}
    one = api_queue(messages_ready=5_000, message_stats=stats)
    files = [
        write("queues.json", json.dumps([one])),
        write("consumers.json", "[]"),
        write("overview.json", overview("4.0.5")),
    ]
    queue = advise(*files).only
    assert queue["verdict"] == "polling"
    assert "20/s" in findings(queue)["polling-consumer"]["message"]
