"""No secret of a file is shown with its line."""

from __future__ import annotations

import pytest
from told import lint_text

from prefetch_advisor.lint.shown import shown


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("dsn: 'amqp://u:p@ss@h/%2f?prefetch_count=3'", "dsn: 'amqp://***@h/%2f?prefetch_count=3'"),
        ('{"password_hash": "aX=,}", "x": 1}', '{"password_hash": ***, "x": 1}'),
        ("spring.rabbitmq.password=hunter2", "spring.rabbitmq.password=***"),
        ("password => 'a b' prefetch_count => 0", "password => *** prefetch_count => 0"),
        ("default_pass = x, API_KEY: y", "default_pass = ***, API_KEY: ***"),
        ("prefetch: 10  # see http://host/a", "prefetch: 10  # see http://host/a"),
    ],
)
def test_secrets_are_not_shown(line, expected):
    assert shown(line) == expected


def test_a_definitions_file_on_one_line_shows_no_password():
    text = (
        '{"users": [{"name": "app", "password_hash": "SECRET"}], "queues": [{"name": "q", '
        '"arguments": {"x-queue-type": "quorum", "x-max-priority": 5}}]}'
    )
    (found,) = lint_text({"definitions.json": text})
    assert "SECRET" not in str(found)
    assert "x-max-priority" in found.text
