"""Options of ``lint``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from prefetch_advisor.commands.option_types import FAIL_ON

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("text", "json", "sarif", "github", "junit", "markdown")


def lint_options(command: F) -> F:
    """What is read, which findings count, and how they are told."""
    for option in (
        click.option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the report there instead of to standard output (-).",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(FORMATS),
            help="[default: text; github inside GitHub Actions]",
        ),
        click.option("--exit-zero", is_flag=True, help="Exit 0 whatever is found."),
        click.option(
            "--fail-on",
            type=click.Choice(FAIL_ON),
            help="Exit 1 when there is a finding this severe.  [default: warning]",
        ),
        click.option(
            "--write-baseline",
            is_flag=True,
            help="Write all that is found now to the baseline, and report nothing.",
        ),
        click.option(
            "--baseline", metavar="FILE", help="Leave out the findings that are in this file."
        ),
        click.option("--show-settings", is_flag=True, help="Show the settings in force, and exit."),
        click.option(
            "--settings",
            metavar="FILE",
            help="Instead of the nearest prefetch-advisor.toml, pyproject.toml or setup.cfg.",
        ),
        click.option(
            "--ignore",
            multiple=True,
            metavar="FINDINGS",
            help="But not these; the more exact one counts.",
        ),
        click.option(
            "--select",
            multiple=True,
            metavar="FINDINGS",
            help="Only these: codes, starts of codes (PA3) or names, with commas between them; "
            "repeatable.",
        ),
        click.argument("paths", nargs=-1, metavar="[PATH]..."),
    ):
        command = option(command)
    return command
