"""JSON among the lines of a shell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prefetch_advisor.sources.pasted import segments

JSON = '[\n{"name":"a$ b","messages":1}\n,{"name":"rabbitmqctl list_queues","messages":2}\n]\n'


def test_text_without_json_is_one_segment() -> None:
    for text in ("queue,ms\na,5\n", "$ rabbitmqctl list_queues\nname\tmessages\n[bold\t1\n", ""):
        assert [(one.text, one.json) for one in segments(text)] == [(text, False)]


def test_json_keeps_its_lines_and_its_vhost() -> None:
    text = f"hello\n$ rabbitmqctl -p x list_queues --formatter=json\n{JSON}$ exit\n"
    before, found, *_ = segments(text)
    assert (before.text, before.json) == ("hello", False)
    assert found.json
    assert found.vhost == "x"
    assert found.text.strip() == JSON.strip()
    assert found.text.split("\n")[2] == "["


def test_a_table_s_command_is_none_of_json() -> None:
    (one,) = segments("$ rabbitmqctl list_queues name --formatter=table\n[bold\t1\n")
    assert not one.json


@given(st.lists(st.sampled_from([JSON, "$ curl x/api\n", "a\tb\n", "\n", "$ ls\n", "{\n"])))
def test_nothing_but_shell_lines_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    kept = "\n".join(one.text for one in segments(text))
    for line in ("a\tb", '{"name":"a$ b","messages":1}'):
        assert kept.count(line) == text.count(line)
