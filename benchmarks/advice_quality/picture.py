"""Draws docs/advice-quality.svg from the raw points: what each prefetch reaches and makes wait."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).parent)]

from table import ROOT, Result, complete

_ROW, _TOP, _NAME, _WIDE, _GAP = 17, 62, 262, 300, 46
#: seconds at the ends of the scale of waiting
_FROM, _TO = 1e-4, 10.0
#: named, prefetch, colour (that colour-blind people tell apart), radius
_MARKS = (
    ("prefetch 1", "1", "#999999", 3.0),
    ("10", "10", "#56b4e9", 3.0),
    ("100", "100", "#0072b2", 3.0),
    ("250", "250", "#cc79a7", 3.0),
    ("rule with ping", "rule", "#e69f00", 3.6),
    ("advised", "advised", "#000000", 4.2),
)


def drawn(measured: list[Result]) -> str:
    """The picture as SVG."""
    height = _TOP + _ROW * len(measured) + 24
    width = _NAME + 2 * _WIDE + _GAP + 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_head(),
    ]
    for row, result in enumerate(measured):
        lines += _row(result, _TOP + _ROW * row + _ROW // 2)
    lines += _axes(height - 18)
    return "\n".join([*lines, "</svg>", ""])


def _head() -> Iterator[str]:
    x = _NAME
    for name, _, colour, radius in _MARKS:
        yield f'<circle cx="{x}" cy="16" r="{radius}" fill="{colour}"/>'
        yield _text(x + 8, 20, name)
        x += 22 + 7 * len(name)
    yield _text(_NAME, 44, "throughput, share of the best", bold=True)
    yield _text(_NAME + _WIDE + _GAP, 44, "wait of the last prefetched message", bold=True)


def _text(x: float, y: float, text: str, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'


def _row(result: Result, y: float) -> Iterator[str]:
    cell = result.cell
    varies = "lognormal CV 3" if cell.shape == "lognormal" else cell.shape
    name = f"{cell.processing:g} ms {varies}, +{cell.delay:g} ms, {cell.queue_type}, {cell.style}"
    yield _text(_NAME - 10, y + 4, name, "end")
    for start in (_NAME, _NAME + _WIDE + _GAP):
        yield f'<path d="M{start} {y}h{_WIDE}" stroke="#dddddd"/>'
    for _, which, colour, radius in _MARKS:
        prefetch = {"advised": result.advised, "rule": result.ruled}.get(which) or int(which)
        for x in (_share(result.share(prefetch)), _wait(result.buffered(prefetch))):
            yield f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" fill="{colour}"/>'


def _share(share: float) -> float:
    return _NAME + _WIDE * min(1.0, share)


def _wait(seconds: float) -> float:
    place = math.log(max(_FROM, min(_TO, seconds)) / _FROM) / math.log(_TO / _FROM)
    return _NAME + _WIDE + _GAP + _WIDE * place


def _axes(y: float) -> Iterator[str]:
    top = _TOP - 8
    for percent in (0, 25, 50, 75, 97):
        x = _share(percent / 100)
        dash = "" if percent == 97 else ' stroke-dasharray="2 3"'
        yield f'<path d="M{x:.1f} {top}V{y - 6}" stroke="#888888"{dash}/>'
        yield _text(x, y + 6, f"{percent} %", "middle")
    for seconds, name in ((1e-4, "none"), (1e-3, "1 ms"), (1e-2, "10 ms"), (0.1, "0.1 s")):
        yield from _tick(seconds, name, top, y)
    yield from _tick(1.0, "1 s", top, y)
    yield from _tick(10.0, "10 s", top, y)


def _tick(seconds: float, name: str, top: float, y: float) -> Iterator[str]:
    x = _wait(seconds)
    yield f'<path d="M{x:.1f} {top}V{y - 6}" stroke="#888888" stroke-dasharray="2 3"/>'
    yield _text(x, y + 6, name, "middle")


if __name__ == "__main__":
    (ROOT / "docs/advice-quality.svg").write_text(drawn(complete()))
