"""rabbitmq.conf and the files of conf.d: one key and value on a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from prefetch_advisor.findings import broker_files
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.broker import timeouts
from prefetch_advisor.lint.kinds.broker.facts import NodeTimeout, Policy
from prefetch_advisor.lint.kinds.kind import Kind, Unparsable
from prefetch_advisor.lint.kinds.yaml_nodes import Scalar
from prefetch_advisor.model.lint import LintFinding, Located, Place

_KEYS = (
    b"consumer_timeout",
    b"default_consumer_prefetch",
    b"permit.global_qos",
    b"default_policies.operator",
)
_SETTING = re.compile(r"\s*([^\s=#]+)\s*=\s*(.*?)\s*(?:#.*)?")
#: a value that is put in when the file is made, or when it is read
_OPEN = re.compile(r"\{\{|\{%|\$\{|\$\(|<%|@\w+@")
_OPERATOR = re.compile(r"default_policies\.operator\.([^.]+)\.(\w+)")


class _Setting(NamedTuple):
    value: str
    key: Place
    place: Place


def _named(path: PurePosixPath) -> bool:
    return path.suffix == ".conf" and ("rabbit" in path.name or path.parent.name == "conf.d")


def _holds(data: bytes) -> bool:
    return any(key in data for key in _KEYS)


def _read(file: SourceFile) -> Iterator[object]:
    settings = _settings(file)
    for key, each in settings.items():
        if "default_consumer_prefetch" in key:
            message = f"{key} is no key of rabbitmq.conf: the node does not start"
            yield LintFinding(broker_files.WRONG_FILE.finding(key, message), each.key)
    elsewhere = settings.get("rabbit.consumer_timeout")
    if elsewhere is not None:
        message = "rabbit.consumer_timeout is no key of rabbitmq.conf: the node does not start"
        help_ = "Call it consumer_timeout."
        finding = broker_files.TIMEOUT_REFUSED.finding("consumer_timeout", message, help_)
        yield LintFinding(finding, elsewhere.key)
    timeout = settings.get("consumer_timeout")
    if timeout is not None and not _OPEN.search(timeout.value):
        yield from _timeout(timeout)
    permitted = settings.get("deprecated_features.permit.global_qos")
    if permitted is not None and permitted.value == "true":
        finding = broker_files.GLOBAL_QOS_PERMITTED.finding(
            "global_qos", "a prefetch shared by a channel's consumers is permitted"
        )
        yield LintFinding(finding, permitted.place)
    yield from _operator_policies(settings)


def _settings(file: SourceFile) -> dict[str, _Setting]:
    """The settings by key; the last of equal ones counts.

    Raises ``Unparsable`` for a line that is no setting, unless the file is a template.
    """
    found: dict[str, _Setting] = {}
    template = _OPEN.search(file.text) is not None
    for number, line in enumerate(file.lines, 1):
        bare = line.strip()
        if not bare or bare[0] == "#":
            continue
        parts = _SETTING.fullmatch(line)
        if parts is None:
            if template:
                continue
            column = len(line) - len(line.lstrip()) + 1
            raise Unparsable("expected KEY = VALUE", number, column)
        key, value = (file.place(number, parts.start(group) + 1) for group in (1, 2))
        found[parts[1]] = _Setting(parts[2], key, value)
    return found


def _timeout(setting: _Setting) -> Iterator[LintFinding | NodeTimeout]:
    if re.fullmatch(r"[0-9]{1,18}", setting.value) and int(setting.value) > 0:
        yield NodeTimeout(Located(int(setting.value) / 1000, setting.place, "consumer_timeout"))
        yield from timeouts.judged("consumer_timeout", int(setting.value), setting.place)
        return
    message = f"consumer_timeout = {setting.value or '(nothing)'}: the node does not start"
    finding = broker_files.TIMEOUT_REFUSED.finding("consumer_timeout", message)
    yield LintFinding(finding, setting.place)


def _operator_policies(settings: dict[str, _Setting]) -> Iterator[Policy]:
    """Those that every new virtual host gets."""
    found: dict[str, dict[str, _Setting]] = {}
    for key, each in settings.items():
        parts = _OPERATOR.fullmatch(key)
        if parts:
            found.setdefault(parts[1], {})[parts[2]] = each
    for name, own in found.items():
        keys = {
            key.replace("_", "-"): Scalar(each.value, each.place.line, each.place.column)
            for key, each in own.items()
        }
        pattern, applied = own.get("queue_pattern"), own.get("apply_to")
        yield Policy(
            name,
            None,
            pattern.value if pattern else "",
            applied.value if applied else "all",
            0,
            operator=True,
            keys=MappingProxyType(keys),
            everywhere=True,
        )


KIND = Kind("rabbitmq.conf", _named, _holds, _read)
