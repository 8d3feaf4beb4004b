"""A TCP proxy on loopback that holds every byte back for a fixed time: a long line, in a box."""

from __future__ import annotations

import queue
import socket
import threading
import time

CHUNK = 65_536


def _later(source: socket.socket, target: socket.socket, delay: float) -> None:
    """Copies ``source`` to ``target``, each chunk ``delay`` seconds after it came."""
    due: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    def receive() -> None:
        data = b"-"
        while data:
            try:
                data = source.recv(CHUNK)
            except OSError:
                data = b""
            due.put((time.monotonic() + delay, data))

    def send() -> None:
        while True:
            at, data = due.get()
            time.sleep(max(0.0, at - time.monotonic()))
            try:
                if not data:
                    target.shutdown(socket.SHUT_WR)
                    return
                target.sendall(data)
            except OSError:
                return

    for work in (receive, send):
        threading.Thread(target=work, daemon=True).start()


def _accept(listener: socket.socket, port: int, one_way: float) -> None:
    while True:
        near, _ = listener.accept()
        far = socket.create_connection(("127.0.0.1", port))
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _later(near, far, one_way)
        _later(far, near, one_way)


def delayed(port: int, one_way: float) -> int:
    """A port that leads to ``port``, ``one_way`` seconds slower each way, while this process lives.

    Threads rather than an event loop: its timers round up to whole milliseconds.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    arguments = (listener, port, one_way)
    threading.Thread(target=_accept, args=arguments, daemon=True).start()
    own: int = listener.getsockname()[1]
    return own
