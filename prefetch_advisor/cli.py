"""The scripts, and the one place that turns failures into exit codes.

Nothing is imported at module level: an interrupt while click or a command loads is one like any
other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    try:
        from prefetch_advisor import ending

        ending.forget()
        with ending.handled_by(ending.interrupt):
            code = _run(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        from prefetch_advisor.commands import stdio

        stdio.say("prefetch-advisor: interrupted")
        return _interrupted()
    from prefetch_advisor.errors import ExitCode

    return _interrupted() if code == ExitCode.INTERRUPTED else code


def _interrupted() -> int:
    """130, or what shells have for the signal that came."""
    from prefetch_advisor import ending

    return ending.exit_code()


def _run(args: list[str]) -> int:
    from prefetch_advisor.errors import AdvisorError, ExitCode

    try:
        from prefetch_advisor.commands import group

        return group.run(args)
    except AdvisorError as error:
        _say(str(error) if error.exit_code is ExitCode.INTERRUPTED else f"error: {error}")
        return error.exit_code
    except Exception as error:
        return _bug(error)


def _say(text: str) -> None:
    from prefetch_advisor.commands import output

    output.remark([text])


def _bug(error: Exception) -> int:
    """A line that asks for a report; the traceback with PREFETCH_ADVISOR_TRACEBACK=1."""
    import os

    from prefetch_advisor.errors import ExitCode

    _say(
        f"a bug: {type(error).__name__}: {error} (please report it; "
        "PREFETCH_ADVISOR_TRACEBACK=1 shows where)"
    )
    if os.environ.get("PREFETCH_ADVISOR_TRACEBACK"):
        import traceback

        from prefetch_advisor.commands import output

        output.remark_whole("".join(traceback.format_exception(error)))
    return ExitCode.BUG


def _exit(run: Callable[[], int]) -> None:
    code = run()
    from prefetch_advisor import ending
    from prefetch_advisor.commands import stdio

    # all is written: a signal while the interpreter cleans up has nothing left to stop
    ending.ignore()
    stdio.settle()
    sys.exit(code)


def console() -> None:
    """The ``prefetch-advisor`` script."""
    _exit(main)


def console_advise() -> None:
    """The ``advise`` script: the same as ``prefetch-advisor advise``."""
    _exit(lambda: main(["advise", *sys.argv[1:]]))
