"""Names in messages: one way of quoting, escaping and shortening them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prefetch_advisor.reports.escape import escaped_name
from prefetch_advisor.reports.layout import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

_WIDTH = 60
_LISTED = 5


def quoted(name: str) -> str:
    """A name in single quotes as reports show it, its middle cut where it is long."""
    return f"'{shortened(escaped_name(name), _WIDTH, '...', len)}'"


def listed(names: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    every = list(names)
    more = len(every) - _LISTED
    tail = f" and {more:,} more" if more > 0 else ""
    return ", ".join(map(quoted, every[:_LISTED])) + tail
