"""A Python file as an index: what its names are bound to, and where that stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

from prefetch_advisor.lint import reading
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.python.parse import parsed
from prefetch_advisor.model.lint import Place

_GLOBAL = re.compile(r"^[ \t]*global[ \t]+([\w, \t]+)", re.MULTILINE)
#: how far up a package is looked for
_UP = 8

Binding = (
    ast.expr
    | ast.AugAssign
    | ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.ClassDef
    | tuple[str, str, int]
)
Member = ast.FunctionDef | ast.AsyncFunctionDef | ast.expr


class Module:
    """A file, its tree and the names of its top level."""

    def __init__(self, file: SourceFile, tree: ast.Module) -> None:
        self.file = file
        self.tree = tree
        self.names: dict[str, list[Binding]] = {}
        #: functions and classes of the top level, in order
        self.definitions: list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef] = []
        for name, found in bindings(tree.body):
            self.names.setdefault(name, []).append(found)
            if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.definitions.append(found)
        self._members: dict[ast.ClassDef, dict[str, Member]] = {}
        self._ascii = file.text.isascii()
        self.is_notebook = file.location.suffix == ".ipynb"

    def place(self, node: ast.AST) -> Place:
        """Of a node; ``ast`` counts columns in bytes of UTF-8."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if self.is_notebook or self._ascii:
            return self.file.place(line, column + 1)
        text = self.file.lines[line - 1] if line <= len(self.file.lines) else ""
        before = text.encode("utf-8", "surrogatepass")[:column]
        return self.file.place(line, len(before.decode("utf-8", "ignore")) + 1)

    @cached_property
    def packages(self) -> frozenset[str]:
        """The packages it imports at its top level."""
        return frozenset(
            name[0].partition(".")[0] or name[1]
            for every in self.names.values()
            for name in every
            if isinstance(name, tuple) and not name[2]
        )

    @cached_property
    def set_by_functions(self) -> frozenset[str]:
        """Names that functions declare as global."""
        if "global" not in self.file.text:
            return frozenset()
        found = _GLOBAL.findall(self.file.text)
        return frozenset(name.strip() for names in found for name in names.split(","))

    def members(self, cls: ast.ClassDef) -> dict[str, Member]:
        """What a class binds in its body, by name."""
        if cls not in self._members:
            self._members[cls] = dict(_members(cls.body))
        return self._members[cls]

    def imported(self, name: str, level: int) -> Module | None:
        """The module of this package, or of one beside it, that an import names."""
        parts = [part for part in name.split(".") if part]
        folder = self.file.location.parent
        if level:
            for _ in range(level - 1):
                folder = folder.parent
            return self._at(folder, parts)
        for _ in range(_UP):
            if folder.joinpath(parts[0]).is_dir() or folder.joinpath(f"{parts[0]}.py").is_file():
                return self._at(folder, parts)
            if not folder.joinpath("__init__.py").is_file():
                return None  # it is no package: only what lies beside it can be meant
            folder = folder.parent
        return None

    def _at(self, folder: Path, parts: Sequence[str]) -> Module | None:
        base = folder.joinpath(*parts)
        candidates = [base / "__init__.py"]
        if parts:
            candidates.insert(0, base.with_name(f"{base.name}.py"))
        for location in candidates:
            if location.is_file() and location != self.file.location:
                found = _loaded(location, *_version(location))
                return found and found.printed_beside(self.file)
        return None

    def printed_beside(self, file: SourceFile) -> Module:
        """The same with the path that it is printed with where ``file`` is printed with its own."""
        try:
            up = file.location.parents
            common = next(p for p in up if self.file.location.is_relative_to(p))
        except StopIteration:
            return self
        own = self.file.location.relative_to(common).as_posix()
        depth = len(file.location.relative_to(common).parts)
        root = PurePosixPath(file.path).parts[:-depth]
        path = PurePosixPath(*root, own).as_posix()
        if path == self.file.path:
            return self
        return Module(SourceFile(path, self.file.text, self.file.location), self.tree)


def _members(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Member]]:
    for name, found in bindings(body):
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.expr):
            yield name, found


def _version(location: Path) -> tuple[int, int]:
    status = location.stat()
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=64)
def _loaded(location: Path, changed: int, size: int) -> Module | None:
    """The module in a file that another one imports; ``None``: it cannot be read."""
    del changed, size  # they are the key
    try:
        text = reading.decoded(reading.contents(location))
    except (OSError, reading.TooLarge):
        return None
    file = SourceFile(location.as_posix(), text, location)
    tree = parsed(file)
    return Module(file, tree) if isinstance(tree, ast.Module) else None


def bindings(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Binding]]:
    """Names that statements bind, those in branches included, with what they are bound to."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                yield alias.asname or whole, (whole, "", 0)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, (node.module or "", alias.name, node.level)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
        elif isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name) and node.value is not None:
                yield node.target.id, node.value
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                yield node.target.id, node
        else:
            for field in ("body", "orelse", "finalbody"):
                yield from bindings(getattr(node, field, ()))
            for handler in getattr(node, "handlers", ()):
                yield from bindings(handler.body)
