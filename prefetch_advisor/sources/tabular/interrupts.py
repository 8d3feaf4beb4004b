"""Ctrl-C that lands between two reads, so that what was read stays whole."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

READ = 65_536
#: seconds after which a second Ctrl-C is meant as one: wrappers pass the first on twice
_AGAIN = 0.5


class Interrupts:
    """While entered, Ctrl-C ends a call that waits for input; at other times it waits for the next.

    A second one, later, ends the program. Only Python's own handler is replaced, and only in the
    main thread; whoever installed another one keeps it. It may be entered again while entered.
    """

    def __init__(self) -> None:
        #: Ctrl-C was pressed: nothing more is read
        self.happened = False
        self._at = 0.0
        self._waiting = False
        self._entered = 0
        self._former: Any = None

    def __enter__(self) -> Interrupts:
        self._entered += 1
        main = threading.current_thread() is threading.main_thread()
        default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._entered == 1 and main and default:
            self._former = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._entered -= 1
        if not self._entered and self._former is not None:
            signal.signal(signal.SIGINT, self._former)
            self._former = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        again = self.happened and now - self._at > _AGAIN
        if not self.happened:
            self.happened, self._at = True, now
        if self._waiting or again:
            raise KeyboardInterrupt

    def wait_for(self, call: Callable[[], T]) -> T | None:
        """What ``call`` gives; ``None`` once interrupted."""
        try:
            self._waiting = True
            return None if self.happened else call()
        except KeyboardInterrupt:
            self.happened = True
            return None
        finally:
            self._waiting = False

    def read(self, file: BinaryIO) -> bytes:
        """The next bytes of a file, empty at the end and once interrupted."""
        read: Callable[[int], bytes] = getattr(file, "read1", file.read)
        return self.wait_for(lambda: read(READ)) or b""

    def rest(self, stream: BinaryIO) -> bytes:
        """The next bytes of a stream that :meth:`read` fills: Ctrl-C loses nothing it has."""
        read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        try:
            return read(READ)
        except KeyboardInterrupt:
            self.happened = True
            return b""
