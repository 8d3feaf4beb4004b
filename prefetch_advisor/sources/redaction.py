"""What a foreign machine said, fit to be shown: no password in any form, no control character."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

from prefetch_advisor.sources.endpoint import Connection

_SHOWN = 200
_USER_INFO = re.compile(r"//[^/?#\s]*@")


def redacted(text: str, connection: Connection) -> str:
    """What a foreign machine said, on one line: without user information, password or controls."""
    text = _USER_INFO.sub("//***@", text)
    for secret in _forms(connection):
        text = text.replace(secret, "***")
    text = " ".join(text.split())
    # as Python writes what it cannot print, which is also how reports show it
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _forms(connection: Connection) -> Iterator[str]:
    """The password as it may be echoed: plain, in a URL, in a header."""
    secret = connection.password.reveal()
    if not secret:
        return
    yield basic_credentials(connection)
    if secret != connection.username:  # guest and guest: nothing to hide, and a name to show
        yield quote(secret, safe="", errors="surrogateescape")
        yield quote_plus(secret, safe="", errors="surrogateescape")
        yield secret
        # a status line is taken for Latin-1
        yield secret.encode("utf-8", "surrogateescape").decode("latin-1")


def basic_credentials(connection: Connection) -> str:
    """User and password for basic authentication, in UTF-8, which brokers expect."""
    pair = f"{connection.username}:{connection.password.reveal()}"
    return base64.b64encode(pair.encode("utf-8", "surrogateescape")).decode()
