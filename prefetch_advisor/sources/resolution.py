"""The smallest step that a timer shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from prefetch_advisor.model.timing import Floats

_STEPS = tuple(10.0**-digits for digits in range(10))


def resolution(values: Floats, printed: float | None) -> float | None:
    """The step, seconds, of which all ``values`` are multiples; ``None``: none can be seen.

    It is the smallest distance between two values where all are multiples of that (a timer of
    15.625 ms), else the largest of 1 s, 0.1 s ... 1 ns that divides them all. Values that are all
    the same show no step: then it is ``printed``, the last digit that the input prints.
    """
    distinct = np.unique(values)
    if len(distinct) < 2:
        return printed
    smallest = float(np.diff(distinct).min())
    # a difference of two floats is off by its last digits
    rounded = next((step for step in _STEPS if abs(step - smallest) < 1e-3 * step), smallest)
    return next((step for step in (rounded, *_STEPS) if _divides(step, distinct)), None)


def _divides(step: float, values: Floats) -> bool:
    if step < _STEPS[-1] / 2:
        return False
    counts = values / step
    return bool((np.abs(counts - np.rint(counts)) < 1e-3).all())
