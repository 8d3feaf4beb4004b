"""Files that hold command lines: Procfile, systemd units, supervisor programs, shell scripts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.celery.command_line import Environment, Said, variables, workers
from prefetch_advisor.lint.kinds.celery.shell_words import Placed, Word, assignment, commands
from prefetch_advisor.lint.kinds.kind import Kind
from prefetch_advisor.model.lint import Located

#: what a file with a worker's command line holds
WORTH = (b"celery", b"CELERY_", b"dramatiq", b"DRAMATIQ_")
_PROCESS = re.compile(r"^([A-Za-z0-9_-]+):[ \t]*(.*)$", re.MULTILINE)
_SECTION = re.compile(r"\s*\[([^\]]+)\]\s*(?:[;#].*)?")
_SETTING = re.compile(r"\s*([A-Za-z_]+)\s*=\s*")
_PAIR = re.compile(r"""([A-Za-z_][A-Za-z0-9_]*)=("[^"]*"|'[^']*'|[^,\s]*)""")


def holds(data: bytes) -> bool:
    """Whether a worker may be started there, or a variable set that one reads."""
    return any(word in data for word in WORTH)


def _from(file: SourceFile, start: int) -> Placed:
    """Places in a text that begins at this character of the file."""
    return lambda at: file.place_at(start + at)


def _procfile(file: SourceFile) -> Iterator[object]:
    for process in _PROCESS.finditer(file.text):
        start = process.start(2)
        text = process[2].partition("\n")[0]
        yield from workers(text, _from(file, start), process[1])


def _script(file: SourceFile) -> Iterator[object]:
    yield from workers(file.text, file.place_at, PurePosixPath(file.path).name)


class _Section:
    """A section of an INI text: the texts of its settings, each with the offset where it begins."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.settings: list[tuple[str, int, str]] = []


def _sections(text: str, goes_on: Callable[[str, str], bool]) -> list[_Section]:
    """Sections with their settings; ``goes_on(line, next line)`` tells where a value continues."""
    found = [_Section("")]
    lines = text.splitlines(keepends=True)
    at = number = 0
    while number < len(lines):
        line, start = lines[number], at
        number, at = number + 1, at + len(line)
        if line.lstrip().startswith(("#", ";")):
            continue
        if header := _SECTION.fullmatch(line.rstrip("\r\n")):
            found.append(_Section(header[1].strip()))
        elif setting := _SETTING.match(line):
            while number < len(lines) and goes_on(lines[number - 1], lines[number]):
                at += len(lines[number])
                number += 1
            value = start + setting.end()
            found[-1].settings.append((setting[1], value, text[value:at]))
    return found


def _unit(file: SourceFile) -> Iterator[object]:
    """A systemd unit; a line that ends with a backslash goes on."""
    name = PurePosixPath(file.path).name
    for section in _sections(file.text, lambda line, _: line.rstrip("\r\n").endswith("\\")):
        environment = dict(_unit_environment(file, section))
        yield from variables(environment.items())
        for key, start, text in section.settings:
            if key == "ExecStart":
                skipped = len(text) - len(text.lstrip("@-:+!"))
                begin = start + skipped
                # systemd's own % specifiers stand in words that do not matter here
                yield from workers(text[skipped:], _from(file, begin), name, environment)


def _unit_environment(file: SourceFile, section: _Section) -> Iterator[tuple[str, Said]]:
    for key, start, text in section.settings:
        if key == "Environment":
            for words in commands(text, _from(file, start)):
                yield from _assigned(words)


def _assigned(words: list[Word]) -> Iterator[tuple[str, Said]]:
    for word in words:
        if found := assignment(word):
            name, value = found
            yield name, Located(value.text if value.known else None, value.place)


def _programs(file: SourceFile) -> Iterator[object]:
    """supervisor's programs; an indented line goes on."""
    for section in _sections(file.text, _indented):
        kind, colon, name = section.name.partition(":")
        if kind.strip() != "program" or not colon:
            continue
        environment: Environment = {}
        for key, start, text in section.settings:
            if key == "environment":
                environment = {
                    pair[1]: Located(_plain(pair[2]), file.place_at(start + pair.start(2)))
                    for pair in _PAIR.finditer(text)
                }
        yield from variables(environment.items())
        for key, start, text in section.settings:
            if key == "command":
                # a semicolon begins a comment after a space, as in supervisor
                command = re.split(r"\s;", text, maxsplit=1)[0]
                one_line = command.replace("\r", " ").replace("\n", " ")
                yield from workers(one_line, _from(file, start), name.strip(), environment)


def _indented(_: str, line: str) -> bool:
    return line[:1] in (" ", "\t") and bool(line.strip())


def _plain(text: str) -> str | None:
    """Without quotes; supervisor expands ``%(ENV_name)s``."""
    text = text.strip("\"'")
    return None if "%(" in text else text


PROCFILE = Kind(
    "Procfile", lambda path: path.name.partition(".")[0] == "Procfile", holds, _procfile
)
UNIT = Kind(
    "systemd unit",
    lambda path: path.suffix == ".service",
    lambda data: holds(data) and b"ExecStart" in data,
    _unit,
    comment="# ;",
)
SUPERVISOR = Kind(
    "supervisor's settings",
    lambda path: path.suffix in (".conf", ".ini"),
    lambda data: holds(data) and b"[program:" in data,
    _programs,
    comment="; #",
)
SCRIPT = Kind(
    "shell script",
    lambda path: path.suffix in (".sh", ".bash"),
    holds,
    _script,
)
