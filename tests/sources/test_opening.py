"""Opening of inputs: by content, never by name."""

import gzip
import io
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.opening import HEAD, open_input

TABLE = b"queue,processing_ms\n" + b"tasks,5.1\n" * 50


def read(data: bytes) -> tuple[bytes, list[str]]:
    with open_input("-", io.BytesIO(data)) as source:
        whole = source.stream.read()
        assert whole.startswith(source.head)
        return whole, source.damage


def test_head_is_not_consumed_and_bounded():
    data = TABLE * 1_000
    with open_input("-", io.BytesIO(data)) as source:
        assert source.where == "stdin"
        assert source.head == data[:HEAD]
        assert source.stream.read() == data


def test_gzip_is_known_by_its_content(tmp_path: Path):
    path = tmp_path / "timings.csv"
    path.write_bytes(gzip.compress(TABLE) + gzip.compress(b"tasks,6\n"))
    with open_input(str(path)) as source:
        assert source.head.startswith(b"queue,")
        assert source.stream.read() == TABLE + b"tasks,6\n"
        assert source.damage == []
        assert source.where == str(path)


def test_truncated_gzip_gives_what_can_be_read_and_says_so():
    data = os.urandom(3_000).hex().encode()
    whole, damage = read(gzip.compress(data)[:-700])
    assert data.startswith(whole)
    assert 1_000 < len(whole) < len(data)
    assert damage == ["stdin: the gzip data ends early (truncated)"]


def test_gzip_followed_by_something_else_is_told():
    whole, damage = read(gzip.compress(TABLE) + b"rubbish")
    assert whole == TABLE
    assert "left out" in damage[0]
    assert read(gzip.compress(TABLE) + b"\0" * 512) == (TABLE, [])


def test_gzip_with_nothing_in_it_is_an_error():
    with (
        pytest.raises(InputError, match=r"stdin: the gzip data .*nothing could be read"),
        open_input("-", io.BytesIO(gzip.compress(TABLE)[:11])),
    ):
        pass


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_byte_order_marks_are_understood(encoding: str):
    text = "queue,processing_ms\r\nbestellungen-für-ß,5\r\n"
    mark = "\ufeff" if encoding.endswith("e") else ""
    data = (mark + text).encode(encoding)
    assert read(data)[0] == text.encode()
    assert read(gzip.compress(data))[0] == text.encode()


def test_latin_1_passes_untouched():
    assert read("queue,ms\nfür,5\n".encode("latin-1"))[0] == b"queue,ms\nf\xfcr,5\n"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"queue\0ms", "NUL byte at offset 5"),
        (b"PK\x03\x04" + bytes(range(200)), "zip archive"),
        (b"\x01\x02\x03\x04abc", "4 control bytes"),
        ("queue,ms\n".encode("utf-32"), "NUL byte"),
    ],
)
def test_binary_content_is_refused(data: bytes, told: str):
    with pytest.raises(InputError, match=f"stdin: binary content.*{told}"):
        read(data)


def test_escape_sequences_in_text_are_not_binary():
    text = b"queue,ms\n" + b"\x1b[31mred\x1b[0m,5\n" * 20
    assert read(text)[0] == text


def test_missing_file_and_directory_are_named(tmp_path: Path):
    for path, reason in ((tmp_path / "no.csv", "no such file"), (tmp_path, "is a directory")):
        with (
            pytest.raises(InputError, match=f"{path}: cannot be opened: {reason}"),
            open_input(str(path)),
        ):
            pass


def test_a_name_that_cannot_be_one_is_an_error():
    with pytest.raises(InputError, match="cannot be opened"), open_input("a\0b"):
        pass


def test_pipe_that_pauses_after_a_line_is_not_waited_for():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe, os.fdopen(writing, "wb", buffering=0) as writer:
        writer.write(b"queue,ms\n")
        start = time.monotonic()
        with open_input("-", pipe) as source:
            assert time.monotonic() - start < 5
            assert source.head == b"queue,ms\n"
            writer.write(b"tasks,5\n")
            writer.close()
            assert source.stream.read() == b"queue,ms\ntasks,5\n"


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=400), st.integers(0, 400))
def test_any_bytes_open_or_are_refused(data: bytes, cut: int):
    for candidate in (data, gzip.compress(data)[:cut], b"\xff\xfe" + data, b"\x1f\x8b" + data):
        try:
            whole, _ = read(candidate)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert isinstance(whole, bytes)
