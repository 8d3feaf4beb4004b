"""Python files that configure Celery or send its tasks: parsed, never imported."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.celery import names
from prefetch_advisor.lint.kinds.celery.facts import Form, PythonFile
from prefetch_advisor.lint.kinds.celery.python_calls import Calls
from prefetch_advisor.lint.kinds.celery.python_file import Source
from prefetch_advisor.lint.kinds.celery.values import constants
from prefetch_advisor.lint.kinds.kind import Kind, Skipped

_WORTH = re.compile(rb"(?i:celery|dramatiq_)|worker_prefetch|task_acks_late|apply_async|broker_url")


def _named(path: PurePosixPath) -> bool:
    return path.suffix == ".py" and not of_tests(path)


def of_tests(path: PurePosixPath) -> bool:
    """Whether a file is part of tests: what it says is not what runs."""
    return path.name.startswith(("test_", "conftest")) or "tests" in path.parts[:-1]


def _read(file: SourceFile) -> Iterator[object]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its string escapes
            tree = ast.parse(file.text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        # a template, Python 2, or newer than the Python that runs this: none of them is wrong
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        line = (error.lineno or 1) if isinstance(error, SyntaxError) else 1
        yield Skipped(file.place(line), f"not the Python that this Python reads: {reason}")
        return
    source = Source(file, tree)
    yield PythonFile(file.path)
    yield from _assigned(source, tree.body, Form.MODULE, "")
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from _assigned(source, node.body, Form.CLASS, node.name)
    yield from Calls(source).facts()


def _assigned(source: Source, body: Iterable[ast.stmt], form: Form, scope: str) -> Iterator[object]:
    """Settings among the names that a module or a class sets."""
    body = list(body)
    found = constants(body)
    if not any(names.distinctive(name) for name in found) and not (
        source.celery and form is Form.MODULE
    ):
        return
    values = source.values.inside(found) if form is Form.CLASS else source.values
    places = _where(body)
    for name, value in found.items():
        if names.interesting(name):
            yield from source.said(name, places.get(name, source.tree), value, form, scope, values)


def _where(body: Iterable[ast.stmt]) -> dict[str, ast.AST]:
    """The last statement that sets each name."""
    return {
        name: found
        for statement in body
        for node in ast.walk(statement)
        for name, found in _set_by(node)
    }


def _set_by(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
        yield node.id, node
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield (alias.asname or alias.name).partition(".")[0], node


KIND = Kind(
    name="Python that configures Celery",
    named=_named,
    holds=lambda data: _WORTH.search(data) is not None,
    read=_read,
)
