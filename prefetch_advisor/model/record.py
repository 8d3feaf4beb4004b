"""The decorator of the types that flow: frozen for the type checker, plain at run time.

A frozen dataclass sets each field through ``object.__setattr__``, which makes creating one three
times as slow; a large broker has some hundred thousand of them. mypy (strict, in CI) rejects every
assignment to a field, so nothing relies on the exception that freezing would raise.

dataclass would also compile ``==``, ``hash`` and ``repr`` for each class, which took most of the
time to import them; here all share one of each.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """A dataclass with slots whose fields are not to be assigned to."""
    made = dataclass(slots=True, eq=False, repr=False)(cls)
    for name, method in (("__eq__", _equal), ("__hash__", _hash), ("__repr__", _shown)):
        if name not in cls.__dict__:  # a class may bring its own
            setattr(made, name, method)
    return made


@cache
def _compared(cls: type[Any]) -> Callable[[object], object]:
    """The values that count for ``==``."""
    return attrgetter(*(field.name for field in fields(cls) if field.compare))


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    values = _compared(self.__class__)
    return values(self) == values(other)


def _hash(self: Any) -> int:
    return hash(_compared(self.__class__)(self))


def _shown(self: Any) -> str:
    shown = [field.name for field in fields(self) if field.repr]
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{self.__class__.__qualname__}({values})"
