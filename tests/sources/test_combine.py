"""All inputs into one observation a queue: joins, series, precedence, and what contradicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake, LengthSample, QueueObservation
from prefetch_advisor.model.timing import TimingRow
from prefetch_advisor.sources.combine import Fleet, combine
from prefetch_advisor.sources.json_documents import read_json
from prefetch_advisor.sources.json_text import decode
from prefetch_advisor.sources.rabbitmqctl_text import read_text

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
VERSIONS = ("3.10", "4.3")


def files(*paths: str) -> list[Intake]:
    found: list[Intake] = []
    for path in paths:
        text = decode((CAPTURES / path).read_bytes())
        reader = read_text if path.endswith(".table") else read_json
        found.extend(reader(text, path))
    return found


def api(document: object, where: str = "api.json") -> list[Intake]:
    return read_json(json.dumps(document), where)


def ctl(text: str, where: str = "ctl.txt") -> list[Intake]:
    return read_text(text, where)


def timings(name: str | None = None, vhost: str | None = None, where: str = "t.csv") -> Intake:
    return Intake(where, timings=(TimingRow(where, vhost, name, rows=10),))


def queue(fleet: Fleet, name: str, vhost: str = "/") -> QueueObservation:
    (found,) = [one for one in fleet.queues if (one.key.vhost, one.key.name) == (vhost, name)]
    return found


def prefetch(observation: QueueObservation) -> list[int] | None:
    if observation.consumers is None:
        return None
    return sorted(one.row.prefetch for one in observation.consumers if one.row.prefetch is not None)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_api_is_joined_by_vhost_queue_channel_and_connection(version: str) -> None:
    names = ("queues", "consumers", "channels", "connections", "overview", "nodes")
    fleet = combine(files(*(f"{version}/api/{name}.json" for name in names)))
    assert len(fleet.queues) == 33
    assert fleet.notes == ()
    assert fleet.lists == {"queues", "consumers", "channels", "connections"}
    assert fleet.broker.version in ("3.10.8", "4.3.6")
    assert [one.key for one in fleet.queues] == sorted(one.key for one in fleet.queues)
    here, there = queue(fleet, "sc.saturated"), queue(fleet, "sc.saturated", "a/b c")
    assert (prefetch(here), prefetch(there)) == ([10, 10, 10], [2])
    assert here.consumers is not None
    for consumer in here.consumers:
        assert consumer.channel is not None
        assert consumer.channel.row.unacked == 10
        assert consumer.channel.queues == {"sc.saturated"}
        assert consumer.connection is not None
        assert consumer.connection is consumer.channel.connection
        assert consumer.connection.protocol == "AMQP 0-9-1"
    assert queue(fleet, "sc.noconsumers").consumers == ()
    assert not any(one.contradictions or one.vhost_assumed for one in fleet.queues)
    shared = queue(fleet, "sc.global_qos").consumers
    assert shared is not None
    assert shared[0].channel is shared[1].channel
    stream = queue(fleet, "sc.stream").consumers
    assert stream is not None
    # before 4.3 it is listed as not active, and that means nothing
    assert stream[0].row.active is (None if version == "3.10" else True)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("form", ["table", "json"])
def test_rabbitmqctl_alone_shows_the_same_consumers(version: str, form: str) -> None:
    broker = combine(files(*(f"{version}/api/{name}.json" for name in ("queues", "consumers"))))
    names = ("list_queues_all", "list_consumers_cols", "list_channels_cols")
    fleet = combine(files(*(f"{version}/ctl/{name}.{form}" for name in names)))
    assert len(fleet.queues) == 31
    assert all(one.vhost_assumed is (form == "json") for one in fleet.queues)
    for one in fleet.queues:
        if one.key.name == "sc.stream":
            # list_consumers never holds the consumers of streams
            assert one.consumers is None
            assert one.contradictions == ()
            continue
        other = queue(broker, one.key.name)
        assert prefetch(one) == prefetch(other)
        assert one.consumers is not None
        assert all(
            c.channel is not None and c.channel.row.unacked is not None for c in one.consumers
        )
        assert one.row is not None
        assert one.row.rates is None
        assert one.contradictions == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_pids_of_a_table_and_of_json_are_the_same_channels(version: str) -> None:
    fleet = combine(
        files(f"{version}/ctl/list_consumers_cols.json", f"{version}/ctl/list_channels_cols.table")
    )
    (consumer,) = queue(fleet, "sc.quorum0").consumers or ()
    assert consumer.channel is not None
    assert consumer.channel.row.unacked == 2000
    assert queue(fleet, "sc.quorum0").row is None


def test_pids_are_not_confused_between_nodes() -> None:
    listed = "queue_name\tchannel_pid\tprefetch_count\nq\t<rabbit@a.1.5.0>\t1\n"
    exact = "pid\tmessages_unacknowledged\tconsumer_count\n<rabbit@b.1.5.0>\t9\t1\n"
    fleet = combine(ctl(f"{listed}\n{exact}<rabbit@a.1.5.0>\t3\t1\n"))
    (consumer,) = queue(fleet, "q").consumers or ()
    assert consumer.channel is not None
    assert consumer.channel.row.unacked == 3
    both = "r\t<rabbit@b.1.5.0>\t1\n"
    other = '[{"pid":"#PID<1.5.0>","consumer_count":1,"messages_unacknowledged":7}]'
    fleet = combine([*ctl(listed + both), *read_json(other, "channels.json")])
    assert all(one.channel is None for one in queue(fleet, "q").consumers or ())
    assert "none of 1 channels could be joined" in fleet.notes[0]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("prefix", ["api_queues", "ctl_list_queues"])
def test_inputs_that_name_a_queue_again_are_a_series(version: str, prefix: str) -> None:
    series = files(*(f"{version}/series/{prefix}_{n:02}.json" for n in range(13)))
    row = queue(combine(series, interval=5.0), "sc.saturated").row
    assert row is not None
    assert [sample.at for sample in row.lengths] == [5.0 * step for step in range(13)]
    ready = [sample.ready or 0 for sample in row.lengths]
    assert 28 < (ready[-1] - ready[0]) / 60 < 40
    assert row.ready == ready[-1]
    untimed = queue(combine(series), "sc.saturated").row
    assert untimed is not None
    assert {sample.at for sample in untimed.lengths} == {None}
    assert [sample.ready for sample in untimed.lengths] == ready
    assert untimed.traffic == ()


def test_totals_of_a_series_are_samples_only_with_an_interval() -> None:
    def state(acks: int) -> list[Intake]:
        stats = {"ack": acks, "ack_details": {"rate": 2.0}, "deliver": acks, "deliver_get": acks}
        row = {"name": "q", "vhost": "/", "messages_ready": 5, "messages_unacknowledged": 1}
        channel = {"name": "c (1)", "connection_details": {}, "message_stats": stats}
        return (
            api([{**row, "message_stats": stats}])
            + api([channel])
            + api([{"queue": {"name": "q", "vhost": "/"}, "channel_details": {"name": "c (1)"}}])
        )

    inputs = state(10) + state(40) + state(90)
    timed = queue(combine(inputs, interval=10), "q")
    assert timed.row is not None
    assert [(s.at, s.totals.ack) for s in timed.row.traffic] == [(0, 10), (10, 40), (20, 90)]
    assert timed.row.has_stats
    (consumer,) = timed.consumers or ()
    assert consumer.channel is not None
    assert [s.at for s in consumer.channel.row.traffic] == [0, 10, 20]
    untimed = queue(combine(inputs), "q").row
    assert untimed is not None
    assert [(s.at, s.totals.ack) for s in untimed.traffic] == [(None, 90)]


@pytest.mark.parametrize("version", VERSIONS)
def test_rates_saved_alone_cover_a_series_of_short_steps(version: str) -> None:
    series = files(*(f"{version}/series/api_queues_{n:02}.json" for n in range(13)))
    row = queue(combine(series, interval=5.0), "sc.saturated").row
    assert row is not None
    first, last = row.traffic[0], row.traffic[-1]
    assert (first.at, last.at, len(row.traffic)) == (0.0, 60.0, 13)
    assert first.totals.ack == 0
    assert last.totals.ack is not None
    assert 140 < last.totals.ack / 60 < 150
    # columns picked acks and publishes: deliveries are unknown, not 0
    assert (first.totals.deliver, last.totals.deliver, row.has_stats) == (None, None, False)
    slow = queue(combine(series, interval=60.0), "sc.saturated").row
    assert slow is not None
    assert slow.traffic == ()


def test_a_queue_that_a_list_misses_keeps_its_place_in_the_series() -> None:
    def listed(vhost: str, *names: str) -> list[Intake]:
        rows = "".join(f"{name}\t1\n" for name in names)
        return ctl(f"Listing queues for vhost {vhost} ...\nname\tmessages_ready\n{rows}")

    inputs = (
        listed("/", "a", "b")
        + listed("other", "c")
        + listed("/", "a")
        + listed("other", "c")
        + listed("/", "a", "b")
    )
    fleet = combine(inputs, interval=10)

    def times(name: str, vhost: str = "/") -> list[float | None]:
        row = queue(fleet, name, vhost).row
        assert row is not None
        return [sample.at for sample in row.lengths]

    assert times("a") == [0, 10, 20]
    assert times("b") == [0, 20]
    assert times("c", "other") == [0, 10]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_history_is_preferred_to_a_series(version: str) -> None:
    inputs = files(
        f"{version}/series/api_queues_00.json",
        f"{version}/api/queue/sc.saturated.json",
        f"{version}/series/api_queues_01.json",
    )
    row = queue(combine(inputs, interval=5), "sc.saturated").row
    assert row is not None
    assert len(row.lengths) == len([s for s in row.traffic if s.totals.ack is not None]) == 13
    assert row.lengths[0].at is not None
    assert row.lengths[0].at > 1.7e9
    assert row.has_stats
    assert row.rates is not None
    assert row.rates.deliver is not None
    # the figure itself is that of the last input
    last = files(f"{version}/series/api_queues_01.json")[0].queues
    assert row.ready == next(r.ready for r in last if (r.vhost, r.name) == ("/", "sc.saturated"))


def test_management_wins_over_rabbitmqctl_which_fills_what_it_does_not_say() -> None:
    inputs = ctl("Listing queues for vhost / ...\nname\ttype\tmessages_ready\nq\tquorum\t104\n")
    inputs += api([{"name": "q", "vhost": "/", "messages_ready": 100, "consumers": 2}])
    one = queue(combine(inputs), "q")
    assert one.row is not None
    assert (one.row.ready, one.row.type, one.row.consumers) == (100, "quorum", 2)
    assert one.row.lengths == (LengthSample(None, 100, None),)
    assert one.contradictions == ()
    assert one.origins == ("ctl.txt", "api.json")


def test_the_latest_management_row_tells_whether_rows_are_whole() -> None:
    whole, picked = files("4.3/api/queues.json"), files("4.3/api/queues_columns.json")
    lists = files("4.3/ctl/list_queues_all.json")
    for inputs, full in (
        (picked + whole, True),
        (whole + lists, True),
        (lists + whole, True),
        (whole + picked, False),
        (lists, False),
        (files("4.3/api/queues_disable_stats.json"), False),
    ):
        row = queue(combine(inputs), "sc.saturated").row
        assert row is not None
        assert row.full is full


def test_bytes_that_are_ready_come_from_any_source() -> None:
    table = "name\tmessage_bytes_ready\tmessages\nq\t70\t7\n"
    inputs = api([{"name": "q", "vhost": "/", "messages": 7, "state": "running"}])
    row = queue(combine(ctl(table) + inputs), "q").row
    assert row is not None
    assert (row.kind, row.ready_bytes) == ("management", 70)


def test_sources_that_differ_by_more_than_a_fifth_contradict_each_other() -> None:
    inputs = ctl(
        "Listing queues for vhost / ...\n"
        "name\tmessages_ready\tmessages_unacknowledged\tconsumers\nq\t130\t12\t3\n"
    )
    inputs += api(
        [
            {
                "name": "q",
                "vhost": "/",
                "messages_ready": 100,
                "messages_unacknowledged": 4,
                "consumers": 2,
            }
        ]
    )
    found = queue(combine(inputs), "q").contradictions
    # 12 and 4 unacked are within what a moment changes
    assert [(c.figure, c.taken, c.other) for c in found] == [
        ("ready", "100 in api.json", "130 in ctl.txt"),
        ("consumers", "2 in api.json", "3 in ctl.txt"),
    ]


COUNTED = "Listing queues for vhost / ...\nname\ttype\tconsumers\nlisted\tclassic\t1\n"
LISTED = (
    "Listing consumers in vhost / ...\nqueue_name\tchannel_pid\tprefetch_count\n"
    "listed\t<rabbit@a.1.2.0>\t10\n"
)


def test_consumers_that_are_counted_but_not_listed_are_unknown() -> None:
    fleet = combine(ctl(f"{COUNTED}remote\tclassic\t4\nidle\tclassic\t0\n{LISTED}"))
    remote = queue(fleet, "remote")
    assert remote.consumers is None
    assert [(c.figure, c.taken, c.other) for c in remote.contradictions] == [
        ("consumers", "unknown", "4 counted in ctl.txt, none listed in ctl.txt")
    ]
    assert queue(fleet, "idle").consumers == ()
    assert queue(fleet, "idle").contradictions == ()
    assert prefetch(queue(fleet, "listed")) == [10]


def test_a_list_that_holds_fewer_consumers_than_counted_contradicts() -> None:
    fleet = combine(ctl(COUNTED.replace("classic\t1", "classic\t3") + LISTED))
    one = queue(fleet, "listed")
    assert prefetch(one) == [10]
    assert [(c.taken, c.other) for c in one.contradictions] == [
        ("1 listed in ctl.txt", "3 counted in ctl.txt")
    ]


def test_no_list_of_consumers_is_no_contradiction() -> None:
    fleet = combine(ctl(f"{COUNTED}idle\tclassic\t0\n"))
    assert queue(fleet, "listed").consumers is None
    assert queue(fleet, "listed").contradictions == ()
    # the broker's count of 0 is an answer
    assert queue(fleet, "idle").consumers == ()


def test_a_list_covers_its_vhost_or_queue_only() -> None:
    queues = api(
        [
            {"name": "q", "vhost": "a", "consumers": 2},
            {"name": "q", "vhost": "b", "consumers": 2},
            {"name": "r", "vhost": "a", "consumers": 2},
        ]
    )
    detail = [{"queue": {"name": "q", "vhost": "a"}, "consumer_tag": t} for t in ("x", "y")]
    fleet = combine(queues + api(detail))
    assert len(queue(fleet, "q", "a").consumers or ()) == 2
    assert queue(fleet, "r", "a").contradictions != ()
    assert queue(fleet, "q", "b").contradictions == ()
    assert queue(fleet, "q", "b").consumers is None
    one = api({"name": "q", "vhost": "a", "consumers": 2, "consumer_details": detail})
    assert queue(combine(queues + one), "r", "a").contradictions == ()


def test_a_later_list_replaces_an_earlier_one() -> None:
    def listed(*tags: str) -> list[Intake]:
        rows = "".join(f"q\t<rabbit@a.1.{n}.0>\t{tag}\n" for n, tag in enumerate(tags))
        return ctl(
            f"Listing consumers in vhost / ...\nqueue_name\tchannel_pid\tconsumer_tag\n{rows}"
        )

    one = queue(combine(listed("a", "b") + listed("b")), "q")
    assert [consumer.row.tag for consumer in one.consumers or ()] == ["b"]
    # two pages that overlap show a consumer twice
    page = {"page": 1, "page_count": 2, "item_count": 2}
    row = {
        "queue": {"name": "q", "vhost": "/"},
        "consumer_tag": "a",
        "channel_details": {"name": "c (1)"},
    }
    pages = api({**page, "items": [row]}) + api(
        {**page, "items": [row, {**row, "consumer_tag": "b"}]}
    )
    assert len(queue(combine(pages), "q").consumers or ()) == 2


def test_waiting_consumers_prove_a_single_active_one() -> None:
    text = COUNTED.replace("classic\t1", "classic\t2") + (
        "Listing consumers in vhost / ...\nqueue_name\tchannel_pid\tactivity_status\n"
        "listed\t<rabbit@a.1.2.0>\tsingle_active\nlisted\t<rabbit@a.1.3.0>\twaiting\n"
    )
    row = queue(combine(ctl(text)), "listed").row
    assert row is not None
    assert row.settings["single-active-consumer"] is True


def test_rows_without_a_vhost_are_of_the_one_asked_for_else_of_the_default() -> None:
    inputs = ctl("name\tmessages\nq\t1\n")
    assert queue(combine(inputs), "q").vhost_assumed
    assert queue(combine(inputs, vhost="shop"), "q", "shop").vhost_assumed
    known = combine(inputs + api([{"name": "q", "vhost": "/", "messages": 1}]))
    assert not queue(known, "q").vhost_assumed
    preamble = combine(ctl("Listing queues for vhost shop ...\nname\tmessages\nq\t1\n"), vhost="x")
    assert not queue(preamble, "q", "shop").vhost_assumed


def test_dead_letter_targets_are_those_that_settings_prove() -> None:
    dead = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dlq"}
    named = {"x-dead-letter-exchange": "dlx", "x-dead-letter-routing-key": "other"}
    rows = [
        {"name": "q", "vhost": "/", "messages": 1, "arguments": dead},
        {"name": "r", "vhost": "/", "messages": 1, "arguments": named},
        *({"name": name, "vhost": "/", "messages": 1} for name in ("dlq", "other")),
        {"name": "dlq", "vhost": "x", "messages": 1},
    ]
    fleet = combine(api(rows))
    assert [one.key for one in fleet.queues if one.dead_letter_target] == [(None, "/", "dlq")]


def test_timings_find_their_queue() -> None:
    queues = api([{"name": "q", "vhost": "shop", "messages": 1}])
    one = queue(combine([*queues, timings("q")]), "q", "shop")
    assert one.timings is not None
    assert one.row is not None
    assert not one.vhost_assumed
    assert one.origins == ("api.json", "t.csv")
    asked = queue(combine([timings()], queue="q", vhost="x"), "q", "x")
    assert (asked.row, asked.consumers, asked.vhost_assumed) == (None, None, True)
    assert queue(combine([timings()]), "stdin").vhost_assumed
    assert queue(combine([timings("q", "shop")]), "q", "shop").vhost_assumed is False


def test_timings_of_a_name_in_several_vhosts_ask_which() -> None:
    queues = api([{"name": "q", "vhost": vhost, "messages": 1} for vhost in ("b", "a")])
    with pytest.raises(InputError, match=r"t.csv: .*'q' name no vhost, .* in 'a', 'b': .* -V"):
        combine([*queues, timings("q")])
    assert queue(combine([*queues, timings("q")], vhost="b"), "q", "b").timings is not None


def test_the_latest_word_on_the_broker_and_all_alarms() -> None:
    nodes = [{"name": "rabbit@a", "mem_alarm": True, "disk_free_alarm": False}]
    inputs = api(nodes) + api({"rabbitmq_version": "4.0.5", "disable_stats": True}) + api(nodes)
    broker = combine(inputs).broker
    assert broker.version == "4.0.5"
    assert broker.statistics_off
    assert broker.alarms == ("memory on rabbit@a",)
