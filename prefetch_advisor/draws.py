"""Processing times drawn from a distribution: the same for a seed on every platform and Python.

Every value is made of one number of ``random.Random(seed).random()``, which the language keeps the
same for ever, by the inverse of the distribution function.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Literal, get_args

from prefetch_advisor.statistics import gamma_quantiles, normal_quantiles

Shape = Literal["constant", "exponential", "lognormal", "gamma", "bimodal"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
#: share of the messages of a bimodal distribution that are long
LONG_SHARE = 0.1
#: the short ones take no time at this CV: sqrt((1 - share) / share)
MOST_BIMODAL = math.sqrt((1 - LONG_SHARE) / LONG_SHARE)
#: values that are made at once
_BLOCK = 4_096


def cv_of(shape: Shape, cv: float | None) -> float:
    """The coefficient of variation: the one given, or what the shape has.

    Raises:
        ValueError: the shape cannot have it.
    """
    fixed = {"constant": 0.0, "exponential": 1.0}.get(shape)
    if fixed is not None:
        if cv is not None and cv != fixed:
            raise ValueError(f"{shape} times have a CV of {fixed:g}, not {cv:g}")
        return fixed
    chosen = 1.0 if cv is None else cv
    if not chosen > 0:
        raise ValueError(f"{shape} times have a CV above 0")
    if shape == "bimodal" and chosen >= MOST_BIMODAL:
        raise ValueError(
            f"times of which {LONG_SHARE:.0%} are long have a CV below {MOST_BIMODAL:g}"
        )
    return chosen


def draws(shape: Shape, mean: float, cv: float | None, seed: int) -> Iterator[float]:
    """Times of this mean and CV without end; seconds.

    ``bimodal``: nine in ten are short and one is long, each kind constant.

    Raises:
        ValueError: the shape cannot have that CV.
    """
    chosen = cv_of(shape, cv)
    if shape == "constant":
        return repeat(mean)
    return _scaled(_inverse(shape, chosen), mean, seed)


def _scaled(
    inverse: Callable[[list[float]], list[float]], mean: float, seed: int
) -> Iterator[float]:
    draw = random.Random(seed).random
    while True:
        # 1 - u is never 0, of which there is no quantile
        shares = [1.0 - draw() for _ in range(_BLOCK)]
        yield from (value * mean for value in inverse(shares))


def _inverse(shape: Shape, cv: float) -> Callable[[list[float]], list[float]]:
    """Values of mean 1 that these shares of all values stay above."""
    if shape == "exponential":
        return lambda shares: [-math.log(share) for share in shares]
    if shape == "lognormal":
        sigma = math.sqrt(math.log1p(cv * cv))
        shift = sigma * sigma / 2
        return lambda shares: [math.exp(-sigma * z - shift) for z in normal_quantiles(shares)]
    if shape == "gamma":
        form = 1 / (cv * cv)
        return lambda shares: [value / form for value in gamma_quantiles(form, shares)]
    short, long = 1 - cv / MOST_BIMODAL, 1 + cv * MOST_BIMODAL
    return lambda shares: [long if share <= LONG_SHARE else short for share in shares]
