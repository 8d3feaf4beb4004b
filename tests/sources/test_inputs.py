"""Several inputs in one call: Ctrl-C, the same file twice, pastes, strictness."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources import InputOptions, read_inputs

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
TIMINGS = "queue,processing_ms\n" + "tasks,5\n" * 30
#: prints what was read, and what was told
READER = """
import json, sys
from prefetch_advisor.errors import AdvisorError
from prefetch_advisor.sources import InputOptions, read_inputs
print("ready", flush=True)
try:
    found = read_inputs(sys.argv[1:], InputOptions())
except AdvisorError as error:
    print(json.dumps([int(error.exit_code), str(error)]))
else:
    print(json.dumps([
        [one.where, sum(row.rows for row in one.timings), len(one.queues), one.interrupted]
        + list(one.notes)
        for one in found
    ]))
"""
SLOW = """
import sys, time
print(sys.argv[1])
while True:
    print(sys.argv[2], flush=True)
    time.sleep(0.01)
"""


def interrupted(*names: str, after: float, stdin: int | None = None) -> list[list[object]]:
    """What a process gives that a real SIGINT ends."""
    with subprocess.Popen(
        [sys.executable, "-c", READER, *names],
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.PIPE,
        # a shell that started the tests in the background may have it ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    found: list[list[object]] = json.loads(out)
    return found


@pytest.mark.parametrize("after", [0.15, 1.5])
def test_ctrl_c_keeps_what_a_slow_steady_pipe_gave(after: float) -> None:
    """In the middle of the head, and in the middle of the rows."""
    command = [sys.executable, "-c", SLOW, "queue,processing_ms", "tasks,5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        # until it writes, so that the time counts from there
        first = os.read(writer.stdout.fileno(), 1)
        reading, writing = os.pipe()
        relay = subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"import os, sys; os.write(1, {first!r}); "
                "[os.write(1, piece) for piece in iter(lambda: os.read(0, 65536), b'')]",
            ],
            stdin=writer.stdout,
            stdout=writing,
        )
        os.close(writing)
        with relay:
            (found,) = interrupted("-", after=after, stdin=reading)
            os.close(reading)
            writer.kill()
            relay.kill()
    where, rows, _, stopped, *_ = found
    assert (where, stopped) == ("stdin", True)
    assert isinstance(rows, int)
    assert rows >= (30 if after > 1 else 1)


def test_ctrl_c_on_a_silent_second_input_keeps_the_first(tmp_path: Path) -> None:
    file, pipe = tmp_path / "ok.csv", tmp_path / "pipe"
    file.write_text(TIMINGS)
    os.mkfifo(pipe)
    # nobody writes: it waits while opening
    first, second = interrupted(str(file), str(pipe), "more.csv", after=1)
    assert first[1:] == [30, 0, False]
    assert second[:4] == [str(pipe), 0, 0, True]
    assert "pipe: interrupted before a row of it was read" in str(second[4])
    assert "interrupted before it was read: more.csv" in str(second[5])
    # somebody who writes nothing
    writer = subprocess.Popen(["sh", "-c", f'exec sleep 60 > "{pipe}"'])
    with writer:
        first, second = interrupted(str(file), str(pipe), after=1)
        writer.kill()
    assert first[1] == 30
    assert second[3] is True


def test_ctrl_c_in_a_json_document_keeps_the_other_input(tmp_path: Path) -> None:
    file = tmp_path / "ok.csv"
    file.write_text(TIMINGS)
    reading, writing = os.pipe()
    os.write(writing, (CAPTURES / "4.3/api/queues.json").read_bytes()[:40_000])
    first, second = interrupted(str(file), "-", after=1, stdin=reading)
    assert first[1] == 30
    assert second[:4] == ["stdin", 0, 0, True]
    assert "cannot be used" in str(second[4])
    assert interrupted("-", after=1, stdin=reading)[0] == 130
    os.close(reading)
    os.close(writing)


def test_ctrl_c_leaves_out_a_table_row_that_is_cut() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"Listing queues for vhost / ...\nname\tmessages\na\t5\nb\t1")
    (found,) = interrupted("-", after=1, stdin=reading)
    os.close(reading)
    os.close(writing)
    assert found[:4] == ["stdin", 0, 1, True]
    assert r"left out: 'b\t1'" in str(found[4])


def test_the_same_file_is_read_once(tmp_path: Path) -> None:
    file, link = tmp_path / "a.csv", tmp_path / "b.csv"
    file.write_text(TIMINGS)
    link.symlink_to(file)
    copy = tmp_path / "c.csv"
    copy.write_text(TIMINGS)
    names = [str(file), str(link), str(file), str(tmp_path / "." / "a.csv"), str(copy)]
    with file.open("rb") as stdin:
        found = read_inputs([*names, "-"], InputOptions(), stdin)
    assert [one.where for one in found] == [str(file), str(copy)]
    assert found[0].notes == (
        f"{link}: is the same file as {file}: it is read once",
        f"{file}: was given more than once: it is read once",
        f"-: is the same file as {file}: it is read once",
    )


def test_json_below_its_prompt_is_read(tmp_path: Path) -> None:
    queues = (CAPTURES / "4.3/ctl/list_queues_small.json").read_text()
    consumers = (CAPTURES / "4.3/ctl/list_consumers_vhost2.json").read_text()
    table = (CAPTURES / "4.3/ctl/list_queues_vhost2.table").read_text()
    api = (CAPTURES / "4.3/api/overview.json").read_text()
    file = tmp_path / "paste.txt"
    file.write_text(f"$ rabbitmqctl list_queues --formatter=json\n{queues}")
    (one,) = read_inputs([str(file)], InputOptions())
    assert (len(one.queues), one.queues[0].vhost) == (31, None)
    file.write_text(
        f"root@host:~# rabbitmqctl list_queues --formatter=json\n{queues}\n"
        f"root@host:~# rabbitmqctl -p 'a/b c' --formatter json list_consumers\n{consumers}\n"
        f"root@host:~# rabbitmqctl -p 'a/b c' list_queues\n{table}"
        f"root@host:~# curl -su guest http://localhost:15672/api/overview\n{api}\nroot@host:~# \n"
    )
    found = read_inputs([str(file)], InputOptions())
    assert [(len(one.queues), len(one.consumers), len(one.brokers)) for one in found] == [
        *((31, 0, 0), (0, 2, 0), (2, 0, 0), (0, 0, 1)),
    ]
    assert {row.vhost for row in found[1].consumers} == {"a/b c"}
    file.write_text('$ rabbitmqctl list_queues --formatter=json\n[\n{"name":"a",\n')
    with pytest.raises(InputError, match=r"paste.txt:4:\d+: .* the file is cut off"):
        read_inputs([str(file)], InputOptions())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b'[{"name": "a", "vhost": "/", "messages_ready": -5}]', "of queue 'a' cannot be -5"),
        (b'[{"name": "a", "vhost": "/", "message_bytes": NaN}]', "cannot be NaN"),
        (b"name\tmessages\na\t-5\n", "messages of queue 'a' cannot be -5"),
        (b'[{"name": "a", "messages": 1}, {"messages": 2}]', "stdin: item 2: expected an object"),
    ],
)
def test_strict_refuses_what_cannot_be_used(text: bytes, told: str) -> None:
    assert read_inputs(["-"], InputOptions(), io.BytesIO(text))
    with pytest.raises(InputError, match=told):
        read_inputs(["-"], InputOptions(strict=True), io.BytesIO(text))
    plain = b'[{"name": "a", "vhost": "/", "messages_ready": null, "message_bytes": ""}]'
    (intake,) = read_inputs(["-"], InputOptions(strict=True), io.BytesIO(plain))
    assert intake.notes == ()


@pytest.mark.parametrize("name", ["overview", "nodes", "deprecated_features"])
@pytest.mark.parametrize("options", [[], ["--queue", "sc.saturated", "-V", "/"]])
def test_what_says_nothing_of_any_queue_cannot_be_read_alone(advise, name, options) -> None:
    file = CAPTURES / f"4.3/api/{name}.json"
    alone = advise(file, *options)
    assert alone.code == 3
    assert f"{name}.json describes the broker: add /api/queues" in alone.err
    assert len(advise(file, CAPTURES / "4.3/api/queues.json", *options).queues) > 0


def test_definitions_are_not_what_is_read(tmp_path: Path) -> None:
    file = tmp_path / "definitions.json"
    parts = {"rabbitmq_version": "4.3.6", "queues": [{"name": "a"}], "exchanges": []}
    file.write_text(json.dumps(parts | {"bindings": []}))
    with pytest.raises(InputError, match="is not one of the documents that can be read"):
        read_inputs([str(file)], InputOptions())


def test_many_small_files_are_read_quickly(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number}.csv").write_text(TIMINGS)
    names = sorted(str(path) for path in tmp_path.iterdir())
    begun = time.process_time()
    assert len(read_inputs(names, InputOptions())) == 200
    assert time.process_time() - begun < 2
