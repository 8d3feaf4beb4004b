"""The time a TCP connect takes: no round trip between ack and delivery can be shorter."""

from __future__ import annotations

import socket
import statistics
import time
from typing import Final

from prefetch_advisor.sources.http_errors import Unreachable

CONNECTS: Final = 5


def connect_time(host: str, port: int, timeout: float) -> float:
    """The median of a few TCP connects, in seconds: a lower bound of R from where this runs.

    A connect is one turn of the network between two kernels. The broker's work, the client's loop
    and TLS come on top. ``timeout``: seconds for all of them together; those done by then count.

    Raises:
        Unreachable: no connection at all.
    """
    deadline = time.monotonic() + timeout
    why = ""
    times: list[float] = []
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        addresses, why = [], error.strerror or "no host of this name"
    for family, kind, protocol, _, address in addresses:
        try:
            # the first also resolves hardware addresses and wakes paths up
            first = _connect(family, kind, protocol, address, deadline)
            times = [first]
            while len(times) < CONNECTS and time.monotonic() < deadline:
                times.append(_connect(family, kind, protocol, address, deadline))
        except TimeoutError:
            why = f"no answer within {timeout:g} s"
        except OSError as error:
            why = error.strerror or type(error).__name__
        if times:
            return statistics.median(times[1:] or times)
    raise Unreachable(f"{host}:{port}: no TCP connection: {why or 'no address'}")


def described(host: str, port: int) -> str:
    """What the bound was taken from, for its origin."""
    return f"TCP connect to {host}:{port} from here"


def answers_amqp(host: str, port: int, timeout: float) -> bool:
    """Whether an AMQP broker listens: it answers whatever is no AMQP with its own header."""
    try:
        with socket.create_connection((host, port), timeout) as one:
            # as long as its header is: with more it would close before its answer is read
            one.sendall(b"GET / HT")
            return one.recv(8).startswith(b"AMQP")
    except OSError:
        return False


def _connect(family: int, kind: int, protocol: int, address: object, deadline: float) -> float:
    with socket.socket(family, kind, protocol) as one:
        one.settimeout(max(0.001, deadline - time.monotonic()))
        started = time.perf_counter()
        one.connect(address)  # type: ignore[arg-type]
        return time.perf_counter() - started
