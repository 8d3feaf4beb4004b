"""Which files are looked at, whatever lies in the tree."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from told import written
from toy import toy  # noqa: F401  a fixture

from prefetch_advisor.errors import InputError
from prefetch_advisor.lint import reading, run
from prefetch_advisor.lint.gitignore import Patterns
from prefetch_advisor.lint.settings import Settings
from prefetch_advisor.lint.walking import Walk

pytestmark = pytest.mark.usefixtures("toy")


def walked(root: Path, *paths: str) -> list[str]:
    walk = Walk(lambda path: path.suffix == ".toy", lambda path, is_directory: False, str(root))
    return [found.path for found in walk.files(paths or ["."])]


def test_what_git_ignores_is_left_out_as_git_itself_says():
    files = {
        ".gitignore": "/build/\n*.tmp.toy\n!kept.tmp.toy\ndeep/**/b.toy\n[z-a]\n!\n\\#x.toy\n",
        ".git/info/exclude": "private.toy\nkept.tmp.toy\n",
        "a.toy": "",
        "#x.toy": "",
        "a.tmp.toy": "",
        "kept.tmp.toy": "",
        "private.toy": "",
        "build/a.toy": "",
        "src/build/a.toy": "",
        "src/.gitignore": "!a.tmp.toy\nlocal*\n",
        "src/a.tmp.toy": "",
        "src/local.toy": "",
        "src/local/a.toy": "",
        "deep/er/b.toy": "",
        "deep/er/c.toy": "",
        "all/.gitignore": "in/**\n",
        "all/in/.gitignore": "!*.toy\n",
        "all/in/x.toy": "",
        "every/.gitignore": "**\n!/sub/\n!x.toy\n",
        "every/sub/x.toy": "",
        "every/sub/y.toy": "",
        "vendored/.gitignore": "*\n!x.toy\n",
        "vendored/x.toy": "",
        "vendored/y.toy": "",
        "vendored/sub/x.toy": "",
    }
    with written(files) as root:
        git = ["git", "-c", "init.defaultBranch=main"]
        subprocess.run([*git, "init", "-q"], cwd=root, check=True)
        (root / ".git" / "info" / "exclude").write_text(files[".git/info/exclude"])
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--others", "--exclude-standard"],
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "HOME": str(root), "XDG_CONFIG_HOME": str(root)},
        ).stdout.split("\0")
        wanted = sorted(name for name in listed if name.endswith(".toy"))
        assert "src/a.tmp.toy" in wanted
        assert "src/local.toy" not in wanted
        assert sorted(walked(root)) == wanted
        # from below the root, the rules above it hold all the same
        assert sorted(walked(root, "src")) == [name for name in wanted if name.startswith("src/")]


def test_a_work_tree_beside_its_repository_has_the_excludes_of_that():
    files = {
        "main/.git/info/exclude": "private.toy\n",
        "main/.git/worktrees/w/commondir": "../..\n",
        "w/.git": "gitdir: ../main/.git/worktrees/w\n",
        "w/private.toy": "",
        "w/a.toy": "",
    }
    with written(files) as root:
        assert walked(root / "w") == ["a.toy"]


def test_what_is_named_is_read_though_it_is_ignored():
    files = {
        ".git/HEAD": "",
        ".gitignore": "build\nx.toy\n",
        "build/sub/a.toy": "",
        "x.toy": "",
        "node_modules/a.toy": "",
    }
    with written(files) as root:
        assert walked(root) == []
        assert walked(root, "x.toy", "build/sub", "node_modules", "./x.toy") == [
            "x.toy",
            "build/sub/a.toy",
            "node_modules/a.toy",
        ]
        (root / "elsewhere").mkdir()
        found = run.read(["../x.toy"], root / "elsewhere", Settings())
        assert list(found.files) == [f"{root}/x.toy"]


def test_links_are_not_followed_and_loops_end():
    with written({"a.toy": "", "sub/b.toy": "", "secret/c.toy": ""}) as root:
        (root / "sub" / "up").symlink_to("..")
        (root / "sub" / "self").symlink_to("self")
        (root / "sub" / "l.toy").symlink_to("../secret/c.toy")
        (root / "sub" / "lost.toy").symlink_to("nowhere")
        os.mkfifo(root / "sub" / "pipe.toy")
        assert walked(root, "sub") == ["sub/b.toy"]
        assert walked(root, "sub/l.toy") == ["sub/l.toy"]
        for name in ("sub/self", "sub/lost.toy", "sub/pipe.toy", "none", "a\0b"):
            with pytest.raises(InputError, match="expected a file or directory, found"):
                walked(root, name)


def test_a_file_that_is_gone_or_locked_or_huge_does_not_stop_the_rest(monkeypatch):
    with written({"a.toy": "word", "b.toy": "unbounded", "c.toy": "", "d/e.toy": ""}) as root:
        with (root / "c.toy").open("r+b") as file:
            file.truncate(50_000_000)
        contents = reading.contents

        def refuse(location, *, follow=True):
            if Path(location).name == "a.toy":
                (root / "a.toy").unlink(missing_ok=True)
            if Path(location).name == "e.toy":
                raise PermissionError(13, "Permission denied")
            return contents(location, follow=follow)

        monkeypatch.setattr(reading, "contents", refuse)
        found = run.read(["."], root, Settings(base=root))
        assert list(found.files) == ["b.toy"]
        assert found.notes == [
            "a.toy: left out: No such file or directory",
            "c.toy: left out: 47.7 MiB, more than 5 MiB",
            "d/e.toy: left out: Permission denied",
        ]
        with pytest.raises(InputError, match=r"d/e.toy: cannot be read: Permission denied"):
            run.read(["d/e.toy"], root, Settings(base=root))


def test_a_directory_that_cannot_be_listed_is_noted(monkeypatch):
    with written({"a.toy": "word", "d/e.toy": ""}) as root:
        scandir = os.scandir

        def refuse(path):
            if str(path).endswith("/d"):
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(os, "scandir", refuse)
        found = run.read(["."], root, Settings(base=root))
        assert (list(found.files), found.notes) == (["a.toy"], ["d: left out: Permission denied"])


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1"]
)
def test_any_encoding_is_read(encoding):
    data = "é\nunbounded\n".encode(encoding)
    if encoding == "utf-16-be":
        data = b"\xfe\xff" + data
    with written({"a.toy": data}) as root:
        found = run.read(["."], root, Settings(base=root))
    assert found.facts[0] == "é"
    assert found.facts[1].place.line == 2


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=60))
def test_no_bytes_stop_reading(data):
    text = reading.decoded(data)
    assert isinstance(text, str)
    assert len(text) <= len(data)
    # nor do they stop it as patterns
    lines = data.decode("latin-1").split("\n")
    Patterns(lines).cover("a/b.toy")
    reading.searchable(data)


def test_excluded_files_are_not_looked_for_unless_named():
    files = {"a.toy": "x", "old/b.toy": "y", "sub/old/c.toy": "z", "sub/d.toy": "w"}
    with written(files) as root:
        chosen = Settings(base=root, exclude=("/old/", "d.*"))
        assert run.read(["."], root, chosen).facts == ["x", "z"]
        assert run.read(["old/b.toy"], root, chosen).facts == ["y"]
        assert run.read(["old"], root, chosen).facts == ["y"]
