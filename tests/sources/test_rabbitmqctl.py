"""Output of rabbitmqctl, as table and as JSON: the same queues and consumers as the API shows."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.errors import AdvisorError, InputError
from prefetch_advisor.model.observation import Coverage, Intake, SourceKind
from prefetch_advisor.sources.erlang_terms import arguments, parse_terms
from prefetch_advisor.sources.json_documents import read_json
from prefetch_advisor.sources.json_text import decode
from prefetch_advisor.sources.rabbitmqctl_text import read_text

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
VERSIONS = ("3.10", "4.3")
TABLES = ("q", "s", "default", "no_headers", "cols")


def text_of(path: str) -> str:
    return decode((CAPTURES / path).read_bytes())


def table(path: str) -> Intake:
    (intake,) = read_text(text_of(path), path)
    return intake


def document(path: str) -> Intake:
    (intake,) = read_json(text_of(path), path)
    return intake


def read(text: str) -> list[Intake]:
    return read_text(text, "paste.txt")


def api_names(version: str, vhost: str = "/") -> set[str]:
    rows = json.loads(text_of(f"{version}/api/queues.json"))
    return {row["name"] for row in rows if row["vhost"] == vhost}


def told(intake: Intake) -> set[tuple[str, str, int | None, str | None]]:
    return {(row.queue, row.tag, row.prefetch, row.ack) for row in intake.consumers}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "name", ["small", "all", "default", "q", "langC", "no_headers", "name_only"]
)
def test_every_queue_of_a_table_is_one_of_the_broker(version: str, name: str) -> None:
    path = f"{version}/ctl/list_queues_{name}.table"
    if name == "no_headers":
        # five columns that nothing names: the command line does
        text = "$ rabbitmqctl list_queues name messages_ready messages_unacknowledged messages"
        (intake,) = read_text(f"{text} consumers\n{text_of(path)}", path)
    else:
        intake = table(path)
    assert {row.name for row in intake.queues} == api_names(version)
    assert intake.bad_count == 0
    assert {row.vhost for row in intake.queues} == {None if name == "q" else "/"}
    if name not in ("default", "name_only"):
        mixed = next(row for row in intake.queues if row.name == "sc.noconsumers")
        assert (mixed.ready, mixed.unacked, mixed.messages, mixed.consumers) == (1500, 0, 1500, 0)


@pytest.mark.parametrize("version", VERSIONS)
def test_table_and_json_tell_the_same_of_queues(version: str) -> None:
    from_table = {row.name: row for row in table(f"{version}/ctl/list_queues_all.table").queues}
    from_json = {row.name: row for row in document(f"{version}/ctl/list_queues_all.json").queues}
    assert from_table.keys() == from_json.keys() == api_names(version)
    for name, row in from_table.items():
        other = from_json[name]
        assert (row.type, row.state, row.settings, row.consumers, row.exclusive) == (
            other.type,
            other.state,
            other.settings,
            other.consumers,
            other.exclusive,
        )
    assert from_table["sc.lazy_args"].settings["max-length"] == 100_000
    assert from_table["sc.sac"].settings["single-active-consumer"] is True
    assert from_table["sc.saturated"].unacked_bytes == 1170
    assert from_table["sc.quorum100"].unacked_bytes is None


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", TABLES)
def test_consumers_agree_with_the_api(version: str, name: str) -> None:
    api = document(f"{version}/api/consumers.json")
    streams = {row.tag for row in api.consumers if row.queue == "sc.stream"}
    expected = {
        (row.queue, row.tag, row.prefetch, row.ack)
        for row in api.consumers
        if row.vhost == "/" and row.tag not in streams
    }
    intake = table(f"{version}/ctl/list_consumers_{name}.table")
    assert told(intake) == expected
    assert intake.bad_count == 0
    vhost = None if name in "qs" else "/"
    assert intake.coverage == (Coverage(SourceKind.RABBITMQCTL, vhost),)
    if name == "cols":
        other = document(f"{version}/ctl/list_consumers_cols.json")
        assert told(other) == expected
        assert {(row.tag, row.active, row.status, row.priority) for row in intake.consumers} == {
            (row.tag, row.active, row.status, row.priority) for row in other.consumers
        }


@pytest.mark.parametrize("version", VERSIONS)
def test_channels_are_known_by_their_pid(version: str) -> None:
    from_table = table(f"{version}/ctl/list_channels_cols.table").channels
    from_json = document(f"{version}/ctl/list_channels_cols.json").channels
    assert len({row.id for row in from_table}) == len({row.id for row in from_json}) == 43
    assert from_json[0].id.startswith("#PID<")
    first = from_table[0]
    assert first.connection is not None
    assert (first.vhost, first.prefetch, first.consumers) == ("/", 0, 1)
    assert " -> " in first.connection
    assert "(" not in first.connection
    used = {row.channel for row in table(f"{version}/ctl/list_consumers_q.table").consumers}
    assert used <= {row.id for row in from_table}
    shared = {row.global_prefetch for row in from_table}
    assert shared == ({0, 25} if version == "3.10" else {None})


@pytest.mark.parametrize("version", VERSIONS)
def test_connections_from_json(version: str) -> None:
    rows = document(f"{version}/ctl/list_connections.json").connections
    assert {row.protocol for row in rows} == {"AMQP 0-9-1"}
    assert {row.product for row in rows} == {"Pika Python Client Library"}


@given(st.randoms(use_true_random=False), st.sampled_from(VERSIONS))
@settings(deadline=None, max_examples=15)
def test_columns_may_come_in_any_order(rng: random.Random, version: str) -> None:
    lines = text_of(f"{version}/ctl/list_queues_all.table").rstrip("\n").split("\n")
    rows = [line.split("\t") for line in lines[2:] if "tab\there" not in line]
    order = list(range(len(rows[0])))
    rng.shuffle(order)
    shuffled = ["\t".join(row[index] for index in order) for row in rows]
    (intake,) = read("\n".join([*lines[:2], *shuffled]))
    expected = table(f"{version}/ctl/list_queues_all.table").queues
    assert [(row.name, row.ready, row.unacked, row.settings) for row in intake.queues] == [
        (row.name, row.ready, row.unacked, row.settings) for row in expected if "\t" not in row.name
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_stream_of_json_names_the_queues_as_its_list_does(version: str) -> None:
    """Up to 4.0 rabbitmqctl prints the digits of an escape reversed, in both."""
    stream = document(f"{version}/ctl/list_queues_json_stream.json")
    assert {row.name for row in stream.queues} == api_names(version)


PASTE = """\
Last login: Mon May  6 09:12:44 on ttys001
ops@mq1:~$ sudo rabbitmqctl list_queues -p shop name messages_ready consumers
Timeout: 60.0 seconds ...
Listing queues for vhost shop ...
name    messages_ready  messages_unacknowledged  consumers
orders  1204    30      3
odd one  0  0  1
ops@mq1:~$ rabbitmqctl -p shop list_consumers
Listing consumers in vhost shop ...
queue_name      channel_pid     consumer_tag    ack_required    prefetch_count  active  arguments
orders  <rabbit@mq1.1700000000.821.0>   ctag1.ab        true    10      true    []
orders  <rabbit@mq1.1700000000.822.0>   ctag1.cd        true    10      true    [{"x-priority",3}]
...done.

ops@mq1:~$ rabbitmqctl -s list_queues name messages -p other | sort -n
jobs\t7
ops@mq1:~$ rabbitmqctl list_bindings
Listing bindings for vhost / ...
source_name\tsource_kind
\texchange
ops@mq1:~$ exit
"""


def test_several_lists_with_prompts_in_one_paste() -> None:
    intakes = read(PASTE)
    first, second, third = intakes
    assert [
        (row.vhost, row.name, row.ready, row.unacked, row.consumers) for row in first.queues
    ] == [
        ("shop", "orders", 1204, 30, 3),
        ("shop", "odd one", 0, 0, 1),
    ]
    assert [(row.vhost, row.queue, row.prefetch, row.priority) for row in second.consumers] == [
        ("shop", "orders", 10, None),
        ("shop", "orders", 10, 3),
    ]
    assert [(row.vhost, row.name, row.messages) for row in third.queues] == [("other", "jobs", 7)]
    assert sum(intake.bad_count for intake in intakes) == 0
    assert any("a list of bindings is not read" in note for note in first.notes)
    assert any("found 'Last login: Mon" in note for note in first.notes)


def test_windows_line_ends_and_an_indented_paste() -> None:
    text = "    Listing queues for vhost a b ...\r\n    name\tmessages\r\n    x y\t3\r\n"
    (intake,) = read(text)
    assert [(row.vhost, row.name, row.messages) for row in intake.queues] == [("a b", "x y", 3)]


def test_the_old_preamble_names_no_vhost() -> None:
    (intake,) = read("Listing queues ...\nfoo\t3\n...done.\n")
    assert [(row.vhost, row.name, row.messages) for row in intake.queues] == [(None, "foo", 3)]


def test_defaults_are_assumed_without_a_header() -> None:
    (queues,) = read("foo\t3\nbar baz\t0\n")
    assert [(row.name, row.messages) for row in queues.queues] == [("foo", 3), ("bar baz", 0)]
    (channels,) = read("<rabbit@a.1.2.3>\tguest\t1\t7\n")
    assert [(row.id, row.unacked) for row in channels.channels] == [("<rabbit@a.1.2.3>", 7)]


@pytest.mark.parametrize("name", ["list_queues_s", "list_queues_no_headers"])
@pytest.mark.parametrize("version", VERSIONS)
def test_columns_that_cannot_be_told_ask_for_the_header(version: str, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot tell the 5 columns .* without -s and --no-tab"):
        table(f"{version}/ctl/{name}.table")


@pytest.mark.parametrize(
    ("cells", "prefetch", "priority"),
    [
        ("", None, None),
        ("\t[]", None, None),
        ('\t[{"x-priority",3}]', None, 3),
        ("\t10\t[]", 10, None),
        ('\t0\t[{"x-priority",3}]', 0, 3),
        ("\t10\ttrue\t[]", 10, None),
    ],
)
@pytest.mark.parametrize("start", ["Listing consumers ...\n", ""])
@pytest.mark.parametrize("pid", ["<rabbit@a.1.2.3>", "<'rabbit@a-01'.1.652.0>"])
def test_every_version_s_consumers_are_read_without_a_header(start, pid, cells, prefetch, priority):
    """Up to 3.2 four columns, then five in some builds, six from 3.3 on, seven from 3.8 on."""
    row = f"foo\t{pid}\tctag\ttrue{cells}\n"
    forms = [row, row.replace("\t", "    ")]
    if start:
        # tabs that were expanded may leave one blank
        forms.append(row.replace("\t", "   ", 1).replace("\t", " "))
    for text in forms:
        (intake,) = read(f"{start}{text}...done.\n")
        (first,) = intake.consumers
        assert (first.queue, first.tag, first.ack) == ("foo", "ctag", "manual")
        assert (first.channel, first.prefetch, first.priority) == (pid, prefetch, priority)
    (intake,) = read(f"{start}{row}bar baz\t{pid}\t\tfalse{cells}\n")
    assert [(one.queue, one.tag, one.ack) for one in intake.consumers][1] == ("bar baz", "", "auto")
    assert intake.bad_count == 0


def test_a_queue_without_consumers_in_3_6_1_is_no_consumer():
    nobody = "[]\t[]\t[]\t[]\t[]\t[]\n"
    (intake,) = read(
        f"Listing consumers ...\n{nobody}a\t<rabbit@a.1.2.3>\tt\ttrue\t5\t[]\n{nobody}"
    )
    assert [(row.queue, row.prefetch) for row in intake.consumers] == [("a", 5)]
    assert intake.bad_count == 0


def test_six_columns_of_other_types_ask_for_the_header():
    row = "foo\t<rabbit@a.1.2.3>\tctag\ttrue\t10\ttrue\n"
    with pytest.raises(
        InputError, match=r"paste.txt:2: cannot tell the 6 columns of list_consumers"
    ):
        read(f"Listing consumers ...\n{row}")


def test_another_formatter_between_tables_is_told() -> None:
    text = 'rabbitmqctl list_queues --formatter=csv\n"name"\n"a"\nListing queues ...\nfoo\t1\n'
    (intake,) = read(text)
    assert [row.name for row in intake.queues] == ["foo"]
    assert "a list of queues in another format is not read" in intake.notes[0]


def test_a_tab_inside_a_name_is_resolved_only_where_it_is_certain() -> None:
    header = "name\tmessages\tpolicy\n"
    (intake,) = read(f"{header}a\tb\t3\tp\nc\t4\t5\tq\nd\t6\tr\n")
    # c<TAB>4 with 5 messages, or c with 4 and the policy 5<TAB>q
    assert [(row.name, row.messages) for row in intake.queues] == [("a\tb", 3), ("d", 6)]
    assert [(bad.line, bad.found) for bad in intake.bad_rows] == [(3, r"4: 'c\t4\t5\tq'")]


def test_a_tab_in_a_name_is_told_and_a_cell_that_slipped_in_is_no_name() -> None:
    header = "name\tmessages_ready\tmessages_unacknowledged\tconsumers\n"
    (intake,) = read(f"{header}a b\tc\t3\t0\t1\nq4\t5\t7\t0\t1\nd\t6\t0\t1\n")
    assert [(row.name, row.ready) for row in intake.queues] == [("a b\tc", 3), ("d", 6)]
    assert intake.notes == (
        r"paste.txt: line 2: a cell too many: its tab is taken for part of the name 'a b\tc'",
    )
    assert [(bad.line, bad.found) for bad in intake.bad_rows] == [(3, r"5: 'q4\t5\t7\t0\t1'")]


@pytest.mark.parametrize(
    ("row", "expected", "found"),
    [
        ("q1\t5\tabc\t1", "a whole number in messages_unacknowledged", "'abc'"),
        ("q1\t5\t1", "4 fields (name, messages_ready, messages_unacknowledged, consumers)", "3: "),
        ("\t5\t1\t1", "a name in name", "an empty cell"),
    ],
)
def test_a_bad_row_names_its_cell(row: str, expected: str, found: str) -> None:
    header = "name\tmessages_ready\tmessages_unacknowledged\tconsumers\n"
    (intake,) = read(f"{header}ok\t1\t0\t1\n{row}\n")
    (bad,) = intake.bad_rows
    assert bad.expected == expected
    assert bad.found.startswith(found)


def test_the_usage_text_is_no_list() -> None:
    """A list of consumers without rows would mean that no queue has any."""
    usage = (
        "Error (argument validation): Info key(s) x are not supported\nArguments given:\n"
        "\tlist_consumers x\n\nUsage\n\nrabbitmqctl [--node <node>] list_consumers "
        "[--vhost <vhost>] [<column> ...]\n\n<column>\n\tmust be one of active, arguments\n"
    )
    (intake,) = read(f"Listing queues for vhost / ...\nname\tmessages\nfoo\t1\n{usage}")
    assert intake.lists == {"queues"}
    assert intake.coverage == ()


def test_bad_rows_are_counted_and_the_first_five_kept() -> None:
    rows = "".join(f"q{n}\tmany\n" for n in range(8))
    intakes = read(
        f"name\tmessages\n{rows}good\t1\nListing queues ...\nname\tmessages\n{rows}\tx\ngood\t2\n"
    )
    assert [len(one.queues) for one in intakes] == [1, 1]
    assert [one.bad_count for one in intakes] == [8, 9]
    assert [len(one.bad_rows) for one in intakes] == [5, 0]
    assert intakes[0].bad_rows[0].line == 2
    with pytest.raises(
        InputError,
        match=r"paste.txt:2: no usable row: expected a whole number in messages, found 'many'",
    ):
        read(f"name\tmessages\n{rows}")


def test_an_empty_list_is_a_list() -> None:
    (intake,) = read("Listing consumers in vhost shop ...\n")
    assert intake.lists == {"consumers"}
    assert intake.coverage == (Coverage(SourceKind.RABBITMQCTL, "shop"),)
    (intake,) = read("Timeout: 60.0 seconds ...\nListing queues for vhost nope ...\n")
    assert intake.lists == {"queues"}
    assert "a vhost that does not exist" in intake.notes[0]


def test_unknown_columns_are_allowed_below_a_preamble() -> None:
    text = "Listing queues for vhost / ...\nname\tfrobs\tmessages\nfoo\tx\t3\n"
    (intake,) = read(text)
    assert [(row.name, row.messages) for row in intake.queues] == [("foo", 3)]


def test_a_list_without_its_names_is_told() -> None:
    with pytest.raises(InputError, match="a list of consumers without the column queue_name"):
        read("consumer_tag\tprefetch_count\nabc\t10\n")


def test_an_error_among_lists_is_told() -> None:
    (intake,) = read("Error: timed out\nListing queues ...\nfoo\t1\n")
    assert "left out, first 'Error: timed out'" in intake.notes[0]


CAPTURED = [
    text_of(f"{version}/ctl/{name}.table")
    for version in VERSIONS
    for name in ("list_queues_small", "list_consumers_cols", "list_channels_default")
]


@st.composite
def mangled(draw: st.DrawFn) -> str:
    lines = "".join(draw(st.lists(st.sampled_from(CAPTURED), min_size=1, max_size=3))).split("\n")
    how = draw(st.sampled_from(["cut", "double", "shuffle", "spaces", "drop"]))
    if how == "shuffle":
        draw(st.randoms(use_true_random=False)).shuffle(lines)
    elif how == "double":
        at = draw(st.integers(0, len(lines) - 1))
        lines[at:at] = lines[: at + 1]
    elif how == "spaces":
        lines = [line.replace("\t", "    ") for line in lines]
    elif how == "drop":
        del lines[draw(st.integers(0, len(lines) - 1))]
    text = "\n".join(lines)
    start = draw(st.integers(0, len(text)))
    return text[start : start + draw(st.integers(0, len(text)))] if how == "cut" else text


def names(intakes: Sequence[Intake]) -> set[str]:
    queues = {row.name for intake in intakes for row in intake.queues}
    return queues | {row.queue for intake in intakes for row in intake.consumers}


@given(mangled())
@settings(deadline=None, max_examples=150)
def test_mangled_text_invents_no_queue(text: str) -> None:
    try:
        intakes = read(text)
    except AdvisorError:
        return
    lines = text.split("\n")
    for name in names(intakes):
        assert any(line.strip(" ").startswith(name.strip(" ")) for line in lines)
        assert not name.startswith("Timeout:")
    for intake in intakes:
        # rows that are cut behind their fourth cell look like those of the first versions
        assert all(row.prefetch is not None or not row.arguments for row in intake.consumers)


@given(st.text(max_size=200))
@settings(deadline=None, max_examples=200)
def test_any_text_is_read_or_refused(text: str) -> None:
    for start in ("", "Listing queues ...\n", "name\tmessages\n", "$ rabbitmqctl list_consumers "):
        try:
            found = names(read(start + text))
        except AdvisorError:
            continue
        assert all(name in start + text for name in found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[]", []),
        ('[{"x-priority",10}]', [["x-priority", 10]]),
        (
            '[{<<"a">>,<<"b \\"c\\"">>},{d,true},{e,-1.5}]',
            [["a", 'b "c"'], ["d", True], ["e", -1.5]],
        ),
        ("{0,9,1}", [0, 9, 1]),
        ("[rabbit@a,<rabbit@b.1.2.3>]", ["rabbit@a", "<rabbit@b.1.2.3>"]),
        ('[{"a",1}', None),
        ("}{", None),
        ("[" * 1000, None),
    ],
)
def test_erlang_terms(text: str, value: object) -> None:
    assert parse_terms(text) == value


def test_arguments_come_as_objects_pairs_and_triples() -> None:
    assert arguments([["x-max-length", "long", 5]]) == {"x-max-length": 5}
    assert arguments([["x-max-length", 5]]) == {"x-max-length": 5}
    assert arguments({"x-max-length": 5}) == {"x-max-length": 5}
    assert arguments("") == {}
    assert arguments([1]) is None


@given(st.text(alphabet="[]{}<>\",.#=:ab1- \\'", max_size=60))
@settings(deadline=None, max_examples=200)
def test_any_term_is_read_or_unknown(text: str) -> None:
    arguments(parse_terms(text))
