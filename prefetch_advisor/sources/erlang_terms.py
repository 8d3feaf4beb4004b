"""Erlang terms as ``rabbitmqctl`` prints them: in cells of a table, and whole lists."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""\s*(?:
      <<\s*(?:(?P<text>(?:"(?:[^"\\]|\\.)*+"\s*)+)(?P<utf8>/utf8\s*)?
            | (?P<bytes>\d{1,3}\s*(?:,\s*\d{1,3}\s*)*+)?)>>(?P<binary>)
      | (?P<open>\[|\#?\{) | (?P<close>[\]}]) | (?P<comma>,|=>|:)
      | "(?P<string>(?:[^"\\]|\\.)*+)"
      | '(?P<quoted>(?:[^'\\]|\\.)*+)'
      | (?P<number>-?\d+(?:\.\d+(?:[eE][+-]?\d+)?)?)(?![\w@.])
      | (?P<pid>(?:\#(?:Ref|Port|Fun|PID))?<[^<>\s]+>)
      | (?P<atom>[a-zA-Z][\w@.\-]*)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ATOMS: dict[str, object] = {"true": True, "false": False, "undefined": None, "null": None}
_DEEPEST = 50
_ESCAPED = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<two>[0-9A-Fa-f]{2})|x\{(?P<hex>[0-9A-Fa-f]{1,6})\}|(?P<one>.))",
    re.DOTALL,
)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "v": "\v", "b": "\b", "f": "\f", "e": "\x1b"}
_CONTROLS |= {"s": " ", "d": "\x7f"}
_PIECE = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)


class Tuple(list[object]):
    """A tuple: a list of its elements that can be told from a list."""


class Map(list[object]):
    """A map: a list of its keys and values, in turn."""


_OPENED: dict[str, type[list[object]]] = {"[": list, "{": Tuple, "#{": Map}


def parse_terms(text: str) -> object:
    """Lists and tuples as lists; strings, binaries and atoms as text; ``None``: no term."""
    found = read_term(text, 0)
    if found is None or text[found[1] :].strip():
        return None
    return found[0]


def read_term(text: str, start: int) -> tuple[object, int] | None:
    """The term that begins at ``start``, and where it ends; ``None``: no whole term is there."""
    stack: list[list[object]] = []
    position = start
    while (found := _TOKEN.match(text, position)) is not None:
        position = found.end()
        term: object
        if found["open"]:
            if len(stack) == _DEEPEST:
                return None
            stack.append(_OPENED[found["open"]]())
            continue
        if found["close"]:
            if not stack:
                return None
            term = stack.pop()
            if (type(term) is list) != (found["close"] == "]"):
                return None
        elif found["comma"]:
            continue
        else:
            term = _scalar(found)
        if not stack:
            return term, position
        stack[-1].append(term)
    return None


def _scalar(found: re.Match[str]) -> object:
    if found["binary"] is not None:
        return _binary(found)
    if found["number"] is not None:
        digits = found["number"]
        if len(digits) > 40:
            return None
        return float(digits) if "." in digits else int(digits)
    for name in ("string", "quoted"):
        if found[name] is not None:
            return _plain(found[name])
    if found["pid"] is not None:
        return found["pid"]
    atom = found["atom"]
    return _ATOMS.get(atom, atom)


def _binary(found: re.Match[str]) -> str:
    """A binary is bytes: a name in UTF-8 stands there as numbers, or as Latin-1 where that prints.

    ``<<"caf\u00c3\u00a9">>`` is caf\u00e9, five bytes that all are printable in Latin-1.
    """
    if found["text"] is not None:
        text = "".join(_plain(piece) for piece in _PIECE.findall(found["text"]))
        if found["utf8"] or text.isascii():
            return text
        try:
            return text.encode("latin-1").decode("utf-8")
        except UnicodeError:
            return text
    numbers = [int(number) for number in (found["bytes"] or "").split(",") if number.strip()]
    if any(number > 255 for number in numbers):
        return found[0].strip()
    return bytes(numbers).decode("utf-8", "surrogateescape")


def _plain(text: str) -> str:
    return _ESCAPED.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    code = None
    if found["octal"]:
        code = int(found["octal"], 8)
    elif found["two"] or found["hex"]:
        code = int(found["two"] or found["hex"], 16)
    if code is None:
        return _CONTROLS.get(found["one"], found["one"])
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else found[0]


def arguments(value: object) -> dict[str, object] | None:
    """Arguments by name, from an object, ``[name, type, value]`` triples or pairs.

    ``None`` when ``value`` is none of these.
    """
    if value is None or value == "":
        return {}
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        return None
    named: dict[str, object] = {}
    for item in value:
        if not isinstance(item, list) or len(item) not in (2, 3) or not isinstance(item[0], str):
            return None
        named[item[0]] = item[-1]
    return named
