import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.reports.escape import legible
from prefetch_advisor.reports.names import listed, quoted


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("tasks", "'tasks'"),
        ("", "''"),
        (" ", "' '"),
        ("Stra\udcdfe", r"'Stra\xdfe'"),
        ("ansi\x1b[31m", r"'ansi\x1b[31m'"),
        ("back\\slash", r"'back\\slash'"),
        ("\u0301accent", r"'\u0301accent'"),
        ("a" * 100 + "\x1b", "'" + "a" * 29 + "..." + "a" * 24 + r"\x1b'"),
    ],
)
def test_a_name_in_a_message_is_visible_and_not_too_long(name: str, shown: str) -> None:
    assert quoted(name) == shown


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(codec=None), max_size=100))
def test_a_message_shows_a_quoted_name_unchanged(name: str) -> None:
    shown = quoted(name)
    assert legible(shown) == shown
    assert len(shown) <= 62
    assert not any(unicodedata.category(char)[0] == "C" for char in shown)


def test_a_few_names_are_listed_and_the_rest_counted() -> None:
    assert listed("abc") == "'a', 'b', 'c'"
    assert listed(map(str, range(1005))) == "'0', '1', '2', '3', '4' and 1,000 more"
