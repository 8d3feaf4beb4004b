"""Types of options: numbers, durations and rates that are finite and within a stated range."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from prefetch_advisor.errors import UsageError

if TYPE_CHECKING:
    from prefetch_advisor.probe import QueueType

T = TypeVar("T")

#: the words that ask for a measurement, and the type of the queue that it is made on
PROBES: dict[str, QueueType] = {
    "probe": "classic",
    "probe:classic": "classic",
    "probe:quorum": "quorum",
}
CLIENTS = ("async", "loop")
FAIL_ON = ("never", "info", "warning", "error")

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
        # here, as below: --help needs no parser
        from prefetch_advisor import ranges

        return _parsed(lambda: ranges.duration(text, zero=zero))

    return convert


def round_trip(text: Any) -> float | str:
    """Seconds, or the word that asks for a measurement."""
    return text if text in PROBES else duration(zero=True)(text)


def concurrency(text: Any) -> int | str:
    """A number of messages, or a kind of client."""
    from prefetch_advisor.ranges import MOST_AT_ONCE

    if text in CLIENTS:
        return str(text)
    try:
        value = int(text)
    except ValueError:
        value = 0
    if 1 <= value <= MOST_AT_ONCE:
        return value
    wanted = f"a number from 1 to {MOST_AT_ONCE}, {' or '.join(CLIENTS)}"
    raise click.BadParameter(f"expected {wanted}, found {text!r}")


def byte_count(text: Any) -> float:
    """Bytes from a text such as 20KB, 1.5MiB or 4096."""
    from prefetch_advisor import ranges

    return _parsed(lambda: ranges.byte_count(text))


def rate(text: Any) -> float:
    """Events per second from a text such as 180/s."""
    from prefetch_advisor import ranges

    return _parsed(lambda: ranges.rate(text))


def _parsed(parse: Callable[[], T]) -> T:
    try:
        return parse()
    except UsageError as error:
        raise click.BadParameter(str(error)) from None
