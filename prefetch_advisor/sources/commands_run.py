"""Another program run with bounds on its time and output, apart from the terminal's Ctrl-C."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

#: bytes that are kept of what a program prints; no list of a broker is longer
MOST_OUTPUT = 512 * 1024 * 1024
MOST_ERRORS = 64 * 1024
#: seconds between two calls of ``tick``
TICK = 0.1
#: seconds that a program has between being asked to end and being killed
_LAST_WORDS = 3.0
_UTF8 = re.compile(r"utf-?8", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program did."""

    #: as the shell has it; negative: the signal that ended it
    code: int
    out: bytes
    err: bytes
    #: it was ended because its time was over
    expired: bool = False
    #: it was ended because it printed too much
    overflowed: bool = False


def environment(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a program, in a locale that can print any name.

    Erlang leaves no crash dump in the working directory.
    """
    changed = dict(os.environ if given is None else given)
    locale = changed.get("LC_ALL") or changed.get("LC_CTYPE") or changed.get("LANG") or ""
    if not _UTF8.search(locale):
        changed["LC_ALL"] = "C.UTF-8"
    changed.setdefault("ERL_CRASH_DUMP_SECONDS", "0")
    return changed


def run(
    command: Sequence[str],
    seconds: float,
    environment: Mapping[str, str],
    tick: Callable[[], None] = lambda: None,
) -> Ran:
    """Run ``command`` without a shell and without input, for at most ``seconds``.

    ``tick`` is called all the while; what it raises ends the program.

    Raises:
        OSError: it cannot be started.
    """
    process = subprocess.Popen(
        # whatever the locale of this program: names are UTF-8
        [word.encode("utf-8", "surrogateescape") for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    with process:
        try:
            return _watch(process, time.monotonic() + seconds, tick)
        finally:
            _end(process)
            _close(process)


def _watch(process: subprocess.Popen[bytes], deadline: float, tick: Callable[[], None]) -> Ran:
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, out)  # type: ignore[arg-type]
        selector.register(process.stderr, selectors.EVENT_READ, err)  # type: ignore[arg-type]
        # until both are closed; a child that outlives the program may keep them open
        while selector.get_map() or process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return Ran(0, bytes(out), bytes(err), expired=True)
            ready = _ready(selector, min(left, TICK))
            tick()
            if not ready and process.poll() is not None:
                break
            for key in ready:
                piece = os.read(key.fd, 65_536)
                if not piece:
                    selector.unregister(key.fileobj)
                elif key.data is err:
                    err += piece[: max(0, MOST_ERRORS - len(err))]
                elif len(out) + len(piece) > MOST_OUTPUT:
                    return Ran(0, bytes(out), bytes(err), overflowed=True)
                else:
                    out += piece
    return Ran(process.wait(), bytes(out), bytes(err))


def _ready(selector: selectors.BaseSelector, seconds: float) -> list[selectors.SelectorKey]:
    if not selector.get_map():
        time.sleep(min(seconds, TICK / 10))
        return []
    return [key for key, _ in selector.select(seconds)]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program with all it started: asked first, so that a wrapper ends what it runs."""
    if process.poll() is not None:
        return
    try:
        _signal(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LAST_WORDS)
        # others of its group may be about to go; su passes the signal on
        deadline = time.monotonic() + 2 * TICK
        while _signal(process, 0) and time.monotonic() < deadline:
            time.sleep(TICK / 5)
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> bool:
    """Whether there was anything left of its group to send this to."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        # what runs as another user is left to the wrapper that started it
        return True
    return True


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
