"""One cell as people write it: decimal commas, thousands separators, units, moments of time."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from prefetch_advisor.sources.tabular.bad_rows import BadCell, show
from prefetch_advisor.units import SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

#: the decimal separator of a file; ``None``: nothing in it tells
Decimal = Literal[".", ","] | None

#: ten years, seconds: no message takes longer, so a larger figure has a wrong unit
MAX_SECONDS = 3.2e8
#: how many make a second; dividing keeps 9.401 ms the float nearest to 0.009401
PER_SECOND = {"ms": 1e3, "us": 1e6, "µs": 1e6, "μs": 1e6, "ns": 1e9}

_BLANKS = " \u00a0\u2009\u202f'’"
_BLANK_GROUPS = re.compile(
    rf"([+-]?[1-9]\d{{0,2}}(?:([{_BLANKS}])\d{{3}})(?:\2\d{{3}})*)([.,]\d+)?", re.A
)
_COMMA_GROUPS = re.compile(r"([+-]?[1-9]\d{0,2}(?:,\d{3})+)(\.\d+)?", re.A)
_DOT_GROUPS = re.compile(r"([+-]?[1-9]\d{0,2}(?:\.\d{3})+)(,\d+)?", re.A)
_COMMA_DECIMAL = re.compile(r"[+-]?(?:\d+,\d*|,\d+)", re.A)
_EITHER_COMMA = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.A)
_EITHER_DOT = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.A)
_TWO_POINTS = re.compile(r"\.[^\n]*\.")
_WITH_UNIT = re.compile(r"(.*?[\d.,])\s*([A-Za-zµμ]+)", re.A | re.S)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COUNT = re.compile(r"(-?\d+)(?:[.,](\d*))?", re.A)
_ZONE_APART = re.compile(r" (?=[+-]\d)")
#: digits of nanoseconds in one of the unit
_DIGITS = {"s": 9, "sec": 9, "ms": 6, "us": 3, "µs": 3, "μs": 3, "ns": 0}


def parse_number(text: str, decimal: Decimal = None) -> float:
    """The number in ``text``, which may be NaN or infinite.

    A cell that can be read one way only is read that way, if it does not contradict the
    ``decimal`` of the file; "1,234" and "1.234" follow it, and without one "1,234" is refused.

    Raises:
        BadCell: no number, or one that could be two.
    """
    cell = text.strip()
    if cell.isascii() and not (decimal == "," and "." in cell):
        try:
            return float(cell)
        except ValueError:
            pass
    if decimal is not None and _decimal_of(cell) not in (None, decimal):
        mark = "comma" if decimal == "," else "point"
        raise BadCell(f"a number with a decimal {mark}, as in the rows before", show(cell))
    if _EITHER_COMMA.fullmatch(cell):
        if decimal is None:
            dotted, plain = cell.replace(",", "."), cell.replace(",", "")
            raise BadCell(f"a number that is not ambiguous ({dotted} or {plain}?)", show(cell))
        return float(cell.replace(",", "." if decimal == "," else ""))
    if _COMMA_DECIMAL.fullmatch(cell) and cell != ",":
        return float(cell.replace(",", "."))
    for groups in (_COMMA_GROUPS, _DOT_GROUPS, _BLANK_GROUPS):
        if found := groups.fullmatch(cell):
            whole, fraction = found[1], found[found.re.groups]
            return float(re.sub(r"[^\d+-]", "", whole) + (fraction or "").replace(",", "."))
    raise BadCell("a number", show(text))


def split_unit(text: str) -> tuple[str, str | None]:
    """A cell such as "5ms" as its number and its unit; the unit is ``None`` where there is none."""
    found = _WITH_UNIT.fullmatch(text.strip())
    if found and (unit := unit_named(found[2])) is not None:
        return found[1], unit
    return text, None


def unit_named(name: str) -> str | None:
    """The unit that ``name`` means in any case, if it is one."""
    lower = name.lower()
    return lower if lower in SECONDS else None


def parse_seconds(text: str, unit: str | None, decimal: Decimal = None) -> float:
    """The duration in ``text``, seconds; a unit in the cell wins over ``unit``.

    Raises:
        BadCell: no number, no unit, or not a duration.
    """
    if not text.strip():
        raise BadCell("a duration", "an empty cell")
    number, own = split_unit(text)
    try:
        value = parse_number(number, decimal)
    except BadCell as bad:
        raise BadCell(bad.expected.replace("a number", "a duration"), show(text)) from bad
    if not 0 <= value < float("inf"):
        raise BadCell("a finite duration of 0 or more", show(text))
    if (own or unit) is None:
        raise BadCell("a duration with its unit, such as 5ms (or --unit)", show(text))
    seconds = to_seconds(value, own or unit or "")
    if seconds > MAX_SECONDS:
        raise BadCell("a duration below ten years", show(text))
    return seconds


def to_seconds(value: float, unit: str) -> float:
    """``value`` of ``unit`` in seconds."""
    return value / PER_SECOND[unit] if unit in PER_SECOND else value * SECONDS[unit]


def decimal_evidence(cells: Iterable[str]) -> Decimal:
    """The decimal separator that most cells of one file agree on.

    Evidence is a cell that can be read one way only: "0,5", "1.234,5", "1,234,567", "12.75".
    Without any, points are decimal points, which is how "1.234" is read, if there are no commas.
    """
    cells = list(cells)
    together = "\n".join(cells)
    if "," not in together and not _TWO_POINTS.search(together):
        # the usual case, quickly: nothing in it can be a decimal comma
        return "." if "." in together else None
    seen = {".": 0, ",": 0}
    points = commas = False
    for text in cells:
        cell = split_unit(text)[0].strip()
        points, commas = points or "." in cell, commas or "," in cell
        if (mark := _decimal_of(cell)) is not None:
            seen[mark] += 1
    if seen["."] != seen[","]:
        return "." if seen["."] > seen[","] else ","
    return "." if points and not commas else None


def _decimal_of(cell: str) -> Decimal:
    if _EITHER_COMMA.fullmatch(cell) or _EITHER_DOT.fullmatch(cell):
        return None
    if _COMMA_GROUPS.fullmatch(cell):
        return "."
    if _DOT_GROUPS.fullmatch(cell):
        return ","
    if found := _BLANK_GROUPS.fullmatch(cell):
        return "," if (found[3] or "").startswith(",") else "." if found[3] else None
    if _COMMA_DECIMAL.fullmatch(cell):
        return ","
    return "." if re.fullmatch(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", cell, re.A) else None


def parse_moment(text: str, unit: str | None = None, fallback: str | None = None) -> int:
    """Nanoseconds since the epoch in ``text``: ISO 8601, or a count of ``unit`` since any origin.

    Without a zone a time is taken as UTC: only differences matter here. Without a unit, the
    magnitude of a count tells s, ms, us and ns since 1970 apart; one too small for any of them
    has the unit ``fallback``.

    Raises:
        BadCell: neither.
    """
    cell = text.strip()
    if count := _COUNT.fullmatch(cell):
        return _counted(cell, count[1], count[2] or "", unit, fallback)
    try:
        plain = _ZONE_APART.sub("", cell.replace(" UTC", "Z")) if " " in cell else cell
        moment = datetime.fromisoformat(plain)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        since = moment - _EPOCH
    except (ValueError, OverflowError):
        raise BadCell("a time (ISO 8601 or epoch)", show(text)) from None
    seconds = since.days * 86_400 + since.seconds
    return _within(seconds * 1_000_000_000 + since.microseconds * 1_000, text)


def _counted(cell: str, whole: str, fraction: str, unit: str | None, fallback: str | None) -> int:
    size = len(whole.lstrip("-").lstrip("0"))
    if size > 19:
        raise BadCell("a time (ISO 8601 or epoch)", show(cell))
    if unit is None and size >= 9:
        unit = "s" if size <= 11 else "ms" if size <= 14 else "us" if size <= 17 else "ns"
    unit = unit or fallback
    if unit not in _DIGITS:
        raise BadCell("a time (ISO 8601 or epoch), or its unit in the column's name", show(cell))
    digits = _DIGITS[unit]
    return _within(int(whole + fraction[:digits].ljust(digits, "0")), cell)


def _within(nanoseconds: int, text: str) -> int:
    if abs(nanoseconds) > 9_000_000_000_000_000_000:
        raise BadCell("a time between 1700 and 2250", show(text))
    return nanoseconds
