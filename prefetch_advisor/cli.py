"""The command line: options become one call. Every import a command needs is inside it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from prefetch_advisor import __version__
from prefetch_advisor.errors import AdvisorError, ExitCode, UsageError

FAIL_ON = ("never", "info", "warning", "error")


def duration(text: str) -> float:
    """Seconds from an option such as 5ms."""
    from prefetch_advisor import units

    return _parsed(units.parse_duration, text)


def rate(text: str) -> float:
    """Events per second from an option such as 180/s."""
    from prefetch_advisor import units

    return _parsed(units.parse_rate, text)


def _parsed(parse: Callable[[str], float], text: str) -> float:
    try:
        return parse(text)
    except UsageError as error:
        raise click.BadParameter(str(error)) from None


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="prefetch-advisor")
def cli() -> None:
    """Tell, for each RabbitMQ queue, which prefetch and how many consumers to run, and why.

    Exit codes: 0 done; 1 findings at or above --fail-on; 2 wrong usage; 3 could not run (input
    unreadable, no queue matched); 4 a bug; 130 interrupted.
    """


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
    type=duration,
    metavar="TIME",
    help="From the start of the handler until its ack, such as 5ms.",
)
@click.option(
    "--rtt",
    type=duration,
    metavar="TIME",
    help="From an ack leaving until the delivery it allowed arrives, such as 1ms.",
)
@click.option(
    "--cv",
    type=click.FloatRange(min=0),
    metavar="X",
    help="Standard deviation / mean of the processing time (1: exponential-like).",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 65_535),
    metavar="K",
    help="Messages one consumer works on at once.  [default: 1]",
)
@click.option(
    "--arrival-rate", type=rate, metavar="RATE", help="Messages published, such as 180/s."
)
@click.option(
    "--target-busy-share",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.98,
    show_default=True,
    metavar="X",
    help="Share of its time a consumer should be busy while messages wait.",
)
@click.option(
    "--max-utilisation",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    metavar="X",
    help="Highest load of a consumer to plan for.",
)
@click.option(
    "--drain-within",
    type=duration,
    metavar="TIME",
    help="Work the present backlog off within this time, such as 10min.",
)
@click.option(
    "--unit", type=click.Choice(["s", "ms", "us", "ns"]), help="Unit of times that carry none."
)
@click.option(
    "--interval",
    type=duration,
    metavar="TIME",
    help="Time between inputs that show the same queues again, such as 5s.",
)
@click.option("--strict", is_flag=True, help="Stop at the first row that cannot be read.")
@click.option(
    "--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the report there instead of to standard output.",
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
def advise(**options: Any) -> int:
    """Advise prefetch and consumers from timings and from what the broker printed.

    INPUT is any number of files, or - for standard input: message timings (CSV, TSV, JSON lines, a
    column of numbers), rabbitmqctl list_queues, list_consumers and list_channels output, and saved
    management API answers (/api/queues, /api/consumers, /api/channels, /api/connections,
    /api/nodes, /api/overview). What each is shows from its content. Standard input is read by
    itself when it is a pipe or a file and no INPUT is given.
    """
    from prefetch_advisor.commands import advise as command

    return command.run(command.build(options))


@cli.command()
@click.argument("what", metavar="CODE-OR-NAME")
def explain(what: str) -> int:
    """Explain a finding, by its code (PA101) or its name (unbounded-prefetch)."""
    from prefetch_advisor import findings

    rule = findings.find(what)
    if rule is None:
        near = findings.near(what)
        hint = f"; near: {', '.join(near)}" if near else ""
        raise UsageError(f"no finding is called {what!r}{hint}; known: {findings.listed()}")
    click.echo(findings.explain(rule), nl=False)
    return ExitCode.OK


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the one place that turns failures into exit codes."""
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        result = cli.main(args=args, prog_name="prefetch-advisor", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        _say("interrupted")
        return ExitCode.INTERRUPTED
    except AdvisorError as error:
        _say(f"error: {error}")
        return error.exit_code
    except BrokenPipeError:
        _quiet_stdout()
        return ExitCode.COULD_NOT_RUN
    except Exception as error:
        return _bug(error)
    return int(result or 0)


def _say(text: str) -> None:
    """A line on standard error, if there is one."""
    from prefetch_advisor.reports.escape import escaped

    if sys.stderr is not None:
        sys.stderr.write(f"prefetch-advisor: {escaped(text)}\n")


def _bug(error: Exception) -> int:
    """A line that asks for a report; the traceback with PREFETCH_ADVISOR_TRACEBACK=1."""
    _say(
        f"a bug: {type(error).__name__}: {error} (please report it; "
        "PREFETCH_ADVISOR_TRACEBACK=1 shows where)"
    )
    if os.environ.get("PREFETCH_ADVISOR_TRACEBACK"):
        import traceback

        traceback.print_exc()
    return ExitCode.BUG


def _quiet_stdout() -> None:
    """The reader of the pipe went away: nothing more is to be written at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit(run: Callable[[], int]) -> None:
    code = run()
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _quiet_stdout()
    sys.exit(code)


def console() -> None:
    """The ``prefetch-advisor`` script."""
    _exit(main)


def console_advise() -> None:
    """The ``advise`` script: the same as ``prefetch-advisor advise``."""
    _exit(lambda: main(["advise", *sys.argv[1:]]))
