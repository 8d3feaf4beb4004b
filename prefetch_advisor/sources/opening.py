"""Inputs opened by name: gzip and byte order marks undone, the head shown before reading."""

from __future__ import annotations

import codecs
import io
import re
import select
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from prefetch_advisor.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import WriteableBuffer

HEAD = 65_536
_GZIP = b"\x1f\x8b"
_FORMATS = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\xfd7zXZ\x00", "xz-compressed"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed"),
    (b"BZh", "bzip2-compressed"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
#: seconds to wait for a second write of a pipe that has already given a line
_PATIENCE = 0.05


@dataclass(frozen=True, slots=True)
class OpenInput:
    """An input ready to be read: UTF-8 or another superset of ASCII, never compressed."""

    #: what messages call it: the file name as given, "stdin"
    where: str
    #: everything, the head included
    stream: BinaryIO
    #: the first bytes of ``stream``, at most 64 KiB, not consumed; empty: the input is empty
    head: bytes
    #: what was found wrong with the input as a whole, known once ``stream`` is read to its end
    damage: list[str] = field(default_factory=list)


@contextmanager
def open_input(name: str, stdin: BinaryIO | None = None) -> Iterator[OpenInput]:
    """Open the file ``name``, or standard input for "-"; gzip is known by its content.

    The head is what the first reads give: a pipe that pauses after a line is not waited for.

    Raises:
        InputError: missing, unreadable or binary; gzip from which nothing can be read.
    """
    if name == "-":
        yield _prepare("stdin", _standard_input(stdin))
        return
    try:
        file = open(name, "rb")  # noqa: SIM115 (closed below; only opening may fail like this)
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: cannot be opened: {_reason(error)}") from error
    with file:
        yield _prepare(name, file)


def _standard_input(stdin: BinaryIO | None) -> BinaryIO:
    if stdin is not None:
        return stdin
    if sys.stdin is None:
        raise InputError("stdin: is closed")
    return sys.stdin.buffer


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]


def _prepare(where: str, file: BinaryIO) -> OpenInput:
    damage: list[str] = []
    pieces = _undone(_pieces(where, file), where, damage)
    start, lines = b"", False
    for piece in pieces:
        start += piece
        lines = lines or b"\n" in piece or b"\r" in piece
        if len(start) >= HEAD or (lines and not _ready(file)):
            break
    _refuse_binary(where, start[:HEAD])
    if damage and not start:
        raise InputError(f"{damage[0]}: nothing could be read")
    stream = io.BufferedReader(_Stream(chain((start,), pieces)), HEAD)
    return OpenInput(where, stream, start[:HEAD], damage)


def _ready(file: BinaryIO) -> bool:
    """Whether more can be read soon; a file always says yes."""
    try:
        return bool(select.select([file.fileno()], [], [], _PATIENCE)[0])
    except (OSError, ValueError):  # in memory, or not a thing that can be waited for
        return True


def _pieces(where: str, file: BinaryIO) -> Iterator[bytes]:
    read: Callable[[int], bytes | None] = getattr(file, "read1", file.read)
    while True:
        try:
            piece = read(HEAD)
        except (OSError, ValueError) as error:
            raise InputError(f"{where}: cannot be read: {_reason(error)}") from error
        if not piece:
            return
        yield piece


def _undone(pieces: Iterator[bytes], where: str, damage: list[str]) -> Iterator[bytes]:
    """``pieces`` without gzip, without a byte order mark, and in UTF-8 if they were UTF-16."""
    start, pieces = _at_least(pieces, 2)
    if start.startswith(_GZIP):
        pieces = _gunzip(pieces, where, damage)
    start, pieces = _at_least(pieces, 3)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _from_utf16(pieces)
    if start.startswith(codecs.BOM_UTF8):
        rest = start[len(codecs.BOM_UTF8) :]
        next(pieces)
        return chain((rest,), pieces) if rest else pieces
    return pieces


def _at_least(pieces: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """The first ``size`` bytes or more, and all pieces with these joined into one in front."""
    start = b""
    for piece in pieces:
        start += piece
        if len(start) >= size:
            break
    return start, chain((start,) if start else (), pieces)


def _gunzip(pieces: Iterator[bytes], where: str, damage: list[str]) -> Iterator[bytes]:
    """What can be unpacked of one or more gzip members; what stopped it early is in ``damage``."""
    decoder = zlib.decompressobj(wbits=31)
    open_member = False
    data = b""
    for piece in pieces:
        data += piece
        while data:
            if not open_member and len(data) < len(_GZIP):
                break
            if not open_member and not data.startswith(_GZIP):
                if data.strip(b"\0"):
                    damage.append(f"{where}: what follows the gzip data was left out")
                return
            open_member = True
            try:
                unpacked = decoder.decompress(data, 1 << 20)
            except zlib.error as error:
                damage.append(f"{where}: the gzip data is damaged ({error})")
                return
            data = decoder.unconsumed_tail
            if decoder.eof:
                data = decoder.unused_data
                decoder = zlib.decompressobj(wbits=31)
                open_member = False
            if unpacked:
                yield unpacked
    if open_member:
        if rest := decoder.flush():
            yield rest
        if not decoder.eof:
            damage.append(f"{where}: the gzip data ends early (truncated)")


def _from_utf16(pieces: Iterator[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
    for piece in pieces:
        if text := decoder.decode(piece):
            yield text.encode()
    if text := decoder.decode(b"", final=True):
        yield text.encode()


def _refuse_binary(where: str, head: bytes) -> None:
    expected = "expected text such as CSV or JSON"
    for magic, kind in _FORMATS:
        if head.startswith(magic) and _CONTROL.search(head):
            raise InputError(f"{where}: binary content ({kind}): {expected}")
    if (at := head.find(b"\0")) >= 0:
        raise InputError(f"{where}: binary content (a NUL byte at offset {at}): {expected}")
    controls = len(_CONTROL.findall(head))
    if controls > max(1, 0.05 * len(head)):
        raise InputError(f"{where}: binary content ({controls} control bytes): {expected}")


class _Stream(io.RawIOBase):
    """Pieces of bytes as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        target = memoryview(buffer).cast("B")
        count = min(len(target), len(self._left))
        target[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
