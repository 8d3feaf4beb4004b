"""Captured lists of every form, cut, doubled, reordered and spoilt, and what they may then say."""

from __future__ import annotations

import functools
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conftest import CAPTURES, ROOT

from prefetch_advisor.errors import AdvisorError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources import InputOptions, read_inputs
from prefetch_advisor.sources.json_text import unescape

_FORMS = (".csv", ".table", ".pretty_table", ".erlang", ".kvp", ".long", ".tsv", ".txt", ".json")
#: an integer below the one given
Pick = Callable[[int], int]
WILD = ('"', ",", "\t", "\n", "|", "│", "\x1b", "é", "9", " ", "<<", "[", "{", "}", ":", "=", "\\")
WILD += ("  ", "'", "-", "\r\n", "#", "漢", "\u200b", "None", "Listing queues ...\n", "$ ")
#: longer texts are cut to a part first, so that many can be tried
_LONGEST = 3_000


def captured() -> list[Path]:
    """Files of lists in every form."""
    files = [
        *(p for version in ("3.10", "4.3") for p in (CAPTURES / version / "ctl").glob("list_*")),
        *(p for version in ("3.10", "4.3") for p in (CAPTURES / version / "admin").iterdir()),
        *(ROOT / "tests" / "data" / "lists").iterdir(),
    ]
    return sorted(path for path in files if path.suffix in _FORMS and path.stat().st_size)


@functools.cache
def text_of(path: Path) -> str:
    return path.read_text("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A text, what it was made of, and whether only whole lines of it moved."""

    text: str
    files: tuple[Path, ...]
    by_line: bool
    cut: bool


def spoilt(pick: Pick, files: list[Path]) -> Spoilt:
    """One such text."""
    used = [files[pick(len(files))]]
    text = text_of(used[0])
    if len(text) > _LONGEST and pick(8):
        text = _part(pick, text)
    by_line, cut = True, False
    for _ in range(pick(5)):
        lines = text.split("\n")
        at, to = pick(len(lines)), pick(len(lines))
        turn = pick(8)
        if turn == 0:
            text, cut = text[: pick(len(text) + 1)], True
        elif turn == 1:
            text = "\n".join([*lines[:to], lines[at], *lines[to:]])
        elif turn == 2:
            lines[at], lines[to] = lines[to], lines[at]
            text = "\n".join(lines)
        elif turn == 3:
            text = "\n".join(lines[:at] + lines[at + 1 :])
        elif turn == 4:
            used.append(files[pick(len(files))])
            text = f"{text}\n{_part(pick, text_of(used[-1]))}"
            # a line that was cut is one in the middle now
            by_line = by_line and not cut
        elif turn == 5:
            text = "\n".join(lines[at:])
        elif text:
            place, by_line = pick(len(text)), False
            text = text[:place] + WILD[pick(len(WILD))] + text[place + pick(2) :]
    return Spoilt(text, tuple(used), by_line, cut)


def _part(pick: Pick, text: str) -> str:
    """The first lines and some that follow each other."""
    lines = text.split("\n")
    first, start, count = pick(6), pick(len(lines)), pick(12)
    return "\n".join([*lines[:first], *lines[max(first, start) : start + count]])


def read(text: str) -> list[Intake] | None:
    """What is read of a text; ``None``: it is refused."""
    raw = text.encode("utf-8", "surrogateescape")
    try:
        return read_inputs(["-"], InputOptions(), io.BufferedReader(io.BytesIO(raw)))
    except AdvisorError as error:
        # one line that says which input
        assert "\n" not in str(error), error
        assert "stdin" in str(error), error
        return None


@functools.cache
def true_names() -> frozenset[str]:
    """Every queue that a captured file names."""
    return frozenset(name for path in captured() for name in _names(read(text_of(path)) or []))


def _names(intakes: list[Intake]) -> Iterator[str]:
    for intake in intakes:
        yield from (queue.name for queue in intake.queues)
        yield from (consumer.queue for consumer in intake.consumers)


def invented(one: Spoilt, intakes: list[Intake]) -> list[str]:
    """Names of queues that nothing in the text says.

    Where lines were moved and nothing else, none but those that the brokers had, or the beginning
    of one where the text ends within it.
    """
    true = true_names()
    found = []
    for name in _names(intakes):
        # without a UTF-8 locale names are escaped; beside other text they stay as they are
        if name in true or (name.isascii() and unescape(name)[0] in true):
            continue
        # ESC of a document whose first line is gone, by which its reversed digits are known
        if name.replace("\ub100", "\x1b") in true:
            continue
        if one.by_line:
            ends = one.text.endswith(name) and "\t" not in name
            whole = one.cut and (ends or any(known.startswith(name) for known in true))
        else:
            whole = _said(name, one.text)
        if not whole:
            found.append(name)
    return found


def _said(name: str, text: str) -> bool:
    plain = unescape(text)[0].replace("\r", "")
    forms = (name, name.replace('"', '""'), *_erlang(name))
    lower = text.lower()
    if any(form.lower() in lower for form in _json(name)):
        return True
    # a backslash in front of any character may be an escape
    texts = (text, plain, text.replace("\\", ""))
    return any(form in one for form in forms for one in texts) or any(
        form in re.sub(r"\s|(?<!\d)0+(?=\d)", "", text) for form in _numbers(name)
    )


def _json(name: str) -> Iterator[str]:
    for ascii_ in (True, False):
        shown = json.dumps(name, ensure_ascii=ascii_)[1:-1]
        yield shown
        # rabbitmqctl up to 4.0 reverses the digits
        yield shown.replace("\\u001b", "\\uB100")


def _erlang(name: str) -> Iterator[str]:
    raw = name.encode("utf-8", "surrogateescape")
    for shown in (name, raw.decode("latin-1")):
        escaped = shown.replace("\\", "\\\\").replace('"', '\\"')
        for character, letter in zip("\x1b\t\x7f\v\b\f\n\r", "etdvbfnr", strict=True):
            escaped = escaped.replace(character, f"\\{letter}")
        yield escaped
        # what a backslash makes of the s behind it
        yield escaped.replace(" ", "\\s")


def _numbers(name: str) -> Iterator[str]:
    yield ",".join(map(str, name.encode("utf-8", "surrogateescape")))
