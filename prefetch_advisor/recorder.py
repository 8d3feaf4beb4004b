"""Where timings come from: a few lines in a consumer, and ``advise`` can read what it did.

    recorder = Recorder("timings.csv")
    channel.basic_consume("tasks", recorder.pika(handle, "tasks"))        # pika
    await queue.consume(recorder.aio_pika(handle, queue.name))            # aio-pika
    recorder.celery()                                                     # in the module of the app

Each message costs a consumer a few microseconds: it is kept in memory, and a thread appends what
there is to the file once a second, sooner when there is much. The file may be shared by threads and
processes. On a clean exit nothing is lost; when the process is killed, what was not written yet,
and the file stays readable. A disk that is full or slow never stops a consumer: rows that find no
room are counted in :attr:`Recorder.dropped` and logged, as are those that an exit has to leave
behind.
"""

from __future__ import annotations

import atexit
import csv
import functools
import importlib
import io
import itertools
import logging
import os
import socket
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

_log = logging.getLogger(__name__)
_HEADER = "queue,consumer,started,finished,bytes\n"
#: seconds between two writes
_INTERVAL = 1.0
#: rows in memory at most
_ROWS = 100_000
#: rows formatted and written at once
_CHUNK = 5_000
#: queue, seconds of work, its end, bytes, consumer
_Row = tuple[str, float, float, int | None, str | None]
_every: weakref.WeakSet[Recorder] = weakref.WeakSet()


class Recorder:
    """Appends one row for each message to a CSV file: queue, consumer, started, finished, bytes.

    ``max_bytes``: the file is then renamed to FILE.1, and the oldest of ``keep`` such files is
    removed. ``consumer`` tells processes apart; the machine and the process by default.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        consumer: str | None = None,
        max_bytes: int = 100_000_000,
        keep: int = 3,
    ) -> None:
        self.path = Path(path)
        self.consumer = consumer
        self.max_bytes = max_bytes
        self.keep = keep
        #: rows that found no room in memory because they could not be written in time
        self.dropped = 0
        self._rows: deque[_Row] = deque()
        self._said: type[OSError] | None = None
        #: the file while it is written to
        self._open: int | None = None
        self._stays = False
        self._reset()
        _every.add(self)

    def _reset(self) -> None:
        """In a new process: no thread is there, and what waits is the parent's to write."""
        self._rows.clear()
        self.dropped = 0
        if self._open is not None:
            # the parent was writing: its lock would last as long as this copy of its file is open
            os.close(self._open)
            self._open = None
        self._writing = threading.Lock()
        self._starting = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._name = self.consumer or f"{socket.gethostname()}:{os.getpid()}"

    def __del__(self) -> None:
        # one that belongs to a function is gone before the exit
        if self.__dict__.get("_rows"):
            self.flush()

    def record(
        self, queue: str, processing: float, size: int | None = None, consumer: str | None = None
    ) -> None:
        """A message of ``queue`` whose work took ``processing`` seconds and ends now."""
        waiting = len(self._rows)
        if waiting >= _ROWS:
            self.dropped += 1
            return
        self._rows.append((queue, processing, time.time(), size, consumer))
        if self._thread is None:
            self._start()
        elif waiting == _CHUNK:
            self._wake.set()

    def pika(
        self, handler: Callable[[Any, Any, Any, bytes], T], queue: str
    ) -> Callable[[Any, Any, Any, bytes], T]:
        """An ``on_message_callback`` of pika that is timed, its ack included where it sends it."""

        @functools.wraps(handler)
        def timed(channel: Any, method: Any, properties: Any, body: bytes) -> T:
            start = time.perf_counter()
            try:
                return handler(channel, method, properties, body)
            finally:
                self.record(queue, time.perf_counter() - start, len(body))

        return timed

    def aio_pika(
        self, handler: Callable[[Any], Awaitable[T]], queue: str
    ) -> Callable[[Any], Awaitable[T]]:
        """A callback of aio-pika's ``consume`` that is timed; messages overlap as they do."""

        @functools.wraps(handler)
        async def timed(message: Any) -> T:
            start = time.perf_counter()
            try:
                return await handler(message)
            finally:
                self.record(queue, time.perf_counter() - start, len(message.body))

        return timed

    def celery(self) -> None:
        """Times every task of a Celery worker from now on, by the queue it was routed to.

        The consumer is the worker, whose processes share its prefetch, unless one was named. A try
        that failed or asked for another is a message that took its time; a task that another one
        calls within its own process is none.
        """
        signals = importlib.import_module("celery.signals")
        begun: dict[str, float] = {}

        def began(task_id: str, **_: object) -> None:
            begun[task_id] = time.perf_counter()

        def ended(task_id: str, task: Any, **_: object) -> None:
            start = begun.pop(task_id, None)
            request = task.request
            if start is not None and not request.is_eager:
                queue = (request.delivery_info or {}).get("routing_key") or task.name
                took = time.perf_counter() - start
                self.record(str(queue), took, consumer=self.consumer or request.hostname)

        def leaving(**_: object) -> None:
            self.flush()

        # weak=False, or the signals forget functions that nothing else holds
        signals.task_prerun.connect(began, weak=False)
        signals.task_postrun.connect(ended, weak=False)
        # a child of the pool ends without what runs at an exit
        signals.worker_process_shutdown.connect(leaving, weak=False)

    def flush(self) -> bool:
        """Write what there is; whether that was possible."""
        with self._writing:
            while self._rows:
                rows = [self._rows.popleft() for _ in range(min(_CHUNK, len(self._rows)))]
                try:
                    self._append(_formatted(rows, self._name))
                except OSError as error:
                    self._rows.extendleft(reversed(rows))
                    self._say(error)
                    return False
                self._said = None
        return True

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                thread = threading.Thread(
                    target=_write_on,
                    args=(weakref.ref(self), self._wake),
                    name=f"recorder of {self.path}",
                    daemon=True,
                )
                self._thread = thread
                _flush_at_exit_of_multiprocessing(self)
                try:
                    thread.start()
                except RuntimeError as error:
                    # no consumer fails for it: what there is room for is written at the exit
                    _log.warning("timings wait for the exit to be written: %s", error)

    def _say(self, error: OSError) -> None:
        if self._said is not type(error):
            self._said = type(error)
            _log.warning("timings cannot be written to %s: %s", self.path, error.strerror)

    def _append(self, data: bytes) -> None:
        """Whole lines by one write, under a lock that every process takes."""
        file = self._open = self._locked()
        try:
            size = os.fstat(file).st_size
            if size == 0:
                data = _HEADER.encode() + data
            elif os.pread(file, 1, size - 1) != b"\n":
                # a process was killed, or the disk was full, in the middle of a line
                data = b"\n" + data
            written = os.write(file, data)
            if written < len(data):
                os.ftruncate(file, size)
                raise OSError(28, "no space left on the device")
            if size + written > self.max_bytes:
                self._rotate()
        finally:
            # not left to the close: a process forked meanwhile has the same open file
            _lock(file, release=True)
            self._open = None
            os.close(file)

    def _locked(self) -> int:
        """The file, opened and locked, and still the one of this name then."""
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            _lock(file)
            try:
                if os.path.samestat(os.fstat(file), os.stat(self.path)):
                    return file
            except FileNotFoundError:
                pass
            os.close(file)

    def _rotate(self) -> None:
        """Where that is not possible the file grows: its rows are written, and stay there."""
        names = [self.path, *(Path(f"{self.path}.{i}") for i in range(1, self.keep + 1))]
        try:
            for old, new in reversed(list(itertools.pairwise(names))):
                if old.exists():
                    old.replace(new)
            if len(names) == 1:
                self.path.unlink()
        except OSError as error:
            if not self._stays:
                self._stays = True
                _log.warning("%s cannot be put aside: %s", self.path, error.strerror)


def _write_on(recorder: weakref.ref[Recorder], wake: threading.Event) -> None:
    while True:
        wake.wait(_INTERVAL)
        wake.clear()
        alive = recorder()
        if alive is None:
            return
        alive.flush()
        del alive


def _formatted(rows: list[_Row], name: str) -> bytes:
    text = io.StringIO(newline="")
    plain = csv.writer(text, lineterminator="\n")
    # the module leaves a carriage return bare where lines do not end in one
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for queue, took, end, size, consumer in rows:
        by = consumer or name
        out = quoted if "\r" in queue or "\r" in by else plain
        out.writerow((queue, by, f"{end - took:.6f}", f"{end:.6f}", size))
    lines = text.getvalue()
    try:
        return lines.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return lines.encode("utf-8", "backslashreplace")


def _lock(file: int, *, release: bool = False) -> None:
    try:
        import fcntl
    except ImportError:
        return  # no such locks there: each process needs a file of its own
    fcntl.flock(file, fcntl.LOCK_UN if release else fcntl.LOCK_EX)


def _flush_at_exit_of_multiprocessing(recorder: Recorder) -> None:
    """Its children end without what runs at an exit, but with what its own registry holds."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(recorder, _flush_all, exitpriority=0)


def _flush_all() -> None:
    for recorder in list(_every):
        if not recorder.flush():
            recorder.dropped += len(recorder._rows)
            recorder._rows.clear()
        if recorder.dropped:
            _log.warning("%d timings for %s were dropped", recorder.dropped, recorder.path)
            recorder.dropped = 0


def _forget_all() -> None:
    for recorder in list(_every):
        recorder._reset()


atexit.register(_flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
