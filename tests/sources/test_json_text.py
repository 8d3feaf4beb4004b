"""Bytes into JSON documents: cut files name the place, rabbitmqctl's escapes are put right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.json_text import decode, documents, repair, unescape

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
QUEUES = (CAPTURES / "4.3/api/queues_columns.json").read_text()


def names(path: str) -> set[str]:
    (document,) = documents(repair(decode((CAPTURES / path).read_bytes()))[0], path)
    assert isinstance(document, list)
    return {row["name"] for row in document if row.get("vhost", "/") == "/"}


@pytest.mark.parametrize("version", ["3.10", "4.3"])
@pytest.mark.parametrize("name", ["list_queues_small", "list_queues_langC", "list_queues_local"])
def test_names_in_rabbitmqctl_json_are_those_of_the_api(version: str, name: str) -> None:
    assert names(f"{version}/ctl/{name}.json") == names(f"{version}/api/queues.json")


def test_a_hangul_character_that_is_printed_as_itself_stays() -> None:
    text = '[\n{"name":"\ub100 \\uB100 \\\\uB100","messages":1}\n]'
    mended, notes = repair(text)
    assert json.loads(mended)[0]["name"] == "\ub100 \x1b \\uB100"
    assert len(notes) == 1


def test_escapes_of_other_tools_are_not_touched() -> None:
    text = json.dumps([{"name": "\ub100\u0100\\x{43E}"}])
    assert json.loads(repair(text)[0]) == json.loads(text)


def test_plain_text_escapes_are_decoded_only_without_a_utf8_locale() -> None:
    assert unescape("\\x{43E}\\x{1F600}\t1") == ("о😀\t1", True)
    assert unescape("é \\x{43E}\t1") == ("é \\x{43E}\t1", False)
    assert unescape("\\x{FFFFFF}\t1") == ("\\x{FFFFFF}\t1", False)


ODD = (
    r'[{"a": "\u001b\ud83d\ude00\\\"", "b": -1.25e-10, "c": [true, false, null], '
    '"d": [NaN, Infinity, -Infinity]}]'
)


@given(st.integers(1, len(QUEUES) - 1))
@settings(deadline=None, max_examples=60)
@example(691)
def test_cut_json_is_an_error_that_names_the_break(at: int) -> None:
    with pytest.raises(InputError, match=r"q.json:1:\d+: expected the rest of a JSON document"):
        documents(QUEUES[:at], "q.json")


@pytest.mark.parametrize("before", ["", "{}"])
def test_json_may_be_cut_within_anything(before: str) -> None:
    for at in range(1, len(ODD)):
        with pytest.raises(InputError, match="expected the rest of a JSON document"):
            documents(before + ODD[:at], "q.json")
    assert len(documents(before + ODD, "q.json")) == 1 + bool(before)


def test_json_may_be_cut_within_an_escape_of_rabbitmqctl() -> None:
    text = r'[{"name": "\x{43E}\x{1F600}"}]'
    for at in range(1, len(text)):
        with pytest.raises(InputError, match="expected the rest of a JSON document"):
            documents(repair(text[:at])[0], "q.json")


@pytest.mark.parametrize("text", [r'["\u00zz"]', r'["\u12"]', r'["\q"]', "[tru]", "[1.]", "[-]"])
def test_a_mistake_is_not_taken_for_a_cut(text: str) -> None:
    with pytest.raises(InputError, match=r"q.json:1:\d+: expected JSON \("):
        documents(text, "q.json")


def test_broken_json_names_line_column_and_what_was_found() -> None:
    with pytest.raises(InputError, match=r"q.json:2:6: expected JSON .*found 'oops\]'"):
        documents("[1,\n  2, oops]", "q.json")


def test_documents_may_follow_each_other() -> None:
    assert documents('{"a": 1}\n\n[2]{"b": 3}\n', "x") == [{"a": 1}, [2], {"b": 3}]


@pytest.mark.parametrize("text", ["[" * 100_000, "[" + "1" * 5000 + "]"])
def test_hostile_json_is_an_input_error(text: str) -> None:
    with pytest.raises(InputError, match="x: cannot be read as JSON"):
        documents(text, "x")


def test_bytes_that_are_not_utf8_are_kept() -> None:
    assert decode(b'\xef\xbb\xbf"caf\xe9"') == '"caf\udce9"'
