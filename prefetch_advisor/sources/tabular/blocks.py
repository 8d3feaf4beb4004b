"""An input in blocks of whole lines, however it is cut into reads and however its lines end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prefetch_advisor.sources.tabular.bad_rows import BadRows, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prefetch_advisor.sources.opening import OpenInput
    from prefetch_advisor.sources.tabular.interrupts import Interrupts

BLOCK = 262_144
#: the longest line that is read; a longer one is a bad row and is never held in memory
MAX_LINE = 1_048_576


def text(raw: bytes) -> str:
    """Bytes as text; those that are not UTF-8 become lone surrogates and survive."""
    return raw.decode("utf-8", "surrogateescape")


def blocks(source: OpenInput, interrupts: Interrupts, bad: BadRows) -> Iterator[tuple[int, bytes]]:
    r"""Whole lines, each ended by one \n: the number of the first, and the lines.

    CRLF and a lone CR count as line ends. The last line of an interrupted or damaged input may
    be cut in the middle of a number: it is a bad row.
    """
    line, held = 1, b""
    while True:
        data, ended = _fill(held, source, interrupts)
        if ended:
            if data and (source.cut or interrupts.happened):
                whole = data.rfind(b"\n") + 1
                if data[whole:].strip():
                    last = line + data.count(b"\n")
                    bad.add(last, "a complete line", show(text(data[whole:][:200])) + ", cut short")
                data = data[:whole]
            elif data and not data.endswith(b"\n"):
                data += b"\n"
        end = data.rfind(b"\n") + 1
        if end:
            yield line, data[:end]
            line += data.count(b"\n")
        held = data[end:]
        if ended:
            return
        if len(held) > MAX_LINE:
            skipped, held, ended = _skip_line(held, source, interrupts)
            bad.add(
                line,
                "a line of at most 1 MiB",
                f"{skipped:,} bytes: {show(text(data[end:][:200]))}",
            )
            line += 1


def _fill(held: bytes, source: OpenInput, interrupts: Interrupts) -> tuple[bytes, bool]:
    pieces, size = [held], 0
    while size < BLOCK:
        piece = interrupts.rest(source.stream)
        if not piece:
            return _line_ends(b"".join(pieces), ended=True), True
        pieces.append(piece)
        size += len(piece)
    return _line_ends(b"".join(pieces), ended=False), False


def _line_ends(data: bytes, ended: bool) -> bytes:
    if b"\r" not in data:
        return data
    # the other half of a CRLF may be still to come
    kept = b"\r" if data.endswith(b"\r") and not ended else b""
    whole = data[: len(data) - len(kept)]
    return whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n") + kept


def _skip_line(held: bytes, source: OpenInput, interrupts: Interrupts) -> tuple[int, bytes, bool]:
    """Read past the end of a line: how long it was, what follows it, and whether all has ended."""
    skipped = len(held)
    while piece := interrupts.rest(source.stream):
        end = min((at for at in (piece.find(b"\n"), piece.find(b"\r")) if at >= 0), default=-1)
        if end >= 0:
            after = end + (2 if piece.startswith(b"\r\n", end) else 1)
            return skipped + end, piece[after:], False
        skipped += len(piece)
    return skipped, b"", True
