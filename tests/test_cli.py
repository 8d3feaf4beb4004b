"""The command line in process: options, selection, explanations, and what its errors say."""

from __future__ import annotations

import json

import pytest
from conftest import CAPTURES, ROOT

SAMPLES = ROOT / "samples" / "broker"
SIZED = ("advise", "--processing-time", "4ms", "--rtt", "100ms")


def rows(*names, **fields):
    """Management rows of queues with these names."""
    plain = {"vhost": "/", "type": "classic", "messages_ready": 0, "messages_unacknowledged": 0}
    return json.dumps([{"name": name, **plain, "consumers": 0, **fields} for name in names])


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e300", "-1", "", "x"])
@pytest.mark.parametrize(
    "option",
    [
        "--cv",
        "--target-busy-share",
        "--max-utilisation",
        "--processing-time",
        "--rtt",
        "--arrival-rate",
        "--drain-within",
        "--interval",
        "--concurrency",
    ],
)
def test_a_number_out_of_its_range_is_wrong_usage(cli, option, value):
    done = cli(*SIZED, f"{option}={value}")
    assert (done.code, done.out) == (2, "")
    assert f"'{option}'" in done.err


@pytest.mark.parametrize(
    ("option", "refused", "taken"),
    [
        ("--cv", "100.1", "100"),
        ("--target-busy-share", "1", "0.9999"),
        ("--max-utilisation", "0", "1"),
        ("--processing-time", "0s", "1ns"),
        ("--processing-time", "366d", "365d"),
        ("--rtt", "366d", "0s"),
        ("--drain-within", "0s", "1ns"),
        ("--interval", "0s", "1us"),
        ("--arrival-rate", "1000000001/s", "1e9/s"),
        ("--arrival-rate", "1e-10/s", "0"),
    ],
)
def test_the_ends_of_a_range_are_kept(cli, option, refused, taken):
    done = cli(*SIZED, option, refused)
    assert done.code == 2
    assert "expected" in done.err
    assert refused in done.err
    assert cli(*SIZED, option, taken).code == 0


@pytest.mark.parametrize("option", ["--queue", "--queue-pattern", "-V", "-o"])
def test_an_empty_name_is_wrong_usage(cli, option):
    done = cli(*SIZED, option, "")
    assert done.code == 2
    assert "empty" in done.err


@pytest.mark.parametrize("pattern", ["[", "(?P<", "a{99999999999999999999}", "*"])
def test_a_pattern_that_is_none_is_wrong_usage(cli, pattern):
    done = cli(*SIZED, "--queue-pattern", pattern)
    assert done.code == 2
    assert "is no regular expression" in done.err


def test_a_pattern_with_an_odd_set_is_taken_as_it_stands(cli):
    done = cli("advise", SAMPLES / "queues.json", "--queue-pattern", "[[a]udit")
    assert (done.code, done.err) == (0, "")
    assert "audit" in done.out


def test_without_a_command_help_is_shown_and_the_usage_is_wrong(cli):
    done = cli()
    assert (done.code, done.out) == (2, "")
    assert "Commands:" in done.err


NAMES = {
    "Stra\udcdfe": r"Stra\xdfe",
    "ansi\x1b[31mred\x1b[0m": r"ansi\x1b[31mred\x1b[0m",
    "back\\slash": r"back\\slash",
    " ": '" "',
    "tab\there": r"tab\there",
    "e\u202ecod": r"e\u202ecod",
}


@pytest.fixture
def odd(tmp_path):
    """A file of queues with odd names."""
    file = tmp_path / "queues.json"
    file.write_text(rows(*NAMES, "plain"))
    return file


@pytest.mark.parametrize("name", NAMES)
def test_a_queue_is_selected_by_its_name_and_by_how_the_table_shows_it(cli, odd, name):
    shown = NAMES[name]
    assert f"\n{shown}  " in cli("advise", odd).out
    for wanted in (name, shown):
        done = cli("advise", odd, "--queue", wanted, "--format", "json")
        assert [queue["queue"] for queue in done.report["queues"]] == [name]


def test_the_name_itself_comes_before_one_that_is_shown_alike(cli, tmp_path):
    file = tmp_path / "queues.json"
    file.write_text(rows("a\tb", r"a\tb"))
    done = cli("advise", file, "--queue", r"a\tb", "--format", "json")
    assert done.only["queue"] == r"a\tb"


def test_timings_without_a_queue_belong_to_the_one_copied_from_the_table(cli, tmp_path, odd):
    times = tmp_path / "times.csv"
    times.write_text("processing_ms\n" + "5\n" * 30)
    done = cli("advise", times, odd, "--queue", r"Stra\xdfe", "--format", "json")
    assert done.only["queue"] == "Stra\udcdfe"
    assert done.only["processing_time"]["mean"] == 0.005
    assert done.only["observed"]["ready"] == 0


def test_names_in_messages_are_escaped_once_and_cut_in_their_middle(cli, odd, tmp_path):
    near = cli("advise", odd, "--queue", "Strase")
    assert near.code == 3
    assert near.err == (
        "prefetch-advisor: error: no queue is called 'Strase'; near: 'Stra\\xdfe'\n"
    )
    done = cli("advise", odd, "--queue", "x" * 200 + "\x1b")
    assert "xxx...xxx" in done.err
    assert len(done.err.split("; ")[0]) < 120
    file = tmp_path / "vhosts.json"
    file.write_text(rows("a", vhost="Stra\udcdfe"))
    done = cli("advise", file, "-V", "nope\x1b")
    assert done.code == 3
    assert "no queue in vhost 'nope\\x1b'; there are queues in 'Stra\\xdfe'" in done.err
    assert cli("advise", file, "-V", r"Stra\xdfe").code == 0


@pytest.mark.parametrize("beside", [(), (ROOT / "samples" / "timings.csv",)])
def test_a_vhost_that_the_broker_does_not_have_is_an_error_that_lists_them(cli, beside):
    done = cli("advise", *beside, SAMPLES / "queues.json", "-V", "prod")
    assert (done.code, done.out) == (3, "")
    assert "no queue in vhost 'prod'; there are queues in '/'" in done.err


def test_a_vhost_names_that_of_rows_without_one(cli, tmp_path):
    file = tmp_path / "queues.txt"
    file.write_text("name\tmessages_ready\tmessages_unacknowledged\tconsumers\na\t1\t0\t0\n")
    done = cli("advise", file, SAMPLES / "queues.json", "-V", "prod", "--format", "json")
    assert done.only["vhost"] == "prod"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (["channels.json"], ["channels.json lists channels, which name no queue", "add"]),
        (["connections.json"], ["connections.json lists connections, which name no queue"]),
        (["nodes.json", "overview.json"], ["nodes.json", "/api/queues"]),
        (
            ["overview.json", "channels.json"],
            ["overview.json describes the broker; ", "channels.json lists channels", "add"],
        ),
    ],
)
def test_inputs_that_name_no_queue_are_told_what_they_are(cli, files, words):
    done = cli("advise", *(SAMPLES / file for file in files))
    assert done.code == 3
    for word in words:
        assert word in done.err
    assert "empty" not in done.err
    assert "may see no vhost" not in done.err


def test_an_empty_list_may_be_that_of_a_user_without_vhosts(cli):
    done = cli("advise", CAPTURES / "errors" / "4.3-api_no_queues.json", SAMPLES / "nodes.json")
    assert done.code == 3
    assert "may see no vhost" in done.err


def test_one_row_left_out_is_one_row(cli, tmp_path):
    file = tmp_path / "times.csv"
    file.write_text("processing_ms\n" + "5\n" * 30 + "x\n")
    assert f"{file}: 1 row left out\n" in cli("advise", file).err
    file.write_text("processing_ms\n" + "5\n" * 30 + "x\n" * 2)
    assert f"{file}: 2 rows left out\n" in cli("advise", file).err


@pytest.mark.parametrize(
    "text",
    [
        "PA101",
        "pa101",
        "101",
        " 101 ",
        "unbounded-prefetch",
        "Unbounded_Prefetch",
        "UNBOUNDED prefetch",
    ],
)
def test_a_finding_is_explained_however_it_is_written(cli, text):
    done = cli("explain", text)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("PA101 unbounded-prefetch (error)\n")


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("unbound-prefech", "unbounded-prefetch", "no-acks"),
        ("PA1", "PA101, PA102", "PA001"),
        ("0", "PA001, PA002", "PA101"),
        ("PA121", "PA123", "unbounded"),
        ("zzzz", "all: prefetch-advisor explain --list", "near"),
        ("Stra\udcdfe", "'Stra\\xdfe'", "near"),
    ],
)
def test_a_finding_that_is_not_there_names_those_near_it(cli, text, near, far):
    done = cli("explain", text)
    assert (done.code, done.out) == (2, "")
    assert near in done.err
    assert far not in done.err
    assert len(done.err) < 350


def test_every_finding_is_listed_on_a_line_of_its_own(cli):
    from prefetch_advisor.findings import RULES

    done = cli("explain", "--list")
    lines = done.out.splitlines()
    assert done.code == 0
    assert len(lines) == len(RULES)
    for rule, line in zip(RULES, lines, strict=True):
        assert line.split()[:3] == [rule.code, rule.severity.name.lower(), rule.name]
        assert line.endswith(rule.what)


@pytest.mark.parametrize("arguments", [[], ["PA101", "--list"]])
def test_explain_takes_one_finding_or_the_list(cli, arguments):
    assert cli("explain", *arguments).code == 2
