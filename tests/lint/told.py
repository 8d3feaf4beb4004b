"""What lint says of texts: for tests of kinds, judges and rules."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from prefetch_advisor.lint import run
from prefetch_advisor.lint.settings import Settings
from prefetch_advisor.model.lint import LintFinding


def lint_text(files: Mapping[str, str | bytes]) -> list[LintFinding]:
    """The findings for these files, by their relative names, as if they were all there is."""
    with written(files) as root:
        settings = Settings(base=root)
        return list(run.report(run.read(["."], root, settings), settings).findings)


def facts_in(files: Mapping[str, str | bytes]) -> list[object]:
    """What the kinds of files read out of these; nothing out of a file that none of them takes."""
    with written(files) as root:
        return run.read(["."], root, Settings(base=root)).facts


@contextmanager
def written(files: Mapping[str, str | bytes]) -> Iterator[Path]:
    """A directory that holds these files."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        for name, content in files.items():
            location = root / name
            location.parent.mkdir(parents=True, exist_ok=True)
            location.write_bytes(content.encode() if isinstance(content, str) else content)
        yield root
