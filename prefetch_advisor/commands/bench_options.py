"""Options of ``bench``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from prefetch_advisor.commands.live_options import tls
from prefetch_advisor.commands.option_types import duration, number
from prefetch_advisor.commands.simulate_options import MOST_PREFETCH, durations, numbers

F = TypeVar("F", bound=Callable[..., Any])
STYLES = ("blocking", "threads", "async", "loop")


def bench_options(command: F) -> F:
    """The options of the command, in the order of its help."""
    for option in reversed(_AFTER):
        command = option(command)
    command = tls(command)
    for option in reversed(_BEFORE):
        command = option(command)
    return command


_BEFORE = (
    click.option(
        "--uri",
        metavar="URI",
        help="amqp(s)://USER:PASSWORD@HOST:PORT/VHOST; else RABBITMQ_URL or the like, or "
        "localhost.",
    ),
    click.option(
        "--processing-time",
        type=duration(),
        metavar="TIME",
        help="What a handler takes, mean, such as 5ms.",
    ),
    click.option(
        "--distribution",
        type=click.Choice(["constant", "exponential", "lognormal", "gamma", "bimodal"]),
        help="How the times vary.  [default: constant, or with --cv lognormal]",
    ),
    click.option(
        "--cv", type=number(0, 100), metavar="X", help="Standard deviation / mean.  [default: 1]"
    ),
    click.option("--tasks", type=durations, metavar="TIMES", help="In turn, such as 10ms,1ms."),
    click.option("--timings", metavar="FILE", help="Replay the times of this file of timings."),
    click.option("--queue", metavar="NAME", help="Of the timings, those of this queue."),
    click.option("--unit", type=click.Choice(["s", "ms", "us", "ns"]), help="Of bare timings."),
    click.option(
        "--prefetch",
        type=numbers("prefetch", 0, MOST_PREFETCH),
        metavar="LIST",
        help="Such as 1,2,5,10 or 1..8; 0 is no limit.  [default: some around the advised one]",
    ),
    click.option(
        "--style",
        type=click.Choice(STYLES),
        default="blocking",
        show_default=True,
        help="blocking: one handler at a time; threads: --workers of them; async: every delivery "
        "is started as it comes; loop: acks leave when all at hand are handled.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1, 1_000),
        default=4,
        show_default=True,
        metavar="K",
        help="Threads of --style threads.",
    ),
    click.option(
        "--batch",
        type=click.IntRange(1, MOST_PREFETCH),
        default=1,
        show_default=True,
        metavar="B",
        help="Messages that are acked together.",
    ),
    click.option(
        "--queue-type",
        type=click.Choice(["classic", "quorum"]),
        default="classic",
        show_default=True,
        help="Of the temporary queue.",
    ),
    click.option(
        "--message-size",
        type=click.IntRange(0, 10_000_000),
        default=100,
        show_default=True,
        metavar="BYTES",
    ),
    click.option(
        "--messages",
        type=click.IntRange(20, 1_000_000),
        default=2_000,
        show_default=True,
        metavar="N",
        help="Measured at each prefetch.",
    ),
    click.option(
        "--duration",
        type=duration(),
        default="20s",
        show_default=True,
        metavar="TIME",
        help="At each prefetch, at most so long.",
    ),
    click.option(
        "--timeout",
        type=duration(),
        default="10s",
        show_default=True,
        metavar="TIME",
        help="For the broker's answer at each step.",
    ),
    click.option("--seed", type=click.IntRange(0, 2**31), default=1, show_default=True),
)
_AFTER = (
    click.option(
        "--format",
        "format_",
        type=click.Choice(["table", "json", "csv"]),
        default="table",
        show_default=True,
    ),
    click.option("-o", "--output", metavar="FILE", help="Write the report there."),
)
