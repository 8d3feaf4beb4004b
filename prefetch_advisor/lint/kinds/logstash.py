"""Logstash pipelines: the rabbitmq input."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from prefetch_advisor.findings import apps
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Kind, Skipped, Unparsable
from prefetch_advisor.model.lint import Consumer, LintFinding, Located

#: the plugin's default; it acks once for as many
_PREFETCH = 256
_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n\r]*)
      | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<arrow>=>)
      | (?P<match>[=!]~(?:\s*/(?:[^/\\\n]|\\.)*/)?)
      | (?P<open>\{) | (?P<close>\})
      | (?P<word>\$\{[^}\n]{0,200}\}|[\w.@-]+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_ARROW = re.compile(r"\s*=>")
_BRACE = re.compile(r"\s*\{")
_VARIABLE = re.compile(r"\$\{([\w.]+)(?::([^}]{0,200}))?\}")


def _named(path: PurePosixPath) -> bool:
    return path.suffix in (".conf", ".logstash")


def _holds(data: bytes) -> bool:
    # in this order of cost: the second is not looked for in most files
    found = re.search(rb"\brabbitmq\s*\{", data)
    return found is not None and re.search(rb"\binput\s*\{", data) is not None


@dataclass(slots=True)
class _Block:
    """An opened brace: a section, a plugin, a condition, or a value."""

    name: str
    offset: int
    settings: dict[str, tuple[str, int]] = field(default_factory=dict)
    #: a value or codec within a plugin
    inner: bool = False


def _read(file: SourceFile) -> Iterator[object]:
    found: list[Consumer | LintFinding] = []
    blocks: list[_Block] = []
    word, key, offset = "", "", 0
    for token in _TOKEN.finditer(file.text):
        kind, text, end = token.lastgroup, token[0], token.end()
        if kind == "space":
            continue
        top = blocks[-1] if blocks else None
        if kind == "open":
            if file.text[end : end + 1] in ("{", "%"):
                yield Skipped(file.place_at(end), "a template, not the pipeline that it makes")
                return
            inner = top is not None and (top.inner or bool(key))
            blocks.append(_Block("" if inner else word, offset, inner=inner))
            word = key = ""
        elif kind == "close":
            if top is None:
                raise _unparsable(file, token.start(), "a closing brace without an opening one")
            blocks.pop()
            if top.name == "rabbitmq" and blocks and blocks[0].name == "input" and not top.inner:
                found += _input(file, top)
            word = key = ""
        elif kind == "arrow":
            key = word
        elif kind in ("word", "text"):
            if key and top is not None:
                top.settings[key] = (_bare(text), token.start())
                # a value may be a plugin: codec => json { }
                key = key if kind == "word" and _BRACE.match(file.text, end) else ""
            # a text names a setting, but no block
            named = kind == "word" or _ARROW.match(file.text, end)
            word, offset = _bare(text) if named else "", token.start()
        elif text in "\"'":
            raise _unparsable(file, token.start(), "a text in quotes that does not end")
    if blocks:
        raise _unparsable(file, blocks[-1].offset, f"{blocks[-1].name or 'a brace'} is not closed")
    yield from found


def _bare(text: str) -> str:
    return text[1:-1] if text[0] in "\"'" else text


def _unparsable(file: SourceFile, offset: int, message: str) -> Unparsable:
    place = file.place_at(offset)
    return Unparsable(message, place.line, place.column)


def _input(file: SourceFile, block: _Block) -> Iterator[Consumer | LintFinding]:
    at = file.place_at(block.offset)
    queue, prefetch = _text(file, block, "queue"), _number(file, block, "prefetch_count")
    subject = queue.value if queue and queue.value else "rabbitmq input"
    if "prefetch_count" not in block.settings:
        prefetch = Located(_PREFETCH, at, "the default")
    elif prefetch is not None and prefetch.value == 0:
        message = "prefetch_count 0 leaves the input's own queue without a place"
        severity = None if prefetch.certain else apps.PREFETCH_ZERO_REFUSED.severity.WARNING
        finding = apps.PREFETCH_ZERO_REFUSED.finding(subject, message, severity=severity)
        yield LintFinding(finding, prefetch.place)
        prefetch = None
    acked = _text(file, block, "ack")
    mode = {"true": "manual", "false": "auto"}.get(acked.value) if acked else None
    if mode == "auto" and prefetch is not None and prefetch.origin:
        prefetch = None
    threads = _number(file, block, "threads")
    yield Consumer(
        subject,
        "Logstash",
        at,
        queue=queue.value if queue and queue.value and queue.certain else None,
        prefetch=prefetch if prefetch and prefetch.value > 0 else None,
        ack=Located("auto" if mode == "auto" else "manual", acked.place, certain=acked.certain)
        if acked and mode
        else None,
        consumers=threads if threads and threads.value > 0 else None,
    )


def _text(file: SourceFile, block: _Block, key: str) -> Located[str] | None:
    """A value with the default of its variable; ``None``: not set, or without a default."""
    if key not in block.settings:
        return None
    text, offset = block.settings[key]
    found = _VARIABLE.search(text)
    if found is None:
        return Located(text, file.place_at(offset))
    if found[0] != text or found[2] is None:
        return None
    origin = f"the default of ${{{found[1]}}}"
    return Located(found[2], file.place_at(offset), origin, certain=False)


def _number(file: SourceFile, block: _Block, key: str) -> Located[int] | None:
    text = _text(file, block, key)
    if text is None or not re.fullmatch(r"[0-9]{1,12}", text.value):
        return None
    return Located(int(text.value), text.place, text.origin, text.certain)


KIND = Kind("a Logstash pipeline", _named, _holds, _read)
