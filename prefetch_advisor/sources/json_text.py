"""Bytes into JSON documents: encodings, rabbitmqctl's broken escapes, errors with the place."""

from __future__ import annotations

import codecs
import json
import re

import orjson

from prefetch_advisor.errors import InputError

#: rabbitmqctl lays its JSON and its stream of JSON out like this and no other tool does
_CTL_LAYOUT = re.compile(r"\A\s*(?:\[\r?\n\{|\{\"[^\n]*\}\r?\n\r?\n)")
#: escapes that rabbitmqctl gets wrong; each other escape is consumed whole, so that \\x{43E} stays
_ESCAPE = re.compile(r"\\(?:x\{([0-9A-Fa-f]{1,6})\}|u([0-9A-F])([01])00|.)", re.DOTALL)
_REVERSED = re.compile(r"\\u[0-9A-F][01]00")
_PLAIN_ESCAPE = re.compile(r"\\x\{([0-9A-Fa-f]{1,6})\}")
#: what is left of an escape (rabbitmqctl's too) or a number at the very end
_CUT = re.compile(r"\\?(?:u[0-9A-Fa-f]{0,4}|x(?:\{[0-9A-Fa-f]{0,6})?)|-|\.|[eE][+-]?")
CUT_OFF = "the file is cut off"
_WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")


def decode(raw: bytes) -> str:
    """UTF-8 text with or without a byte order mark; bytes that are none as lone surrogates."""
    return raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def unescape(text: str) -> tuple[str, bool]:
    r"""Plain text with ``\x{43E}``, which rabbitmqctl prints without a UTF-8 locale, decoded.

    Only pure ASCII text can have come from such a locale; a name of other text that looks like an
    escape is left alone. Also whether anything was decoded.
    """
    if "\\x{" not in text or not text.isascii():
        return text, False
    decoded = _PLAIN_ESCAPE.sub(lambda found: _character(found[1]) or found[0], text)
    return decoded, decoded != text


def repair(text: str) -> tuple[str, tuple[str, ...]]:
    r"""JSON text with rabbitmqctl's own escapes made valid, and what was done.

    Without a UTF-8 locale it prints ``\x{43E}``, which is not JSON. Up to 4.0 it prints control
    characters with the digits reversed, ESC as ``\uB100``: other characters are never escaped
    there, so that a hangul U+B100 in a name is printed as itself and cannot be confused with it.
    """
    hexadecimal = "\\x{" in text
    backwards = bool(_CTL_LAYOUT.match(text)) and _REVERSED.search(text) is not None
    if not hexadecimal and not backwards:
        return text, ()

    def mend(found: re.Match[str]) -> str:
        if found[1] is not None:
            character = _character(found[1])
            return json.dumps(character)[1:-1] if character else found[0]
        if found[2] is not None and backwards:
            return f"\\u00{found[3]}{found[2]}"
        return found[0]

    mended = _ESCAPE.sub(mend, text)
    notes = []
    if hexadecimal and mended != text:
        notes.append("\\x{...} in names was decoded: rabbitmqctl ran without a UTF-8 locale")
    if backwards:
        notes.append("control characters that rabbitmqctl prints reversed were put right in names")
    return mended, tuple(notes)


def documents(text: str, where: str) -> list[object]:
    """The JSON documents of ``text``, one after another.

    Raises:
        InputError: the text is not JSON or ends too early; the message names line and column.
    """
    try:
        return [orjson.loads(text)]
    except orjson.JSONDecodeError:
        pass  # NaN, names that are not UTF-8, several documents, a mistake to be named
    try:
        return [json.loads(text)]
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Extra data"):
            raise _broken(error, text, where) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: cannot be read as JSON: {_reason(error)}") from None
    return _several(text, where)


def _several(text: str, where: str) -> list[object]:
    decoder = json.JSONDecoder()
    found: list[object] = []
    position = _after_space(text, 0)
    while position < len(text):
        try:
            document, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise _broken(error, text, where) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: cannot be read as JSON: {_reason(error)}") from None
        found.append(document)
        position = _after_space(text, position)
    return found


def _after_space(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _reason(error: ValueError | RecursionError) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error).splitlines()[0]


def _broken(error: json.JSONDecodeError, text: str, where: str) -> InputError:
    rest = text[error.pos :].strip()
    cut = (
        error.msg.startswith("Unterminated string")
        or _CUT.fullmatch(rest)
        or any(word.startswith(rest) for word in _WORDS)
    )
    place = f"{where}:{error.lineno}:{error.colno}"
    if cut:
        return InputError(
            f"{place}: expected the rest of a JSON document, found its end: {CUT_OFF}"
        )
    return InputError(f"{place}: expected JSON ({error.msg.lower()}), found {rest[:40]!r}")


def _character(digits: str) -> str:
    code = int(digits, 16)
    return chr(code) if code <= 0x10FFFF else ""
