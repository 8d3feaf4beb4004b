"""The numbers that a finding rests on, each with where it was said."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from prefetch_advisor.lint.declared import DeclaredQueue
from prefetch_advisor.lint.declared.observed import alike, where
from prefetch_advisor.model.figures import ProcessingTime
from prefetch_advisor.model.lint import Located
from prefetch_advisor.units import duration, number, rate, size

_WORDS: dict[str, Callable[[Any], str]] = {
    "processing_time": duration,
    "cv": number,
    "rtt": duration,
    "arrival_rate": rate,
    "message_bytes": size,
    "memory_budget": size,
    "consumer_timeout": duration,
    "max_utilisation": number,
}


def numbers(
    queue: DeclaredQueue, fields: Iterable[str], processing: ProcessingTime | None = None
) -> str:
    """``; rtt 1 ms (app.toml:4), ...`` for those of the fields that were said.

    ``processing``: measured, in place of a declared one.
    """
    limit = alike(queue.prefetch)
    said = []
    computed = ("prefetch",) if limit is not None and limit.origin else ()
    for name in dict.fromkeys((*computed, *fields)):
        value = getattr(queue, name)
        if isinstance(value, Located):
            shown = _WORDS.get(name, str)(value.value)
            said.append(f"{name.replace('_', '-')} {shown} ({where(queue, value)})")
        elif name == "processing_time" and processing is not None:
            said.append(f"processing-time {duration(processing.mean)} ({processing.origin})")
    return f"; {', '.join(said)}" if said else ""
