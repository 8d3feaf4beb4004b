"""Symfony Messenger: a prefetch_count that its AMQP transport does not use.

Until 8.1 the transport fetches one message at a time with basic.get. prefetch_count was accepted
without effect up to 5.4 (deprecated from 5.3), is refused from 6.0, and is read from 8.2 on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from prefetch_advisor.findings import apps
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Kind, Skipped
from prefetch_advisor.lint.kinds.yaml_nodes import Node, Scalar, Table, get, integer, string
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import Consumer, LintFinding, Located

_PACKAGES = ("symfony/amqp-messenger", "symfony/messenger")
_READ_FROM = (8, 2)
_REFUSED_FROM = (6, 0)
_MOST_BYTES = 8_000_000
_QUERY = re.compile(r"[?&]prefetch_count=(\d{1,9})(?![^&#])")


def _named(path: PurePosixPath) -> bool:
    return path.suffix in (".yml", ".yaml")


def _holds(data: bytes) -> bool:
    return b"prefetch_count" in data and b"messenger" in data and b"transports" in data


def _read(file: SourceFile) -> Iterator[object]:
    from prefetch_advisor.lint.kinds import yaml_text

    try:
        roots = yaml_text.documents(file.text)
    except yaml_text.Templated:
        yield Skipped(file.place(1), "a template, not the YAML that it makes")
        return
    for root in roots:
        for name, entry in root.entries.items() if isinstance(root, Table) else ():
            node = get(entry.value, "framework") if name.startswith("when@") else entry.value
            if name == "framework" or name.startswith("when@"):
                yield from _transports(file, get(node, "messenger", "transports"))


def _transports(file: SourceFile, node: Node | None) -> Iterator[Consumer | LintFinding]:
    for name, entry in node.entries.items() if isinstance(node, Table) else ():
        transport = entry.value
        dsn = transport if isinstance(transport, Scalar) else get(transport, "dsn")
        text = string(dsn) or ""
        scheme = text.partition("://")[0] if "://" in text and "%" not in text[:8] else ""
        if scheme and scheme not in ("amqp", "amqps"):
            continue
        for setting in _settings(file, transport, dsn, text):
            yield from _judged(file, name, setting, known=bool(scheme))


def _settings(
    file: SourceFile, transport: Node, dsn: Node | None, text: str
) -> Iterator[Located[int]]:
    found = _QUERY.search(text)
    if found and isinstance(dsn, Scalar):
        yield Located(int(found[1]), file.place(dsn.line, dsn.column))
    options = get(transport, "options")
    queues = get(options, "queues")
    within = [entry.value for entry in queues.entries.values()] if isinstance(queues, Table) else []
    for each in (options, *within):
        node = get(each, "prefetch_count")
        value = integer(node)
        if node is not None and value is not None:
            yield Located(value, file.place(node.line, node.column))


def _judged(
    file: SourceFile, name: str, setting: Located[int], known: bool
) -> Iterator[Consumer | LintFinding]:
    """``known``: the DSN is there and is AMQP's; else the lock file has to say so."""
    installed = _installed(file)
    version = next((installed[each] for each in _PACKAGES if each in installed), None)
    other = any("amqp" in each and "messenger" in each for each in installed.keys() - {*_PACKAGES})
    if not known and (version is None or _PACKAGES[0] not in installed or other):
        return
    if version is not None and version >= _READ_FROM:
        if setting.value > 0:
            yield Consumer(name, "Symfony Messenger", setting.place, prefetch=setting)
        return
    if version is None:
        severity, message = Severity.INFO, "before Symfony 8.2 prefetch_count has no effect"
    elif version < _REFUSED_FROM:
        severity, message = Severity.WARNING, "prefetch_count has no effect"
    else:
        severity = Severity.ERROR if known else Severity.WARNING
        message = "prefetch_count is no option: the transport refuses to start"
    told = f" in Symfony {version[0]}.{version[1]}" if version else ""
    finding = apps.UNUSED_PREFETCH.finding(
        name,
        f"{message}{told}; messages are fetched one at a time",
        "Remove prefetch_count, or update to Symfony 8.2; start more workers for more throughput.",
        severity,
    )
    yield LintFinding(finding, setting.place)


def _installed(file: SourceFile) -> dict[str, tuple[int, int]]:
    """Packages in the next composer.lock at or above the file's directory, with their versions."""
    directory = file.location.parent
    for _ in range(min(len(PurePosixPath(file.path).parts), 8)):
        lock = directory / "composer.lock"
        try:
            if lock.is_file() and lock.stat().st_size <= _MOST_BYTES:
                return _versions(json.loads(lock.read_bytes()))
        except (OSError, ValueError, RecursionError):
            pass
        directory = directory.parent
    return {}


def _versions(lock: object) -> dict[str, tuple[int, int]]:
    found = {}
    packages = lock.get("packages") if isinstance(lock, dict) else None
    for package in packages if isinstance(packages, list) else ():
        if not isinstance(package, dict):
            continue
        version = re.match(r"v?(\d{1,4})\.(\d{1,4})", str(package.get("version")))
        if version:
            found[str(package.get("name"))] = int(version[1]), int(version[2])
    return found


KIND = Kind("Symfony's Messenger", _named, _holds, _read)
