"""Ctrl-C that lands between two reads, so that what was read stays whole."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable

READ = 65_536


class Interrupts:
    """While entered, Ctrl-C raises only inside :meth:`read`; at other times it waits for the next.

    Only Python's own handler is replaced, and only in the main thread; whoever installed another
    one keeps it.
    """

    def __init__(self) -> None:
        #: Ctrl-C was pressed: nothing more is read
        self.happened = False
        self._waiting = False
        self._former: Any = None

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._former = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.happened = True
        if self._waiting:
            raise KeyboardInterrupt

    def read(self, stream: BinaryIO) -> bytes:
        """The next bytes, empty at the end and once interrupted."""
        read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        try:
            self._waiting = True
            return b"" if self.happened else read(READ)
        except KeyboardInterrupt:
            self.happened = True
            return b""
        finally:
            self._waiting = False
