"""No secret of a file is in what is shown of it, and the caret still stands where it should."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import toy  # noqa: F401  a fixture

from prefetch_advisor.commands.lint_options import FORMATS
from prefetch_advisor.lint.secrets import masked, without_user_info


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("broker_url = 'amqp://bob:hunter2@host/%2f'", "broker_url = 'amqp://***@host/%2f'"),
        ("dsn: amqp://bob:hun@ter/2@host?prefetch=0", "dsn: amqp://***@host?prefetch=0"),
        ("  password: hunter2", "  password: ***"),
        ("  password: hunter 2 # of bob", "  password: *** # of bob"),
        ('{"password_hash": "hunter2", "prefetch": 0}', '{"password_hash": "***", "prefetch": 0}'),
        ("spring.rabbitmq.password=hunter2", "spring.rabbitmq.password=***"),
        ("RABBITMQ_DEFAULT_PASS=hunter2 PREFETCH=0", "RABBITMQ_DEFAULT_PASS=*** PREFETCH=0"),
        ("run --password=hunter2 --prefetch 0", "run --password=*** --prefetch 0"),
        ("password => 'hunter2' prefetch_count => 0", "password => '***' prefetch_count => 0"),
        ('API_KEY: "hunter\\"2", prefetch: 0', 'API_KEY: "***", prefetch: 0'),
        ("password: 'hunter2", "password: '***"),
        ("prefetch: 0 # see https://example.org/a", "prefetch: 0 # see https://example.org/a"),
        ("passive = true, compass: north", "passive = true, compass: north"),
        ("password: {", "password: {"),
        ("", ""),
    ],
)
def test_what_is_secret_is_masked(line, shown):
    assert masked(line, 1)[0] == shown


def test_a_column_is_moved_with_what_is_behind_it():
    line = "password=longer-than-the-mask prefetch=0"
    shown, column = masked(line, line.index("prefetch") + 1)
    assert shown[column - 1 :] == "prefetch=0"
    assert masked(line, 14) == (shown, 10)
    assert masked(line, 3) == (shown, 3)
    assert without_user_info("found 'amqp://a:b@c'") == "found 'amqp://***@c'"


@pytest.mark.parametrize("text", ["/", "pass", "password ", "password=", "//@", "pass\\"])
def test_a_line_of_megabytes_takes_no_square_of_its_length(text):
    began = time.process_time()
    masked(text * (2_000_000 // len(text)), 1)
    assert time.process_time() - began < 10


@given(st.text("pasword:=\"'/@ #,x", max_size=40), st.integers(1, 50))
@settings(deadline=None)
def test_no_line_stops_it(line, column):
    shown, moved = masked(line, column)
    assert moved >= 1
    if shown == line:
        assert moved == column


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("name", FORMATS)
def test_no_format_and_no_baseline_shows_a_secret(cli, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toy").write_text(
        "unbounded amqp://bob:hunter2@host # password: hunter2\n"
        "# prefetch-advisor: ignore[amqp://bob:hunter2@host]\n"
    )
    run = cli("lint", "--format", name)
    assert "unbounded" in run.out
    assert "hunter2" not in run.out + run.err
    cli("lint", "--baseline", "known", "--write-baseline")
    first = (tmp_path / "known").read_text()
    (tmp_path / "a.toy").write_text((tmp_path / "a.toy").read_text().replace("hunter2", "hunter3"))
    cli("lint", "--baseline", "known", "--write-baseline")
    # or whoever has it could try passwords against its fingerprints
    assert (tmp_path / "known").read_text() == first
