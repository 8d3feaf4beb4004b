"""Programs that hang, flood, crash and leave children: always an answer, in time, nothing left."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from prefetch_advisor.sources import commands_run
from prefetch_advisor.sources.commands_run import MOST_ERRORS, Ran, environment, run


def shell(script: str, seconds: float = 10.0, **options: object) -> Ran:
    return run(["/bin/sh", "-c", script], seconds, environment(), **options)  # type: ignore[arg-type]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_both_outputs_and_the_code_are_kept_apart() -> None:
    assert shell("echo out; echo err >&2; exit 70") == Ran(70, b"out\n", b"err\n")


def test_words_reach_the_program_as_they_are() -> None:
    words = ["$(echo no)", "`id`", "a b", "-x", "*", "очередь", "\udcff", "a\nb", ""]
    program = "import os, sys; sys.stdout.buffer.write(b'|'.join(map(os.fsencode, sys.argv[1:])))"
    ran = run([sys.executable, "-c", program, *words], 10.0, environment())
    assert ran.out.split(b"|") == [word.encode("utf-8", "surrogateescape") for word in words]


def test_it_reads_no_input_and_has_no_terminal() -> None:
    assert shell("cat; ps -o tty= -p $$").out.split() in ([b"?"], [])


def test_a_program_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    began = time.monotonic()
    ran = shell(f"echo early; sleep 60 & echo $! >{tmp_path}/pid; wait", 0.5)
    assert (ran.expired, ran.out) == (True, b"early\n")
    assert time.monotonic() - began < 10
    child = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 2
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(child)


def test_one_that_ignores_the_request_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands_run, "_LAST_WORDS", 0.3)
    began = time.monotonic()
    assert shell("trap '' TERM; while :; do sleep 0.1; done", 0.3).expired
    assert time.monotonic() - began < 10


def test_what_outlives_the_first_process_is_killed(tmp_path: Path) -> None:
    script = f"(trap '' TERM; echo >{tmp_path}/up; while :; do sleep 0.05; done) & "
    assert shell(f"{script} echo $! >{tmp_path}/pid; wait", 0.5).expired
    assert (tmp_path / "up").exists()
    child = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 2
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(child)


def test_a_wrapper_is_asked_first_and_can_end_what_it_runs(tmp_path: Path) -> None:
    # as su does for a program in a session of its own
    script = f"trap 'echo asked >{tmp_path}/asked; exit 143' TERM; while :; do sleep 0.05; done"
    assert shell(script, 0.3).expired
    assert (tmp_path / "asked").read_text() == "asked\n"


def test_a_child_that_keeps_the_output_open_is_not_waited_for() -> None:
    began = time.monotonic()
    assert shell("sleep 8 & echo done").out == b"done\n"
    assert time.monotonic() - began < 7


def test_one_that_closes_its_output_and_goes_on_is_ended_in_time() -> None:
    began = time.monotonic()
    assert shell("exec >&- 2>&-; sleep 60", 0.4).expired
    assert time.monotonic() - began < 10


def test_a_flood_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands_run, "MOST_OUTPUT", 1_000_000)
    ran = shell("yes")
    assert ran.overflowed
    assert len(ran.out) <= 1_000_000


def test_of_a_flood_of_errors_the_beginning_is_kept() -> None:
    ran = shell("echo first >&2; yes | head -c 1000000 >&2; echo out")
    assert (ran.code, ran.out, len(ran.err)) == (0, b"out\n", MOST_ERRORS)
    assert ran.err.startswith(b"first\n")


def test_the_signal_that_ended_it_is_told() -> None:
    assert shell("kill -9 $$").code == -signal.SIGKILL


def test_what_tick_raises_ends_the_program_at_once(tmp_path: Path) -> None:
    def tick() -> None:
        if (tmp_path / "pid").exists():
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        shell(f"echo $$ >{tmp_path}/part; mv {tmp_path}/part {tmp_path}/pid; sleep 60", tick=tick)
    assert time.monotonic() - began < 10
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_ctrl_c_of_the_terminal_does_not_reach_it() -> None:
    assert shell("ps -o pgid= -p $$").out.strip().decode() != str(os.getpgrp())


@pytest.mark.parametrize(
    ("present", "locale"),
    [
        ({}, "C.UTF-8"),
        ({"LANG": "C"}, "C.UTF-8"),
        ({"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, "C.UTF-8"),
        ({"LC_CTYPE": "C", "LANG": "de_DE.UTF-8"}, "C.UTF-8"),
        ({"LANG": "de_DE.utf8"}, None),
        ({"LC_ALL": "", "LANG": "en_US.UTF-8"}, ""),
    ],
)
def test_the_locale_is_one_that_prints_every_name(
    present: dict[str, str], locale: str | None
) -> None:
    changed = environment(present)
    assert changed.get("LC_ALL") == locale
    assert {name: changed[name] for name in present if name != "LC_ALL"} == {
        name: value for name, value in present.items() if name != "LC_ALL"
    }
