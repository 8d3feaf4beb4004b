"""Records are dataclasses that share ``==``, ``hash`` and ``repr`` instead of compiling them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, fields, replace
from typing import Any

from prefetch_advisor.model.record import record


@record
class Depth:
    ready: int
    unacked: int = 0
    secret: str = field(default="", repr=False)
    note: list[int] = field(default_factory=list, compare=False)


@record
class Other:
    ready: int
    unacked: int = 0
    secret: str = ""


@record
class Named:
    name: str

    def __repr__(self) -> str:
        return "a name"


@dataclass(slots=True, unsafe_hash=True)
class Plain:
    ready: int
    unacked: int = 0
    secret: str = field(default="", repr=False)
    note: list[int] = field(default_factory=list, compare=False)


def test_what_counts_is_what_a_dataclass_compares() -> None:
    assert Depth(1, 2) == Depth(1, 2, note=[3])
    assert Depth(1, 2) != Depth(1, 3)
    assert Depth(1, 2, "a") != Depth(1, 2, "b")
    assert Depth(1, 2) != Other(1, 2)
    assert hash(Depth(1, 2)) == hash(Depth(1, 2, note=[3])) == hash(Plain(1, 2))
    assert len({Depth(1, 2), Depth(1, 2), Depth(2, 1)}) == 2
    assert Named("a") == Named("a") != Named("b")


def test_it_shows_itself_as_a_dataclass_does() -> None:
    assert repr(Depth(1, 2, "hidden")) == repr(Plain(1, 2, "hidden")).replace("Plain", "Depth")
    assert "hidden" not in repr(Depth(1, 2, "hidden"))
    assert repr(Named("x")) == "a name"


def test_it_is_copied_changed_and_pickled_like_one() -> None:
    one: Any = Depth(1, 2, "x", [3])
    assert [f.name for f in fields(one)] == ["ready", "unacked", "secret", "note"]
    assert replace(one, ready=5) == Depth(5, 2, "x")
    for other in (copy.copy(one), pickle.loads(pickle.dumps(one))):
        assert other == one
        assert other.note == [3]
        assert other is not one
