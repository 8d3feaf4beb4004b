"""Python source that consumes messages: parsed and followed, never imported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Kind, Skipped

#: many files are searched for these, so plain bytes
_LIBRARIES = (
    *(b"pika", b"kombu", b"aiormq", b"amqpstorm", b"faststream", b"dramatiq", b"import amqp"),
    *(b"basic_qos", b"basic_consume", b"basic_get"),
)
_SUFFIXES = frozenset({".py", ".pyw", ".ipynb"})


def _named(path: PurePosixPath) -> bool:
    return path.suffix in _SUFFIXES and not _of_tests(path)


def _of_tests(path: PurePosixPath) -> bool:
    """Whether a file is part of tests: what it says is not what runs."""
    return path.name.startswith(("test_", "conftest")) or "tests" in path.parts[:-1]


def _read(file: SourceFile) -> Iterator[object]:
    from prefetch_advisor.lint.python import parse, roots

    if not roots.concerns(file.text):
        return
    from prefetch_advisor.lint.python import notebook
    from prefetch_advisor.lint.python.gathered import facts_of
    from prefetch_advisor.lint.python.module import Module
    from prefetch_advisor.lint.source.consumers import consumers

    notebooks = file.location.suffix == ".ipynb"
    tree = notebook.tree_of_notebook(file) if notebooks else parse.parsed(file)
    if isinstance(tree, Skipped):
        yield tree
    else:
        facts = facts_of(Module(file, tree))
        yield from facts
        yield from consumers(facts)


KIND = Kind(
    name="Python",
    named=_named,
    holds=lambda data: any(word in data for word in _LIBRARIES),
    read=_read,
)
