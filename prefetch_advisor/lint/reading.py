"""Reading a file that may be anything: gone, not allowed, huge, no file at all, in any encoding."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

#: generated files are larger than this, written ones are not
LARGEST = 5 * 1024 * 1024

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class TooLarge(Exception):
    """The file is larger than lint reads."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size / 1024**2:,.1f} MiB, more than {LARGEST // 1024**2} MiB")


def contents(location: Path | str, *, follow: bool = True) -> bytes:
    """The bytes of a file.

    Nothing else is opened for reading in a way that could wait: a pipe gives no end.

    Raises:
        OSError: it is gone, may not be read, is no file, or, without ``follow``, is a link.
        TooLarge: it is larger than ``LARGEST``.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    if not follow:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(location, flags)
    except ValueError as error:  # a NUL in its name
        raise FileNotFoundError(0, str(error)) from None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "not a file")
        if status.st_size > LARGEST:
            raise TooLarge(status.st_size)
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:  # it grows
        raise TooLarge(len(data))
    return data


def decoded(data: bytes) -> str:
    """The text of a file: as its byte order mark says, else UTF-8, else each byte a character."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def searchable(data: bytes) -> bytes:
    """The bytes in which ASCII can be looked for, whatever the encoding."""
    wide = any(data.startswith(mark) for mark, encoding in _MARKS if encoding != "utf-8-sig")
    return decoded(data).encode("utf-8", "surrogatepass") if wide else data
