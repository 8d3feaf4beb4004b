"""Inputs are recognised by what they contain; what is not read is refused by name."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from prefetch_advisor.errors import InputError, UsageError
from prefetch_advisor.model.observation import SourceKind
from prefetch_advisor.sources import InputOptions, NothingReadError, read_inputs
from prefetch_advisor.sources.json_kinds import document_list
from prefetch_advisor.sources.recognise import Form, recognise_input

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
VERSIONS = ("3.10", "4.3")


def form(text: str, kind: str | None = None) -> Form:
    return recognise_input(text.encode(), "input", kind)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("pattern", "printed_by", "listed"),
    [
        ("api/queues*.json", SourceKind.MANAGEMENT, "queues"),
        ("api/queue/*.json", SourceKind.MANAGEMENT, "queues"),
        ("api/queue_plain*.json", SourceKind.MANAGEMENT, "queues"),
        ("series/api_queues_*.json", SourceKind.MANAGEMENT, "queues"),
        ("api/consumers*.json", SourceKind.MANAGEMENT, "consumers"),
        ("api/channel*.json", SourceKind.MANAGEMENT, "channels"),
        ("api/connections.json", SourceKind.MANAGEMENT, "connections"),
        ("api/nodes.json", SourceKind.MANAGEMENT, "nodes"),
        ("api/overview.json", SourceKind.MANAGEMENT, "overview"),
        ("ctl/list_queues_*.json", SourceKind.RABBITMQCTL, "queues"),
        ("series/ctl_list_queues_*.json", SourceKind.RABBITMQCTL, "queues"),
        ("ctl/list_consumers_*.json", SourceKind.RABBITMQCTL, "consumers"),
        ("ctl/list_channels_*.json", SourceKind.RABBITMQCTL, "channels"),
        ("ctl/list_connections.json", SourceKind.RABBITMQCTL, "connections"),
    ],
)
def test_a_json_document_is_known_by_its_keys(
    version: str, pattern: str, printed_by: SourceKind, listed: str
) -> None:
    files = sorted((CAPTURES / version).glob(pattern))
    assert files
    for file in files:
        text = file.read_text()
        if '"error"' in text[:10] or "_stream" in file.name or "\\x{" in text:
            continue
        assert document_list(json.loads(text)) == (printed_by, listed), file.name


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["vhosts", "policies", "extensions", "whoami", "feature_flags"])
def test_other_json_of_the_api_is_refused_with_what_it_holds(version: str, name: str) -> None:
    file = CAPTURES / version / "api" / f"{name}.json"
    with pytest.raises(InputError, match=f"{name}.json: is not one of .*found (a list|an obj)"):
        read_inputs([str(file)], InputOptions())


@pytest.mark.parametrize("version", VERSIONS)
def test_every_default_table_is_rabbitmqctl_text(version: str) -> None:
    files = sorted((CAPTURES / version / "ctl").glob("*.table"))
    assert len(files) > 15
    for file in files:
        raw = file.read_bytes()
        if raw:
            assert recognise_input(raw[:65536], file.name) is Form.TEXT, file.name


@pytest.mark.parametrize(
    "text",
    [
        "queue,processing_ms\nsc.idle,5\n",
        "queue\tduration\nsc.idle\t5ms\n",
        "host;elapsed_s\na;0,5\n",
        "5.2\n4.9\n",
        "5ms\n6ms\n",
        "duration_ms\n5\n6\n",
        '{"queue": "a", "processing_ms": 5}\n{"queue": "a", "processing_ms": 6}\n',
        '[{"queue": "a", "processing_ms": 5}, {"queue"',
        '"queue","messages_ms"\n"a","1"\n',
        "2024-05-01T10:00:00Z\t5\n2024-05-01T10:00:01Z\t6\n",
    ],
)
def test_timings_are_told_from_broker_output(text: str) -> None:
    assert form(text) is Form.TIMINGS


@pytest.mark.parametrize(
    "text",
    [
        "Timeout: 60.0 seconds ...\nListing queues for vhost / ...\nname\tmessages\n",
        "Listing queues ...\nfoo\t1\n...done.\n",
        "$ sudo rabbitmqctl list_queues name messages\nfoo\t1\n",
        "name\tmessages\nfoo\t1\n",
        "name  messages_ready  consumers\nfoo  1  2\n",
        "{curly} %s %d\t0\n[bold\t0\n=cmd()\t3\n",
        "orders <x>\t<rabbit@host.123.45.0>\ttag\ttrue\t10\ttrue\t[]\n",
        "Listing queues for vhost / ...\n[]\n",
        "[[],\n [[{queue_name,<<1>>},\n   {ack_required,true}]]]\n",
    ],
)
def test_rabbitmqctl_text_is_told_from_timings(text: str) -> None:
    assert form(text) is Form.TEXT


def test_formatters_are_told_apart():
    assert form((CAPTURES / "3.10/ctl/list_queues_small.csv").read_text("utf-8")) is Form.CSV
    drawn = (CAPTURES / "3.10/ctl/list_queues_vhost2.pretty_table").read_text("utf-8")
    assert form(drawn) is Form.DRAWN
    assert form((CAPTURES / "4.3/admin/queues_list.table").read_text("utf-8")) is Form.DRAWN


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("+------+\n| name |\n+------+\n| foo  |\n", "expected columns such as name and messages"),
        ("╭────╮\n│ name │\n", "found 'name'"),
        ("Stack trace: \n\n** (ArgumentError) x\n", "--formatter=pretty_table crashed"),
        (
            "Timeout: 60.0 seconds ...\nListing queues for vhost / ...\n\x1b(0lqqwqqk\x1b(B\n",
            "pretty_table output is not read yet",
        ),
        ("Dear all: the queue is slow again\n", "expected timings .* found 'Dear all"),
        ('[{"colour": 5}]', "found a list of objects with colour"),
        ("[1, 2, 3]", "a list of plain values; timings are read as one number a line"),
        ("  \n", "is empty"),
        ("Listing queues ...\nStack trace: \n\n** (X) y\n", "--formatter=pretty_table crashed"),
        (
            "exit 64\n\x1b[1mError (argument validation): no\x1b[0m\n\nrabbitmqctl list_queues\n",
            r"printed an error and lists nothing: Error \(argument validation\): no$",
        ),
        ("$ rabbitmqctl list_queues\nError: unable\n", "lists nothing: Error: unable"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "input"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_inputs([str(file)], InputOptions())


@pytest.mark.parametrize("version", VERSIONS)
def test_answers_that_are_no_data_say_what_they_are(version: str) -> None:
    def message(name: str) -> str:
        with pytest.raises(InputError) as caught:
            read_inputs([str(CAPTURES / "errors" / f"{version}-{name}")], InputOptions())
        return str(caught.value)

    assert "not_authorised: Not management user" in message("api_user_without_tag.json")
    assert "not_authorized" in message("api_wrong_password.json")
    assert "Object Not Found: Not Found" in message("api_not_found.json")
    assert "an HTML page: a login page" in message("ui_page.html")
    assert "unable to perform an operation on node" in message("node_down.txt.stderr")
    assert "requires the 'rabbit' app" in message("app_stopped.json.stderr")
    assert "rabbitmqctl prints its errors on stderr" in message("node_down.json")


def test_a_page_too_far_is_what_the_broker_answered() -> None:
    file = CAPTURES / "4.3" / "api" / "queues_page_too_far.json"
    with pytest.raises(InputError, match="page_out_of_range: Page out of range, page: 99"):
        read_inputs([str(file)], InputOptions())


@pytest.mark.parametrize("name", ["api_monitoring_user_no_vhosts.json", "no_queues.json"])
def test_an_empty_list_is_no_proof_of_an_idle_broker(name: str) -> None:
    (intake,) = read_inputs([str(CAPTURES / "errors" / f"4.3-{name}")], InputOptions())
    assert intake.lists == frozenset()
    assert "a user who may not see any vhost" in intake.notes[0]


def test_kind_can_be_forced(tmp_path: Path) -> None:
    file = tmp_path / "queues"
    file.write_text('[{"name": "a", "messages": 3}]')
    (as_told,) = read_inputs([str(file)], InputOptions())
    assert as_told.queues[0].kind is SourceKind.RABBITMQCTL
    (forced,) = read_inputs([str(file)], InputOptions(kind="management"))
    assert forced.queues[0].kind is SourceKind.MANAGEMENT
    assert form("queue,ms\n", "timings") is Form.TIMINGS
    assert form("foo\t1\n", "rabbitmqctl") is Form.TEXT
    with pytest.raises(InputError, match="expected JSON of the management API, found 'foo"):
        form("foo\t1\n", "management")
    with pytest.raises(UsageError, match="expected one of timings, management, rabbitmqctl"):
        read_inputs([str(file)], InputOptions(kind="csv"))


def test_empty_standard_input_is_as_if_absent() -> None:
    assert read_inputs([], InputOptions(), io.BytesIO(b"\n")) == []


def test_several_inputs_keep_their_order_and_gzip_is_undone(tmp_path: Path) -> None:
    file = tmp_path / "queues.json.gz"
    file.write_bytes(gzip.compress((CAPTURES / "4.3/api/queues.json").read_bytes()))
    table = io.BytesIO((CAPTURES / "4.3/ctl/list_queues_small.table").read_bytes())
    intakes = read_inputs([str(file), "-"], InputOptions(), table)
    assert [(one.index, one.where, len(one.queues)) for one in intakes] == [
        (0, str(file), 33),
        (1, "stdin", 31),
    ]


def test_strict_makes_a_bad_row_an_error() -> None:
    text = io.BytesIO(b"name\tmessages\nfoo\t1\nbar\tmany\n")
    with pytest.raises(
        InputError, match=r"stdin:3: expected a whole number in messages, found 'many'"
    ):
        read_inputs(["-"], InputOptions(strict=True), text)


class Interrupted(io.RawIOBase):
    """A pipe that Ctrl-C ends."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._text:
            raise KeyboardInterrupt
        piece, self._text = self._text[: len(buffer)], self._text[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def test_what_came_before_ctrl_c_is_read() -> None:
    rows = "".join(f"q{number}\t{number}\n" for number in range(30_000))
    text = f"Listing queues for vhost / ...\nname\tmessages\n{rows}".encode()
    (intake,) = read_inputs([], InputOptions(), io.BufferedReader(Interrupted(text)))
    assert intake.interrupted
    assert len(intake.queues) == 30_000
    document = (CAPTURES / "4.3/api/queues_lengths.json").read_bytes()
    with pytest.raises(NothingReadError, match="stdin: interrupted before a row of it was read"):
        read_inputs([], InputOptions(), io.BufferedReader(Interrupted(document[:-9])))
    (intake,) = read_inputs([], InputOptions(), io.BufferedReader(Interrupted(document)))
    assert intake.interrupted
    assert NothingReadError.exit_code == 130
