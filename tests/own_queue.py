"""What the tests of ``probe`` and ``bench`` look at and do to the broker meanwhile."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable

from rabbitmq_node import Node

#: seconds that the broker may take to notice what is gone
SETTLE = 15.0


def queues(broker: Node) -> set[str]:
    return {queue["name"] for queue in json.loads(broker.get("/api/queues?columns=name"))}


def connections(broker: Node) -> list[str]:
    """The probe's, as the broker itself lists them, without the delay of its statistics."""
    listed = broker.rabbitmqctl("-q", "list_connections", "client_properties")
    return [line for line in listed.splitlines() if "prefetch-advisor probe" in line]


def eventually(holds: Callable[[], bool], seconds: float = SETTLE) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


class Line:
    """A TCP path to a port that can be cut, or go silent, while it is in use."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._ends: list[socket.socket] = []
        self._silent = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._ends += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=pair, daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if not self._silent.is_set():
                    target.sendall(data)

    def silence(self) -> None:
        self._silent.set()

    def refuse(self) -> None:
        """No new connections."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def cut(self) -> None:
        """End the connections there are."""
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.refuse()
        self.cut()


def later(seconds: float, *steps: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, lambda: [step() for step in steps])
    timer.daemon = True
    timer.start()
