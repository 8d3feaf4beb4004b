"""Where results and remarks go: results to standard output or a file, remarks to standard error."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from prefetch_advisor.errors import AdvisorError
from prefetch_advisor.reports.escape import escaped
from prefetch_advisor.reports.options import ReportOptions

#: cells in a line where nobody looks
_PLAIN_WIDTH = 80


def remark(lines: Iterable[str]) -> None:
    """Say things about the inputs on standard error, one a line, nothing invisible in them."""
    if sys.stderr is None:
        return
    for line in lines:
        sys.stderr.write(f"prefetch-advisor: {escaped(line)}\n")


def report_options(output: Path | None, *, details: bool, all_queues: bool) -> ReportOptions:
    """Width, colour and character set of the place the report goes to."""
    to_file = output is not None
    terminal = not to_file and sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns if terminal else _columns()
    return ReportOptions(
        width=max(40, width),
        colour=terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        details=details,
        all_queues=all_queues,
        unicode=to_file or _carries_any_character(),
    )


def write(text: str, output: Path | None) -> None:
    """Write a finished report.

    Raises:
        AdvisorError: the file cannot be written, or standard output is closed.
    """
    if output is None:
        if sys.stdout is None:
            raise AdvisorError("standard output is closed: give -o FILE")
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
        return
    try:
        output.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise AdvisorError(f"cannot write {output}: {error.strerror}") from error


def _columns() -> int:
    text = os.environ.get("COLUMNS", "")
    return int(text) if text.isdigit() and int(text) > 0 else _PLAIN_WIDTH


def _carries_any_character() -> bool:
    encoding = (sys.stdout.encoding if sys.stdout is not None else None) or "ascii"
    return encoding.lower().replace("-", "").replace("_", "") in ("utf8", "utf16", "utf32")
