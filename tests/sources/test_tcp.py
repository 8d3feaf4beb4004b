"""The time of a TCP connect, a lower bound of the round trip; and what AMQP answers."""

from __future__ import annotations

import socket
import time

import pytest
from misbehaving import says, serving, silent

from prefetch_advisor.sources.http_errors import Unreachable
from prefetch_advisor.sources.tcp import answers_amqp, connect_time, described


def test_a_connect_on_loopback_takes_less_than_its_timeout():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        seconds = connect_time("127.0.0.1", listener.getsockname()[1], 2)
    assert 0 < seconds < 0.1


def test_a_closed_port_and_an_unknown_host_are_said():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable, match=rf"127\.0\.0\.1:{port}: no TCP connection: "):
        connect_time("127.0.0.1", port, 1)
    with pytest.raises(Unreachable, match=r"no-such-host\.invalid:1: no TCP connection: "):
        connect_time("no-such-host.invalid", 1, 1)


def test_connects_that_are_not_accepted_end_in_time():
    # a backlog that is full: further connects get no answer
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        held = [socket.socket() for _ in range(4)]
        for one in held:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        started = time.monotonic()
        with pytest.raises(Unreachable, match=r"no answer within 0\.3 s"):
            connect_time("127.0.0.1", port, 0.3)
        assert time.monotonic() - started < 2
        for one in held:
            one.close()


def test_the_bound_says_what_it_was_taken_from():
    assert described("rabbit", 15672) == "TCP connect to rabbit:15672 from here"


def test_only_what_answers_with_its_header_is_amqp():
    with serving(says(b"AMQP\x00\x00\x09\x01"), least=8) as server:
        assert answers_amqp("127.0.0.1", server.port, 1)
    for behave in (says(b"HTTP/1.1 400\r\n\r\n"), says(b""), silent):
        with serving(behave, least=8) as server:
            assert not answers_amqp("127.0.0.1", server.port, 0.2)
    assert not answers_amqp("127.0.0.1", server.port, 0.2)
