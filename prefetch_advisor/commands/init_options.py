"""Options of ``init``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from prefetch_advisor.commands.live_options import asked

F = TypeVar("F", bound=Callable[..., Any])


def init_options(command: F) -> F:
    """Where the file goes, and what broker is asked for its queues."""
    for option in (
        click.option(
            "-V", "--vhost", metavar="VHOST", help="Only queues of this vhost of the broker."
        ),
        asked,
        click.option(
            "--schema", is_flag=True, help="Write the JSON schema of such a file instead."
        ),
        click.option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write there; - is standard output.  [default: prefetch-advisor.toml]",
        ),
    ):
        command = option(command)
    return command
