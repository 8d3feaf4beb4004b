"""Servers on loopback that misbehave on purpose: one thread each, gone with the test."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

#: what a server does with one connection, once the request has come
Behaviour = Callable[[socket.socket], None]


@dataclass
class Server:
    port: int
    #: what was sent to it, one item a connection
    requests: list[bytes] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


@contextlib.contextmanager
def serving(
    behave: Behaviour,
    context: ssl.SSLContext | None = None,
    reads: bool = True,
    least: int = 1 << 20,
) -> Iterator[Server]:
    """A server that reads a request, or ``least`` bytes, or (``reads``) nothing, and behaves."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener.getsockname()[1])
    open_ends: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def one(end: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            if context is not None:
                end = context.wrap_socket(end, server_side=True)
                open_ends.append(end)
            stack.enter_context(end)
            if reads:
                data = b""
                while b"\r\n\r\n" not in data and len(data) < least and (piece := end.recv(65536)):
                    data += piece
                server.requests.append(data)
            behave(end)

    def accept() -> None:
        while True:
            try:
                end, _ = listener.accept()
            except OSError:
                return
            open_ends.append(end)
            thread = threading.Thread(target=one, args=(end,), daemon=True)
            thread.start()
            threads.append(thread)

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield server
    finally:
        server.closing.set()
        # closing alone does not wake a thread that waits on the socket
        for end in (listener, *open_ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        for thread in (acceptor, *threads):
            thread.join(5)


def reply(
    body: bytes, status: str = "200 OK", kind: str = "application/json", *headers: str
) -> bytes:
    """An answer with its length, after which the connection closes."""
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def says(answer: bytes) -> Behaviour:
    """Sends ``answer`` and closes."""
    return lambda end: end.sendall(answer)


def in_turn(*answers: bytes) -> Behaviour:
    """One answer a connection; the last for all that follow."""
    left = list(answers)
    return lambda end: end.sendall(left.pop(0) if len(left) > 1 else left[0])


def silent(end: socket.socket) -> None:
    """Never answers, until the other side has had enough."""
    with contextlib.suppress(OSError):
        while end.recv(65536):
            pass


def trickles(before: bytes, drop: bytes, seconds: float) -> Behaviour:
    """``before``, then ``drop`` again and again."""

    def behave(end: socket.socket) -> None:
        waiting = threading.Event()
        end.sendall(before)
        while True:
            end.sendall(drop)
            waiting.wait(seconds)

    return behave


def resets(end: socket.socket) -> None:
    """Breaks the connection off with RST."""
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
