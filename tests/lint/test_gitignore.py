"""Patterns of .gitignore, compared with git itself on random ones."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prefetch_advisor.lint.gitignore import Patterns
from prefetch_advisor.lint.walking import Walk

FILES = (
    *("a.toy", "b.toy", "!a.toy", "#c.toy", "src/a.toy", "src/b.toy", "src/deep/a.toy"),
    *("src/deep/b.toy", "deep/a.toy", "other/src/a.toy", "other/deep/src/b.toy"),
)
COMMON = (
    *("*", "!*/", "!*.toy", "/*", "!/src/", "src/", "*.toy", "!a.toy", "src/*", "!src/b.toy"),
    *("**/deep", "deep/**", "/a.toy", "s?c", "[ab].toy", "!deep/", "src/**/a.toy", "b.toy/"),
    *(
        "\\!a.toy",
        "a.toy ",
        "#c.toy",
        "\\#c.toy",
        "/src/deep",
        "!src/deep/a.toy",
        "**",
        "!**/b.toy",
    ),
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def by_git(root: Path) -> list[str]:
    """What git would not ignore."""
    done = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=root,
        env={**os.environ, "HOME": str(root), "XDG_CONFIG_HOME": str(root)},
        capture_output=True,
        check=True,
    )
    return sorted(name for name in done.stdout.decode().split("\0") if name.endswith(".toy"))


def by_us(root: Path) -> list[str]:
    walk = Walk(lambda path: path.suffix == ".toy", lambda path, is_directory: False, str(root))
    return sorted(found.path for found in walk.files(["."]))


@pytest.mark.parametrize("seed", range(4))
def test_nested_files_of_common_patterns_ignore_what_git_ignores(repository, seed):
    draw = random.Random(seed)
    for _ in range(25):
        for old in repository.rglob(".gitignore"):
            old.unlink()
        for where in draw.sample([".", "src", "src/deep", "deep", "other"], draw.randint(1, 2)):
            lines = [draw.choice(COMMON) for _ in range(draw.randint(1, 4))]
            (repository / where / ".gitignore").write_text("\n".join(lines))
        assert by_us(repository) == by_git(repository)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text("abct*?[]!^-/\\ .#\r", max_size=8), max_size=3))
@example(["[[:alpha:]].toy", "[^a-"])
@example(["[]a].toy", "src/[!/]*"])
@example(["**/", "a.toy\\ ", "a.toy\\"])
@example(["a**y", "src/**/**/b.toy", "!**/**/a.toy", "/**/a.toy"])
@example(["[z-a].toy", "[a\\]].toy", "src//a.toy", "/", "!", "*.toy \r"])
def test_any_pattern_ignores_what_git_ignores(repository, lines):
    for old in repository.rglob(".gitignore"):
        old.unlink()
    (repository / ".gitignore").write_bytes("\n".join(lines).encode())
    assert by_us(repository) == by_git(repository)


def test_a_pattern_of_many_stars_takes_no_power_of_the_name():
    patterns = Patterns(["*a" * 40 + "b", "**/" * 30 + "*a*a*a*a*b"])
    began = time.process_time()
    assert not patterns.cover("/".join(["a" * 120] * 6))
    assert time.process_time() - began < 2


def test_what_is_in_an_ignored_directory_is_covered():
    assert Patterns(["tests/"]).cover("a/tests/b/c.py")
    assert Patterns(["tests/*"]).cover("tests/b/c.py")
    assert not Patterns(["tests/*.py"]).cover("tests/b/c.py")
    assert not Patterns(["tests"]).cover("contests/a.py")
