"""Worker logs: tasks that succeeded are timings, everything else is counted."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.sources.celery_log import looks_like

LOG = """\
 -------------- celery@host v5.7.0 (immunity)
[2026-12-01 03:17:01,100: INFO/MainProcess] celery@host ready.
[2026-12-01 03:17:01,123: INFO/MainProcess] Task app.work[0b1c-2d] received
[2026-12-01 03:17:01,180: INFO/Worker-2] Task app.work[0b1c-2d] succeeded in 0.0512s: None
[2026-12-01 03:17:02,180: INFO/Worker-1] Task app.mail[0b1c-2e] succeeded in 1.2e-05s: 1
[2026-12-01 03:17:03,000: ERROR/Worker-1] Task app.work[0b1c-2f] raised unexpected: 1
Traceback (most recent call last):
[2026-12-01 03:17:04,180: INFO/Worker-1] Task app.work[0b1c-30] succeeded in 0.1488s: None
"""


def by_name(done):
    return {queue["queue"]: queue for queue in done.report["queues"]}


def test_tasks_are_timed_by_name_and_worker(advise, tmp_path):
    log = tmp_path / "worker.log"
    log.write_text(LOG)
    done = advise(log, "--rtt", "1ms")
    assert "3 tasks that succeeded, by name; 5 other lines" in done.err
    found = by_name(done)
    assert found["app.work"]["processing_time"]["mean"] == pytest.approx(0.1)
    assert found["app.work"]["processing_time"]["samples"] == 2
    assert found["app.mail"]["processing_time"]["mean"] == pytest.approx(1.2e-5)


def test_a_format_without_times_will_do(advise, tmp_path):
    log = tmp_path / "worker.log"
    log.write_text("worker: Task a.b[1-2] succeeded in 0.5s: None\n" * 3)
    assert by_name(advise(log, "--rtt", "1ms"))["a.b"]["processing_time"]["samples"] == 3


@pytest.mark.parametrize("end", ["", ": None", ": 'Task c[1] succeeded in 9s: x'"])
@pytest.mark.parametrize("task_id", ["0b1c-2d", "import:2024.1", "a b"])
def test_ids_and_ends_that_people_choose_will_do(advise, tmp_path, task_id, end):
    log = tmp_path / "worker.log"
    line = f"[2026-12-01 03:17:01,180: INFO/W-2] Task a.b[{task_id}] succeeded in 0.5s{end}\n"
    log.write_text(line * 3)
    assert by_name(advise(log, "--rtt", "1ms"))["a.b"]["processing_time"]["samples"] == 3


def test_a_long_line_takes_no_longer_than_its_length():
    line = b"Task a[" * 200_000
    start = time.perf_counter()
    assert not looks_like(line + b"\n" + line + b"] succeeded in x")
    # the square of it would be minutes
    assert time.perf_counter() - start < 2


NAMES = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=9)


@given(st.lists(st.tuples(NAMES, st.floats(1e-6, 1e4)), min_size=1, max_size=20))
@settings(deadline=None, max_examples=30)
def test_every_task_is_there_once(tasks):
    from io import BufferedReader, BytesIO

    from prefetch_advisor.sources import InputOptions, read_inputs

    text = "".join(
        f"[2026-12-01 03:17:01,123: INFO/w-1] Task {name}[1] succeeded in {took!r}s: 'x, y'\n"
        for name, took in tasks
    )
    (intake,) = read_inputs(["-"], InputOptions(), BufferedReader(BytesIO(text.encode())))
    counts = {row.name: row.rows for row in intake.timings}
    assert counts == {name: sum(n == name for n, _ in tasks) for name, _ in tasks}
