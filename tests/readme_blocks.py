"""The commands that pages show, run again: ``python tests/readme_blocks.py`` renews them.

A block that is fenced as ``console`` holds commands, each on a line after "$ ", and what each
prints, to standard error too, as on a terminal. They run in the root of the repository, on 110
columns, without colour.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = (README, ROOT / "docs" / "buffers.md")
FENCED = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """One command of the README and what it is said to print."""

    command: str
    output: str


def shown(text: str) -> Iterator[Shown]:
    for block in FENCED.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield Shown(command, output.strip("\n"))


def run(command: str) -> str:
    """What the command prints where this checkout is installed."""
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory) / "prefetch-advisor"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m prefetch_advisor "$@"\n')
        program.chmod(0o755)
        environment = {
            "PATH": f"{directory}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "LANG": "C.UTF-8",
            "COLUMNS": "110",
            "NO_COLOR": "1",
        }
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode in (0, 1), f"{command}: exit {done.returncode}\n{done.stdout}"
    return "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())


def renewed(text: str) -> str:
    """The text with the output of every command as it is now."""

    def again(block: re.Match[str]) -> str:
        parts = [f"$ {one.command}\n{run(one.command)}" for one in shown(block[0])]
        return "```console\n" + "\n\n".join(part.rstrip("\n") for part in parts) + "\n```"

    return FENCED.sub(again, text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(renewed(page.read_text()))
