"""Every rule of lint finds exactly itself in its bad example, and nothing in its good one."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from told import lint_text

from prefetch_advisor.findings import RULES
from prefetch_advisor.lint.kinds import KINDS

LINT = [rule for rule in RULES if rule.file]


@pytest.mark.parametrize("rule", LINT, ids=[rule.code for rule in LINT])
def test_a_rule_holds_for_its_own_examples(rule):
    assert any(kind.named(PurePosixPath(rule.file)) for kind in KINDS)
    bad = lint_text({rule.file: rule.bad})
    assert [found.finding.code for found in bad] == [rule.code]
    assert bad[0].place.path == rule.file
    assert lint_text({rule.file: rule.good}) == []


#: what files hold that are not meant for people: keys, brackets, templates, other encodings
SPLICES = (
    *(
        b"",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"{{ x }}",
        b"${X}",
        b"<<: *a",
        b"&a [*a]",
        b"\t",
        b"\r",
    ),
    *(b"{", b"[" * 500, b"]", b"}", b"'", b'"', b"#", b":", b"=", b"%", b"\\", b"- ", b"---\n"),
    *(b"9" * 5_000, b"1e999", b"null", b"-1", b"!!python/object:x ", b"\n\n", b"\xe2\x80\xae"),
)


@given(
    st.sampled_from(LINT),
    st.booleans(),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9), st.sampled_from(SPLICES)), max_size=4),
)
@settings(deadline=None, max_examples=300)
def test_no_file_that_is_nearly_right_stops_lint(rule, bad, splices):
    data = (rule.bad if bad else rule.good).encode()
    for where, gone, new in splices:
        at = int(where * len(data))
        data = data[:at] + new + data[at + gone :]
    for found in lint_text({rule.file: data}):
        assert found.place.path == rule.file
        assert found.place.line >= 1
        assert found.place.column >= 1
