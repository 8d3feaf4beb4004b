"""Every rule of lint finds exactly itself in its bad example, and nothing in its good one."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from told import lint_text

from prefetch_advisor.findings import RULES
from prefetch_advisor.lint.kinds import KINDS

LINT = [rule for rule in RULES if rule.file]


@pytest.mark.skipif(not KINDS, reason="no kind of file is read yet")
@pytest.mark.parametrize("rule", LINT, ids=[rule.code for rule in LINT])
def test_a_rule_holds_for_its_own_examples(rule):
    assert any(kind.named(PurePosixPath(rule.file)) for kind in KINDS)
    bad = lint_text({rule.file: rule.bad})
    assert [found.finding.code for found in bad] == [rule.code]
    assert bad[0].place.path == rule.file
    assert lint_text({rule.file: rule.good}) == []
