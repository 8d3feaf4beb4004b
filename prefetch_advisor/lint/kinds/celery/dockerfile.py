"""Dockerfiles: what a stage starts, in the shell form or as a list, with its environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.celery.airflow import from_environment
from prefetch_advisor.lint.kinds.celery.command_files import WORTH
from prefetch_advisor.lint.kinds.celery.command_line import Said, variables, workers, workers_in
from prefetch_advisor.lint.kinds.celery.shell_words import Word, assignment, commands
from prefetch_advisor.lint.kinds.kind import Kind
from prefetch_advisor.model.lint import Located, Place

_INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+")
#: an element of a list; JSON has no other quotes
_ELEMENT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_OLD_ENV = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)[ \t]+(.+)", re.DOTALL)


@dataclass(frozen=True)
class _Part:
    """An ENTRYPOINT or a CMD."""

    start: int
    text: str

    def listed(self, file: SourceFile) -> list[Word] | None:
        """Its words if it is a list."""
        text = self.text.strip()
        if not text.startswith("[") or not text.endswith("]"):
            return None
        return [
            Word(
                _ESCAPED.sub(r"\1", element[1]),
                file.place_at(self.start + element.start(1)),
                "$" not in element[1],
            )
            for element in _ELEMENT.finditer(self.text)
        ]


@dataclass
class _Stage:
    name: str = ""
    environment: dict[str, Said] = field(default_factory=dict)
    entrypoint: _Part | None = None
    command: _Part | None = None
    #: it says itself what it starts
    own: bool = False


def _read(file: SourceFile) -> Iterator[object]:
    stages: dict[str, _Stage] = {}
    stage = _Stage()
    for keyword, start, text in _instructions(file.text):
        if keyword == "FROM":
            yield from _started(file, stage)
            stage = _next(stages, stage, text)
        elif keyword == "ENV":
            said = list(_environment(file, start, text))
            stage.environment.update(said)
            yield from variables(said)
            yield from from_environment(said)
        elif keyword == "ENTRYPOINT":
            # a new entry point forgets the command of the stage below
            kept = stage.command if stage.own else None
            stage.entrypoint, stage.command, stage.own = _Part(start, text), kept, True
        elif keyword == "CMD":
            stage.command, stage.own = _Part(start, text), True
    yield from _started(file, stage)


def _next(stages: dict[str, _Stage], last: _Stage, text: str) -> _Stage:
    """The stage that FROM begins: as the one it is made from, where that is of this file."""
    if last.name:
        stages[last.name] = last
    words = [word for word in text.split() if not word.startswith("--")]
    below = stages.get(words[0].lower(), _Stage()) if words else _Stage()
    name = words[2].lower() if len(words) > 2 and words[1].lower() == "as" else ""
    return replace(below, name=name, environment=dict(below.environment), own=False)


def _instructions(text: str) -> Iterator[tuple[str, int, str]]:
    """Each instruction, where its arguments begin, and these; comments in them blanked."""
    lines = text.split("\n")
    at = number = 0
    while number < len(lines):
        line, start = lines[number], at
        number, at = number + 1, at + len(line) + 1
        found = _INSTRUCTION.match(line)
        if found is None or line.lstrip().startswith("#"):
            continue
        parts = [line]
        while parts[-1].rstrip().endswith("\\") or (len(parts) > 1 and not parts[-1].strip()):
            if number >= len(lines):
                break
            line = lines[number]
            blank = line.lstrip().startswith("#") or not line.strip()
            # as long as it was: offsets stay; the line goes on
            parts.append(" " * (len(line) - 1) + "\\" if blank and line else line)
            number, at = number + 1, at + len(line) + 1
        whole = "\n".join(parts)
        yield found[1].upper(), start + found.end(), whole[found.end() :]


def _environment(file: SourceFile, start: int, text: str) -> Iterator[tuple[str, Said]]:
    for words in commands(text, lambda at: file.place_at(start + at)):
        pairs = [pair for word in words if (pair := assignment(word))]
        if len(pairs) == len(words):
            for name, value in pairs:
                yield name, Located(value.text if value.known else None, value.place)
        elif old := _OLD_ENV.match(text):
            value_text = old[2].strip()
            known = None if "$" in value_text else value_text
            yield old[1], Located(known, file.place_at(start + old.start(2)))
        return


def _started(file: SourceFile, stage: _Stage) -> Iterator[object]:
    """What a stage starts; an entry point that is no list takes no arguments from CMD."""
    if not stage.own:
        return
    subject = stage.name or PurePosixPath(file.path).name
    words: list[Word] = []
    for part in (stage.entrypoint, stage.command):
        if part is None:
            continue
        listed = part.listed(file)
        if listed is None:
            if not words:
                placed = partial(_from, file, part.start)
                yield from workers(part.text, placed, subject, stage.environment)
            break
        words += listed
    yield from workers_in(words, subject, stage.environment)


def _from(file: SourceFile, start: int, offset: int) -> Place:
    return file.place_at(start + offset)


def _named(path: PurePosixPath) -> bool:
    name = path.name.lower()
    return name.startswith(("dockerfile", "containerfile")) or name.endswith(".dockerfile")


KIND = Kind(
    "Dockerfile",
    _named,
    lambda data: any(word in data for word in (*WORTH, b"AIRFLOW__")),
    _read,
)
