"""Ctrl-C, SIGTERM or SIGHUP that lands between two reads, so that what was read stays whole."""

from __future__ import annotations

import time
from contextlib import ExitStack
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from prefetch_advisor import ending

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

READ = 65_536


class Interrupts:
    """While entered, Ctrl-C ends a call that waits for input; at other times it waits for the next.

    So do SIGTERM and SIGHUP; what ``ending.handled_by`` says of handlers holds. A second one,
    later, ends the program. It may be entered again while entered.
    """

    def __init__(self) -> None:
        #: Ctrl-C was pressed: nothing more is read
        self.happened = False
        self._at = 0.0
        self._waiting = False
        self._entered = 0
        self._handlers = ExitStack()

    def __enter__(self) -> Interrupts:
        self._entered += 1
        if self._entered == 1:
            self._handlers.enter_context(ending.handled_by(self._handle))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._entered -= 1
        if not self._entered:
            self._handlers.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        again = self.happened and now - self._at > ending.AGAIN
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
