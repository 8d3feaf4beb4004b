"""Options of ``simulate``, and the lists and ranges that they take."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from prefetch_advisor.commands.option_types import (
    byte_count,
    concurrency,
    duration,
    number,
    rate,
)
from prefetch_advisor.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

SAMPLES = "samples"
MOST_PREFETCH = 65_535
MOST_CONSUMERS = 10_000
#: settings of a range, and in all
_MOST_VALUES = 1_000
_RANGE = re.compile(r"(\d+)\.\.(\d+)")
_BARE = re.compile(r"[0-9.eE+-]+")


def numbers(what: str, least: int, most: int) -> Callable[[Any], tuple[int, ...]]:
    """Whole numbers from a text such as 1,2,5..8; each once, in their order."""

    def convert(text: Any) -> tuple[int, ...]:
        found: dict[int, None] = {}
        for part in str(text).split(","):
            found.update(dict.fromkeys(_whole(part.strip(), what, least, most)))
        return tuple(found)

    return convert


def _whole(part: str, what: str, least: int, most: int) -> range:
    ends = _RANGE.fullmatch(part)
    texts = ends.groups() if ends else (part, part)
    if not all(text.isascii() and text.isdecimal() and len(text) < 9 for text in texts):
        raise click.BadParameter(
            f"expected {what}s from {least} to {most:,} such as 1,2,5 or 1..8, found {part!r}"
        )
    first, last = map(int, texts)
    for value in (first, last):
        if not least <= value <= most:
            why = " (AMQP carries it in 16 bits)" if value > MOST_PREFETCH == most else ""
            raise click.BadParameter(
                f"expected a {what} from {least} to {most:,}{why}, found {value}"
            )
    if last < first:
        raise click.BadParameter(f"the range {part} goes backwards: write {last}..{first}")
    if last - first >= _MOST_VALUES:
        raise click.BadParameter(f"the range {part} has more than {_MOST_VALUES:,} values")
    return range(first, last + 1)


def durations(text: Any) -> tuple[float, ...]:
    """Seconds from a text such as 10,1,10 or 20ms,5ms; a bare number is seconds."""
    from prefetch_advisor.units import parse_duration

    found = []
    parts = [part.strip() for part in str(text).split(",")]
    for place, part in enumerate(parts, 1):
        try:
            seconds = parse_duration(part, "s" if _BARE.fullmatch(part) else None)
        except UsageError:
            seconds = -1.0
        if not 0 <= seconds < 1e9:
            raise click.BadParameter(
                f"expected times such as 10,1 (seconds) or 20ms,5ms; number {place} is {part!r}"
            )
        found.append(seconds)
    return tuple(found)


def reals(what: str, least: float, most: float) -> Callable[[Any], tuple[float, ...]]:
    """Numbers from a text such as 1,1,0.5."""
    one = number(least, most)

    def convert(text: Any) -> tuple[float, ...]:
        try:
            return tuple(one(part) for part in str(text).split(","))
        except click.BadParameter as error:
            raise click.BadParameter(f"{what}: {error.message}") from None

    return convert


def round_trip(text: Any) -> float | str:
    """Seconds, or the word that asks for those of the timings."""
    return SAMPLES if text == SAMPLES else duration(zero=True)(text)


def arrivals(text: Any) -> float | str:
    """Messages a second, or the word that asks for the times at which the samples came."""
    return SAMPLES if text == SAMPLES else rate(text)


def simulate_options(command: F) -> F:
    """The options of the command, in the order of its help."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option(
        "--tasks",
        type=durations,
        metavar="TIMES",
        help="Exactly these messages, all there at the start, such as 10,1,10,1 (seconds).",
    ),
    click.option("--timings", metavar="FILE", help="Replay the times of this file of timings."),
    click.option("--queue", metavar="NAME", help="Of the timings, those of this queue."),
    click.option("--unit", type=click.Choice(["s", "ms", "us", "ns"]), help="Of bare timings."),
    click.option("--processing-time", type=duration(), metavar="TIME", help="Mean, such as 5ms."),
    click.option(
        "--distribution",
        type=click.Choice(["constant", "exponential", "lognormal", "gamma", "bimodal"]),
        help="How the times vary; bimodal: one in ten is long.  [default: constant, or with --cv "
        "lognormal]",
    ),
    click.option(
        "--cv", type=number(0, 100), metavar="X", help="Standard deviation / mean.  [default: 1]"
    ),
    click.option(
        "--arrival-rate",
        type=arrivals,
        metavar="RATE|samples",
        help="Messages arrive at random, such as 180/s, or when those of the timings did; "
        "without it they are all there at the start.",
    ),
    click.option(
        "--prefetch",
        type=numbers("prefetch", 0, MOST_PREFETCH),
        metavar="LIST",
        help="Such as 1,2,5,10 or 1..8; 0 is no limit.  [default: a range around the advised one]",
    ),
    click.option(
        "--consumers",
        type=numbers("count of consumers", 1, MOST_CONSUMERS),
        default="1",
        show_default=True,
        metavar="LIST",
        help="Such as 2 or 1..8.",
    ),
    click.option(
        "--concurrency",
        type=concurrency,
        metavar="K|async|loop",
        help="Messages one consumer works on at once; async: every delivery is started at once; "
        "loop: the handler blocks its event loop.  [default: 1]",
    ),
    click.option(
        "--batch",
        type=click.IntRange(1, MOST_PREFETCH),
        default=1,
        show_default=True,
        metavar="B",
        help="Messages that a consumer acks together.",
    ),
    click.option(
        "--rtt",
        type=round_trip,
        metavar="TIME|samples",
        help="From an ack leaving until the delivery it allowed arrives; samples: those of the "
        "timings.  [default: 0s]",
    ),
    click.option(
        "--speed",
        type=reals("speeds", 0.001, 1_000),
        metavar="LIST",
        help="Of the consumers in turn, such as 1,1,0.5: one takes twice as long.",
    ),
    click.option(
        "--priority",
        type=numbers("priority", 0, 1_000_000),
        metavar="LIST",
        help="Of the consumers in turn: the highest gets all that it has room for.",
    ),
    click.option(
        "--single-active", is_flag=True, help="One consumer gets all; the others stand by."
    ),
    click.option(
        "--join", type=duration(), metavar="TIME", help="The last consumer comes this late."
    ),
    click.option(
        "--kill", type=duration(), metavar="TIME", help="The first consumer dies at this time."
    ),
    click.option(
        "--failure-rate",
        type=number(0, 0.99),
        default=0.0,
        metavar="X",
        help="Share of the deliveries that are given back and come again.",
    ),
    click.option(
        "--messages",
        type=click.IntRange(1, 100_000_000),
        metavar="N",
        help="For each setting.  [default: 40,000, of a backlog more for a large prefetch]",
    ),
    click.option(
        "--message-bytes", type=byte_count, metavar="SIZE", help="Such as 20KB: what is held."
    ),
    click.option(
        "--target-busy-share",
        type=number(0.01, 0.9999),
        metavar="X",
        help="Of the advised prefetch.  [default: 0.98, with --concurrency loop 0.95]",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**31),
        default=1,
        show_default=True,
        metavar="N",
        help="The same seed gives the same numbers.",
    ),
    click.option(
        "--format",
        "format_",
        type=click.Choice(["table", "json", "csv"]),
        default="table",
        show_default=True,
    ),
    click.option("-o", "--output", metavar="FILE", help="Write the report there."),
    click.option("--html", metavar="FILE", help="Also write a page with pictures, for a browser."),
)
