"""Side by side: two commands in turn, A B A B ..., and the ratio of each pair.

Whole processes are timed, start-up included, with the operating system's own accounting of each.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: what runs: a command, or two joined by a pipe
Command = Sequence[str] | tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took."""

    seconds: float
    #: largest resident size, bytes
    peak: int


def run(command: Sequence[str], feeder: Sequence[str] | None = None) -> Cost:
    """One run of ``command``, its standard input the output of ``feeder``."""
    start = time.perf_counter()
    source = None
    if feeder is not None:
        source = subprocess.Popen(feeder, stdout=subprocess.PIPE)
    process = subprocess.Popen(
        command,
        stdin=source.stdout if source is not None else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    if source is not None and source.stdout is not None:
        source.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if source is not None:
        source.wait()
    if status != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {status}")
    return Cost(seconds, usage.ru_maxrss * 1024)


def compare(
    title: str,
    ours: Callable[[], Cost],
    others: dict[str, Callable[[], Cost]],
    at_most: float | None = None,
    times: int = 5,
) -> None:
    """Print a row for ours and for each other: median seconds, peak memory, median pair ratio."""
    for first in (ours, *others.values()):
        first()  # warm caches
    costs: dict[str, list[Cost]] = {name: [] for name in ("prefetch-advisor", *others)}
    for _ in range(times):
        costs["prefetch-advisor"].append(ours())
        for name, other in others.items():
            costs[name].append(other())
    print(f"\n{title}" + (f" (must stay within {at_most:g}x)" if at_most else ""))
    for name, seen in costs.items():
        ratios = [
            mine.seconds / other.seconds
            for mine, other in zip(costs["prefetch-advisor"], seen, strict=True)
        ]
        print(
            f"  {name:<28} {statistics.median(c.seconds for c in seen):8.2f} s"
            f" {max(c.peak for c in seen) / 1e6:8.0f} MB"
            f"   ours / this: {statistics.median(ratios):5.2f}"
            f" ({min(ratios):.2f} to {max(ratios):.2f})"
        )


def python(code: str) -> list[str]:
    """A command that runs a line of Python with this interpreter."""
    return [sys.executable, "-c", code]


def advisor(*arguments: str) -> list[str]:
    """The product's command."""
    return [sys.executable, "-m", "prefetch_advisor", *arguments]
