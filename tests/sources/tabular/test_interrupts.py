"""Ctrl-C between reads."""

import io
import os
import signal
from collections.abc import Iterator

import pytest

from prefetch_advisor.sources.tabular.interrupts import Interrupts


@pytest.fixture(autouse=True)
def default_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_computing_waits_for_the_next_read():
    with Interrupts() as interrupts:
        assert interrupts.read(io.BytesIO(b"abc")) == b"abc"
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.happened
        assert interrupts.read(io.BytesIO(b"abc")) == b""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_reading_ends_the_reading():
    class Stream(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            os.kill(os.getpid(), signal.SIGINT)
            return b"never"

    with Interrupts() as interrupts:
        assert interrupts.read(Stream()) == b""
        assert interrupts.happened


def test_another_handler_is_left_alone():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
