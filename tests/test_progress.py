"""The bar that a person sees while waiting, and that nothing else does."""

from __future__ import annotations

import io
import os
import pty

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.progress import line, progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def screen(written: str) -> str:
    """What a line of a terminal shows after this was written to it."""
    cells: list[str] = []
    at = 0
    for char in written:
        if char == "\r":
            at = 0
        else:
            assert char.isascii()
            assert char.isprintable()
            cells[at : at + 1] = [char]
            at += 1
    return "".join(cells).rstrip()


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_it_shows_how_much_is_done_and_is_gone_at_the_end() -> None:
    terminal = Terminal()
    shown = []
    with progress_bar("watching", terminal) as draw:
        for done in (0.0, 15.0, 30.0):
            draw(done, 30.0)
            shown.append(screen(terminal.getvalue()))
    assert shown == [
        f"watching [{' ' * 30}] 0 of 30 s",
        f"watching [{'=' * 15}{' ' * 15}] 15 of 30 s",
        f"watching [{'=' * 30}] 30 of 30 s",
    ]
    assert screen(terminal.getvalue()) == ""
    assert "\n" not in terminal.getvalue()


def test_it_is_gone_after_an_error_too() -> None:
    terminal = Terminal()

    def interrupted() -> None:
        with progress_bar("watching", terminal) as draw:
            draw(1.0, 2.0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert screen(terminal.getvalue()) == ""


def test_nothing_is_written_where_nobody_watches() -> None:
    nobody = io.StringIO()
    with progress_bar("watching", nobody) as draw:
        draw(1.0, 2.0)
    assert nobody.getvalue() == ""


def test_no_standard_error_or_a_closed_one_is_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = Terminal()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stderr", stream)
        with progress_bar("watching") as draw:
            draw(1.0, 2.0)


def test_a_terminal_that_goes_away_ends_the_drawing_only() -> None:
    leader, follower = pty.openpty()
    terminal = open(follower, "w")  # noqa: SIM115 (closing it fails, as the terminal is gone)
    with progress_bar("watching", terminal) as draw:
        draw(1.0, 3.0)
        assert b"1 of 3 s" in os.read(leader, 1000)
        os.close(leader)
        draw(2.0, 3.0)
        draw(3.0, 3.0)
    with pytest.raises(OSError, match="Input/output"):
        terminal.close()


def test_the_same_is_not_drawn_twice() -> None:
    terminal = Terminal()
    with progress_bar("watching", terminal) as draw:
        for tenth in range(10):
            draw(10.0 + tenth / 100, 30.0)
        assert terminal.getvalue().count("\r") == 1


@given(
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60),
    st.floats(-10, 1e6),
    st.floats(0, 1e6),
    st.integers(0, 200),
)
@settings(deadline=None)
def test_it_never_needs_a_second_line(label: str, done: float, total: float, width: int) -> None:
    text = line(label, done, total, width)
    assert len(text) <= width
    assert text.isascii()
