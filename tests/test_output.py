"""Where output goes: streams that are full, closed or left, files that are read, interrupts."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest
from conftest import ROOT

START = "from prefetch_advisor.cli import console; console()"
FILE = "samples/rabbitmqctl.txt"
BAD = "-"  # standard input with a bad row, so that there is something to say
ROWS = "queue,processing_ms\n" + "a,5\n" * 30 + "a,x\n"
FULL = "/dev/full"

needs_full = pytest.mark.skipif(not os.path.exists(FULL), reason="the system has no /dev/full")


def shell(arguments, redirections, text=ROWS):
    """The command in a shell, which returns the command's own exit code."""
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(START)} {arguments}"
    script = f"{command} {redirections}; exit ${{PIPESTATUS[0]}}"
    return subprocess.run(
        ["bash", "-c", script], cwd=ROOT, input=text, capture_output=True, text=True, check=False
    )


@needs_full
@pytest.mark.parametrize(
    "arguments",
    [
        f"advise {FILE}",
        f"advise {FILE} --format json",
        "--help",
        "advise --help",
        "--version",
        "explain PA101",
        "explain --list",
    ],
)
@pytest.mark.parametrize(
    ("redirection", "said"),
    [
        (f">{FULL}", "cannot write to standard output: No space left on device"),
        (">&-", "standard output is closed"),
    ],
)
def test_output_that_cannot_be_written_is_an_error(arguments, redirection, said):
    done = shell(arguments, redirection)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@needs_full
@pytest.mark.parametrize("redirection", [f"2>{FULL}", "2>&-", f"2>{FULL} </dev/stdin"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (f"advise {BAD}", 0),
        (f"advise {BAD} --fail-on info", 1),
        ("advise --cv nan", 2),
        ("explain nothing-like-it", 2),
        ("bogus", 2),
        ("", 2),
        ("advise /no/such/file", 3),
    ],
)
def test_remarks_that_cannot_be_made_change_nothing(redirection, arguments, code):
    done = shell(arguments, redirection)
    plain = shell(arguments, "")
    assert plain.returncode == code
    assert plain.stderr
    assert (done.returncode, done.stdout, done.stderr) == (code, plain.stdout, "")


@pytest.mark.parametrize(("arguments", "code"), [(f"advise {BAD}", 0), ("advise --cv nan", 2)])
def test_remarks_that_nobody_reads_change_nothing(arguments, code):
    assert shell(arguments, "2>&1 >/dev/null | true").returncode == code


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("advise samples/broker/*.json --format json", 0),
        ("advise samples/broker/*.json --details --fail-on warning", 1),
        ("advise --help", 0),
        ("explain --list", 0),
    ],
)
@pytest.mark.parametrize("reader", ["head -1", "true"])
def test_a_reader_that_leaves_changes_nothing(arguments, code, reader):
    done = shell(arguments, f"| {reader}")
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.count("\n") == (reader == "head -1")


def test_the_output_file_is_written_whole_or_not_at_all(cli, tmp_path):
    file = tmp_path / "report.txt"
    done = cli("advise", ROOT / FILE, "-o", file)
    assert (done.code, done.out) == (0, "")
    expected = cli("advise", ROOT / FILE).out
    assert file.read_text() == expected
    file.write_text("old")
    file.chmod(0o640)
    assert cli("advise", tmp_path / "missing", "-o", file).code == 3
    assert file.read_text() == "old"
    link = tmp_path / "link"
    link.symlink_to(file)
    assert cli("advise", ROOT / FILE, "-o", link).code == 0
    assert (file.read_text(), file.stat().st_mode & 0o777) == (expected, 0o640)
    assert link.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"report.txt", "link"}


def test_a_dash_is_standard_output(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("advise", ROOT / FILE, "-o", "-").out == cli("advise", ROOT / FILE).out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("way", ["same", "link", "hard", "dotted"])
def test_an_input_is_never_written_over(cli, tmp_path, way):
    file = tmp_path / "times.csv"
    file.write_text(ROWS)
    target = tmp_path / "other" if way in ("link", "hard") else file
    if way == "link":
        target.symlink_to(file)
    elif way == "hard":
        target.hardlink_to(file)
    elif way == "dotted":
        target = tmp_path / "." / ".." / tmp_path.name / "times.csv"
    done = cli("advise", ROOT / FILE, file, "-o", target)
    assert (done.code, done.out) == (2, "")
    assert "is one of the inputs" in done.err
    assert file.read_text() == ROWS


def test_standard_input_is_never_written_over(tmp_path):
    file = tmp_path / "times.csv"
    file.write_text(ROWS)
    for arguments in ("advise", "advise -"):
        done = shell(f"{arguments} -o {file}", f"<{file}")
        assert done.returncode == 2
        assert "the file on standard input" in done.stderr
    assert file.read_text() == ROWS


@needs_full
def test_devices_and_pipes_are_written_as_they_are(tmp_path):
    done = shell(f"advise {FILE} -o {FULL}", "")
    assert done.returncode == 3
    assert f"cannot write '{FULL}': No space left on device" in done.stderr
    assert (
        shell(f"advise {FILE} -o /dev/stdout", "| cat").stdout == shell(f"advise {FILE}", "").stdout
    )
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = shell(f"advise {FILE} -o {pipe}", f"& cat {pipe}; wait $!")
    assert done.stdout.startswith("Read: ")
    assert pipe.is_fifo()
    appended = tmp_path / "appended"
    appended.write_text("before\n")
    with appended.open("a") as file:
        subprocess.run(
            [sys.executable, "-c", START, "advise", FILE, "-o", "/dev/stdout"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=file,
            check=True,
        )
        print("after", file=file)
    assert appended.read_text().endswith("after\n")


@pytest.mark.parametrize("target", ["", "missing/report", "nul\0byte", "x" * 300])
def test_a_file_that_cannot_be_written_is_named(cli, tmp_path, target):
    done = cli("advise", ROOT / FILE, "-o", f"{tmp_path}/{target}")
    assert done.code == 3
    assert "cannot write '" in done.err
    assert not list(tmp_path.iterdir())


def unread(pipe):
    """Whether bytes of a pipe have not been read yet."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, struct.pack("i", 0)))[0] > 0


def interrupted(text, *arguments, program=START, ready=0.0, number=signal.SIGINT):
    """The exit code and output of a command that gets ``text``, then a signal: Ctrl-C."""
    child = subprocess.Popen(
        [sys.executable, "-c", program, "advise", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdin is not None
    child.stdin.write(text.encode())
    child.stdin.flush()
    if ready:
        until = time.monotonic() + 30
        while time.monotonic() < until and unread(child.stdin):
            time.sleep(0.02)
        time.sleep(ready)
    # until it waits for more, and while it does; one that is ready needs it once
    for _ in range(100):
        child.send_signal(number)
        try:
            out, err = child.communicate(timeout=30 if ready else 0.1)
        except subprocess.TimeoutExpired:
            continue
        return child.returncode, out.decode(), err.decode()
    child.kill()
    raise AssertionError("Ctrl-C does not end it")


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("queue,processing_ms\n", [], ""),
        ('[{"name": "a"', [], ""),
        ("Listing queues for vhost / ...\nname\tmessages\n", [], ""),
        ("queue,processing_ms\na,5\n", ["--queue", "b"], "no queue is called 'b'"),
        ("queue,processing_ms\na,5\n", [], "the report covers what was read until then"),
    ],
)
def test_an_interrupted_input_is_said_to_be_that(text, arguments, said):
    code, out, err = interrupted(text, *arguments, "--format", "json", ready=1.0)
    assert code == 130
    assert err.endswith("\n")
    assert "interrupted" in err
    assert said in err
    assert "error" not in err
    assert not any(line == "" for line in err.splitlines())
    assert "Traceback" not in err
    if out:
        assert [queue["queue"] for queue in json.loads(out)["queues"]] == ["a"]
    assert bool(out) == ("the report" in said)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_other_signals_end_a_pipe_as_ctrl_c_does(number, code, tmp_path):
    report = tmp_path / "report.json"
    options = ["--format", "json", "-o", str(report)]
    text = "queue,processing_ms\na,5\n"
    ended, out, err = interrupted(text, *options, ready=1.0, number=number)
    assert (ended, out) == (code, "")
    assert err.splitlines()[-1].endswith("the report covers what was read until then")
    assert [queue["queue"] for queue in json.loads(report.read_text())["queues"]] == ["a"]
    assert list(tmp_path.iterdir()) == [report]


#: waits for ever in the middle of the work, with the signal ignored or not
WAITS = """
import signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from prefetch_advisor.commands import advise
def wait(*_arguments, **_options):
    print("ready", flush=True)
    time.sleep(60)
advise.combine = wait
from prefetch_advisor.cli import console
sys.argv[1:] = ["advise", sys.argv[1]]
console()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_in_the_middle_of_the_work_ends_it_with_one_line(number, code):
    with subprocess.Popen(
        [sys.executable, "-c", WAITS, FILE],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        # ignored before, as nohup does it, so ignored now
        child.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        assert child.poll() is None
        child.send_signal(number)
        out, err = child.communicate(timeout=10)
    assert (child.returncode, out, err) == (code, "", "prefetch-advisor: interrupted\n")


#: an import that Ctrl-C ends
DURING_IMPORT = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[2]:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
from prefetch_advisor.cli import console
console()
"""


@pytest.mark.parametrize(
    "module", ["click", "prefetch_advisor.commands.group", "prefetch_advisor.commands.advise"]
)
def test_an_interrupt_while_modules_load_is_one_like_any_other(module):
    done = subprocess.run(
        [sys.executable, "-c", DURING_IMPORT, "advise", module],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "prefetch-advisor: interrupted\n"


def test_the_entry_point_loads_next_to_nothing_before_it_is_guarded():
    program = (
        "import sys; before = set(sys.modules)\n"
        "import prefetch_advisor.cli\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"click", "enum", "re", "typing", "signal", "dataclasses"}
    assert "prefetch_advisor.errors" not in done.stdout.split()


def test_a_bug_asks_for_a_report(cli, monkeypatch):
    def broken(*_arguments, **_options):
        raise ZeroDivisionError("Stra\udcdfe\x1b")

    monkeypatch.setattr("prefetch_advisor.commands.advise.combine", broken)
    done = cli("advise", ROOT / FILE)
    assert (done.code, done.out) == (4, "")
    assert "a bug: ZeroDivisionError: Stra\\xdfe\\x1b (please report it" in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("PREFETCH_ADVISOR_TRACEBACK", "1")
    assert "Traceback" in cli("advise", ROOT / FILE).err


@pytest.mark.parametrize("columns", ["²", "0", "-5", "x", "9" * 5000])
def test_a_width_that_is_none_is_taken_as_80(cli, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", "80")
    expected = cli("advise", ROOT / FILE).out
    monkeypatch.setenv("COLUMNS", columns)
    assert cli("advise", ROOT / FILE).out == expected
