"""Options that say how inputs are to be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from prefetch_advisor.commands.option_types import duration

F = TypeVar("F", bound=Callable[..., Any])


def reading(command: F) -> F:
    """What inputs are, where their content does not tell."""
    for option in (
        click.option("--strict", is_flag=True, help="Stop at the first row that cannot be read."),
        click.option(
            "--interval",
            type=duration(),
            metavar="TIME",
            help="Time between inputs that show the same queues again, such as 5s.",
        ),
        click.option(
            "--queue-label",
            metavar="NAME",
            help="Label of a histogram that names the queue, where it has several.",
        ),
        click.option(
            "--columns",
            metavar="NAME,...",
            help="Columns of timings without a header, such as queue,processing_ms,rtt_ms.",
        ),
        click.option(
            "--unit",
            type=click.Choice(["s", "ms", "us", "ns"]),
            help="Unit of times that carry none.",
        ),
        click.option(
            "--from",
            "kind",
            type=click.Choice(["timings", "rabbitmqctl", "management"]),
            help="What the inputs are, where their content does not tell.",
        ),
    ):
        command = option(command)
    return command
