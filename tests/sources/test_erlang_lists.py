"""Lists of the erlang formatter tell what the JSON of the same moment tells."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import CAPTURES, ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Coverage, Intake, SourceKind
from prefetch_advisor.sources import InputOptions, read_inputs
from prefetch_advisor.sources.erlang_terms import Map, Tuple, parse_terms, read_term

LISTS = ROOT / "tests" / "data" / "lists"


#: what the formatters print differently: no vhost in JSON, pids that say which call it was
UNLIKE = {
    "queues": {"where": "", "vhost": ""},
    "consumers": {"where": "", "vhost": "", "channel": ""},
    "channels": {"where": "", "id": ""},
    "connections": {},
}


def read(path: Path) -> Intake:
    (intake,) = read_inputs([str(path)], InputOptions())
    assert intake.bad_count == 0
    return intake


def pasted(text: str) -> list[Intake]:
    return read_inputs(["-"], InputOptions(), io.BytesIO(text.encode()))


@pytest.mark.parametrize("what", ["queues", "consumers", "channels", "connections"])
def test_every_figure_of_a_list_is_that_of_its_json(what):
    """Names in all alphabets, quotes, brackets and escapes among them."""
    found, expected = (
        [replace(row, **UNLIKE[what]) for row in getattr(read(LISTS / f"list_{what}.{form}"), what)]
        for form in ("erlang", "json")
    )
    assert len(found) == len(expected) > 1
    assert found == expected
    if what == "queues":
        assert {row.name for row in found} >= {"café", "Übergröße", "[]", "ansi\x1b[1mbold"}


@pytest.mark.parametrize("version", ["3.10", "4.3"])
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("list_queues_small", "queues"),
        ("list_consumers_cols", "consumers"),
        ("list_consumers_default", "consumers"),
    ],
)
def test_captures_of_both_versions_agree_with_their_json(version, name, what):
    directory = CAPTURES / version / "ctl"
    found = getattr(read(directory / f"{name}.erlang"), what)
    expected = getattr(read(directory / f"{name}.json"), what)
    if what == "queues":
        # a moment lies between them
        assert {row.name for row in found} == {row.name for row in expected}
        assert ("sc.noconsumers", 1500, 0) in {(q.name, q.ready, q.consumers) for q in found}
    else:
        assert told(found) == told(expected)


def told(rows):
    return {
        (row.queue, row.tag, row.prefetch, row.ack, row.active, row.status, row.priority)
        for row in rows
    }


def test_the_preamble_names_the_vhost_and_an_empty_list_is_one():
    queues = read(LISTS / "list_queues_vhost2.erlang").queues
    assert [(row.vhost, row.name, row.messages) for row in queues] == [("a/b c", "orders", 0)]
    empty = read(LISTS / "list_queues_empty.erlang")
    assert empty.lists == {"queues"}
    assert "no queues of vhost 'empty' listed" in empty.notes[0]
    (consumers,) = pasted("Listing consumers in vhost shop ...\n[]\n")
    assert consumers.coverage == (Coverage(SourceKind.RABBITMQCTL, "shop"),)


def test_among_tables_and_prompts_each_list_is_read_with_its_line():
    text = (
        "$ rabbitmqctl list_queues name messages\nListing queues for vhost / ...\nname\tmessages\n"
        'a\t1\n$ rabbitmqctl -p x list_queues --formatter erlang\n[[{name,<<"b">>},\n'
        '  {messages,2}],\n [{name,<<"c">>},{messages,many}]]\n$ rabbitmqctl list_consumers\n'
        "Listing consumers in vhost / ...\nqueue_name\tprefetch_count\na\tfew\nb\t7\n"
    )
    tables, erlang, consumers = pasted(text)
    assert [(row.vhost, row.name) for row in tables.queues] == [("/", "a")]
    assert [(row.vhost, row.name, row.messages) for row in erlang.queues] == [
        ("x", "b", 2),
        ("x", "c", None),
    ]
    assert [(bad.line, bad.found) for bad in consumers.bad_rows] == [(12, "'few'")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('Listing queues ...\n[[{name,<<"a">>},\n  {messages', "stdin:2: .* cut off or broken"),
        ("Listing channels ...\n[[{user,<<1>>},{vhost,2}]]", "the column that names each"),
    ],
)
def test_a_list_that_cannot_be_read_says_why(text, message):
    with pytest.raises(InputError, match=message):
        pasted(text)


def test_a_row_that_is_spoilt_is_a_bad_row():
    rows = '{name,<<"a">>},{messages,1}], [{name,<<"b">>},messages,2],[{name,1}],"c"'
    (intake,) = pasted(f"[[{rows}]\n")
    assert [row.name for row in intake.queues] == ["a"]
    assert intake.bad_count == 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('<<"caf\u00c3\u00a9">>', "café"),
        ('<<"caf\u00e9"/utf8>>', "café"),
        ("<<208,190>>", "о"),
        ("<<>>", ""),
        (r'<<"a\e\t\"\\\011\x{e9}">>', 'a\x1b\t"\\\t\u00e9'),
        ('<<"ab"\n  "cd">>', "abcd"),
        ("<<300>>", "<<300>>"),
    ],
)
def test_a_binary_is_the_text_it_holds(text, value):
    assert parse_terms(text) == value


TERMS = st.recursive(
    st.integers() | st.booleans() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4).flatmap(
        lambda items: st.sampled_from([list(items), Tuple(items), Map(items)])
    ),
    max_leaves=20,
)


def printed(term: object) -> str:
    if isinstance(term, bool):
        return str(term).lower()
    if isinstance(term, int):
        return str(term)
    if isinstance(term, str):
        return f"<<{','.join(map(str, term.encode()))}>>"
    assert isinstance(term, list)
    open_, close = {Tuple: "{}", Map: ("#{", "}")}.get(type(term), "[]")
    return open_ + ",\n ".join(map(printed, term)) + close


@given(TERMS, st.text("[]{}<>\",'#=1a \n", max_size=8))
@settings(deadline=None, max_examples=150)
def test_any_term_is_read_as_it_was_printed_whatever_follows(term, rest):
    text = printed(term)
    assert parse_terms(text) == term
    found = read_term(f"{text}\n{rest}", 0)
    assert found is not None
    assert found[0] == term or isinstance(term, int | bool)
