"""What other programs read: the action, the hook, and the lines that the README shows for CI."""

from __future__ import annotations

import re
import shlex

import click
import yaml
from conftest import ROOT

from prefetch_advisor.commands.group import cli
from prefetch_advisor.lint import settings, settings_file
from prefetch_advisor.lint.files import SourceFile

README = (ROOT / "README.md").read_text()


def options() -> set[str]:
    command = cli.commands["lint"]
    assert isinstance(command, click.Command)
    return {name for parameter in command.params for name in parameter.opts}


def parsed(line: str) -> None:
    """The words after ``prefetch-advisor lint`` are ones that it takes."""
    words = shlex.split(line.split("lint", 1)[1].replace("$ARGUMENTS", ""))
    command = cli.commands["lint"]
    command.make_context("lint", words, resilient_parsing=True)
    assert {word for word in words if word.startswith("-") and word != "--"} <= options()


def test_the_action_runs_lint_with_inputs_that_are_no_script():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    script = action["runs"]["steps"][1]
    assert "${{" not in script["run"]
    used = {
        value.split("inputs.")[1].split()[0]
        for value in script["env"].values()
        if "inputs." in value
    }
    assert used == set(action["inputs"])
    lines = [line for line in script["run"].splitlines() if '/prefetch-advisor" lint' in line]
    assert len(lines) == 2
    for line in lines:
        parsed(line)


def test_the_hook_looks_at_the_whole_repository():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["pass_filenames"] is False
    assert hook["entry"] == "prefetch-advisor lint"
    assert f"its id is `{hook['id']}`" in README


def test_the_lines_for_ci_are_few_and_run_lint():
    blocks = [
        yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", README, re.M | re.S)
    ]
    github, gitlab = blocks
    assert github["jobs"]["lint"]["steps"][1]["uses"].startswith("OWNER/prefetch-advisor@")
    commands = gitlab["prefetch"]["script"]
    for command in commands[1:]:
        parsed(command)


def test_the_settings_shown_are_ones_that_are_read(tmp_path):
    (shown,) = re.findall(r"^```toml\n(\[lint\].*?)^```$", README, re.M | re.S)
    # whether the family of rules is there is not what this is about
    shown = shown.replace("PA3", "PA1")
    file = SourceFile("prefetch-advisor.toml", shown, tmp_path / "prefetch-advisor.toml")
    said = settings_file.parse(file)
    assert said is not None
    read = settings.read(said)
    assert read.origins.keys() == settings.KEYS.keys(), "a key is not shown, or is no more"
    assert read.per_file_ignores == (("tests/*", ("PA1",)),)
