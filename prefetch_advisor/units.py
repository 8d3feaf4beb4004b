"""Durations, rates and sizes: parsed into seconds and per-second, printed for people."""

import math
import re

from prefetch_advisor.errors import UsageError

#: seconds in one of each unit
SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_NUMBER = r"[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_DURATION = re.compile(rf"\s*({_NUMBER})\s*([a-zµμ]*)\s*", re.IGNORECASE)
_SIZE = re.compile(rf"\s*({_NUMBER})\s*([a-z]*)\s*", re.IGNORECASE)
_RATE = re.compile(rf"\s*({_NUMBER})\s*(?:/\s*([a-z]+))?\s*", re.IGNORECASE)


def parse_duration(text: str, unit: str | None = None) -> float:
    """Seconds in ``text``, such as "5ms", "0.2 s" or, with a default ``unit``, "5".

    Raises:
        UsageError: no number, an unknown unit, a negative or non-finite value, or no unit at all.
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise UsageError(f"expected a duration such as 5ms or 0.2s, found {text!r}")
    number, suffix = found.groups()
    name = suffix.lower() or unit
    if name is None:
        raise UsageError(f"expected a duration with its unit, such as {number}ms, found {text!r}")
    if name not in SECONDS:
        raise UsageError(f"unknown unit {suffix!r} in {text!r}: use ns, us, ms, s, min or h")
    seconds = float(number) * SECONDS[name]
    if not math.isfinite(seconds) or seconds < 0:
        raise UsageError(f"expected a duration of 0 or more, found {text!r}")
    return seconds


def parse_rate(text: str) -> float:
    """Events per second in ``text``, such as "180", "180/s", "30/min" or "5000/h".

    Raises:
        UsageError: no number, an unknown unit, a negative or non-finite value.
    """
    found = _RATE.fullmatch(text)
    if found is None:
        raise UsageError(f"expected a rate such as 180/s or 30/min, found {text!r}")
    number, suffix = found.groups()
    name = (suffix or "s").lower()
    if name not in SECONDS:
        raise UsageError(f"unknown unit {suffix!r} in {text!r}: use /s, /min or /h")
    rate = float(number) / SECONDS[name]
    if not math.isfinite(rate) or rate < 0:
        raise UsageError(f"expected a rate of 0 or more, found {text!r}")
    return rate


def parse_size(text: str) -> float:
    """Bytes in ``text``, such as "4096", "20KB", "1.5 MB" or, in powers of 1,024, "256MiB".

    Raises:
        UsageError: no number, an unknown unit, a negative or non-finite value.
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        raise UsageError(f"expected a size such as 4096, 20KB or 256MiB, found {text!r}")
    number, suffix = found.groups()
    letters = suffix.lower().removesuffix("b")
    base = 1024 if letters.endswith("i") else 1000
    power = "kmgt".find(letters.removesuffix("i")) + 1 if letters else 0
    if letters and (power == 0 or len(letters.removesuffix("i")) != 1):
        raise UsageError(f"unknown unit {suffix!r} in {text!r}: use B, KB, MB, GB, TB or KiB ...")
    count = float(number) * float(base**power)
    if not math.isfinite(count) or count < 0:
        raise UsageError(f"expected a size of 0 or more, found {text!r}")
    return count


def number(value: float, digits: int = 3) -> str:
    """``value`` to ``digits`` significant digits, never in exponent form, thousands separated."""
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    if abs(value) >= 1e-4:  # from there on "g" writes no exponent
        return f"{value:.{digits}g}"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{min(decimals, 12)}f}".rstrip("0").rstrip(".")


def duration(seconds: float) -> str:
    """``seconds`` for a person: "0.62 ms", "20.1 ms", "3 min 20 s", "2.1 h"."""
    if seconds < 0:
        return "-" + duration(-seconds)
    if seconds == 0:
        return "0 s"
    if seconds < 9.995e-7:
        return f"{number(seconds * 1e9)} ns"
    if seconds < 9.995e-5:
        return f"{number(seconds * 1e6)} us"
    if seconds < 0.9995:
        return f"{number(seconds * 1e3)} ms"
    if seconds < 119.5:
        return f"{number(seconds)} s"
    if seconds < 3600:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    if seconds < 172_800:
        return f"{number(seconds / 3600)} h"
    return f"{number(seconds / 86400)} days"


def rate(per_second: float) -> str:
    """``per_second`` for a person: "146/s", "12/min"."""
    if per_second == 0 or per_second >= 0.995:
        return f"{number(per_second)}/s"
    if per_second * 60 >= 0.995:
        return f"{number(per_second * 60)}/min"
    return f"{number(per_second * 3600)}/h"


def percent(share: float) -> str:
    """``share`` of one as a percentage: "97 %", "99.9 %", "0.4 %"."""
    value = share * 100
    if 0 < value < 10 or 99 < value < 100:
        text = f"{value:.1f}"
        if text == "100.0":
            text = ">99.9"
        return f"{text.removesuffix('.0')} %"
    return f"{value:.0f} %"


def size(count: float) -> str:
    """``count`` bytes for a person, in powers of 1,000 as the broker's own pages print them."""
    for name in ("B", "kB", "MB", "GB"):
        if abs(count) < 999.5:
            return f"{number(count)} {name}"
        count /= 1000
    return f"{number(count)} TB"


def plural(count: int, noun: str) -> str:
    """``count`` with its noun: "1 row", "1,200 rows"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
