"""The AMQP client: connections with every wait bounded, and what went wrong in words."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prefetch_advisor.errors import AdvisorError

if TYPE_CHECKING:
    import ssl

    from prefetch_advisor.sources.amqp_uri import AmqpUri

#: seconds that an alarm may block publishing before the probe gives up
BLOCKED_WAIT = 3.0
_NAME = "prefetch-advisor probe"


def client() -> Any:
    """The AMQP client library.

    Raises:
        AdvisorError: it is not installed.
    """
    try:
        import pika  # type: ignore[import-untyped]
        import pika.adapters.utils.connection_workflow  # type: ignore[import-untyped]
    except ImportError:
        raise AdvisorError(
            "probe needs the AMQP client pika, which is not installed: "
            "pip install 'prefetch-advisor[amqp]'"
        ) from None
    return pika


def failures() -> tuple[type[Exception], ...]:
    """Everything that the client raises when something outside this program goes wrong."""
    pika = client()
    workflow = pika.adapters.utils.connection_workflow
    # DNS and TLS failures are kinds of OSError
    return (pika.exceptions.AMQPError, workflow.AMQPConnectorException, OSError)


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Inside the block the client logs nothing: each failure is said once, by this program."""
    logger = logging.getLogger("pika")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def connect(uri: AmqpUri, timeout: float) -> Any:
    """An open connection.

    ``timeout`` bounds connecting; heartbeats bound every later wait for an answer, to at most
    2 (timeout / 3 + 5) seconds.

    Raises:
        AdvisorError: a certificate file cannot be used.
        Exception: one of :func:`failures`.
    """
    pika = client()
    tls = None
    if uri.tls:
        tls = pika.SSLOptions(tls_context(uri), uri.server_name or uri.host)
    if uri.external:
        credentials = pika.credentials.ExternalCredentials()
    else:
        credentials = pika.PlainCredentials(uri.username, uri.password)
    return pika.BlockingConnection(
        pika.ConnectionParameters(
            host=uri.host,
            port=uri.port,
            virtual_host=uri.vhost,
            credentials=credentials,
            ssl_options=tls,
            connection_attempts=1,
            socket_timeout=timeout,
            stack_timeout=timeout,
            blocked_connection_timeout=min(BLOCKED_WAIT, timeout),
            # also how soon the broker finds out that a connection it had blocked is gone
            heartbeat=max(2, min(10, round(timeout / 3))),
            client_properties={"product": _NAME, "connection_name": _NAME},
        )
    )


def tls_context(uri: AmqpUri) -> ssl.SSLContext:
    """How the broker's certificate is checked, and the client's own.

    Raises:
        AdvisorError: a file that cannot be read, or holds no certificate or key.
    """
    import ssl

    try:
        context = ssl.create_default_context(cafile=uri.ca_file)
    except (OSError, ValueError) as error:
        raise AdvisorError(
            f"the CA certificates in {uri.ca_file!r} cannot be used: {_tls_reason(error)}"
        ) from None
    if not uri.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if uri.cert_file is None and uri.key_file is None:
        return context
    if uri.cert_file is None:
        raise AdvisorError("a client key needs its certificate: --tls-cert-file")
    try:
        # an empty password, or OpenSSL would ask for one at the terminal
        context.load_cert_chain(uri.cert_file, uri.key_file, password="")
    except (OSError, ValueError) as error:
        files = repr(uri.cert_file) + (f" and {uri.key_file!r}" if uri.key_file else "")
        raise AdvisorError(
            f"the client certificate in {files} cannot be used: {_tls_reason(error)}"
        ) from None
    return context


def close(connection: Any) -> None:
    """Close it; one that is closed or lost is left alone."""
    if connection.is_open:
        with contextlib.suppress(*failures()):
            connection.close()


def closed_because(channel: Any) -> Exception | None:
    """Why the broker closed the channel, one of :func:`failures`; ``None``: it said nothing."""
    # the client raises it in the next call that writes, and there may be none
    reason = getattr(channel, "_closing_reason", None)
    return reason if isinstance(reason, failures()) else None


def broker_of(connection: Any) -> tuple[str | None, str | None]:
    """Product and version, as the broker says them; ``None`` where it does not."""
    # no public name leads there from a blocking connection
    said = getattr(getattr(connection, "_impl", None), "server_properties", None) or {}
    product, version = (_text(said.get(name)) for name in ("product", "version"))
    return product, version


def _text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else None


def _tls_reason(error: Exception) -> str:
    return getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error)
