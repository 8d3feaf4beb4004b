"""Erlang terms as ``rabbitmqctl`` prints them in a table: ``[{"x-priority",10}]``."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<open>\#?[\[{]|<<) | (?P<close>[\]}]|>>) | (?P<comma>,|=>|:)
      | "(?P<string>(?:[^"\\]|\\.)*)"
      | '(?P<quoted>(?:[^'\\]|\\.)*)'
      | (?P<number>-?\d+(?:\.\d+(?:[eE][+-]?\d+)?)?)(?![\w@.])
      | (?P<pid><[^<>\s]+>)
      | (?P<atom>[a-zA-Z][\w@.\-]*)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ATOMS: dict[str, object] = {"true": True, "false": False, "undefined": None, "null": None}
_DEEPEST = 50
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def parse_terms(text: str) -> object:
    """Lists and tuples as lists; strings, binaries and atoms as text; ``None``: no term."""
    stack: list[list[object]] = [[]]
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            return None if text[position:].strip() else _only(stack)
        position = found.end()
        if found["open"]:
            if len(stack) > _DEEPEST:
                return None
            stack.append([])
        elif found["close"]:
            if len(stack) == 1:
                return None
            inner = stack.pop()
            binary = found["close"] == ">>" and len(inner) == 1
            stack[-1].append(inner[0] if binary else inner)
        elif not found["comma"]:
            stack[-1].append(_scalar(found))
    return _only(stack)


def _only(stack: list[list[object]]) -> object:
    return stack[0][0] if len(stack) == 1 and len(stack[0]) == 1 else None


def _scalar(found: re.Match[str]) -> object:
    if found["number"] is not None:
        digits = found["number"]
        if len(digits) > 40:
            return None
        return float(digits) if "." in digits else int(digits)
    for name in ("string", "quoted"):
        if found[name] is not None:
            return _ESCAPED.sub(r"\1", found[name])
    if found["pid"] is not None:
        return found["pid"]
    atom = found["atom"]
    return _ATOMS.get(atom, atom)


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
