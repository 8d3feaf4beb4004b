"""The catalogue: every rule is in it, in order, and its page is what it prints."""

from __future__ import annotations

import pytest
from conftest import ROOT

from prefetch_advisor.findings import (
    RULES,
    apps,
    broker_files,
    buffers,
    celery,
    claims,
    consumers,
    declared,
    document,
    explain,
    find,
    inputs,
    source,
)
from prefetch_advisor.findings.rule import Rule


def test_every_rule_that_is_defined_can_be_explained():
    defined = [
        rule
        for module in (
            inputs,
            consumers,
            source,
            declared,
            celery,
            apps,
            broker_files,
            buffers,
            claims,
        )
        for rule in vars(module).values()
        if type(rule) is Rule
    ]
    assert {rule.code for rule in defined} == {rule.code for rule in RULES}
    for rule in defined:
        assert find(rule.code) == [rule]
        assert rule in find(rule.name)
        assert rule.bad in explain(rule).replace("\n    ", "\n")
        assert rule.bad != rule.good


def test_codes_and_names_are_unique_and_in_order():
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
    assert len({(rule.code[:3], rule.name) for rule in RULES}) == len(RULES)
    for rule in RULES:
        # the same name, the same number in its family
        assert {other.code[3:] for other in find(rule.name)} == {rule.code[3:]}


@pytest.mark.parametrize(("page", "lint"), [("findings.md", False), ("rules.md", True)])
def test_the_page_is_what_the_catalogue_says(page, lint):
    """Written anew by ``python -m prefetch_advisor.findings [--lint] > docs/PAGE``."""
    assert (ROOT / "docs" / page).read_text() == document(lint)


def test_each_rule_is_on_one_page():
    pages = [document(False), document(True)]
    for rule in RULES:
        assert [f"\n## {rule.code} {rule.name}\n" in page for page in pages].count(True) == 1
