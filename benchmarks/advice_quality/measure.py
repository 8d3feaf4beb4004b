"""Measures one cell, or goes on with it: record, probe, advise, and only then sweep.

    python benchmarks/advice_quality/measure.py 1ms-constant-0.5ms-classic-blocking --port 5672

Every point is a line of the cell's file as soon as it is measured; what is there is not measured
again. ``--list`` names the cells.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from cells import BESIDE, CELLS, MESSAGES, REPEATS, Cell, swept
from delay import delayed

from prefetch_advisor.bench import BenchPlan, Measured
from prefetch_advisor.bench_run import Consumer, bench_one
from prefetch_advisor.probe import ProbePlan
from prefetch_advisor.recorder import Recorder
from prefetch_advisor.simulate import Work
from prefetch_advisor.sizing import rule_prefetch
from prefetch_advisor.sources.amqp_uri import parse

#: of the times that are recorded, and of those that are swept: not the same
RECORDED, SWEPT = 11, 12
#: prefetch of the consumer that is recorded
_TODAY = 10


def main() -> None:
    """Measure what is missing of the cells named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cell", nargs="?")
    parser.add_argument("--port", type=int, default=5672, help="of a broker on this machine")
    parser.add_argument("--beside", type=int, default=1, help="points measured at the same time")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    cells = {cell.name: cell for cell in (*CELLS, *BESIDE)}
    if options.list or options.cell not in cells:
        print("\n".join(cells))
        sys.exit(not options.list)
    cell = cells[options.cell]
    known = list(lines(cell))
    advice = next((line for line in known if line["what"] == "advice"), None)
    if advice is None:
        advice = advise(cell, options.port)
        _append(cell, advice)
    there = {(line["prefetch"], line["repeat"]) for line in known if line["what"] == "point"}
    wanted = [
        (n, repeat)
        for repeat in range(REPEATS)
        for n in swept(cell, advice["prefetch"], advice["rule_with_ping"])
        if (n, repeat) not in there
    ]
    with ProcessPoolExecutor(options.beside, get_context("spawn")) as pool:
        runs = [pool.submit(_measure, cell, options.port, *point) for point in wanted]
        for run in as_completed(runs):
            _append(cell, {**run.result(), "beside": options.beside})


def lines(cell: Cell) -> Iterator[dict[str, Any]]:
    """What is measured of a cell."""
    if cell.file.exists():
        with cell.file.open() as file:
            yield from map(json.loads, file)


def _append(cell: Cell, line: dict[str, Any]) -> None:
    with cell.file.open("a") as file:
        file.write(json.dumps(line) + "\n")


def _plan(cell: Cell, port: int, seed: int) -> BenchPlan:
    times = cell.times(seed)
    work = Work(cell.processing / 1_000, 0.0, cell.name, times, tasks=True)
    uri = parse(f"amqp://localhost:{port}")
    # long enough for a loop that holds hundreds of messages
    probe = ProbePlan(uri, queue_type=cell.queue_type, timeout=60.0)
    return BenchPlan(
        probe,
        work,
        cell.style,
        cell.workers,
        messages=MESSAGES,
        duration=600.0,  # type: ignore[arg-type]
    )


def _measure(cell: Cell, port: int, prefetch: int, repeat: int) -> dict[str, Any]:
    before = os.getloadavg()[0]
    with delayed(port, cell.delay / 1_000) as path:
        measured, _, _ = bench_one(_plan(cell, path, SWEPT), prefetch)
    assert not measured.cut
    return {
        "what": "point",
        "prefetch": prefetch,
        "repeat": repeat,
        "messages": measured.messages,
        "elapsed": round(measured.elapsed, 6),
        "worked": round(measured.worked, 6),
        "at": _now(),
        "load": [round(before, 2), round(os.getloadavg()[0], 2)],
    }


def advise(cell: Cell, port: int) -> dict[str, Any]:
    """What ``advise`` says to what a recorder wrote and a probe measured; seconds."""
    with delayed(port, cell.delay / 1_000) as path, tempfile.TemporaryDirectory() as directory:
        timings = Path(directory) / "timings.csv"
        recorded = _record(cell, path, timings)
        uri = f"amqp://localhost:{path}"
        probed = _tool("probe", "--uri", uri, "--queue-type", cell.queue_type)
        rtt, ping = probed["rtt"]["mean"], probed["sync"]["p50"]
        said = _advice(cell, timings, rtt)
    return {
        "what": "advice",
        "prefetch": said["recommended"]["prefetch"],
        "rule_with_ping": rule_prefetch(said["processing_time"]["mean"], ping, cell.workers),
        "rtt": rtt,
        "ping": ping,
        "client_cost": probed["client_cost"]["mean"],
        "broker": f"{probed['broker']['product']} {probed['broker']['version']}",
        "at": _now(),
        "load": [round(part, 2) for part in os.getloadavg()],
        # microseconds: enough to advise again without measuring
        "recorded_us": [round(1e6 * value, 1) for value in recorded.durations],
    }


def _record(cell: Cell, port: int, timings: Path) -> Measured:
    recorder = Recorder(timings)

    def watch(consumer: Consumer) -> None:
        if cell.style == "threads":
            count = consumer.count

            def counted(took: float) -> None:
                recorder.record("tasks", took)
                count(took)

            consumer.count = counted  # type: ignore[method-assign]
        else:
            handler = recorder.pika(consumer._on_message, "tasks")
            consumer._on_message = handler  # type: ignore[method-assign]

    measured, _, _ = bench_one(_plan(cell, port, RECORDED), _TODAY, watch)
    assert recorder.flush()
    return measured


def _advice(cell: Cell, timings: Path, rtt: float) -> Any:
    concurrency = "loop" if cell.style == "loop" else str(cell.workers)
    said = _tool("advise", str(timings), "--rtt", f"{rtt:.9f}s", "--concurrency", concurrency)
    return said["queues"][0]


def _tool(*arguments: str) -> Any:
    command = [sys.executable, "-m", "prefetch_advisor", *arguments, "--format", "json"]
    path = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, capture_output=True, text=True, env=path, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


if __name__ == "__main__":
    main()
