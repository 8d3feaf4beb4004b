"""Lint's own settings: the same keys in every form, each mistake with its line."""

from __future__ import annotations

import tomllib

import pytest
from told import written
from toy import toy  # noqa: F401  a fixture

from prefetch_advisor import findings
from prefetch_advisor.errors import InputError, UsageError
from prefetch_advisor.lint import settings
from prefetch_advisor.lint.selection import Selection

TOML = """
[lint]
select = ["PA1", "no-data"]
ignore = ["add-consumers"]
exclude = ["old/", "*.gen.*"]
baseline = "known.json"
fail-on = "error"

[lint.per-file-ignores]
"tests/*" = ["PA1"]
"""
INI = """
[prefetch-advisor:lint]
select = PA1, no-data
ignore =
    add-consumers
exclude =
    old/
    *.gen.*
baseline = known.json
fail_on = error
[prefetch-advisor:lint:per-file-ignores]
tests/* = PA1
"""
FORMS = {
    "prefetch-advisor.toml": TOML,
    "pyproject.toml": TOML.replace("[lint", "[tool.prefetch-advisor.lint"),
    "setup.cfg": INI,
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_says_the_same(name):
    with written({name: FORMS[name], "a/b/c": ""}) as root:
        (root / ".git").mkdir()
        loaded = settings.load(root / "a" / "b", str)
        found = loaded.settings
        assert found == settings.Settings(
            select=("PA1", "PA001"),
            ignore=tuple(rule.code for rule in findings.find("add-consumers")),
            per_file_ignores=(("tests/*", ("PA1",)),),
            exclude=("old/", "*.gen.*"),
            baseline=root / "known.json",
            fail_on="error",
            base=root,
            origins=found.origins,
        )
        assert found.origin("baseline").startswith(f"{root}/{name}:")
        assert found.origins["select"].endswith(":3")
        assert not loaded.notes


def test_the_nearest_file_with_settings_of_lint_counts():
    files = {
        "setup.cfg": "[prefetch-advisor:lint]\nfail-on = info\n",
        "repo/pyproject.toml": '[tool.prefetch-advisor.lint]\nfail-on = "error"\n',
        "repo/setup.cfg": "[prefetch-advisor:lint]\nfail-on = never\n",
        "repo/sub/prefetch-advisor.toml": "[[queues]]\nname = 'a'\n",
        "repo/sub/pyproject.toml": "[tool.other]\n",
        "repo/broken/prefetch-advisor.toml": "[lint\n",
    }
    with written(files) as root:
        (root / "repo" / ".git").write_text("gitdir: elsewhere")
        loaded = settings.load(root / "repo" / "sub", lambda path: path[len(str(root)) :])
        assert loaded.settings.fail_on == "error"
        assert loaded.settings.base == root / "repo"
        (note,) = loaded.notes
        assert note == (
            "/repo/setup.cfg: its settings of lint are not used: /repo/pyproject.toml comes first"
        )
        broken = settings.load(root / "repo" / "broken", str)
        assert broken.settings.fail_on == "error"
        assert [error.line for _, error in broken.broken] == [1]
        (root / "repo" / "pyproject.toml").unlink()
        (root / "repo" / "setup.cfg").unlink()
        # never above the repository's root
        assert settings.load(root / "repo", str).settings.fail_on == "warning"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("prefetch-advisor.toml", "[lint]\n\nselct = []", r":3: unknown key 'selct' .* select\?"),
        ("prefetch-advisor.toml", "[lint]\nfail_on = 'info'", r":2: unknown key .* fail-on\?"),
        ("prefetch-advisor.toml", "lint = 3", r":1: lint: expected a table, found 3"),
        ("prefetch-advisor.toml", "[lint]\nignore = ['PA1',\n'PA9']", r":2: lint.ignore: no find"),
        ("pyproject.toml", "[tool.prefetch-advisor.lint]\nselect = [1]", r":2: .* list of texts"),
        ("pyproject.toml", "tool.prefetch-advisor.lint.baseline = ''", r":1: .* name of a file"),
        ("setup.cfg", "[prefetch-advisor:lint]\nfail-on = nver", r":2: .* never, info, warning"),
        ("setup.cfg", "[prefetch-advisor:lint]\nper-file-ignores = x", r":2: .* a table of"),
        (
            "prefetch-advisor.toml",
            "[lint.per-file-ignores]\n'a/*' = ['unbounded']",
            r":2: lint.per-file-ignores.a/\*: no finding .* near: unbounded-prefetch",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(name, text, said):
    with written({name: text}) as root:
        with pytest.raises(UsageError, match=said):
            settings.load(root, str)
        with pytest.raises(UsageError, match=said):
            settings.load_file(root / name, name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[lint", r"^x\.toml:1:1: "),
        ("[queues]\n", r"^x\.toml: expected settings of lint"),
        (None, r"^x\.toml: .* No such file"),
    ],
)
def test_a_named_file_has_to_hold_settings(text, said):
    files = {} if text is None else {"x.toml": text}
    with written(files) as root, pytest.raises(InputError, match=said):
        settings.load_file(root / "x.toml", "x.toml")


@pytest.mark.parametrize(
    ("select", "ignore", "taken"),
    [
        ((), (), "PA101 PA104 PA301"),
        (("PA1",), (), "PA101 PA104"),
        (("PA1",), ("PA101",), "PA104"),
        (("PA101", "PA3"), ("PA1",), "PA101 PA301"),
        ((), ("PA1", "PA301"), ""),
        (("PA1",), ("PA1",), ""),
        (("PA",), ("PA10",), "PA301"),
    ],
)
def test_the_more_exact_one_counts(select, ignore, taken):
    selection = Selection(select, ignore)
    assert [c for c in ("PA101", "PA104", "PA301") if selection.takes(c)] == taken.split()


@pytest.mark.usefixtures("toy")
def test_findings_are_ignored_by_file_relative_to_the_settings(cli, tmp_path, monkeypatch):
    text = TOML.replace("known.json", "k.json").replace("add-consumers", "prefetch-too-large")
    (tmp_path / "prefetch-advisor.toml").write_text(text)
    (tmp_path / "k.json").write_text('{"schema": "prefetch-advisor/baseline/1", "findings": []}')
    for name in ("tests/a.toy", "src/tests.toy", "src/b.gen.toy"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("unbounded\nhoarding\n")
    monkeypatch.chdir(tmp_path / "src")
    (tmp_path / ".git").mkdir()
    run = cli("lint", "..", "--format", "json")
    assert [(f["path"], f["code"]) for f in run.report["findings"]] == [("tests.toy", "PA101")]
    assert (run.code, run.report["summary"]["suppressed"]) == (1, 1)
    shown = cli("lint", "--show-settings", "--fail-on", "never", "--ignore", "PA0,PA104").out
    assert "# ../prefetch-advisor.toml:3" in shown
    assert 'fail-on = "never"  # --fail-on' in shown
    read = tomllib.loads(shown)["lint"]
    assert read == tomllib.loads(text)["lint"] | {
        "select": ["PA1", "PA001"],
        "ignore": ["PA0", "PA104"],
        "baseline": "../k.json",
        "fail-on": "never",
    }
