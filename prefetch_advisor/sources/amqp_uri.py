"""AMQP URIs: where a broker is, who asks, and which vhost; the password is never shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from prefetch_advisor.errors import UsageError

DEFAULT = "amqp://guest@localhost"
#: environment variables in which hosting services and frameworks put a broker's URI
ENVIRONMENT = ("CLOUDAMQP_URL", "RABBITMQ_URL", "BROKER_URL", "CELERY_BROKER_URL")
_PORTS = {"amqp": 5672, "amqps": 5671}
_GUEST = "guest"
BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
#: the protocol's short strings
_VHOST_BYTES = 255
_ENCODE = "in a user name or password, write @ as %40, / as %2F, ? as %3F, # as %23 and : as %3A"


@dataclass(frozen=True, slots=True)
class AmqpUri:
    """A URI taken apart. The password is in no ``repr``."""

    host: str
    port: int
    vhost: str
    username: str
    password: str = field(repr=False)
    tls: bool = False
    #: SASL EXTERNAL: the client certificate says who asks
    external: bool = False
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    #: the broker's certificate is checked
    verify: bool = True
    #: the name that the certificate has to bear, where it is not the host
    server_name: str | None = None
    #: query keys that were not used
    unused: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """ "broker.example:5672", "[::1]:5672"."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def shown(self) -> str:
        """The URI without its password."""
        scheme = "amqps" if self.tls else "amqp"
        user = quote(self.username, safe="")
        return f"{scheme}://{user}@{self.place}/{quote(self.vhost, safe='')}"


def parse(text: str) -> AmqpUri:
    """The parts of an ``amqp://`` or ``amqps://`` URI, as the broker's URI specification has them.

    The vhost is one percent-encoded segment; an absent one is ``/``, one that is there but empty
    is the vhost with the empty name. Only ``//`` is also taken as ``/``, since Celery writes so.

    Raises:
        UsageError: it is none. The message repeats no part of it: where a password was not
            percent-encoded, any part may hold a piece of the password.
    """
    if BARE_PERCENT.search(text.partition("?")[0]):
        raise UsageError(
            "in an AMQP URI two hexadecimal digits follow a %: a % of its own is written %25"
        )
    parts = _split(text.strip())
    host, port = _address(parts)
    query = _query(parts.query)
    external = query.pop("auth_mechanism", "").lower() == "external"
    username, password = _credentials(parts, external)
    verify = query.pop("verify", "verify_peer")
    if verify not in ("verify_peer", "verify_none"):
        raise UsageError("verify in an AMQP URI is verify_peer or verify_none")
    return AmqpUri(
        host=host,
        port=port,
        vhost=_vhost(parts.path),
        username=username,
        password=password,
        tls=parts.scheme == "amqps",
        external=external,
        ca_file=query.pop("cacertfile", None),
        cert_file=query.pop("certfile", None),
        key_file=query.pop("keyfile", None),
        verify=verify == "verify_peer",
        server_name=_host(query.pop("server_name_indication", "")) or None,
        unused=tuple(sorted(query)),
    )


def from_environment(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """The name and value of the variable that holds an AMQP URI; ``None``: there is none.

    Raises:
        UsageError: several hold one, and they differ.
    """
    found = {
        name: environment[name].strip()
        for name in ENVIRONMENT
        if environment.get(name, "").strip().lower().startswith(("amqp://", "amqps://"))
    }
    if not found:
        return None
    if len(set(found.values())) > 1:
        names = " and ".join(found)
        raise UsageError(f"{names} hold different AMQP URIs: give the one that is meant as --uri")
    return next(iter(found.items()))


def _split(text: str) -> SplitResult:
    try:
        # a byte that is not UTF-8 has no place in the protocol
        text.encode()
        parts = urlsplit(text)
    except ValueError:
        # its message repeats the part with the password
        raise UsageError(f"the AMQP URI cannot be read: {_ENCODE}") from None
    if parts.scheme in ("http", "https"):
        raise UsageError(
            "expected an AMQP URI such as amqp://guest@localhost, found one of "
            f"{parts.scheme}: the management API is another port"
        )
    if parts.scheme not in _PORTS or not text.lower().startswith(f"{parts.scheme}://"):
        raise UsageError("an AMQP URI starts with amqp:// or amqps://")
    if any(char <= " " or char == "\x7f" for char in text):
        raise UsageError("an AMQP URI has no spaces or control characters in it")
    if parts.fragment or "#" in text or "@" in parts.path + parts.query:
        raise UsageError(f"the AMQP URI cannot be read: {_ENCODE}")
    return parts


def _address(parts: SplitResult) -> tuple[str, int]:
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise UsageError(f"the AMQP URI has no valid port: it is from 1 to 65535; {_ENCODE}")
    return _host(_decoded(parts.hostname or "localhost")), port or _PORTS[parts.scheme]


def _host(name: str) -> str:
    try:
        # as the resolver will
        name.encode("idna")
    except UnicodeError:
        raise UsageError("an AMQP URI names a host that no name server can know") from None
    return name


def _credentials(parts: SplitResult, external: bool) -> tuple[str, str]:
    if parts.username is None:
        return _GUEST, _GUEST
    username = _decoded(parts.username)
    if parts.password is not None:
        return username, _decoded(parts.password)
    if username == _GUEST or external:
        return username, _GUEST
    raise UsageError(
        "the AMQP URI names a user but no password: amqp://USER:PASSWORD@HOST:PORT/VHOST"
    )


def _vhost(path: str) -> str:
    if path in ("", "//"):
        return "/"
    segment = path[1:]
    if "/" in segment:
        raise UsageError("the vhost in an AMQP URI is one segment: write each / of its name as %2F")
    vhost = _decoded(segment)
    if len(vhost.encode()) > _VHOST_BYTES:
        raise UsageError(f"the vhost in an AMQP URI has at most {_VHOST_BYTES} bytes")
    return vhost


def _query(text: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict"))
    except ValueError:
        raise UsageError(f"the query of the AMQP URI cannot be read: {_ENCODE}") from None


def _decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise UsageError("a percent-encoded part of the AMQP URI is not UTF-8") from None
