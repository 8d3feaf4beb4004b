"""The recorder: what consumers did, whole lines, whatever happens to the process or the disk."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pika
import pytest
from conftest import ROOT

from prefetch_advisor import recorder as module
from prefetch_advisor.recorder import Recorder


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8", errors="surrogateescape") as file:
        return list(csv.DictReader(file))


def child(code: str, *arguments: object, **more: object) -> subprocess.Popen[str]:
    head = "import os, sys, threading, time\nfrom prefetch_advisor.recorder import Recorder\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,  # type: ignore[call-overload]
    )


def test_advise_reads_what_was_recorded(advise, tmp_path):
    path = tmp_path / "t.csv"
    recorder = Recorder(path, consumer="a")
    for _ in range(50):
        recorder.record("tasks", 0.02, 100)
        recorder.record('odd "name",\n', 0.5)
    assert recorder.flush()
    report = {queue["queue"]: queue for queue in advise(path, "--rtt", "1ms").report["queues"]}
    assert report["tasks"]["processing_time"]["mean"] == pytest.approx(0.02, rel=1e-3)
    assert report["tasks"]["processing_time"]["samples"] == 50
    assert 'odd "name",\n' in report


def test_nothing_is_lost_on_a_clean_exit_by_threads_and_forks(tmp_path):
    path = tmp_path / "t.csv"
    code = """
recorder = Recorder(sys.argv[1])
def work(queue):
    for i in range(2000):
        recorder.record(queue, 0.001)
work("before")
children = []
for n in range(3):
    pid = os.fork()
    if pid == 0:
        work(f"child {n}")
        sys.exit(0)
    children.append(pid)
threads = [threading.Thread(target=work, args=(f"thread {n}",)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
[os.waitpid(pid, 0) for pid in children]
"""
    with child(code, path) as process:
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    found: dict[str, int] = {}
    for row in rows(path):
        found[row["queue"]] = found.get(row["queue"], 0) + 1
    names = ["before", *(f"child {n}" for n in range(3)), *(f"thread {n}" for n in range(4))]
    # what waited in the parent when it forked is written once, by the parent
    assert found == dict.fromkeys(names, 2000)
    assert path.read_text().count("queue,consumer") == 1


def test_a_kill_loses_no_more_than_what_was_in_memory(tmp_path):
    path = tmp_path / "t.csv"
    code = """
recorder = Recorder(sys.argv[1])
for i in range(10**9):
    recorder.record("tasks", 0.001)
    if i % 100 == 0:
        time.sleep(0.001)
        print(i, flush=True)
"""
    with child(code, path) as process:
        time.sleep(3.5)
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate(timeout=60)
    done = int(out.split()[-1])
    written = rows(path)
    assert all(row["finished"] for row in written)
    # a second and a half of it, with the machine busy
    assert done * 0.4 < len(written) <= done + 100


def test_a_line_that_was_cut_does_not_spoil_the_next(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("queue,consumer,started,finished,bytes\ntasks,a,1.0,1.5,\ntas")
    recorder = Recorder(path)
    recorder.record("tasks", 0.25)
    assert recorder.flush()
    lines = path.read_text().splitlines()
    assert lines[2] == "tas"
    assert lines[3].startswith("tasks,")


def test_a_full_disk_stops_no_consumer_and_loses_nothing_that_fits(tmp_path, caplog):
    path = tmp_path / "t.csv"
    recorder = Recorder(path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
        for _ in range(100):
            recorder.record("tasks", 0.001)
        assert not recorder.flush()
        assert not recorder.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert recorder.flush()
    assert len(rows(path)) == 100


def test_a_buffer_that_is_full_counts_what_it_drops(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_ROWS", 10)
    recorder = Recorder(tmp_path / "gone" / "t.csv")
    for _ in range(15):
        recorder.record("tasks", 0.001)
    assert recorder.dropped == 5
    assert not recorder.flush()
    (tmp_path / "gone").mkdir()
    assert recorder.flush()
    assert len(rows(recorder.path)) == 10


def test_a_large_file_is_put_aside_and_the_oldest_removed(tmp_path):
    path = tmp_path / "t.csv"
    recorder = Recorder(path, max_bytes=2_000, keep=2)
    for batch in range(5):
        for _ in range(60):
            recorder.record(f"batch {batch}", 0.001)
        assert recorder.flush()
    assert sorted(os.listdir(tmp_path)) == ["t.csv.1", "t.csv.2"]
    assert {row["queue"] for row in rows(Path(f"{path}.1"))} == {"batch 4"}


def test_a_fork_in_the_middle_of_a_write_holds_nobody_up(tmp_path):
    path = tmp_path / "t.csv"
    code = """
recorder = Recorder(sys.argv[1])
write = os.write
def slow(file, data):
    if threading.current_thread() is not threading.main_thread():
        writing.set()
        time.sleep(0.5)
    return write(file, data)
writing = threading.Event()
os.write = slow
recorder.record("parent", 0.001)
writing.wait(10)
pid = os.fork()
if pid == 0:
    recorder.record("child", 0.001)
    sys.exit(0)
os.waitpid(pid, 0)
recorder.record("parent", 0.001)
"""
    with child(code, path, start_new_session=True) as process:
        try:
            _, err = process.communicate(timeout=30)
        finally:
            # both processes, where they wait for each other
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, err) == (0, "")
    assert sorted(row["queue"] for row in rows(path)) == ["child", "parent", "parent"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing_lose_nothing_at_their_exit(tmp_path, method):
    path, script = tmp_path / "t.csv", tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, sys\nfrom prefetch_advisor.recorder import Recorder\n"
        f"recorder = Recorder({str(path)!r})\n"
        "def work():\n    [recorder.record('tasks', 0.001) for _ in range(10)]\n"
        "if __name__ == '__main__':\n"
        f"    context = multiprocessing.get_context({method!r})\n"
        "    some = [context.Process(target=work) for _ in range(2)]\n"
        "    [one.start() for one in some]; [one.join() for one in some]\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, script], env=environment, check=True, timeout=60)
    assert len(rows(path)) == 20


def test_a_recorder_that_ends_before_the_process_loses_nothing(tmp_path):
    recorder = Recorder(tmp_path / "t.csv")
    recorder.record("tasks", 0.001)
    del recorder
    assert len(rows(tmp_path / "t.csv")) == 1


def test_a_file_that_cannot_be_put_aside_grows_and_repeats_no_row(tmp_path, caplog):
    (tmp_path / "t.csv.1").mkdir()
    recorder = Recorder(tmp_path / "t.csv", max_bytes=100, keep=1)
    for _ in range(3):
        for _ in range(5):
            recorder.record("tasks", 0.001)
        assert recorder.flush()
    assert len(rows(recorder.path)) == 15
    assert len(caplog.records) == 1


def test_what_an_exit_leaves_behind_is_counted(tmp_path):
    code = 'recorder = Recorder(sys.argv[1])\nfor _ in range(7): recorder.record("tasks", 0.001)\n'
    path = tmp_path / "gone" / "t.csv"
    with child(code, path) as process:
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert f"7 timings for {path} were dropped" in err


def test_no_name_stops_the_recorder_or_breaks_a_row(tmp_path):
    recorder = Recorder(tmp_path / "t.csv", consumer="a")
    names = ["a\rb", "\ud800", "\udcff", "=1+1", "x,\ny", '"']
    for name in names:
        assert recorder.flush()
        recorder.record(name, 0.001)
    assert recorder.flush()
    assert [row["queue"] for row in rows(recorder.path)] == ["a\rb", "\\ud800", *names[2:]]


def test_much_is_written_sooner(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_INTERVAL", 60)
    recorder = Recorder(tmp_path / "t.csv")
    for _ in range(6_000):
        recorder.record("tasks", 0.001)
    limit = time.monotonic() + 10
    while not recorder.path.exists() and time.monotonic() < limit:
        time.sleep(0.01)
    assert recorder.path.exists()
    recorder._wake.set()


@pytest.mark.broker
def test_consumers_of_pika_and_aio_pika_are_timed_on_a_broker(broker, advise, tmp_path):
    import aio_pika

    parameters = pika.ConnectionParameters("127.0.0.1", broker.ports.amqp)
    url = f"amqp://guest:guest@127.0.0.1:{broker.ports.amqp}/"
    connection = pika.BlockingConnection(parameters)
    channel = connection.channel()
    for name in ("recorded slow", "recorded fast"):
        channel.queue_declare(name)
        for _ in range(30):
            channel.basic_publish("", name, b"x" * 10)
    recorder = Recorder(tmp_path / "t.csv")
    done: list[int] = []

    def handle(channel, method, _properties, _body):
        time.sleep(0.01)
        channel.basic_ack(method.delivery_tag)
        done.append(1)

    channel.basic_qos(prefetch_count=2)
    channel.basic_consume("recorded slow", recorder.pika(handle, "slow"))
    limit = time.monotonic() + 20
    while len(done) < 30 and time.monotonic() < limit:
        connection.process_data_events(0.1)
    connection.close()

    async def consume() -> None:
        there = await aio_pika.connect(url)
        async with there:
            channel = await there.channel()
            await channel.set_qos(prefetch_count=10)
            queue = await channel.get_queue("recorded fast")
            left = asyncio.Semaphore(0)

            async def work(message):
                async with message.process():
                    await asyncio.sleep(0.02)
                left.release()

            await queue.consume(recorder.aio_pika(work, "fast"))
            for _ in range(30):
                await asyncio.wait_for(left.acquire(), 10)

    asyncio.run(consume())
    for name in ("recorded slow", "recorded fast"):
        broker.rabbitmqctl("delete_queue", name)
    assert recorder.flush()
    report = {q["queue"]: q for q in advise(recorder.path, "--rtt", "1ms").report["queues"]}
    assert report["slow"]["processing_time"]["mean"] == pytest.approx(0.0105, rel=0.3)
    assert report["fast"]["processing_time"]["mean"] == pytest.approx(0.021, rel=0.5)
    assert report["slow"]["concurrency"]["value"] == 1
    # ten at once: the events of one consumer overlap
    assert report["fast"]["concurrency"]["value"] > 4


@pytest.mark.broker
def test_what_is_recorded_tells_how_fast_a_full_consumer_of_pika_is(broker, advise, tmp_path):
    """The ack is timed, and with it all that the client does between two messages at hand."""
    connection = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", broker.ports.amqp))
    channel = connection.channel()
    channel.queue_declare("recorded full")
    count = 1_500
    for _ in range(count + 50):
        channel.basic_publish("", "recorded full", b"x" * 100)
    recorder = Recorder(tmp_path / "t.csv")
    ends: list[float] = []

    def handle(channel, method, _properties, _body):
        start = time.perf_counter()
        while time.perf_counter() - start < 0.001:
            pass
        channel.basic_ack(method.delivery_tag)
        ends.append(time.perf_counter())
        if len(ends) == count:
            channel.stop_consuming()

    channel.basic_qos(prefetch_count=10)
    channel.basic_consume("recorded full", recorder.pika(handle, "full"))
    channel.start_consuming()
    connection.close()
    broker.rabbitmqctl("delete_queue", "recorded full")
    assert recorder.flush()
    processing = advise(recorder.path, "--rtt", "1ms").only["processing_time"]
    assert 1 / processing["mean"] == pytest.approx((count - 1) / (ends[-1] - ends[0]), rel=0.03)


@pytest.mark.broker
def test_tasks_of_a_celery_worker_are_timed_by_recorder_and_log(broker, advise, tmp_path):
    (tmp_path / "app.py").write_text(
        "import time\nfrom celery import Celery\n"
        "from prefetch_advisor.recorder import Recorder\n"
        f"app = Celery('app', broker='amqp://guest:guest@127.0.0.1:{broker.ports.amqp}//')\n"
        "app.conf.task_ignore_result = True\napp.conf.worker_hijack_root_logger = False\n"
        f"Recorder({str(tmp_path / 't.csv')!r}).celery()\n"
        "@app.task(name='app.part')\ndef part():\n    pass\n"
        "@app.task(name='app.work')\ndef work():\n    part.apply()\n    time.sleep(0.05)\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    send = "from app import work\n[work.apply_async() for _ in range(20)]"
    subprocess.run([sys.executable, "-c", send], env=environment, check=True, timeout=30)
    worker = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "app", "worker", "-c", "2", "-l", "INFO"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        limit = time.monotonic() + 40
        path = tmp_path / "t.csv"
        while time.monotonic() < limit and not (path.exists() and len(rows(path)) >= 20):
            time.sleep(0.2)
    finally:
        worker.send_signal(signal.SIGTERM)
        _, err = worker.communicate(timeout=30)
    broker.rabbitmqctl("delete_queue", "celery")
    assert path.exists(), err[-2000:]
    found = rows(path)
    assert [row["queue"] for row in found] == ["celery"] * 20
    took = [float(row["finished"]) - float(row["started"]) for row in found]
    assert all(0.05 <= value + 1e-4 < 1 for value in took)
    # two children of one worker, whose prefetch they share
    (worker_name,) = {row["consumer"] for row in found}
    assert worker_name.startswith("celery@")
    assert 1.5 < advise(path, "--rtt", "1ms").only["concurrency"]["value"] <= 2
    log = tmp_path / "worker.log"
    log.write_text(err)
    done = advise(log, "--rtt", "1ms")
    # the log does not tell the tasks that another one called within its process
    assert "40 tasks that succeeded, by name" in done.err
    logged = {queue["queue"]: queue["processing_time"] for queue in done.report["queues"]}
    assert set(logged) == {"app.work", "app.part"}
    mean = sum(took) / len(took)
    assert logged["app.work"]["mean"] == pytest.approx(mean, rel=0.05)


def test_the_thread_of_a_recorder_that_is_gone_ends(tmp_path):
    path = tmp_path / "t.csv"

    def writes() -> bool:
        return any(thread.name == f"recorder of {path}" for thread in threading.enumerate())

    recorder = Recorder(path)
    recorder.record("tasks", 0.001)
    assert writes()
    assert recorder.flush()
    del recorder
    limit = time.monotonic() + 10
    while writes() and time.monotonic() < limit:
        time.sleep(0.1)
    assert not writes()
