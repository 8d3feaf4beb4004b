"""The samples of every rule of lint: the bad one gives that finding and no other, the good none."""

from __future__ import annotations

import pytest
from told import lint_text

from prefetch_advisor.findings import RULES
from prefetch_advisor.findings.rule import Rule

#: those of PA0xx need the settings of lint itself
WITH_FILES = [rule for rule in RULES if rule.file and rule.code >= "PA3"]


@pytest.mark.parametrize("rule", WITH_FILES, ids=lambda rule: rule.code)
def test_the_samples_of_a_rule(rule: Rule):
    (found,) = lint_text({rule.file: rule.bad})
    assert found.finding.code == rule.code
    assert found.severity is rule.severity
    assert lint_text({rule.file: rule.good}) == []
