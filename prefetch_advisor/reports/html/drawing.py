"""SVG pictures: curves, levels over time, timelines. Numbers in, elements out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from prefetch_advisor import units
from prefetch_advisor.reports.html.elements import element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from prefetch_advisor.reports.timelines import Span

#: in user units; a picture is as wide as its place
_WIDTH = 400.0
_LEFT, _RIGHT = 58.0, 10.0
_LINE = 15.0
#: a text takes about so much for each character
_CHARACTER = 6.4
_ROW, _ROW_GAP = 18.0, 6.0

Scale = Callable[[float], float]


class Mark(NamedTuple):
    """A prefetch that is pointed out: ``kind`` is its class (advised, now, rule)."""

    kind: str
    prefetch: int


class Line(NamedTuple):
    """Values against prefetch: the title, the values as (prefetch, value), and how to print one."""

    title: str
    points: Sequence[tuple[int, float]]
    shown: Callable[[float], str]
    #: of the axis; ``None``: the largest value
    top: float | None
    style: str = "curve"


def curves(lines: Sequence[Line], marks: Sequence[Mark], what: str) -> Element:
    """Lines above each other over one logarithmic axis of prefetch values, with marks across."""
    values = [prefetch for line in lines for prefetch, _ in line.points]
    scale = _logarithmic(min(values), max(max(values), min(values) + 1))
    marks = sorted(set(marks), key=lambda mark: (mark.prefetch, mark.kind))
    head = _LINE * len(marks) + 4
    each, gap = 110.0, 26.0
    height = head + (each + gap) * len(lines) + 14
    parts: list[Element] = []
    for number, line in enumerate(lines):
        top = head + number * (each + gap) + 14
        parts += _plot(line, scale, top, each)
    bottom = head + (len(lines) - 1) * (each + gap) + 14 + each
    parts += _ticks(scale, min(values), max(values), bottom)
    for row, mark in enumerate(marks):
        parts += _marked(mark, scale(mark.prefetch), (row + 1) * _LINE - 3, bottom)
    return _svg(height + 8, what, parts)


def _plot(line: Line, scale: Scale, top: float, height: float) -> list[Element]:
    most = line.top if line.top is not None else max((value for _, value in line.points), default=0)
    most = most or 1.0
    y = _linear(0.0, most, top + height, top)
    path = " ".join(
        f"{'M' if not place else 'L'}{scale(prefetch):.1f} {y(min(value, most)):.1f}"
        for place, (prefetch, value) in enumerate(line.points)
    )
    return [
        _text(_WIDTH - _RIGHT, top - 4, line.title, "end"),
        *(_text(_LEFT - 4, y(value) + 4, line.shown(value), "end") for value in (0.0, most)),
        element("path", class_="axis", d=f"M{_LEFT} {top}V{top + height}H{_WIDTH - _RIGHT}"),
        element("path", class_=line.style, d=path),
    ]


def _ticks(scale: Scale, least: int, most: int, bottom: float) -> list[Element]:
    found, taken = [], -math.inf
    for power in range(6):
        for digit in (1, 2, 5):
            value = digit * 10**power
            if not least <= value <= most:
                continue
            label = f"{value:,}"
            at, half = scale(value), _CHARACTER * len(label) / 2
            if at - half > taken + 6:
                found.append(_text(at, bottom + 14, label, "middle"))
                taken = at + half
    found.append(_text(_WIDTH - _RIGHT, bottom + 28, "prefetch", "end"))
    return found


def _marked(mark: Mark, x: float, y: float, bottom: float) -> list[Element]:
    label = f"{mark.kind} {mark.prefetch:,}"
    right = x + 4 + _CHARACTER * len(label) > _WIDTH - _RIGHT
    return [
        element("path", class_=f"mark {mark.kind}", d=f"M{x:.1f} {y + 2:.1f}V{bottom:.1f}"),
        _text(x - 4 if right else x + 4, y, label, "end" if right else "start", mark.kind),
    ]


def levels(samples: Sequence[tuple[float, int]], limit: int | None) -> Element:
    """Unacked messages over time, as (seconds, messages), with the limit across."""
    first, last = samples[0][0], samples[-1][0]
    most = max(1, limit or 0, *(value for _, value in samples))
    top, bottom = 22.0, 142.0
    x = _linear(first, max(last, first + 1e-9), _LEFT, _WIDTH - _RIGHT)
    y = _linear(0.0, most * 1.05, bottom, top)
    path = " ".join(
        f"{'M' if not place else 'L'}{x(at):.1f} {y(value):.1f}"
        for place, (at, value) in enumerate(samples)
    )
    parts = [
        _text(_LEFT, top - 8, "unacked messages"),
        element("path", class_="axis", d=f"M{_LEFT} {top}V{bottom}H{_WIDTH - _RIGHT}"),
        element("path", class_="area", d=f"{path} V{bottom} H{x(first):.1f} Z"),
        element("path", class_="curve", d=path),
        _text(_LEFT - 4, bottom, "0", "end"),
        _text(_LEFT, bottom + 14, f"{units.duration(last - first)} ago"),
        _text(_WIDTH - _RIGHT, bottom + 14, "now", "end"),
    ]
    shown = most if limit is None else limit
    parts.append(_text(_LEFT - 4, y(shown) + 4, units.number(shown), "end"))
    if limit is not None:
        at = y(limit)
        parts.append(element("path", class_="mark rule", d=f"M{_LEFT} {at:.1f}H{_WIDTH - _RIGHT}"))
        parts.append(_text(_WIDTH - _RIGHT, top - 8, f"- - limit {limit:,}", "end", "rule"))
    return _svg(bottom + 20, "unacked messages over time", parts)


def timeline(rows: Sequence[tuple[str, Sequence[Span]]], end: float) -> Element:
    """A row for each consumer: when it worked, waited for a delivery, had nothing to do."""
    x = _linear(0.0, end or 1.0, _LEFT, _WIDTH - _RIGHT)
    parts: list[Element] = []
    for number, (name, spans) in enumerate(rows):
        top = number * (_ROW + _ROW_GAP) + 2
        parts.append(_text(_LEFT - 6, top + 13, name, "end"))
        for span in spans:
            width = max(0.4, x(span.end) - x(span.start))
            # without colour too: waiting is half as high, idle a line
            height = {"busy": _ROW, "wait": _ROW / 2}.get(span.kind, 2.0)
            parts.append(
                element(
                    "rect",
                    class_=span.kind,
                    x=round(x(span.start), 2),
                    y=top + _ROW - height,
                    width=round(max(0.2, width - 0.3), 2),
                    height=height,
                )
            )
    bottom = len(rows) * (_ROW + _ROW_GAP) + 14
    parts.append(_text(_LEFT, bottom, "0"))
    parts.append(_text(_WIDTH - _RIGHT, bottom, units.duration(end), "end"))
    return _svg(bottom + 6, "what each consumer does when", parts)


def _svg(height: float, what: str, parts: Iterable[Element]) -> Element:
    return element(
        "svg",
        element("title", what),
        *parts,
        viewBox=f"0 0 {_WIDTH:g} {height:g}",
        role="img",
        xmlns="http://www.w3.org/2000/svg",
    )


def _text(
    x: float, y: float, text: str, anchor: str = "start", class_: str | None = None
) -> Element:
    return element("text", text, x=round(x, 1), y=round(y, 1), text_anchor=anchor, class_=class_)


def _linear(least: float, most: float, start: float, end: float) -> Scale:
    return lambda value: start + (value - least) / (most - least) * (end - start)


def _logarithmic(least: int, most: int) -> Scale:
    inner = _linear(math.log(least), math.log(most), _LEFT + 6, _WIDTH - _RIGHT - 6)
    return lambda value: inner(math.log(value))
