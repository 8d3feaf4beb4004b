"""Certificate files are read before anything is sent: the HTTP library's own words hide them."""

from __future__ import annotations

import ssl
from collections.abc import Callable

from prefetch_advisor.errors import InputError, UsageError
from prefetch_advisor.sources.endpoint import Connection


def check_certificates(connection: Connection) -> None:
    """Reads the files that a connection names, to say which of them cannot be used.

    Raises:
        InputError: one cannot be read, is none, or is locked with a passphrase.
        UsageError: they are given for plain HTTP.
    """
    files = (connection.tls_ca_cert_file, connection.tls_cert_file, connection.tls_key_file)
    if not connection.tls:
        if any(files):
            raise UsageError(
                "certificates were given, but the API is asked by plain HTTP: --use-tls, or "
                "https:// in --base-uri"
            )
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if connection.tls_ca_cert_file is not None:
        expected = "certificates of authorities in PEM form"
        _load(connection.tls_ca_cert_file, expected, context.load_verify_locations)
    certificate, key = connection.tls_cert_file, connection.tls_key_file
    if certificate is not None:

        def load(name: str) -> None:
            context.load_cert_chain(name, key, password=_no_passphrase)

        if key is not None:
            _load(key, "a private key in PEM form", _readable)
        _load(certificate, "a certificate and its own private key, unlocked, in PEM form", load)


def _readable(name: str) -> None:
    with open(name, "rb") as file:
        file.read(1)


def _no_passphrase() -> str:
    """OpenSSL would ask at the terminal."""
    raise ValueError("locked with a passphrase")


def _load(name: str, expected: str, load: Callable[[str], object]) -> None:
    why = ""
    try:
        load(name)
    except ssl.SSLError:
        why = "something else"
    except OSError as error:
        why = (error.strerror or "nothing").lower()
    except ValueError:
        why = "a key that is locked with a passphrase"
    if why:
        raise InputError(f"{name}: expected {expected}, found {why}")
