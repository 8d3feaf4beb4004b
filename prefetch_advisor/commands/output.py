"""Where results and remarks go: results to standard output or a file, remarks to standard error."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from prefetch_advisor.commands import stdio
from prefetch_advisor.errors import AdvisorError, UsageError
from prefetch_advisor.reports.escape import legible
from prefetch_advisor.reports.names import quoted
from prefetch_advisor.reports.options import ReportOptions

#: cells in a line where nobody looks
_PLAIN_WIDTH = 80
#: characters of a file's name in that of its temporary file, well below what systems allow
_STEM = 50
#: /dev/stdout may be a file, which others write to as well
_DEVICES = ("/dev/", "/proc/")


def remark(lines: Iterable[str]) -> None:
    """Say things on standard error, one a line, nothing invisible in them."""
    ascii_only = not stdio.carries_any_character(sys.stderr)
    for line in lines:
        stdio.say(f"prefetch-advisor: {legible(line, ascii_only)}")


def remark_whole(text: str) -> None:
    """Say a text of several lines on standard error as it is, nothing invisible in them."""
    ascii_only = not stdio.carries_any_character(sys.stderr)
    stdio.say("\n".join(legible(line, ascii_only) for line in text.rstrip("\n").split("\n")))


def report_options(
    output: Path | None, *, details: bool, all_queues: bool, client: str | None = None
) -> ReportOptions:
    """Width, colour and character set of the place the report goes to."""
    to_file = output is not None
    terminal = not to_file and sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns if terminal else _columns()
    return ReportOptions(
        width=max(40, width),
        colour=terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        details=details,
        all_queues=all_queues,
        client=client,
        unicode=to_file or stdio.carries_any_character(sys.stdout),
    )


def page_of(name: str | None) -> Path | None:
    """Where ``--html`` goes; it is a file.

    Raises:
        UsageError: it names none.
    """
    if name is None:
        return None
    if name in ("", "-"):
        raise UsageError("--html takes the name of a file")
    return Path(name)


def refuse_inputs(
    output: Path, inputs: Sequence[str], stdin: BinaryIO | None, option: str = "-o"
) -> None:
    """Make sure that what ``option`` writes replaces nothing that is read.

    Raises:
        UsageError: the file is one of the inputs.
    """
    try:
        target = os.stat(output)
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(target.st_mode):
        return
    for name in inputs:
        try:
            same = os.path.samestat(target, os.stat(name))
        except (OSError, ValueError):
            # what cannot be read is said when it is read
            continue
        if same and name != "-":
            raise UsageError(f"{option} {quoted(str(output))} is one of the inputs")
    if stdin is not None and os.path.samestat(target, os.fstat(stdin.fileno())):
        raise UsageError(f"{option} {quoted(str(output))} is the file on standard input")


def write(text: str, output: Path | None) -> None:
    """Write a finished report.

    Raises:
        AdvisorError: the file cannot be written, or standard output is closed or full.
    """
    if output is None:
        stdio.write(text)
        return
    try:
        _write_file(text.encode("utf-8", "backslashreplace"), output)
    except BrokenPipeError:
        # a pipe whose reader has left: it has seen enough
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AdvisorError(f"cannot write {quoted(str(output))}: {reason}") from error


def _write_file(data: bytes, output: Path) -> None:
    """Write beside the file and rename, so that it is either the old one or the new one."""
    there = output.exists()
    if (there and not output.is_file()) or os.path.abspath(output).startswith(_DEVICES):
        with output.open("wb") as file:
            file.write(data)
        return
    target = Path(os.path.realpath(output))
    if there and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    temporary = target.with_name(f".{target.name[:_STEM]}.{os.getpid()}.part")
    try:
        temporary.write_bytes(data)
        if there:
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _columns() -> int:
    text = os.environ.get("COLUMNS", "")
    sane = text.isascii() and text.isdigit() and len(text) <= 5 and int(text) > 0
    return int(text) if sane else _PLAIN_WIDTH
