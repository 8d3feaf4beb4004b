"""What a setting may be: each type checks a value of TOML, or the text of an INI file, and has a
JSON schema."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from prefetch_advisor import ranges
from prefetch_advisor.errors import UsageError

_PARTS = re.compile(r"[\n,]")
_WHOLE = re.compile(r"[+-]?[0-9](?:_?[0-9])*")
#: digits that Python converts, and that no value has
_MOST_DIGITS = 18
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_SHOWN = 60
CLIENTS = ("async", "loop")


class WrongValue(Exception):
    """A value that cannot be meant; ``keys`` lead to it where it lies inside of another."""

    def __init__(self, message: str, keys: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.keys = keys


class Value(ABC):
    """A type of settings."""

    #: what is expected, for a person
    expected: str

    @abstractmethod
    def parse(self, raw: object) -> Any:
        """The value, in seconds, bytes and per second.

        Raises:
            WrongValue: it cannot be meant.
        """

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""

    def from_text(self, text: str) -> object:
        """What the text of an INI file would be in TOML."""
        return text.strip()

    def wrong(self, raw: object) -> WrongValue:
        """The error for a value of another type."""
        return WrongValue(f"expected {self.expected}, found {shown(raw)}")


def shown(raw: object) -> str:
    """A value in a message, its end cut where it is long; tables and lists by their type."""
    if isinstance(raw, dict):
        return "a table"
    if isinstance(raw, list):
        return "a list"
    if isinstance(raw, bool):
        return "true" if raw else "false"
    text = repr(raw) if isinstance(raw, str | int | float) else str(raw)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@dataclass(frozen=True)
class Text(Value):
    """A text that is not empty, such as a name."""

    expected: str = "a text"
    pattern: str = r"[\s\S]+"

    def parse(self, raw: object) -> str:
        if isinstance(raw, str) and re.fullmatch(self.pattern, raw):
            return raw
        raise self.wrong(raw)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": f"^(?:{self.pattern})$"}


@dataclass(frozen=True)
class Choice(Value):
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:  # type: ignore[override]
        return f"{', '.join(self.words[:-1])} or {self.words[-1]}"

    def parse(self, raw: object) -> str:
        if isinstance(raw, str) and raw in self.words:
            return raw
        raise self.wrong(raw)

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


@dataclass(frozen=True)
class Whole(Value):
    """A whole number; ``words`` may stand in its place."""

    least: int
    most: int
    words: tuple[str, ...] = ()

    @property
    def expected(self) -> str:  # type: ignore[override]
        words = f", {' or '.join(self.words)}" if self.words else ""
        return f"a whole number from {self.least:,} to {self.most:,}{words}"

    def parse(self, raw: object) -> int | str:
        if isinstance(raw, str) and raw in self.words:
            return raw
        if isinstance(raw, int) and not isinstance(raw, bool) and self.least <= raw <= self.most:
            return raw
        raise self.wrong(raw)

    def from_text(self, text: str) -> object:
        bare = text.strip()
        return int(bare) if _WHOLE.fullmatch(bare) and len(bare) <= _MOST_DIGITS else bare

    def schema(self) -> dict[str, Any]:
        number: dict[str, Any] = {"type": "integer", "minimum": self.least, "maximum": self.most}
        return {"anyOf": [number, {"enum": list(self.words)}]} if self.words else number


@dataclass(frozen=True)
class Number(Value):
    """A number within a range."""

    least: float
    most: float

    @property
    def expected(self) -> str:  # type: ignore[override]
        return f"a number from {self.least:g} to {self.most:g}"

    def parse(self, raw: object) -> float:
        if not isinstance(raw, int | float) or isinstance(raw, bool):
            raise self.wrong(raw)
        # a NaN lies in no range
        if self.least <= raw <= self.most:
            return float(raw)
        raise self.wrong(raw)

    def from_text(self, text: str) -> object:
        bare = text.strip()
        try:
            return float(bare)
        except ValueError:
            return bare

    def schema(self) -> dict[str, Any]:
        return {"type": "number", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True)
class Flag(Value):
    """True or false."""

    expected: str = "true or false"

    def parse(self, raw: object) -> bool:
        if isinstance(raw, bool):
            return raw
        raise self.wrong(raw)

    def from_text(self, text: str) -> object:
        return _TRUTHS.get(text.strip().lower(), text.strip())

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True)
class Measure(Value):
    """A text with a number and its unit; a bare number only where that means one thing."""

    expected: str
    convert: Callable[[str], float]
    #: what such a text looks like
    pattern: str
    bare: bool = False

    def parse(self, raw: object) -> float:
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            if not self.bare:
                raise self.wrong(raw)
            raw = repr(raw)
        if not isinstance(raw, str):
            raise self.wrong(raw)
        try:
            return self.convert(raw)
        except (UsageError, ValueError) as error:
            # more digits than Python converts
            if not isinstance(error, UsageError) or len(str(error)) > 3 * _SHOWN:
                raise self.wrong(raw) from None
            raise WrongValue(str(error)) from None

    def schema(self) -> dict[str, Any]:
        text = {"type": "string", "pattern": self.pattern}
        return {"anyOf": [text, {"type": "number", "minimum": 0}]} if self.bare else text


_AMOUNT = r"^\s*\+?(?:[0-9][0-9_]*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*"
_UNITS = r"(?:[nuµμNUMm]?[sS]|[sS][eE][cC]|[mM]|[mM][iI][nN]|[hH]|[dD])"


def _duration(zero: bool) -> Callable[[str], float]:
    return lambda text: ranges.duration(text, zero=zero)


DURATION = Measure("a duration such as '20ms'", _duration(False), f"{_AMOUNT}{_UNITS}\\s*$")
DURATION_OR_ZERO = Measure("a duration such as '20ms'", _duration(True), f"{_AMOUNT}{_UNITS}\\s*$")
RATE = Measure("a rate such as '180/s'", ranges.rate, rf"{_AMOUNT}(?:/\s*{_UNITS})?\s*$", bare=True)
SIZE = Measure(
    "a size such as '20KB'",
    ranges.byte_count,
    rf"{_AMOUNT}(?:[kKmMgGtT]?[iI]?[bB]?)\s*$",
    bare=True,
)


@dataclass(frozen=True)
class PerMachine(Value):
    """A value for each kind of machine by its name; with ``alike``, or one for all of them."""

    each: Value
    alike: bool = True

    @property
    def expected(self) -> str:  # type: ignore[override]
        table = "a table with a value for each kind of machine"
        return f"{self.each.expected}, or {table}" if self.alike else table

    def parse(self, raw: object) -> Any:
        if not isinstance(raw, dict):
            if self.alike:
                try:
                    return self.each.parse(raw)
                except WrongValue:
                    if isinstance(raw, str):
                        raise
            raise self.wrong(raw)
        if not raw:
            raise WrongValue(f"expected {self.expected}, found an empty table")
        found = {}
        for name, value in raw.items():
            try:
                found[name] = self.each.parse(value)
            except WrongValue as error:
                raise WrongValue(str(error), (name,)) from None
        return found

    def from_text(self, text: str) -> object:
        """``fast = 5ms, slow = 25ms``, each part on a line of its own or between commas."""
        if "=" not in text:
            return self.each.from_text(text) if self.alike else text.strip()
        found: dict[str, object] = {}
        for part in filter(str.strip, _PARTS.split(text)):
            name, equals, value = part.partition("=")
            if not equals or not name.strip() or name.strip() in found:
                return text.strip()
            found[name.strip()] = self.each.from_text(value)
        return found

    def schema(self) -> dict[str, Any]:
        each = self.each.schema()
        table = {"type": "object", "minProperties": 1, "additionalProperties": each}
        return {"anyOf": [each, table]} if self.alike else table
