"""``bench`` on a real broker: what it measures beside what is predicted, and what it leaves."""

from __future__ import annotations

import csv
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from conftest import ROOT
from own_queue import SETTLE, eventually, later, queues

from prefetch_advisor.bench import STYLES, BenchPlan, Measured, judge
from prefetch_advisor.bench_run import bench, bench_one
from prefetch_advisor.errors import AdvisorError
from prefetch_advisor.probe import ProbePlan, Readings, summarise
from prefetch_advisor.reports.bench_report import table
from prefetch_advisor.reports.options import ReportOptions
from prefetch_advisor.simulate import Work
from prefetch_advisor.sizing import Sizing
from prefetch_advisor.sources.amqp_uri import parse

WORK = Work(0.005, 0.0, "constant, 5 ms", shape="constant")


def plan(port: int, **changes: Any) -> BenchPlan:
    probe = ProbePlan(parse(f"amqp://localhost:{port}"), duration=0.5, timeout=5.0)
    return replace(BenchPlan(probe, WORK, prefetches=(2,), messages=100, duration=10.0), **changes)


def quiet(_done: float, _total: float) -> None:
    pass


# --- what the model says


def readings(rtt: float, cost: float) -> Any:
    probe = ProbePlan(parse("amqp://localhost"))
    said = Readings(rtt=[rtt] * 50, sync=[rtt] * 50, client_cost=cost, drained=100)
    return summarise(said, probe, product=None, version=None, measured_from="here")


def measured_at(*prefetches: int) -> list[Measured]:
    return [Measured(n, 100, 1.0, 0.5, [0.001] * 100) for n in prefetches]


def test_what_a_handler_took_contains_what_its_client_spends():
    result = judge(plan(1), readings(0.002, 0.0005), measured_at(1, 3, 30))
    one, three, many = (point.predicted for point in result.points)
    assert one == pytest.approx(1 / 0.003)
    assert three == many == pytest.approx(1 / 0.001)
    assert isinstance(result.advice, Sizing)
    assert result.advice.prefetch == 3
    assert [point.buffered_time for point in result.points] == pytest.approx([0, 0.002, 0.029])


def test_a_loop_spends_its_own_cost_between_handlers():
    result = judge(plan(1, style="loop"), readings(0.002, 0.0005), measured_at(4))
    assert result.points[0].predicted == pytest.approx(4 / (4 * 0.0015 + 0.002))


@pytest.mark.broker
def test_a_blocking_handler_s_time_leaves_nothing_between_two_of_them(clean):
    # no work at all: whatever a message takes is the client's
    wanted = plan(clean.ports.amqp, work=Work(0.0, 0.0, "none", shape="constant"), messages=2_000)
    point, _, _ = bench_one(replace(wanted, prefetches=()), 200)
    assert point.worked > 0.6 * point.elapsed


def drawn(width: int, unicode: bool) -> list[str]:
    result = judge(plan(1), readings(0.002, 0.0), measured_at(1, 3))
    options = ReportOptions(width=width, unicode=unicode)
    return table(result, options, "").splitlines()


def test_the_picture_shows_what_was_measured_and_predicted():
    # 100 a second of 333 and 1,000 predicted
    for unicode, full, sign in ((True, "█", "│"), (False, "#", "|")):
        bars = [line for line in drawn(80, unicode) if full in line]
        assert bars[0] == f"1  {full * 4}{' ' * 9}{sign} +"
        assert bars[1] == f"3  {full * 4}{' ' * 36}{sign} *"
        assert bars[2] == f"   {full} measured, {sign} predicted"
    assert not any("█" in line for line in drawn(12, True))


def test_more_than_is_measured_passes_before_measuring_starts_and_is_there():
    assert plan(1, messages=2_000).counts(1) == (200, 2_000)
    assert plan(1, messages=2_000).counts(500) == (1_000, 2_500)
    assert plan(1, messages=2_000).counts(0) == (400, 2_000)


# --- a real broker


@pytest.mark.broker
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", ["classic", "quorum"])
def test_every_style_is_measured_near_what_is_predicted(clean, kind, style):
    wanted = plan(clean.ports.amqp, style=style, workers=3, prefetches=(3, 6))
    wanted = replace(wanted, probe=replace(wanted.probe, queue_type=kind))
    result = bench(wanted, quiet)
    for point in result.points:
        assert point.measured.messages == 100
        assert point.predicted is not None
        # a busy machine only slows it down
        assert 0.2 < point.measured.throughput / point.predicted < 1.1
    few, many = (point.measured.throughput for point in result.points)
    if style == "async":
        assert many > 1.2 * few
    at_once = {"blocking": 1, "loop": 1, "threads": 3, "async": 3}[style]
    assert few < 1.1 * at_once / 0.005


@pytest.mark.broker
def test_acks_in_groups_are_measured(clean):
    result = bench(plan(clean.ports.amqp, batch=5, prefetches=(5, 20)), quiet)
    assert [point.measured.messages for point in result.points] == [100, 100]
    assert result.best is not None


@pytest.mark.broker
def test_the_command_reports_and_leaves_nothing(cli, clean, tmp_path):
    uri = f"amqp://guest:guest@localhost:{clean.ports.amqp}"
    options = ["--uri", uri, "--processing-time", "2ms", "--messages", "60", "--prefetch", "1,4"]
    run = cli("bench", *options, "--format", "json")
    assert run.code == 0, run.err
    assert "guest:guest" not in run.out + run.err
    document = json.loads(run.out)
    assert [point["prefetch"] for point in document["points"]] == [1, 4]
    assert document["best"] in (1, 4)
    assert document["recommended"]["prefetch"] >= 1
    table = cli("bench", *options)
    assert "of the best" in table.out
    assert "* the advised one, + the best" in table.out
    file = tmp_path / "points.csv"
    assert cli("bench", *options, "--format", "csv", "-o", str(file)).code == 0
    with file.open() as opened:
        assert [row["prefetch"] for row in csv.DictReader(opened)] == ["1", "4"]


@pytest.mark.broker
def test_without_a_list_it_looks_around_the_advised_prefetch(cli, clean):
    uri = f"amqp://localhost:{clean.ports.amqp}"
    run = cli(
        *("bench", "--uri", uri, "--processing-time", "5ms", "--messages", "20"),
        *("--duration", "1s", "--format", "json"),
    )
    document = json.loads(run.out)
    tried = [point["prefetch"] for point in document["points"]]
    assert tried[0] == 1
    assert tried[-1] == 0
    assert len(tried) >= 4


@pytest.mark.broker
@pytest.mark.parametrize("style", ["blocking", "threads", "loop"])
def test_a_prefetch_that_keeps_the_client_busy_ends_in_time(clean, style):
    # a turn of the client's loop would last as long as deliveries keep coming
    wanted = plan(clean.ports.amqp, style=style, messages=20_000, duration=1.0)
    work = Work(0.02, 0.0, "constant, 20 ms", shape="constant")
    start = time.monotonic()
    with pytest.raises(AdvisorError, match="before measuring starts"):
        bench_one(replace(wanted, work=work), 300)
    assert time.monotonic() - start < 20
    short = replace(wanted, work=work, messages=200, workers=2)
    point, _, _ = bench_one(short, 4)
    assert point.cut
    assert point.elapsed < 1.5


def refusal(wanted: BenchPlan) -> str:
    with pytest.raises(AdvisorError) as refused:
        bench(wanted, quiet)
    return str(refused.value)


@pytest.mark.broker
@pytest.mark.parametrize("kind", ["classic", "quorum"])
def test_a_connection_that_is_cut_is_said_and_leaves_nothing(clean, line, kind):
    wanted = plan(line.port, messages=100_000, duration=30.0, prefetches=(5,))
    wanted = replace(wanted, probe=replace(wanted.probe, queue_type=kind))
    later(4.0, line.cut)
    start = time.monotonic()
    text = refusal(wanted)
    assert f"connection to localhost:{line.port} was lost" in text
    assert time.monotonic() - start < 20


@pytest.mark.broker
@pytest.mark.parametrize("kind", ["classic", "quorum"])
def test_a_broker_that_ends_is_said_and_leaves_nothing(clean, kind):
    wanted = plan(clean.ports.amqp, messages=100_000, duration=30.0, prefetches=(5,))
    wanted = replace(wanted, probe=replace(wanted.probe, queue_type=kind))
    ending = threading.Timer(4.0, lambda: clean.rabbitmqctl("stop_app"))
    ending.start()
    start = time.monotonic()
    try:
        text = refusal(wanted)
        assert time.monotonic() - start < 25
        assert "closed" in text or "lost" in text or "refuse" in text
    finally:
        # not while it is on its way down
        ending.join()
        clean.rabbitmqctl("start_app")
        clean.rabbitmqctl("await_startup")
    if kind == "quorum":
        # nobody could delete it: it expires
        assert "the broker removes it" in text
        assert eventually(lambda: not queues(clean), 90)


@pytest.mark.broker
def test_a_broker_that_goes_silent_is_left_in_bounded_time(clean, line):
    wanted = plan(line.port, messages=100_000, duration=60.0, prefetches=(5,))
    later(4.0, line.silence)
    start = time.monotonic()
    assert f"localhost:{line.port}" in refusal(wanted)
    assert time.monotonic() - start < 40
    line.cut()


@pytest.mark.broker
def test_a_refusal_is_said_and_leaves_nothing(clean):
    secret = "s3cret-of-nobody"
    text = refusal(with_uri(f"amqp://nobody:{secret}@localhost:{clean.ports.amqp}"))
    assert "refused the user 'nobody'" in text
    assert secret not in text
    clean.rabbitmqctl("add_user", "limited", secret)
    try:
        clean.rabbitmqctl("set_permissions", "limited", "^$", ".*", ".*")
        text = refusal(with_uri(f"amqp://limited:{secret}@127.0.0.1:{clean.ports.amqp}"))
        assert "ACCESS_REFUSED" in text
        assert "needs configure and read permission" in text
    finally:
        clean.rabbitmqctl("delete_user", "limited")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    text = refusal(with_uri(f"amqp://127.0.0.1:{port}"))
    assert f"127.0.0.1:{port}" in text


@pytest.mark.broker
def test_a_policy_that_bounds_the_queue_is_said_and_leaves_nothing(clean):
    clean.rabbitmqctl("set_policy", "short", "prefetch-advisor", '{"max-length": 60}')
    try:
        text = refusal(plan(clean.ports.amqp, messages=2_000, duration=5.0))
        assert "does a policy bound or expire it?" in text
    finally:
        clean.rabbitmqctl("clear_policy", "short")


def with_uri(uri: str) -> BenchPlan:
    given = plan(1)
    return replace(given, probe=replace(given.probe, uri=parse(uri), timeout=3.0))


@pytest.mark.broker
def test_an_alarm_is_said_in_bounded_time(clean):
    clean.rabbitmqctl("set_vm_memory_high_watermark", "0.0001")
    alarmed = "/api/nodes?columns=mem_alarm"
    try:
        assert eventually(lambda: json.loads(clean.get(alarmed))[0]["mem_alarm"])
        start = time.monotonic()
        assert "blocks publishers: memory alarm" in refusal(plan(clean.ports.amqp))
        assert time.monotonic() - start < 15
    finally:
        clean.rabbitmqctl("set_vm_memory_high_watermark", "0.4")
        assert eventually(lambda: not json.loads(clean.get(alarmed))[0]["mem_alarm"])


@pytest.mark.broker
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_with_what_was_measured_and_cleans_up(clean, number, code):
    command = [sys.executable, "-m", "prefetch_advisor", "bench", "--format", "json"]
    command += ["--uri", f"amqp://localhost:{clean.ports.amqp}", "--processing-time", "5ms"]
    before = queues(clean)
    with subprocess.Popen(
        [*command, "--messages", "40", "--prefetch", "1..400", "--queue-type", "quorum"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            assert eventually(lambda: queues(clean) != before)
            time.sleep(8)
            process.send_signal(number)
            out, err = process.communicate(timeout=SETTLE)
        finally:
            process.kill()
    assert process.returncode == code, err
    assert json.loads(out)["interrupted"] is True
    assert err.splitlines()[-1].endswith("the report covers what was measured until then")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--processing-time", "2s"], "bench measures up to 1 s"),
        (["--processing-time", "5ms", "--batch", "9", "--prefetch", "3"], "nothing would ever be"),
        ([], "found none"),
        (["--processing-time", "5ms", "--uri", "http://x"], "amqp"),
    ],
)
def test_what_cannot_be_meant_is_said(cli, arguments, said):
    run = cli("bench", *arguments)
    assert run.code == 2
    assert said in " ".join(run.err.split())
