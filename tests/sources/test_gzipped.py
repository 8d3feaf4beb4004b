"""Gzip, whole and damaged."""

from __future__ import annotations

import gzip
import io
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.sources.gzipped import Damage, gunzip
from prefetch_advisor.sources.opening import open_input
from prefetch_advisor.sources.timings import SampleBudget, TimingOptions, read_timings


def unpacked(data: bytes, size: int = 100) -> tuple[bytes, Damage]:
    damage = Damage()
    pieces = iter([data[at : at + size] for at in range(0, len(data), size)])
    return b"".join(gunzip(pieces, damage)), damage


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=3_000), min_size=1, max_size=3), st.integers(1, 500))
def test_members_are_unpacked_however_they_are_cut(members: list[bytes], size: int) -> None:
    whole, damage = unpacked(b"".join(map(gzip.compress, members)), size)
    assert whole == b"".join(members)
    assert damage == Damage()


def test_a_member_may_have_every_field_of_a_header() -> None:
    body = gzip.compress(b"5\n6\n", mtime=0)[10:]
    header = (
        b"\x1f\x8b\x08\x1e" + bytes(6) + b"\x03\x00abc" + b"name.csv\0" + b"a comment\0" + b"hc"
    )
    for size in (1, 7, 100):
        assert unpacked(header + body, size) == (b"5\n6\n", Damage())
    for end in range(2, len(header)):
        assert unpacked(header[:end])[1].truncated


@pytest.mark.parametrize("at", [-8, -1])
def test_a_wrong_checksum_or_length_loses_nothing(at: int) -> None:
    data = bytearray(gzip.compress(b"queue,p_ms\n" + b"tasks,5\n" * 2_000))
    data[at] ^= 1
    with open_input("-", io.BytesIO(bytes(data))) as source:
        found = read_timings(source, TimingOptions(), SampleBudget())
    assert (found.timings[0].rows, found.bad_count) == (2_000, 0)
    assert found.notes == (
        "stdin: the gzip checksum does not match: the rows are used, some may be damaged",
    )


def test_what_comes_before_damage_is_used_without_zlib_s_words() -> None:
    plain = os.urandom(60_000).hex().encode()
    data = bytearray(gzip.compress(plain))
    data[40_000:40_100] = b"\xff" * 100
    whole, damage = unpacked(bytes(data))
    assert damage.found
    # damage inside a block may decode to something for a while
    pairs = enumerate(zip(whole, plain, strict=False))
    same = next((at for at, (one, two) in pairs if one != two), len(whole))
    assert same > 50_000
    assert "Error" not in damage.found[0]


def test_a_missing_end_is_told_once() -> None:
    data = gzip.compress(os.urandom(20_000).hex().encode())
    for missing in (1, 8, 9, 5_000):
        _, damage = unpacked(data[:-missing])
        assert damage.truncated
        assert damage.found == []
        assert damage.cut is (missing > 8)
