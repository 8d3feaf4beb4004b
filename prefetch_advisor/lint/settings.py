"""Lint's own settings: the table ``lint`` of a settings file, checked and made whole."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prefetch_advisor.errors import InputError, UsageError
from prefetch_advisor.lint import reading, selection, settings_file
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Unparsable
from prefetch_advisor.lint.settings_file import SettingsFile

TABLE = "lint"
FAIL_ON = ("never", "info", "warning", "error")
DEFAULT = "default"

_LIST = re.compile(r"[\n,]")


@dataclass(frozen=True)
class Settings:
    """What is wanted of a run, and where each part of it was said."""

    #: starts of codes
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    #: patterns of files as in .gitignore, and the starts of codes that are ignored in them
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    #: patterns of files as in .gitignore that are not looked for
    exclude: tuple[str, ...] = ()
    baseline: Path | None = None
    fail_on: str = "warning"
    #: what patterns are relative to
    base: Path = field(default_factory=Path)
    #: key -> the option, or file and line, that said it
    origins: dict[str, str] = field(default_factory=dict)

    def origin(self, key: str) -> str:
        """Where a key was said."""
        return self.origins.get(key, DEFAULT)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings found, and what stood in the way."""

    settings: Settings
    notes: tuple[str, ...] = ()
    #: a settings file that cannot be parsed, with the reason
    broken: tuple[tuple[SourceFile, Unparsable], ...] = ()


def load(here: Path, printed: Callable[[str], str]) -> Loaded:
    """The settings of the nearest file upward that has a table of lint.

    One that cannot be parsed is told, and passed over.

    Raises:
        UsageError: a key or value that cannot be meant.
    """
    broken: list[tuple[SourceFile, Unparsable]] = []
    notes: list[str] = []
    taken: SettingsFile | None = None
    for location in settings_file.candidates(here):
        if taken is not None and location.parent != taken.source.location.parent:
            break
        try:
            data = reading.contents(location)
        except (OSError, reading.TooLarge) as error:
            reason = getattr(error, "strerror", None) or error
            notes.append(f"{printed(str(location))}: not looked at for settings: {reason}")
            continue
        if location.name != settings_file.OWN_NAME and settings_file.MARK not in data:
            continue
        file = SourceFile(printed(str(location)), reading.decoded(data), location)
        try:
            said = settings_file.parse(file)
        except Unparsable as error:
            broken.append((file, error))
            continue
        if said is None or TABLE not in said.document:
            continue
        if taken is None:
            taken = said
        else:
            notes.append(
                f"{file.path}: its settings of lint are not used: {taken.source.path} comes first"
            )
    settings = Settings(base=here) if taken is None else read(taken)
    return Loaded(settings, tuple(notes), tuple(broken))


def load_file(location: Path, path: str) -> Settings:
    """The settings of a file that was named.

    Raises:
        InputError: it cannot be read or parsed, or holds no settings of lint.
        UsageError: a key or value in it that cannot be meant.
    """
    try:
        text = reading.decoded(reading.contents(location))
        said = settings_file.parse(SourceFile(path, text, location))
    except Unparsable as error:
        raise InputError(f"{path}:{error.line}:{error.column}: {error}") from None
    except (OSError, reading.TooLarge) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: expected settings, found none: {reason}") from None
    if said is None or TABLE not in said.document:
        raise InputError(f"{path}: expected settings of lint, found no table {TABLE!r} of ours")
    return read(said)


def read(file: SettingsFile) -> Settings:
    """What a file says to lint.

    Raises:
        UsageError: an unknown key, or a value that cannot be meant; file and line are named.
    """
    table = file.document[TABLE]
    if not isinstance(table, dict):
        raise _wrong(file, (TABLE,), "a table", table)
    base = Path(os.path.dirname(os.path.abspath(file.source.location)))
    settings = Settings(base=base)
    for key, value in table.items():
        name = key.replace("_", "-") if file.form == "ini" else key
        reader = KEYS.get(name)
        if reader is None:
            near = difflib.get_close_matches(name, KEYS, 1, 0.5)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(KEYS)}"
            place = file.key_place(TABLE, key)
            raise UsageError(f"{place.path}:{place.line}: unknown key {key[:60]!r} of lint; {hint}")
        place = file.key_place(TABLE, key)
        settings = replace(
            settings,
            **{name.replace("-", "_"): reader(file, (TABLE, key), value)},
            origins={**settings.origins, name: f"{place.path}:{place.line}"},
        )
    return settings


def codes(texts: Iterable[str]) -> tuple[str, ...]:
    """Starts of codes from texts that may hold several, between commas or spaces.

    Raises:
        UnknownFinding: one that no finding has.
    """
    return tuple(
        prefix
        for text in texts
        for part in text.replace(",", " ").split()
        for prefix in selection.prefixes(part)
    )


_Path = tuple[str | int, ...]


def _texts(file: SettingsFile, path: _Path, value: Any) -> tuple[str, ...]:
    """A list of texts; where a file knows no lists, a line or a part between commas for each."""
    if file.form == "ini" and isinstance(value, str):
        return tuple(part.strip() for part in _LIST.split(value) if part.strip())
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise _wrong(file, path, "a list of texts", value)
    return tuple(value)


def _codes(file: SettingsFile, path: _Path, value: Any) -> tuple[str, ...]:
    try:
        return codes(_texts(file, path, value))
    except selection.UnknownFinding as error:
        raise _refused(file, path, str(error)) from None


def _ignores(
    file: SettingsFile, path: _Path, value: Any
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise _wrong(file, path, "a table of patterns, each with a list of findings", value)
    return tuple(
        (pattern, _codes(file, (*path, pattern), listed)) for pattern, listed in value.items()
    )


def _baseline(file: SettingsFile, path: _Path, value: Any) -> Path:
    if not isinstance(value, str) or not value.strip():
        raise _wrong(file, path, "the name of a file", value)
    # as patterns, relative to the file that says it
    return file.source.location.parent / value


def _fail_on(file: SettingsFile, path: _Path, value: Any) -> str:
    if not isinstance(value, str) or value not in FAIL_ON:
        raise _wrong(file, path, f"one of {', '.join(FAIL_ON)}", value)
    return value


#: every key of the table, and what checks its value
KEYS: dict[str, Callable[[SettingsFile, _Path, Any], Any]] = {
    "select": _codes,
    "ignore": _codes,
    "per-file-ignores": _ignores,
    "exclude": _texts,
    "baseline": _baseline,
    "fail-on": _fail_on,
}


def _wrong(file: SettingsFile, path: _Path, expected: str, found: Any) -> UsageError:
    shown = repr(found)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return _refused(file, path, f"expected {expected}, found {shown}")


def _refused(file: SettingsFile, path: _Path, message: str) -> UsageError:
    place = file.place(*path)
    return UsageError(f"{place.path}:{place.line}: {'.'.join(map(str, path))}: {message}")
