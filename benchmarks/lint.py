"""A check-out whose 2,000 files are none of its business: lint against a walk over them."""

import random
import statistics
import tempfile
from pathlib import Path

from pairs import advisor, python, run

FILES = 2_000
#: seconds beyond the walk
AT_MOST = 1.0
SUFFIXES = (".py", ".yml", ".yaml", ".json", ".java", ".go", ".md", ".ts", ".properties", ".toml")
WALK = """\
import os
for directory, names, files in os.walk({!r}):
    names[:] = [name for name in names if name != '.git']
    for name in files:
        os.stat(os.path.join(directory, name))
"""


def checkout(root: Path) -> None:
    """Files of 2 to 20 kB with names as in many repositories, in directories six deep at most."""
    draw = random.Random(7)
    (root / ".git" / "info").mkdir(parents=True)
    (root / ".gitignore").write_text(
        "*.pyc\n/build/\nnode_modules/\n*.log\n!keep.log\ndist\n.env\n"
    )
    for number in range(FILES):
        depth = draw.randrange(6)
        folder = root.joinpath(*(f"part{draw.randrange(6)}" for _ in range(depth)))
        folder.mkdir(parents=True, exist_ok=True)
        lines = draw.randrange(50, 500)
        words = "key: value, 17 words that say nothing\n" * lines
        (folder / f"file{number}{draw.choice(SUFFIXES)}").write_text(words)


def main() -> None:
    """Print the comparison."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        checkout(root)
        beyond = []
        for _ in range(9):
            walked = run(python(WALK.format(folder))).seconds
            beyond.append(run(advisor("lint", folder)).seconds - walked)
    median = statistics.median(beyond)
    print(f"lint on {FILES:,} files that are none of its business, beyond a walk over them")
    print(f"  {median:.2f} s (range {min(beyond):.2f} to {max(beyond):.2f}; bound {AT_MOST} s)")


if __name__ == "__main__":
    main()
