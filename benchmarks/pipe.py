"""A long pipe of timings, against merely reading it, and against DuckDB and polars.

    python benchmarks/pipe.py [MILLION_ROWS]...     5 and 20 by default

DuckDB and polars are shown where they are installed; they compute count, mean, deviation and
quantiles by queue, and keep no samples.
"""

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from pairs import Cost, advisor, compare, python, run

WRITER = """
import sys
import numpy as np
rows = int(sys.argv[1])
draw = np.random.default_rng(7)
names = np.array(["tasks", "emails", "reports", "images", "audit"])
print("timestamp,queue,processing_ms,rtt_ms")
done = 0
while done < rows:
    count = min(100_000, rows - done)
    at = 1796072000 + (done + np.arange(count)) / 5000
    queue = names[draw.integers(0, 5, count)].tolist()
    work = draw.lognormal(1.5, 0.8, count).tolist()
    trip = draw.normal(1.0, 0.05, count).tolist()
    sys.stdout.write("".join(
        f"{a:.3f},{q},{w:.4f},{t:.4f}\\n" for a, q, w, t in zip(at.tolist(), queue, work, trip)
    ))
    done += count
"""
READER = "import csv, sys\nfor row in csv.reader(sys.stdin): pass"
# the types are given: what sniffs a pipe has read the beginning away
DUCKDB = (
    'import duckdb\nprint(duckdb.sql("select queue, count(*), avg(processing_ms),'
    " stddev(processing_ms), approx_quantile(processing_ms, 0.99) from"
    " read_csv('/dev/stdin', header=true, auto_detect=false, columns={'timestamp': 'DOUBLE',"
    " 'queue': 'VARCHAR', 'processing_ms': 'DOUBLE', 'rtt_ms': 'DOUBLE'}) group by queue\"))"
)
POLARS = (
    "import polars as pl, sys\nt = pl.read_csv(sys.stdin.buffer)\n"
    'p = pl.col("processing_ms")\nprint(t.group_by("queue").agg('
    'p.count().alias("n"), p.mean().alias("m"), p.std().alias("s"), p.quantile(0.99).alias("q")))'
)


def main() -> None:
    """Print the comparison for each number of rows."""
    with tempfile.TemporaryDirectory() as folder:
        for millions in [float(text) for text in sys.argv[1:]] or [5.0, 20.0]:
            path = Path(folder) / "timings.csv"
            with path.open("w") as file:
                subprocess.run([*python(WRITER), str(int(millions * 1e6))], stdout=file, check=True)
            feeder = ["cat", str(path)]

            def fed(command: list[str], feeder: list[str] = feeder) -> Cost:
                return run(command, feeder)

            others = {"csv.reader, reading only": lambda: fed(python(READER))}
            if importlib.util.find_spec("duckdb"):
                others["DuckDB, aggregates only"] = lambda: fed(python(DUCKDB))
            if importlib.util.find_spec("polars"):
                others["polars, aggregates only"] = lambda: fed(python(POLARS))
            compare(
                f"a pipe of {millions:g} million rows, {path.stat().st_size / 1e6:.0f} MB",
                lambda: fed(advisor("advise")),
                others,
                at_most=3,
                times=3,
            )


if __name__ == "__main__":
    main()
