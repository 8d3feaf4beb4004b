"""The log of a Celery worker as timings: its lines "Task ... succeeded in ...s"."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from prefetch_advisor.sources.opening import HEAD, OpenInput, Stream
from prefetch_advisor.units import plural

#: as ``worker_log_format`` is by default, with or without the part before the message
_DONE = re.compile(
    rb"^(?:\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.](?P<part>\d+): \w+/(?P<process>[^\]]+)\] )?"
    rb".*?\bTask (?P<task>\S.*?)\[[\w-]+\] succeeded in (?P<took>\d[\d.]*(?:e-?\d+)?)s: "
)


@dataclass(slots=True)
class Lines:
    """How many lines were what."""

    tasks: int = 0
    others: int = 0

    def note(self, where: str) -> str:
        """What was read, and that the rest was not."""
        return (
            f"{where}: the log of a Celery worker: {plural(self.tasks, 'task')} that succeeded, by "
            f"name; {plural(self.others, 'other line')}"
        )


def looks_like(head: bytes) -> bool:
    """Whether an input begins as the log of a worker that finished a task."""
    return any(_DONE.match(line) is not None for line in head.split(b"\n"))


def as_timings(source: OpenInput) -> tuple[OpenInput, Lines]:
    """The tasks that succeeded as a CSV of timings, read as the log is.

    A queue is the name of the task: the log does not say by which queue it came.
    """
    lines = Lines()
    head = io.BytesIO(source.head)
    prefixed = any(
        found["at"] is not None for line in head if (found := _DONE.match(line)) is not None
    )
    stream = io.BufferedReader(Stream(_rows(source, lines, prefixed)), HEAD)
    return replace(source, stream=stream, head=stream.peek(1)), lines


def _rows(source: OpenInput, lines: Lines, prefixed: bool) -> Iterator[bytes]:
    yield b"timestamp,consumer,queue,processing_s\n" if prefixed else b"queue,processing_s\n"
    for line in source.stream:
        found = _DONE.match(line)
        if found is None or (prefixed and found["at"] is None):
            lines.others += bool(line.strip())
            continue
        lines.tasks += 1
        cells = [_text(found["task"]), _text(found["took"])]
        if prefixed:
            at = f"{_text(found['at']).replace(' ', 'T')}.{_text(found['part'])}"
            cells = [at, _text(found["process"]), *cells]
        row = io.StringIO(newline="")
        csv.writer(row, lineterminator="\n").writerow(cells)
        yield row.getvalue().encode("utf-8", "surrogateescape")


def _text(cell: bytes) -> str:
    return cell.decode("utf-8", "surrogateescape")
