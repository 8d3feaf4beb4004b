"""Where the management API is and who asks: option, environment, file, default, in this order."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from prefetch_advisor.errors import InputError, UsageError
from prefetch_advisor.sources.amqp_uri import BARE_PERCENT
from prefetch_advisor.sources.connection_files import read_node
from prefetch_advisor.sources.endpoint import (
    DEFAULT_TIMEOUT,
    HTTP_PORT,
    HTTPS_PORT,
    Connection,
    Secret,
)

__all__ = ["Connection", "Secret", "resolve"]

DEFAULT_NODE: Final = "default"
CONFIG_FILE: Final = ".rabbitmqadmin.conf"

#: name -> option; the names are those of the options without dashes
_OPTIONS = {
    "host": "--host",
    "port": "--port",
    "username": "--username",
    "password": "--password",
    "vhost": "--vhost",
    "base_uri": "--base-uri",
    "path_prefix": "--path-prefix",
    "use_tls": "--use-tls",
    "tls_ca_cert_file": "--tls-ca-cert-file",
    "tls_cert_file": "--tls-cert-file",
    "tls_key_file": "--tls-key-file",
    "insecure": "--insecure",
    "timeout": "--timeout",
}
_VARIABLES = {
    "host": "RABBITMQADMIN_TARGET_HOST",
    "port": "RABBITMQADMIN_TARGET_PORT",
    "username": "RABBITMQADMIN_USERNAME",
    "password": "RABBITMQADMIN_PASSWORD",
    "vhost": "RABBITMQADMIN_TARGET_VHOST",
    "base_uri": "RABBITMQADMIN_BASE_URI",
    "path_prefix": "RABBITMQADMIN_API_PATH_PREFIX",
    "use_tls": "RABBITMQADMIN_USE_TLS",
    "timeout": "RABBITMQADMIN_TIMEOUT",
}
_FILE_VARIABLE = "RABBITMQADMIN_CONFIG_FILE_PATH"
_NODE_VARIABLE = "RABBITMQADMIN_NODE_ALIAS"
_TRUE = frozenset(("true", "1", "yes", "on"))
_FALSE = frozenset(("false", "0", "no", "off", ""))
_URI = "http(s)://[USER:PASSWORD@]HOST[:PORT][/PREFIX]"


@dataclass(frozen=True, slots=True)
class _Setting:
    value: object = field(repr=False)
    origin: str

    def wrong(self, expected: str, show: bool = True) -> InputError | UsageError:
        """The error for a value that cannot be meant. Values of files are not shown."""
        from_file = not self.origin.startswith(("-", "RABBITMQADMIN_"))
        found = f", found {self.value!r:.60}" if show and not from_file else ""
        kind = InputError if from_file else UsageError
        return kind(f"{self.origin}: expected {expected}{found}")


_Settings = dict[str, _Setting]


def resolve(options: Mapping[str, object], environ: Mapping[str, str], home: Path) -> Connection:
    """The connection that ``options``, ``environ`` and the configuration file together describe.

    ``options`` has the names of the command line with underscores (``base_uri``, ``use_tls``,
    ``config``, ``node`` ...); ``None`` and ``False`` are as if absent.

    Raises:
        UsageError: an option or variable that cannot be meant; passwords are never in its message.
        InputError: a configuration file that cannot be read or understood.
    """
    given = _given(options)
    levels = (
        _with_uri(given, strict=True),
        _with_uri(_from_environment(environ)),
        _with_uri(_from_file(options, environ, home)),
    )
    settings: _Settings = {}
    for level in reversed(levels):
        settings.update(level)
    tls = _flag(settings.get("use_tls"))
    port = _port(settings.get("port"), tls)
    host = _host(settings.get("host"))
    certificate, key = _path("tls_cert_file", settings, home), _path("tls_key_file", settings, home)
    if key is not None and certificate is None:
        raise settings["tls_key_file"].wrong("a client certificate beside its key: --tls-cert-file")
    password = settings.get("password")
    origins = {
        name: settings[name].origin if name in settings else "default"
        for name in ("host", "port", "username", "password", "vhost", "path_prefix", "use_tls")
    }
    return Connection(
        base_url=f"{'https' if tls else 'http'}://{host}:{port}",
        username=_username(settings.get("username")),
        password=Secret("guest" if password is None else _revealed(password.value)),
        vhost=_text(settings.get("vhost")),
        tls_ca_cert_file=_path("tls_ca_cert_file", settings, home),
        tls_cert_file=certificate,
        tls_key_file=key,
        insecure=_flag(settings.get("insecure")),
        timeout=_timeout(settings.get("timeout")),
        path_prefix=_prefix(settings.get("path_prefix")),
        origins=origins,
    )


def _given(options: Mapping[str, object]) -> _Settings:
    return {
        name: _Setting(options[name], option)
        for name, option in _OPTIONS.items()
        if options.get(name) is not None and options[name] is not False
    }


def _from_environment(environ: Mapping[str, str]) -> _Settings:
    return {
        name: _Setting(environ[variable], variable)
        for name, variable in _VARIABLES.items()
        if environ.get(variable)
    }


def _from_file(options: Mapping[str, object], environ: Mapping[str, str], home: Path) -> _Settings:
    chosen = options.get("config") or environ.get(_FILE_VARIABLE)
    node = options.get("node") or environ.get(_NODE_VARIABLE)
    path = home / CONFIG_FILE if not chosen else _expanded(str(chosen), home)
    found = read_node(
        path,
        DEFAULT_NODE if not node else str(node),
        optional=not chosen and not node,
        section_optional=not node and not chosen,
    )
    return {name: _Setting(value, origin) for name, (value, origin) in found.items()}


def _with_uri(settings: _Settings, strict: bool = False) -> _Settings:
    """The settings with what ``base_uri`` holds in its place.

    It says where; ``strict`` refuses options that say otherwise. A user name, password, prefix or
    use of TLS that is given beside it is the more explicit one.
    """
    uri = settings.pop("base_uri", None)
    if uri is None:
        return settings
    parts = _uri_parts(uri)
    for name in ("host", "port"):
        if name in settings and name in parts and strict:
            if str(settings[name].value) != str(parts[name].value):
                raise UsageError(f"{_OPTIONS[name]} and --base-uri say different things: give one")
        elif name in settings:
            del settings[name]
    if parts["use_tls"].value:
        settings.pop("use_tls", None)
    if "port" not in parts and "port" not in settings:
        # as rabbitmqadmin takes it; a port of another level belongs to another host
        tls = _flag(settings.get("use_tls", parts["use_tls"]))
        parts["port"] = _Setting(_default_port(tls), f"{uri.origin}, which names no port")
    return {**parts, **settings}


def _default_port(tls: bool) -> int:
    return HTTPS_PORT if tls else HTTP_PORT


def _uri_parts(uri: _Setting) -> _Settings:
    text = str(uri.value).strip()
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    # unescaped / ? # in a password move the rest of the address into path, query or fragment; a %
    # that begins no escape may be the password's own or the start of one that was mistyped
    odd = "@" in parts.path or parts.query or parts.fragment or BARE_PERCENT.search(text)
    if not host or odd:
        error = uri.wrong(f"{_URI}, with / ? # @ : and % in a password percent-encoded", show=False)
        raise error
    if parts.scheme not in ("http", "https"):
        raise uri.wrong(f"the management API's address, {_URI}", show=False)
    found: dict[str, object] = {"host": host, "port": port, "use_tls": parts.scheme == "https"}
    if parts.path.strip("/"):
        found["path_prefix"] = parts.path
    if parts.username:
        found["username"] = unquote(parts.username)
    if parts.password is not None:
        found["password"] = Secret(unquote(parts.password))
    return {name: _Setting(value, uri.origin) for name, value in found.items() if value is not None}


def _revealed(value: object) -> str:
    return value.reveal() if isinstance(value, Secret) else str(value)


def _text(setting: _Setting | None) -> str | None:
    return None if setting is None or setting.value == "" else str(setting.value)


def _username(setting: _Setting | None) -> str:
    name = _text(setting) or "guest"
    if ":" in name and setting is not None:
        raise setting.wrong("a user name without ':', which HTTP cannot carry")
    return name


def _host(setting: _Setting | None) -> str:
    if setting is None:
        return "localhost"
    host = str(setting.value).strip().removeprefix("[").removesuffix("]")
    try:
        return f"[{host}]" if ipaddress.ip_address(host).version == 6 else host
    except ValueError:
        pass
    if not host or any(c in "/@:?#\\[]" or c.isspace() or not c.isprintable() for c in host):
        # a whole address may hold a password
        raise setting.wrong("a host name or address alone (a whole address: --base-uri)", False)
    return host


def _port(setting: _Setting | None, tls: bool) -> int:
    if setting is None:
        return _default_port(tls)
    text = str(setting.value).strip()
    port = int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else 0
    if not 0 < port < 65536:
        raise setting.wrong("a port between 1 and 65535")
    return port


def _flag(setting: _Setting | None) -> bool:
    if setting is None:
        return False
    word = str(setting.value).strip().lower()
    if word not in _TRUE | _FALSE:
        raise setting.wrong("true or false")
    return word in _TRUE


def _timeout(setting: _Setting | None) -> float:
    if setting is None:
        return DEFAULT_TIMEOUT
    try:
        seconds = float(str(setting.value).strip().removesuffix("s"))
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= 86400:
        raise setting.wrong("a number of seconds above 0")
    return seconds


def _prefix(setting: _Setting | None) -> str:
    """The prefix without /api: rabbitmqadmin's older form has it before that, the newer with it."""
    parts = [part for part in (_text(setting) or "").strip().split("/") if part]
    if setting is not None and _odd(parts):
        raise setting.wrong("a path such as /rabbit", show=False)
    if parts and parts[-1] == "api":
        parts.pop()
    return "".join(f"/{part}" for part in parts)


def _odd(parts: Iterable[str]) -> bool:
    return any(
        part in (".", "..") or any(c in "?#@\\" or c.isspace() or not c.isprintable() for c in part)
        for part in parts
    )


def _path(name: str, settings: _Settings, home: Path) -> str | None:
    setting = settings.get(name)
    text = _text(setting)
    return None if text is None else str(_expanded(text, home))


def _expanded(path: str, home: Path) -> Path:
    return home / path[2:] if path.startswith("~/") else Path(path)
