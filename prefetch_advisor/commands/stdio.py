"""Standard output and error as they are: closed, full, or left by their reader."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

from prefetch_advisor.errors import AdvisorError


def say(text: str) -> None:
    """A line on standard error. What cannot be said there changes nothing else."""
    stream = sys.stderr
    if stream is None:
        return
    try:
        stream.write(text + "\n")
        stream.flush()
    except (OSError, ValueError):
        discard(stream)


def write(text: str) -> None:
    """``text`` on standard output, all of it; a reader that has left has seen enough.

    Raises:
        AdvisorError: standard output is closed, or does not take it.
    """
    stream = sys.stdout
    if stream is None:
        raise AdvisorError("standard output is closed: nothing can be written there")
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        discard(stream)
    except OSError as error:
        discard(stream)
        raise AdvisorError(f"cannot write to standard output: {error.strerror}") from error


def settle() -> None:
    """Nothing is left that the interpreter would fail to write at its end (which gives 120)."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except (OSError, ValueError):
                discard(stream)


def discard(stream: TextIO) -> None:
    """Send what is left in the stream's buffer nowhere, so that flushing it at exit cannot fail."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def carries_any_character(stream: TextIO | None) -> bool:
    """Whether the stream's encoding is one of Unicode's."""
    encoding = (stream.encoding if stream is not None else None) or "ascii"
    return encoding.lower().replace("-", "").replace("_", "") in ("utf8", "utf16", "utf32")
