"""The configuration file of ``rabbitmqadmin``: INI for the old tool, TOML for the new one."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from prefetch_advisor.errors import InputError

#: keys of either form -> the name of the setting
_NAMES = {
    "hostname": "host",
    "port": "port",
    "username": "username",
    "password": "password",
    "vhost": "vhost",
    "virtual_host": "vhost",
    "base_uri": "base_uri",
    "path_prefix": "path_prefix",
    "ssl": "use_tls",
    "tls": "use_tls",
    "ssl_ca_cert_file": "tls_ca_cert_file",
    "ca_certificate_bundle_path": "tls_ca_cert_file",
    "ssl_cert_file": "tls_cert_file",
    "client_certificate_file_path": "tls_cert_file",
    "ssl_key_file": "tls_key_file",
    "client_private_key_file_path": "tls_key_file",
    "ssl_insecure": "insecure",
    "request_timeout": "timeout",
    "timeout": "timeout",
}
_EXPECTED = {"port": "a number", "use_tls": "true or false", "insecure": "true or false"}
_LARGEST = 1_000_000
_SECTION = re.compile(r"\s*\[\s*(.*?)\s*\]\s*(?:[#;].*)?")
_SETTING = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*[=:]\s*(.*)")
_TOML_PLACE = re.compile(r"\(at line (\d+)")
_FORMS = 'INI (hostname = rabbit.example) or TOML (hostname = "rabbit.example")'

#: name of a setting -> its value, and where it stands
Found = dict[str, tuple[object, str]]


def read_node(path: Path, node: str, *, optional: bool, section_optional: bool) -> Found:
    """The settings of the section ``node`` of a file; nothing of what is optional and absent.

    Raises:
        InputError: the file cannot be read or understood, or has no such section. The message
            names file and line, and never holds a value.
    """
    text = _text(path, optional)
    if text is None:
        return {}
    sections = _sections(text, path)
    if node not in sections:
        if section_optional:
            return {}
        known = ", ".join(repr(name) for name in sections) or "none"
        raise InputError(f"{path}: expected a section [{node}], found {known:.200}")
    found: Found = {}
    for key, value in sections[node].items():
        name = _NAMES.get(key)
        if name is not None and value is not None:
            origin = f"{path}:{_line_of(text, node, key)}: {key}"
            if isinstance(value, dict | list) or (isinstance(value, bool) and name == "port"):
                raise InputError(f"{origin}: expected {_EXPECTED.get(name, 'a text')}")
            found[name] = (value, origin)
    if sections[node].get("scheme") == "https":
        found["use_tls"] = (True, f"{path}:{_line_of(text, node, 'scheme')}: scheme")
    return found


def _text(path: Path, optional: bool) -> str | None:
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: expected a configuration file, found none: it is no file")
        with path.open("rb") as file:
            raw = file.read(_LARGEST + 1)
    except FileNotFoundError:
        if optional:
            return None
        raise InputError(f"{path}: there is no such configuration file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if len(raw) > _LARGEST:
        raise InputError(f"{path}: expected a configuration file, found more than 1 MB")
    text, line = None, 0
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
    if text is None or "\0" in text:
        line = line or (text or "").count("\n", 0, (text or "").find("\0")) + 1
        raise InputError(f"{path}:{line}: expected text in UTF-8, found other bytes")
    return text


def _sections(text: str, path: Path) -> Mapping[str, Mapping[str, object]]:
    """The sections by name. What is no TOML and has no text in quotes is INI."""
    line = 0
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _TOML_PLACE.search(str(error))
        line = int(found[1]) if found else _lines(text)
    else:
        return {name: part for name, part in document.items() if isinstance(part, dict)}
    if any(value.startswith(('"', "'")) for _, value in _settings(text)):
        raise InputError(
            f"{path}:{line}: expected TOML, whose texts are all in quotes, found something else "
            "(the INI form has no quotes)"
        )
    return _ini(text, path)


def _ini(text: str, path: Path) -> Mapping[str, Mapping[str, object]]:
    parser = configparser.ConfigParser()
    line, what = 0, f"a setting in {_FORMS}"
    try:
        parser.read_string(text)
    except configparser.MissingSectionHeaderError as error:
        line, what = error.lineno, "a section such as [default]"
    except configparser.ParsingError as error:
        line = error.errors[0][0]
    except configparser.DuplicateSectionError as error:
        line, what = error.lineno or 0, "each section once"
    except configparser.DuplicateOptionError as error:
        line, what = error.lineno or 0, "each setting once in its section"
    else:
        return {name: _items(parser, name) for name in parser.sections()}
    raise InputError(f"{path}:{line}: expected {what}, found something else")


def _items(parser: configparser.ConfigParser, section: str) -> Mapping[str, object]:
    """The values as rabbitmqadmin reads them, %% for %; a lone % stands for itself."""
    items: dict[str, object] = {}
    for key in parser.options(section):
        try:
            items[key] = parser.get(section, key)
        except configparser.InterpolationError:
            items[key] = parser.get(section, key, raw=True)
    return items


def _settings(text: str) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        found = _SETTING.match(line)
        if found is not None:
            yield found[1].lower(), found[2]


def _lines(text: str) -> int:
    return max(1, len(text.splitlines()))


def _line_of(text: str, node: str, key: str) -> int:
    """The line of a setting; that of its section where it is written in some other way."""
    within, section, general = False, 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        header = _SECTION.fullmatch(line)
        if header is not None:
            name = header[1].strip("\"'")
            within = name == node
            general = number if name == "DEFAULT" else general
            section = number if within else section
            continue
        found = _SETTING.match(line)
        if within and found is not None and found[1].lower() == key:
            return number
    return section or general or 1
