"""The classes of the command line: what click itself would print is written as all else is."""

from __future__ import annotations

import click

from prefetch_advisor import __version__
from prefetch_advisor.commands import stdio

PROGRAM = "prefetch-advisor"


def _print_help(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        stdio.write(context.get_help() + "\n")
        context.exit()


def print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """The callback of ``--version``."""
    if wanted and not context.resilient_parsing:
        stdio.write(f"{PROGRAM}, version {__version__}\n")
        context.exit()


class Command(click.Command):
    """A command whose help is written as everything else is: a full disk is an error."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _print_help
        return option


class Group(Command, click.Group):
    """A group of such commands."""

    command_class = Command
