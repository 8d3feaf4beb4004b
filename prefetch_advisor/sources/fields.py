"""Fields of documents that nobody promised: a value of the wrong type is unknown, and told once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from prefetch_advisor.errors import InputError
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
class _Wrong:
    """Values of one field that could not be used."""

    first: str
    #: whose it was
    subject: str
    records: int = 1
    #: the last record that had one
    last: int = 0


@dataclass(slots=True)
class Doubts:
    """What one input said that could not be used."""

    where: str
    #: the first value that cannot be used is an error
    strict: bool = False
    wrong: dict[str, _Wrong] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    bad_count: int = 0
    #: other things to tell
    remarks: list[str] = field(default_factory=list)
    _kind: str = ""
    _name: str = ""
    _record: int = 0

    def begin(self, kind: str, name: str) -> None:
        """The values that follow are of this queue, consumer, channel or connection."""
        self._kind = kind
        self._name = name
        self._record += 1

    def note(self, name: str, value: object) -> None:
        """Count ``value`` of the field ``name`` as unusable, once for each record.

        Raises:
            InputError: the reading is strict.
        """
        subject = f"{self._kind} {shown(self._name)}" if self._kind else ""
        if self.strict:
            of = f" of {subject}" if subject else ""
            raise InputError(f"{self.where}: {name}{of} cannot be {shown(value)}")
        known = self.wrong.get(name)
        if known is None:
            self.wrong[name] = _Wrong(shown(value), subject, last=self._record)
        elif known.last != self._record:
            known.records += 1
            known.last = self._record

    def bad_row(self, line: int, expected: str, found: str, item: bool = False) -> None:
        """Leave a row out, and remember why; ``item``: the line is a position in a JSON list."""
        self.bad_count += 1
        if len(self.bad) < KEPT_BAD_ROWS:
            self.bad.append(BadRow(self.where, line, expected, found, item))

    def notes(self) -> tuple[str, ...]:
        """One sentence for each field."""
        return (
            *(f"{self.where}: {remark}" for remark in self.remarks),
            *(self._sentence(name, wrong) for name, wrong in self.wrong.items()),
        )

    def _sentence(self, name: str, wrong: _Wrong) -> str:
        of = f" of {wrong.subject}" if wrong.subject else ""
        more = f" and of {wrong.records - 1:,} more" if wrong.records > 1 else ""
        return f"{self.where}: {name}{of}{more} is unknown: it cannot be {wrong.first}"


def shown(value: object) -> str:
    """``value`` on one short line; what is no text as JSON writes it."""
    if value is None or isinstance(value, bool):
        text = {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, float) and math.isnan(value):
        text = "NaN"
    elif isinstance(value, str | int | float):
        text = repr(value)
    else:
        text = "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def without(item: object, key: str) -> str:
    """What a row is instead of one that ``key`` names."""
    if type(item) is not dict:
        return shown(item)
    return f"{key} {shown(item[key])}" if key in item else f"an object without {key}"


def counted(number_of: int, listed: str) -> str:
    """How many of a list: "1 queue", "2 queues"."""
    return f"{number_of:,} {listed.removesuffix('s') if number_of == 1 else listed}"


def count(value: object, name: str, doubts: Doubts) -> int | None:
    """A whole number of 0 or more; ``None`` for null, "" and whatever is none."""
    if type(value) is int and 0 <= value < _LARGEST:
        return value
    if value is None or value == "":
        return None
    if isinstance(value, float) and value.is_integer() and 0 <= value < _LARGEST:
        return int(value)
    doubts.note(name, value)
    return None


def number(value: object, name: str, doubts: Doubts) -> float | None:
    """A finite number; ``None`` for null, "" and whatever is none."""
    if value is None or value == "":
        return None
    if type(value) is float:
        if math.isfinite(value):
            return value
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
