"""Declared buffers, in the situations that people met."""

from __future__ import annotations

import pytest
from told import lint_text

from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding


def told(*lines: str) -> list[LintFinding]:
    """Of one buffer whose settings begin on line 3."""
    return lint_text({"prefetch-advisor.toml": "\n".join(('[[buffers]]\nname = "q"', *lines, ""))})


def codes(*lines: str) -> list[tuple[str, int]]:
    return [(one.finding.code, one.place.line) for one in told(*lines)]


def test_no_limit_is_told_by_what_the_buffer_is_of():
    assert codes("capacity = 0", "workers = 8") == [("PA501", 3)]
    # C255, F64: SELECT ... FOR UPDATE SKIP LOCKED without LIMIT
    (found,) = told("capacity = 0", 'lease = "30s"')
    assert (found.finding.code, found.severity) == ("PA502", Severity.ERROR)


def test_a_worker_that_asks_once_in_an_interval_is_bound_by_it():
    """C271, F60: 32 workers, jobs of 25 ms, asked for once in a second: 32/s of 1,280/s."""
    (found,) = told("workers = 32", 'processing-time = "25ms"', 'poll-interval = "1s"')
    assert (found.finding.code, found.place.line) == ("PA505", 5)
    assert "32 rows once in 1 s is 32/s; its workers can do 1,280/s" in found.finding.message


def test_more_claimed_than_worked_on_waits():
    """C267: 3 claimed for one worker; jobs of a minute."""
    lines = ("capacity = 2", "workers = 1", "batch = 3", 'processing-time = "1min"')
    found = told(*lines, 'claim-latency = "10ms"')
    assert [one.finding.code for one in found] == ["PA503"]
    assert "the last of 2 rows waits 2 min for a worker" in found[0].finding.message
    assert codes("capacity = 1", *lines[1:2], 'processing-time = "50ms"') == []


def test_a_job_that_outlasts_its_lease_is_done_twice():
    """C283: 30 minutes of invisibility, and jobs that take longer."""
    (found,) = told("capacity = 1", "workers = 1", 'lease = "30min"', 'processing-time = "31min"')
    assert (found.finding.code, found.severity) == ("PA504", Severity.ERROR)
    assert "of the lease of 30 min" in found.finding.message


@pytest.mark.parametrize(
    "lines",
    [
        ("capacity = 100", "workers = 10"),
        ('processing-time = "1s"', "capacity = 100"),
        ("workers = 10", 'processing-time = "200ms"', 'claim-latency = "8ms"', "batch = 20"),
        # the smallest that feeds, with claims that keep up
        ("capacity = 10", "workers = 10", 'processing-time = "200ms"', 'claim-latency = "8ms"'),
        ("workers = 8", "connections = 9", 'processing-time = "1s"', 'poll-interval = "1s"'),
    ],
)
def test_a_buffer_that_is_right_or_not_known_is_silent(lines):
    assert codes(*lines) == []


def test_a_small_buffer_starves_its_workers():
    lines = ("workers = 4", 'claim-latency = "8ms"', 'processing-time = "2ms"')
    (found,) = told("capacity = 2", "batch = 20", *lines)
    assert found.finding.code == "PA507"
    assert found.finding.help.startswith("Set capacity ")
    (found,) = told("capacity = 200", "batch = 4", *lines)
    assert (found.finding.code, found.place.line) == ("PA507", 4)
    assert "4 rows each 8 ms: 500/s; the workers can do 2,000/s" in found.finding.message
    assert found.finding.help.startswith("Claim 16 rows together")
