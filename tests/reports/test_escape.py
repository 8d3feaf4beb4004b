import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.reports.escape import escaped, isolated, isolated_runs, units, visible

ANY_TEXT = st.text(
    st.one_of(
        st.characters(codec=None),
        st.characters(categories=("Cs", "Cf", "Cc", "Mn", "Zs", "Zl", "Zp")),
        st.sampled_from('\\"xu0a \u200b\u3164\udcff'),
    ),
    max_size=12,
)

_ESCAPE = re.compile(
    r"\\(?:x(?P<x>[0-9a-f]{2})|u(?P<u>[0-9a-f]{4})|U(?P<U>[0-9a-f]{8})|(?P<one>.))"
)
_ONE = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r", '"': '"'}


def read_back(shown: str) -> str:
    """The text that ``visible`` was given: that it can be told is what makes it injective."""

    def char(found: re.Match[str]) -> str:
        if found["one"]:
            return _ONE[found["one"]]
        if found["x"]:
            byte = int(found["x"], 16)
            return chr(byte if byte < 0x80 else 0xDC00 + byte)
        return chr(int(found["u"] or found["U"], 16))

    if shown.startswith('"'):
        assert shown.endswith('"')
        shown = shown[1:-1]
    return _ESCAPE.sub(char, shown)


@settings(deadline=None, max_examples=400)
@given(ANY_TEXT, st.booleans())
def test_every_text_can_be_read_back_from_what_is_shown(text: str, ascii_only: bool) -> None:
    assert read_back(visible(text, ascii_only)) == text


@settings(deadline=None, max_examples=400)
@given(ANY_TEXT, st.booleans())
def test_what_is_shown_has_nothing_invisible(text: str, ascii_only: bool) -> None:
    shown = visible(text, ascii_only)
    assert shown.strip() == shown != ""
    assert shown.encode("ascii" if ascii_only else "utf-8")
    for char in shown:
        assert unicodedata.category(char)[0] not in "C"
        assert unicodedata.category(char) not in ("Zl", "Zp")
        assert char == " " or not char.isspace()


@settings(deadline=None, max_examples=200)
@given(ANY_TEXT)
def test_prose_is_escaped_alike_and_units_lose_nothing(text: str) -> None:
    assert "".join(units(visible(text))) == visible(text)
    assert escaped(text).isprintable()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("tasks", "tasks"),
        ("odd name with spaces", "odd name with spaces"),
        ("очередь", "очередь"),
        ("漢字キュー", "漢字キュー"),
        ("[red]alert[/red]", "[red]alert[/red]"),
        ("{curly} %s %d", "{curly} %s %d"),
        ("", '""'),
        (" ", '" "'),
        (" a", '" a"'),
        ('"', '"\\""'),
        ('" "', '"\\" \\""'),
        ('comma,"quote"\'s;semi', 'comma,"quote"\'s;semi'),
        ("tab\there\nnewline\r", r"tab\there\nnewline\r"),
        ("a\\b", r"a\\b"),
        ("ansi\x1b[31mred\x1b[0m", r"ansi\x1b[31mred\x1b[0m"),
        ("del\x7f nul\0", r"del\x7f nul\x00"),
        ("c1\x85\x9b", r"c1\u0085\u009b"),
        ("byte\udcff\udc80", r"byte\xff\x80"),
        ("lone\ud800", r"lone\ud800"),
        ("\u200b", r"\u200b"),
        ("e\u202ecod\u2066\u061c", r"e\u202ecod\u2066\u061c"),
        ("no\u00a0break\u3000wide", r"no\u00a0break\u3000wide"),
        ("soft\u00adhyphen", r"soft\u00adhyphen"),
        ("filler\u3164\uffa0\u2800", r"filler\u3164\uffa0\u2800"),
        ("star\ufe0f", r"star\ufe0f"),
        ("private\ue000", r"private\ue000"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("\u0301accent", r"\u0301accent"),
        ("caf\u0065\u0301", "caf\u0065\u0301"),
    ],
)
def test_names_are_shown_so_that_nothing_hides(name: str, shown: str) -> None:
    assert visible(name) == shown
    assert read_back(shown) == name


def test_a_terminal_that_takes_ascii_only_gets_ascii() -> None:
    assert visible("ключ 漢", ascii_only=True) == r"\u043a\u043b\u044e\u0447 \u6f22"


def test_an_escape_and_a_letter_with_its_mark_are_not_cut() -> None:
    assert units(visible("a\x1be\u0301\U000e0041")) == ["a", r"\x1b", "e\u0301", r"\U000e0041"]


def test_right_to_left_names_are_isolated_and_no_others() -> None:
    assert isolated("שלום 12") == "\u2068שלום 12\u2069"
    assert isolated("очередь") == "очередь"
    assert isolated_runs("queue שלום עולם: 12 ready") == "queue \u2068שלום עולם\u2069: 12 ready"
