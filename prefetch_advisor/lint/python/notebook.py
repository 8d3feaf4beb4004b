"""Code cells of a notebook as one syntax tree, with the lines of the notebook's file."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Unparsable
from prefetch_advisor.lint.python.parse import tree_of

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)
#: lines of IPython's own: commands of the shell, magic commands, questions
_MAGIC = re.compile(r"^\s*[%!?]|^[^#'\"]*\?{1,2}\s*$")


@dataclass(slots=True)
class _Line:
    text: str
    #: in the file
    line: int
    column: int


def tree_of_notebook(file: SourceFile) -> ast.Module:
    """The code of all cells that are Python, in order.

    Raises:
        Unparsable: the file is no notebook.
    """
    try:
        document = json.loads(file.text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        reason = getattr(error, "msg", "nested too deeply")
        raise Unparsable(reason, line, getattr(error, "colno", 1)) from None
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list):
        raise Unparsable("expected a list of cells, found none")
    kinds = [cell.get("cell_type") if isinstance(cell, dict) else None for cell in cells]
    body: list[ast.stmt] = []
    for number, lines in _sources(file):
        if number < len(kinds) and kinds[number] == "code":
            body += _statements(lines)
    return ast.Module(body, [])


def _statements(lines: list[_Line]) -> list[ast.stmt]:
    """Of a cell; none for one that is not Python, or does not hold together."""
    if lines and lines[0].text.lstrip().startswith("%%"):
        return []
    text = "\n".join(_without_magic(line.text) for line in lines)
    try:
        tree = tree_of(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt | ast.excepthandler | ast.keyword | ast.arg):
            at = lines[min(node.lineno, len(lines)) - 1]
            end = lines[min(node.end_lineno or node.lineno, len(lines)) - 1]
            node.lineno, node.end_lineno = at.line, end.line
            node.col_offset += at.column
    return tree.body


def _without_magic(line: str) -> str:
    if not _MAGIC.match(line):
        return line
    return f"{line[: len(line) - len(line.lstrip())]}pass"


def _sources(file: SourceFile) -> Iterator[tuple[int, list[_Line]]]:
    """Number of each cell, with the lines of its source: one string, or a list of them."""
    path: list[object] = []
    key = ""
    lines: list[_Line] = []
    for token in _TOKEN.finditer(file.text):
        mark = token[0]
        if mark in "{[":
            path.append(0 if mark == "[" else "")
        elif mark in "}]":
            if _is_source(path[:-1]) or (path and _is_source(path)):
                yield _cell(path), lines
                lines = []
            del path[-1:]
        elif mark == ",":
            if path and isinstance(path[-1], int):
                path[-1] += 1
        elif mark == ":":
            if path:
                path[-1] = key
        else:
            text = json.loads(mark, strict=False)
            if path and isinstance(path[-1], str):
                if _is_source(path):
                    lines = _lines(file, token.start(), text)
                key = text
            elif _is_source(path[:-1]):
                lines += _lines(file, token.start(), text)


def _is_source(path: list[object]) -> bool:
    return len(path) == 3 and path[0] == "cells" and path[2] == "source"


def _cell(path: list[object]) -> int:
    return path[1] if isinstance(path[1], int) else 0


def _lines(file: SourceFile, start: int, text: str) -> list[_Line]:
    place = file.place_at(start)
    return [_Line(line, place.line, place.column) for line in text.removesuffix("\n").split("\n")]
