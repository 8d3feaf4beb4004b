"""Work on a long list in two processes, where that is safe and pays."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, NoReturn, TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: items from which a second process gains more than it costs
LEAST = 2_000
#: a child of a process that has these may hang on locks that their threads held
_THREADED = ("numpy",)


def worth_splitting(items: int) -> bool:
    """Whether there are enough of them, another processor, and no threads that forking harms."""
    return (
        items >= LEAST
        and sys.platform == "linux"
        and len(os.sched_getaffinity(0)) > 1
        and threading.active_count() == 1
        and not any(name in sys.modules for name in _THREADED)
    )


def in_halves(work: Callable[[Sequence[T]], R], items: Sequence[T]) -> list[R]:
    """``work`` on the first half of the items and, in a child process, on the second.

    It must write nothing anywhere. Where the child fails its half is worked on here, so that what
    is wrong with it is raised as usual.
    """
    half = len(items) // 2
    child = _Child(lambda: work(items[half:]))
    try:
        first = work(items[:half])
        second = child.result()
    finally:
        child.end()
    return [first, work(items[half:]) if second is None else second]


class _Child(Generic[R]):
    """A process that sends one pickled result and ends."""

    def __init__(self, work: Callable[[], R]) -> None:
        receiving, sending = os.pipe()
        with warnings.catch_warnings():
            # of threads, which are looked for before
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            os.close(receiving)
            _serve(work, sending)
        os.close(sending)
        self._receiving = receiving

    def result(self) -> R | None:
        """What it made; ``None`` where it failed."""
        with os.fdopen(os.dup(self._receiving), "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        made: R | None = pickle.loads(data) if status == 0 else None
        return made

    def end(self) -> None:
        """Stop it where it still runs."""
        os.close(self._receiving)
        if self._pid:
            with suppress(OSError):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)


def _serve(work: Callable[[], object], sending: int) -> NoReturn:
    code = 1
    try:
        # the terminal's Ctrl-C is for the parent, which ends this process
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with os.fdopen(sending, "wb") as pipe:
            pickle.dump(work(), pipe, pickle.HIGHEST_PROTOCOL)
        code = 0
    finally:
        os._exit(code)
