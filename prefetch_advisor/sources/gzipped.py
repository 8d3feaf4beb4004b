"""Gzip undone piece by piece, with as much of a damaged file as there is."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

MAGIC = b"\x1f\x8b"
#: what is handed to the decompressor at once: what a damaged part of it holds is lost
_PART = 4_096
_MOST = 1 << 20
_EXTRA, _NAME, _COMMENT, _HEADER_CHECK = 4, 8, 16, 2


@dataclass(slots=True)
class Damage:
    """What was found wrong with an input as a whole."""

    #: in words, without the name of the input
    found: list[str] = field(default_factory=list)
    #: it ends too early
    truncated: bool = False
    #: the end is missing for that or another reason, so that the last line may be cut
    cut: bool = False


def gunzip(pieces: Iterator[bytes], damage: Damage) -> Iterator[bytes]:
    """What can be unpacked of one or more gzip members (RFC 1952)."""
    source = _Bytes(pieces)
    first = True
    while start := source.take(len(MAGIC)):
        if start != MAGIC:
            if not first and not start.strip(b"\0") and source.only_zeros():
                return
            damage.found.append("what follows the gzip data was left out")
            return
        first = False
        if not source.skip_header():
            _truncated(damage)
            return
        yield from _member(source, damage)
        if damage.cut:
            return


def _member(source: _Bytes, damage: Damage) -> Iterator[bytes]:
    """One member after its header; the checksum is looked at only when all is unpacked."""
    decoder = zlib.decompressobj(wbits=-15)
    check = size = 0
    while not decoder.eof:
        data = decoder.unconsumed_tail or source.some(_PART)
        try:
            unpacked = decoder.decompress(data, _MOST) if data else decoder.flush()
        except zlib.error:
            damage.found.append("the gzip data is damaged: what comes before the damage is used")
            damage.cut = True
            return
        check = zlib.crc32(unpacked, check)
        size += len(unpacked)
        if unpacked:
            yield unpacked
        if not data and not decoder.eof:
            _truncated(damage)
            return
    source.give_back(decoder.unused_data)
    trailer = source.take(8)
    if len(trailer) < 8:
        # everything is there but the checksum
        damage.truncated = True
    elif trailer != check.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little"):
        damage.found.append(
            "the gzip checksum does not match: the rows are used, some may be damaged"
        )


def _truncated(damage: Damage) -> None:
    damage.truncated = damage.cut = True


class _Bytes:
    """Pieces of bytes, taken in any portions."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes, fewer only at the end."""
        while len(self._left) < count and (piece := next(self._pieces, b"")):
            self._left += piece
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def some(self, most: int) -> bytes:
        """At most ``most`` bytes, without waiting for more than one; empty at the end."""
        if not self._left:
            self._left = next(self._pieces, b"")
        taken, self._left = self._left[:most], self._left[most:]
        return taken

    def give_back(self, data: bytes) -> None:
        self._left = data + self._left

    def only_zeros(self) -> bool:
        """Whether nothing but padding is left."""
        while data := self.some(_MOST):
            if data.strip(b"\0"):
                return False
        return True

    def skip_header(self) -> bool:
        """Read past a member's header, after the magic; whether it is all there."""
        fixed = self.take(8)
        if len(fixed) < 8:
            return False
        flags = fixed[1]
        if flags & _EXTRA:
            length = int.from_bytes(self.take(2), "little")
            if len(self.take(length)) < length:
                return False
        for flag in (_NAME, _COMMENT):
            while flags & flag and (byte := self.take(1)) != b"\0":
                if not byte:
                    return False
        return not flags & _HEADER_CHECK or len(self.take(2)) == 2
