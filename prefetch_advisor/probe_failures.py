"""What went wrong with a broker, in one line that says what to do about it."""

from __future__ import annotations

import re
import socket
import ssl
from typing import TYPE_CHECKING, Any

from prefetch_advisor import units
from prefetch_advisor.probe_connection import BLOCKED_WAIT, client

if TYPE_CHECKING:
    from prefetch_advisor.sources.amqp_uri import AmqpUri

_HTTP_SECONDS = 1.0
_CLIENT_CERTIFICATE = "a client certificate (--tls-cert-file, --tls-key-file)"
#: a TLS failure that the client only repeats in the text of another one
_TLS_REASON = re.compile(r"\[SSL: (\w+)\]")
#: what the broker said when it ended a connection that was not open yet
_SAID = re.compile(r"ConnectionClosedByBroker: \((\d+)\) (['\"])(.*)\2")
_NOT_AMQP = "AMQP usually is on port 5672, with TLS on 5671"


def explain(error: BaseException, uri: AmqpUri, timeout: float, blocked: str | None = None) -> str:
    """One line for one of ``probe_connection.failures()``; no password, no class names.

    ``blocked`` is the reason that the broker gave when it blocked the connection.
    """
    named = client().exceptions
    error = _unwrapped(error)
    place = uri.place
    in_tls = _TLS_REASON.search(str(error))
    if in_tls and not isinstance(error, OSError):
        return _tls_failed(in_tls[1], uri)
    if isinstance(error, named.ConnectionBlockedTimeout):
        return (
            f"the broker at {place} blocks publishers: {_alarm(blocked)}; waited "
            f"{units.duration(min(BLOCKED_WAIT, timeout))} for it to end"
        )
    if isinstance(error, OSError):
        return _network(error, uri, timeout)
    if isinstance(error, named.ProbableAuthenticationError | named.ProbableAccessDeniedError):
        # the client guesses from when it happened; the broker says it
        said = _SAID.search(str(error))
        return _ended(int(said[1]), said[3], uri) if said else _cut_short(error, uri)
    if isinstance(error, named.IncompatibleProtocolError | named.ProtocolSyntaxError):
        return _no_amqp(uri)
    if isinstance(error, named.ConnectionClosed):
        return _ended(error.reply_code, error.reply_text, uri)
    if isinstance(error, named.ChannelClosed):
        return _refused(error, uri)
    if isinstance(error, named.AMQPHeartbeatTimeout):
        return f"the broker at {place} stopped answering: no heartbeat came"
    if "Timeout" in type(error).__name__:
        return _no_answer(uri, timeout)
    if isinstance(error, named.ChannelWrongStateError):
        return f"the broker at {place} closed the probe's channel"
    return f"the connection to {place} was lost{_lost_why(error)}"


def _unwrapped(error: BaseException) -> BaseException:
    """The failure inside the client's wrappers: those of a phase, then those of a connection."""
    for _ in range(5):
        inner = getattr(error, "exception", None)
        if not isinstance(inner, BaseException):
            inner = next((arg for arg in error.args if isinstance(arg, BaseException)), None)
        if inner is None:
            return error
        error = inner
    return error


def _alarm(reason: str | None) -> str:
    words = (reason or "").lower()
    kinds = [kind for kind in ("memory", "disk") if kind in words] or ["memory or disk"]
    return f"{' and '.join(kinds)} alarm" + (f" ({reason})" if reason else "")


def _network(error: OSError, uri: AmqpUri, timeout: float) -> str:
    place = uri.place
    if isinstance(error, ssl.SSLError):
        return _tls(error, uri)
    if isinstance(error, socket.gaierror):
        return f"the host {uri.host!r} cannot be found: {error.strerror}"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing listens at {place}: connection refused; {_NOT_AMQP}"
    if isinstance(error, TimeoutError):
        return _no_answer(uri, timeout)
    if isinstance(error, ConnectionResetError | BrokenPipeError | ConnectionAbortedError):
        return f"the connection to {place} was lost: {error.strerror or error}"
    return f"{place} cannot be reached: {error.strerror or error}"


def _tls(error: ssl.SSLError, uri: AmqpUri) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"the certificate of {uri.place} is not accepted: {error.verify_message.rstrip('.')}; "
            "--tls-ca-cert-file names the authority that signed it"
        )
    if error.reason in ("WRONG_VERSION_NUMBER", "UNEXPECTED_EOF_WHILE_READING"):
        return (
            f"{uri.place} does not speak TLS: amqp:// is the scheme for a port without it; "
            f"{_NOT_AMQP}"
        )
    return _tls_failed(error.reason or "TLS failed", uri)


def _tls_failed(reason: str, uri: AmqpUri) -> str:
    reason = reason.replace("_", " ").lower()
    hint = ""
    if uri.cert_file is None and ("alert" in reason or "handshake" in reason):
        hint = f"; the broker may want {_CLIENT_CERTIFICATE}"
    return f"no TLS connection to {uri.place}: {reason}{hint}"


def _login(uri: AmqpUri) -> str:
    if uri.external:
        return f"{uri.place} does not let the client certificate in (EXTERNAL)"
    guest = uri.username == "guest"
    hint = "; guest may only come from the broker's own machine, unless configured" if guest else ""
    return f"{uri.place} refused the user {uri.username!r}: wrong name or password{hint}"


def _vhost(said: str, uri: AmqpUri) -> str:
    if "not found" in said:
        hint = "; a URI that ends in / names the vhost '': leave the / out for '/'"
        return f"{uri.place} has no vhost {uri.vhost!r}" + ("" if uri.vhost else hint)
    if said.endswith(f"refused for user '{uri.username}'"):
        return f"the user {uri.username!r} may not use the vhost {uri.vhost!r} of {uri.place}"
    # a limit of connections, a vhost that is down
    return f"{uri.place} does not let {uri.username!r} into the vhost {uri.vhost!r}: {said}"


def _ended(code: int, said: str, uri: AmqpUri) -> str:
    if code == 403:
        return _login(uri)
    if code == 530:
        return _vhost(said, uri)
    return f"the broker at {uri.place} closed the connection: {said}"


def _cut_short(error: BaseException, uri: AmqpUri) -> str:
    return f"{uri.place} ended the connection while it was being opened{_lost_why(error)}"


def _refused(error: Any, uri: AmqpUri) -> str:
    hint = ""
    if error.reply_code == 403:
        hint = (
            "; the user needs configure and read permission on the probe's queue, and write on "
            "the default exchange: --queue-name gives it another name"
        )
    return f"the broker at {uri.place} refused: {error.reply_text}{hint}"


def _no_answer(uri: AmqpUri, timeout: float) -> str:
    if not uri.tls and _speaks_http(uri):
        return _no_amqp(uri, "HTTP")
    return f"no answer from {uri.place} within {units.duration(timeout)}"


def _no_amqp(uri: AmqpUri, instead: str = "") -> str:
    if instead:
        return f"{uri.place} speaks {instead}, not AMQP: is it the management API? {_NOT_AMQP}"
    hint = "" if uri.tls else ", or amqps:// is its scheme"
    if uri.tls and uri.cert_file is None:
        # with TLS 1.3 the refusal may be lost to the end of the connection
        hint = f", or it wants {_CLIENT_CERTIFICATE}"
    return f"{uri.place} does not answer as an AMQP 0-9-1 broker does{hint}; {_NOT_AMQP}"


def _speaks_http(uri: AmqpUri) -> bool:
    """Whether a server that is silent on AMQP answers HTTP: a common mistake, worth a second."""
    try:
        with socket.create_connection((uri.host, uri.port), timeout=_HTTP_SECONDS) as line:
            line.sendall(b"HEAD / HTTP/1.0\r\n\r\n")
            return line.recv(5) == b"HTTP/"
    except OSError:
        return False


def _lost_why(error: BaseException) -> str:
    text = str(error)
    if "reset" in text:
        return ": reset by the other side"
    return ": closed by the other side" if "EOF" in text else ""
