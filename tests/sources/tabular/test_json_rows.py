"""JSON objects as rows."""

import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.sources.opening import OpenInput
from prefetch_advisor.sources.tabular.bad_rows import BadRows
from prefetch_advisor.sources.tabular.interrupts import Interrupts
from prefetch_advisor.sources.tabular.json_rows import objects_of_array, objects_of_lines

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=4), VALUE, max_size=4) | VALUE, max_size=15)


class Dribble(io.BytesIO):
    """A few bytes at a time."""

    def read1(self, size: int | None = -1) -> bytes:
        return self.read(7)


def array(
    text: bytes, stream: type[io.BytesIO] = Dribble
) -> tuple[list[int], list[object], BadRows]:
    bad = BadRows("t.json", strict=False)
    lines: list[int] = []
    objects: list[object] = []
    for numbers, found in objects_of_array(
        OpenInput("t.json", stream(text), text), Interrupts(), bad
    ):
        lines += numbers
        objects += found
    return lines, objects, bad


@settings(deadline=None, max_examples=80)
@given(OBJECTS, st.sampled_from([None, 2]))
def test_array_is_read_as_json_reads_it(values: list[object], indent: int | None):
    _, objects, bad = array(json.dumps(values, indent=indent, ensure_ascii=False).encode())
    assert objects == [value for value in values if isinstance(value, dict)]
    assert bad.count == len(values) - len(objects)


@settings(deadline=None, max_examples=80)
@given(OBJECTS)
def test_lines_are_read_one_by_one(values: list[object]):
    bad = BadRows("t.json", strict=False)
    block = "".join(f"{json.dumps(value)}\n" for value in values).encode()
    lines, objects = objects_of_lines(1, block, bad)
    assert objects == [value for value in values if isinstance(value, dict)]
    assert lines == [at for at, value in enumerate(values, 1) if isinstance(value, dict)]
    assert bad.count == len(values) - len(objects)


def test_lines_of_elements_are_physical():
    assert array(b'[\n{"a": 1},\n\n{"a":\n2}, {"a": 3}\n]')[0] == [2, 4, 5]


def test_garbage_in_an_array_ends_it_with_a_bad_row():
    _, objects, bad = array(b'[{"a": 1},\n{"a": }, {"a": 2}]', io.BytesIO)
    assert objects == [{"a": 1}]
    assert bad.first[0].line == 2
    assert "the rest of the array is left out" in bad.first[0].found


def test_deep_nesting_is_a_bad_row():
    deep = b"[" * 100_000
    assert array(b"[" + deep)[2].count >= 1
    bad = BadRows("t.json", strict=False)
    assert objects_of_lines(1, deep + b"\n" + b'{"a": 1}\n', bad) == ([2], [{"a": 1}])
    assert bad.count == 1
