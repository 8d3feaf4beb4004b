"""Text from a broker or a file made safe and visible: nothing in it can act on a terminal.

Whatever has no glyph of its own is written as an escape: ``\\t``, ``\\n``, ``\\r``, ``\\xNN`` for
other ASCII controls and for a byte that was not UTF-8, ``\\uNNNN`` or ``\\UNNNNNNNN`` for the
rest, ``\\\\`` for a backslash. No two texts look the same in code points.
"""

from __future__ import annotations

import re
import unicodedata

_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
#: printable by category, yet without a glyph: fillers, joiners and variation selectors
_BLANK = frozenset(
    map(
        chr,
        (
            0x034F,
            0x115F,
            0x1160,
            0x17B4,
            0x17B5,
            *range(0x180B, 0x1810),
            0x2800,
            0x3164,
            *range(0xFE00, 0xFE10),
            0xFFA0,
            *range(0xE0100, 0xE01F0),
        ),
    )
)
_FIRST_STRONG_ISOLATE = "\u2068"
_POP_ISOLATE = "\u2069"
#: the blocks whose letters run from right to left, and what stands between two of them
_LETTERS = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]+"
_RIGHT_TO_LEFT = re.compile(rf"{_LETTERS}(?:[ _.:/-]*{_LETTERS})*")
#: an escape, or a character with the marks that combine with it
_UNIT = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|.)|.", re.DOTALL)


def _escape(char: str) -> str:
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: the byte that was read
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def escaped(text: str, ascii_only: bool = False) -> str:
    """``text`` without anything invisible, and its backslashes doubled: what it was can be told."""
    return _without_invisible(text, ascii_only, "\\")


def legible(text: str, ascii_only: bool = False) -> str:
    """``text`` without anything invisible: for prose, in which a name may be escaped already."""
    return _without_invisible(text, ascii_only, "")


def _without_invisible(text: str, ascii_only: bool, escape_too: str) -> str:
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return "".join(
        char
        # str.isprintable: no control, format, surrogate, private or unassigned character, no
        # line or paragraph separator, and of the spaces only the plain one
        if char.isprintable()
        and char != escape_too
        and char not in _BLANK
        and not (ascii_only and char > "~")
        else _escape(char)
        for char in text
    )


def escaped_name(name: str, ascii_only: bool = False) -> str:
    """A name as :func:`escaped`, without a mark that combines with what stands before it."""
    shown = escaped(name, ascii_only)
    if shown and unicodedata.category(shown[0]).startswith("M"):
        return _escape(shown[0]) + shown[1:]
    return shown


def visible(text: str, ascii_only: bool = False) -> str:
    """``text`` for a name or a cell: as :func:`escaped`, and quoted where its ends would be lost.

    Injective: quoted are the empty text, one with a space at either end, and one that starts with
    a quotation mark, so that a result starts with one only when it is quoted.
    """
    shown = escaped_name(text, ascii_only)
    if not shown or shown[0] in ' "' or shown[-1] == " ":
        return '"' + shown.replace('"', '\\"') + '"'
    return shown


def units(shown: str) -> list[str]:
    """What may not be cut in a :func:`visible` text: an escape, a letter with its marks."""
    parts: list[str] = []
    for part in _UNIT.findall(shown):
        if parts and unicodedata.category(part[0]) in ("Mn", "Me"):
            parts[-1] += part
        else:
            parts.append(part)
    return parts


def isolated(shown: str) -> str:
    """A name kept from reordering what stands beside it, where it has right-to-left letters.

    Without it a terminal that knows the bidirectional algorithm draws the numbers that follow an
    Arabic or Hebrew name on its other side. The two isolates have no width.
    """
    if shown.isascii() or not _RIGHT_TO_LEFT.search(shown):
        return shown
    return _FIRST_STRONG_ISOLATE + shown + _POP_ISOLATE


def isolated_runs(shown: str) -> str:
    """Prose with each of its right-to-left runs isolated."""
    if shown.isascii():
        return shown
    return _RIGHT_TO_LEFT.sub(rf"{_FIRST_STRONG_ISOLATE}\g<0>{_POP_ISOLATE}", shown)
