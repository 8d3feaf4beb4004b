"""YAML as nodes: places, anchors, merge keys, and texts that are meant to do harm."""

from __future__ import annotations

import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.lint.kinds.kind import Unparsable
from prefetch_advisor.lint.kinds.yaml_nodes import (
    Items,
    Node,
    Scalar,
    Table,
    again,
    boolean,
    get,
    integer,
    string,
    walk,
)
from prefetch_advisor.lint.kinds.yaml_text import Templated, documents


def plain(node: Node) -> object:
    """What the node holds, without places."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Items):
        return [plain(item) for item in node.items]
    return {name: plain(entry.value) for name, entry in node.entries.items()}


def test_every_value_and_key_has_its_place():
    first, second = documents("\ufeffa: 1\r\n---\r\nlist:\r\n  - x: 'y'\r\n")
    assert isinstance(first, Table)
    value = get(first, "a")
    assert (value.line, value.column) == (1, 4)
    inner = get(second, "list").items[0]
    assert (inner.entries["x"].key.line, inner.entries["x"].key.column) == (4, 5)
    assert (get(inner, "x").line, get(inner, "x").column, get(inner, "x").plain) == (4, 8, False)


def test_aliases_and_merge_keys_have_the_place_of_their_anchor():
    (root,) = documents(
        "base: &base\n  prefetch: 1\n  ack: auto\nmore: &more {prefetch: 2, name: m}\n"
        "one:\n  <<: *base\n  ack: none\ntwo:\n  <<: [*more, *base]\nsame: *base\n"
    )
    assert plain(get(root, "one")) == {"prefetch": "1", "ack": "none"}
    assert plain(get(root, "two")) == {"prefetch": "2", "name": "m", "ack": "auto"}
    assert get(root, "one", "prefetch").line == 2
    assert get(root, "two", "prefetch").line == 4
    assert get(root, "same", "ack") is get(root, "base", "ack")


def test_the_last_of_equal_keys_counts_and_all_are_told():
    (root,) = documents("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n")
    assert plain(root) == {"b": {"c": "2"}, "a": "3"}
    assert [(key.text, key.line) for key in again(root)] == [("a", 5), ("c", 4)]


@pytest.mark.parametrize(
    "text",
    [
        "a: {{ .Values.prefetch }}\n",
        "{{- if .Values.on }}\na: 1\n{{- end }}\n",
        'a: 1\n{{ include "x" . | indent 2 }}\nb: 2\n',
        "a: name-{{ name }}\n",
        "{% if x %}\na: 1\n{% endif %}\n",
        "a: <%= ENV['X'] %>\n",
        "{{ .Values.name }}: 1\n",
    ],
)
def test_a_template_is_not_read(text):
    with pytest.raises(Templated):
        documents(text)


def test_a_placeholder_within_quotes_or_a_comment_makes_no_template():
    (root,) = documents("a: '{{ x }}'  # {{ not this }}\nb: |\n  {{ text }}\n")
    assert plain(root) == {"a": "{{ x }}", "b": "{{ text }}\n"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a:\n\t- b\n", 2, "token"),
        ("a: &a [*a]\n", 1, "within its own anchor"),
        ("- &a x\n- &a [*a]\n", 2, "within its own anchor"),
        ("\na: *b\n", 2, "without an anchor"),
        ("a: [1\nb: 2", 2, "expected"),
        ("- " * 5000, 1, "nested"),
        ("a: \x00\n", 1, r"U\+0000"),
        ("a: 1\nb: '\udcff'\n", 2, r"U\+DCFF"),
        ("%YAML " + "9" * 5000 + ".1\n---\na", 1, None),
        ('a: "\\UFFFFFFFF"', 1, None),
        ("x:\n  y: z: 1\n", 2, "mapping values"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line(text, line, words):
    with pytest.raises(Unparsable, match=words) as caught:
        documents(text)
    assert caught.value.line == line


def test_bombs_are_refused_at_once():
    laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
    )
    merges = "m0: &m0 {" + ", ".join(f"k{n}: 1" for n in range(1000)) + "}\n"
    merges += "".join(f"m{n}: {{<<: *m0}}\n" for n in range(1, 1000))
    chain = "c0: &c0 [x]\n" + "".join(f"c{n}: &c{n} [*c{n - 1}]\n" for n in range(1, 200))
    start = time.perf_counter()
    for text, words in ((laughs, "stand for"), (merges, "stand for"), (chain, "by an alias")):
        with pytest.raises(Unparsable, match=words):
            documents(text)
    assert time.perf_counter() - start < 2


def test_both_of_the_parsers_of_pyyaml_will_do(monkeypatch):
    text = "a: &x {b: [1, 'two']}\nc: *x\n--- \n- |\n  long\n"
    fast = [plain(root) for root in documents(text)]
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert [plain(root) for root in documents(text)] == fast
    for broken in ("a: [", 'a: "\\UFFFFFFFF"', "%YAML " + "9" * 5000 + ".1\n---\na", "a: \x07"):
        with pytest.raises(Unparsable):
            documents(broken)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10), ("-1", -1), ("'10'", 10), ("1_000", 1000), ("'1_000'", None), ("0x1F", 31),
        ("010", 8), ("0o17", 15), ("0b11", 3), ("1.5", None), ("ten", None), ("~", None),
        ("089", None), ("'${X:250}'", None), ("!secret 10", None), ("9" * 5000, None), ("_", None),
        ("0x", None), ("[10]", None),
    ],
)  # fmt: skip
def test_integers(text, value):
    (root,) = documents(f"v: {text}")
    assert integer(get(root, "v")) == value


def test_strings_and_truth():
    (root,) = documents("a: null\nb: 'null'\nc: 'true'\nd: off\ne: !x y\nf:\ng: 1\n")
    texts = {name: string(get(root, name)) for name in "abcdefg"}
    assert texts == {
        "a": None, "b": "null", "c": "true", "d": "off", "e": None, "f": None, "g": "1"
    }  # fmt: skip
    assert [boolean(get(root, name)) for name in "acdgz"] == [None, True, False, None, None]


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(NESTED)
def test_what_was_dumped_is_read_with_its_shape(value):
    text = yaml.safe_dump(value, allow_unicode=True)
    try:
        (root,) = documents(text)
    except Templated:
        assert "{{" in text or "{%" in text or "{#" in text or "<%" in text
        return
    again_read = yaml.compose(text, Loader=yaml.SafeLoader)
    assert sum(1 for _ in walk(root)) == nodes(again_read)


def nodes(node: yaml.Node) -> int:
    """How many values, keys left out, are below a node of PyYAML; the last of equal keys counts."""
    if isinstance(node, yaml.SequenceNode):
        return 1 + sum(map(nodes, node.value))
    if isinstance(node, yaml.MappingNode):
        return 1 + sum(nodes(value) for value in {k.value: v for k, v in node.value}.values())
    return 1


SOUP = st.lists(
    st.sampled_from(
        ["a: ", "- ", "\n", "  ", "\t", "&x ", "*x", "<<: ", "[", "]", "{", "}", "'", '"', "|\n",
         "? ", ": ", ",", "---\n", "...\n", "%YAML 1.1\n", "{{", "}}", "#", "!t ", "\r", "\u2028",
         "\x85", "\ufeff", "\x00", "\udcff", "1", "é"]
    ),
    max_size=40,
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(SOUP.map("".join) | st.text(max_size=60))
def test_no_text_does_anything_but_be_read_or_refused(text):
    try:
        roots = documents(text)
    except (Templated, Unparsable):
        return
    for root in roots:
        for node in walk(root):
            assert node.line >= 1
            assert node.column >= 1
            integer(node)
            boolean(node)
