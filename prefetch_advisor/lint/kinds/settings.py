"""Files that hold settings of this program, for the queues and buffers that they declare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Kind
from prefetch_advisor.lint.settings_file import MARK, NAMES, OWN_NAME


def read(file: SourceFile) -> Iterator[object]:
    """The queues and buffers declared, and a finding for each setting that means nothing.

    Raises:
        Unparsable: the file is no TOML or INI.
    """
    # here: the walk of a tree needs neither
    from prefetch_advisor.lint import settings_file
    from prefetch_advisor.lint.declared.reading import declared

    said = settings_file.parse(file)
    if said is not None:
        yield from declared(said)


def _is(name: str) -> Callable[[PurePosixPath], bool]:
    return lambda path: path.name == name


def _has_mark(data: bytes) -> bool:
    return MARK in data


SETTINGS = tuple(
    Kind(
        name="TOML" if name.endswith(".toml") else "INI",
        named=_is(name),
        # a file of our own name is ours, whatever it holds
        holds=bool if name == OWN_NAME else _has_mark,
        read=read,
        comment="#" if name.endswith(".toml") else "# ;",
    )
    for name in NAMES
)
