"""What the README shows is what its commands print."""

from __future__ import annotations

import re
import stat

import pytest
from conftest import ROOT
from readme_blocks import PAGES, README, run, shown

TEXT = README.read_text()
SHOWN = list(shown(TEXT))


EVERY = [one for page in PAGES for one in shown(page.read_text())]


@pytest.mark.parametrize("one", EVERY, ids=[one.command for one in EVERY])
def test_a_shown_command_prints_what_is_shown(one):
    assert run(one.command) == one.output, "python tests/readme_blocks.py renews the README"


def test_the_readme_opens_with_a_run_of_the_main_job():
    assert SHOWN[0].command.startswith("prefetch-advisor advise samples/")
    assert TEXT.index("```console") < TEXT.index("\n## ")


def test_the_main_job_shows_several_verdicts():
    verdicts = {"processing-bound", "round-trip-bound", "unbounded", "stalled", "hoarding"}
    assert {verdict for verdict in verdicts if verdict in SHOWN[0].output} == verdicts


def test_the_command_that_runs_all_tests_is_the_one_that_ci_runs():
    assert "```sh\ntests/run\n```" in TEXT
    assert "\ntests/run\n" in (ROOT / ".ci" / "run").read_text()
    for script in ("tests/run", ".ci/run"):
        assert (ROOT / script).stat().st_mode & stat.S_IXUSR, f"{script} is not executable"


def test_every_file_the_readme_speaks_of_is_there():
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    named = re.findall(r"\b(?:samples|tests)/[\w./-]*\w", TEXT)
    assert links
    assert [name for name in links + named if not (ROOT / name).exists()] == []


def test_the_recipes_speak_of_files_that_are_there():
    recipes = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:prefetch_advisor|tests)/[\w./-]*)`", recipes)
    assert named
    assert [n for n in named if "NAME" not in n and not (ROOT / n).exists()] == []


def test_the_samples_stay_small():
    files = [file for file in (ROOT / "samples").rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 1_000_000
