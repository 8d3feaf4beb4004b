"""Inputs opened by name: gzip and byte order marks undone, the head shown before reading."""

from __future__ import annotations

import codecs
import io
import math
import re
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.record import record
from prefetch_advisor.sources.gzipped import MAGIC, Damage, gunzip
from prefetch_advisor.sources.tabular.interrupts import Interrupts

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

HEAD = 65_536
_FORMATS = (
    (b"PK\x03\x04", "a zip archive"),
    (b"\xfd7zXZ\x00", "xz-compressed"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed"),
    (b"BZh", "bzip2-compressed"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
#: seconds to wait for another write of a pipe that has already given a line, and for all of them
_PATIENCE = 0.05
_PATIENCE_IN_ALL = 0.3


@record
class OpenInput:
    """An input ready to be read: UTF-8 or another superset of ASCII, never compressed."""

    #: what messages call it: the file name as given, "stdin"
    where: str
    #: everything, the head included
    stream: BinaryIO
    #: the first bytes of ``stream``, at most 64 KiB, not consumed; empty: the input is empty
    head: bytes
    #: what was found wrong with the input as a whole, known once ``stream`` is read to its end
    flaws: Damage = field(default_factory=Damage)
    #: Ctrl-C ends ``stream`` early, if whoever reads it enters this
    interrupts: Interrupts = field(default_factory=Interrupts)

    @property
    def damage(self) -> list[str]:
        """The flaws as sentences."""
        found = [f"{self.where}: {flaw}" for flaw in self.flaws.found]
        if self.flaws.truncated and not self.interrupts.happened:
            found.append(f"{self.where}: the gzip data ends early (truncated)")
        return found

    @property
    def cut(self) -> bool:
        """The last line may be incomplete."""
        return self.flaws.cut or self.interrupts.happened


@contextmanager
def open_input(
    name: str, stdin: BinaryIO | None = None, interrupts: Interrupts | None = None
) -> Iterator[OpenInput]:
    """Open the file ``name``, or standard input for "-"; gzip is known by its content.

    The head is what the first reads give: a pipe that pauses after a line, or goes on slowly, is
    not waited for. Ctrl-C ends the input there.

    Raises:
        InputError: missing, unreadable or binary; gzip from which nothing can be read.
    """
    interrupts = Interrupts() if interrupts is None else interrupts
    if name == "-":
        yield _prepare("stdin", _standard_input(stdin), interrupts)
        return
    try:
        # a named pipe waits here for its writer
        file = interrupts.wait_for(lambda: open(name, "rb"))  # noqa: SIM115 (closed below)
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: cannot be opened: {_reason(error)}") from error
    with file or io.BytesIO() as opened:
        yield _prepare(name, opened, interrupts)


def _standard_input(stdin: BinaryIO | None) -> BinaryIO:
    if stdin is not None:
        return stdin
    if sys.stdin is None:
        raise InputError("stdin: is closed")
    return sys.stdin.buffer


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]


def _prepare(where: str, file: BinaryIO, interrupts: Interrupts) -> OpenInput:
    damage = Damage()
    pieces = _undone(_pieces(where, file, interrupts), damage)
    start = _head(pieces, file, interrupts)
    _refuse_binary(where, start[:HEAD])
    stream = io.BufferedReader(Stream(chain((start,), pieces)), HEAD)
    opened = OpenInput(where, stream, start[:HEAD], damage, interrupts)
    if opened.damage and not start:
        raise InputError(f"{opened.damage[0]}: nothing could be read")
    return opened


def _head(pieces: Iterator[bytes], file: BinaryIO, interrupts: Interrupts) -> bytes:
    start, enough = b"", math.inf
    for piece in pieces:
        start += piece
        if enough == math.inf and (b"\n" in piece or b"\r" in piece):
            enough = time.monotonic() + _PATIENCE_IN_ALL
        if len(start) >= HEAD or interrupts.happened or time.monotonic() >= enough:
            break
        if enough != math.inf and not _ready(file):
            break
    return start


def _ready(file: BinaryIO) -> bool:
    """Whether more can be read soon; a file always says yes."""
    try:
        return bool(select.select([file.fileno()], [], [], _PATIENCE)[0])
    except (OSError, ValueError):  # in memory, or not a thing that can be waited for
        return True


def _pieces(where: str, file: BinaryIO, interrupts: Interrupts) -> Iterator[bytes]:
    while True:
        try:
            piece = interrupts.read(file)
        except (OSError, ValueError) as error:
            raise InputError(f"{where}: cannot be read: {_reason(error)}") from error
        if not piece:
            return
        yield piece


def _undone(pieces: Iterator[bytes], damage: Damage) -> Iterator[bytes]:
    """``pieces`` without gzip, without a byte order mark, and in UTF-8 if they were UTF-16."""
    start, pieces = _at_least(pieces, 2)
    if start.startswith(MAGIC):
        pieces = gunzip(pieces, damage)
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


class Stream(io.RawIOBase):
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
