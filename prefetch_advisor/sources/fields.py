"""Fields of documents that nobody promised: a value of the wrong type is unknown, and told once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from prefetch_advisor.model.observation import BadRow

#: bad rows kept to be named; the others are counted
KEPT_BAD_ROWS = 5
#: no counter of a broker is larger: 64 bits
_LARGEST = 2**64
_QUEUE_TYPES = {
    "rabbit_classic_queue": "classic",
    "rabbit_quorum_queue": "quorum",
    "rabbit_stream_queue": "stream",
}


@dataclass(slots=True)
class Doubts:
    """What one input said that could not be used."""

    where: str
    #: field -> how many values of a wrong type it had, and the first of them
    wrong: dict[str, tuple[int, str]] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    bad_count: int = 0

    def note(self, name: str, value: object) -> None:
        """Count ``value`` of the field ``name`` as unusable."""
        count, first = self.wrong.get(name, (0, shown(value)))
        self.wrong[name] = (count + 1, first)

    def bad_row(self, line: int, expected: str, found: str, where: str | None = None) -> None:
        """Leave a row out, and remember why."""
        self.bad_count += 1
        if len(self.bad) < KEPT_BAD_ROWS:
            self.bad.append(BadRow(where or self.where, line, expected, found))

    def notes(self) -> tuple[str, ...]:
        """One sentence for each field."""
        return tuple(
            f"{self.where}: {name} is unknown in {count} place{'s' if count > 1 else ''}: "
            f"it cannot be {first}"
            for name, (count, first) in self.wrong.items()
        )


def shown(value: object) -> str:
    """``value`` on one short line."""
    text = repr(value) if isinstance(value, str | int | float) or value is None else ""
    if not text:
        text = "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def count(value: object, name: str, doubts: Doubts) -> int | None:
    """A whole number of 0 or more; ``None`` for null, "" and whatever is none."""
    if type(value) is int and 0 <= value < _LARGEST:
        return value
    if value is None or value == "":
        return None
    if isinstance(value, float):
        if value.is_integer() and 0 <= value < _LARGEST:
            return int(value)
        if math.isnan(value):
            return None
    doubts.note(name, value)
    return None


def number(value: object, name: str, doubts: Doubts) -> float | None:
    """A finite number; ``None`` for null, "", NaN and whatever is none."""
    if value is None or value == "":
        return None
    if type(value) is float:
        if math.isfinite(value):
            return value
        if math.isnan(value):
            return None
    elif type(value) is int and -_LARGEST < value < _LARGEST:
        return float(value)
    doubts.note(name, value)
    return None


def text(value: object, name: str, doubts: Doubts) -> str | None:
    """Text that is not empty; ``None`` for null and ""."""
    if type(value) is str:
        return value or None
    if value is not None:
        doubts.note(name, value)
    return None


def flag(value: object, name: str, doubts: Doubts) -> bool | None:
    """``True`` or ``False``; ``None`` for null and ""."""
    if value is True:
        return True
    if value is False:
        return False
    if value is not None and value != "":
        doubts.note(name, value)
    return None


def mapping(value: object, name: str, doubts: Doubts) -> dict[str, object]:
    """An object; empty for null, "" and ``[]``, which old versions print for no arguments."""
    if type(value) is dict:
        return value
    if value is not None and value != "" and value != []:
        doubts.note(name, value)
    return {}


def settings(arguments: Mapping[str, object], policy: Mapping[str, object]) -> dict[str, object]:
    """Arguments and policy keys as one, without "x-"; the arguments win."""
    if not arguments and not policy:
        return {}
    merged: dict[str, object] = dict(policy)
    for name, value in arguments.items():
        merged[name.removeprefix("x-")] = value
    return merged


def queue_type(value: str | None, known: Mapping[str, object]) -> str | None:
    """The type as printed, in its present spelling; else what the declaration asked for."""
    if value is None:
        asked = known.get("queue-type")
        return asked if isinstance(asked, str) else None
    return _QUEUE_TYPES.get(value, value)


def ack_timeout(value: object, name: str, doubts: Doubts) -> float | None:
    """Seconds, from milliseconds; ``None`` also for "undefined" and "infinity"."""
    if value in ("undefined", "infinity"):
        return None
    milliseconds = number(value, name, doubts)
    return None if milliseconds is None or milliseconds <= 0 else milliseconds / 1000
