"""The files of timings that settings name, each read once."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from prefetch_advisor.errors import InputError
from prefetch_advisor.findings import inputs
from prefetch_advisor.lint.declared import DeclaredQueue
from prefetch_advisor.lint.declared.placing import shortened
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.model.timing import TimingRow


@dataclass(slots=True)
class TimingFiles:
    """What was read so far: intakes by path, or why there are none."""

    _read: dict[Path, list[Intake] | str] = field(default_factory=dict)

    def row(self, queue: DeclaredQueue) -> tuple[TimingRow | None, list[LintFinding]]:
        """The timings of a queue, and what is wrong with their file.

        Raises:
            KeyboardInterrupt: Ctrl-C came while it was read.
        """
        name = queue.timings
        if name is None:
            return None, []
        location = queue.base / name.value
        printed = os.path.join(os.path.dirname(name.place.path), name.value).replace(os.sep, "/")
        if location not in self._read:
            self._read[location] = _read(location)
        intakes = self._read[location]
        if isinstance(intakes, str):
            return None, [_finding(queue, intakes.replace(str(location), printed))]
        row = _of_queue(queue, [row for intake in intakes for row in intake.timings])
        if row is None:
            message = f"{printed}: no timings of this queue are in it"
            return None, [_finding(queue, message)]
        wrong = []
        for intake in intakes:
            if intake.bad_count:
                bad = intake.bad_rows[0]
                message = (
                    f"{printed}: {intake.bad_count:,} of its rows were left out; the first: "
                    f"line {bad.line}: expected {bad.expected}, found {bad.found}"
                )
                wrong.append(_finding(queue, message, Severity.WARNING))
        return replace(row, where=printed), wrong


def _read(location: Path) -> list[Intake] | str:
    from prefetch_advisor.sources import InputOptions, NothingReadError, read_inputs

    try:
        # what is no file may have no end
        if not stat.S_ISREG(os.stat(location).st_mode):
            return f"{location}: expected a file, found none"
        intakes = read_inputs([str(location)], InputOptions(kind="timings"))
    except NothingReadError:
        raise KeyboardInterrupt from None
    except InputError as error:
        return str(error)
    except (OSError, ValueError) as error:  # a NUL in its name
        return f"{location}: cannot be opened: {getattr(error, 'strerror', None) or error}"
    if any(intake.interrupted for intake in intakes):
        raise KeyboardInterrupt
    return intakes


def _of_queue(queue: DeclaredQueue, rows: Sequence[TimingRow]) -> TimingRow | None:
    """The rows that name the queue, else those of a file that names none."""
    vhost = queue.vhost.value if queue.vhost else "/"
    for row in rows:
        if row.name == queue.name.value and row.vhost in (None, vhost):
            return row
    return rows[0] if len(rows) == 1 and rows[0].name is None else None


def _finding(queue: DeclaredQueue, message: str, severity: Severity | None = None) -> LintFinding:
    assert queue.timings is not None
    found = inputs.INVALID_SETTING.finding(
        queue.name.value,
        f"{shortened(queue.name.value)}: {message}",
        "Name a file of timings, relative to the settings; advise reads it alike.",
        severity,
    )
    return LintFinding(found, queue.timings.place)
