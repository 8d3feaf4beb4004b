"""The command line: options become one call. Every import a command needs is inside it."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

import click

from prefetch_advisor import __version__
from prefetch_advisor.commands import stdio
from prefetch_advisor.commands.live_options import live, tls
from prefetch_advisor.commands.option_types import (
    byte_count,
    concurrency,
    duration,
    number,
    rate,
    round_trip,
)
from prefetch_advisor.errors import ExitCode, UsageError

PROGRAM = "prefetch-advisor"
CLIENTS = ("pika", "aio-pika", "celery", "dramatiq", "spring", "amqplib", "go", "dotnet")
FAIL_ON = ("never", "info", "warning", "error")
_COMPLETION = "_PREFETCH_ADVISOR_COMPLETE"


def _print_help(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        stdio.write(context.get_help() + "\n")
        context.exit()


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        stdio.write(f"{PROGRAM}, version {__version__}\n")
        context.exit()


class _Command(click.Command):
    """A command whose help is written as everything else is: a full disk is an error."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _print_help
        return option


class _Group(_Command, click.Group):
    """A group of such commands."""

    command_class = _Command


@click.group(
    cls=_Group,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def cli(context: click.Context) -> int:
    """Tell, for each RabbitMQ queue, which prefetch and how many consumers to run, and why.

    Exit codes: 0 done; 1 findings at or above --fail-on; 2 wrong usage; 3 could not run (input
    unreadable, no queue matched); 4 a bug; 130 interrupted.
    """
    if context.invoked_subcommand is None:
        stdio.say(context.get_help())
        return ExitCode.USAGE
    return ExitCode.OK


@cli.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option(
    "--from",
    "kind",
    type=click.Choice(["timings", "rabbitmqctl", "management"]),
    help="What the inputs are, where their content does not tell.",
)
@click.option(
    "--queue", "queues", multiple=True, metavar="NAME", help="Only this queue; repeatable."
)
@click.option("--queue-pattern", metavar="REGEX", help="Only queues whose name matches.")
@click.option(
    "-V", "--vhost", metavar="VHOST", help="Only this vhost; also the vhost of rows that name none."
)
@click.option(
    "--processing-time",
    type=duration(),
    metavar="TIME",
    help="From the start of the handler until its ack, such as 5ms.",
)
@click.option(
    "--client-cost",
    type=duration(zero=True),
    metavar="TIME",
    help="What the client spends on a message and no handler's timer sees, to be added; 0s if the "
    "ack is timed.  [default: taken as 0s]",
)
@click.option(
    "--rtt",
    type=round_trip,
    metavar="TIME|probe",
    help="From an ack leaving until the delivery it allowed arrives; probe: measure it.",
)
@click.option(
    "--cv",
    type=number(0, 100),
    metavar="X",
    help="Standard deviation / mean of the processing time (1: exponential-like).",
)
@click.option(
    "--concurrency",
    type=concurrency,
    metavar="K|async|loop",
    help="Messages one consumer works on at once; async: every delivery is started at once; loop: "
    "the handler blocks its event loop.  [default: 1]",
)
@click.option(
    "--batch",
    type=click.IntRange(1, 65_535),
    metavar="B",
    help="Messages that a consumer acks together.  [default: 1]",
)
@click.option(
    "--ordered",
    is_flag=True,
    help="Messages must be handled in order: one consumer, one at a time.",
)
@click.option(
    "--arrival-rate", type=rate, metavar="RATE", help="Messages published, such as 180/s."
)
@click.option(
    "--target-busy-share",
    type=number(0.01, 0.9999),
    metavar="X",
    help="Share of its time a consumer should be busy while messages wait.  [default: 0.98, with "
    "--concurrency loop 0.95]",
)
@click.option(
    "--message-bytes",
    type=byte_count,
    metavar="SIZE",
    help="Mean size of a message, such as 20KB; else what the broker or the timings show.",
)
@click.option(
    "--memory-budget",
    type=byte_count,
    metavar="SIZE",
    help="Message bodies that one consumer may hold, such as 256MB.",
)
@click.option(
    "--max-buffered-time",
    type=duration(zero=True),
    metavar="TIME",
    help="Longest time that a prefetched message may wait in the client.",
)
@click.option(
    "--consumer-timeout",
    type=duration(),
    metavar="TIME",
    help="The broker's delivery acknowledgement timeout.  [default: 30min, where it is enforced]",
)
@click.option(
    "--max-utilisation",
    type=number(0.01, 1),
    default=0.8,
    show_default=True,
    metavar="X",
    help="Highest load of a consumer to plan for.",
)
@click.option(
    "--max-wait",
    type=duration(),
    metavar="TIME",
    help="Longest time that a message may wait on average until work on it begins.",
)
@click.option(
    "--drain-within",
    type=duration(),
    metavar="TIME",
    help="Work the present backlog off within this time, such as 10min.",
)
@click.option(
    "--unit", type=click.Choice(["s", "ms", "us", "ns"]), help="Unit of times that carry none."
)
@click.option(
    "--interval",
    type=duration(),
    metavar="TIME",
    help="Time between inputs that show the same queues again, such as 5s.",
)
@click.option("--strict", is_flag=True, help="Stop at the first row that cannot be read.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json", "csv", "markdown"]),
    default="table",
    show_default=True,
)
@click.option(
    "--for",
    "client",
    type=click.Choice(CLIENTS),
    help="Also the lines to put into this client's code or settings.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the report there instead of to standard output (-).",
)
@click.option(
    "--details", is_flag=True, help="The reasoning for every queue, not only for a single one."
)
@click.option(
    "--all", "all_queues", is_flag=True, help="Every queue in the table, not only the first 50."
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    default="never",
    show_default=True,
    help="Exit 1 when there is a finding this severe.",
)
@live
def advise(**options: Any) -> int:
    """Advise prefetch and consumers: from a running broker, timings, or what a broker printed.

    Without INPUT a running broker is asked: its management API, by default at localhost:15672 as
    guest, or rabbitmqctl where nothing listens there. Nothing is ever changed on it.

    INPUT is any number of files, or - for standard input: message timings (CSV, TSV, JSON lines, a
    column of numbers), rabbitmqctl list_queues, list_consumers and list_channels output, and saved
    management API answers (/api/queues, /api/consumers, /api/channels, /api/connections,
    /api/nodes, /api/overview). What each is shows from its content. Standard input is read by
    itself when it is a pipe or a file and no INPUT is given.
    """
    from prefetch_advisor.commands import advise as command

    return command.run(command.build(options))


@cli.command()
@click.option(
    "--uri",
    metavar="URI",
    help="amqp(s)://USER:PASSWORD@HOST:PORT/VHOST; else RABBITMQ_URL or the like, or localhost.",
)
@click.option(
    "--queue-type",
    type=click.Choice(["classic", "quorum"]),
    default="classic",
    show_default=True,
    help="Of the temporary queue; a quorum queue takes longer.",
)
@click.option("--queue-name", metavar="NAME", help="Of the temporary queue; refused if it exists.")
@click.option(
    "--message-size",
    type=click.IntRange(0, 10_000_000),
    default=100,
    show_default=True,
    metavar="BYTES",
)
@click.option(
    "--duration",
    type=duration(),
    default="5s",
    show_default=True,
    metavar="TIME",
    help="At most so long.",
)
@click.option(
    "--count",
    type=click.IntRange(3, 100_000),
    default=1_000,
    show_default=True,
    metavar="N",
    help="At most so many round trips.",
)
@click.option(
    "--timeout",
    type=duration(),
    default="10s",
    show_default=True,
    metavar="TIME",
    help="For the broker's answer at each step.",
)
@tls
@click.option(
    "--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True
)
@click.option("-o", "--output", metavar="FILE", help="Write the report there.")
def probe(**options: Any) -> int:
    """Measure the round trip that the rule needs, from where this runs.

    From an ack leaving until the delivery that it allowed arrives, on a temporary queue of its own,
    which is removed whatever happens. Nothing else on the broker is touched. Needs pika: pip
    install 'prefetch-advisor[amqp]'.
    """
    from prefetch_advisor.commands import probe as command

    return command.run(command.build(options))


@cli.command()
@click.argument("what", metavar="CODE-OR-NAME", required=False)
@click.option("--list", "every", is_flag=True, help="A line for each finding there is.")
def explain(what: str | None, every: bool) -> int:
    """Explain a finding, by its code (PA101) or its name (unbounded-prefetch)."""
    from prefetch_advisor import findings

    if every == (what is not None):
        raise UsageError("explain takes the code or name of one finding, or --list")
    if what is None:
        stdio.write(findings.listed())
        return ExitCode.OK
    rule = findings.find(what)
    if rule is None:
        from prefetch_advisor.reports.names import quoted

        near = findings.near(what)
        hint = f"; near: {', '.join(near)}" if near else ""
        raise UsageError(
            f"no finding is called {quoted(what)}{hint}; all: {PROGRAM} explain --list"
        )
    stdio.write(findings.explain(rule))
    return ExitCode.OK


def run(args: Sequence[str]) -> int:
    """Parse and call; what click refuses is said on standard error."""
    if os.environ.get(_COMPLETION):
        cli.main(args=list(args), prog_name=PROGRAM, complete_var=_COMPLETION)
    try:
        # not cli.main, which answers an interrupt with an empty line and a closed pipe with 1
        with cli.make_context(PROGRAM, list(args)) as context:
            return int(cli.invoke(context) or ExitCode.OK)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        from prefetch_advisor.commands import output

        said = io.StringIO()
        error.show(said)
        output.remark_whole(said.getvalue())
        return error.exit_code
