"""Python text as a syntax tree, whatever is in the file: or the reason why there is none."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Skipped


def tree_of(text: str, first_line: int = 1) -> ast.Module:
    """The tree of a text; ``await`` may stand outside of functions, as it does in notebooks.

    Raises:
        SyntaxError: it is not the Python that this Python reads.
        ValueError: it holds what no Python does.
        RecursionError, MemoryError: it is nested too deeply.
    """
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its string escapes
        tree = compile(text, "<file>", "exec", flags, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    return ast.increment_lineno(tree, first_line - 1) if first_line > 1 else tree


@lru_cache(maxsize=1)
def parsed(file: SourceFile) -> ast.Module | Skipped:
    """The tree of a file; kept for the next kind that asks, so nobody changes it.

    Python 2, templates, and what is newer than the Python that runs this are none of them wrong.
    """
    try:
        return tree_of(file.text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Skipped(
            file.place(_line(error)), f"not the Python that this one reads: {_why(error)}"
        )


def _line(error: Exception) -> int:
    return max(1, error.lineno or 1) if isinstance(error, SyntaxError) else 1


def _why(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return error.msg or "a syntax error"
    return str(error) or "nested too deeply"
