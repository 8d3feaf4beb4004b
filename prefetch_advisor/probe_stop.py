"""Signals that end a probe at a point where it can clean up."""

from __future__ import annotations

import time
from contextlib import ExitStack
from types import FrameType, TracebackType

from prefetch_advisor import ending


class Stop:
    """Inside the block a first signal is noted, for :meth:`check`; a second one ends all at once.

    It is one of Ctrl-C, SIGTERM and SIGHUP, see ``ending.handled_by``.
    """

    def __init__(self) -> None:
        #: a signal came
        self.noted = False
        #: a second signal came: nothing may take time any more
        self.insisted = False
        self._at = 0.0
        self._handlers = ExitStack()

    def __enter__(self) -> Stop:
        self._handlers.enter_context(ending.handled_by(self._note))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._handlers.close()

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self.noted:
            self.noted, self._at = True, now
        elif now - self._at > ending.AGAIN:
            self.insisted = True
            raise KeyboardInterrupt

    def check(self) -> None:
        """Stop here if a signal was noted.

        Raises:
            KeyboardInterrupt: one was.
        """
        if self.noted:
            raise KeyboardInterrupt
