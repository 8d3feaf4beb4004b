"""The JSON schema of prefetch-advisor.toml, for editors: made from the tables of keys."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from prefetch_advisor.lint.declared.keys import BUFFER, DEFAULTS, QUEUE, TIMES, Key
from prefetch_advisor.lint.settings import FAIL_ON

_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
#: lint's own keys, which are read where the rest of its settings are
LINT: dict[str, dict[str, Any]] = {
    "select": {**_TEXTS, "description": "Findings that are wanted: codes, their starts, names."},
    "ignore": {**_TEXTS, "description": "Findings that are not wanted."},
    "per-file-ignores": {
        "type": "object",
        "additionalProperties": _TEXTS,
        "description": "Findings that are not wanted in files, by patterns as in .gitignore.",
    },
    "exclude": {**_TEXTS, "description": "Files that are not looked at, as in .gitignore."},
    "baseline": {"type": "string", "description": "File of findings that are known already."},
    "fail-on": {"enum": list(FAIL_ON), "description": "Exit 1 for a finding this severe."},
}


def schema() -> dict[str, Any]:
    """The schema of the whole file."""
    queue = _table(QUEUE)
    queue["allOf"] = [{"not": {"required": list(pair)}} for pair in combinations(TIMES, 2)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of prefetch-advisor",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "queues": {
                "type": "array",
                "items": queue,
                "description": "Queues and what is known of their consumers.",
            },
            "buffers": {
                "type": "array",
                "items": _table(BUFFER),
                "description": "Buffers in a process, or of rows claimed from a table.",
            },
            "defaults": {
                **_table(DEFAULTS),
                "description": "What holds for every queue that does not say otherwise.",
            },
            "lint": {
                "type": "object",
                "additionalProperties": False,
                "properties": LINT,
                "description": "What lint looks at and tells.",
            },
        },
    }


def _table(keys: Sequence[Key]) -> dict[str, Any]:
    table: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            key.name: {**key.value.schema(), "description": key.doc, "examples": [key.example]}
            for key in keys
        },
    }
    required = [key.name for key in keys if key.required]
    return {**table, "required": required} if required else table
