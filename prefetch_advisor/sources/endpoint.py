"""The management API of a broker and who asks it; the password is kept from every output."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

HTTP_PORT: Final = 15672
HTTPS_PORT: Final = 15671
DEFAULT_TIMEOUT: Final = 60.0


class Secret:
    """A password: nothing prints it, and only :meth:`reveal` gives it."""

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        self.__value = value

    def reveal(self) -> str:
        """The password itself."""
        return self.__value

    def __repr__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.reveal() == self.__value

    def __hash__(self) -> int:
        return hash(Secret)

    def __reduce__(self) -> str:
        raise TypeError("a password is not written anywhere")


@dataclass(frozen=True, slots=True)
class Connection:
    """The management API as :func:`resolve` found it."""

    #: scheme, host and port: no user information, no path
    base_url: str
    username: str
    password: Secret
    #: ``None``: every virtual host
    vhost: str | None = None
    tls_ca_cert_file: str | None = None
    tls_cert_file: str | None = None
    tls_key_file: str | None = None
    #: certificates are not checked
    insecure: bool = False
    #: seconds that one question to the API may take
    timeout: float = DEFAULT_TIMEOUT
    #: what stands before /api, "" or "/rabbit"
    path_prefix: str = ""
    #: name of a setting -> the option, variable or file that it came from
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def host(self) -> str:
        """The host alone; an IPv6 address without brackets."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def port(self) -> int:
        """The port, which is always part of the address."""
        return urlsplit(self.base_url).port or HTTP_PORT

    @property
    def tls(self) -> bool:
        """Whether the API is asked by HTTPS."""
        return self.base_url.startswith("https:")

    @property
    def loopback(self) -> bool:
        """Whether the broker is on this machine."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine, by its name or address alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
