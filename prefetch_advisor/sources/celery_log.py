"""The log of a Celery worker as timings: its lines "Task ... succeeded in ...s"."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from prefetch_advisor.model.record import record
from prefetch_advisor.sources.opening import HEAD, OpenInput, Stream
from prefetch_advisor.units import plural

#: as ``worker_log_format`` begins by default; other formats may lack it
_PREFIX = re.compile(
    rb"\[(?P<at>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.](?P<part>\d+): \w+/(?P<process>[^\]]+)\]"
)
_TASK = re.compile(rb"\bTask (?=\S)")
_SUCCEEDED = b"] succeeded in "
_TOOK = re.compile(rb"(\d[\d.]*(?:e-?\d+)?)s(?::|\s*$)")


@record
class _Done:
    """A task that succeeded, as a line of the log has it."""

    task: bytes
    took: bytes
    prefix: re.Match[bytes] | None


def _done(line: bytes) -> _Done | None:
    # by hand: one pattern for all of it takes the square of the length of a line
    before, _, after = line.partition(_SUCCEEDED)
    took = _TOOK.match(after)
    if took is None:
        return None
    prefix = _PREFIX.match(before)
    begin = _TASK.search(before, prefix.end() if prefix else 0)
    # an id may be any text that its sender chose
    end = before.rfind(b"[")
    if begin is None or end <= begin.end():
        return None
    return _Done(before[begin.end() : end], took[1], prefix)


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
    return any(_done(line) is not None for line in head.split(b"\n"))


def as_timings(source: OpenInput) -> tuple[OpenInput, Lines]:
    """The tasks that succeeded as a CSV of timings, read as the log is.

    A queue is the name of the task: the log does not say by which queue it came.
    """
    lines = Lines()
    head = io.BytesIO(source.head)
    prefixed = any(found.prefix is not None for line in head if (found := _done(line)))
    stream = io.BufferedReader(Stream(_rows(source, lines, prefixed)), HEAD)
    return replace(source, stream=stream, head=stream.peek(1)), lines


def _rows(source: OpenInput, lines: Lines, prefixed: bool) -> Iterator[bytes]:
    yield b"timestamp,consumer,queue,processing_s\n" if prefixed else b"queue,processing_s\n"
    for line in source.stream:
        found = _done(line)
        if found is None or (prefixed and found.prefix is None):
            lines.others += bool(line.strip())
            continue
        lines.tasks += 1
        cells = [_text(found.task), _text(found.took)]
        if prefixed and found.prefix is not None:
            at, part, process = (_text(cell) for cell in found.prefix.groups())
            cells = [f"{at.replace(' ', 'T')}.{part}", process, *cells]
        row = io.StringIO(newline="")
        csv.writer(row, lineterminator="\n").writerow(cells)
        yield row.getvalue().encode("utf-8", "surrogateescape")


def _text(cell: bytes) -> str:
    return cell.decode("utf-8", "surrogateescape")
