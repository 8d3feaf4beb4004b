"""Settings files: one document in three forms, each key with its place."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.lint import settings_file, toml_places
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Unparsable
from prefetch_advisor.lint.settings_file import SettingsFile

TOML = """\
# teams
[lint]
select = ["PA1",  # why
          "PA2"]
per-file-ignores."tests/*" = ["PA3"]

[[queues]]
name = 'tasks'
rtt = "5ms"

  [[queues]]
  name = "ma]il#"
  limits = { memory = "1MB", "a b" = [1, {x = 2}] }
  [queues.deep]
  text = \"\"\"a
b = 1
\"\"\"\"
  when = 1979-05-27 07:32:00

[[buffers]]
"""
INI = """\
[metadata]
name = x
name = twice, which is not ours

[prefetch-advisor:lint]
select =
    PA1
    # a comment
    PA2   # prefetch-advisor: ignore[PA301]
ignore: PA4
[prefetch-advisor:lint:per-file-ignores]
tests/A*.py = PA3
[prefetch-advisor:queues:tasks:urgent]
rtt = 5ms
[prefetch-advisor:queues:mail]
RTT = 6ms
"""


def parsed(name: str, text: str) -> SettingsFile:
    found = settings_file.parse(SourceFile(name, text, Path(name)))
    assert found is not None
    return found


def at(file: SettingsFile, *path: str | int) -> tuple[int, int]:
    place = file.place(*path)
    return place.line, place.column


def test_toml_has_the_place_of_every_key():
    file = parsed("prefetch-advisor.toml", TOML)
    assert at(file, "lint", "select", 1) == (4, 11)
    assert at(file, "lint", "per-file-ignores", "tests/*", 0) == (5, 31)
    assert at(file, "queues", 0) == (7, 1)
    assert at(file, "queues", 0, "rtt") == (9, 7)
    assert at(file, "queues", 1, "name") == (12, 10)
    assert at(file, "queues", 1, "limits", "a b", 1, "x") == (13, 47)
    assert at(file, "queues", 1, "deep", "when") == (18, 10)
    assert at(file, "buffers", 0) == (20, 1)
    assert file.key_place("queues", 1, "limits", "memory").column == 14
    assert at(file, "queues", 1, "deep", "no such key") == (14, 3)


def test_pyproject_and_setup_cfg_say_the_same():
    nested = TOML.replace("[queues", "[tool.prefetch-advisor.queues").replace(
        "[lint", "[tool.prefetch-advisor.lint"
    )
    nested = nested.replace("[buffers", "[tool.prefetch-advisor.buffers")
    own, shared = parsed("prefetch-advisor.toml", TOML), parsed("pyproject.toml", nested)
    assert own.document == shared.document == tomllib.loads(TOML)
    assert {path: place.line for path, place in own.values.items()} == {
        path: place.line for path, place in shared.values.items() if path
    }
    ini = parsed("setup.cfg", INI)
    assert ini.document == {
        "lint": {
            "select": "\nPA1\nPA2",
            "ignore": "PA4",
            "per-file-ignores": {"tests/A*.py": "PA3"},
        },
        "queues": [{"name": "tasks:urgent", "rtt": "5ms"}, {"name": "mail", "RTT": "6ms"}],
    }
    assert at(ini, "queues", 1, "RTT") == (16, 7)
    assert at(ini, "queues", 0, "name") == (13, 1)
    assert at(ini, "lint", "ignore") == (10, 9)


def test_a_shared_file_without_a_word_of_ours_is_not_ours():
    for name, text in (("pyproject.toml", "[tool.other]\na = 1\n"), ("setup.cfg", "[a]\nb = 1\n")):
        assert settings_file.parse(SourceFile(name, text, Path(name))) is None
    assert parsed("prefetch-advisor.toml", "").document == {}


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("prefetch-advisor.toml", "a = 1\nb = \n", 2),
        ("pyproject.toml", "[tool.x]\n[tool.x]\n", 2),
        ("prefetch-advisor.toml", "\na = " + "[" * 50_000, 1),
        ("prefetch-advisor.toml", "a = " + "1" * 5_000, 1),
        ("prefetch-advisor.toml", "a = 1\n[", 2),
        ("setup.cfg", "[prefetch-advisor]\na = 1\na = 2\n", 3),
        ("setup.cfg", "[prefetch-advisor]\n[prefetch-advisor]\n", 2),
        ("setup.cfg", "[prefetch-advisor:lint]\nno setting\n", 2),
        ("setup.cfg", "[prefetch-advisor]\nqueues = 1\n[prefetch-advisor:queues:a]\n", 3),
        ("setup.cfg", "[prefetch-advisor:queues:a]\n[prefetch-advisor:queues]\nb = 1\n", 2),
    ],
)
def test_what_is_no_toml_or_ini_is_told_with_its_line(name, text, line):
    with pytest.raises(Unparsable) as raised:
        parsed(name, text)
    assert raised.value.line == line


KEYS = st.from_regex(r"[a-z-]{1,3}", fullmatch=True)
LEAVES = st.one_of(
    st.integers(-99, 99).map(str),
    st.sampled_from(["true", "1.5", '"a#]"', "'}'", '"\\""', '"""x\n[y]\n"""', "1979-05-27"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[\n" + ", # c\n".join(items) + "\n]"),
        st.dictionaries(KEYS, inner, max_size=2).map(
            lambda table: (
                "{" + ", ".join(f'"{key}" = {value}' for key, value in table.items()) + "}"
            )
        ),
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=3), min_size=1, max_size=3))
def test_every_value_of_toml_is_found_where_it_stands(tables):
    text = ""
    for table in tables:
        pairs = "".join(f"{key} = {value}\n" for key, value in table.items())
        text += f"[[t]] # [x]\n{pairs}\n"
    found = toml_places.offsets(text)
    for path in paths(tomllib.loads(text), ()):
        key = path[-1]
        start = found[path].key
        assert isinstance(key, int) or text[start:].lstrip("\"['").startswith(key)
        value = text[found[path].value :]
        if path[0] == "t" and len(path) == 3:
            assert value.startswith(tables[path[1]][path[2]])


def paths(value, path):
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, dict | list):
            yield from paths(inner, (*path, key))
        else:
            yield (*path, key)
