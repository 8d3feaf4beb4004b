"""Cells between delimiters."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.sources.tabular.bad_rows import BadRows
from prefetch_advisor.sources.tabular.delimited import NO_DELIMITER, Delimited, Form
from prefetch_advisor.sources.tabular.rows import text_of

CELL = st.text(st.sampled_from('ab,;" \n\t#'), max_size=4)


def rows(
    text: str, width: int, cut: int, delimiter: str = ","
) -> tuple[list[list[str]], list[int]]:
    """What is read when the lines come in blocks of ``cut``."""
    bad = BadRows("t.csv", strict=False)
    parser = Delimited(Form(delimiter, width), range(width), bad)
    lines = text.encode().splitlines(keepends=True)
    found, numbers = [], []
    for at in range(0, len(lines), cut):
        part = parser.rows(at + 1, b"".join(lines[at : at + cut]))
        found += [[text_of(part.columns[i][row]) for i in range(width)] for row in range(len(part))]
        numbers += list(part.lines)
    part = parser.finish(len(lines) + 1)
    found += [[text_of(part.columns[i][row]) for i in range(width)] for row in range(len(part))]
    numbers += list(part.lines)
    assert bad.count == 0
    return found, numbers


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.lists(CELL, min_size=3, max_size=3), max_size=12),
    st.integers(1, 9),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_what_csv_writes_is_read_back_in_any_blocks(table: list[list[str]], cut: int, quoting: int):
    table = [["x" + row[0], *row[1:]] for row in table]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=quoting).writerows(table)  # type: ignore[arg-type]
    found, numbers = rows(out.getvalue(), 3, cut)
    assert found == table
    starts, line = [], 1
    for row in table:
        starts.append(line)
        line += 1 + sum(cell.count("\n") for cell in row)
    assert numbers == starts


@pytest.mark.parametrize("cut", [1, 2, 100])
def test_blank_lines_and_comments_are_skipped_but_counted(cut: int):
    text = "a,1\n\n  \n# a comment\n  # one, with, commas\nb,2\n,\n"
    assert rows(text, 2, cut) == ([["a", "1"], ["b", "2"], ["", ""]], [1, 6, 7])


@pytest.mark.parametrize("cut", [1, 2, 100])
def test_a_row_may_begin_with_a_hash(cut: int):
    text = '#tasks,1\n#"x\n"#a,b",2\n"#c\nd",3\n'
    assert rows(text, 2, cut) == ([["#tasks", "1"], ["#a,b", "2"], ["#c\nd", "3"]], [1, 3, 4])


def test_comments_are_counted():
    delimited = Delimited(Form(",", 2), range(2), BadRows("t.csv", strict=False))
    delimited.rows(5, b"a,1\n# one\n# two\n")
    assert (delimited.comments, delimited.first_comment) == (2, 6)
    figures = Delimited(Form(NO_DELIMITER, 1), range(1), BadRows("t.csv", strict=False))
    assert len(figures.rows(1, b"5\n# from the second run\n#7\n6\n")) == 2
    assert figures.comments == 2


def test_wrong_counts_that_cancel_out_are_both_found():
    bad = BadRows("t.csv", strict=False)
    found = Delimited(Form(",", 3), range(3), bad).rows(1, b"a,b,c\na,b\na,b,c,d\n")
    assert list(found.lines) == [1]
    assert [row.line for row in bad.first] == [2, 3]


def test_cell_beyond_the_limit_of_csv_is_a_bad_row():
    bad = BadRows("t.csv", strict=False)
    wide = b'"' + b"x" * 200_000 + b'",1\n'
    assert len(Delimited(Form(",", 2), range(2), bad).rows(1, wide + b"a,1\n")) == 1
    assert "cells of at most" in bad.first[0].expected
