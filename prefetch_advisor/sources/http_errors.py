"""What can go wrong between here and the management API, in words: one class for each remedy."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from http.client import BadStatusLine, HTTPException, IncompleteRead, RemoteDisconnected

from prefetch_advisor.errors import AdvisorError
from prefetch_advisor.sources.endpoint import HTTP_PORT, HTTPS_PORT, Connection
from prefetch_advisor.sources.redaction import redacted

_AMQP_PORTS = frozenset((5671, 5672))
_NOT_TLS = (
    "WRONG_VERSION_NUMBER",
    "HTTP_REQUEST",
    "UNKNOWN_PROTOCOL",
    "RECORD_LAYER_FAILURE",
    "PACKET_LENGTH",
)
_WANTS_CERTIFICATE = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE", "BAD_CERTIFICATE", "UNKNOWN_CA")
#: a server that speaks TLS answers plain HTTP with an alert
_TLS_ALERT = re.compile(r"[\x15\x16]\x03")
#: the one thing that every broker answers
OVERVIEW = "/api/overview"
_MANAGEMENT_IS_ON = f"the management API listens on {HTTP_PORT}, with TLS on {HTTPS_PORT}"


class ApiError(AdvisorError):
    """The management API did not give what was asked for."""

    #: HTTP status of the answer, where there was one
    status: int | None = None


class Unreachable(ApiError):
    """No management API answers there: nothing listens, another protocol, or no trust in it."""


class TimedOut(ApiError):
    """The answer did not come, or not all of it, in the time there was."""


class Refused(ApiError):
    """401 or 403: the user, the password, a tag or a permission."""


class NotFound(ApiError):
    """404: the broker has no such object, or what answers is no management API."""


class BadAnswer(ApiError):
    """Something came that cannot be used: no JSON, half of it, too much, a redirect away."""


class Failed(ApiError):
    """Any other status: the broker says that it cannot."""


def address(connection: Connection) -> str:
    """Host and port."""
    return connection.base_url.split("//", 1)[1]


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error and everything it was made of: libraries wrap each other's several times."""
    waiting: list[object] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, BaseException) and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [getattr(one, "reason", None), *one.args, one.__cause__, one.__context__]


def is_broken_off(error: BaseException) -> bool:
    """Whether the connection ended too early: worth another try."""
    kinds = (ConnectionResetError, BrokenPipeError, RemoteDisconnected, IncompleteRead)
    found = list(causes(error))
    if any(isinstance(one, ssl.SSLError) for one in found):
        return False
    return any(isinstance(one, kinds) for one in found)


def from_exception(error: BaseException, connection: Connection, path: str) -> ApiError:
    """What an exception of the HTTP library means; nothing of its text is taken over."""
    found = list(causes(error))
    where = address(connection)
    for one in found:
        if isinstance(one, ssl.SSLError):
            return _tls_error(one, connection)
    for one in found:
        if isinstance(one, BadStatusLine) and not isinstance(one, RemoteDisconnected):
            return _other_protocol(one.args[0] if one.args else "", connection)
    for one in found:
        if isinstance(one, IncompleteRead):
            return half(connection, path)
        if isinstance(one, socket.gaierror):
            return Unreachable(
                f"{connection.host}: there is no host of this name "
                f"({_origin(connection, 'host')}: {one.strerror or 'not found'})"
            )
    for one in found:
        if isinstance(one, ConnectionRefusedError):
            return _closed(connection)
        if isinstance(one, RemoteDisconnected | ConnectionResetError | BrokenPipeError):
            return Unreachable(
                f"{where} closed the connection without an answer: {_amqp_hint(connection)}"
            )
        if isinstance(one, OSError) and one.errno in errno.errorcode and one.strerror:
            return Unreachable(f"{where} cannot be reached: {one.strerror}")
    for one in found:
        if isinstance(one, HTTPException):
            return BadAnswer(
                f"{where}: the answer to GET {path} has headers that cannot be read (too many, or "
                "too long): is that the management API?"
            )
    return Unreachable(f"{where}: the answer to GET {path} cannot be read")


def _origin(connection: Connection, name: str) -> str:
    origin = connection.origins.get(name, "default")
    return "the default" if origin == "default" else f"from {origin}"


def _closed(connection: Connection) -> ApiError:
    origin = connection.origins.get("port", "default")
    taken = f" (from {origin})" if "names no port" in origin else ""
    return Unreachable(
        f"{address(connection)}: the connection was refused{taken}: nothing listens there; is the "
        f"broker up and the plugin rabbitmq_management enabled? {_MANAGEMENT_IS_ON}"
    )


def _amqp_hint(connection: Connection) -> str:
    if connection.port in _AMQP_PORTS:
        return f"this is the AMQP port; {_MANAGEMENT_IS_ON}"
    kind = "plain HTTP" if connection.tls else "TLS (then --use-tls)"
    return (
        "the broker is stopping, or this is an AMQP port, or one that expects "
        f"{kind}; {_MANAGEMENT_IS_ON}"
    )


def _other_protocol(line: object, connection: Connection) -> ApiError:
    where = address(connection)
    text = line.strip("'") if isinstance(line, str) else str(line)
    if text.startswith("AMQP"):
        return amqp_port(connection)
    if _TLS_ALERT.match(text) or text.startswith(("\\x15\\x03", "\\x16\\x03")):
        return speaks_tls(connection)
    return Unreachable(
        f"{where}: what answers does not speak HTTP ({redacted(text, connection)[:40]!r}); "
        f"{_MANAGEMENT_IS_ON}"
    )


def amqp_port(connection: Connection) -> ApiError:
    """The port that clients of queues use."""
    return Unreachable(
        f"{address(connection)}: this looks like the AMQP port 5672; {_MANAGEMENT_IS_ON}"
    )


def through_proxy(error: ApiError, connection: Connection) -> ApiError:
    """The same error, where a proxy of the environment may be what answered."""
    found = type(error)(f"{error} (asked through a proxy: {_proxy(connection)})")
    found.status = error.status
    return found


def speaks_tls(connection: Connection) -> ApiError:
    """Plain HTTP to a port that expects TLS."""
    return Unreachable(f"{address(connection)} expects TLS: --use-tls, or https:// in --base-uri")


def _tls_error(error: ssl.SSLError, connection: Connection) -> ApiError:
    where = address(connection)
    reason = (error.reason or "").upper()
    if isinstance(error, ssl.SSLCertVerificationError):
        why = redacted(error.verify_message, connection)
        return Unreachable(
            f"{where}: its certificate is not trusted ({why}): --tls-ca-cert-file with the "
            "certificate of the authority that issued it, or -k to trust it unchecked"
        )
    if any(word in reason for word in _NOT_TLS):
        hint = f"; {_MANAGEMENT_IS_ON}" if connection.port != HTTP_PORT else ""
        return Unreachable(
            f"{where} does not speak TLS: leave out --use-tls, or http:// in --base-uri{hint}"
        )
    if any(word in reason for word in _WANTS_CERTIFICATE):
        return Unreachable(
            f"{where} broke off the TLS handshake ({reason.lower().replace('_', ' ')}): does it "
            "ask for a client certificate? --tls-cert-file and --tls-key-file"
        )
    if isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return Unreachable(
            f"{where} closed the connection in the TLS handshake: does it speak TLS?"
        )
    why = reason.lower().replace("_", " ") or "no reason given"
    return Unreachable(f"{where}: no TLS connection ({why})")


def no_connection(connection: Connection, seconds: float) -> ApiError:
    """Not even a connection: packets get lost on the way."""
    return Unreachable(
        f"{address(connection)}: no connection within {seconds:g} s: does a firewall drop it? "
        "(--timeout)"
    )


def timed_out(connection: Connection, path: str) -> ApiError:
    """No answer, or not all of it."""
    return TimedOut(
        f"{address(connection)}: GET {path} was not answered, or not to its end, within "
        f"{connection.timeout:g} s (--timeout)"
    )


def half(connection: Connection, path: str) -> ApiError:
    """A document that ends too early."""
    return BadAnswer(
        f"{address(connection)}: the answer to GET {path} ends in the middle: the connection was "
        "cut off"
    )


def spoiled(connection: Connection, path: str) -> ApiError:
    """A body that is not packed as its headers say."""
    return BadAnswer(
        f"{address(connection)}: the answer to GET {path} cannot be unpacked as its "
        "Content-Encoding says: what passes it on has spoiled it"
    )


def unreadable(connection: Connection, path: str, wrong: str) -> ApiError:
    """A whole answer that begins as JSON and is none; ``wrong`` is ":line:column: what"."""
    return BadAnswer(
        f"{address(connection)}: the answer to GET {path} cannot be read: "
        f"{redacted(wrong.removeprefix(':'), connection)}"
    )


def from_status(
    status: int, document: object, connection: Connection, path: str, text: str
) -> ApiError:
    """What a status other than 200 means; ``document`` is the answer where it is JSON."""
    where = f"{address(connection)}: GET {path}"
    says = _broker_says(document, connection)
    found: ApiError
    if status == 401:
        found = Refused(f"{where}: {_who(connection)} is refused (401{says}): {_why_refused(says)}")
    elif status == 403:
        found = Refused(f"{where}: {_who(connection)} may not see this (403{says})")
    elif status == 404 and says:
        hint = ""
        if path == OVERVIEW:
            # what every broker has, so that it was asked for at another place
            hint = f": is the path prefix right (--path-prefix, now {connection.path_prefix})"
            hint = hint if connection.path_prefix else ": does it need --path-prefix"
            hint += "?"
        found = NotFound(f"{where}: the broker has no such thing (404{says}){hint}")
    elif status == 404:
        prefix = connection.path_prefix or "none"
        found = NotFound(
            f"{where}: not found (404), and not said by a broker: is the path prefix right "
            f"(--path-prefix, now {prefix}), and the plugin rabbitmq_management enabled on it?"
        )
    elif status == 400 and "HTTPS port" in text:
        return speaks_tls(connection)
    elif status == 407:
        found = Refused(f"{where}: a proxy asks for a password (407): {_proxy(connection)}")
    elif 300 <= status < 400:
        found = BadAnswer(f"{where}: a redirect ({status}) that leads nowhere")
    else:
        found = Failed(f"{where}: the broker answers {status}{says}")
    found.status = status
    return found


def _who(connection: Connection) -> str:
    user = redacted(connection.username, connection)
    parts = {name: connection.origins.get(name, "default") for name in ("username", "password")}
    return f"user {user!r} ({parts['username']}; password: {parts['password']})"


def _why_refused(says: str) -> str:
    """The broker tells the cases apart, each version in its own words; both are named."""
    if "virtual host" in says:
        return "it has no permission in this virtual host (rabbitmqctl set_permissions)"
    return (
        "the name or password is wrong, or the user has no management tag "
        "(rabbitmqctl set_user_tags USER monitoring)"
    )


def _broker_says(document: object, connection: Connection) -> str:
    if not isinstance(document, Mapping) or "error" not in document:
        return ""
    parts = [document["error"], document.get("reason")]
    words = [redacted(part, connection) for part in parts if isinstance(part, str) and part]
    return f", {': '.join(dict.fromkeys(words))}" if words else ""


def not_json(connection: Connection, path: str, kind: str, text: str) -> ApiError:
    """An answer that is no JSON: a page for people, from something else."""
    what = "an HTML page" if "<html" in text[:2000].lower() or "html" in kind else "no JSON"
    if not text.strip():
        what = "an empty answer"
    prefix = connection.path_prefix or "none"
    return BadAnswer(
        f"{address(connection)}: GET {path} brings {what}: a login page or a proxy answers, not "
        f"the management API (--path-prefix is {prefix})"
    )


def too_large(connection: Connection, path: str, limit: int) -> ApiError:
    """More than any broker's page."""
    return BadAnswer(
        f"{address(connection)}: the answer to GET {path} is larger than {limit >> 20} MiB"
    )


def redirected(connection: Connection, path: str, target: str) -> ApiError:
    """A redirect that is not followed: the password would go where it was not given for."""
    return BadAnswer(
        f"{address(connection)}: GET {path} is redirected to {redacted(target, connection)}, and "
        "the password is not sent there: give that address as --base-uri if it is right"
    )


def endless_redirect(connection: Connection, path: str, hops: int) -> ApiError:
    """A redirect too many."""
    return BadAnswer(f"{address(connection)}: GET {path} is redirected more than {hops} times")


def proxy_failed(connection: Connection, path: str) -> ApiError:
    """The proxy of the environment does not let it through."""
    return Unreachable(f"{address(connection)}: GET {path} failed at a proxy: {_proxy(connection)}")


def _proxy(connection: Connection) -> str:
    host = connection.host
    return f"the environment names one in HTTP_PROXY or HTTPS_PROXY; NO_PROXY={host} goes around it"
