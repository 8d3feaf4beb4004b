"""Delimiters, headers, units."""

import pytest

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.columns import Column, Role
from prefetch_advisor.sources.tabular.delimited import NO_DELIMITER
from prefetch_advisor.sources.tabular.sniffing import printed_step, read_header, settle


@pytest.mark.parametrize(
    ("header", "delimiter", "width"),
    [
        ("queue,p_ms", ",", 2),
        ("queue\tp_ms\tnote, of sorts", "\t", 3),
        ("queue;p_ms", ";", 2),
        ("queue|p_ms", "|", 2),
        ('"queue","p, really","p_ms"', ",", 3),
        ("p_ms", NO_DELIMITER, 1),
        ("Milliseconds", NO_DELIMITER, 1),
        ("5", NO_DELIMITER, 1),
        ("sep=;\nqueue;p_ms", ";", 2),
    ],
)
def test_delimiter_is_the_one_that_gives_known_names(header: str, delimiter: str, width: int):
    sheet = read_header(["# told", "", *header.split("\n")], "t.csv", 1)
    assert sheet is not None
    assert (sheet.form.delimiter, sheet.form.width) == (delimiter, width)
    assert sheet.header_lines == (2 if header == "5" else 3 + header.count("\n"))


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        *(("ms", "ms"), ("(ms)", "ms"), ("Seconds", "s"), ("value", None), ("Value [us]", "us")),
        *(("samples_ms", "ms"), ("P", None), ("elapsed_ms", "ms"), ("Processing Time (ms)", "ms")),
    ],
)
def test_a_lone_column_is_the_processing_time_where_its_name_says_nothing_else(
    name: str, unit: str | None
):
    sheet = read_header([name], "t.csv", 1)
    assert sheet is not None
    assert [(column.role, column.unit) for column in sheet.layout.columns] == [
        (Role.PROCESSING, unit)
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("cycle_ms", "rtt_ms", "RTT (ms)", "latency_ms", "total_ms", "ping_ms", "ack_delay_us"),
        *(
            "time_ms",
            "ts_us",
            "wait_ms",
            "queue_time_s",
            "bytes",
            "size_bytes",
            "idleMs",
            "_",
            "()",
        ),
    ],
)
def test_a_lone_column_of_another_meaning_is_no_processing_time(name: str):
    with pytest.raises(InputError, match=r"t\.csv:1: no processing time: found '"):
        read_header([name], "t.csv", 1)


def test_only_comments_are_no_header_yet():
    assert read_header(["# a", "", "  # b"], "t.csv", 1) is None


def test_unit_is_asked_for_only_where_there_are_figures():
    sheet = read_header(["duration,rtt_ms"], "t.csv", 1)
    assert sheet is not None
    with pytest.raises(InputError, match="--unit"):
        settle(sheet.layout, {0: ["5"], 1: ["1"]}, None, "t.csv")
    for cells in (["5ms", "7"], ["rubbish"]):
        layout, _ = settle(sheet.layout, {0: cells, 1: ["1"]}, None, "t.csv")
        assert [column.unit for column in layout.columns] == [None, "ms"]
    layout, _ = settle(sheet.layout, {0: ["5"], 1: ["1"]}, "us", "t.csv")
    assert [column.unit for column in layout.columns] == ["us", "ms"]


def test_printed_step_is_the_last_digit():
    column = Column(Role.PROCESSING, "p_ms", 0, "ms")
    assert printed_step(column, ["0", "15"]) == 1e-3
    assert printed_step(column, ["0.0", "0.0"]) == 1e-3
    assert printed_step(column, ["0.000", "1.25"]) == pytest.approx(1e-6)
    assert printed_step(column, ["1e-3"]) is None
