"""A bar on standard error for the person who waits: nothing where no terminal is."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_BAR = 30
_LEAST_BAR = 5


@contextmanager
def progress_bar(
    label: str, stream: TextIO | None = None
) -> Iterator[Callable[[float, float], None]]:
    """A call that draws how many seconds are done, of how many; the bar is wiped at the end.

    ``stream``: standard error unless another is given. Where it is no terminal, nothing is
    written; where writing fails, nothing more is.
    """
    bar = _Bar(label, sys.stderr if stream is None else stream)
    try:
        yield bar.draw
    finally:
        bar.wipe()


class _Bar:
    def __init__(self, label: str, stream: TextIO | None) -> None:
        self._label = label
        self._stream = stream if _is_terminal(stream) else None
        self._drawn = ""

    def draw(self, done: float, total: float) -> None:
        if self._stream is None:
            return
        # the last column is left alone: some terminals wrap there
        text = line(self._label, done, total, shutil.get_terminal_size().columns - 1)
        if text != self._drawn:
            self._write("\r" + text.ljust(len(self._drawn)))
            self._drawn = text

    def wipe(self) -> None:
        if self._drawn:
            self._write("\r" + " " * len(self._drawn) + "\r")
            self._drawn = ""

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone, or the stream is closed
            self._stream = None


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def line(label: str, done: float, total: float, width: int) -> str:
    """The bar as text of at most ``width`` characters: plain ASCII, whole seconds."""
    share = min(1.0, max(0.0, done / total)) if total > 0 else 1.0
    seconds = f"{share * total:.0f} of {total:.0f} s"
    cells = min(_BAR, width - len(label) - len(seconds) - 4)
    if cells < _LEAST_BAR:
        return seconds[: max(0, width)]
    filled = int(share * cells)
    return f"{label} [{'=' * filled}{' ' * (cells - filled)}] {seconds}"
