"""The command line: options become one call. Every import a command needs is inside it."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

import click

from prefetch_advisor.commands import stdio
from prefetch_advisor.commands.bench_options import bench_options
from prefetch_advisor.commands.init_options import init_options
from prefetch_advisor.commands.lint_options import lint_options
from prefetch_advisor.commands.live_options import live, tls
from prefetch_advisor.commands.option_types import (
    FAIL_ON,
    byte_count,
    concurrency,
    duration,
    number,
    rate,
    round_trip,
)
from prefetch_advisor.commands.reading_options import reading
from prefetch_advisor.commands.simulate_options import simulate_options
from prefetch_advisor.commands.written import PROGRAM, Group, print_version
from prefetch_advisor.errors import ExitCode

CLIENTS = ("pika", "aio-pika", "celery", "dramatiq", "spring", "amqplib", "go", "dotnet")
_COMPLETION = "_PREFETCH_ADVISOR_COMPLETE"


@click.group(
    cls=Group,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Show the version and exit.",
)
@click.pass_context
def cli(context: click.Context) -> int:
    """Tell, for each RabbitMQ queue, which prefetch and how many consumers to run, and why.

    Exit codes: 0 done; 1 findings at or above --fail-on; 2 wrong usage; 3 could not run (input
    unreadable, no queue matched); 4 a bug; 130, 143, 129 interrupted by Ctrl-C, SIGTERM, SIGHUP.
    """
    if context.invoked_subcommand is None:
        stdio.say(context.get_help())
        return ExitCode.USAGE
    return ExitCode.OK


@cli.command()
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@reading
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
    help="From an ack leaving until the delivery it allowed arrives; probe: measure it, on a "
    "classic queue; probe:quorum: on a quorum queue, which takes longer.",
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
    "--picture",
    is_flag=True,
    help="Also draw the busy share against prefetch, below the table.",
)
@click.option(
    "--html",
    metavar="FILE",
    help="Also write a page with pictures, for a browser: of the 30 queues that matter most.",
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
    column of numbers), lists of rabbitmqctl (list_queues, list_consumers, list_channels) and of
    rabbitmqadmin, and saved management API answers (/api/queues, /api/consumers, /api/channels,
    /api/connections, /api/nodes, /api/overview). What each is shows from its content. Standard
    input is read by itself when it is a pipe or a file and no INPUT is given.
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
@simulate_options
def simulate(**options: Any) -> int:
    """Simulate what a prefetch and a number of consumers would make of a queue.

    Messages are dealt to consumers as RabbitMQ does it. What they take is said by --tasks, by a
    file of --timings, or by --processing-time and a distribution; no broker is asked.
    """
    from prefetch_advisor.commands import simulate as command

    return command.run(command.build(options))


@cli.command()
@bench_options
def bench(**options: Any) -> int:
    """Measure throughput at several prefetches on a broker, beside what the model predicts.

    One consumer on a temporary queue of its own that never empties, which is removed whatever
    happens. Nothing else on the broker is touched. Needs pika: pip install
    'prefetch-advisor[amqp]'.
    """
    from prefetch_advisor.commands import bench as command

    return command.run(command.build(options))


@cli.command()
@lint_options
def lint(**options: Any) -> int:
    """Check what a repository says about its consumers, before a broker sees it.

    PATH is any number of files and directories; without one, the working directory. Files that git
    ignores are left out unless they are named. Each is recognised by its name and content. Nothing
    is imported or run, and neither a broker nor a network is needed.

    A comment "prefetch-advisor: ignore[PA301] why" silences a finding on its line or, on a line of
    its own, on the next one; "ignore-file[PA301]" in the whole file.
    """
    from prefetch_advisor.commands import lint as command

    return command.run(command.build(options))


@cli.command()
@init_options
def init(**options: Any) -> int:
    """Write a settings file to start from: prefetch-advisor.toml, with every key and its meaning.

    With --live, or any option that names a broker, the queues that have consumers there are listed
    with what it shows of them. A file that is there already is never replaced.
    """
    from prefetch_advisor.commands import init as command

    return command.run(command.build(options))


@cli.command()
@click.argument("what", metavar="CODE-OR-NAME", required=False)
@click.option("--list", "every", is_flag=True, help="A line for each finding there is.")
def explain(what: str | None, every: bool) -> int:
    """Explain a finding, by its code (PA101) or its name (unbounded-prefetch)."""
    from prefetch_advisor.commands import explain as command

    return command.run(what, every)


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
