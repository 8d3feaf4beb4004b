"""Durations, rates and sizes that somebody can mean: parsed, and within a stated range."""

from __future__ import annotations

from prefetch_advisor.errors import UsageError
from prefetch_advisor.units import parse_duration, parse_rate, parse_size

#: messages that one consumer may work on at once
MOST_AT_ONCE = 65_535
_MOST_BYTES = 1e15
_NANOSECOND = 1e-9
_YEAR = 365 * 86_400.0
_FASTEST = 1e9
_SLOWEST = 1e-9


def duration(text: str, *, zero: bool = False) -> float:
    """Seconds from a text such as 5ms; 0 only where that means something.

    Raises:
        UsageError: no duration, or one out of the range.
    """
    seconds = parse_duration(text)
    if _NANOSECOND <= seconds <= _YEAR or (zero and seconds == 0):
        return seconds
    wanted = f"{'0s or ' if zero else ''}a duration from 1ns to 365d"
    raise UsageError(f"expected {wanted}, found {text!r}")


def byte_count(text: str) -> float:
    """Bytes from a text such as 20KB, 1.5MiB or 4096.

    Raises:
        UsageError: no size, or one out of the range.
    """
    value = parse_size(text)
    if 1 <= value <= _MOST_BYTES:
        return value
    raise UsageError(f"expected a size from 1 byte to 1 PB, found {text!r}")


def rate(text: str) -> float:
    """Events per second from a text such as 180/s.

    Raises:
        UsageError: no rate, or one out of the range.
    """
    value = parse_rate(text)
    if value == 0 or _SLOWEST <= value <= _FASTEST:
        return value
    raise UsageError(f"expected 0 or a rate from 1e-9/s to 1e9/s, found {text!r}")
