"""Types of options: numbers, durations and rates that are finite and within a stated range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import click

from prefetch_advisor.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

_NANOSECOND = 1e-9
_YEAR = 365 * 86_400.0
_FASTEST = 1e9
_SLOWEST = 1e-9


class Number(click.ParamType):
    """A number from ``least`` to ``most``, both included."""

    name = "number"

    def __init__(self, least: float, most: float) -> None:
        self.least, self.most = least, most

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            number = float(value)
        except ValueError:
            self._fail(value, param, ctx)
        # a NaN lies in no range
        return number if self.least <= number <= self.most else self._fail(value, param, ctx)

    def _fail(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> NoReturn:
        self.fail(
            f"expected a number from {self.least:g} to {self.most:g}, found {value!r}", param, ctx
        )


class Quantity(click.ParamType):
    """A value with its unit, read by one of :mod:`units`; 0 only where it means something."""

    def __init__(
        self,
        name: str,
        parse: Callable[[str], float],
        ends: tuple[float, float],
        range_: str,
        *,
        zero: bool,
    ) -> None:
        self.name = name
        self._parse = parse
        self._ends = ends
        self._range = f"0 or {range_}" if zero else range_
        self._zero = zero

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            parsed = self._parse(value)
        except UsageError as error:
            self.fail(str(error), param, ctx)
        least, most = self._ends
        if not (least <= parsed <= most or (self._zero and parsed == 0)):
            self.fail(f"expected {self._range}, found {value!r}", param, ctx)
        return parsed


def duration(*, zero: bool = False) -> Quantity:
    """Seconds from a text such as 5ms."""
    return Quantity(
        "duration", _duration, (_NANOSECOND, _YEAR), "a duration from 1ns to 365d", zero=zero
    )


def rate() -> Quantity:
    """Events per second from a text such as 180/s."""
    return Quantity("rate", _rate, (_SLOWEST, _FASTEST), "a rate from 1e-9/s to 1e9/s", zero=True)


def _duration(text: str) -> float:
    # here: --help needs no parser
    from prefetch_advisor.units import parse_duration

    return parse_duration(text)


def _rate(text: str) -> float:
    from prefetch_advisor.units import parse_rate

    return parse_rate(text)
