"""``init``: write a settings file to start from, with the queues of a broker where one is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from prefetch_advisor.commands import live, output
from prefetch_advisor.commands.live import LiveOptions
from prefetch_advisor.commands.selection import Selection
from prefetch_advisor.errors import AdvisorError, ExitCode, UsageError
from prefetch_advisor.lint.declared.template import template
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.reports.names import quoted

DEFAULT = "prefetch-advisor.toml"
_STDOUT = "-"


@dataclass(frozen=True, slots=True)
class InitOptions:
    """Everything the command line said."""

    live: LiveOptions
    vhost: str | None
    #: ``None``: standard output
    output: Path | None
    schema: bool


def build(options: dict[str, Any]) -> InitOptions:
    """The options object from click's parameters.

    Raises:
        UsageError: an empty value, options that exclude each other.
    """
    for name in ("output", "vhost"):
        if options[name] == "":
            raise UsageError(f"--{name} is empty: give a value, or leave the option out")
    asked = live.build({**options, "uri": None, "inputs": ()})
    if options["vhost"] is not None and not asked.asked_for:
        raise UsageError("--vhost goes with a broker that is asked: add --live management")
    if options["schema"] and asked.asked_for:
        raise UsageError("--schema needs no broker: leave the options of one out")
    name = options["output"] or (_STDOUT if options["schema"] else DEFAULT)
    return InitOptions(
        live=asked,
        vhost=options["vhost"],
        output=None if name == _STDOUT else Path(name),
        schema=options["schema"],
    )


def run(options: InitOptions) -> int:
    """Write the file. Returns the exit code.

    Raises:
        AdvisorError: a file that is there already or cannot be written, a broker that cannot be
            asked.
    """
    _refuse_to_overwrite(options.output)  # before a broker is asked
    if options.schema:
        there = resources.files("prefetch_advisor") / "schemas" / "settings.schema.json"
        text = there.read_text(encoding="utf-8")
    elif options.live.asked_for:
        text = _seen(options)
    else:
        text = template()
    if options.output is None:
        output.write(text, None)
        return ExitCode.OK
    _write(text, options.output)
    output.remark([f"{options.output} written; prefetch-advisor lint checks it"])
    return ExitCode.OK


def _seen(options: InitOptions) -> str:
    from prefetch_advisor.lint.declared.seen import seen
    from prefetch_advisor.sources.combine import combine

    there = None if options.live.kind == "rabbitmqctl" else live.connection(options.live)
    selection = Selection((), None, options.vhost)
    intakes: Sequence[Intake] = live.observe(options.live, selection, there)
    if any(intake.interrupted for intake in intakes):
        raise KeyboardInterrupt
    fleet = combine(intakes, vhost=options.vhost)
    output.remark([*(note for intake in intakes for note in intake.notes), *fleet.notes])
    wanted = [q for q in fleet.queues if options.vhost in (None, q.key.vhost)]
    queues, defaults, remarks = seen(wanted, fleet.broker)
    return template(queues, defaults, remarks)


def _refuse_to_overwrite(file: Path | None) -> None:
    if file is not None and (file.exists() or file.is_symlink()):
        raise UsageError(f"{quoted(str(file))} is there already: -o names another file")


def _write(text: str, file: Path) -> None:
    """Write a new file, and no other.

    Raises:
        UsageError: it is there meanwhile.
        AdvisorError: it cannot be written.
    """
    try:
        with file.open("x", encoding="utf-8", newline="\n") as new:
            new.write(text)
    except FileExistsError:
        _refuse_to_overwrite(file)
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AdvisorError(f"cannot write {quoted(str(file))}: {reason}") from error
