"""rabbitmqctl watched: a real node's, and programs that fail as the real one does."""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pika
import pytest
from rabbitmq_node import Node

from prefetch_advisor.advise import advise
from prefetch_advisor.config import Given, Policy
from prefetch_advisor.errors import AdvisorError, ExitCode, InputError, UsageError
from prefetch_advisor.model.advice import QueueAdvice
from prefetch_advisor.model.observation import Intake, QueueObservation, QueueRow
from prefetch_advisor.sources import commands_run, rabbitmqctl_calls, rabbitmqctl_failures
from prefetch_advisor.sources.combine import combine
from prefetch_advisor.sources.live_rabbitmqctl import CtlOptions, available, observe

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
FIVE = {"list_vhosts", "list_queues", "list_consumers", "list_channels", "list_connections"}
EMPTY = "printf '[\\n]\\n'"
VHOSTS = """printf '[\\n{"name":"/"}\\n]\\n'"""


def silent(_done: float, _total: float) -> None:
    """Nobody watches."""


@dataclass
class Fake:
    """A program that answers each list by a piece of shell."""

    directory: Path

    @property
    def path(self) -> str:
        return str(self.directory / "rabbitmqctl")

    @property
    def calls(self) -> list[list[str]]:
        """The words of every call."""
        log = self.directory / "calls"
        text = log.read_text() if log.exists() else ""
        return [call.split("\n")[:-1] for call in text.split("\0")[:-1]]

    def observe(self, **changes: object) -> list[Intake]:
        wanted: dict[str, object] = {"window": 0.0, "interval": 0.2, "timeout": 5.0, **changes}
        return observe(CtlOptions(program=self.path, **wanted), silent)  # type: ignore[arg-type]


Program = Callable[..., Fake]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """A fake rabbitmqctl; in an answer $n counts calls of its list from 1, $form and $vhost are
    what was asked for, $* its words."""

    def make(**answers: str) -> Fake:
        directory = tmp_path / "fake"
        directory.mkdir()
        known = dict.fromkeys(FIVE, EMPTY) | {"list_vhosts": VHOSTS} | answers
        for name, answer in known.items():
            (directory / name).write_text(answer)
        script = directory / "rabbitmqctl"
        script.write_text(
            "#!/bin/sh\n"
            f"here={shlex.quote(str(directory))} before= form= what= vhost=\n"
            "printf '%s\\n' \"$@\" >>$here/calls; printf '\\0' >>$here/calls\n"
            'for word in "$@"; do\n'
            "  case $word in list_*) what=$word;; --vhost=*) vhost=${word#--vhost=};; esac\n"
            '  [ "$before" = --formatter ] && form=$word\n'
            "  before=$word\n"
            "done\n"
            "n=$(cat $here/$what.count 2>/dev/null || echo 0); n=$((n + 1))\n"
            "echo $n >$here/$what.count\n"
            ". $here/$what\n"
        )
        script.chmod(0o755)
        return Fake(directory)

    return make


def printing(path: str) -> str:
    """The answer that prints a captured file."""
    return f"cat {shlex.quote(str(CAPTURES / path))}"


def failing(path: str, code: int) -> str:
    """The answer that ends with a captured error."""
    return f"{printing(path)} >&2; exit {code}"


def rows(*queues: dict[str, object]) -> str:
    return "printf '%s\\n' " + shlex.quote(json.dumps(list(queues)))


def depth(name: str, ready: int = 0, unacked: int = 0, **more: object) -> dict[str, object]:
    return {
        "name": name,
        "type": "classic",
        "messages_ready": ready,
        "messages_unacknowledged": unacked,
        **more,
    }


def subscription(tag: str, prefetch: int, **more: object) -> dict[str, object]:
    return {
        "queue_name": "q",
        "consumer_tag": tag,
        "channel_pid": "",
        "ack_required": True,
        "prefetch_count": prefetch,
        **more,
    }


def queue(intakes: Sequence[Intake], name: str, vhost: str = "/") -> QueueRow:
    (found,) = [
        row for one in intakes for row in one.queues if (row.vhost, row.name) == (vhost, name)
    ]
    return found


def notes(intakes: Sequence[Intake]) -> str:
    return "\n".join(note for one in intakes for note in one.notes)


def observed(intakes: Sequence[Intake]) -> dict[tuple[str, str], QueueObservation]:
    return {(one.key.vhost, one.key.name): one for one in combine(intakes).queues}


def advised(intakes: Sequence[Intake]) -> dict[tuple[str, str], QueueAdvice]:
    fleet = combine(intakes)
    report = advise(fleet.queues, fleet.broker, Given(), Policy())
    return {(one.key.vhost, one.key.name): one for one in report.queues}


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# what is asked


def test_nothing_but_the_five_lists_is_ever_run(program: Program) -> None:
    fake = program(
        list_queues=printing("4.3/ctl/list_queues_all.json"),
        list_consumers=printing("4.3/ctl/list_consumers_cols.json"),
        list_channels=printing("4.3/ctl/list_channels_cols.json"),
        list_connections=printing("4.3/ctl/list_connections.json"),
    )
    fake.observe(window=0.5, node="rabbit@here", timeout=7.2)
    names = {
        columns: set(rabbitmqctl_calls.LISTS[columns].split())
        for columns in rabbitmqctl_calls.LISTS
    }
    for words in fake.calls:
        assert words[:2] == ["-n", "rabbit@here"]
        assert words[2] in FIVE
        assert words[3:8] == ["-q", "--formatter", "json", "--timeout", "8"]
        columns = words[8:]
        if words[2] in ("list_queues", "list_consumers"):
            assert columns.pop(0) == "--vhost=/"
        assert set(columns) == names[words[2].removeprefix("list_")]
    assert {words[2] for words in fake.calls} == FIVE


def test_every_captured_row_arrives_joined(program: Program) -> None:
    fake = program(
        list_queues=printing("4.3/ctl/list_queues_all.json"),
        list_consumers=printing("4.3/ctl/list_consumers_cols.json"),
        list_channels=printing("4.3/ctl/list_channels_cols.json"),
        list_connections=printing("4.3/ctl/list_connections.json"),
    )
    found = observed(fake.observe())
    captured = json.loads((CAPTURES / "4.3/ctl/list_queues_all.json").read_text())
    assert {name for _, name in found} == {row["name"] for row in captured}
    consumers = found["/", "sc.saturated"].consumers
    assert consumers is not None
    assert [one.row.prefetch for one in consumers] == [10, 10, 10]
    for one in consumers:
        assert one.channel is not None
        assert one.connection is not None
        assert (one.connection.protocol, one.connection.product) == (
            "AMQP 0-9-1",
            "Pika Python Client Library",
        )


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (None, []),
        ("rabbit@host", ["-n", "rabbit@host"]),
        ("rabbit@host.example", ["-n", "rabbit@host.example", "--longnames"]),
    ],
)
def test_a_node_with_a_domain_is_asked_by_its_long_name(
    program: Program, node: str | None, words: list[str]
) -> None:
    fake = program()
    fake.observe(node=node)
    assert fake.calls[0][: len(words) + 1] == [*words, "list_vhosts"]


@pytest.mark.parametrize("node", ["", "--eval", "a b", "rabbit@h;id", "$(id)", "a\nb"])
def test_what_can_be_no_node_is_not_passed_on(program: Program, node: str) -> None:
    fake = program()
    with pytest.raises(UsageError, match="rabbit@host"):
        fake.observe(node=node)
    assert not fake.calls


def test_a_vhost_is_one_word_whatever_its_name(program: Program) -> None:
    names = ["-x", "--formatter=csv", "a b", "*", "é\x1b[31m"]
    fake = program(list_vhosts=rows(*({"name": name} for name in names)))
    fake.observe()
    asked = [words for words in fake.calls if words[0] == "list_queues"]
    assert [words[6] for words in asked] == [f"--vhost={name}" for name in names]


@pytest.mark.parametrize("name", ["$(touch x)", "`touch x`", 'a\\"; touch x; "'])
def test_as_root_no_name_reaches_the_shell_of_a_packaged_wrapper(
    program: Program, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fake = program(list_vhosts=rows({"name": name}, {"name": "/"}))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    found = fake.observe()
    assert not any("touch" in word for words in fake.calls for word in words)
    assert "left out" in notes(found)
    with pytest.raises(InputError, match="as a command"):
        fake.observe(vhost=name)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    fake.observe(vhost=name)
    assert any(f"--vhost={name}" in words for words in fake.calls)


def test_the_locale_prints_any_name(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    fake = program(list_queues='printf \'[{"name":"%s"}]\' "$LC_ALL"')
    assert queue(fake.observe(), "C.UTF-8")


# the series


def test_depths_become_a_series_with_the_times_of_the_answers(program: Program) -> None:
    fake = program(
        list_queues="""printf '[{"name":"q","messages_ready":%s,"consumers":%s,
            "messages_unacknowledged":7}]' $((1000 - 10 * n)) $n"""
    )
    before = time.time()
    drawn: list[tuple[float, float]] = []
    options = CtlOptions(program=fake.path, window=2.0, interval=0.5)
    found = observe(options, lambda done, total: drawn.append((done, total)))
    row = queue(found, "q")
    assert [(one.ready, one.unacked) for one in row.lengths] == [
        (1000 - 10 * look, 7) for look in range(1, 6)
    ]
    # everything else is of the last look
    assert (row.ready, row.consumers) == (950, 5)
    times = [one.at for one in row.lengths if one.at is not None]
    steps = [later - earlier for earlier, later in pairwise(times)]
    assert all(0.3 < step < 0.8 for step in steps), steps
    assert before < times[0] < times[-1] < time.time()
    assert combine(found).queues[0].row == row
    assert drawn[0] == (0.0, 2.0)
    assert drawn[-1] == (2.0, 2.0)
    assert sorted(drawn) == drawn


def test_looks_that_take_long_give_fewer_samples_with_true_times(program: Program) -> None:
    fake = program(list_queues="sleep 0.5; " + rows(depth("q", 5)))
    began = time.monotonic()
    found = fake.observe(window=0.3, interval=0.1)
    assert time.monotonic() - began < 10
    times = [one.at for one in queue(found, "q").lengths]
    assert len(times) == 3
    assert times[0] is not None
    assert times[2] is not None
    assert times[2] - times[0] > 1.0
    assert "a look at 1 vhost takes up to" in notes(found)


def test_without_a_window_there_is_one_look(program: Program) -> None:
    fake = program(list_queues=rows(depth("q", 5)))
    found = fake.observe(window=0.0)
    assert len(queue(found, "q").lengths) == 1
    assert [words[0] for words in fake.calls].count("list_queues") == 1


def test_only_vhosts_with_a_wanted_queue_are_looked_at_again(program: Program) -> None:
    fake = program(
        list_vhosts=rows({"name": "a"}, {"name": "b"}, {"name": "empty"}),
        list_queues=f"""case $vhost in a) {rows(depth("tasks"))};; b) {rows(depth("mails"))};;
            *) {EMPTY};; esac""",
    )
    found = fake.observe(window=0.4, queues=("tasks",))
    assert len(queue(found, "tasks", "a").lengths) == 3
    assert len(queue(found, "mails", "b").lengths) == 1
    found = fake.observe(window=0.4)
    assert len(queue(found, "mails", "b").lengths) == 3
    again = [w for words in fake.calls for w in words if w == "--vhost=empty"]
    # queues and consumers, once for each of the two runs
    assert len(again) == 4


def test_a_queue_deleted_in_the_window_is_left_out_and_one_declared_in_it_is_not(
    program: Program,
) -> None:
    fake = program(
        list_queues=f"if [ $n = 1 ]; then {rows(depth('old'), depth('kept'))}; "
        f"else {rows(depth('kept'), depth('new', 3))}; fi"
    )
    found = fake.observe(window=0.4)
    assert {row.name for row in found[0].queues} == {"kept", "new"}
    assert "1 queue deleted within the window left out" in notes(found)
    assert len(queue(found, "new").lengths) == 2


def test_consumers_are_those_at_the_end(program: Program) -> None:
    fake = program(
        list_queues=rows(depth("q", 5, consumers=1)),
        list_consumers="""printf '[{"queue_name":"q","consumer_tag":"t%s","channel_pid":"",
            "ack_required":true,"prefetch_count":%s}]' $n $n""",
    )
    consumers = observed(fake.observe(window=0.3))["/", "q"].consumers
    assert consumers is not None
    assert [one.row.tag for one in consumers] == ["t2"]


def test_consumers_that_left_after_the_last_look_are_those_from_the_start(
    program: Program,
) -> None:
    pid = "<1.2.3>"
    fake = program(
        list_queues=rows(depth("q", 5, 2, consumers=1), depth("r", 5, 2, consumers=1)),
        list_consumers=f"""[ $n = 1 ] && {
            rows(subscription("t", 2, channel_pid=pid), subscription("u", 2, queue_name="r"))
        } ||
            {rows(subscription("v", 2, queue_name="r"))}""",
        list_channels=f"""[ $n = 1 ] && {
            rows({"pid": pid, "name": "a (1)", "messages_unacknowledged": 2})
        } || {EMPTY}""",
        list_connections=f"""[ $n = 1 ] && {
            rows({"name": "a", "protocol": "{0,9,1}", "state": "running"})
        } || {EMPTY}""",
    )
    found = fake.observe(window=0.4)
    assert "the consumers of 1 queue changed after the last look" in notes(found)
    seen = observed(found)
    (consumer,) = seen["/", "q"].consumers or ()
    assert (consumer.row.tag, consumer.channel and consumer.channel.row.unacked) == ("t", None)
    assert consumer.connection is not None
    assert [one.row.tag for one in seen["/", "r"].consumers or ()] == ["v"]
    assert advised(found)["/", "q"].verdict == "at-limit"


def test_only_the_looks_with_as_many_consumers_as_the_last_count(program: Program) -> None:
    fake = program(
        list_queues=f"""[ $n -lt 3 ] && {rows(depth("q", 9, 4, consumers=2))} ||
            {rows(depth("q", 5, 2, consumers=1))}""",
        list_consumers=f"""[ $n = 1 ] && {rows(subscription("t", 2), subscription("u", 2))} ||
            {rows(subscription("t", 2))}""",
    )
    found = fake.observe(window=0.8)
    assert {(one.ready, one.unacked) for one in queue(found, "q").lengths} == {(5, 2)}
    assert "the number of consumers of 1 queue changed within the window" in notes(found)
    assert advised(found)["/", "q"].verdict == "at-limit"


def test_consumers_that_no_list_shows_are_told_from_a_list_not_read(program: Program) -> None:
    fake = program(list_queues=rows(depth("q", 5, 2, consumers=3)))
    advice = advised(fake.observe())["/", "q"]
    assert advice.verdict == "unknown"
    assert "changed while they were listed: 3 counted" in advice.verdict_reason
    assert "none listed in rabbitmqctl" in advice.verdict_reason


# versions, crashes and escapes


@pytest.mark.parametrize("version", ["3.10", "4.3"])
def test_columns_that_a_version_lacks_are_left_out_once(program: Program, version: str) -> None:
    refused = {
        "list_channels": "global_prefetch_count",
        "list_consumers": "activity_status",
        "list_queues": "effective_policy_definition,exclusive",
    }
    captured = {
        "list_channels": "list_channels_cols",
        "list_consumers": "list_consumers_cols",
        "list_queues": "list_queues_all",
    }
    answers = {
        name: f'case " $* " in *" {columns.split(",")[0]} "*) '
        f"echo 'Error (argument validation): Info key(s) {columns} are not supported' >&2; "
        f"exit 64;; esac; {printing(f'{version}/ctl/{captured[name]}.json')}"
        for name, columns in refused.items()
    }
    fake = program(**answers)
    found = fake.observe(window=0.3)
    consumers = observed(found)["/", "sc.saturated"].consumers
    assert consumers is not None
    assert len(consumers) == 3
    for name, columns in refused.items():
        calls = [words for words in fake.calls if name in words]
        with_it = [words for words in calls if set(columns.split(",")) & set(words)]
        assert len(with_it) == 1 < len(calls)
    assert "supported" not in notes(found)


@pytest.mark.parametrize("version", ["3.10", "4.3"])
def test_escapes_of_a_plain_locale_are_undone(program: Program, version: str) -> None:
    fake = program(list_queues=printing(f"{version}/ctl/list_queues_langC.json"))
    names = {row.name for row in fake.observe()[0].queues}
    everything = json.loads((CAPTURES / "4.3/ctl/list_queues_all.json").read_text())
    assert names == {row["name"] for row in everything}


def test_without_a_utf8_locale_other_vhosts_cannot_be_named(program: Program) -> None:
    fake = program(list_vhosts=r"""printf '%s' '[{"name":"/"},{"name":"\x{43E}"}]'""")
    found = fake.observe()
    assert "vhost 'о' is left out: rabbitmqctl cannot be given its name" in notes(found)
    assert [one.coverage[0].vhost for one in found if one.coverage] == ["/"]


TABLE_COLUMNS = tuple(rabbitmqctl_calls.LISTS["queues"].split())


def table(*queues: dict[str, object]) -> str:
    lines = ["\t".join(TABLE_COLUMNS)]
    lines += ["\t".join(str(row.get(name, "")) for name in TABLE_COLUMNS) for row in queues]
    return "printf '%s\\n' " + " ".join(map(shlex.quote, lines))


@pytest.mark.parametrize(
    "broken",
    [
        'echo \'[{"name":"q\'',
        "echo garbage",
        "echo '{}'",
        "echo '[1'; exit 70",
        "printf '\\377'",
        ":",
    ],
)
def test_where_json_cannot_be_read_the_table_is(program: Program, broken: str) -> None:
    odd = "a\ttab \x1b[31m очередь"
    fake = program(
        list_queues=f"if [ $form = json ]; then {broken}; else "
        f"{table(depth(odd, 3, 4), depth('q', 5, 6))}; fi"
    )
    found = fake.observe(window=0.3)
    assert (queue(found, "q").ready, queue(found, "q").unacked) == (5, 6)
    assert (queue(found, odd).ready, queue(found, odd).unacked) == (3, 4)
    assert len(queue(found, odd).lengths) == 3
    forms = [words[words.index("--formatter") + 1] for words in fake.calls]
    asked = [f for f, words in zip(forms, fake.calls, strict=True) if "list_queues" in words]
    assert asked == ["json", "table", "table", "table"]


def test_a_table_without_rows_has_no_header(program: Program) -> None:
    found = program(list_queues="[ $form = table ] || exit 70").observe()
    assert found[0].queues == ()
    assert found[0].lists == {"queues", "consumers"}


def test_vhosts_are_read_from_their_table_too(program: Program) -> None:
    fake = program(list_vhosts="[ $form = json ] && exit 70; printf 'name\\n/\\na/b c\\n'")
    found = fake.observe()
    assert [one.coverage[0].vhost for one in found if one.coverage] == ["/", "a/b c"]


def test_pids_of_several_nodes_are_joined_by_the_table(program: Program) -> None:
    """In JSON the number of a node is made up by each call."""
    channels = "pid\tname\tvhost\tconsumer_count\tmessages_unacknowledged\tprefetch_count\t"
    channels += "global_prefetch_count"
    consumers = "queue_name\tchannel_pid\tconsumer_tag\tack_required\tprefetch_count\tactive\t"
    consumers += "activity_status\targuments"
    ones = [f"<rabbit@{node}.17.5.0>\tat {node} -> x (1)\t/\t1\t3\t4\t0" for node in "ab"]
    twos = [f"q{node}\t<rabbit@{node}.17.5.0>\tt\ttrue\t4\ttrue\tup\t[]" for node in "ab"]
    wrong = {"vhost": "/", "consumer_count": 1, "prefetch_count": 4}
    fake = program(
        list_queues=rows(depth("qa"), depth("qb")),
        list_channels="if [ $form = json ]; then "
        + rows(
            {"pid": "#PID<9001.5.0>", "name": "at a -> x (1)", **wrong},
            {"pid": "#PID<9002.5.0>", "name": "at b -> x (1)", **wrong},
        )
        + f"; else printf '%s\\n' {shlex.join([channels, *ones])}; fi",
        list_consumers="[ $form = json ] && exit 1; "
        f"printf '%s\\n' {shlex.join([consumers, *twos])}",
    )
    found = observed(fake.observe())
    for node in "ab":
        (consumer,) = found["/", f"q{node}"].consumers or ()
        assert consumer.channel is not None
        assert consumer.channel.row.connection == f"at {node} -> x"


# failures


@dataclass(frozen=True)
class Failure:
    answer: str
    says: str
    #: of the program; the list that fails
    listed: str = "list_queues"
    more: dict[str, object] = field(default_factory=dict)


FAILURES = {
    "node down, 3.10": Failure(
        failing("errors/3.10-node_down.json.stderr", 69),
        r"cannot reach the node.*on node 'rabbit310@localhost'.*epmd reports: node 'rabbit310' "
        r"not running at all",
        "list_vhosts",
    ),
    "node down, 4.3": Failure(
        failing("errors/4.3-node_down.txt.stderr", 69), "cannot reach the node.*rabbit43@localhost"
    ),
    "application stopped": Failure(
        failing("errors/4.3-app_stopped.json.stderr", 64), "the node runs without RabbitMQ in it"
    ),
    "timed out": Failure(
        failing("errors/3.10-timeout.txt.stderr", 75),
        r"timed out \(exit 75\).*operation list_queues on node rabbit310@localhost timed out",
    ),
    "usage": Failure(
        "echo 'Error: unknown option --nonsense' >&2; exit 64",
        r"did not take its arguments \(exit 64\).*--nonsense",
    ),
    "bad node name": Failure(
        "echo 'Unsupported node name: x' >&2; exit 65", r"arguments \(exit 65\).*node name: x"
    ),
    "wrapper": Failure(
        "echo; echo '10:23:25.953 [error] Failed to create cookie file' >&2; "
        "printf '\\nOnly root or rabbitmq should run rabbitmqctl\\n\\n'; exit 1",
        "may not run it, it said 'Only root or rabbitmq should run rabbitmqctl': run as root",
        "list_vhosts",
    ),
    "cookie file": Failure(
        "echo '23:25:47.253 [error] Cookie file /h/.erlang.cookie must be accessible by owner only'"
        " >&2; exit 78",
        "cannot use the Erlang cookie.*it said 'Cookie file /h/.erlang.cookie must be accessible",
        "list_vhosts",
    ),
    "crash": Failure(
        "echo '** (ArgumentError) errors were found' >&2; exit 70",
        r"failed \(exit 70\), it said '\*\* \(ArgumentError\)",
    ),
    "unknown formatter": Failure(
        failing("errors/3.10-unknown_formatter.txt.stderr", 1), r"failed \(exit 1\).*ArgumentError"
    ),
    "killed": Failure("kill -9 $$", r"killed \(SIGKILL\); it had said nothing"),
    "killed below a shell": Failure("echo half; exit 143", r"killed \(SIGTERM\).*half"),
    "garbage": Failure("printf 'bad \\033[31m\\377\\n'", r"found 'bad \\x1b\[31m\\udcff'"),
    "a long line": Failure(
        "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 2",
        r"failed \(exit 2\), it said 'x+\.\.\.'",
    ),
    "no vhosts": Failure(EMPTY, "named no virtual host", "list_vhosts"),
    "no such vhost": Failure(
        VHOSTS, "no vhost 'nope'; there are '/'", "list_vhosts", {"vhost": "nope"}
    ),
    "hangs": Failure("sleep 60", "no answer within 1.5 s; it was ended", "list_vhosts"),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_failure_is_one_clear_line(
    program: Program, monkeypatch: pytest.MonkeyPatch, failure: Failure
) -> None:
    monkeypatch.setattr(rabbitmqctl_calls, "GRACE", 0.5)
    fake = program(**{failure.listed: failure.answer})
    began = time.monotonic()
    with pytest.raises(InputError, match=failure.says) as caught:
        fake.observe(timeout=1.0, window=1.0, **failure.more)
    assert time.monotonic() - began < 10
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 700
    assert caught.value.exit_code is ExitCode.COULD_NOT_RUN


def test_no_such_program_says_where_it_was_sought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/nonexistent/bin")
    monkeypatch.setattr(rabbitmqctl_failures, "_ASIDE", ())
    with pytest.raises(InputError, match=rf"not in the PATH \({tmp_path}, /nonexistent/bin\)"):
        observe(CtlOptions(), silent)
    assert not available("rabbitmqctl")


def test_a_program_beside_the_path_is_pointed_at(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = program()
    monkeypatch.setenv("PATH", "/nonexistent/bin")
    monkeypatch.setattr(rabbitmqctl_failures, "_ASIDE", (str(fake.directory),))
    with pytest.raises(InputError, match=f"--rabbitmqctl {fake.path}"):
        observe(CtlOptions(), silent)


def test_a_path_that_is_no_program_is_named(program: Program) -> None:
    fake = program()
    os.chmod(fake.path, 0o644)
    assert not available(fake.path)
    with pytest.raises(InputError, match="is not executable"):
        fake.observe()
    os.unlink(fake.path)
    with pytest.raises(InputError, match="is no file"):
        fake.observe()


def test_a_program_that_the_system_cannot_start_is_named(program: Program) -> None:
    fake = program()
    assert available(fake.path)
    Path(fake.path).write_text("#!/nonexistent/interpreter\n")
    with pytest.raises(InputError, match="cannot be run: no such file or directory"):
        fake.observe()


def test_a_node_that_goes_down_in_the_window_is_an_error(program: Program) -> None:
    down = failing("errors/4.3-node_down.txt.stderr", 69)
    fake = program(list_queues=f"[ $n -gt 2 ] && {{ {down}; }}; {rows(depth('q', 5))}")
    with pytest.raises(InputError, match="cannot reach the node"):
        fake.observe(window=2.0)


def test_a_node_that_goes_down_after_three_looks_leaves_what_was_seen(program: Program) -> None:
    down = failing("errors/4.3-node_down.txt.stderr", 69)
    full = depth("q", 5, 2, consumers=1)
    fake = program(
        list_queues=f"[ $n -gt 3 ] && {{ {down}; }}; {rows(full)}",
        list_consumers=rows(subscription("t", 2)),
        list_channels=rows({"pid": "<1.2.3>", "name": "a (1)", "messages_unacknowledged": 9}),
    )
    found = fake.observe(window=2.0)
    assert len(queue(found, "q").lengths) == 3
    told = notes(found)
    assert "the node was lost: 4" in told
    assert " ms of the window of 2 s were seen, in 3 looks" in told
    assert "cannot reach the node" in told
    assert [row.unacked for row in found[-1].channels] == [None]
    advice = advised(found)["/", "q"]
    assert (advice.verdict, advice.snapshot) == ("at-limit", False)


def test_a_node_that_goes_down_at_the_end_leaves_the_whole_window(program: Program) -> None:
    down = failing("errors/4.3-node_down.txt.stderr", 69)
    fake = program(
        list_queues=rows(depth("q", 5, 2, consumers=1)),
        list_channels=f"[ $n -gt 1 ] && {{ {down}; }}; {EMPTY}",
        list_consumers=rows(subscription("t", 2)),
    )
    found = fake.observe(window=0.6)
    assert "600 ms of the window of 600 ms were seen" in notes(found)
    assert advised(found)["/", "q"].verdict == "at-limit"


@pytest.mark.parametrize("end", ["exit 75", "sleep 60", "exit 70"])
def test_a_look_that_fails_ends_the_series_there(
    program: Program, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(rabbitmqctl_calls, "GRACE", 0.3)
    fake = program(list_queues=f"[ $n -gt 2 ] && {end}; {rows(depth('q', 5))}")
    found = fake.observe(window=5.0, timeout=1.0)
    assert len(queue(found, "q").lengths) == 2
    assert "it was not looked at again" in notes(found)


def test_one_vhost_that_fails_does_not_stop_the_others(program: Program) -> None:
    fake = program(
        list_vhosts=rows({"name": "bad"}, {"name": "good"}),
        list_queues=f"[ $vhost = bad ] && exit 2; {rows(depth('q', 5))}",
    )
    found = fake.observe()
    assert queue(found, "q", "good")
    assert "list_queues -p 'bad': failed (exit 2)" in notes(found)


def test_without_consumers_they_are_unknown_and_not_none(program: Program) -> None:
    fake = program(list_queues=rows(depth("q", 5, 1, consumers=2)), list_consumers="exit 2")
    found = fake.observe()
    assert observed(found)["/", "q"].consumers is None
    assert "without this list of consumers less can be judged" in notes(found)


# Ctrl-C


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_window_keeps_what_was_seen(program: Program, number: int) -> None:
    fake = program(
        list_queues=f"[ $n -gt 2 ] && sleep 60; {rows(depth('q', 5, 2, consumers=1))}",
        list_consumers=rows({"queue_name": "q", "consumer_tag": "t", "prefetch_count": 2}),
        list_channels=rows({"pid": "#PID<1.2.3>", "name": "a (1)", "messages_unacknowledged": 9}),
    )

    def press() -> None:
        wait_for((fake.directory / "list_queues.count").exists)
        wait_for(lambda: (fake.directory / "list_queues.count").read_text().strip() == "3")
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=press)
    thread.start()
    began = time.monotonic()
    found = fake.observe(window=30.0)
    thread.join()
    assert time.monotonic() - began < 10
    assert [one.interrupted for one in found] == [False, True]
    assert len(queue(found, "q").lengths) == 2
    assert len(observed(found)["/", "q"].consumers or ()) == 1
    # of another moment than the depths
    assert [row.unacked for row in found[-1].channels] == [None]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_anything_was_seen_is_one(program: Program) -> None:
    fake = program(list_queues="sleep 60")

    def press() -> None:
        wait_for((fake.directory / "list_queues.count").exists)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fake.observe(window=30.0)
    thread.join()
    assert time.monotonic() - began < 10


def test_output_has_a_bound(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands_run, "MOST_OUTPUT", 100_000)
    with pytest.raises(InputError, match="printed more than any list is long"):
        program(list_queues="yes").observe()


# a real node

ODD = ("очередь", "a\ttab", "-dash", " ", "\x1b[31mred", "[bold", "{curly} %s", 'a,b;"c"')
SECOND = "-second/b c"


@dataclass(frozen=True)
class Live:
    node: Node
    #: the real rabbitmqctl, in the environment of the node
    program: str

    def observe(self, **changes: object) -> list[Intake]:
        wanted: dict[str, object] = {"window": 6.0, "interval": 2.0, "timeout": 30.0, **changes}
        return observe(CtlOptions(program=self.program, **wanted), silent)  # type: ignore[arg-type]


def wrapper(path: Path, node: Node, **changes: str) -> str:
    variables = node.environment | changes
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    real = shlex.quote(str(node.programs / "rabbitmqctl"))
    path.write_text("\n".join(["#!/bin/sh", *lines, f'exec {real} "$@"', ""]))
    path.chmod(0o755)
    return str(path)


def connect(node: Node, vhost: str) -> pika.BlockingConnection:
    return pika.BlockingConnection(
        pika.ConnectionParameters("127.0.0.1", node.ports.amqp, virtual_host=vhost, heartbeat=0)
    )


@contextmanager
def clients(node: Node) -> Iterator[None]:
    """A consumer at its limit that acks 50 a second, one without a limit that acks nothing, one
    in each vhost for the same name, and queues that nobody reads."""
    stop, ready = threading.Event(), threading.Event()

    def work() -> None:
        first, second = connect(node, "/"), connect(node, SECOND)
        channel, other = first.channel(), second.channel()
        waiting: list[int] = []
        for name in ("live.full", "live.unbounded", "live.alone", "live.same", *ODD):
            channel.queue_declare(name)
        other.queue_declare("live.same")
        for name, count in (("live.full", 2000), ("live.unbounded", 300), ("live.alone", 30)):
            for _ in range(count):
                channel.basic_publish("", name, b"x")
        held = first.channel()
        held.basic_consume("live.unbounded", lambda *_: None)
        for own, prefetch in ((first.channel(), 7), (second.channel(), 9)):
            own.basic_qos(prefetch_count=prefetch)
            own.basic_consume("live.same", lambda *_: None)
        channel.basic_qos(prefetch_count=5)
        channel.basic_consume(
            "live.full", lambda _c, method, *_: waiting.append(method.delivery_tag)
        )
        while not stop.is_set():
            time.sleep(0.02)
            first.process_data_events(0)
            second.process_data_events(0)
            if waiting:
                channel.basic_ack(waiting.pop(0))
            if len(waiting) >= 4:
                ready.set()
        for name in ("live.full", "live.unbounded", "live.alone", "live.same", *ODD):
            channel.queue_delete(name)
        first.close()
        second.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        assert ready.wait(20)
        yield
    finally:
        stop.set()
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def live(broker: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    for vhost in (SECOND, "$(id)"):
        broker.rabbitmqctl("add_vhost", "--", vhost)
        broker.rabbitmqctl("set_permissions", f"--vhost={vhost}", "guest", ".*", ".*", ".*")
    program = wrapper(tmp_path_factory.mktemp("live") / "rabbitmqctl", broker)
    with clients(broker):
        yield Live(broker, program)
    for vhost in (SECOND, "$(id)"):
        broker.rabbitmqctl("delete_vhost", "--", vhost)


@pytest.fixture(scope="module")
def watched(live: Live) -> list[Intake]:
    return live.observe()


@pytest.mark.broker
def test_a_full_queue_whose_ready_falls_is_told_so(watched: list[Intake]) -> None:
    row = queue(watched, "live.full")
    assert len(row.lengths) >= 3
    first, last = row.lengths[0], row.lengths[-1]
    assert first.at is not None
    assert last.at is not None
    assert first.ready is not None
    assert last.ready is not None
    # one ack for every turn of a loop that sleeps 20 ms
    assert 15 < (first.ready - last.ready) / (last.at - first.at) < 55
    advice = advised(watched)["/", "live.full"]
    assert advice.verdict == "at-limit"
    assert "so acks do flow" in advice.verdict_reason
    assert advice.limit is not None
    assert advice.limit.value == 5


@pytest.mark.broker
def test_no_limit_and_no_consumers_are_found(watched: list[Intake]) -> None:
    advice = advised(watched)
    assert advice["/", "live.unbounded"].verdict == "unbounded"
    assert queue(watched, "live.unbounded").unacked == 300
    assert advice["/", "live.alone"].verdict == "no-consumers"


@pytest.mark.broker
def test_the_same_name_in_two_vhosts_is_two_queues(watched: list[Intake]) -> None:
    found = observed(watched)
    for vhost, prefetch in (("/", 7), (SECOND, 9)):
        (consumer,) = found[vhost, "live.same"].consumers or ()
        assert consumer.row.prefetch == prefetch
        assert consumer.channel is not None
        assert consumer.channel.row.prefetch == prefetch
        assert consumer.connection is not None
        assert consumer.connection.protocol == "AMQP 0-9-1"
        assert "Pika" in (consumer.connection.product or "")


@pytest.mark.broker
def test_every_odd_name_arrives_as_it_is(watched: list[Intake]) -> None:
    assert set(ODD) <= {row.name for one in watched for row in one.queues if row.vhost == "/"}


@pytest.mark.broker
def test_what_could_not_be_asked_is_told(watched: list[Intake]) -> None:
    assert ("vhost '$(id)' is left out" in notes(watched)) == (os.geteuid() == 0)


@pytest.mark.broker
def test_one_vhost_alone_is_asked(live: Live) -> None:
    found = live.observe(vhost=SECOND, window=0.0)
    assert {row.vhost for one in found for row in one.queues} == {SECOND}
    with pytest.raises(InputError, match=r"no vhost 'nope'; there are .*'-second/b c'"):
        live.observe(vhost="nope")


@pytest.mark.broker
def test_the_table_of_a_real_node_reads_like_its_json(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_json = live.observe(vhost="/", window=0.0)
    monkeypatch.setattr(rabbitmqctl_calls.Ctl, "_documents", lambda *_: None)
    as_table = live.observe(vhost="/", window=0.0)
    told = [
        {
            (row.name, row.type, row.state, row.consumers, str(row.settings))
            for one in found
            for row in one.queues
        }
        for found in (as_json, as_table)
    ]
    assert told[0] == told[1]
    assert set(ODD) <= {name for name, *_ in told[1]}
    for found in (as_json, as_table):
        (consumer,) = observed(found)["/", "live.same"].consumers or ()
        assert consumer.channel is not None
        assert consumer.connection is not None
        assert consumer.connection.protocol == "AMQP 0-9-1"


@pytest.mark.broker
def test_a_node_that_is_not_there_is_told(live: Live) -> None:
    with pytest.raises(InputError, match=r"cannot reach the node.*'nonesuch' not running at all"):
        live.observe(node="nonesuch@localhost")


@pytest.mark.broker
def test_another_cookie_is_told(live: Live, tmp_path: Path) -> None:
    cookie = tmp_path / ".erlang.cookie"
    cookie.write_text("ANOTHER")
    cookie.chmod(0o600)
    program = wrapper(tmp_path / "rabbitmqctl", live.node, HOME=str(tmp_path))
    with pytest.raises(AdvisorError, match="is the Erlang cookie of this user that of the node"):
        observe(CtlOptions(program=program, timeout=20.0), silent)


@pytest.mark.broker
def test_the_programs_own_time_limit_is_told(live: Live, tmp_path: Path) -> None:
    program = tmp_path / "rabbitmqctl"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(live.program)} "$@" --timeout 0\n')
    program.chmod(0o755)
    with pytest.raises(InputError, match=r"timed out \(exit 75\)"):
        observe(CtlOptions(program=str(program)), silent)
