"""A broker asked live: the rows that its saved answers give, from few questions, whatever fails."""

from __future__ import annotations

import base64
import copy
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from captured_broker import NOT_AUTHORISED, CapturedBroker, serving_captures
from rabbitmq_node import Node

from prefetch_advisor.advise import advise_queue
from prefetch_advisor.config import Given, Policy
from prefetch_advisor.errors import AdvisorError
from prefetch_advisor.model.observation import Intake, QueueObservation, QueueRow
from prefetch_advisor.sources import live_lists
from prefetch_advisor.sources.combine import Fleet, combine
from prefetch_advisor.sources.connection import resolve
from prefetch_advisor.sources.http import Client, segment
from prefetch_advisor.sources.http_errors import BadAnswer, NotFound, Refused, Unreachable
from prefetch_advisor.sources.json_documents import read_json
from prefetch_advisor.sources.live_management import observe

PASSWORD = "s3cr3t-Pa55"
VERSIONS = ("3.10", "4.3")
Change = Callable[[CapturedBroker], object]


def client(port: int, user: str = "ops", password: str = PASSWORD, timeout: float = 5) -> Client:
    options = {"host": "127.0.0.1", "port": port, "username": user, "password": password}
    return Client(resolve({**options, "timeout": timeout}, {}, Path("/nonexistent")), pause=0.01)


def seen(
    broker: CapturedBroker, vhost: str | None = None, *queues: str, **options: Any
) -> list[Intake]:
    with serving_captures(broker), client(broker.port) as asking:
        return observe(asking, vhost, queues, **options)


def notes(intakes: Sequence[Intake]) -> str:
    return "\n".join(note for intake in intakes for note in intake.notes)


def saved(broker: CapturedBroker) -> list[Intake]:
    """The same broker by files."""
    documents = {
        "overview": broker.overview,
        "nodes": broker.nodes,
        "queues": broker.queues,
        "consumers": broker.consumers,
        "channels": broker.channels,
        "connections": broker.connections,
    }
    return [
        intake for name, one in documents.items() for intake in read_json(json.dumps(one), name)
    ]


def by_key(fleet: Fleet) -> dict[tuple[str, str], QueueObservation]:
    return {(one.key.vhost, one.key.name): one for one in fleet.queues}


def gist(one: QueueObservation) -> object:
    """What verdicts rest on, without where it was read."""
    assert one.row is not None
    row = replace(one.row, where="", full=True, hour_lengths=(), hour_traffic=())
    consumers = [
        (
            replace(c.row, where=""),
            c.channel and (c.channel.row.unacked, c.channel.row.traffic, c.channel.queues),
            c.connection and (c.connection.product, c.connection.connected_at),
        )
        for c in sorted(one.consumers or (), key=lambda c: c.row.tag)
    ]
    return row, consumers, one.consumers is None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("size", [500, 7])
@pytest.mark.parametrize("knows_pages", [True, False])
def test_live_is_what_the_saved_answers_are(version, size, knows_pages, monkeypatch):
    monkeypatch.setattr(live_lists, "PAGE_SIZE", size)
    broker = CapturedBroker(version, knows_pages=knows_pages)
    live, files = by_key(combine(seen(broker))), by_key(combine(saved(broker)))
    assert live.keys() == files.keys()
    for key, one in live.items():
        assert gist(one) == gist(files[key]), key
    assert len(broker.asked) == len({(path, tuple(query.items())) for path, query in broker.asked})
    if knows_pages:
        assert broker.paths.count("/api/queues") == -(-len(broker.queues) // size)


@pytest.mark.parametrize("version", VERSIONS)
def test_only_columns_that_are_needed_and_a_minute_of_history_are_asked_for(version):
    broker = CapturedBroker(version)
    seen(broker)
    asked = dict(broker.asked)
    for path in ("queues", "consumers", "channels", "connections", "nodes", "overview"):
        assert "columns" in asked[f"/api/{path}"], path
    queues = asked["/api/queues"]
    assert (queues["lengths_age"], queues["lengths_incr"]) == ("60", "5")
    assert (queues["msg_rates_age"], queues["msg_rates_incr"]) == ("60", "5")


def test_the_broker_itself_is_described():
    fleet = combine(seen(CapturedBroker("4.3")))
    assert (fleet.broker.version, fleet.broker.rates_mode) == ("4.3.6", "basic")
    assert fleet.broker.global_qos_permitted is False
    broker = CapturedBroker("3.10")
    broker.nodes[0]["mem_alarm"] = True
    fleet = combine(seen(broker))
    assert fleet.broker.global_qos_permitted is None
    assert fleet.broker.alarms == ("memory on rabbit310@localhost",)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_virtual_host_alone_is_asked_for_alone(version):
    broker = CapturedBroker(version)
    fleet = combine(seen(broker, "a/b c"))
    assert {one.key.vhost for one in fleet.queues} == {"a/b c"}
    assert "/api/vhosts/a%2Fb%20c/channels" in broker.paths
    assert "/api/queues" not in broker.paths


@pytest.mark.parametrize("version", VERSIONS)
def test_a_named_queue_costs_no_list_and_brings_its_last_hour(version):
    broker = CapturedBroker(version)
    intakes = seen(broker, None, "sc.saturated")
    found, files = by_key(combine(intakes)), by_key(combine(saved(broker)))
    assert found.keys() == {("/", "sc.saturated"), ("a/b c", "sc.saturated")}
    for key, one in found.items():
        assert gist(one) == gist(files[key])
        assert one.row is not None
        assert one.row.hour_lengths == one.row.lengths
        assert one.row.hour_traffic
    for path in ("/api/consumers", "/api/channels", "/api/connections"):
        assert path not in broker.paths
    hours = [query for _, query in broker.asked if query.get("lengths_age") == "3600"]
    assert [query["lengths_incr"] for query in hours] == ["60", "60"]


@pytest.mark.parametrize("version", VERSIONS)
def test_queues_are_found_whatever_their_names_hold(version):
    broker = CapturedBroker(version)
    odd = [q["name"] for q in broker.queues if not q["name"].startswith("sc.")]
    assert len(odd) > 12
    found = by_key(combine(seen(broker, "/", *[n for n in odd if n != "q1 in/vhost"])))
    assert {name for _, name in found} == set(odd) - {"q1 in/vhost"}
    for path in broker.paths[4:]:
        assert path.startswith(("/api/queues/%2F/", "/api/channels/", "/api/connections/"))


def test_a_channel_that_serves_other_queues_is_known_to_do_so():
    broker = CapturedBroker("4.3")
    (row,) = [c for c in broker.consumers if c["queue"]["name"] == "sc.idle"]
    other = copy.deepcopy(row)
    other["queue"]["name"], other["consumer_tag"] = "sc.healthy", "second"
    broker.consumers.append(other)
    found = by_key(combine(seen(broker, None, "sc.idle")))["/", "sc.idle"]
    assert found.consumers is not None
    (consumer,) = found.consumers
    assert consumer.channel is not None
    assert consumer.channel.queues == {"sc.idle", "sc.healthy"}


def test_the_target_of_dead_letters_is_known_to_be_one():
    broker = CapturedBroker("4.3")
    arguments = {
        "x-dead-letter-exchange": "",
        "x-dead-letter-routing-key": "sc.noconsumers",
    }
    broker.queues[0]["arguments"] = arguments
    found = by_key(combine(seen(broker, "/", "sc.noconsumers")))
    assert found["/", "sc.noconsumers"].dead_letter_target


def test_with_very_many_channels_lists_are_read_instead(monkeypatch):
    from prefetch_advisor.sources import live_named

    monkeypatch.setattr(live_named, "_MOST_CHANNELS", 1)
    broker = CapturedBroker("4.3")
    found, files = by_key(combine(seen(broker, None, "sc.mixed"))), by_key(combine(saved(broker)))
    assert gist(found["/", "sc.mixed"]) == gist(files["/", "sc.mixed"])
    assert "/api/vhosts/%2F/channels" in broker.paths


def test_a_name_that_is_not_there_as_it_stands_has_everything_read():
    broker = CapturedBroker("4.3")
    assert len(combine(seen(broker, None, "SC.saturated")).queues) == len(broker.queues)
    for name in ("", ".", ".."):
        assert len(combine(seen(broker, None, name)).queues) == len(broker.queues)


def test_an_unknown_virtual_host_is_said_with_those_there_are():
    with pytest.raises(NotFound, match=r"no virtual host 'shop'; there are: '/', 'a/b c'"):
        seen(CapturedBroker("4.3"), "shop")


def failing(path: str, status: int = 500) -> Change:
    answer = (status, {"error": "internal", "reason": "a node is down"})
    return lambda broker: broker.instead.update({path: lambda _: answer})


@pytest.mark.parametrize("what", ["channels", "connections", "consumers", "nodes", "whoami"])
def test_a_list_that_fails_does_not_stop_the_others(what):
    broker = CapturedBroker("4.3")
    failing(f"/api/{what}")(broker)
    intakes = seen(broker)
    assert len(combine(intakes).queues) == len(broker.queues)
    assert "not read: " in notes(intakes)
    assert f"GET /api/{what}: the broker answers 500, internal: a node is down" in notes(intakes)


def test_consumers_that_could_not_be_read_are_unknown_and_not_absent():
    broker = CapturedBroker("4.3")
    failing("/api/consumers")(broker)
    found = by_key(combine(seen(broker)))
    assert found["/", "sc.saturated"].consumers is None
    assert found["/", "sc.noconsumers"].consumers == ()


def test_the_queues_themselves_are_needed():
    broker = CapturedBroker("4.3")
    failing("/api/queues")(broker)
    with pytest.raises(AdvisorError, match="answers 500"):
        seen(broker)


def test_a_broker_that_goes_away_between_two_lists_is_an_error_and_no_half_truth():
    broker = CapturedBroker("4.3")
    broker.instead["/api/channels"] = lambda _: (0, None)
    started = time.monotonic()
    with pytest.raises(Unreachable, match="closed the connection without an answer"):
        seen(broker)
    assert time.monotonic() - started < 4


def test_a_node_that_is_down_is_told():
    broker = CapturedBroker("4.3")
    broker.nodes.append({"name": "rabbit@b", "running": False})
    assert "node 'rabbit@b' is down" in notes(seen(broker))


def test_json_of_something_else_is_no_broker():
    broker = CapturedBroker("4.3")
    broker.overview = {"status": "ok"}
    with pytest.raises(BadAnswer, match="no management API of RabbitMQ"):
        seen(broker)


@pytest.mark.parametrize("tags", [["management"], "management,policymaker"])
def test_a_user_who_sees_its_own_channels_alone_is_told_and_claims_nothing(tags):
    broker = CapturedBroker("4.3")
    broker.whoami["tags"] = tags
    broker.consumers, broker.channels, broker.connections = [], [], []
    broker.instead["/api/nodes"] = lambda _: (401, {"error": "not_authorised", "reason": "x"})
    intakes = seen(broker)
    assert "has the tag management" in notes(intakes)
    assert "set_user_tags ops monitoring" in notes(intakes)
    assert by_key(combine(intakes))["/", "sc.saturated"].consumers is None


def test_a_user_without_permission_in_any_virtual_host_is_told_which_is_missing():
    broker = CapturedBroker("4.3")
    broker.queues = []
    for vhost in ("/", "a/b c"):
        broker.instead[f"/api/queues/{segment(vhost)}"] = lambda _: NOT_AUTHORISED
    intakes = seen(broker)
    assert combine(intakes).queues == ()
    assert "user 'ops' has no permission in any virtual host ('/', 'a/b c')" in notes(intakes)
    assert "rabbitmqctl set_permissions -p / ops '^$' '^$' '^$'" in notes(intakes)
    broker.instead["/api/queues/%2F/sc.idle"] = lambda _: NOT_AUTHORISED
    with pytest.raises(Refused, match="no permission in this virtual host"):
        seen(broker, "/", "sc.idle")


def test_an_idle_broker_is_told_from_one_that_shows_nothing():
    broker = CapturedBroker("4.3")
    broker.queues, broker.consumers = [], []
    assert "the broker shows no queue" in notes(seen(broker))
    broker.instead["/api/vhosts"] = lambda _: (200, [])
    assert "user 'ops' sees no virtual host" in notes(seen(broker))


@pytest.mark.parametrize("grows", [True, False], ids=["that grows", "that repeats"])
def test_a_list_without_end_is_given_up(grows):
    broker = CapturedBroker("4.3")
    model = broker.queues[0]

    def page(query):
        number = int(query["page"])
        name = f"q{number}" if grows else "q"
        count = number + 5 if grows else 10**6
        return 200, {"items": [{**model, "name": name}], "page_count": count}

    broker.instead["/api/queues"] = page
    with pytest.raises(BadAnswer, match="the list does not end: page"):
        seen(broker)


def test_consumers_left_over_of_a_deleted_queue_make_no_queue():
    broker = CapturedBroker("4.3")
    gone = {**broker.consumers[0], "queue": {"vhost": "/", "name": "gone"}}
    # one without its channel is left over, one with it is younger than the list of queues
    broker.consumers = [*broker.consumers, {**gone, "channel_details": []}]
    assert ("/", "gone") not in by_key(combine(seen(broker)))
    broker.consumers = [*broker.consumers, gone]
    assert ("/", "gone") in by_key(combine(seen(broker)))


def test_consumers_of_virtual_hosts_that_are_hidden_make_no_queues():
    broker = CapturedBroker("4.3")
    broker.queues = [q for q in broker.queues if q["vhost"] == "/"]
    intakes = seen(broker)
    assert {one.key.vhost for one in combine(intakes).queues} == {"/"}
    assert "user 'ops' has no permission in 'a/b c', where there are consumers" in notes(intakes)


def test_statistics_that_are_off_or_not_counted_are_said():
    broker = CapturedBroker("4.3")
    broker.overview["rates_mode"] = "none"
    assert "management.rates_mode = none" in notes(seen(broker))
    broker.overview["disable_stats"] = True
    intakes = seen(broker, None, "sc.saturated")
    assert "statistics are switched off" in notes(intakes)
    assert combine(intakes).broker.statistics_off
    asked = [query for path, query in broker.asked if path == "/api/queues"]
    assert asked[-1]["enable_queue_totals"] == "true"
    assert broker.paths[-1] == "/api/queues"


REDUCTIONS = "reductions_details"


def looked_at(document: dict[str, Any], *done: int, step: int) -> dict[str, Any]:
    """A queue's document after these looks at it; before them the broker shows zeros."""
    document = copy.deepcopy(document)
    at = document["messages_ready_details"]["samples"][0]["timestamp"]
    shown = [0] * (13 - len(done)) + list(done)
    document["reductions"] = done[-1]
    document[REDUCTIONS] = {
        "rate": 0.0,
        "samples": [
            {"sample": value, "timestamp": at - i * step} for i, value in enumerate(shown[::-1])
        ],
    }
    for details in document["message_stats"].values():
        if isinstance(details, dict):
            details["samples"] = [
                {"sample": 0, "timestamp": at - i * step} for i in range(len(shown))
            ]
    return document


def test_neither_form_calls_a_queue_stalled_by_the_hour_before_it_was_declared():
    broker = CapturedBroker("4.3")
    number = next(i for i, q in enumerate(broker.queues) if q["name"] == "sc.stalled")
    held = broker.queues[number]

    def verdicts() -> set[str]:
        found = []
        for names in ((), ("sc.stalled",)):
            fleet = combine(seen(broker, None, *names, patience=0))
            (one,) = [one for one in fleet.queues if one.key.name == "sc.stalled"]
            advice = advise_queue(one, Given(), Policy())
            found.append(f"{advice.verdict} {advice.observed.window}")
        return set(found)

    for done, verdict in (((9,), "at-limit 0.0"), ((9, 10, 11), "at-limit 5.0")):
        fresh = looked_at(held, *done, step=5_000)
        broker.queues[number] = fresh
        hour = looked_at(held, done[-1], step=60_000)
        path = "/api/queues/%2F/sc.stalled"
        broker.instead[path] = lambda q, m=fresh, h=hour: (200, h if "3600" in q.values() else m)
        assert verdicts() == {verdict}, done
    del broker.instead[path]
    broker.queues[number] = held
    assert {text.split()[0] for text in verdicts()} == {"stalled"}


def test_the_uptime_of_the_nodes_is_asked_for():
    broker = CapturedBroker("4.3")
    seen(broker)
    assert "uptime" in dict(broker.asked)["/api/nodes"]["columns"].split(",")


def test_consumers_that_the_queue_has_not_counted_yet_are_waited_for():
    broker = CapturedBroker("4.3")
    path = "/api/queues/%2F/sc.saturated"
    (whole,) = [q for q in broker.queues if (q["vhost"], q["name"]) == ("/", "sc.saturated")]
    left = [{**whole, "consumers": 0}] * 2
    broker.instead[path] = lambda _: (200, left.pop()) if left else None
    slept: list[float] = []
    found = by_key(combine(seen(broker, "/", "sc.saturated", sleep=slept.append)))
    row = found["/", "sc.saturated"].row
    assert row is not None
    assert (row.consumers, len(slept)) == (whole["consumers"], 2)


YOUNG = ("name", "vhost", "type", "arguments", "durable", "exclusive", "node", "consumer_details")


def test_a_queue_just_declared_is_waited_for_but_not_for_long():
    broker = CapturedBroker("4.3")
    path = "/api/queues/%2F/sc.saturated"
    (whole,) = [q for q in broker.queues if (q["vhost"], q["name"]) == ("/", "sc.saturated")]
    young = {name: value for name, value in whole.items() if name in YOUNG}
    left = [young, young]
    broker.instead[path] = lambda _: (200, left.pop()) if left else None
    slept: list[float] = []
    intakes = seen(broker, "/", "sc.saturated", sleep=slept.append)
    found = by_key(combine(intakes))["/", "sc.saturated"]
    assert found.row is not None
    assert (found.row.ready, len(slept)) == (whole["messages_ready"], 2)
    broker.instead[path] = lambda _: (200, young)
    started = time.monotonic()
    found = by_key(combine(seen(broker, "/", "sc.saturated", patience=0.6)))["/", "sc.saturated"]
    assert found.row is not None
    assert found.row.ready is None
    assert time.monotonic() - started < 2


def test_without_statistics_no_queue_is_said_to_have_no_consumers():
    broker = CapturedBroker("4.3")
    broker.queues = [{k: v for k, v in q.items() if k in YOUNG[:-1]} for q in broker.queues]
    broker.consumers = []
    intakes = seen(broker)
    assert {one.consumers for one in combine(intakes).queues} == {None}
    assert "queues have no statistics: just declared" in notes(intakes)


def test_rows_that_move_between_pages_come_once_and_what_was_missed_is_told(monkeypatch):
    monkeypatch.setattr(live_lists, "PAGE_SIZE", 10)
    broker = CapturedBroker("4.3")

    def moving(query: dict[str, str]) -> None:
        if query["page"] == "2":
            # before the second page one queue came and went to the front
            broker.queues.insert(0, {**broker.queues[0], "name": "new"})

    broker.instead["/api/queues"] = moving
    intakes = seen(broker)
    (queues,) = [intake for intake in intakes if intake.queues]
    assert len({(row.vhost, row.name) for row in queues.queues}) == len(queues.queues)
    assert "the list changed while it was read" in notes(intakes)


def test_a_list_that_shrinks_ends_where_it_ends(monkeypatch):
    monkeypatch.setattr(live_lists, "PAGE_SIZE", 10)
    broker = CapturedBroker("4.3")

    def shrinking(query: dict[str, str]) -> None:
        if query["page"] == "2":
            del broker.queues[5:]

    broker.instead["/api/queues"] = shrinking
    (queues,) = [intake for intake in seen(broker) if intake.queues]
    assert len(queues.queues) == 10


# against a real broker

#: and their tags
USERS = {"mon": "monitoring", "blind": "monitoring", "plain": ""}


@pytest.fixture(scope="module")
def working(broker: Node) -> Iterator[Node]:
    """The node with real consumers for a few seconds, and users who see different things."""
    script = Path(__file__).parents[1] / "workload.py"
    workload = subprocess.Popen(
        [sys.executable, str(script), str(broker.ports.amqp)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert workload.stdout is not None
        assert workload.stdout.readline() == "ready\n"
        for user, tags in USERS.items():
            change(broker, "PUT", f"users/{user}", {"password": PASSWORD, "tags": tags})
        nothing = {"configure": "^$", "write": "^$", "read": "^$"}
        change(broker, "PUT", "permissions/%2F/mon", nothing)
        time.sleep(14)
        yield broker
    finally:
        workload.kill()
        workload.communicate()
        clean(broker)


def clean(broker: Node) -> None:
    import pika
    from workload import QUEUES, connect

    connection: pika.BlockingConnection = connect(broker.ports.amqp)
    channel = connection.channel()
    for queue in QUEUES:
        channel.queue_delete(queue.name)
    connection.close()
    for user in USERS:
        change(broker, "DELETE", f"users/{user}")


def change(node: Node, method: str, path: str, document: object = None) -> None:
    """What the product never does: a request that is no GET."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{node.ports.management}/api/{path}",
        data=None if document is None else json.dumps(document).encode(),
        method=method,
        headers={
            "Authorization": f"Basic {base64.b64encode(b'guest:guest').decode()}",
            "Content-Type": "application/json",
        },
    )
    urllib.request.urlopen(request, timeout=10).close()


def on(node: Node, user: str = "guest", password: str = "guest") -> Client:
    return client(node.ports.management, user, password)


def limits(fleet: Fleet) -> dict[str, object]:
    return {
        one.key.name: sorted(
            (c.row.prefetch, c.row.ack, c.channel is not None, c.connection is not None)
            for c in one.consumers or ()
        )
        for one in fleet.queues
    }


@pytest.mark.broker
@pytest.mark.parametrize("user", ["guest", "mon"])
def test_a_real_broker_shows_live_what_its_saved_answers_show(working, user):
    history = "lengths_age=60&lengths_incr=5&msg_rates_age=60&msg_rates_incr=5"
    files = combine(
        [
            intake
            for path in (f"queues?{history}", "consumers", f"channels?{history}", "connections")
            for intake in read_json(working.get(f"/api/{path}").decode(), path)
        ]
    )
    with on(working, user, "guest" if user == "guest" else PASSWORD) as asking:
        everything = observe(asking)
        some = observe(asking, None, ["emails", "exports"])
    assert limits(combine(everything)) == limits(files)
    assert limits(combine(everything))["emails"] == [(10, "manual", True, True)] * 3
    assert limits(combine(some)) == {name: limits(files)[name] for name in ("emails", "exports")}
    assert notes(everything) == notes(some) == ""


@pytest.mark.broker
def test_a_queue_that_is_seconds_old_shows_its_true_rates(working):
    with on(working) as asking:
        (emails,) = rows(observe(asking, "/", ["emails"]))
        (whole,) = [row for row in rows(observe(asking)) if row.name == "emails"]
    for row in (emails, whole):
        first, last = row.traffic[0], row.traffic[-1]
        assert first.at is not None
        assert last.at is not None
        assert last.at > first.at
        acks = ((last.totals.ack or 0) - (first.totals.ack or 0)) / (last.at - first.at)
        # three consumers of 20 ms, less what a busy machine takes
        assert 100 < acks < 155
    assert emails.lengths[0].ready or emails.lengths[0].unacked


def rows(intakes: Sequence[Intake]) -> list[QueueRow]:
    return [row for intake in intakes for row in intake.queues if row.lengths]


@pytest.mark.broker
def test_a_queue_declared_this_moment_is_waited_for(working):
    from workload import connect

    connection = connect(working.ports.amqp)
    channel = connection.channel()
    name = "a/b %2F ö?#"
    try:
        channel.queue_declare(name, auto_delete=True)
        channel.basic_publish("", name, b"x")
        with on(working) as asking:
            (one,) = combine(observe(asking, None, [name])).queues
    finally:
        channel.queue_delete(name)
        connection.close()
    assert one.row is not None
    assert (one.key.name, one.row.consumers) == (name, 0)
    # its first statistics may be those of its declaration
    assert one.row.ready in (0, 1)
    assert one.consumers == ()


@pytest.mark.broker
def test_real_users_who_may_not_look_are_told_what_they_lack(working):
    with on(working, "blind", PASSWORD) as asking:
        intakes = observe(asking)
        assert combine(intakes).queues == ()
        assert "user 'blind' has no permission in any virtual host ('/')" in notes(intakes)
        with pytest.raises(Refused, match="no permission in this virtual host"):
            observe(asking, "/", ["emails"])
    with on(working, "plain", PASSWORD) as asking:
        with pytest.raises(Refused, match=r"Not management user.*no management tag") as caught:
            observe(asking)
        assert PASSWORD not in str(caught.value)
    with on(working, "mon", "wrong") as asking, pytest.raises(Refused, match="password is wrong"):
        observe(asking)


@pytest.mark.broker
def test_the_real_amqp_port_is_recognised(broker):
    words = "this looks like the AMQP port 5672"
    with client(broker.ports.amqp) as asking, pytest.raises(Unreachable, match=words):
        observe(asking)


def test_rows_with_anything_in_place_of_a_name_are_left_out_and_counted():
    broker = CapturedBroker("4.3")
    odd = [{"name": ["x"], "vhost": {}}, {"name": "q", "vhost": "/", "node": "a"}, 7, None]
    broker.instead["/api/queues"] = lambda _: (200, odd)
    intakes = seen(broker)
    assert [row.name for intake in intakes for row in intake.queues] == ["q"]
    assert sum(intake.bad_count for intake in intakes) == 3


@pytest.mark.broker
def test_the_real_api_is_asked_with_tls_and_a_client_certificate(cli, working, monkeypatch):
    made = working.certificates
    if made is None:
        pytest.skip("no openssl to make certificates with")
    monkeypatch.setenv("PATH", "")  # no rabbitmqctl to fall back on
    ours = ["--tls-cert-file", made.cert, "--tls-key-file", made.key]

    def ask(host: str, *options: str) -> tuple[int, str]:
        base = f"https://{host}:{working.ports.management_tls}"
        run = cli("advise", "--base-uri", base, "--queue", "emails", *options)
        return run.code, run.out + run.err

    for trust in (["--tls-ca-cert-file", made.ca], ["-k"]):
        code, text = ask("localhost", *trust, *ours)
        assert code == 0, text
        assert "emails" in text
    uri = f"amqps://localhost:{working.ports.amqps}"
    code, text = ask(
        "localhost", *ours, "--tls-ca-cert-file", made.ca, "--rtt", "probe", "--uri", uri
    )
    assert code == 0, text
    assert "probe of localhost" in text
    for host, options, said in (
        ("localhost", ours, "its certificate is not trusted"),
        ("localhost", [*ours, "--tls-ca-cert-file", made.other_ca], "certificate is not trusted"),
        ("127.0.0.1", [*ours, "--tls-ca-cert-file", made.ca], "IP address mismatch"),
        ("localhost", ["--tls-ca-cert-file", made.ca], "--tls-cert-file and --tls-key-file"),
    ):
        code, text = ask(host, *options)
        assert code == 3
        assert said in text
        assert len(text.splitlines()) == 1, text
