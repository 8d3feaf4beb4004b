"""Timings from their text to figures for each queue."""

import csv
import gzip
import io
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.errors import AdvisorError, InputError, UsageError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.model.timing import TimingRow
from prefetch_advisor.sources.opening import OpenInput, open_input
from prefetch_advisor.sources.timings import SampleBudget, TimingOptions, read_timings


def read(text: str | bytes, **options: Any) -> Intake:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    with open_input("-", io.BytesIO(data)) as source:
        return read_timings(source, TimingOptions(**options), SampleBudget())


def only(text: str | bytes, **options: Any) -> TimingRow:
    (row,) = read(text, **options).timings
    return row


def processing(row: TimingRow) -> list[float]:
    return [value for run in row.runs for value in run.processing.tolist()]


def trips(row: TimingRow) -> list[float]:
    return [value for run in row.runs if run.rtt is not None for value in run.rtt.tolist()]


def same(left: Intake, right: Intake) -> None:
    assert len(left.timings) == len(right.timings)
    for one, two in zip(left.timings, right.timings, strict=True):
        assert processing(one) == processing(two)
        assert trips(one) == trips(two)
        assert [run.consumer for run in one.runs] == [run.consumer for run in two.runs]
        assert replace(one, runs=()) == replace(two, runs=())


# what the columns mean


def test_queues_are_told_apart_in_the_order_they_appear():
    found = read("queue,processing_ms,rtt_ms\nb,4,100\na,5,1\nb,6,100\n")
    b, a = found.timings
    assert (b.name, b.vhost, b.rows, processing(b)) == ("b", None, 2, [0.004, 0.006])
    assert b.processing is not None
    assert b.rtt is not None
    assert (b.processing.mean, b.rtt.mean, a.name) == (0.005, 0.1, "a")
    assert found.notes == ()
    assert (found.bad_count, found.interrupted) == (0, False)


def test_cycle_gives_the_round_trip_that_rtt_would():
    with_rtt = only("p_ms,rtt_ms\n" + "4,100\n" * 30)
    with_cycle = only("p_ms,cycle_ms\n" + "4,104\n" * 30)
    assert trips(with_cycle) == pytest.approx(trips(with_rtt))


def test_cycle_below_the_processing_time_is_a_bad_row():
    found = read("p_ms,cycle_ms\n4,104\n4,3\n4,\n")
    assert found.bad_count == 1
    assert found.bad_rows[0].line == 3
    (row,) = found.timings
    assert row.rows == 2
    assert row.rtt is not None
    assert row.rtt.count == 1


def test_cycle_and_round_trip_give_the_processing_time():
    assert processing(only("cycle_ms,rtt_ms\n104,100\n105,100\n")) == pytest.approx([0.004, 0.005])


def test_ack_delay_counts_as_round_trip_and_adds_to_one():
    assert trips(only("p_ms,ack_delay_ms\n10,1000\n10,1000\n")) == [1, 1]
    assert trips(only("p_ms,rtt_ms,ack_delay_ms\n10,1,1000\n10,2,1000\n")) == [1.001, 1.002]


def test_started_and_finished_give_time_and_concurrency_of_each_consumer():
    lines = ["queue,host,started,finished"]
    start = datetime(2024, 5, 1, tzinfo=UTC)
    for i in range(200):
        for host in ("a", "b"):
            begun = start + timedelta(seconds=i * 0.5)
            lines.append(
                f"q,{host},{begun.isoformat()},{(begun + timedelta(seconds=1)).isoformat()}"
            )
    row = only("\n".join(lines))
    assert row.processing is not None
    assert (row.processing.mean, row.concurrency, row.consumers) == (1.0, 2.0, 2)
    assert row.first_at is not None
    assert row.last_at is not None
    assert row.last_at - row.first_at == pytest.approx(99.5)


def test_overlap_without_a_consumer_column_is_not_taken_for_concurrency():
    found = read("started_s,finished_s\n" + "".join(f"{i},{i + 3}\n" for i in range(30)))
    assert found.timings[0].concurrency is None
    assert "up to 3 messages at once" in found.notes[0]
    single = only("started_s,finished_s\n" + "".join(f"{i},{i + 1}\n" for i in range(30)))
    assert single.concurrency == 1
    assert single.processing is not None
    assert single.processing.mean == 1


def test_timestamps_give_the_period_in_any_form():
    for at in (
        "2023-11-14T22:13:{:02}Z",
        "17000000{:02}",
        "17000000{:02}000",
        "2023-11-14 22:13:{:02}",
    ):
        row = only("ts,p_ms\n" + "".join(f"{at.format(second)},5\n" for second in (40, 20, 59)))
        assert row.first_at is not None
        assert row.last_at is not None
        assert row.last_at - row.first_at == 39


def test_unreadable_timestamp_leaves_the_row_and_is_told():
    found = read("ts,p_ms\nyesterday,5\n2023-11-14T22:13:20Z,5\n,5\n")
    (row,) = found.timings
    assert (row.rows, row.first_at, row.last_at) == (3, 1_700_000_000, 1_700_000_000)
    assert found.notes == (
        "stdin: 1 time could not be read (first line 2: 'yesterday'): expected ISO 8601 or epoch",
    )


def test_bytes_are_averaged_over_the_rows_that_have_them():
    assert only("p_ms,size_bytes\n5,1000\n5,\n5,2000\n").mean_bytes == 1_500


def test_vhost_consumer_and_hostile_names_are_kept():
    name = "a\tb [red]\x1b[31m \u202eabc"
    found = read(
        json.dumps({"queue": name, "vhost": "/v", "consumer_tag": "c1", "p_ms": 5})
        + "\n"
        + json.dumps({"queue": name, "vhost": "/v", "consumer_tag": "c2", "p_ms": 5})
    )
    (row,) = found.timings
    assert (row.name, row.vhost, row.consumers) == (name, "/v", 2)
    assert [run.consumer for run in row.runs] == ["c1", "c2"]
    assert only(b"queue,p_ms\nf\xfcr,5\n").name == "f\udcfcr"
    assert only("queue,p_ms\nq" + "ü" * 127 + ",5\n").name == "q" + "ü" * 127
    assert read("queue,p_ms\nq" + "ü" * 128 + ",5\nok,5\n").bad_count == 1


def test_zeros_are_counted_and_the_step_of_the_timer_seen():
    row = only("p_ms\n" + "0\n1\n0\n2\n5\n" * 10)
    assert (row.zeros, row.resolution) == (20, 1e-3)
    assert only("p_ms\n" + "0.000\n" * 30).resolution == pytest.approx(1e-6)
    assert only("p_ms\n" + "0\n" * 30).resolution == 1e-3


def test_rows_in_order_of_duration_are_noticed():
    rising = "p_ms\n" + "".join(f"{i}\n" for i in range(30))
    falling = "p_ms\n" + "".join(f"{30 - i}\n" for i in range(30))
    assert only(rising).sorted_by_duration
    assert only(falling).sorted_by_duration
    assert not only("p_ms\n" + "5\n" * 30).sorted_by_duration
    assert not only(rising + "1\n").sorted_by_duration
    assert not only("p_ms\n1\n2\n3\n").sorted_by_duration


# how it is written


def test_bare_column_needs_a_unit_somewhere():
    assert processing(only("5\n6\n", unit="ms")) == [0.005, 0.006]
    assert processing(only("5ms\n6000us\n0.007 s\n")) == [0.005, 0.006, 0.007]
    assert processing(only("ms\n5\n6\n")) == [0.005, 0.006]
    assert processing(only("duration_ms\n5\n6\n")) == [0.005, 0.006]
    assert processing(only('"0,5"\n"0,25"\n', unit="s")) == [0.5, 0.25]
    for text in ("5\n6\n", "duration\n5\n6\n", '{"p": 5}\n'):
        with pytest.raises(InputError, match=r"stdin: no unit: .*--unit"):
            read(text)
    with pytest.raises(UsageError, match="parsec"):
        read("5\n", unit="parsec")


def test_a_unit_in_name_or_cell_wins_over_the_option():
    assert processing(only("p_ms\n5\n6s\n", unit="us")) == [0.005, 6]


def test_several_columns_need_a_header():
    for text in ("5,1\n6,1\n", "tasks,5ms\ntasks,6ms\n", "tasks;5\n"):
        with pytest.raises(InputError, match=r"stdin:1: .*header"):
            read(text)


@pytest.mark.parametrize("delimiter", ["\t", ";", ",", "|"])
def test_columns_that_are_named_make_up_for_a_header(delimiter):
    rows = ("tasks", "5", "1.5"), ("mail", "20", "1.5"), ("tasks", "7", "2.5")
    text = "".join(f"{delimiter.join(row)}\n" for row in rows)
    named = read(f"queue{delimiter}p_ms{delimiter}rtt_ms\n{text}").timings
    found = read(text, columns=("queue", "p_ms", " rtt_ms")).timings
    assert told(found) == told(named)
    assert [row.name for row in found] == ["tasks", "mail"]
    assert only("5\n7\n", columns=("p_ms",)).processing.mean == 0.006
    # one that is not to be read has any name, or none
    skipped = read(text, columns=("queue", "p_ms", "")).timings
    assert [row.rtt for row in skipped] == [None, None]


def told(rows):
    return [(row.name, row.rows, row.processing.mean, row.rtt.mean) for row in rows]


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"stdin:1: expected 2 cells, as --columns names .*a,5,6"):
        read("a,5,6\n", columns=("queue", "p_ms"))
    with pytest.raises(InputError, match=r"--columns: no processing time: found 'queue', 'foo'"):
        read("a,5\n", columns=("queue", "foo"))
    with pytest.raises(InputError, match=r"--columns is for rows without a header.* JSON"):
        read('{"p_ms": 5}\n', columns=("p_ms",))


def test_rows_of_a_name_and_whole_numbers_are_timings_where_columns_are_named(advise, tmp_path):
    file = tmp_path / "rows"
    file.write_text("tasks\t5\t3\nmail\t7\t2\ntasks\t5\t3\n")
    done = advise(file, "--columns", "queue,processing_ms,rtt_ms")
    found = {queue["queue"]: queue["processing_time"]["mean"] for queue in done.report["queues"]}
    assert found == {"tasks": 0.005, "mail": 0.007}
    ctl = tmp_path / "ctl"
    ctl.write_text("name\tmessages\na\t1\n")
    done = advise(ctl, "--columns", "queue,processing_ms")
    assert done.code == 2
    assert "--columns: no input holds timings" in done.err


def test_header_errors_name_the_line_and_the_columns():
    with pytest.raises(InputError, match=r"stdin:2: no processing time: found 'queue', 'foo'"):
        read("# exported\nqueue,foo\na,5\n")
    with pytest.raises(InputError, match=r"stdin:1: two columns for the round trip: 'rtt_ms' and"):
        read("p_ms,rtt_ms,network_ms\n1,2,3\n")


TABLE = [
    {"queue": "tasks", "Processing Time (ms)": "5.25", "rtt_ms": "1.5", "host": "a"},
    {"queue": "mails", "Processing Time (ms)": "0", "rtt_ms": "", "host": "b"},
    {"queue": "tasks", "Processing Time (ms)": "12", "rtt_ms": "2", "host": "b"},
] * 400


def written(delimiter: str, end: str = "\n", quoting: Any = csv.QUOTE_MINIMAL) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(
        out, list(TABLE[0]), delimiter=delimiter, lineterminator=end, quoting=quoting
    )
    writer.writeheader()
    writer.writerows(TABLE)
    return out.getvalue().encode()


def test_every_form_of_one_table_gives_the_same():
    plain = read(written(","))
    assert [row.rows for row in plain.timings] == [800, 400]
    lines = [json.dumps(row) for row in TABLE]
    numbers = [
        json.dumps(
            {
                key: float(value) if "ms" in key and value else value or None
                for key, value in row.items()
            }
        )
        for row in TABLE
    ]
    forms = [
        *(written(delimiter) for delimiter in "\t;|"),
        *(written(",", end) for end in ("\r\n", "\r", "\n\n", "\n# a comment\n")),
        written(",", quoting=csv.QUOTE_ALL),
        written(",")[:-1],
        gzip.compress(written(",")),
        b"\xef\xbb\xbf" + written(","),
        written("\t", "\r\n").decode().encode("utf-16"),
        b"sep=;\n" + written(";"),
        written(",").replace(b",", b", "),
        "\n".join(lines).encode(),
        f"[{','.join(lines)}]".encode(),
        json.dumps([json.loads(line) for line in lines], indent=2).encode(),
        ("[" + ", ".join(numbers) + "]").encode(),
        "\r\n".join(numbers).encode(),
    ]
    for form in forms:
        found = read(form)
        assert found.bad_count == 0
        if form.lstrip()[:1] in b"{[":
            timings = [replace(row, resolution=None) for row in found.timings]
            expected = [replace(row, resolution=None) for row in plain.timings]
            same(replace(found, timings=tuple(timings)), replace(plain, timings=tuple(expected)))
        else:
            same(found, plain)


def test_quoted_cells_may_hold_delimiters_quotes_and_line_ends():
    found = read('queue,p_ms\n"a, ""b""\nc",5\n"d","6"\nplain,bad\n')
    assert [row.name for row in found.timings] == ['a, "b"\nc', "d"]
    assert [row.line for row in found.bad_rows] == [5]


def test_quote_that_is_never_closed_costs_one_row():
    found = read('queue,p_ms\na,5\n"b,5\n' + "c,5\n" * 3_000)
    assert (found.bad_count, sum(row.rows for row in found.timings)) == (1, 3_001)
    assert (found.bad_rows[0].line, found.bad_rows[0].expected) == (3, "a closing quote")


def test_quoted_line_end_over_the_edge_of_a_block():
    row = "queue,p_ms\n" + "x" * 50 + ",5\n"
    pad = "y,5\n" * ((262_144 - len(row)) // 4 - 1)
    found = read(row + pad + '"multi\nline",5\n' * 40 + "z,bad\n")
    assert found.bad_rows[0].line == 2 + pad.count("\n") + 80 + 1
    assert {timing.name: timing.rows for timing in found.timings}["multi\nline"] == 40


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p_ms;rtt_ms\n0,5;1,5\n", [0.0005]),
        ("p_ms;rtt_ms\n1,234;2,5\n", [0.001234]),
        ("p_ms;rtt_ms\n1.234;1.5\n", [0.001234]),
        ("p_ms\trtt_ms\n0,5\t1\n", [0.0005]),
        ('p_ms,rtt_ms\n"0,5","1,25"\n', [0.0005]),
        ('p_us,rtt_us\n"1,234.5","1,234"\n', [0.0012345]),
        ("p_us;rtt_us\n1.234,5;1.234\n", [0.0012345]),
        ("p_us;rtt_us\n1 234,5;1\n", [0.0012345]),
        ("p_us,rtt_us\n1'234.5,1\n", [0.0012345]),
    ],
)
def test_decimal_commas_and_thousands(text: str, expected: list[float]):
    assert processing(only(text)) == pytest.approx(expected)


def test_ambiguous_thousands_are_bad_rows_not_guesses():
    found = read('p_us,rtt_us\n"1,234",1\n5,1\n')
    assert found.bad_count == 1
    assert "not ambiguous (1.234 or 1234?)" in found.bad_rows[0].expected


@pytest.mark.parametrize("delimiter", ["\t", ";"])
def test_every_delimiter_leaves_the_comma_ambiguous(delimiter: str):
    found = read("p_us;rtt_us\n1,234;1\n5;1\n".replace(";", delimiter))
    assert (found.timings[0].rows, found.bad_count) == (1, 1)


@pytest.mark.parametrize(
    ("usual", "odd"), [("1,5", "1,234.5"), ("1.5", "1.234,5"), ("1.234", "1.234,5")]
)
def test_a_row_that_contradicts_the_decimal_mark_is_bad(usual: str, odd: str):
    found = read("queue;p_us\n" + f"q;{usual}\n" * 60_000 + f"q;{odd}\n")
    assert (found.timings[0].rows, found.bad_count) == (60_000, 1)
    assert (found.bad_rows[0].line, found.bad_rows[0].found) == (60_002, repr(odd))


def test_a_queue_may_begin_with_a_hash_and_comments_are_told():
    found = read("# before\nqueue,p_ms\n#tasks,5\n# a comment\ntasks,6\n# another\n")
    assert [row.name for row in found.timings] == ["#tasks", "tasks"]
    assert found.notes == ("stdin: 2 lines that begin with # skipped as a comment (first: line 4)",)


def test_strict_does_not_pass_over_an_unreadable_time():
    text = "ts,p_ms\n" + "2023-11-14T22:13:20Z,5\n" * 7_000 + "yesterday,5\n,5\n"
    for place in (text, text + "2023-11-14T22:13:20Z,5\n" * 7_000):
        with pytest.raises(InputError, match=r"stdin:7002: expected a time .* found 'yesterday'"):
            read(place, strict=True)


def test_many_rows_with_decimal_commas_are_the_same_as_with_points():
    values = np.random.default_rng(4).exponential(5, 3_000)
    points = "".join(f"{value:.4f};q\n" for value in values)
    with_points = read("p_ms;queue\n" + points)
    same(read("p_ms;queue\n" + points.replace(".", ",")), with_points)


def test_header_in_the_middle_is_skipped_and_told():
    text = "queue,p_ms\na,5\n"
    found = read(text * 3)
    assert (found.bad_count, found.timings[0].rows) == (0, 3)
    assert found.notes == ("stdin: the header is repeated 2 times: those lines were skipped",)
    with pytest.raises(InputError, match=r"stdin:3: a second header with other columns"):
        read("p_ms,rtt_ms\n5,1\nrtt_ms,p_ms\n1,5\n")


def test_json_keys_may_be_missing_and_come_in_any_order():
    found = read(
        '{"p_ms": 5, "queue": "a"}\n{"queue": "a", "rtt_ms": 1, "p_ms": 6}\n{"queue": "a"}\n'
    )
    (row,) = found.timings
    assert (row.rows, found.bad_count) == (2, 1)
    assert row.rtt is not None
    assert row.rtt.count == 1


# what is wrong


def test_bad_cells_are_named_and_the_rest_is_read():
    rows = ["5", "NaN", "inf", "-1", "", "fast", "6", "1e999", "7"]
    found = read("queue,p_ms\n" + "".join(f"q,{row}\n" for row in rows))
    assert found.timings[0].rows == 3
    assert found.bad_count == 6
    assert [row.line for row in found.bad_rows] == [3, 4, 5, 6, 7]
    assert [row.found for row in found.bad_rows] == [
        "'NaN'",
        "'inf'",
        "'-1'",
        "an empty cell",
        "'fast'",
    ]
    assert found.bad_rows[4].expected == "a duration in 'p_ms'"


def test_what_is_found_is_escaped_and_short():
    found = read("queue,p_ms\nq,\x1b[31m" + "x" * 500 + "\nq,5\n")
    assert found.bad_rows[0].found.startswith("'\\x1b[31mxxx")
    assert len(found.bad_rows[0].found) <= 60


def test_short_and_long_rows_say_how_many_cells():
    found = read("queue,p_ms\nq,5\nq\nq,5,6\n")
    assert [row.found for row in found.bad_rows] == ["1: 'q'", "3: 'q,5,6'"]
    assert {row.expected for row in found.bad_rows} == {"2 cells"}


def test_empty_round_trip_leaves_it_out_for_that_row():
    found = read("p_ms,rtt_ms\n5,\n6,2\n7,\n8,4\n9,x\n")
    (row,) = found.timings
    assert row.rtt is not None
    assert (row.rows, row.rtt.count, row.rtt.mean, found.bad_count) == (4, 2, 0.003, 1)
    assert trips(row) == [0.002, 0.002, 0.002, 0.004]


def test_strict_stops_at_the_first_bad_row():
    with pytest.raises(InputError, match=r"stdin:3: expected a duration in 'p_ms', found 'x'"):
        read("queue,p_ms\nq,5\nq,x\nq,y\nq\n", strict=True)


def test_no_usable_row_tells_what_was_found():
    with pytest.raises(
        InputError,
        match=r"stdin: no usable row: lines 2, 3: expected a duration in 'p_ms', found 'x', 'y'$",
    ):
        read("p_ms\nx\ny\n")
    for text in ("", "\n\n", "p_ms\n", "# only\n", "[]", "{}"):
        with pytest.raises(InputError):
            read(text)


def test_more_queues_than_can_be_is_an_error():
    text = "queue,p_ms\n" + "".join(f"{i},5\n" for i in range(100_001))
    with pytest.raises(InputError, match=r"more than 100,000 .*is the queue column the right one"):
        read(text)


def test_many_consumers_are_no_longer_told_apart():
    found = read("consumer,p_ms\n" + "".join(f"c{i % 70},{i}\n" for i in range(700)))
    (row,) = found.timings
    assert row.consumers == 70
    assert {run.consumer for run in row.runs} == {None}
    assert row.rows == 700
    assert "more than 64 consumers" in found.notes[0]


def test_long_lines_are_bad_rows_quickly():
    start = time.monotonic()
    found = read(
        b"queue,p_ms\nq,5\nq," + b"9" * 10_000_000 + b"\nq,6\n" + b"," * 900_000 + b"\nq,7\n"
    )
    assert time.monotonic() - start < 5
    assert [row.line for row in found.bad_rows] == [3, 5]
    assert processing(found.timings[0]) == [0.005, 0.006, 0.007]
    assert "10,000,002 bytes" in found.bad_rows[0].found


def test_unknown_columns_are_named_once():
    found = read("p_ms,retries,ping_ms\n5,1,1\n6,1,1\n")
    assert found.notes == (
        "stdin: columns not used: 'retries', 'ping_ms'; "
        "a ping is only a lower bound of the round trip",
    )


def test_truncated_gzip_uses_what_there_is():
    rng = np.random.default_rng(1)
    text = "queue,p_ms\n" + "".join(f"q,{value}\n" for value in rng.exponential(5, 5_000))
    found = read(gzip.compress(text.encode())[:-2_000])
    assert 1_000 < found.timings[0].rows < 5_000
    assert "ends early" in found.notes[0]
    assert found.bad_count == 1
    assert found.bad_rows[0].expected == "a complete line"


@pytest.mark.parametrize("end", ["", ', {"p_ms', ", 17, {"])
def test_truncated_json_array_uses_what_there_is(end: str):
    found = read('[{"p_ms": 5},\n {"p_ms": 6}' + end)
    assert found.timings[0].rows == 2
    assert found.bad_count >= 1


# statistics, bounds, interrupts


def test_statistics_are_numpys_over_all_the_data_and_memory_is_bounded():
    rng = np.random.default_rng(9)
    count = 150_000
    values, trip = rng.lognormal(1, 1, count), rng.exponential(2, count)
    hosts = rng.integers(0, 3, count)
    text = "queue,host,p_ms,rtt_ms\n" + "".join(
        f"q{i % 2},h{host},{value!r},{rtt!r}\n"
        for i, (host, value, rtt) in enumerate(
            zip(hosts.tolist(), values.tolist(), trip.tolist(), strict=True)
        )
    )
    found = read(text)
    for offset, row in enumerate(found.timings):
        own, host = values[offset::2] / 1e3, hosts[offset::2]
        assert row.processing is not None
        assert row.rtt is not None
        assert row.processing.mean == pytest.approx(own.mean(), rel=1e-12)
        assert row.processing.cv == pytest.approx(own.std(ddof=1) / own.mean())
        assert row.processing.p99 == pytest.approx(np.quantile(own, 0.99), rel=0.00501)
        assert row.rtt.p50 == pytest.approx(np.quantile(trip[offset::2], 0.5) / 1e3, rel=0.00501)
        assert row.processing.quantile_error == 0.005
        assert row.consumers == 3
        assert 10_000 < sum(len(run.processing) for run in row.runs) <= 20_000
        for run in row.runs:
            assert run.consumer is not None
            assert run.rtt is not None
            mine = own[host == int(run.consumer[1])]
            at = int(np.flatnonzero(mine == run.processing[0])[0])
            assert (mine[at : at + len(run.processing)] == run.processing).all()
            assert len(run.rtt) == len(run.processing)


def test_many_queues_share_the_budget():
    text = "queue,p_ms\n" + "".join(f"q{i % 300},{i % 7}\n" for i in range(30_000))
    with open_input("-", io.BytesIO(text.encode())) as source:
        found = read_timings(source, TimingOptions(), SampleBudget(total=4_000, inputs=1))
    assert len(found.timings) == 300
    assert sum(len(run.processing) for row in found.timings for run in row.runs) <= 4_000
    assert all(row.runs and row.rows == 100 for row in found.timings)


class Interrupted(io.RawIOBase):
    """Gives its pieces, then Ctrl-C."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = iter(pieces)

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1) -> bytes:
        for piece in self._pieces:
            return piece
        raise KeyboardInterrupt


def test_interrupt_returns_what_was_read():
    source = OpenInput("stdin", Interrupted(b"p_ms\n5\n6", b"\n7\n8"), b"p_ms\n5\n6")  # type: ignore[arg-type]
    found = read_timings(source, TimingOptions(), SampleBudget())
    assert found.interrupted
    assert processing(found.timings[0]) == [0.005, 0.006, 0.007]
    assert found.bad_rows[0].found == "'8', cut short"


READER = """
import sys
from prefetch_advisor.sources.opening import open_input
from prefetch_advisor.sources.timings import SampleBudget, TimingOptions, read_timings
with open_input("-") as source:
    print("ready", flush=True)
    found = read_timings(source, TimingOptions(unit="ms"), SampleBudget())
(row,) = found.timings
assert found.interrupted
assert row.rows == row.processing.count > 1_000
assert abs(row.processing.mean - 0.005) < 1e-9
"""


@pytest.mark.parametrize("pause", [0, 0.3])
def test_endless_pipe_ended_by_ctrl_c(pause: float):
    """While it waits for input (all that there is has been read) and while it computes."""
    numbers = (
        "while True: print('5\\n' * 1_000)"
        if pause
        else ("print('5\\n' * 100_000, flush=True); import time; time.sleep(60)")
    )
    with (
        subprocess.Popen([sys.executable, "-c", numbers], stdout=subprocess.PIPE) as writer,
        subprocess.Popen(
            [sys.executable, "-c", READER], stdin=writer.stdout, stdout=subprocess.PIPE
        ) as reader,
    ):
        try:
            assert reader.stdout is not None
            assert reader.stdout.readline() == b"ready\n"
            time.sleep(pause or 1)
            reader.send_signal(signal.SIGINT)
            assert reader.wait(20) == 0
        finally:
            writer.kill()


# anything at all

NAME = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('\n\t\x1b,;|"'),
    min_size=1,
    max_size=8,
)
FIGURE = st.floats(0, 1e6).map(repr) | st.integers(0, 10**6).map(str)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(
        st.tuples(FIGURE | st.sampled_from(["x", "nan"]), NAME, FIGURE | st.just("")),
        min_size=1,
        max_size=60,
    )
)
def test_any_table_is_the_same_in_every_form(table: list[tuple[str, str, str]]):
    head = ("p_ms", "queue", "rtt_ms")
    forms = []
    for delimiter, end in ((",", "\n"), ("\t", "\n"), (";", "\r\n"), ("|", "\n")):
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter, lineterminator=end)
        writer.writerows([head, *table])
        forms.append(out.getvalue())
    lines = [json.dumps(dict(zip(head, row, strict=True))) for row in table]
    forms += ["\n".join(lines), f"[{','.join(lines)}]"]
    if all(row[0] in ("x", "nan") for row in table):
        for form in forms:
            with pytest.raises(InputError):
                read(form)
        return
    first, *others = map(read, forms)
    for other in others:
        assert other.bad_count == first.bad_count
        timings = zip(first.timings, other.timings, strict=True)
        # what a timer prints is not to be seen in JSON
        alike = tuple(replace(two, resolution=one.resolution) for one, two in timings)
        same(first, replace(other, timings=alike))


CELLS = st.sampled_from(
    [
        "5",
        "0",
        "7.25",
        " 6 ",
        "",
        "nan",
        "-3",
        "abc",
        "1e400",
        '"8"',
        '"9',
        "0,5",
        "x,y",
        "\x1b",
        "٣",
    ]
)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.sampled_from("ab"), CELLS), min_size=1, max_size=120), st.booleans())
def test_every_row_is_used_or_bad(rows: list[tuple[str, str]], strict: bool):
    rows = [(name, cell) for name, cell in rows if cell != '"9']
    text = "queue,p_ms\n" + "".join(f"{name},{cell}\n" for name, cell in rows)
    good = [(name, cell) for name, cell in rows if cell in ("5", "0", "7.25", " 6 ", '"8"')]
    try:
        found = read(text, strict=strict)
    except InputError:
        assert not good or (strict and len(good) < len(rows))
    else:
        assert sum(row.rows for row in found.timings) == len(good)
        assert found.bad_count == len(rows) - len(good)
        assert len(found.bad_rows) == min(5, found.bad_count)
        for row in found.timings:
            expected = [float(cell.strip('" ')) / 1e3 for name, cell in good if name == row.name]
            assert processing(row) == expected


@settings(deadline=None, max_examples=200)
@given(
    st.binary(max_size=300)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | st.lists(
        st.sampled_from([*"pq,;\t\n\r\"'{}[]:0123.#|-", "p_ms", "queue", '{"p_ms":', "5ms"]),
        max_size=60,
    ).map(lambda parts: "".join(parts).encode()),
    st.sampled_from(
        [b"", b"p_ms\n", b"queue,p_ms,rtt_ms,ts\n", b"started;finished\n", b'[{"p_ms":5},']
    ),
    st.sampled_from([None, "ms"]),
)
def test_any_bytes_give_an_intake_or_an_error(data: bytes, start: bytes, unit: str | None):
    try:
        found = read(start + data, unit=unit)
    except AdvisorError as error:
        assert "\n" not in str(error)
    else:
        assert sum(row.rows for row in found.timings) > 0
        for row in found.timings:
            assert np.isfinite(processing(row)).all()


def test_a_file_by_name(tmp_path: Path):
    path = tmp_path / "t.csv"
    path.write_text("p_ms\n5\nx\n")
    with open_input(str(path)) as source:
        found = read_timings(source, TimingOptions(), SampleBudget())
    assert (found.where, found.bad_rows[0].where) == (str(path), str(path))
