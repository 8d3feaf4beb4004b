"""The 24 cells of the proof that the advice is right, and the prefetches that each one tries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from prefetch_advisor.draws import Shape, draws

POINTS = Path(__file__).parent / "points"
#: measured at each prefetch: all of the draws, each once (a cycle that begins where it begins)
MESSAGES = 2_000
REPEATS = 3
#: what people set today
TODAY = (1, 10, 100, 250)
#: threads of the style that has them
WORKERS = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination. Milliseconds."""

    shape: Shape
    processing: float
    #: added to the path, in each direction
    delay: float
    queue_type: str
    style: str

    @property
    def name(self) -> str:
        """Of its file and on the command line."""
        return "-".join(
            (f"{self.processing:g}ms", self.shape, f"{self.delay:g}ms", self.queue_type, self.style)
        )

    @property
    def workers(self) -> int:
        return WORKERS if self.style == "threads" else 1

    @property
    def file(self) -> Path:
        return POINTS / f"{self.name}.jsonl"

    def times(self, seed: int) -> list[float]:
        """Seconds, the same for a seed, of exactly the mean that was asked for."""
        cv = 3.0 if self.shape == "lognormal" else None
        mean = self.processing / 1_000
        values = list(islice(draws(self.shape, mean, cv, seed), MESSAGES))
        scale = mean * MESSAGES / math.fsum(values) if mean else 1.0
        return [value * scale for value in values]


def _cell(line: str) -> Cell:
    shape, processing, delay, queue_type, style = line.split()
    return Cell(shape, float(processing), float(delay), queue_type, style)  # type: ignore[arg-type]


CELLS = tuple(
    map(
        _cell,
        """\
constant 0.2 0 classic blocking
constant 0.2 2.5 classic blocking
exponential 0.2 0.5 quorum blocking
lognormal 0.2 0.5 classic blocking
exponential 0.2 2.5 classic threads
constant 0.2 0.5 classic loop
constant 1 0.5 classic blocking
lognormal 1 2.5 classic blocking
exponential 1 10 quorum blocking
lognormal 1 0 quorum blocking
exponential 1 2.5 classic threads
constant 1 0.5 quorum loop
constant 5 10 classic blocking
lognormal 5 10 classic blocking
exponential 5 2.5 quorum blocking
lognormal 5 2.5 quorum threads
constant 5 0 classic threads
exponential 5 2.5 classic loop
constant 20 10 quorum threads
lognormal 20 10 classic blocking
exponential 20 0 classic blocking
lognormal 20 2.5 quorum threads
exponential 20 2.5 classic threads
constant 20 10 classic loop""".splitlines(),
    )
)
#: handlers that do nothing: reported beside the others
BESIDE = tuple(map(_cell, ("constant 0 0 classic blocking", "constant 0 2.5 classic blocking")))


def swept(cell: Cell, advised: int, rule: int) -> tuple[int, ...]:
    """Today's values, the rule's, the advised one, and others around that."""
    around = {math.ceil(share * advised) for share in (0.6, 0.8, 1.0, 1.5)}
    wanted = {*TODAY, rule, advised, *around}
    if cell.style == "loop":
        wanted.add(math.ceil(2.6 * advised))
    return tuple(sorted(n for n in wanted if n <= 400 or n == advised))
