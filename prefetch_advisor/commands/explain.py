"""``explain``: what a finding means, or a line for each there is."""

from __future__ import annotations

from prefetch_advisor import findings
from prefetch_advisor.commands import stdio
from prefetch_advisor.commands.written import PROGRAM
from prefetch_advisor.errors import ExitCode, UsageError
from prefetch_advisor.reports.names import quoted


def run(what: str | None, every: bool) -> int:
    """Explain the findings with this code or name, or list all of them. Returns the exit code.

    Raises:
        UsageError: no finding is called so; near ones are named.
    """
    if every == (what is not None):
        raise UsageError("explain takes the code or name of one finding, or --list")
    if what is None:
        stdio.write(findings.listed())
        return ExitCode.OK
    found = findings.find(what)
    if not found:
        near = findings.near(what)
        hint = f"; near: {', '.join(near)}" if near else ""
        raise UsageError(
            f"no finding is called {quoted(what)}{hint}; all: {PROGRAM} explain --list"
        )
    stdio.write("\n".join(map(findings.explain, found)))
    return ExitCode.OK
