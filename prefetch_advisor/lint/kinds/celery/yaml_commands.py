"""Compose files and Kubernetes manifests: what their containers start, and with what set."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.broker.facts import NodeTimeout
from prefetch_advisor.lint.kinds.celery import airflow
from prefetch_advisor.lint.kinds.celery.command_files import WORTH
from prefetch_advisor.lint.kinds.celery.command_line import (
    Said,
    variables,
    workers,
    workers_in,
)
from prefetch_advisor.lint.kinds.celery.facts import RabbitVersion
from prefetch_advisor.lint.kinds.celery.shell_words import Word
from prefetch_advisor.lint.kinds.kind import Kind, Skipped
from prefetch_advisor.lint.kinds.yaml_nodes import Items, Node, Scalar, Table, get, string, walk
from prefetch_advisor.model.lint import Located, Place

_WORTH = (*WORTH, b"AIRFLOW__", b"rabbitmq:")
_IMAGE = re.compile(r"(?:.*/)?rabbitmq:([0-9]+(?:\.[0-9]+)*)(?:-[a-z0-9.-]*)?(?:@.*)?")
_TIMEOUT = re.compile(r"-rabbit\s+consumer_timeout\s+['\"]?([0-9]{1,15}|undefined)")
#: a block of text, of which YAML tells only where it begins, is searched this far
_MOST_LINES = 200
_MOST_CHARACTERS = 20_000


def _read(file: SourceFile) -> Iterator[object]:
    from prefetch_advisor.lint.kinds.yaml_text import Templated, documents

    try:
        roots = documents(file.text)
    except Templated:
        yield Skipped(file.place(1), "a template, not the YAML that it makes")
        return
    for root in roots:
        services = get(root, "services")
        if isinstance(services, Table) and get(root, "apiVersion") is None:
            for name, entry in services.entries.items():
                yield from _container(file, name, entry.value, ("entrypoint", "command"))
        elif string(get(root, "apiVersion")):
            yield from _manifest(file, root)


def _manifest(file: SourceFile, root: Node) -> Iterator[object]:
    if string(get(root, "kind")) == "ConfigMap":
        said = list(_environment(file, get(root, "data")))
        yield from variables(said)
        yield from airflow.from_environment(said)
        return
    for node in walk(root):
        for key in ("containers", "initContainers"):
            containers = get(node, key)
            for each in containers.items if isinstance(containers, Items) else ():
                name = string(get(each, "name")) or string(get(root, "metadata", "name")) or key
                yield from _container(file, name, each, ("command", "args"))


def _container(file: SourceFile, name: str, node: Node, keys: tuple[str, str]) -> Iterator[object]:
    """A service of compose or a container of Kubernetes: both are an entry point with arguments."""
    image = get(node, "image")
    found = _IMAGE.fullmatch(string(image) or "")
    if found and isinstance(image, Scalar):
        version = tuple(int(part[:9]) for part in found[1].split("."))
        # a tag of 4 is some 4.x: the least it may be
        yield RabbitVersion(file.place(image.line, image.column), (*version, 0, 0)[:3])
    environment = dict(_environment(file, get(node, "environment") or get(node, "env")))
    for value in environment.values():
        yield from _timeout(value)
    yield from variables(environment.items())
    yield from airflow.from_environment(environment.items())
    parts = [get(node, key) for key in keys]
    listed = [part for part in parts if isinstance(part, Items)]
    for part in parts:
        # text is split into words without a shell, which is the same for what is looked for
        if isinstance(part, Scalar) and (text := string(part)):
            yield from workers(text, partial(_place, file, part, text), name, environment)
    words = [_word(file, each) for part in listed for each in part.items]
    yield from workers_in(words, name, environment)


def _timeout(said: Said) -> Iterator[NodeTimeout]:
    """``-rabbit consumer_timeout N`` among the arguments of the broker's Erlang."""
    found = _TIMEOUT.search(said.value or "")
    if found:
        seconds = int(found[1]) / 1000 if found[1].isdigit() else math.inf
        yield NodeTimeout(Located(seconds, said.place, "consumer_timeout"))


def _word(file: SourceFile, node: Node) -> Word:
    text = string(node)
    place = file.place(node.line, node.column)
    if text is None or not isinstance(node, Scalar):
        return Word("", place, known=False)
    return Word(text, place, "$" not in text, partial(_place, file, node, text))


def _place(file: SourceFile, node: Scalar, text: str, offset: int) -> Place:
    """Of a word within a scalar, which may go on over lines that YAML has folded."""
    if offset > _MOST_CHARACTERS:
        return file.place(node.line, node.column)
    word = re.split(r"\s", text[offset : offset + 200], maxsplit=1)[0]
    before = text[:offset].count(word) if word else 0
    for number in range(node.line, min(node.line + _MOST_LINES, len(file.lines) + 1)):
        line = file.lines[number - 1]
        start = node.column - 1 if number == node.line else 0
        at = line.find(word, start) if word else -1
        while at >= 0:
            if not before:
                return file.place(number, at + 1)
            before -= 1
            at = line.find(word, at + len(word))
    return file.place(node.line, node.column)


def _environment(file: SourceFile, node: Node | None) -> Iterator[tuple[str, Said]]:
    """A mapping, a list of NAME=VALUE, or Kubernetes' list of names with values."""
    if isinstance(node, Table):
        for name, entry in node.entries.items():
            yield name, _said(file, entry.value)
    for each in _items(node):
        if isinstance(each, Table):
            called, value = string(get(each, "name")), get(each, "value")
            if called and value is not None:
                yield called, _said(file, value)
            elif called:
                yield called, Located(None, file.place(each.line, each.column))
        elif (text := string(each)) and "=" in text:
            variable, _, value_text = text.partition("=")
            known = None if "$" in value_text else value_text
            yield variable, Located(known, file.place(each.line, each.column))


def _items(node: Node | None) -> Iterable[Node]:
    return node.items if isinstance(node, Items) else ()


def _said(file: SourceFile, node: Node) -> Said:
    text = string(node)
    return Located(None if text and "$" in text else text, file.place(node.line, node.column))


def _named(path: PurePosixPath) -> bool:
    return path.suffix in (".yml", ".yaml")


KIND = Kind(
    "compose file or Kubernetes manifest",
    _named,
    lambda data: (
        any(word in data for word in _WORTH) and (b"services:" in data or b"apiVersion:" in data)
    ),
    _read,
)
