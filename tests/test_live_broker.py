"""A real run: real consumers on a real node, what the broker then prints, and the verdicts."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from rabbitmq_node import Node
from readme_blocks import README
from workload import QUEUES

pytestmark = pytest.mark.broker

#: the history asked for, the lag of what the API shows, and a step of it: every sample is then of
#: a time when the last consumer was there
WARM_UP_SECONDS = 77
HISTORY = "lengths_age=60&lengths_incr=5&msg_rates_age=60&msg_rates_incr=5"
API = {
    "queues": f"/api/queues?{HISTORY}",
    "consumers": "/api/consumers",
    "channels": f"/api/channels?{HISTORY}",
    "connections": "/api/connections",
    "nodes": "/api/nodes",
    "overview": "/api/overview",
}
CTL = {
    "list_queues": "name type state messages_ready messages_unacknowledged messages consumers",
    "list_consumers": "queue_name channel_pid consumer_tag ack_required prefetch_count active"
    " activity_status arguments",
    "list_channels": "pid name connection vhost consumer_count messages_unacknowledged"
    " prefetch_count",
}


@dataclass(frozen=True)
class Printed:
    """What the broker printed, as files."""

    api: list[Path]
    text: list[Path]
    json: list[Path]


@pytest.fixture(scope="module")
def printed(broker: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Printed]:
    workload = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("workload.py")), str(broker.ports.amqp)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert workload.stdout is not None
        assert workload.stdout.readline() == "ready\n"
        time.sleep(WARM_UP_SECONDS)
        printed = save(broker, tmp_path_factory.mktemp("printed"))
        assert workload.poll() is None, "the workload ended before the broker was asked"
        yield printed
    finally:
        workload.kill()
        workload.communicate()


def save(broker: Node, directory: Path) -> Printed:
    printed = Printed([], [], [])
    for name, path in API.items():
        file = directory / f"{name}.json"
        file.write_bytes(broker.get(path))
        printed.api.append(file)
    for command, columns in CTL.items():
        for formatter, files in (("table", printed.text), ("json", printed.json)):
            file = directory / f"{command}.{formatter}"
            arguments = [command, f"--formatter={formatter}", *columns.split()]
            file.write_text(broker.rabbitmqctl(*arguments))
            files.append(file)
    return printed


EXPECTED = {
    "emails": "processing-bound",
    "orders": "unbounded",
    "invoices": "stalled",
    "payments": "at-limit",
    "thumbnails": "hoarding",
    "notifications": "keeping-up",
    "exports": "no-consumers",
}


def test_the_saved_api_gives_each_queue_its_verdict(advise, printed):
    queues = advise(*printed.api).queues
    assert {name: queues["/", name]["verdict"] for name in EXPECTED} == EXPECTED
    assert set(EXPECTED) == {queue.name for queue in QUEUES}


def test_what_the_saved_api_says_of_the_overloaded_queue_fits_its_workload(advise, printed):
    emails = advise(*printed.api).queues["/", "emails"]
    observed = emails["observed"]
    assert observed["consumers"] == 3
    assert observed["prefetch"] == [10]
    assert observed["unacked"] == emails["limit"]["value"] == 30
    assert observed["full_share"] >= 0.9
    assert not emails["snapshot"]
    assert emails["processing_time"]["source"] == "inferred"
    # a sleep of 20 ms, the client's own part of a message, and a machine that may be busy
    assert 0.020 <= emails["processing_time"]["mean"] <= 0.024
    assert emails["arrival_rate"]["value"] == pytest.approx(180, rel=0.05)
    assert emails["recommended"]["least_consumers"] > 3
    assert emails["recommended"]["consumers"] >= 5


def test_given_the_round_trip_the_slow_line_is_told_from_slow_work(advise, printed):
    payments = advise(*printed.api, "--queue", "payments", "--rtt", "11ms").only
    assert payments["verdict"] == "round-trip-bound"
    assert payments["recommended"]["prefetch"] >= 4


def test_given_the_processing_time_the_slow_line_is_told_from_slow_work(advise, printed):
    payments = advise(*printed.api, "--queue", "payments", "--processing-time", "0.6ms").only
    assert payments["verdict"] == "round-trip-bound"
    # at 11 ms the rule is 20; the client's loop and a busy machine add to the line's 10 ms
    assert 15 <= payments["recommended"]["prefetch"] <= 40


@pytest.mark.parametrize("form", ["text", "json"])
def test_rabbitmqctl_alone_tells_what_it_can(advise, printed, form):
    queues = advise(*getattr(printed, form)).queues
    verdicts = {name: queues["/", name]["verdict"] for name in EXPECTED}
    assert verdicts["orders"] == "unbounded"
    assert verdicts["exports"] == "no-consumers"
    for name in ("emails", "payments", "invoices"):
        assert verdicts[name] == "at-limit", name
        assert any("rate" in missing for missing in queues["/", name]["missing"]), name


def test_all_that_the_broker_printed_read_together_agrees(advise, printed):
    run = advise(*printed.api, *printed.json)
    queues = run.queues
    assert {name: queues["/", name]["verdict"] for name in EXPECTED} == EXPECTED


@pytest.fixture
def live(advise, broker, printed):
    """``advise`` on the running broker: ``printed`` has the workload running."""

    def run(*arguments: object):
        return advise("-H", "127.0.0.1", "-P", broker.ports.management, *arguments)

    return run


def test_the_running_broker_gives_each_queue_its_verdict(live):
    report = live()
    queues = report.queues
    assert {name: queues["/", name]["verdict"] for name in EXPECTED} == EXPECTED
    assert report.report["broker"]["version"]


def test_a_queue_that_nobody_has_measured_says_what_is_missing(live):
    payments = live("--queue", "payments").only
    assert payments["verdict"] == "at-limit"
    assert payments["recommended"]["prefetch"] is None
    assert payments["limit"]["value"] == 1
    assert payments["current"]["rtt_covered"] == 0
    assert (payments["rtt"]["source"], payments["rtt"]["side"]) == ("bound", "at least")
    assert any("--rtt" in missing for missing in payments["missing"])


def test_a_probe_beside_the_consumers_tells_what_they_are_limited_by(live, broker):
    uri = f"amqp://guest:guest@127.0.0.1:{broker.ports.amqp}"
    emails = live("--queue", "emails", "--rtt", "probe", "--uri", uri).only
    assert emails["rtt"]["source"] == "measured"
    assert (emails["verdict"], emails["confidence"]) == ("processing-bound", "high")


def test_rabbitmqctl_is_asked_where_it_is_wanted(advise, broker, printed, tmp_path):
    program = tmp_path / "rabbitmqctl"
    exports = "".join(f"export {key}='{value}'\n" for key, value in broker.environment.items())
    program.write_text(f'#!/bin/sh\n{exports}exec "{broker.programs}/rabbitmqctl" "$@"\n')
    program.chmod(0o755)
    found = advise("--live", "rabbitmqctl", "--rabbitmqctl", program, "--window", "3s")
    verdicts = {name: found.queues["/", name]["verdict"] for name in EXPECTED}
    assert verdicts["orders"] == "unbounded"
    assert verdicts["exports"] == "no-consumers"
    assert verdicts["emails"] == verdicts["payments"] == "at-limit"
    assert found.queues["/", "emails"]["observed"]["growth"] > 10


def test_a_refused_user_is_told_and_the_password_is_not(cli, broker, printed, monkeypatch):
    monkeypatch.setenv("RABBITMQADMIN_PASSWORD", "hunter2-very-secret")
    port = broker.ports.management
    run = cli("advise", "-H", "127.0.0.1", "-P", port, "-u", "guest", "--queue", "emails")
    assert run.code == 3
    assert "401" in run.err
    assert "hunter2" not in run.out + run.err


def test_a_port_where_nothing_listens_is_one_line_and_exit_3(cli, monkeypatch):
    monkeypatch.setenv("PATH", "")  # no rabbitmqctl to fall back on
    run = cli("advise", "--queue", "emails", "-H", "127.0.0.1", "-P", "1")
    assert (run.code, run.out) == (3, "")
    assert len(run.err.splitlines()) == 1
    assert "127.0.0.1:1" in run.err
    assert "refused" in run.err.lower()


def labels(text: str) -> list[str]:
    """What stands before the figures in the reasoning for one queue."""
    return re.findall(r"^  (\w[\w* ]{0,11}?)\s{2,}", text, flags=re.MULTILINE)


def test_the_readme_shows_the_answer_of_a_running_broker_as_it_is(cli, broker, printed):
    """The figures are another broker's; everything else is what is printed here."""
    shown = README.read_text().split("$ prefetch-advisor advise --queue tasks\n")[1]
    shown = shown.split("```")[0]
    port = broker.ports.management
    run = cli("advise", "-H", "127.0.0.1", "-P", port, "--queue", "emails")
    assert labels(run.out) == labels(shown)
    assert len(labels(shown)) > 10
