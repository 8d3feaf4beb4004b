"""Python files that configure Celery or send its tasks: parsed, never imported."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.celery import names
from prefetch_advisor.lint.kinds.celery.facts import Form, PythonFile
from prefetch_advisor.lint.kinds.celery.python_calls import Calls
from prefetch_advisor.lint.kinds.celery.python_file import Source
from prefetch_advisor.lint.kinds.celery.values import constants, last_name
from prefetch_advisor.lint.kinds.kind import Kind, Skipped
from prefetch_advisor.lint.python.parse import parsed

#: many files are searched for these, so plain bytes: a pattern takes ten times as long
_WORTH = (
    *(b"celery", b"Celery", b"CELERY", b"worker_prefetch", b"task_acks_late"),
    *(b"apply_async", b"broker_url", b"dramatiq_", b"DRAMATIQ_"),
)


def _named(path: PurePosixPath) -> bool:
    return path.suffix == ".py" and not of_tests(path)


def of_tests(path: PurePosixPath) -> bool:
    """Whether a file is part of tests: what it says is not what runs."""
    return path.name.startswith(("test_", "conftest")) or "tests" in path.parts[:-1]


def _read(file: SourceFile) -> Iterator[object]:
    tree = parsed(file)
    if isinstance(tree, Skipped):
        yield tree
        return
    source = Source(file, tree)
    yield PythonFile(file.path)
    yield from _assigned(source, source.constants, tree.body, Form.MODULE, "")
    for node in source.nodes:
        # what stands in a class of pydantic's is a default, the environment may tell otherwise
        if isinstance(node, ast.ClassDef) and not any(
            last_name(base) == "BaseSettings" for base in node.bases
        ):
            yield from _assigned(source, constants(node.body), node.body, Form.CLASS, node.name)
    yield from Calls(source).facts()


def _assigned(
    source: Source,
    found: Mapping[str, ast.expr | None],
    body: Iterable[ast.stmt],
    form: Form,
    scope: str,
) -> Iterator[object]:
    """Settings among the names that a module or a class sets."""
    if not any(names.distinctive(name) for name in found) and not (
        source.celery and form is Form.MODULE
    ):
        return
    wanted = [name for name in found if names.interesting(name)]
    if not wanted:
        return
    values = source.values.inside(found) if form is Form.CLASS else source.values
    places = _where(body)
    for name in wanted:
        node = places.get(name, source.tree)
        yield from source.said(name, node, found[name], form, scope, values)


def _where(body: Iterable[ast.stmt]) -> dict[str, ast.AST]:
    """The last statement that sets each name."""
    return {
        name: found
        for statement in body
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
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
    holds=lambda data: any(word in data for word in _WORTH),
    read=_read,
)
