"""Commands of rabbitmqctl in shell lines."""

from __future__ import annotations

import pytest

from prefetch_advisor.sources.shell_lines import Asked, asked, is_prompt


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rabbitmqctl list_queues name messages", Asked("queues", None, ("name", "messages"))),
        ("$ sudo rabbitmqctl -n a@b -p 'x y' list_consumers", Asked("consumers", "x y")),
        ("# rabbitmqctl list_queues --vhost=x -q | less", Asked("queues", "x")),
        ("> rabbitmqctl list_queues --formatter json", Asked("queues", formatter="json")),
        ("rabbitmqctl --formatter=json list_channels", Asked("channels", formatter="json")),
        ("rabbitmqctl status; list_queues", None),
        ("rabbitmqctl [--node <node>] list_queues [--vhost <vhost>]", None),
        ("tasks\t5", None),
    ],
)
def test_what_is_asked_for(line: str, expected: Asked | None) -> None:
    assert asked(line) == expected


def test_prompts() -> None:
    assert all(map(is_prompt, ("$", "$ ls", "root@host:~# ls -l", "[me@host dir]$ ls", "C:\\>")))
    assert not any(map(is_prompt, ("tasks\t5", "name", "hello there")))
