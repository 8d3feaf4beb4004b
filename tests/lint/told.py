"""What lint says of texts: for tests of kinds, judges and rules."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from prefetch_advisor.lint import facts_of, judge, sort
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds import KINDS
from prefetch_advisor.model.lint import LintFinding


def lint_text(files: Mapping[str, str | bytes]) -> list[LintFinding]:
    """The findings for these files, by their relative names, as if they were all there is."""
    return sort(judge(facts_in(files)))


def facts_in(files: Mapping[str, str | bytes]) -> list[object]:
    """What the kinds of files read out of these; nothing out of a file that none of them takes."""
    facts: list[object] = []
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        for name, content in files.items():
            location = root / name
            location.parent.mkdir(parents=True, exist_ok=True)
            location.write_bytes(content.encode() if isinstance(content, str) else content)
        # all are there before the first is read: one may name another
        for name in files:
            data = (root / name).read_bytes()
            for kind in KINDS:
                if kind.named(PurePosixPath(name)) and kind.holds(data):
                    text = data.decode("utf-8-sig", "surrogateescape")
                    facts += facts_of(SourceFile(name, text, root / name), kind)
                    break
    return facts
