"""Lines of files fit to be shown: no password in a URL, none behind a key that speaks of one.

A report ends up in logs that more people read than the file. What is masked is as long as ``***``,
so that not even the length of a password is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_MASK = "***"
#: what may hold URLs: searched for their parts by hand, since a pattern would try each "//" anew
_RUN = re.compile(r"[^\s\"'`<>]+")
_SECRET = re.compile(
    r"(?:pass(?:word|wd|phrase)|(?<![a-z])pass(?![a-z])|pwd|secret|token|credential"
    r"|(?:api|access|private)[_.-]?key)"
    r"[\w.-]{0,40}[\"']?(?:\s*(?:=>|:=|=)\s*|\s*:\s*|\s+(?=[\"']))"
    r"(?P<value>\"(?:[^\"\\]|\\.)*\"?|'[^']*'?|(?<=:\s)[^\"'{\[#,}][^#,}\"']*|[^\s\"'{\[,;&}]+)",
    re.IGNORECASE,
)


def masked(text: str, column: int) -> tuple[str, int]:
    """A line without secrets, and where in it a column of the line is, counted from 1."""
    shown, spans = _masked(text)
    shift = 0
    for start, end in spans:
        if column - 1 < start:
            break
        if column - 1 < end:
            return shown, start + shift + 1
        shift += len(_MASK) - (end - start)
    return shown, column + shift


def without_user_info(text: str) -> str:
    """Prose without the user and password of any URL in it."""
    for start, end in reversed(list(_user_infos(text))):
        text = text[:start] + _MASK + text[end:]
    return text


def _user_infos(text: str) -> Iterator[tuple[int, int]]:
    """From the first ``//`` to the last ``@`` of what no blank or quote divides."""
    if "@" not in text:
        return
    for run in _RUN.finditer(text):
        start, end = run[0].find("//") + 2, run[0].rfind("@")
        if 2 <= start < end:
            yield run.start() + start, run.start() + end


# a generated file may have all of its findings on one line of megabytes
@lru_cache(maxsize=32)
def _masked(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    found = sorted(
        [match.span("value") for match in _SECRET.finditer(text)] + list(_user_infos(text))
    )
    spans: list[tuple[int, int]] = []
    for start, end in found:
        while end > start and text[end - 1].isspace():
            end -= 1
        if text[start] in "\"'" and end - start > 1:
            start, end = start + 1, end - (text[end - 1] == text[start])
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        elif end > start:
            spans.append((start, end))
    parts: list[str] = []
    last = 0
    for start, end in spans:
        parts += (text[last:start], _MASK)
        last = end
    return "".join((*parts, text[last:])), tuple(spans)
