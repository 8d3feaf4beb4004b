"""Signals that end a probe at a point where it can clean up."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Stop:
    """Inside the block a first signal is noted, for :meth:`check`; a second one ends all at once.

    At the end of the block what was there before is back, and the signal that was noted is
    raised again: Ctrl-C is a ``KeyboardInterrupt``, a SIGTERM ends the process as one. Signals
    that were ignored stay so.
    """

    def __init__(self) -> None:
        self._noted: int | None = None
        #: a second signal came: nothing may take time any more
        self.insisted = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                before = signal.getsignal(number)
                if before is not signal.SIG_IGN and before is not None:
                    self._before[number] = before
                    signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
        if self._noted is not None:
            signal.raise_signal(self._noted)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if self._noted is not None:
            self.insisted = True
            raise KeyboardInterrupt
        self._noted = number

    def taken(self) -> None:
        """What was noted is reported as an interrupt by somebody else: Ctrl-C is not raised again.

        A SIGTERM or SIGHUP still ends the process as one.
        """
        if self._noted == signal.SIGINT:
            self._noted = None

    def check(self) -> None:
        """Stop here if a signal was noted.

        Raises:
            KeyboardInterrupt: one was.
        """
        if self._noted is not None:
            raise KeyboardInterrupt
