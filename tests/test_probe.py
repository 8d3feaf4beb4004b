"""The probe on a real broker: what it measures, what it says when it cannot, what it leaves."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pika
import pytest
from conftest import ROOT
from own_queue import SETTLE, eventually, later, queues
from rabbitmq_node import Node, free_ports

from prefetch_advisor.commands import probe as command
from prefetch_advisor.errors import AdvisorError, ExitCode, UsageError
from prefetch_advisor.model.figures import FigureSource
from prefetch_advisor.probe import (
    BATCH,
    DRAINED_LEAST,
    LEAST_CYCLES,
    ProbePlan,
    ProbeResult,
    Readings,
    batch_size,
    drain_size,
    is_warm_up,
    round_trip,
    summarise,
    thinned,
)
from prefetch_advisor.probe_run import measure, measure_round_trip
from prefetch_advisor.reports import probe_report
from prefetch_advisor.reports.options import ReportOptions
from prefetch_advisor.sources.amqp_uri import parse

SECRET = "hunter2"
OPTIONS: dict[str, Any] = {
    "uri": None,
    "queue_type": "classic",
    "queue_name": None,
    "message_size": 100,
    "duration": 5.0,
    "count": 1_000,
    "timeout": 10.0,
    "tls_ca_cert_file": None,
    "tls_cert_file": None,
    "tls_key_file": None,
    "insecure": False,
    "format_": "table",
    "output": None,
}


def plan(port: int, **changes: Any) -> ProbePlan:
    return replace(ProbePlan(parse(f"amqp://localhost:{port}"), duration=1.0), **changes)


def refusal(wanted: ProbePlan) -> str:
    """What the probe says where it cannot run: one line, and no password in it or below it."""
    with pytest.raises(AdvisorError) as raised:
        measure(wanted)
    text = str(raised.value)
    assert raised.value.exit_code == ExitCode.COULD_NOT_RUN
    assert "\n" not in text
    assert SECRET not in text
    assert SECRET not in "".join(traceback.format_exception(raised.value))
    return text


# --- what needs no broker


def test_the_first_cycle_is_left_out_and_more_while_they_take_little_of_the_time():
    assert is_warm_up(0, 99.0, 5.0)
    assert is_warm_up(19, 0.49, 5.0)
    assert not is_warm_up(19, 0.51, 5.0)
    assert not is_warm_up(20, 0.0, 5.0)


@pytest.mark.parametrize("size", [0, 1, 100, 100_000, 16_000_000])
def test_messages_come_in_batches_of_bounded_bytes(size):
    assert 2 <= batch_size(size, 1_000) <= BATCH
    assert batch_size(size, 1_000) * size <= max(1_000_000, 2 * size)
    assert batch_size(size, 1) == 2
    assert drain_size(size) * size <= max(2_000_000, DRAINED_LEAST * size)


def test_samples_kept_are_spread_over_the_run():
    kept = thinned([float(i) for i in range(10_000)], 2_000)
    assert len(kept) == 2_000
    assert (kept[0], kept[-1]) == (0, 9_999)
    assert np.diff(kept).max() <= 6
    assert thinned([3.0, 1.0, 2.0]).tolist() == [3, 1, 2]


def result(**changes: Any) -> ProbeResult:
    readings = Readings(
        rtt=[0.010, 0.011, 0.015], sync=[0.009], client_cost=4.5e-5, drained=1000, elapsed=1.5
    )
    made = summarise(
        readings,
        ProbePlan(parse(f"amqp://u:{SECRET}@broker.example/v")),
        product="RabbitMQ",
        version="4.3.6",
        measured_from="here",
    )
    return replace(made, **changes)


def test_the_round_trip_is_what_the_sizing_takes():
    rtt = round_trip(result())
    assert (rtt.mean, rtt.source) == (pytest.approx(0.012), FigureSource.MEASURED)
    assert rtt.origin == "probe of broker.example, 3 cycles"
    assert rtt.samples is not None
    assert rtt.samples.tolist() == [0.010, 0.011, 0.015]


def test_the_table_says_where_what_and_how_to_use_it():
    text = probe_report.table(result(), ReportOptions())
    assert "RabbitMQ 4.3.6 at broker.example:5672, vhost v; classic queue" in text
    assert "--rtt 12ms" in text
    assert "45 us of its own CPU time" in text
    assert max(map(len, text.splitlines())) <= 80
    assert SECRET not in text


def test_what_the_broker_says_of_itself_cannot_act_on_a_terminal():
    hostile = result(product="\x1b[2J", version="4\n5", vhost="\x1b]0;x\x07", host="h\u202e")
    for unicode in (True, False):
        text = probe_report.table(hostile, ReportOptions(unicode=unicode))
        assert all(char.isprintable() for line in text.splitlines() for char in line)


def test_json_holds_all_of_it_with_unknown_as_null():
    document = json.loads(probe_report.json(result(client_cost=None, drained=0), "now"))
    assert document["schema"] == "prefetch-advisor/probe/1"
    assert document["rtt"]["mean"] == 0.012
    assert document["rtt"]["count"] == len(document["rtt_samples"]) == 3
    assert document["sync"]["max"] == 0.009
    assert document["client_cost"] == {"source": None, "mean": None, "messages": 0}
    assert document["broker"]["version"] == "4.3.6"
    assert SECRET not in json.dumps(document)


def test_the_uri_comes_from_the_option_then_the_environment_then_the_default():
    environment = {"RABBITMQ_URL": "amqp://env"}
    assert command.where({"uri": "amqp://opt"}, environment)[0].host == "opt"
    uri, origin = command.where({}, environment)
    assert (uri.host, origin) == ("env", "RABBITMQ_URL")
    uri, origin = command.where({"uri": None}, {})
    assert (uri.place, uri.username, origin) == ("localhost:5672", "guest", "default")
    with pytest.raises(UsageError, match=r"RABBITMQ_URL: the AMQP URI") as raised:
        command.where({}, {"RABBITMQ_URL": f"amqp://u:{SECRET}/@h"})
    assert SECRET not in str(raised.value)


def test_tls_options_win_over_the_uri_and_need_tls():
    options = {"uri": "amqps://h?cacertfile=a", "tls_ca_cert_file": "b", "insecure": True}
    uri, _ = command.where(options, {})
    assert (uri.ca_file, uri.verify) == ("b", False)
    with pytest.raises(UsageError, match="--insecure goes with an amqps:// URI"):
        command.where({"uri": "amqp://h", "insecure": True}, {})


@pytest.mark.parametrize("name", ["", "amq.gen-x", "é" * 128, "\udcff"])
def test_a_queue_name_that_no_broker_takes_is_wrong_usage(name):
    with pytest.raises(UsageError, match="--queue-name"):
        command.build({**OPTIONS, "queue_name": name})


# --- what it measures


ONE_WAY = 0.010
PROXY = """
import socket, sys, threading, time
from delay_proxy import delayed

def echo(line):
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while data := line.recv(100):
        line.sendall(data)

def serve(listener):
    while True:
        threading.Thread(target=echo, args=(listener.accept()[0],), daemon=True).start()

sys.setswitchinterval(0.0005)
port, one_way = int(sys.argv[1]), float(sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()
print(delayed(port, one_way), delayed(listener.getsockname()[1], one_way), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def slow_ports(broker: Node) -> Iterator[tuple[int, int]]:
    """10 ms longer each way: a port that leads to the broker, and one that answers an echo.

    In a process of its own, which the probe's does not slow down.
    """
    proxy = subprocess.Popen(
        [sys.executable, "-c", PROXY, str(broker.ports.amqp), str(ONE_WAY)],
        cwd=Path(__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert proxy.stdout is not None
        to_broker, to_echo = proxy.stdout.readline().split()
        yield int(to_broker), int(to_echo)
    finally:
        proxy.kill()
        proxy.communicate()


@contextlib.contextmanager
def echoes(port: int) -> Iterator[list[float]]:
    """Inside the block, how long the path takes there and back, again and again."""
    taken: list[float] = []
    over = threading.Event()

    def ask() -> None:
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while not over.is_set():
                start = time.perf_counter()
                line.sendall(b"x")
                line.recv(1)
                taken.append(time.perf_counter() - start)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    try:
        yield taken
    finally:
        over.set()
        asking.join()


@pytest.mark.broker
def test_a_known_delay_of_the_path_is_read_within_a_tenth(clean, slow_ports):
    to_broker, to_echo = slow_ports
    # the proxy is late by half a millisecond, on a busy machine by more: an echo says what the
    # path really adds; and a machine may be busy in one of the two only, hence three attempts
    for _ in range(3):
        direct = measure(plan(clean.ports.amqp, count=300))
        with echoes(to_echo) as added:
            slow = measure(plan(to_broker, duration=4.0, count=100))
        truth = float(np.mean(added)) + direct.rtt.mean
        if slow.rtt.mean == pytest.approx(truth, rel=0.1):
            break
    assert slow.rtt.mean == pytest.approx(truth, rel=0.1)
    assert slow.rtt.count >= 50
    assert slow.rtt.p50 >= 2 * ONE_WAY
    # the path is in the synchronous method too, but not in the client's own cost
    assert slow.sync.p50 == pytest.approx(truth, rel=0.15)
    assert slow.client_cost is not None
    assert direct.client_cost is not None
    assert 1e-5 < slow.client_cost < 5e-4
    assert 1e-5 < direct.client_cost < 5e-4


@pytest.mark.broker
def test_a_quorum_queue_reads_above_the_synchronous_method_and_a_classic_one(clean):
    classic = measure(plan(clean.ports.amqp, count=400))
    quorum = measure(plan(clean.ports.amqp, count=400, queue_type="quorum"))
    assert quorum.rtt.p50 > quorum.sync.p50
    assert quorum.rtt.p50 > classic.rtt.p50
    assert (quorum.product, quorum.version) == (
        "RabbitMQ",
        json.loads(clean.get("/api/overview"))["rabbitmq_version"],
    )


@pytest.mark.broker
def test_the_duration_bounds_it_and_the_messages_may_be_large(clean):
    start = time.monotonic()
    found = measure(plan(clean.ports.amqp, duration=0.5, count=10**6, message_size=300_000))
    assert time.monotonic() - start < 5
    assert found.elapsed == pytest.approx(0.5, abs=0.3)
    assert found.rtt.count > 10
    assert len(found.samples) <= 2_000


@pytest.mark.broker
def test_advice_takes_the_round_trip_from_a_probe(clean):
    rtt = measure_round_trip(plan(clean.ports.amqp, count=50))
    assert rtt.origin == "probe of localhost, 50 cycles"
    assert rtt.samples is not None
    assert len(rtt.samples) == 50


@pytest.mark.broker
def test_a_path_too_slow_for_the_duration_says_so(clean, slow_ports):
    text = refusal(plan(slow_ports[0], duration=0.02))
    assert "give a longer --duration" in text


# --- what it leaves


@pytest.mark.broker
@pytest.mark.parametrize("kind", ["classic", "quorum"])
def test_a_name_that_exists_is_refused_and_its_queue_not_touched(clean, kind):
    with pika.BlockingConnection(
        pika.ConnectionParameters("127.0.0.1", clean.ports.amqp)
    ) as connection:
        channel = connection.channel()
        channel.queue_declare("precious")
        channel.queue_declare("locked", exclusive=True)
        try:
            channel.basic_publish("", "precious", b"x")
            for name in ("precious", "locked"):
                text = refusal(plan(clean.ports.amqp, queue_name=name, queue_type=kind))
                assert f"there is a queue '{name}' in vhost '/' already" in text
            assert channel.queue_declare("precious", passive=True).method.message_count == 1
        finally:
            channel.queue_delete("precious")


@pytest.mark.broker
@pytest.mark.parametrize("kind", ["classic", "quorum"])
def test_a_name_that_is_free_is_used(clean, kind):
    wanted = plan(clean.ports.amqp, queue_name="probe me", queue_type=kind, count=100)
    assert measure(wanted).rtt.count == 100


@contextlib.contextmanager
def probing(clean: Node, *options: str) -> Iterator[subprocess.Popen[str]]:
    """The command while it measures, for a minute unless it is ended, on the queue "under way"."""
    command_line = [sys.executable, "-m", "prefetch_advisor", "probe", "--duration", "60s"]
    command_line += ["--uri", f"amqp://localhost:{clean.ports.amqp}", "--count", "100000"]
    with subprocess.Popen(
        [*command_line, "--queue-name", "under way", "--format", "json", *options],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell that started the tests in the background may have it ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            assert eventually(lambda: "under way" in queues(clean))
            yield process
        finally:
            process.kill()


@pytest.mark.broker
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
@pytest.mark.parametrize("kind", ["classic", "quorum"])
def test_a_signal_ends_it_soon_with_what_was_measured_and_cleans_up(clean, kind, number, code):
    with probing(clean, "--queue-type", kind) as process:
        time.sleep(0.5)
        sent = time.monotonic()
        process.send_signal(number)
        out, err = process.communicate(timeout=SETTLE)
    assert time.monotonic() - sent < 5
    assert process.returncode == code
    document = json.loads(out)
    assert document["interrupted"] is True
    assert document["rtt"]["count"] >= LEAST_CYCLES
    assert document["warm_up"] + document["rtt"]["count"] < 100_000
    assert 0 < document["elapsed"] < 10
    assert err.splitlines()[-1].endswith(
        "interrupted: the report covers what was measured until then"
    )
    # a quorum queue by then is gone too, not only once it expires
    assert "under way" not in queues(clean)


@pytest.mark.broker
def test_a_signal_before_there_are_cycles_is_an_interrupt_and_cleans_up(clean, slow_ports):
    # a message takes its time on the slow path: hardly a cycle is done in 50 ms
    uri = f"amqp://localhost:{slow_ports[0]}"
    with probing(clean, "--queue-type", "quorum", "--uri", uri) as process:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=SETTLE)
    assert (process.returncode, out) == (143, "")
    assert err.splitlines()[-1] == "prefetch-advisor: interrupted"
    assert "under way" not in queues(clean)


@pytest.mark.broker
def test_advice_that_was_to_use_a_probe_is_not_given_where_that_is_stopped(clean):
    later(0.5, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        measure_round_trip(plan(clean.ports.amqp, duration=60.0, count=10**6))


@pytest.mark.broker
@pytest.mark.parametrize("kind", ["classic", "quorum"])
def test_a_connection_that_is_cut_is_said_and_leaves_nothing(clean, line, kind):
    later(0.5, line.cut)
    start = time.monotonic()
    text = refusal(plan(line.port, duration=60.0, count=10**6, queue_type=kind))
    assert f"connection to localhost:{line.port} was lost" in text
    assert time.monotonic() - start < 5


@pytest.mark.broker
def test_a_queue_that_cannot_be_deleted_is_named_and_expires(clean, line):
    later(0.5, line.refuse, line.cut)
    wanted = plan(line.port, duration=60.0, count=10**6, queue_type="quorum", queue_name="left")
    try:
        assert "its queue 'left' could not be deleted: the broker removes it" in refusal(wanted)
        arguments = json.loads(clean.get("/api/queues/%2F/left"))["arguments"]
        assert 60_000 <= arguments["x-expires"] < 70_000
    finally:
        clean.rabbitmqctl("delete_queue", "left")


@pytest.mark.broker
def test_a_broker_that_goes_silent_is_given_up(clean, line):
    later(0.5, line.silence)
    start = time.monotonic()
    text = refusal(plan(line.port, duration=60.0, count=10**6, timeout=1.0))
    assert "no delivery came" in text or "stopped answering" in text
    assert time.monotonic() - start < 20
    line.close()


@pytest.mark.broker
def test_a_queue_deleted_meanwhile_is_said(clean):
    later(0.5, lambda: clean.rabbitmqctl("delete_queue", "doomed"))
    wanted = plan(
        clean.ports.amqp, duration=60.0, count=10**6, queue_type="quorum", queue_name="doomed"
    )
    text = refusal(wanted)
    # the broker itself may fail on a question about a queue that is being deleted
    assert "doomed" in text or "INTERNAL_ERROR" in text


@pytest.mark.broker
@pytest.mark.parametrize("kind", ["classic", "quorum"])
def test_an_alarm_is_said_in_bounded_time(clean, kind):
    clean.rabbitmqctl("set_vm_memory_high_watermark", "0.0001")
    try:
        alarmed = "/api/nodes?columns=mem_alarm"
        assert eventually(lambda: json.loads(clean.get(alarmed))[0]["mem_alarm"])
        start = time.monotonic()
        text = refusal(plan(clean.ports.amqp, queue_type=kind))
        assert "blocks publishers: memory alarm (low on memory)" in text
        assert time.monotonic() - start < 10
        # while the alarm is on: the broker does not read from a connection that it blocks
        assert eventually(lambda: not [n for n in queues(clean) if "probe" in n])
    finally:
        clean.rabbitmqctl("set_vm_memory_high_watermark", "0.4")
        assert eventually(lambda: not json.loads(clean.get(alarmed))[0]["mem_alarm"])


# --- what it says when it cannot


@pytest.mark.broker
@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("amqp://guest:{secret}@localhost:{amqp}", "refused the user 'guest': wrong name"),
        ("amqp://nobody:{secret}@localhost:{amqp}", "refused the user 'nobody': wrong name"),
        ("amqp://localhost:{amqp}/nope", "has no vhost 'nope'"),
        ("amqp://localhost:{amqp}/", "leave the / out for '/'"),
        ("amqp://x:{secret}@localhost:{management}", "speaks HTTP, not AMQP"),
        ("amqp://x:{secret}@localhost:{closed}", "nothing listens at localhost:{closed}"),
        ("amqp://x:{secret}@no-such-host.invalid", "'no-such-host.invalid' cannot be found"),
        ("amqps://x:{secret}@localhost:{amqp}", "does not speak TLS"),
        ("amqp://x:{secret}@localhost:{epmd}", "localhost:{epmd}"),
    ],
)
def test_a_broker_that_cannot_be_used_is_one_line(broker, uri, said):
    names = {
        "secret": SECRET,
        "closed": free_ports(1)[0],
        "amqp": broker.ports.amqp,
        "management": broker.ports.management,
        "epmd": broker.ports.epmd,
    }
    start = time.monotonic()
    text = refusal(ProbePlan(parse(uri.format(**names)), timeout=2.0))
    assert said.format(**names) in text
    # two addresses of localhost, and the look for HTTP
    assert time.monotonic() - start < 8


@pytest.mark.broker
def test_the_client_logs_nothing_of_its_own(broker, capfd, caplog):
    refusal(ProbePlan(parse(f"amqp://nobody:{SECRET}@localhost:{broker.ports.amqp}")))
    out, err = capfd.readouterr()
    assert (out, err, caplog.text) == ("", "", "")


@pytest.mark.broker
def test_missing_permissions_are_said_with_the_queue(clean, slow_ports):
    clean.rabbitmqctl("add_user", "limited", SECRET)
    # where the refusal is later than the last message published
    far, _ = slow_ports
    try:
        for rights, port in (
            (("^$", ".*", ".*"), clean.ports.amqp),
            ((".*", "^$", ".*"), clean.ports.amqp),
            ((".*", "^$", ".*"), far),
        ):
            clean.rabbitmqctl("set_permissions", "limited", *rights)
            uri = parse(f"amqp://limited:{SECRET}@127.0.0.1:{port}")
            text = refusal(ProbePlan(uri))
            assert "ACCESS_REFUSED" in text
            assert "needs configure and read permission" in text
        clean.rabbitmqctl("clear_permissions", "limited")
        assert "'limited' may not use the vhost '/'" in refusal(ProbePlan(uri))
    finally:
        clean.rabbitmqctl("delete_user", "limited")


@pytest.mark.broker
def test_the_command_reports_on_standard_output_and_says_whom_it_asks(
    clean, capsys, monkeypatch, tmp_path
):
    uri = f"amqp://guest:guest@localhost:{clean.ports.amqp}?heartbeat=9"
    monkeypatch.setenv("RABBITMQ_URL", uri)
    options = {**OPTIONS, "count": 50, "format_": "json", "output": str(tmp_path / "r.json")}
    assert command.run(command.build(options)) == 0
    assert command.run(command.build({**options, "format_": "table", "output": None})) == 0
    out, err = capsys.readouterr()
    assert json.loads((tmp_path / "r.json").read_text())["rtt"]["count"] == 50
    assert "Use it: prefetch-advisor advise" in out
    assert f"guest@localhost:{clean.ports.amqp}/%2F (RABBITMQ_URL)" in err
    assert "not used of the URI: heartbeat" in err
    assert "guest:guest" not in out + err


# --- TLS


@pytest.fixture
def tls_port(broker: Node) -> tuple[int, Path]:
    """The TLS port of the broker, and the directory of its certificates."""
    if broker.certificates is None:
        pytest.skip("no openssl to make certificates with")
    return broker.ports.amqps, broker.certificates.home


@pytest.mark.broker
def test_with_tls_and_a_client_certificate_it_measures(clean, tls_port):
    port, home = tls_port
    certificates = {"tls_cert_file": str(home / "cert.pem"), "tls_key_file": str(home / "key.pem")}
    for more in ({"tls_ca_cert_file": str(home / "ca.pem")}, {"insecure": True}):
        uri, _ = command.where({"uri": f"amqps://localhost:{port}", **certificates, **more}, {})
        found = measure(ProbePlan(uri, count=50))
        assert found.tls
        assert found.rtt.count == 50


@pytest.mark.broker
def test_what_is_wrong_with_tls_is_said(broker, tls_port):
    port, home = tls_port
    ca = f"cacertfile={home / 'ca.pem'}"
    cert = f"certfile={home / 'cert.pem'}&keyfile={home / 'key.pem'}"
    for uri, said in (
        (f"amqps://localhost:{port}?{cert}", "certificate of localhost:"),
        (f"amqps://localhost:{port}?cacertfile={home / 'other.pem'}&{cert}", "is not accepted"),
        (f"amqps://127.0.0.1:{port}?{ca}&{cert}", "IP address mismatch"),
        (f"amqps://localhost:{port}?{ca}", "client certificate"),
        (f"amqp://localhost:{port}", "or amqps:// is its scheme"),
        (f"amqps://localhost:{port}?cacertfile=/nowhere", "'/nowhere' cannot be used"),
        (f"amqps://localhost:{port}?{ca}&certfile={home / 'ca.key'}", "cannot be used"),
        (f"amqps://localhost:{port}?{ca}&keyfile={home / 'ca.key'}", "needs its certificate"),
    ):
        assert said in refusal(ProbePlan(parse(uri), timeout=3.0)), uri
