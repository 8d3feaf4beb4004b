"""application.yml, .yaml and .properties, with their profiles and the files beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.jvm import documents, smallrye, spring
from prefetch_advisor.lint.kinds.jvm.documents import Document, Property, Settings, relaxed
from prefetch_advisor.lint.kinds.kind import Kind, Skipped, Unparsable
from prefetch_advisor.model.lint import Consumer, LintFinding

_NAME = re.compile(r"(application|bootstrap|microprofile-config)(?:-(.+))?\.(ya?ml|properties)")
#: the later ones win
_ENDINGS = ("yaml", "yml", "properties")
#: a file beside this one that is longer is not read for it
_MOST_BYTES = 1_000_000
#: each of them is one more reading of all settings
_MOST_PROFILES = 50


def _named(path: PurePosixPath) -> bool:
    return (
        path.suffix in (".yml", ".yaml", ".properties") and _NAME.fullmatch(path.name) is not None
    )


def _holds(data: bytes) -> bool:
    return b"rabbit" in data.lower() or b"max-outstanding-messages" in data


def _read(file: SourceFile) -> Iterator[object]:
    from prefetch_advisor.lint.kinds.yaml_text import Templated

    try:
        own = documents.documents(file)
    except Templated:
        yield Skipped(file.place(1), "a template, not the YAML that it makes")
        return
    name = PurePosixPath(file.path).name
    stem, profile = _parts(name)
    parts: list[Document] = []
    for each in (None, profile) if profile else (None,):
        # of a profile and of none: a later ending wins, and any of a profile
        for ending in _ENDINGS:
            other = f"{stem}-{each}.{ending}" if each else f"{stem}.{ending}"
            found = own if other == name else _beside(file, other)
            parts += _for(found, each)
    parts.sort(key=lambda part: bool(part.profiles))
    elsewhere = [one for part in parts if part.profiles for one in part.properties]
    if profile is None:
        elsewhere += _of_other_profiles(file, stem)
    base = dict.fromkeys(_said(parts, None, elsewhere))
    if profile is None:
        yield from _of(file, base)
    profiles = sorted({name for part in parts for name in part.profiles})
    if len(profiles) > _MOST_PROFILES:
        reason = f"more than {_MOST_PROFILES} profiles, of which these are read"
        yield Skipped(file.place(1), reason)
    for each in profiles[:_MOST_PROFILES]:
        yield from (
            _of_profile(said, each) for said in _of(file, _said(parts, each)) if said not in base
        )


def _for(found: list[Document], profile: str | None) -> list[Document]:
    """Documents of a file for a profile, which all need it."""
    if profile is None:
        return found
    only = frozenset({profile})
    return [Document(each.profiles or only, each.properties) for each in found]


def _parts(name: str) -> tuple[str, str | None]:
    """The name of the settings, and the profile that the file's name has."""
    found = _NAME.fullmatch(name)
    return (found[1], found[2]) if found else (name, None)


def _beside(file: SourceFile, name: str) -> list[Document]:
    """Documents of a file that the application reads together with this one."""
    from prefetch_advisor.lint.kinds.yaml_text import Templated

    location = file.location.with_name(name)
    try:
        # neither a link, which may lead out of the tree, nor a pipe, which may never end
        if location.is_symlink() or not location.is_file():
            return []
        if location.stat().st_size > _MOST_BYTES:
            return []
        text = location.read_bytes().decode("utf-8-sig", "surrogateescape")
        path = str(PurePosixPath(file.path).with_name(name))
        return documents.documents(SourceFile(path, text, location))
    except (OSError, Templated, Unparsable):
        # it is read, and complained of, by itself
        return []


def _of_other_profiles(file: SourceFile, stem: str) -> Iterator[Property]:
    """What the files of profiles beside this one set."""
    try:
        names = sorted(each.name for each in file.location.parent.iterdir())
    except OSError:
        return
    others = [each for each in names if _parts(each)[0] == stem and _parts(each)[1]]
    for each in others[:_MOST_PROFILES]:
        for document in _beside(file, each):
            yield from document.properties


def _said(
    parts: list[Document], profile: str | None, elsewhere: Iterable[Property] = ()
) -> Iterator[Consumer | LintFinding]:
    """What is said for a profile; ``elsewhere``: what other profiles set besides."""
    settings = Settings(parts, profile)
    yield from spring.consumers(settings, frozenset(relaxed(each.key) for each in elsewhere))
    yield from smallrye.consumers(settings, smallrye.limited_channels(elsewhere))


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
