"""Which findings are wanted: selected and ignored by code, start of a code, or name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from prefetch_advisor import findings

_PREFIX = re.compile(r"PA[0-9]{0,3}", re.IGNORECASE)


class UnknownFinding(Exception):
    """A code, start of a code, or name that no finding has; the message lists near ones."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Codes and starts of codes. The longest that fits a finding decides; ignored on a tie."""

    #: empty: every finding
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def takes(self, code: str) -> bool:
        """Whether a finding is wanted."""
        wanted = _longest(self.select, code) if self.select else 0
        return wanted is not None and wanted > (_longest(self.ignore, code) or -1)


def _longest(prefixes: Iterable[str], code: str) -> int | None:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=None)


def prefixes(text: str) -> tuple[str, ...]:
    """The starts of codes that a text means: PA3 and PA301 as they are, a name by its codes.

    Raises:
        UnknownFinding: no finding is called so.
    """
    upper = text.upper()
    if _PREFIX.fullmatch(text) and any(rule.code.startswith(upper) for rule in findings.RULES):
        return (upper,)
    return codes(text)


def codes(text: str) -> tuple[str, ...]:
    """The codes of the findings that a text means, by code or name.

    A name has several where a running queue and a file are judged alike.

    Raises:
        UnknownFinding: no finding is called so.
    """
    found = findings.find(text)
    if found:
        return tuple(rule.code for rule in found)
    near = findings.near(text)
    hint = f"; near: {', '.join(near)}" if near else ""
    raise UnknownFinding(f"no finding is called {text[:60]!r}{hint}")
