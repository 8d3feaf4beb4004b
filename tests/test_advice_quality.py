"""The proof: its tables and its picture are made of the raw points that lie beside it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import pytest
from conftest import ROOT

from prefetch_advisor.sizing import NotSized, rule_prefetch

HOME = ROOT / "benchmarks/advice_quality"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(HOME)
    import table

    yield table
    for name in ("table", "cells", "picture", "delay", "measure"):
        sys.modules.pop(name, None)


def between(text: str, name: str) -> str:
    return text.split(f"<!-- {name} -->\n")[1].split("<!-- end -->")[0].strip()


def test_the_tables_are_what_the_raw_points_say(made):
    blocks = made.blocks()
    readme, told = ((ROOT / name).read_text() for name in ("README.md", "docs/advice-quality.md"))
    assert between(readme, "advice-quality") == blocks["advice-quality"]
    for name, block in blocks.items():
        assert between(told, name) == block


def test_every_cell_is_there_with_all_of_its_points(made):
    assert len(made.CELLS) == len({cell.name for cell in made.CELLS}) == 24
    for field, values in {
        "shape": {"constant", "exponential", "lognormal"},
        "processing": {0.2, 1, 5, 20},
        "delay": {0, 0.5, 2.5, 10},
        "queue_type": {"classic", "quorum"},
        "style": {"blocking", "threads", "loop"},
    }.items():
        assert {getattr(cell, field) for cell in made.CELLS} == values
    for cell in made.CELLS:
        points = [json.loads(line) for line in cell.file.read_text().splitlines()]
        assert all(p["messages"] >= 2_000 for p in points if p["what"] == "point")
    assert len(made.results()) == 24


def test_a_cell_that_lacks_a_repeat_is_no_result(made, monkeypatch, tmp_path):
    cell = made.complete()[0].cell
    monkeypatch.setattr(made.results, "__defaults__", ((cell,),))
    lines = cell.file.read_text().splitlines(keepends=True)
    monkeypatch.setattr("cells.POINTS", tmp_path)
    with pytest.raises(ValueError, match="not measured"):
        made.results()
    cell.file.write_text("".join(lines[:-1]))
    with pytest.raises(ValueError, match="2 of 3 at prefetch"):
        made.results()


def test_what_misses_is_told_with_its_reason(made):
    reasons = json.loads((HOME / "reasons.json").read_text())
    missed = {r.cell.name for r in made.complete() if not (r.reaches and r.small)}
    assert missed <= set(reasons)


def test_the_picture_is_what_the_raw_points_say(made):
    import picture

    assert (ROOT / "docs/advice-quality.svg").read_text() == picture.drawn(made.complete())


def test_the_advice_is_what_is_advised_today(made):
    """The model may have changed since: then the cells have to be measured again."""
    from prefetch_advisor.feeding import Handling
    from prefetch_advisor.model.figures import FigureSource, RoundTrip
    from prefetch_advisor.simulate import Consumers, Plan, Setting, Work, advise_for

    for result in made.complete():
        values = [value / 1e6 for value in result.advice["recorded_us"]]
        mean = sum(values) / len(values)
        cell = result.cell
        handling = Handling(cell.workers, "loop" if cell.style == "loop" else "workers")
        trip = RoundTrip(result.advice["rtt"], FigureSource.GIVEN, "probe")
        work = Work(mean, 0.0, "recorded", values)
        consumers = replace(Consumers(handling), rtt=trip)
        advice = advise_for(Plan(work, None, consumers, (Setting(1, 1),)))
        assert not isinstance(advice, NotSized)
        # the recorder's file rounds to microseconds
        assert advice.prefetch == pytest.approx(result.advised, abs=1, rel=0.02), cell.name
        ruled = rule_prefetch(mean, result.advice["ping"], cell.workers)
        assert ruled == pytest.approx(result.ruled, abs=1)


def test_the_scripts_name_their_cells(made):
    done = subprocess.run(
        [sys.executable, str(HOME / "measure.py"), "--list"],
        capture_output=True,
        text=True,
        check=True,
    )
    named = done.stdout.split()
    assert named == [cell.name for cell in (*made.CELLS, *made.BESIDE)]
