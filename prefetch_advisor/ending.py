"""The signals that end the program: Ctrl-C, SIGTERM and SIGHUP, all of them in one way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

#: what gets a signal: its number, and where it came
Handler = Callable[[int, FrameType | None], None]
#: SIGHUP and SIGTERM are not everywhere
NUMBERS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
#: seconds after which a second signal is meant as one: wrappers pass the first on twice
AGAIN = 0.5
_INTERRUPTED = 130
_OF_SHELLS = 128
#: those that came; the first one tells how the program was ended
_came: list[int] = []


class _Noted:
    """A handler of this program: notes that a signal came, and passes it on."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler

    def __call__(self, number: int, frame: FrameType | None) -> None:
        _came.append(number)
        self._handler(number, frame)


@contextmanager
def handled_by(handler: Handler) -> Iterator[None]:
    """Inside the block ``handler`` gets these signals; what was there before is back after it.

    Only in the main thread, and only in place of what the system, Python or this program had set:
    whoever installed another handler keeps it, and signals that are ignored stay so.
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in NUMBERS:
            present = signal.getsignal(number)
            ours = isinstance(present, _Noted)
            if ours or present in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, _Noted(handler))
    try:
        yield
    finally:
        for number, present in before.items():
            signal.signal(number, present)


def interrupt(_number: int, _frame: FrameType | None) -> None:
    """The handler where nothing has to be kept: each of them ends what runs, as Ctrl-C does."""
    raise KeyboardInterrupt


def ignore() -> None:
    """Nothing is left that a signal could end."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_IGN)


def forget() -> None:
    """A run begins: what came before it was not for it."""
    _came.clear()


def exit_code() -> int:
    """Of a program that was interrupted, as shells have it: 130, 143 or 129."""
    return _OF_SHELLS + _came[0] if _came else _INTERRUPTED
