"""Start-up and small files: --help, 300 and 20,000 rows, against importing the libraries alone."""

import random
import tempfile
from pathlib import Path

from pairs import advisor, compare, python, run

LIBRARIES = python("import click, rich.table, scipy.special")


def timings(path: Path, rows: int) -> None:
    """Lognormal times of one queue, CV about 1.3, with a constant round trip given by option."""
    draw = random.Random(7)
    lines = (f"{5 * draw.lognormvariate(0, 1):.4f}\n" for _ in range(rows))
    path.write_text("processing_ms\n" + "".join(lines), encoding="ascii")


def main() -> None:
    """Print the comparison."""
    compare(
        "--help against importing click",
        lambda: run(advisor("--help")),
        {"import click": lambda: run(python("import click"))},
        at_most=2,
        times=15,
    )
    with tempfile.TemporaryDirectory() as folder:
        for rows, at_most in ((300, 3), (20_000, 4)):
            path = Path(folder) / f"{rows}.csv"
            timings(path, rows)
            compare(
                f"advise on {rows:,} rows against importing click, rich.table, scipy.special",
                lambda path=path: run(advisor("advise", str(path), "--rtt", "20ms")),
                {"imports alone": lambda: run(LIBRARIES)},
                at_most=at_most,
                times=9,
            )


if __name__ == "__main__":
    main()
