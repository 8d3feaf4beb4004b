"""Versions of Celery and kombu that requirements and lock files allow."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.celery.facts import Package
from prefetch_advisor.lint.kinds.kind import Kind
from prefetch_advisor.model.lint import Place

_WANTED = ("celery", "kombu")
_REQUIREMENT = re.compile(
    r"[ \t]*(?P<name>celery|kombu)[ \t]*(?:\[[^\]]*\])?[ \t]*(?P<said>[^;#\n]*)", re.IGNORECASE
)
_CLAUSE = re.compile(r"\s*(===|==|~=|!=|>=|<=|>|<|\^|~)?\s*v?([0-9]+(?:\.[0-9]+)*)(\.\*)?[^,]*")
_LOCKED = re.compile(r'\[\[package\]\]\s*\nname = "(celery|kombu)"\s*\nversion = "([^"]+)"')
_PIPFILE = re.compile(r'"(celery|kombu)":\s*\{[^{}]*?"version":\s*"([^"]+)"', re.DOTALL)
_LOCKS = {"poetry.lock", "uv.lock", "pdm.lock"}


def _read(file: SourceFile) -> Iterator[object]:
    name = PurePosixPath(file.path).name
    if name in _LOCKS or name == "Pipfile.lock":
        pattern = _PIPFILE if name == "Pipfile.lock" else _LOCKED
        for found in pattern.finditer(file.text.replace("\r\n", "\n")):
            said = found[2] if found[2].startswith("=") else f"=={found[2]}"
            yield from _package(found[1], said, file.place_at(found.start(1)))
    elif name in ("pyproject.toml", "Pipfile"):
        yield from _toml(file)
    else:
        for number, line in enumerate(file.lines, 1):
            told = _REQUIREMENT.match(line)
            if told and not told["said"][:1].isalnum():
                yield from _package(told["name"], told["said"], file.place(number))


def _package(name: str, said: str, place: Place) -> Iterator[Package]:
    bounds = _range(said)
    if bounds is not None:
        yield Package(name.lower(), place, *bounds)


def _range(said: str) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """From which version, included, to which, excluded; ``None`` for what is no list of versions.

    A bare version is what Poetry takes for ``^``, a star for any.
    """
    said = said.strip().strip("()").strip()
    if said in ("", "*"):
        return (), ()
    low: tuple[int, ...] = ()
    high: tuple[int, ...] = ()
    for clause in said.split(","):
        found = _CLAUSE.fullmatch(clause.strip())
        if found is None:
            return None
        version = tuple(int(part[:9]) for part in found[2].split("."))
        below, above = _clause(found[1] or "^", version, bool(found[3]))
        low = max(low, below)
        high = min(filter(None, (high, above)), default=())
    return low, high


def _clause(
    kind: str, version: tuple[int, ...], star: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if kind in ("==", "==="):
        return version, _next(version if star else (*version, 0, 0)[: max(len(version), 3)])
    if kind in (">=", ">"):
        return version, ()
    if kind == "<":
        return (), version
    if kind == "<=":
        return (), _next(version)
    if kind == "~=":
        return version, _next(version[:-1] or version)
    if kind == "~":
        return version, _next(version[:2])
    if kind == "^":
        leading = next((at for at, part in enumerate(version) if part), len(version) - 1)
        return version, _next(version[: leading + 1])
    return (), ()


def _next(version: tuple[int, ...]) -> tuple[int, ...]:
    return (*version[:-1], version[-1] + 1)


def _toml(file: SourceFile) -> Iterator[Package]:
    try:
        table = tomllib.loads(file.text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return  # others read this file for what it is for, and say so
    for name, said in _declared(table):
        place = next(
            (
                file.place(number)
                for number, line in enumerate(file.lines, 1)
                if re.match(rf"\s*[\"']?{name}\b", line, re.IGNORECASE)
            ),
            file.place(1),
        )
        yield from _package(name, said, place)


def _declared(table: dict[str, object]) -> Iterator[tuple[str, str]]:
    project, tool = table.get("project"), table.get("tool")
    listed = project.get("dependencies") if isinstance(project, dict) else None
    for each in listed if isinstance(listed, list) else []:
        found = _REQUIREMENT.match(each) if isinstance(each, str) else None
        if found and not found["said"][:1].isalnum():
            yield found["name"].lower(), found["said"]
    poetry = tool.get("poetry") if isinstance(tool, dict) else None
    for holder in (
        poetry.get("dependencies") if isinstance(poetry, dict) else None,
        table.get("packages"),
    ):
        if not isinstance(holder, dict):
            continue
        for name in _WANTED:
            said = holder.get(name)
            said = said.get("version") if isinstance(said, dict) else said
            if isinstance(said, str):
                yield name, said


def _named(path: PurePosixPath) -> bool:
    name = path.name
    if path.suffix in (".txt", ".in"):
        return "requirements" in name or path.parent.name == "requirements"
    return name in _LOCKS or name in ("Pipfile", "Pipfile.lock", "pyproject.toml")


KIND = Kind(
    "list of Python packages",
    _named,
    lambda data: b"celery" in data.lower() or b"kombu" in data.lower(),
    _read,
)
