"""Declared queues, judged: each rule where it just holds and where it just does not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from told import lint_text

from prefetch_advisor.lint.declared.template import toml
from prefetch_advisor.model.lint import LintFinding

OWN = "prefetch-advisor.toml"


def told(*lines: str, **files: str) -> list[LintFinding]:
    """The findings for one queue whose settings begin on line 3."""
    text = "\n".join(('[[queues]]\nname = "tasks"', *lines, ""))
    more = {name.replace("_csv", ".csv"): content for name, content in files.items()}
    return lint_text({OWN: text, **more})


def codes(*lines: str, **files: str) -> list[str]:
    return [found.finding.code for found in told(*lines, **files)]


def only(*lines: str, **files: str) -> LintFinding:
    (found,) = told(*lines, **files)
    return found


# people's situations, said as settings ------------------------------------------------------------


@pytest.mark.parametrize(
    ("processing", "rtt", "advised"),
    [("4ms", "100ms", 26), ("5ms", "120ms", 25), ("0.2ms", "1ms", 6)],
)
def test_a_prefetch_of_1_on_a_long_way_is_told_with_the_textbooks_number(processing, rtt, advised):
    lines = (f'processing-time = "{processing}"', f'rtt = "{rtt}"')
    found = only("prefetch = 1", *lines)
    assert (found.finding.code, found.severity.name) == ("PA303", "WARNING")
    assert (found.place.line, found.place.column) == (3, 12)
    assert found.finding.help == f"Set prefetch {advised}."
    assert f"{advised} would" in found.finding.message
    assert codes(f"prefetch = {advised}", *lines) == []


def test_a_task_of_seconds_needs_no_second_message():
    lines = ('processing-time = "10s"', 'rtt = "1ms"')
    assert codes("prefetch = 1", *lines) == []
    assert codes("prefetch = 200", *lines) == ["PA304", "PA309"]


def test_a_window_of_a_thousand_messages_of_two_seconds():
    found = {
        one.finding.code: one.finding for one in told("prefetch = 1000", 'processing-time = "2s"')
    }
    assert set(found) == {"PA304", "PA309"}
    assert "33 min 18 s" in found["PA304"].message
    assert "111 % of the ack timeout of 30 min (assumed" in found["PA309"].message


def test_heavy_tailed_work_wants_hardly_any_prefetch():
    lines = ('processing-time = "14.8s"', "cv = 3.31", 'rtt = "5ms"')
    found = told("prefetch = 32", *lines)
    assert "PA304" in [one.finding.code for one in found]
    assert codes("prefetch = 1", *lines) == []


def test_a_version_and_a_type_decide_whether_acks_time_out():
    lines = ("prefetch = 1", 'processing-time = "40min"')
    assert codes(*lines) == ["PA309"]
    assert codes(*lines, 'broker-version = "4.2.9"', 'type = "classic"') == ["PA309"]
    assert codes(*lines, 'broker-version = "4.3.0"', 'type = "classic"') == []
    assert codes(*lines, 'broker-version = "4.3.0"', 'type = "quorum"') == ["PA309"]
    given = 'consumer-timeout = "5min"'
    assert codes(*lines, given, 'broker-version = "4.3.0"', 'type = "classic"') == []
    assert codes(*lines, 'broker-version = "3.8.0"') == []
    assert codes(*lines, 'ack = "early"') == ["PA322"]


def test_a_risk_of_the_ack_timeout_stands_at_what_would_mend_it():
    alone = only("prefetch = 1", 'processing-time = "40min"')
    assert (alone.place.line, "make a message cheaper" in alone.finding.help) == (4, True)
    alone = only("prefetch = 1", 'processing-time = "40min"', 'consumer-timeout = "1h"')
    assert (alone.place.line, "(given: line 5)" in alone.finding.message) == (5, True)
    large, behind = told("prefetch = 9", 'processing-time = "3min"', 'rtt = "1ms"')
    assert {behind.place.line, large.place.line} == {3}
    assert behind.finding.help == "Set prefetch 1: a longer timeout only moves the failure."


# no limit ----------------------------------------------------------------------------------------


def test_no_limit_is_told_by_the_type_of_the_queue():
    assert codes("prefetch = 0", 'type = "classic"') == ["PA301"]
    assert codes("prefetch = 0", 'type = "quorum"') == ["PA311"]
    assert codes("prefetch = 0", 'type = "stream"') == ["PA321"]
    assert only("prefetch = 0").severity.name == "ERROR"
    found = only("prefetch = 0", 'processing-time = "20ms"', 'rtt = "1ms"', "consumers = 4")
    assert found.finding.help == "Set prefetch 2 before consuming."
    assert "4 consumers" in found.finding.message


def test_a_prefetch_that_is_not_said_is_not_guessed():
    assert codes() == []
    assert codes('processing-time = "20ms"', 'rtt = "1ms"', "consumers = 4") == []
    found = only('type = "stream"')
    assert (found.finding.code, found.severity.name, found.place.line) == ("PA321", "WARNING", 3)


def test_automatic_acks_ignore_a_prefetch():
    found = only("prefetch = 50", 'ack = "auto"')
    assert (found.finding.code, found.place.line) == ("PA302", 4)
    assert "the prefetch of 50 is ignored" in found.finding.message
    assert "no limit" in only('ack = "auto"').finding.message
    assert "540" in only('type = "stream"', 'ack = "auto"').finding.message


def test_a_stream_is_given_many_messages():
    lines = ('type = "stream"', 'processing-time = "1s"', 'rtt = "1ms"', 'broker-version = "4.3.0"')
    assert codes("prefetch = 100", *lines) == []


def test_what_the_protocol_cannot_carry_is_all_that_is_told():
    found = only("prefetch = 65_536", 'processing-time = "1s"', 'rtt = "1ms"')
    assert (found.finding.code, found.severity.name) == ("PA326", "ERROR")
    assert codes("prefetch = 65_535") == []


def test_a_name_in_a_comment_or_an_option_is_that_of_the_rule_for_settings(cli, tmp_path):
    assert codes("prefetch = 0  # prefetch-advisor: ignore[unbounded-prefetch] a test queue") == []
    (tmp_path / OWN).write_text('[[queues]]\nname = "tasks"\nprefetch = 0\n')
    assert cli("lint", tmp_path, "--ignore", "unbounded-prefetch").code == 0
    assert cli("lint", tmp_path, "--select", "unbounded-prefetch").code == 1
    explained = cli("explain", "unbounded-prefetch").out
    assert explained.index("PA101 ") < explained.index("PA301 ")


# too much ----------------------------------------------------------------------------------------


def test_what_is_buffered_is_judged_by_time_and_not_by_a_factor():
    assert codes("prefetch = 200", 'processing-time = "1ms"', 'rtt = "1ms"') == []
    assert codes("prefetch = 200", 'processing-time = "100ms"', 'rtt = "1ms"') == ["PA304"]
    # the way is long, and needs it
    assert codes("prefetch = 200", 'processing-time = "10ms"', 'rtt = "2s"') == []
    assert codes("prefetch = 200", 'processing-time = "100ms"', "concurrency = 64") == []


def test_a_finding_names_every_number_and_its_line():
    found = only("prefetch = 500", 'processing-time = "200ms"', 'rtt = "1ms"', "concurrency = 2")
    for words in ("processing-time 200 ms (line 4)", "rtt 1 ms (line 5)", "concurrency 2 (line 6)"):
        assert words in found.finding.message
    assert "49.8 s" in found.finding.message


def test_memory_and_priorities_are_held_against_the_prefetch():
    lines = ('message-bytes = "1MB"', 'memory-budget = "100MB"')
    assert codes("prefetch = 100", *lines) == []
    assert codes("prefetch = 101", *lines) == ["PA318"]
    work = 'processing-time = "200ms"'
    assert codes("prefetch = 6", work, "priorities = 5") == []
    assert codes("prefetch = 7", work, "priorities = 5") == ["PA317"]
    assert codes("prefetch = 7", work, "priorities = 1") == []


def test_bounds_that_nothing_can_keep_are_an_error_of_their_own():
    found = only(
        "prefetch = 20",
        "batch = 10",
        'memory-budget = "1MB"',
        'message-bytes = "100KB"',
        'processing-time = "5ms"',
        'rtt = "1ms"',
    )
    assert (found.finding.code, found.severity.name) == ("PA318", "ERROR")
    assert "at least 20 is needed" in found.finding.message


# too little --------------------------------------------------------------------------------------


def test_a_batch_wants_twice_as_many():
    assert codes("prefetch = 20", "batch = 10") == []
    half = only("prefetch = 10", "batch = 10")
    assert (half.finding.code, half.severity.name) == ("PA320", "WARNING")
    never = only("prefetch = 9", "batch = 10")
    assert (never.finding.code, never.severity.name) == ("PA320", "ERROR")
    assert codes("prefetch = 1", "batch = 1") == []


def test_a_small_prefetch_that_carries_the_load_is_only_mentioned():
    lines = ("prefetch = 1", 'processing-time = "1ms"', 'rtt = "5ms"', "consumers = 2")
    assert only(*lines).severity.name == "WARNING"
    assert only(*lines, 'arrival-rate = "200/s"').severity.name == "INFO"
    assert only(*lines, 'arrival-rate = "300/s"').severity.name == "WARNING"


def test_the_kind_of_client_decides():
    lines = ('processing-time = "5ms"', 'rtt = "20ms"', "prefetch = 6")
    assert codes(*lines) == []
    assert codes(*lines, 'concurrency = "loop"') == ["PA303"]
    busy = ('processing-time = "1s"', 'rtt = "0s"', 'arrival-rate = "110/s"', "consumers = 1")
    found = only("prefetch = 1", *busy, 'concurrency = "async"')
    assert (found.finding.code, found.finding.help) == ("PA303", "Set prefetch 138.")
    assert codes("prefetch = 138", *busy, 'concurrency = "async"') == []


# consumers ---------------------------------------------------------------------------------------


def test_consumers_are_held_against_what_arrives():
    lines = ('processing-time = "20ms"', 'arrival-rate = "180/s"')
    assert codes(*lines, "consumers = 5") == []
    found = only(*lines, "consumers = 4")
    assert (found.finding.code, found.place.line, found.place.column) == ("PA305", 5, 13)
    assert "loaded 90 %; 5 would be 72 %" in found.finding.message
    assert "grows for ever" in only(*lines, "consumers = 3").finding.message
    assert codes(*lines, "consumers = 4", "max-utilisation = 0.95") == []
    assert codes(*lines, "consumers = 2", "concurrency = 3") == []
    assert codes(*lines) == []


def test_a_single_active_consumer_has_one_spare():
    lines = ("single-active-consumer = true", 'processing-time = "20ms"')
    assert codes(*lines, "consumers = 2") == []
    assert only(*lines, "consumers = 3").severity.name == "INFO"
    found = only(*lines, "consumers = 2", 'arrival-rate = "45/s"')
    assert (found.finding.code, found.severity.name, found.place.line) == ("PA312", "WARNING", 3)
    assert codes(*lines, "consumers = 2", 'arrival-rate = "35/s"') == []


@pytest.mark.parametrize(
    ("kind", "version", "severity", "words"),
    [
        ("quorum", "4.2.0", "ERROR", "540"),
        ("stream", "3.13.7", "ERROR", "540"),
        ("quorum", "4.3.0", "WARNING", "ignored from 4.3 on"),
        ("classic", "4.3.0", "WARNING", "ignored from 4.3 on"),
        ("classic", "4.1.0", "WARNING", "shared by all consumers of a channel"),
        ("quorum", None, "WARNING", "up to 4.2"),
        (None, None, "WARNING", "shared by all"),
    ],
)
def test_a_global_prefetch_is_judged_by_version_and_type(kind, version, severity, words):
    lines = [f'type = "{kind}"'] if kind else []
    lines += [f'broker-version = "{version}"'] if version else []
    found = only("prefetch = 25", *lines, "global-qos = true")
    assert (found.finding.code, found.severity.name) == ("PA310", severity)
    assert words in found.finding.message
    assert found.place.line == 4 + len(lines)
    assert codes("prefetch = 25", *lines, "global-qos = false") == []


# machines ----------------------------------------------------------------------------------------

MACHINES = ('machines = { fast = "5ms", slow = "50ms" }', 'rtt = "50ms"')


def test_one_prefetch_for_unequal_machines_is_told_with_one_for_each():
    found = only("prefetch = 3", *MACHINES)
    assert (found.finding.code, found.place.line) == ("PA313", 3)
    assert found.finding.help == "Set a prefetch for each: fast: 11, slow: 2."
    assert codes("prefetch = { fast = 11, slow = 2 }", *MACHINES) == []
    # both need little
    assert codes("prefetch = 2", MACHINES[0], 'rtt = "1ms"') == []


def test_each_machine_is_judged_by_its_own_figures():
    fast, slow = told("prefetch = { fast = 2, slow = 500 }", *MACHINES)
    assert (fast.finding.code, fast.place.column) == ("PA303", 21)
    assert fast.finding.subject == "tasks (fast)"
    assert (slow.finding.code, slow.place.column) == ("PA304", 31)


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (["prefetch = 0"], "PA301"),
        (["prefetch = 70000"], "PA326"),
        (["prefetch = 3", 'ack = "auto"'], "PA302"),
        (["prefetch = { fast = 11, slow = 2 }", 'ack = "early"'], "PA322"),
        (["prefetch = { fast = 11, slow = 0 }"], "PA301"),
    ],
)
def test_what_is_wrong_whatever_the_machine_is_told_once(lines, code):
    assert codes(*lines, *MACHINES) == [code]


def test_unequal_machines_share_the_load_by_their_speeds():
    lines = (MACHINES[0], "consumers = { fast = 1, slow = 2 }")
    # 200/s and twice 20/s
    assert codes(*lines, 'arrival-rate = "190/s"') == []
    assert codes(*lines, 'arrival-rate = "230/s"') == ["PA305"]
    # whatever they are, they cannot do more than if all were fast
    assert codes(MACHINES[0], "consumers = 3", 'arrival-rate = "470/s"') == []
    found = only(MACHINES[0], "consumers = 3", 'arrival-rate = "570/s"')
    assert "if all were of the fastest kind" in found.finding.message


# timings -----------------------------------------------------------------------------------------


def csv(processing: float, rows: int = 1_000, header: str = "processing_time_ms") -> str:
    return "\n".join([header, *[str(processing)] * rows]) + "\n"


def test_timings_are_read_beside_the_settings():
    lines = ('timings = "times.csv"', 'rtt = "100ms"')
    found = only("prefetch = 1", *lines, times_csv=csv(4))
    assert (found.finding.code, found.finding.help) == ("PA303", "Set prefetch 26.")
    assert "(1,000 rows of times.csv)" in found.finding.message
    assert codes("prefetch = 26", *lines, times_csv=csv(4)) == []
    named = "queue,processing_time_ms\n" + "mail,400\n" * 30 + "tasks,4\n" * 30
    assert codes("prefetch = 26", *lines, times_csv=named) == []


def test_timings_of_another_directory_are_named_as_they_are_printed():
    text = '[[queues]]\nname = "q"\nprefetch = 1\ntimings = "t/x.csv"\nrtt = "100ms"\n'
    (found,) = lint_text({f"app/{OWN}": text, "app/t/x.csv": csv(4)})
    assert "rows of app/t/x.csv" in found.finding.message


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("gone.csv", None, "gone.csv: cannot be opened: No such file"),
        (".", None, "expected a file, found none"),
        ("/dev/zero", None, "/dev/zero: expected a file, found none"),
        ("nul\\u0000.csv", None, "cannot be opened"),
        ("times.csv", "", "times.csv"),
        ("times.csv", "a,b\n1,2\n", "times.csv"),
        ("times.csv", "queue,processing_time_ms\nmail,3\n", "no timings of this queue"),
        ("times.csv", "PK\x03\x04", "zip"),
    ],
)
def test_timings_that_cannot_be_used_are_one_finding(name, content, words):
    files = {} if content is None else {"times_csv": content}
    found = only("prefetch = 1", f'timings = "{name}"', **files)
    assert (found.finding.code, found.place.line, found.place.column) == ("PA009", 4, 11)
    assert words in found.finding.message
    assert not re.search("/tmp|told", found.finding.message)


def test_rows_that_are_left_out_and_too_few_rows_are_told():
    assert codes('timings = "times.csv"', times_csv=csv(4, 5)) == ["PA004"]
    found = only('timings = "times.csv"', times_csv=csv(4, 50) + "soon\n")
    assert (found.finding.code, found.severity.name) == ("PA009", "WARNING")
    assert "line 52" in found.finding.message


def test_a_consumer_column_tells_unequal_machines_too():
    rows = "".join("a,5\nb,50\n" * 200)
    text = f"consumer,processing_time_ms\n{rows}"
    found = told("prefetch = 4", 'timings = "times.csv"', 'rtt = "50ms"', times_csv=text)
    assert "PA313" in [one.finding.code for one in found]


# whatever is said --------------------------------------------------------------------------------

TIMES = st.sampled_from(["0.05ms", "0.4ms", "3ms", "20ms", "400ms", "7s", "4min", "50min"])
VALID = st.fixed_dictionaries(
    {"prefetch": st.sampled_from([0, 1, 2, 7, 40, 300, 2_500, 65_535, 65_536])},
    optional={
        "type": st.sampled_from(["classic", "quorum", "stream"]),
        "consumers": st.sampled_from([1, 2, 3, 12]),
        "concurrency": st.sampled_from([1, 4, 32, "async", "loop"]),
        "ack": st.sampled_from(["manual", "early", "auto"]),
        "processing-time": TIMES,
        "cv": st.sampled_from([0, 0.5, 3.0]),
        "machines": st.sampled_from([{"a": "5ms", "b": "80ms"}, {"a": "1min", "b": "7s"}]),
        "rtt": st.sampled_from(["0s", "0.3ms", "5ms", "80ms", "2s"]),
        "arrival-rate": st.sampled_from(["0/s", "1/min", "90/s", "20000/s"]),
        "message-bytes": st.sampled_from(["100B", "2MB"]),
        "memory-budget": st.sampled_from(["64MB", "8GB"]),
        "batch": st.sampled_from([1, 10, 400]),
        "consumer-timeout": st.sampled_from(["1min", "12h"]),
        "broker-version": st.sampled_from(["3.8.9", "3.12.14", "4.2.0", "4.3.1"]),
        "single-active-consumer": st.booleans(),
        "priorities": st.sampled_from([1, 10]),
        "global-qos": st.booleans(),
        "max-buffered-time": st.sampled_from(["0s", "200ms"]),
        "max-utilisation": st.sampled_from([0.3, 1.0]),
        "target-busy-share": st.sampled_from([0.5, 0.999]),
    },
)


def said(table: dict[str, object]) -> list[str]:
    without = ("processing-time", "cv") if "machines" in table else ()
    if "processing-time" not in table:
        without = ("cv",)
    table = {key: value for key, value in table.items() if key not in without}
    return [f"{key} = {toml(value)}" for key, value in table.items()]


@given(VALID)
@settings(deadline=None, max_examples=100)
def test_whatever_is_declared_each_finding_stands_at_a_value_and_its_advice_holds(table):
    lines = said(table)
    for found in told(*lines):
        assert found.finding.code[:3] == "PA3"
        assert 3 <= found.place.line <= 2 + len(lines)
        assert found.place.column > 1
        assert "--" not in found.finding.message + found.finding.help
        advised = re.fullmatch(r"Set prefetch ([0-9,]+)\.", found.finding.help)
        if advised and found.finding.subject == "tasks":
            number = int(advised[1].replace(",", ""))
            after = codes(*said({**table, "prefetch": number}))
            assert not {"PA303", "PA304", "PA301", "PA311", "PA319", "PA320"} & set(after)
