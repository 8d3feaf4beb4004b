"""A settings file into declared queues and buffers; what cannot be meant is a finding."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from prefetch_advisor.findings import inputs
from prefetch_advisor.lint.declared import Buffer, DeclaredQueue
from prefetch_advisor.lint.declared.keys import BUFFER, DEFAULTS, QUEUE, TIMES, Key, near
from prefetch_advisor.lint.declared.placing import shortened
from prefetch_advisor.lint.declared.values import Text, WrongValue, shown
from prefetch_advisor.lint.settings_file import SettingsFile
from prefetch_advisor.model.lint import LintFinding, Located, Place

#: tables of a settings file; that of lint is read where lint's own settings are
_TABLES = (
    Key("queues", Text(), "", [], also=("queue",)),
    Key("buffers", Text(), "", [], also=("buffer",)),
    Key("defaults", Text(), "", {}, also=("default",)),
    Key("lint", Text(), "", {}),
)

_Values = dict[str, Any]


def declared(file: SettingsFile) -> Iterator[object]:
    """The queues and buffers of a file, and a finding for each thing that means nothing."""
    for key in file.document:
        if key not in {table.name for table in _TABLES}:
            hint = near(key, _TABLES)
            if key.replace("_", "-") in {known.name for known in DEFAULTS}:
                hint = "it belongs to a queue, or to defaults"
            yield _wrong(key, f"unknown table; {hint}", file.key_place(key))
    defaults: _Values = {}
    table = file.document.get("defaults", {})
    if isinstance(table, dict):
        defaults, wrong = _values(file, ("defaults",), table, DEFAULTS)
        yield from wrong
    else:
        message = f"expected a table, found {shown(table)}"
        yield _wrong("defaults", message, file.place("defaults"))
    yield from _queues(file, defaults)
    yield from _buffers(file)


def _queues(file: SettingsFile, defaults: _Values) -> Iterator[object]:
    base = Path(os.path.dirname(os.path.abspath(file.source.location)))
    seen: dict[tuple[str, str], Place] = {}
    for path, table in _entries(file, "queues"):
        if isinstance(table, LintFinding):
            yield table
            continue
        values, wrong = _values(file, path, table, QUEUE)
        yield from wrong
        values = {**_inherited(defaults, table), **values}
        yield from _together(values)
        name, vhost = values.get("name"), values.get("vhost")
        if name is None:
            continue
        key = (vhost.value if vhost else "/", name.value)
        if key in seen:
            message = f"declared twice; first on line {seen[key].line}"
            yield _wrong(name.value, message, name.place)
            continue
        seen[key] = name.place
        fields = {known.field: values[known.name] for known in QUEUE if known.name in values}
        yield DeclaredQueue(place=file.key_place(*path), base=base, **fields)


def _inherited(defaults: _Values, table: Mapping[str, Any]) -> _Values:
    """The defaults, without those that do not fit how the queue's own times are said."""
    times = "processing-time"
    if any(name in table for name in TIMES if name != times):
        return {key: value for key, value in defaults.items() if key not in (times, "cv")}
    if times not in table and times not in defaults:
        return {key: value for key, value in defaults.items() if key != "cv"}
    return defaults


def _buffers(file: SettingsFile) -> Iterator[object]:
    seen: dict[str, Place] = {}
    for path, table in _entries(file, "buffers"):
        if isinstance(table, LintFinding):
            yield table
            continue
        values, wrong = _values(file, path, table, BUFFER)
        yield from wrong
        name = values.get("name")
        if name is None:
            continue
        if name.value in seen:
            message = f"declared twice; first on line {seen[name.value].line}"
            yield _wrong(name.value, message, name.place)
            continue
        seen[name.value] = name.place
        fields = {known.field: values[known.name] for known in BUFFER if known.name in values}
        yield Buffer(place=file.key_place(*path), **fields)


def _entries(
    file: SettingsFile, name: str
) -> Iterator[tuple[tuple[str, int], dict[str, Any] | LintFinding]]:
    """The tables of a list; a finding in place of what is none."""
    listed = file.document.get(name, [])
    if not isinstance(listed, list):
        one = f"[[{name}]]" if file.form == "toml" else f"[prefetch-advisor:{name}:NAME]"
        message = f"expected {one} for each, found {shown(listed)}"
        yield (name, 0), _wrong(name, message, file.key_place(name))
        return
    for index, table in enumerate(listed):
        if isinstance(table, dict):
            yield (name, index), table
        else:
            message = f"expected a table, found {shown(table)}"
            yield (name, index), _wrong(name, message, file.place(name, index))


def _values(
    file: SettingsFile, path: Sequence[str | int], table: Mapping[str, Any], keys: Sequence[Key]
) -> tuple[_Values, list[LintFinding]]:
    """The values of a table by their keys, with their places, and what is wrong with it."""
    known = {key.name: key for key in keys}
    found: _Values = {}
    wrong: list[LintFinding] = []
    for written, raw in table.items():
        # as configparser does with its own, in an INI file either mark joins words
        name = written.replace("_", "-") if file.form == "ini" else written
        key = known.get(name)
        where = file.key_place(*path, written)
        if key is None:
            wrong.append(_wrong(written, f"unknown key; {near(written, keys)}", where))
        elif name in found:
            wrong.append(_wrong(written, f"{name} is there twice", where))
        else:
            try:
                found[name] = _located(file, (*path, written), key, raw)
            except WrongValue as error:
                place = file.place(*path, written, *error.keys)
                at = ".".join((name, *error.keys))
                wrong.append(_wrong(at, str(error), place))
    wrong += [
        _wrong(key.name, f"expected a {key.name}, found none", file.key_place(*path))
        for key in keys
        if key.required and key.name not in table
    ]
    return found, wrong


def _located(file: SettingsFile, path: Sequence[str | int], key: Key, raw: Any) -> Any:
    """A value with its place; of a table each value with its own."""
    if file.form == "ini" and isinstance(raw, str) and key.name != "name":
        raw = key.value.from_text(raw)
    value = key.value.parse(raw)
    if isinstance(value, dict):
        return {name: Located(each, file.place(*path, name)) for name, each in value.items()}
    return Located(value, file.place(*path))


def _together(values: _Values) -> Iterator[LintFinding]:
    """Values that cannot be meant beside each other; the later ones are taken out."""
    said = [name for name in TIMES if name in values]
    for name in said[1:]:
        message = f"beside {said[0]}: one of them says how long a message takes"
        yield _wrong(name, message, _place(values.pop(name)))
    if "cv" in values and "processing-time" not in values:
        message = "goes with processing-time: timings carry their own variation"
        yield _wrong("cv", message, _place(values.pop("cv")))
    machines = values.get("machines")
    for name in ("prefetch", "consumers"):
        value = values.get(name)
        if not isinstance(value, dict):
            continue
        for machine in list(value):
            if machines is None or machine not in machines:
                names = ", ".join(machines or ()) or "none"
                message = f"machines says no processing time for it; there are: {names[:200]}"
                yield _wrong(f"{name}.{machine}", message, value.pop(machine).place)
        if not value:
            del values[name]


def _place(value: Any) -> Place:
    if isinstance(value, dict):
        value = next(iter(value.values()))
    place: Place = value.place
    return place


def _wrong(subject: str, message: str, place: Place) -> LintFinding:
    subject = shortened(subject)
    return LintFinding(inputs.INVALID_SETTING.finding(subject, f"{subject}: {message}"), place)
