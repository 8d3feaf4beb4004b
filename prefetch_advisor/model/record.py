"""The decorator of the types that flow: frozen for the type checker, plain at run time.

A frozen dataclass sets each field through ``object.__setattr__``, which makes creating one three
times as slow; a large broker has some hundred thousand of them. mypy (strict, in CI) rejects every
assignment to a field, so nothing relies on the exception that freezing would raise.
"""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """A dataclass with slots whose fields are not to be assigned to."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
