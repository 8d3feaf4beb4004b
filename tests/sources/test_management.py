"""JSON of the management API: names, settings, history, and what is unknown rather than 0."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import (
    ConsumerRow,
    Coverage,
    Intake,
    LengthSample,
    QueueRow,
    SourceKind,
    Traffic,
)
from prefetch_advisor.sources.json_documents import read_json

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
VERSIONS = ("3.10", "4.3")
Name = tuple[str | None, str]


def load(path: str) -> Intake:
    (intake,) = read_json((CAPTURES / path).read_text(), path)
    return intake


def read(document: object) -> Intake:
    (intake,) = read_json(json.dumps(document), "api.json")
    return intake


def one(**fields: object) -> QueueRow:
    (row,) = read([{"name": "q", "vhost": "/", **fields}]).queues
    return row


def truth(version: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CAPTURES / version / "truth.json").read_text())
    return found


def queues(version: str, name: str = "queues") -> dict[Name, QueueRow]:
    return {(row.vhost, row.name): row for row in load(f"{version}/api/{name}.json").queues}


def consumers(version: str) -> dict[Name, list[ConsumerRow]]:
    found: dict[Name, list[ConsumerRow]] = {}
    for row in load(f"{version}/api/consumers.json").consumers:
        found.setdefault((row.vhost, row.queue), []).append(row)
    return found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "name", ["queues", "queues_lengths", "queues_columns", "queues_page1", "queues_disable_stats"]
)
def test_all_queues_are_found_by_their_names(version: str, name: str) -> None:
    declared = {(one["vhost"], one["queue"]) for one in truth(version)["scenarios"]}
    found = set(queues(version, name))
    assert len(found) == 33
    # the broker strips line feeds from names
    assert found == {(vhost, queue.replace("\n", "")) for vhost, queue in declared}


@pytest.mark.parametrize("version", VERSIONS)
def test_prefetch_and_ack_mode_are_those_of_the_consumers(version: str) -> None:
    found = consumers(version)
    prefetch = {key[1]: sorted(row.prefetch or 0 for row in rows) for key, rows in found.items()}
    assert prefetch["sc.mixed"] == [0, 5, 50]
    assert prefetch["sc.unbounded"] == [0]
    assert prefetch["sc.oversized"] == [500, 500]
    assert prefetch["sc.global_qos"] == ([0, 0] if version == "3.10" else [25, 25])
    assert prefetch["tab\therenewline"] == [8]
    assert [row.ack for row in found["/", "sc.autoack"]] == ["auto"]
    assert {row.ack for row in found["/", "sc.healthy"]} == {"manual"}
    assert sorted(row.priority or 0 for row in found["/", "sc.prio"]) == [1, 10]
    assert {row.ack_timeout for row in found["/", "sc.idle"]} == {
        None if version == "3.10" else 1800.0
    }
    assert found["/", "sc.idle"][0].channel == f"{found['/', 'sc.idle'][0].connection} (1)"


@pytest.mark.parametrize("version", VERSIONS)
def test_settings_are_arguments_and_policy_without_prefix(version: str) -> None:
    rows = queues(version)
    lazy = dict(rows["/", "sc.lazy_args"].settings)
    lazy.pop("queue-type", None)
    assert lazy == {"max-length": 100_000, "message-ttl": 86_400_000, "max-priority": 5}
    assert rows["/", "sc.mixed"].settings["max-length"] == 1_000_000
    assert rows["/", "sc.sac"].settings["single-active-consumer"] is True
    assert "single-active-consumer" not in rows["/", "sc.quorum100"].settings
    assert [rows["/", f"sc.{name}"].type for name in ("idle", "quorum0", "stream")] == [
        "classic",
        "quorum",
        "stream",
    ]


def test_arguments_win_over_the_policy_and_may_be_a_list_in_old_versions() -> None:
    row = one(
        messages=1,
        arguments={"x-max-length": 5},
        effective_policy_definition={"max-length": 9, "message-ttl": 7},
    )
    assert row.settings == {"max-length": 5, "message-ttl": 7}
    assert one(messages=1, arguments=[], effective_policy_definition=[]).settings == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_history_is_oldest_first_and_ends_with_the_present(version: str) -> None:
    path = CAPTURES / version / "api/queue/sc.saturated.json"
    document = json.loads(path.read_text())
    (row,) = load(f"{version}/api/queue/sc.saturated.json").queues
    times = [sample.at for sample in row.lengths]
    assert len(times) == 13
    assert times == [times[0] + 5 * step for step in range(13) if times[0] is not None]
    newest = document["messages_ready_details"]["samples"][0]
    assert (row.lengths[-1].at, row.lengths[-1].ready) == (
        newest["timestamp"] / 1000,
        newest["sample"],
    )
    assert {sample.unacked for sample in row.lengths} == {30}
    acks = [sample.totals.ack for sample in row.traffic if sample.totals.ack is not None]
    assert len(acks) == 13
    assert acks == sorted(acks)
    assert acks[-1] == document["message_stats"]["ack_details"]["samples"][0]["sample"]
    assert row.rates is not None
    assert row.rates.ack == document["message_stats"]["ack_details"]["rate"]
    assert row.has_stats


@pytest.mark.parametrize("version", VERSIONS)
def test_consumer_details_are_consumers_of_that_queue_only(version: str) -> None:
    intake = load(f"{version}/api/queue/sc.mixed.json")
    assert sorted(row.prefetch or 0 for row in intake.consumers) == [0, 5, 50]
    assert intake.lists == {"queues", "consumers"}
    assert intake.coverage == (Coverage(SourceKind.MANAGEMENT, "/", "sc.mixed"),)
    nobody = load(f"{version}/api/queue/sc.noconsumers.json")
    assert nobody.consumers == ()
    assert nobody.coverage == (Coverage(SourceKind.MANAGEMENT, "/", "sc.noconsumers"),)


def test_a_list_of_consumers_covers_the_vhosts_it_shows() -> None:
    assert load("4.3/api/consumers.json").coverage[0].everywhere
    assert load("4.3/api/consumers_vhost2.json").coverage == (
        Coverage(SourceKind.MANAGEMENT, "a/b c"),
    )


def test_counters_of_different_ages_share_a_sample_only_at_the_same_time() -> None:
    def details(*points: tuple[int, int]) -> dict[str, object]:
        return {"rate": 0.0, "samples": [{"timestamp": at, "sample": n} for at, n in points]}

    row = one(
        messages=1,
        messages_ready_details=details((20_000, 4), (10_000, 3)),
        messages_unacknowledged_details=details((20_000, 1)),
        message_stats={
            "ack": 5,
            "ack_details": details((20_000, 5), (10_000, 2)),
            "deliver": 9,
            "deliver_details": details((30_000, 9), (20_000, 8)),
        },
    )
    assert row.lengths == (LengthSample(10.0, 3, None), LengthSample(20.0, 4, 1))
    assert [(s.at, s.totals.ack, s.totals.deliver) for s in row.traffic] == [
        (10.0, 2, None),
        (20.0, 5, 8),
        (30.0, None, 9),
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_without_history_there_is_one_sample_without_a_time(version: str) -> None:
    row = queues(version)["/", "sc.saturated"]
    assert row.lengths == (LengthSample(None, row.ready, row.unacked),)
    assert [sample.at for sample in row.traffic] == [None]
    assert row.rates is not None
    assert row.has_stats


def test_the_slope_of_the_depth_is_no_rate_of_anything() -> None:
    row = one(messages=7, messages_details={"rate": -3.0}, messages_ready_details={"rate": -3.0})
    assert (row.rates, row.traffic, row.has_stats) == (None, (), False)


def test_absent_is_not_zero() -> None:
    row = one(consumers=None, message_bytes="", policy="", state="running", exclusive=False)
    assert (row.messages, row.ready, row.unacked, row.consumers, row.message_bytes) == (None,) * 5
    assert row.lengths == ()
    assert one(messages=1, message_bytes=float("nan")).message_bytes is None


@pytest.mark.parametrize(
    ("stats", "complete"),
    [
        ({"publish": 3, "publish_details": {"rate": 1.0}}, True),
        ({"publish": 3, "ack": 2, "deliver_get": 2, "deliver": 2}, True),
        # columns=message_stats.ack_details.rate and the like
        ({"ack_details": {"rate": 1.0}, "deliver_get_details": {"rate": 1.0}}, False),
        ({"ack": 4}, False),
        ({"deliver_get": 4, "publish": 4}, False),
        ({"deliver_get": 0, "publish": 4}, False),
        ({"deliver_get": 4, "deliver": 4, "publish": 4, "ack": -1}, False),
        ({"deliver_get": 4, "deliver": 4, "publish": 4, "ack": None}, False),
        ({"deliver_get": 4, "deliver": 1, "ack": 1}, False),
        ({"deliver": 1, "ack": 1}, False),
        ({"deliver_get_details": {"rate": 1.0}, "deliver": 1}, False),
        ({"deliver_get": 4, "deliver": 1, "deliver_no_ack": 2, "get": 1}, True),
    ],
)
def test_absent_counters_are_zero_only_where_none_were_picked(
    stats: dict[str, object], complete: bool
) -> None:
    row = one(messages=1, message_stats=stats)
    assert row.has_stats is complete
    if row.traffic:
        assert row.traffic[-1].totals.redeliver is None


def test_totals_without_rates_are_a_sample_and_no_rates() -> None:
    row = one(messages=1, message_stats={"publish": 9, "deliver": 8, "deliver_get": 8, "ack": 7})
    assert row.rates is None
    assert row.traffic[0].totals == Traffic(publish=9, deliver=8, ack=7)


@pytest.mark.parametrize("version", VERSIONS)
def test_with_statistics_off_figures_are_unknown(version: str) -> None:
    row = queues(version, "queues_disable_stats")["/", "sc.saturated"]
    assert (row.ready, row.consumers, row.rates, row.has_stats) == (None, None, None, False)
    totals = queues(version, "queues_totals_only")["/", "sc.saturated"]
    assert totals.unacked == 30
    assert totals.consumers is None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "full"),
    [
        *(("queues", True), ("queues_vhost2", True), ("queue_plain_sc.stream", True)),
        *(("queue/sc.idle", True), ("queues_columns", False), ("queues_totals_only", False)),
        *(("queues_lengths", False), ("queues_disable_stats", False)),
        ("../series/api_queues_00", False),
    ],
)
def test_a_row_is_full_where_nothing_was_picked_or_turned_off(
    version: str, name: str, full: bool
) -> None:
    assert {row.full for row in load(f"{version}/api/{name}.json").queues} == {full}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["queues_lengths", "../series/api_queues_00"])
def test_deliveries_without_ack_that_were_not_asked_for_are_unknown(
    version: str, name: str
) -> None:
    row = queues(version, name)["/", "sc.autoack"]
    assert not row.has_stats
    assert row.rates is not None
    assert (row.rates.ack, row.rates.deliver_no_ack, row.rates.get_no_ack) == (0.0, None, None)
    assert {sample.totals.deliver_no_ack for sample in row.traffic} <= {None}


def test_bytes_and_the_limit_on_them_are_known() -> None:
    row = one(
        messages=3,
        message_bytes=300,
        message_bytes_ready=200,
        message_bytes_unacknowledged=100,
        arguments={"x-max-length-bytes": 4096},
    )
    assert (row.message_bytes, row.ready_bytes, row.unacked_bytes) == (300, 200, 100)
    assert row.settings == {"max-length-bytes": 4096}
    policy = {"max-length-bytes": 512}
    assert one(messages=3, effective_policy_definition=policy).settings == policy


def samples(*values: object) -> dict[str, object]:
    """Newest first, as the API has them; the oldest is of second 1."""
    times = range(1000 * len(values), 0, -1000)
    return {
        "rate": 0.0,
        "samples": [{"sample": v, "timestamp": t} for v, t in zip(values, times, strict=True)],
    }


@pytest.mark.parametrize("unusable", [-5, -0.5, "x", None])
def test_unusable_samples_are_unknown_not_zero(unusable: object) -> None:
    intake = read(
        [
            {
                "name": "q",
                "vhost": "/",
                "messages_ready_details": samples(unusable, 7),
                "messages_unacknowledged_details": samples(3, unusable),
                "message_stats": {
                    "deliver": 9,
                    "deliver_get": 9,
                    "ack": 9,
                    "ack_details": samples(unusable, 5),
                    "publish": 9,
                    "publish_details": samples(9, 4),
                },
            }
        ]
    )
    (row,) = intake.queues
    assert row.lengths == (LengthSample(1.0, 7, None), LengthSample(2.0, None, 3))
    assert (row.ready, row.unacked) == (None, 3)
    assert [(one.totals.ack, one.totals.publish) for one in row.traffic] == [(5, 4), (None, 9)]
    # else the missing acks would be taken for none
    assert not row.has_stats
    assert sum("samples of queue 'q' is unknown" in note for note in intake.notes) == 3


def test_counters_below_zero_are_unknown() -> None:
    whole = dict.fromkeys(("publish", "deliver", "deliver_no_ack", "get", "get_no_ack"), 5)
    whole |= {"ack": -1, "redeliver": 0}
    details = {f"{name}_details": {"rate": 1.0} for name in whole} | {"get_details": {"rate": -2.0}}
    row = one(messages_ready=-1, messages_unacknowledged=2, message_stats=whole | details)
    assert (row.ready, row.unacked, row.lengths) == (None, 2, (LengthSample(None, None, 2),))
    assert row.traffic[0].totals.ack is None
    assert row.traffic[0].totals.publish == 5
    assert row.rates is not None
    assert (row.rates.get, row.rates.ack) == (None, 1.0)


def test_a_page_of_several_is_noted() -> None:
    intake = load("4.3/api/queues_page2_of_10.json")
    assert len(intake.queues) == 10
    assert "page 2 of 4, 10 of 33 rows" in intake.notes[0]
    assert load("4.3/api/queues_page1.json").notes == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_channels_and_connections(version: str) -> None:
    channels = {row.id: row for row in load(f"{version}/api/channels.json").channels}
    (consumer, *_) = consumers(version)["/", "sc.saturated"]
    assert consumer.channel is not None
    channel = channels[consumer.channel]
    assert (channel.unacked, channel.consumers, channel.prefetch) == (10, 1, 10)
    assert channel.global_prefetch == (0 if version == "3.10" else None)
    assert channel.rates is not None
    assert channel.rates.ack is not None
    assert 40 < channel.rates.ack < 60
    connections = {row.name: row for row in load(f"{version}/api/connections.json").connections}
    assert channel.connection is not None
    connection = connections[channel.connection]
    assert connection.product == "Pika Python Client Library"
    assert connection.protocol == "AMQP 0-9-1"
    assert connection.connected_at is not None
    assert 1.7e9 < connection.connected_at < 1.9e9


@pytest.mark.parametrize(("version", "full"), [("3.10", "3.10.8"), ("4.3", "4.3.6")])
def test_the_broker_says_its_version_modes_and_alarms(version: str, full: str) -> None:
    (overview,) = load(f"{version}/api/overview.json").brokers
    assert (overview.version, overview.rates_mode, overview.statistics_off) == (
        full,
        "basic",
        False,
    )
    (nodes,) = load(f"{version}/api/nodes.json").brokers
    assert (nodes.version, nodes.rates_mode, nodes.alarms) == (full, "basic", ())
    (alarmed,) = read(
        [
            {"name": "rabbit@a", "mem_alarm": True, "disk_free_alarm": False},
            {"name": "rabbit@b", "mem_alarm": False, "disk_free_alarm": True},
        ]
    ).brokers
    assert alarmed.alarms == ("memory on rabbit@a", "disk on rabbit@b")


@pytest.mark.parametrize(("run", "permitted"), [("4.3", False), ("4.3-global-qos-permitted", True)])
def test_global_qos_may_be_permitted(run: str, permitted: bool) -> None:
    for name in ("api/deprecated_features", "ctl/list_deprecated_features"):
        (row,) = load(f"{run}/{name}.json").brokers
        assert row.global_qos_permitted is permitted


def test_rows_without_a_name_are_bad_and_the_rest_goes_on() -> None:
    intake = read([{"name": "a", "messages": 1}, {"name": 7, "messages": 1, "vhost": "/"}, 3])
    assert [row.name for row in intake.queues] == ["a"]
    intake = read([{"name": "a", "messages": 1, "vhost": "/"}, {"name": 7}, 3])
    assert [row.name for row in intake.queues] == ["a"]
    assert intake.bad_count == 2
    assert (intake.bad_rows[0].where, intake.bad_rows[0].line) == ("api.json", 2)
    assert [row.place for row in intake.bad_rows] == ["api.json: item 2", "api.json: item 3"]
    assert [row.found for row in intake.bad_rows] == ["name 7", "3"]
    with pytest.raises(InputError, match=r"no usable row among 1 queue: .* found name ''"):
        read([{"name": "", "messages": 1, "vhost": "/"}])
    with pytest.raises(InputError, match=r"among 2 consumers: .* found queue null"):
        read([{"consumer_tag": "a", "queue": None, "channel_details": {}}] * 2)


def test_a_value_is_counted_once_for_each_record_and_named() -> None:
    rows = [
        {"name": "a", "vhost": "/", "messages_ready": -5, "message_bytes": float("nan")},
        {"name": "b", "vhost": "/", "messages_ready": 1, "message_bytes": None},
        {"name": "c", "vhost": "/", "messages_ready": 1, "message_bytes": ""},
    ]
    assert read(rows).notes == (
        "api.json: messages_ready of queue 'a' is unknown: it cannot be -5",
        "api.json: message_bytes of queue 'a' is unknown: it cannot be NaN",
    )


def test_wrong_types_are_unknown_and_told_once() -> None:
    rows = [
        {"name": f"q{n}", "vhost": "/", "messages_ready": "many", "message_stats": 3, "state": []}
        for n in range(9)
    ]
    intake = read(rows)
    assert {(row.ready, row.state, row.rates) for row in intake.queues} == {(None, None, None)}
    told = "api.json: messages_ready of queue 'q0' and of 8 more is unknown: it cannot be 'many'"
    assert told in intake.notes
    assert len(intake.notes) == 3


def paths(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to each value of a document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value[:2]):
            yield (*path, index)
            yield from paths(inner, (*path, index))


SAMPLES = [
    json.loads((CAPTURES / "4.3/api/queue/sc.mixed.json").read_text()),
    json.loads((CAPTURES / "3.10/api/channel_of_sc.global_qos.json").read_text()),
    json.loads((CAPTURES / "4.3/api/consumers_vhost2.json").read_text()),
    json.loads((CAPTURES / "4.3/api/nodes.json").read_text()),
    json.loads((CAPTURES / "4.3/api/connections.json").read_text())[:1],
]
HOSTILE = st.sampled_from(
    [
        *(None, "", "x", 0, -1, 1.5, float("nan"), float("inf"), 10**30, True),
        *([], [1], {}, {"a": 1}, "\ud800"),
        *([{"sample": "x", "timestamp": 1}], [{"sample": 1, "timestamp": 10**30}]),
    ]
)


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_a_wrong_type_anywhere_never_crashes(data: st.DataObject) -> None:
    document = json.loads(json.dumps(data.draw(st.sampled_from(SAMPLES))))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(paths(document))))
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = copy.deepcopy(data.draw(HOSTILE))
    try:
        intakes = read_json(json.dumps(document), "fuzzed.json")
    except InputError:
        return
    for intake in intakes:
        for row in intake.queues:
            assert row.ready is None or row.ready >= 0
            assert all(sample.ready is None or sample.ready >= 0 for sample in row.lengths)
