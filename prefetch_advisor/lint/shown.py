"""The line of a file that is shown with a finding: without what is secret in it."""

from __future__ import annotations

import re

_USER_INFO = re.compile(r"(://)[^\s\"'<>]{0,500}@")
_SECRET = re.compile(
    r"(?i)((?:pass(?:w(?:or)?d|phrase)?(?![a-z])|passw(?:or)?d_?hash|secret|token|api_?key)[\w.-]*[\"']?(?:\s*[:=]>?\s*|\s+))"
    r"(\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?|[^\s,;}\]]+)"
)


def shown(line: str) -> str:
    """The line with user information of addresses, and values of secret names, as ``***``."""
    return _SECRET.sub(r"\1***", _USER_INFO.sub(r"\1***@", line))
