"""A path that takes longer: a TCP relay that hands everything on a fixed time after it came."""

from __future__ import annotations

import multiprocessing
import queue
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection


@contextmanager
def delayed(port: int, seconds: float) -> Iterator[int]:
    """The port of a relay to ``port`` that adds ``seconds`` in each direction; 0 adds no relay."""
    if not seconds:
        yield port
        return
    mine, its = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(its, port, seconds))
    process.start()
    try:
        yield mine.recv()
    finally:
        process.terminate()
        process.join()


def _serve(tell: Connection, port: int, seconds: float) -> None:
    sys.setswitchinterval(0.0002)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        tell.send(listening.getsockname()[1])
        while True:
            client, _ = listening.accept()
            broker = socket.create_connection(("127.0.0.1", port))
            for here, there in ((client, broker), (broker, client)):
                here.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                _relay(here, there, seconds)


def _relay(here: socket.socket, there: socket.socket, seconds: float) -> None:
    parts: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    def read() -> None:
        data = b"."
        while data:
            try:
                data = here.recv(65_536)
            except OSError:
                data = b""
            parts.put((time.perf_counter() + seconds, data))

    def write() -> None:
        data = b"."
        while data:
            due, data = parts.get()
            time.sleep(max(0.0, due - time.perf_counter()))
            try:
                there.sendall(data) if data else there.shutdown(socket.SHUT_WR)
            except OSError:
                return

    for part in (read, write):
        threading.Thread(target=part, daemon=True).start()
