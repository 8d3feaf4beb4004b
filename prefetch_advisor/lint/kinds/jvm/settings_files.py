"""application.yml, .yaml and .properties, with their profiles and the files beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.jvm import documents, smallrye, spring
from prefetch_advisor.lint.kinds.jvm.documents import Document, Settings
from prefetch_advisor.lint.kinds.kind import Kind, Skipped, Unparsable
from prefetch_advisor.model.lint import Consumer, LintFinding

_NAME = re.compile(r"(application|bootstrap|microprofile-config)(?:-(.+))?\.(ya?ml|properties)")
#: the later ones win
_ENDINGS = ("yaml", "yml", "properties")
#: a file beside this one that is longer is not read for it
_MOST_BYTES = 1_000_000


def _named(path: PurePosixPath) -> bool:
    return (
        path.suffix in (".yml", ".yaml", ".properties") and _NAME.fullmatch(path.name) is not None
    )


def _holds(data: bytes) -> bool:
    return b"rabbit" in data.lower() or b"max-outstanding-messages" in data


def _read(file: SourceFile) -> Iterator[object]:
    from prefetch_advisor.lint.kinds.yaml_text import Templated

    name = _NAME.fullmatch(PurePosixPath(file.path).name)
    profile = name[2] if name else None
    try:
        own = _for(documents.documents(file), profile)
    except Templated:
        yield Skipped(file.place(1), "a template, not the YAML that it makes")
        return
    parts = [*_beside(file, profile), *own]
    parts = _in_order(parts)
    base = set(_said(parts, None))
    if profile is None:
        yield from _of(file, base)
    for each in sorted({name for part in parts for name in part.profiles}):
        yield from (
            _of_profile(said, each) for said in _of(file, _said(parts, each)) if said not in base
        )


def _for(found: list[Document], profile: str | None) -> list[Document]:
    """Documents of a file for a profile, which all need it."""
    if profile is None:
        return found
    only = frozenset({profile})
    return [Document(each.profiles or only, each.properties) for each in found]


def _in_order(parts: list[Document]) -> list[Document]:
    """Those of a profile after those of none."""
    return sorted(parts, key=lambda part: bool(part.profiles))


def _beside(file: SourceFile, profile: str | None) -> Iterator[Document]:
    """Documents of the files that the application reads together with this one."""
    from prefetch_advisor.lint.kinds.yaml_text import Templated

    path = PurePosixPath(file.path)
    stem = path.name.partition(".")[0].removesuffix(f"-{profile}" if profile else "")
    for ending in _ENDINGS:
        other = f"{stem}.{ending}"
        location = file.location.with_name(other)
        if other == path.name:
            continue
        try:
            if location.stat().st_size > _MOST_BYTES:
                continue
            text = location.read_bytes().decode("utf-8-sig", "surrogateescape")
            yield from documents.documents(SourceFile(str(path.with_name(other)), text, location))
        except (OSError, Templated, Unparsable):
            # it is read, and complained of, by itself
            continue


def _said(parts: list[Document], profile: str | None) -> Iterator[Consumer | LintFinding]:
    settings = Settings(parts, profile)
    elsewhere = [one for part in parts if part.profiles for one in part.properties]
    limited = smallrye.limited_channels(elsewhere) if profile is None else frozenset()
    yield from spring.consumers(settings)
    yield from smallrye.consumers(settings, limited)


def _of(
    file: SourceFile, said: Iterable[Consumer | LintFinding]
) -> Iterator[Consumer | LintFinding]:
    """What rests on this file, and not only on those beside it."""
    for each in said:
        if isinstance(each, LintFinding):
            places = [each.place]
        else:
            values = (each.prefetch, each.ack, each.concurrency, each.consumers, each.batch)
            places = [each.place, *(value.place for value in values if value)]
        if any(place.path == file.path for place in places):
            yield each


def _of_profile(said: Consumer | LintFinding, profile: str) -> Consumer | LintFinding:
    if isinstance(said, Consumer):
        return replace(said, subject=f"{said.subject} (profile {profile})")
    subject = f"{said.finding.subject} (profile {profile})"
    return replace(said, finding=replace(said.finding, subject=subject))


KIND = Kind("settings of Spring Boot or Quarkus", _named, _holds, _read)
