"""The files that hold settings of this program, read into tables with the place of each key.

What they say is the same in every form:

- ``prefetch-advisor.toml``: the whole file;
- ``pyproject.toml``: the table ``[tool.prefetch-advisor]``;
- ``setup.cfg``: ``[prefetch-advisor]`` holds the keys of the top, ``[prefetch-advisor:lint]`` those
  of the table ``lint``, ``[prefetch-advisor:queues:NAME]`` one entry of the list ``queues`` with
  that ``name``, likewise ``buffers``; every value is a text.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from prefetch_advisor.lint import ini_text, toml_places
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Unparsable
from prefetch_advisor.lint.toml_places import KeyPath
from prefetch_advisor.model.lint import Place

OWN_NAME = "prefetch-advisor.toml"
_SHARED_TOML = "pyproject.toml"
#: in order of precedence where one directory has several
NAMES = (OWN_NAME, _SHARED_TOML, "setup.cfg")
#: what stands in the shared files where they hold something of ours
MARK = b"prefetch-advisor"
#: tables of which there are several: their INI sections end with a name
LISTS = ("queues", "buffers")

_TOML_TABLE = ("tool", "prefetch-advisor")
_INI_SECTION = "prefetch-advisor"
_TOML_PLACE = re.compile(r" ?\(at (?:line (\d+), column (\d+)|end of document)\)")


@dataclass(frozen=True)
class SettingsFile:
    """What a file says to this program."""

    source: SourceFile
    #: ``ini``: every value is a text, a list has a line or a part between commas for each element
    form: Literal["toml", "ini"]
    #: our part of the file alone
    document: dict[str, Any]
    #: of the keys in ``document``; that of an INI list leads to the value of its key
    keys: dict[KeyPath, Place] = field(default_factory=dict)
    values: dict[KeyPath, Place] = field(default_factory=dict)

    def place(self, *path: str | int) -> Place:
        """Where a value stands, or the nearest table around it: ``place("queues", 0, "rtt")``."""
        return _nearest(self.values, path) or self.source.place(1)

    def key_place(self, *path: str | int) -> Place:
        """Where the key of a value stands, or the header of a table."""
        return _nearest(self.keys, path) or self.source.place(1)


def named(path: PurePosixPath | Path) -> bool:
    """Whether a file with this name may hold settings."""
    return path.name in NAMES


def parse(file: SourceFile) -> SettingsFile | None:
    """What a file says to this program; ``None``: nothing of ours is in it.

    A file of any other name is read as the one of the ``NAMES`` that ends alike: ``ci.toml`` is
    ours as a whole, any other is INI.

    Raises:
        Unparsable: the file is no TOML or INI.
    """
    if file.location.suffix == ".toml":
        return _toml(file)
    return _ini(file)


def scalar(text: str) -> bool | int | float | str:
    """What the text of an INI value would be in TOML: true or false, a number, else the text."""
    lower = text.strip().lower()
    if lower in ("true", "false"):
        return lower == "true"
    for convert in (int, float):
        try:
            number: float = convert(lower)
        except ValueError:
            continue
        return number
    return text


def _toml(file: SourceFile) -> SettingsFile | None:
    try:
        document = tomllib.loads(file.text)
        places = toml_places.offsets(file.text)
    except RecursionError:
        raise Unparsable("nested too deeply") from None
    except ValueError as error:
        # a number of more digits than Python converts has no place, and no class of its own
        found = _TOML_PLACE.search(str(error))
        message = _TOML_PLACE.sub("", str(error))
        if found is None or found[1] is None:
            raise Unparsable(message, len(file.lines) if found else 1) from None
        raise Unparsable(message, int(found[1]), int(found[2])) from None
    root: KeyPath = ()
    if file.location.name == _SHARED_TOML:
        root = _TOML_TABLE
        for key in root:
            document = document.get(key, {}) if isinstance(document, dict) else {}
        if not isinstance(document, dict) or not document:
            return None
    own = {path[len(root) :]: at for path, at in places.items() if path[: len(root)] == root}
    return SettingsFile(
        file,
        "toml",
        document,
        {path: file.place_at(at.key) for path, at in own.items()},
        {path: file.place_at(at.value) for path, at in own.items()},
    )


def _ini(file: SourceFile) -> SettingsFile | None:
    found = SettingsFile(file, "ini", {})
    sections = ini_text.sections(file, _INI_SECTION)
    for section in sections:
        path, table = _table(found.document, section)
        if path and isinstance(path[-1], int):
            found.keys[*path, "name"] = found.values[*path, "name"] = section.place
        for places in (found.keys, found.values):
            places.setdefault(path[:1], section.place)
            places.setdefault(path, section.place)
        for setting in section.settings.values():
            if isinstance(table.get(setting.key), dict | list):
                raise _not_both(setting.key, setting.key_place.line)
            table[setting.key] = setting.text
            found.keys[*path, setting.key] = setting.key_place
            found.values[*path, setting.key] = setting.value_place
    return found if sections else None


def _table(document: dict[str, Any], section: ini_text.Section) -> tuple[KeyPath, dict[str, Any]]:
    """The table that a section holds the keys of, made where it is new, and the path to it."""
    parts = section.name.split(":", 2)[1:]
    if len(parts) == 2 and parts[0] in LISTS:
        entries = document.setdefault(parts[0], [])
        if not isinstance(entries, list):
            raise _not_both(parts[0], section.place.line)
        entries.append({"name": parts[1]})
        return (parts[0], len(entries) - 1), entries[-1]
    table: Any = document
    for part in parts:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise _not_both(part, section.place.line)
    return tuple(parts), table


def _not_both(name: str, line: int) -> Unparsable:
    return Unparsable(f"expected {name!r} to be one table, list or value, found two of them", line)


def _nearest(places: dict[KeyPath, Place], path: KeyPath) -> Place | None:
    while path not in places and path:
        path = path[:-1]
    return places.get(path)


def repository_root(start: Path) -> Path:
    """The nearest directory upward that holds ``.git``; ``start`` where there is none."""
    for directory in (start, *start.parents):
        if (directory / ".git").exists():
            return directory
    return start


def candidates(start: Path) -> list[Path]:
    """Where settings may lie, nearest first: from ``start`` up to the repository's root."""
    root = repository_root(start)
    found = []
    for directory in (start, *start.parents):
        found += [directory / name for name in NAMES if (directory / name).is_file()]
        if directory == root:
            break
    return found
