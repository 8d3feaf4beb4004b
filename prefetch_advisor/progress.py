"""A bar on standard error for the person who waits: nothing where no terminal is."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_BAR = 30
_LEAST_BAR = 5


@contextmanager
def progress_bar(
    label: str, stream: TextIO | None = None, *, unit: str = "s", after: float = 0.0
) -> Iterator[Callable[[float, float], None]]:
    """A call that draws how many units are done, of how many; the bar is wiped at the end.

    It shows once ``after`` seconds have passed.

    ``stream``: standard error unless another is given. Where it is no terminal, nothing is
    written; where writing fails, nothing more is.
    """
    bar = _Bar(label, sys.stderr if stream is None else stream, unit, after)
    try:
        yield bar.draw
    finally:
        bar.wipe()


class _Bar:
    def __init__(self, label: str, stream: TextIO | None, unit: str, after: float) -> None:
        self._label = label
        self._unit = unit
        self._from = time.monotonic() + after
        self._stream = stream if _is_terminal(stream) else None
        self._drawn = ""

    def draw(self, done: float, total: float) -> None:
        if self._stream is None or time.monotonic() < self._from:
            return
        # the last column is left alone: some terminals wrap there
        width = shutil.get_terminal_size().columns - 1
        text = line(self._label, done, total, width, self._unit)
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


def line(label: str, done: float, total: float, width: int, unit: str = "s") -> str:
    """The bar as text of at most ``width`` characters: plain ASCII, whole units."""
    share = min(1.0, max(0.0, done / total)) if total > 0 else 1.0
    seconds = f"{share * total:,.0f} of {total:,.0f} {unit}"
    cells = min(_BAR, width - len(label) - len(seconds) - 4)
    if cells < _LEAST_BAR:
        return seconds[: max(0, width)]
    filled = int(share * cells)
    return f"{label} [{'=' * filled}{' ' * (cells - filled)}] {seconds}"
