"""The findings beside the verdict: a check that is left out would have found nothing."""

from __future__ import annotations

from importlib import import_module

import pytest
from test_captures import api, around, ctl

from prefetch_advisor import hints


@pytest.mark.parametrize("version", ["3.10", "4.3"])
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--rtt", "20ms"),
        ("--processing-time", "5ms", "--rtt", "1ms", "--memory-budget", "10KB"),
        ("--processing-time", "5ms", "--rtt", "20ms", "--batch", "10", "--consumer-timeout", "1s"),
        ("--concurrency", "async", "--rtt", "3ms", "--arrival-rate", "100/s"),
    ],
)
def test_what_is_left_out_finds_nothing(advise, monkeypatch, version, options):
    judged = []

    def all_checks(one: hints.Judged) -> list[object]:
        judged.append(one)
        found = [finding for check in hints.CHECKS for finding in check.find(one)]
        assert hints.hints(one) == found
        return found

    monkeypatch.setattr(import_module("prefetch_advisor.advise"), "hints", all_checks)
    advise(*api(version), *options)
    advise(*api(version)[:1], around(version)[0], *options)
    advise(*ctl(version, "json"), *options)
    assert len(judged) > 30
    assert any(one.case.channels for one in judged)
    assert any(one.case.force.unlimited for one in judged)
