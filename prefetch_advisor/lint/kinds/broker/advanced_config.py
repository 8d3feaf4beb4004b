"""advanced.config, and rabbitmq.config of old: settings as Erlang terms."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from prefetch_advisor.findings import broker_files
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.broker import timeouts
from prefetch_advisor.lint.kinds.broker.erlang_text import Atom, Many, Term, pairs, terms
from prefetch_advisor.lint.kinds.broker.facts import NodeDefault, NodeTimeout
from prefetch_advisor.lint.kinds.kind import Kind, Skipped, Unparsable
from prefetch_advisor.model.lint import LintFinding, Located, Place

_KEYS = (b"consumer_timeout", b"default_consumer_prefetch", b"permit_deprecated_features")
_DEFAULT = "default_consumer_prefetch"


def _named(path: PurePosixPath) -> bool:
    return path.suffix == ".config"


def _holds(data: bytes) -> bool:
    return any(key in data for key in _KEYS) and b"{" in data


def _read(file: SourceFile) -> Iterator[object]:
    try:
        found = terms(file)
    except Unparsable:
        if not re.search(r"\{\{|\{%|<%", file.text):
            raise
        yield Skipped(file.place(1), "a template, not the settings that it makes")
        return
    for term in found:
        for application, settings in pairs(term):
            if application.text == _DEFAULT:
                yield _elsewhere(file, application, "no application")
            for key, value in pairs(settings):
                if application.text == "rabbit":
                    yield from _setting(file, key, value)
                elif key.text == _DEFAULT:
                    yield _elsewhere(file, key, application.text)


def _place(file: SourceFile, term: Term) -> Place:
    return file.place(term.line, term.column)


def _elsewhere(file: SourceFile, key: Atom, where: str) -> LintFinding:
    message = f"{_DEFAULT} is set for {where}: nothing reads it there"
    return LintFinding(broker_files.WRONG_FILE.finding(_DEFAULT, message), _place(file, key))


def _setting(
    file: SourceFile, key: Atom, value: Term
) -> Iterator[LintFinding | NodeTimeout | NodeDefault]:
    if key.text == _DEFAULT:
        yield from _default(file, value)
    elif key.text == "consumer_timeout" and isinstance(value, Atom):
        if re.fullmatch(r"[0-9][0-9_]{0,17}", value.text) and int(value.text) > 0:
            place = _place(file, value)
            yield NodeTimeout(Located(int(value.text) / 1000, place, "consumer_timeout"))
            yield from timeouts.judged("consumer_timeout", int(value.text), place)
        elif re.fullmatch(r"[a-z]\w*", value.text):
            yield NodeTimeout(Located(math.inf, _place(file, value), "consumer_timeout"))
            finding = broker_files.TIMEOUT_DISABLED.finding(
                "consumer_timeout", f"consumer_timeout is {value.text}: nothing ends a delivery"
            )
            yield LintFinding(finding, _place(file, value))
    elif key.text == "permit_deprecated_features":
        for feature, permitted in pairs(value):
            true = isinstance(permitted, Atom) and permitted.text == "true"
            if feature.text == "global_qos" and true:
                finding = broker_files.GLOBAL_QOS_PERMITTED.finding(
                    "global_qos", "a prefetch shared by a channel's consumers is permitted"
                )
                yield LintFinding(finding, _place(file, permitted))


def _default(file: SourceFile, value: Term) -> Iterator[LintFinding | NodeDefault]:
    parts = value.parts if isinstance(value, Many) and value.kind == "{" else []
    words = [part.text for part in parts if isinstance(part, Atom) and not part.quoted]
    fits = len(words) == len(parts) == 2 and words[0] in ("true", "false")
    if not fits or not re.fullmatch(r"[0-9]{1,9}", words[1]):
        finding = broker_files.DEFAULT_MALFORMED.finding(
            _DEFAULT, f"{_DEFAULT} is not {{true or false, a number}}: no channel opens"
        )
        yield LintFinding(finding, _place(file, value))
        return
    yield NodeDefault(Located(int(words[1]), _place(file, value), _DEFAULT))
    if words[0] == "true" and int(words[1]) > 0:
        message = f"{_DEFAULT} {{true, {words[1]}}} is shared by the consumers of a channel"
        finding = broker_files.GLOBAL_QOS_PERMITTED.finding(
            _DEFAULT, message, f"Set {{{_DEFAULT}, {{false, {words[1]}}}}}."
        )
        yield LintFinding(finding, _place(file, value))


KIND = Kind("advanced.config", _named, _holds, _read, comment="%")
