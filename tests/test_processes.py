"""Halves of a list in two processes: the same results, whatever happens to the child."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import CAPTURES

from prefetch_advisor import processes
from prefetch_advisor.processes import LEAST, in_halves, worth_splitting

ITEMS = list(range(LEAST))


def test_results_come_in_order_and_the_second_from_another_process():
    (first, here), (second, there) = in_halves(lambda some: (list(some), os.getpid()), ITEMS)
    assert first + second == ITEMS
    assert here == os.getpid() != there


@pytest.mark.parametrize("end", ["raise", "exit", "kill"])
def test_what_the_child_fails_at_is_done_here(end):
    parent = os.getpid()

    def work(some):
        if os.getpid() != parent:
            if end == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise SystemExit(3) if end == "exit" else ValueError("only in the child")
        return sum(some)

    assert sum(in_halves(work, ITEMS)) == sum(ITEMS)


def test_a_failure_is_raised_as_usual_and_leaves_no_child():
    def work(some):
        raise ValueError(f"not {some[0]}")

    with pytest.raises(ValueError, match="not 0"):
        in_halves(work, ITEMS)
    # other children may live, such as a broker; one that has ended would be told
    with suppress(ChildProcessError):
        assert os.waitpid(-1, os.WNOHANG) == (0, 0)


def test_splitting_needs_enough_items_and_another_processor(monkeypatch):
    monkeypatch.setattr(processes, "_THREADED", ())
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert worth_splitting(LEAST)
    assert not worth_splitting(LEAST - 1)
    monkeypatch.setattr(processes, "_THREADED", ("json",))
    assert not worth_splitting(LEAST)
    monkeypatch.setattr(processes, "_THREADED", ())
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert not worth_splitting(LEAST)


@pytest.mark.skipif(sys.platform != "linux", reason="forking is used on Linux alone")
def test_a_fleet_is_reported_alike_by_one_process_and_by_two(
    advise, monkeypatch, tmp_path: Path
) -> None:
    queues = json.loads((CAPTURES / "4.3" / "api" / "queues.json").read_text())
    fleet = [{**queues[n % len(queues)], "name": f"{n}.fleet"} for n in range(LEAST + 1)]
    file = tmp_path / "queues.json"
    file.write_text(json.dumps(fleet))
    monkeypatch.setattr(processes, "_THREADED", ())
    reports, asked = [], []
    for cores in ({0}, {0, 1}):
        monkeypatch.setattr(
            os, "sched_getaffinity", lambda _, cores=cores: asked.append(1) or cores
        )
        report = advise(file).report
        report.pop("generated_at")
        reports.append(report)
    assert asked
    assert reports[0] == reports[1]
    assert reports[0]["summary"]["queues"] == LEAST + 1 == len(reports[1]["queues"])
