"""A page as a tree of elements, in which a text is only ever a text."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

from prefetch_advisor.reports.escape import legible

Child = Element | str | None


def element(tag: str, *children: Child, **attributes: str | float | None) -> Element:
    """An element; ``class_`` and ``for_`` lose their underscore, others become a hyphen.

    An attribute or a child that is ``None`` is left out. Nothing invisible stays in a text.
    """
    made = Element(tag)
    for name, value in attributes.items():
        if value is not None:
            text = f"{value:.6g}" if isinstance(value, float) else str(value)
            made.set(name.rstrip("_").replace("_", "-"), legible(text))
    return extended(made, children)


def extended(made: Element, children: Iterable[Child]) -> Element:
    """The same element, with these behind what it holds."""
    for child in children:
        if child is None:
            continue
        if isinstance(child, Element):
            made.append(child)
            continue
        text = legible(child)
        if len(made):
            made[-1].tail = (made[-1].tail or "") + text
        else:
            made.text = (made.text or "") + text
    return made


def page(title: str, style: str, body: Iterable[Child]) -> str:
    """The whole document; it fetches nothing and runs nothing, and says so to the browser."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content="default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        ),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
    )
    sheet = Element("style")
    sheet.text = style  # of this package: the only text that is not a text
    head.append(sheet)
    root = element("html", head, extended(element("body"), body), lang="en")
    return f"<!DOCTYPE html>\n{tostring(root, encoding='unicode', method='html')}\n"
