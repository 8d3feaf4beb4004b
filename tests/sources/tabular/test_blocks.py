"""Blocks of whole lines."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.sources.gzipped import Damage
from prefetch_advisor.sources.opening import OpenInput
from prefetch_advisor.sources.tabular import blocks as module
from prefetch_advisor.sources.tabular.bad_rows import BadRows
from prefetch_advisor.sources.tabular.interrupts import Interrupts


class Pieces(io.RawIOBase):
    """Reads that are as short as they are told to be."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data = io.BytesIO(data)
        self._sizes = sizes
        self._turn = 0

    def read1(self, size: int = -1) -> bytes:
        self._turn += 1
        return self._data.read(self._sizes[self._turn % len(self._sizes)])


def lines(
    data: bytes, sizes: list[int], flaws: Damage | None = None
) -> tuple[list[bytes], BadRows]:
    source = OpenInput("t.csv", Pieces(data, sizes), data, flaws or Damage())  # type: ignore[arg-type]
    bad = BadRows("t.csv", strict=False)
    found, expected_line = [], 1
    for line, block in module.blocks(source, Interrupts(), bad):
        assert block.endswith(b"\n")
        assert b"\r" not in block
        # a line that is too long is counted, but not among these
        assert line - expected_line == sum(expected_line <= row.line < line for row in bad.first)
        found += block[:-1].split(b"\n")
        expected_line = line + block.count(b"\n")
    return found, bad


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b"", b"bc"]), max_size=40),
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
    st.integers(1, 30),
)
def test_lines_do_not_depend_on_reads_and_line_ends(
    parts: list[bytes], sizes: list[int], size: int
):
    data = b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", size)
        found, bad = lines(data, sizes)
    assert found == data.splitlines()
    assert bad.count == 0


def test_line_that_never_ends_is_not_held_and_is_one_bad_row():
    data = b"5\n" + b"x" * 5_000_000 + b"\r\n6\n7"
    found, bad = lines(data, [65_536])
    assert [line for line in found if line] == [b"5", b"6", b"7"]
    assert (bad.count, bad.first[0].line) == (1, 2)
    assert "5,000,000 bytes" in bad.first[0].found


def test_damaged_input_loses_its_last_line_with_a_word():
    found, bad = lines(b"5\n6\n7", [2], Damage(cut=True))
    assert found == [b"5", b"6"]
    assert (bad.first[0].line, bad.first[0].found) == (3, "'7', cut short")
