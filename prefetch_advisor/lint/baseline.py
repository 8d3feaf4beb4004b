"""Findings that were there before: written to a file once, and not told again.

A finding is known by its code, its file and the text of its line, blanks aside, and by which of
several alike it is; so it is known again after lines have moved.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prefetch_advisor.errors import InputError
from prefetch_advisor.lint import reading
from prefetch_advisor.model.lint import LintFinding

SCHEMA = "prefetch-advisor/baseline/1"
#: characters of a line that is not known by all of it, and those at either side it is known by
_LONG, _NEAR = 2_000, 100


def fingerprints(findings: Sequence[LintFinding]) -> list[str]:
    """One for each finding; of alike ones in a file the upper comes first."""
    seen: Counter[tuple[str, str, str]] = Counter()
    made = [""] * len(findings)
    places = [(found.place.path, found.place.line, found.place.column) for found in findings]
    for index in sorted(range(len(findings)), key=lambda index: (places[index], index)):
        found = findings[index]
        key = (found.finding.code, found.place.path, _normal(found))
        text = json.dumps([*key, seen[key]])
        made[index] = hashlib.sha256(text.encode()).hexdigest()[:32]
        seen[key] += 1
    return made


def _normal(found: LintFinding) -> str:
    """The line with its blanks alike; of a generated one that is very long, what is near."""
    line = found.text
    if len(line) > _LONG:
        line = line[max(0, found.caret - _NEAR) : found.caret + _NEAR]
    return " ".join(line.split())


def text(findings: Sequence[LintFinding]) -> str:
    """The file that holds these findings: a line for each, for reading in a difference."""
    made = zip(findings, fingerprints(findings), strict=True)
    entries = sorted(
        json.dumps({"path": f.place.path, "code": f.finding.code, "fingerprint": mark})
        for f, mark in made
    )
    lines = "".join(f"\n  {entry}," for entry in entries).rstrip(",")
    return f'{{"schema": "{SCHEMA}",\n "findings": [{lines}\n]}}\n'


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a finding beside its fingerprint."""

    path: str
    code: str


def read(location: Path, path: str) -> dict[str, Entry]:
    """The findings in a file by their fingerprints.

    Raises:
        InputError: it cannot be read, or is no baseline.
    """
    try:
        document = json.loads(reading.decoded(reading.contents(location)))
    except (OSError, reading.TooLarge) as error:
        reason = getattr(error, "strerror", None) or error
        hint = "; --write-baseline makes it" if isinstance(error, FileNotFoundError) else ""
        raise InputError(f"{path}: expected a baseline, found none: {reason}{hint}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: expected a baseline, found no JSON") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: expected a baseline, found other JSON") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InputError(f"{path}: expected a baseline of the schema {SCHEMA}, found other JSON")
    entries = document.get("findings")
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        what = "a list of findings, each with fingerprint, path and code"
        raise InputError(f"{path}: expected {what}, found other JSON")
    return {entry["fingerprint"]: Entry(entry["path"], entry["code"]) for entry in entries}


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and all(
        isinstance(entry.get(key), str) for key in ("fingerprint", "path", "code")
    )
