"""What decorators make of a function: a function of the program around it, or nobody knows what."""

from __future__ import annotations

import ast
from dataclasses import replace

from prefetch_advisor.lint.python.machine import Frame, Machine
from prefetch_advisor.lint.python.values import (
    Arguments,
    Class,
    Code,
    Func,
    Instance,
    Key,
    Partial,
    Value,
)

_MANAGERS = frozenset({"contextmanager", "asynccontextmanager"})
#: those that leave what a function does as it is, or whose meaning is known elsewhere
PLAIN = _MANAGERS | frozenset(
    {
        *("staticmethod", "classmethod", "property", "cached_property", "wraps", "lru_cache"),
        *("cache", "abstractmethod", "override", "overload", "final", "setter", "getter"),
        *("coroutine", "inlineCallbacks", "deprecated", "no_type_check", "njit"),
    }
)
_KNOWN = PLAIN | {"subscriber"}


def name_of(node: ast.expr) -> str:
    """The last part of the name of a decorator."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def manages(code: Code) -> bool:
    """Whether a function is a context manager: half of it runs after what it is called for."""
    return not isinstance(code, ast.Lambda) and any(
        name_of(each) in _MANAGERS for each in code.decorator_list
    )


def applied(m: Machine, func: Func, frame: Frame | None = None) -> Value:
    """What the name of a function stands for, its decorators considered."""
    code = func.node
    if isinstance(code, ast.Lambda) or all(name_of(e) in _KNOWN for e in code.decorator_list):
        return func
    key: Key = ("decorated", func.module.file.path, code.lineno, code.col_offset)
    plain = replace(func, instance=None)
    if frame is not None:
        made = _made(m, plain, frame)
    elif key in m.globals:
        made = m.globals[key]
    else:
        m.globals[key] = plain  # for one that is decorated by what calls it
        made = m.globals[key] = _made(m, plain, Frame(func.module, {}))
    if isinstance(made, Func) and made.node is code:
        return replace(func, wrapped=made.wrapped)
    return made if func.instance is None else Partial(made, Arguments([(func.instance, code)]))


def _made(m: Machine, func: Func, frame: Frame) -> Value:
    assert not isinstance(func.node, ast.Lambda)
    made: Value = func
    for node in reversed(func.node.decorator_list):
        if name_of(node) in _KNOWN:
            continue
        with m.quiet():
            decorator = m.evaluate(node, frame)
            if isinstance(decorator, Func | Partial | Class | Instance):
                made = m.call(decorator, Arguments([(made, node)]), node, frame)
            else:
                made = replace(func, wrapped=True)
        if not isinstance(made, Func):
            made = replace(func, wrapped=True)
    return made
