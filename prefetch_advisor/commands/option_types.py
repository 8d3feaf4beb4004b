"""Types of options: numbers, durations and rates that are finite and within a stated range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from prefetch_advisor.errors import UsageError

PROBE = "probe"
CLIENTS = ("async", "loop")
FAIL_ON = ("never", "info", "warning", "error")
_MOST_AT_ONCE = 65_535
_MOST_BYTES = 1e15
_NANOSECOND = 1e-9
_YEAR = 365 * 86_400.0
_FASTEST = 1e9
_SLOWEST = 1e-9

#: what click calls with an option's text
Convert = Callable[[Any], float]


def number(least: float, most: float) -> Convert:
    """A number from ``least`` to ``most``, both included; a NaN lies in no range."""

    def convert(text: Any) -> float:
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if least <= value <= most:
            return value
        raise click.BadParameter(f"expected a number from {least:g} to {most:g}, found {text!r}")

    return convert


def duration(*, zero: bool = False) -> Convert:
    """Seconds from a text such as 5ms; 0 only where that means something."""

    def convert(text: Any) -> float:
        # here: --help needs no parser
        from prefetch_advisor.units import parse_duration

        seconds = _parsed(parse_duration, text)
        if _NANOSECOND <= seconds <= _YEAR or (zero and seconds == 0):
            return seconds
        wanted = f"{'0s or ' if zero else ''}a duration from 1ns to 365d"
        raise click.BadParameter(f"expected {wanted}, found {text!r}")

    return convert


def round_trip(text: Any) -> float | str:
    """Seconds, or the word that asks for a measurement."""
    return PROBE if text == PROBE else duration(zero=True)(text)


def concurrency(text: Any) -> int | str:
    """A number of messages, or a kind of client."""
    if text in CLIENTS:
        return str(text)
    try:
        value = int(text)
    except ValueError:
        value = 0
    if 1 <= value <= _MOST_AT_ONCE:
        return value
    wanted = f"a number from 1 to {_MOST_AT_ONCE}, {' or '.join(CLIENTS)}"
    raise click.BadParameter(f"expected {wanted}, found {text!r}")


def byte_count(text: Any) -> float:
    """Bytes from a text such as 20KB, 1.5MiB or 4096."""
    from prefetch_advisor.units import parse_size

    value = _parsed(parse_size, text)
    if 1 <= value <= _MOST_BYTES:
        return value
    raise click.BadParameter(f"expected a size from 1 byte to 1 PB, found {text!r}")


def rate(text: Any) -> float:
    """Events per second from a text such as 180/s."""
    from prefetch_advisor.units import parse_rate

    value = _parsed(parse_rate, text)
    if value == 0 or _SLOWEST <= value <= _FASTEST:
        return value
    raise click.BadParameter(f"expected 0 or a rate from 1e-9/s to 1e9/s, found {text!r}")


def _parsed(parse: Callable[[str], float], text: str) -> float:
    try:
        return parse(text)
    except UsageError as error:
        raise click.BadParameter(str(error)) from None
