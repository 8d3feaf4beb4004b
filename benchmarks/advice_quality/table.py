"""The tables of the proof, made from the raw points alone: ``python .../table.py`` renews them.

docs/advice-quality.md and README.md hold them between two comments.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from cells import BESIDE, CELLS, POINTS, REPEATS, TODAY, Cell

#: of the best: what the advice must reach, and what is sufficient
REACHES, SUFFICES = 0.97, 0.99
#: of the repeats: a machine that did other things measured no curve
_DISTURBED = 0.1
#: seconds that may wait in a client without anybody noticing
_SHORT_WAIT = 0.005
_REASONS = Path(__file__).parent / "reasons.json"


@dataclass(frozen=True)
class Result:
    """A cell as it was measured."""

    cell: Cell
    advice: dict[str, Any]
    #: messages a second of each repeat, by prefetch
    rates: dict[int, list[float]]

    def rate(self, prefetch: int) -> float:
        """Median of the repeats."""
        return statistics.median(self.rates[prefetch])

    @property
    def advised(self) -> int:
        return int(self.advice["prefetch"])

    @property
    def ruled(self) -> int:
        """What the rule says with ping as the round trip."""
        return int(self.advice["rule_with_ping"])

    @property
    def best(self) -> int:
        return max(self.rates, key=self.rate)

    def share(self, prefetch: int) -> float:
        """Of the best."""
        return self.rate(prefetch) / self.rate(self.best)

    @property
    def sufficient(self) -> int:
        """The smallest that reaches 99 % of the best."""
        return min(n for n in self.rates if self.share(n) >= SUFFICES)

    @property
    def spread(self) -> float:
        """Relative, from the lowest to the highest of the repeats: the larger of advised, best."""
        return max(
            (max(self.rates[n]) - min(self.rates[n])) / self.rate(n)
            for n in (self.advised, self.best)
        )

    def buffered(self, prefetch: int) -> float:
        """Seconds that the last prefetched message waits; by the recorded processing time."""
        mean = statistics.fmean(self.advice["recorded_us"]) / 1e6
        return max(0, prefetch - self.cell.workers) * mean / self.cell.workers

    @property
    def reaches(self) -> bool:
        """97 % of the best, by the medians or within the spread of the repeats."""
        return (
            self.share(self.advised) >= REACHES
            or max(self.rates[self.advised]) >= REACHES * min(self.rates[self.best])
        )  # fmt: skip

    @property
    def small(self) -> bool:
        """At most twice the smallest sufficient prefetch, or nothing waits for long."""
        return (
            self.advised <= 2 * self.sufficient or self.buffered(self.advised) < _SHORT_WAIT
        )  # fmt: skip


def results(cells: Sequence[Cell] = CELLS) -> list[Result]:
    """All of them.

    Raises:
        ValueError: a cell is not there, or not all of its repeats.
    """
    return [_result(cell) for cell in cells]


def complete(cells: Sequence[Cell] = CELLS) -> list[Result]:
    """Those that are measured to the end."""
    there = []
    for cell in cells:
        with contextlib.suppress(ValueError):
            there.append(_result(cell))
    return there


def _result(cell: Cell) -> Result:
    advice: dict[str, Any] = {}
    rates: dict[int, list[float]] = defaultdict(list)
    if cell.file.exists():
        for text in cell.file.read_text().splitlines():
            line = json.loads(text)
            if line["what"] == "advice":
                advice = line
            else:
                rates[line["prefetch"]].append(line["messages"] / line["elapsed"])
    if not advice:
        raise ValueError(f"{cell.name}: not measured")
    for prefetch, several in rates.items():
        if len(several) != REPEATS:
            raise ValueError(f"{cell.name}: {len(several)} of {REPEATS} at prefetch {prefetch}")
    missing = {*TODAY, advice["prefetch"], advice["rule_with_ping"]} - set(rates)
    if missing:
        raise ValueError(f"{cell.name}: nothing at prefetch {sorted(missing)}")
    return Result(cell, advice, dict(rates))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _wait(seconds: float) -> str:
    if not seconds:
        return "0"
    return f"{seconds:.1f} s" if seconds >= 0.9995 else f"{1_000 * seconds:.3g} ms"


def full(measured: Sequence[Result], reasons: dict[str, str]) -> Iterator[str]:
    """A row for each cell."""
    yield (
        "| P | varies | delay | queue | client | advised | of the best | spread | 99 % from"
        " | waits | rule, ping | 1 | 10 | 100 | 250 | |"
    )
    yield "|" + " ---: | --- | ---: | --- | --- |" + " ---: |" * 10 + " --- |"
    for result in measured:
        cell = result.cell
        said = (
            f"{cell.processing:g} ms",
            "lognormal, CV 3" if cell.shape == "lognormal" else cell.shape,
            f"{cell.delay:g} ms",
            cell.queue_type,
            f"{cell.workers} threads" if cell.style == "threads" else cell.style,
            str(result.advised),
            f"{100 * result.share(result.advised):.1f} %",
            f"{100 * result.spread:.1f} %",
            str(result.sufficient),
            _wait(result.buffered(result.advised)),
            f"{result.ruled}: {_percent(result.share(result.ruled))}",
            *(_percent(result.share(n)) for n in TODAY),
            verdict(result, reasons),
        )
        yield f"| {' | '.join(said)} |"


def verdict(result: Result, reasons: dict[str, str]) -> str:
    """Nothing, or what it misses, with the reason."""
    if result.spread > _DISTURBED:
        return "too disturbed to tell"
    missed = [] if result.reaches else ["below 97 %"]
    missed += [] if result.small else ["more than twice what suffices"]
    if not missed:
        by_median = result.share(result.advised) >= REACHES
        return "" if by_median else "within the spread"
    reason = reasons.get(result.cell.name, "not explained")
    return f"{' and '.join(missed)}: {reason}"


def short(measured: Sequence[Result]) -> Iterator[str]:
    """What was advised beside what people set today, over all cells."""
    yield f"{len(measured)} of {len(CELLS)} cells are measured."
    yield ""
    yield "| prefetch | of the best, worst cell | median | at 97 % or more | longest wait |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    named: list[tuple[str, list[int]]] = [
        ("**advised**", [result.advised for result in measured]),
        ("the rule with ping", [result.ruled for result in measured]),
    ]
    named += [(str(n), [n] * len(measured)) for n in TODAY]
    for name, values in named:
        pairs = list(zip(measured, values, strict=True))
        shares = [result.share(n) for result, n in pairs]
        enough = sum(share >= REACHES for share in shares)
        waits = max(result.buffered(n) for result, n in pairs)
        yield (
            f"| {name} | {_percent(min(shares))} | {_percent(statistics.median(shares))}"
            f" | {enough} of {len(measured)} | {_wait(waits)} |"
        )


def fairness() -> Iterator[str]:
    """Two consumers and a backlog, by the prefetch of both."""
    yield "| prefetch | done after | of the ideal | mean wait | handled by each |"
    yield "| ---: | ---: | ---: | ---: | --- |"
    for line in _lines("fairness"):
        named = str(line["prefetch"] or "no limit")
        over = _percent(line["makespan"] / line["ideal"])
        first, second = line["handled"]
        done, wait = f"{line['makespan']:.2f} s", f"{line['wait']:.2f} s"
        yield f"| {named} | {done} | {over} | {wait} | {first} and {second} |"


def loads() -> Iterator[str]:
    """Utilisation and mean wait at the advised consumers and prefetch, beside the prediction."""
    yield (
        "| arrivals | consumers | prefetch | utilisation: predicted | measured | wait: predicted"
        " | measured | off |"
    )
    yield "|" + " ---: |" * 8
    for line in sorted(_lines("loads"), key=lambda line: line["rate"]):
        means = line["wait_of_batches"]
        # t for 19 degrees of freedom
        half = 2.093 * statistics.stdev(means) / math.sqrt(len(means))
        said = (
            f"{line['rate']:g}/s",
            str(line["consumers"]),
            str(line["prefetch"]),
            f"{100 * line['predicted_utilisation']:.1f} %",
            f"{100 * line['utilisation']:.1f} %",
            f"{1_000 * line['predicted_wait']:.2f} ms",
            f"{1_000 * line['wait']:.2f} ± {1_000 * half:.2f} ms",
            f"{100 * (line['wait'] / line['predicted_wait'] - 1):+.0f} %",
        )
        yield f"| {' | '.join(said)} |"


def _lines(what: str) -> list[dict[str, Any]]:
    file = POINTS / f"consumers-{what}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def blocks() -> dict[str, str]:
    """By the name of its comment."""
    reasons = json.loads(_REASONS.read_text())
    measured = complete()
    return {
        "advice-quality": "\n".join(short(measured)),
        "advice-quality-cells": "\n".join(full(measured, reasons)),
        "advice-quality-beside": "\n".join(full(complete(BESIDE), reasons)),
        "advice-quality-fairness": "\n".join(fairness()),
        "advice-quality-loads": "\n".join(loads()),
    }


def renewed(text: str, made: dict[str, str]) -> str:
    """The text with what stands between ``<!-- NAME -->`` and ``<!-- end -->`` replaced."""
    for name, block in made.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(pattern, lambda m, b=block: f"{m[1]}\n{b}\n\n{m[2]}", text, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    made = blocks()
    for file in (ROOT / "README.md", ROOT / "docs/advice-quality.md"):
        file.write_text(renewed(file.read_text(), made))
    print("\n\n".join(made.values()))
