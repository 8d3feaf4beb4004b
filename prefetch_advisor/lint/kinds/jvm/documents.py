"""Settings of a JVM application as documents: what holds always, and what for a profile only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.jvm import properties_text
from prefetch_advisor.lint.kinds.kind import Unparsable
from prefetch_advisor.lint.kinds.yaml_nodes import (
    Items,
    Node,
    Scalar,
    Table,
    again,
    integer,
    string,
)
from prefetch_advisor.model.lint import Located, Place

#: a prefix of SmallRye: %prod.key, %{prod,test}.key
_PREFIX = re.compile(r"%(?:\{([^}]*)\}|([^.]+))\.(.+)", re.DOTALL)
_BRACKETS = re.compile(r"\.?\[([^\]]*)\]")
_ACTIVATED = re.compile(
    r"spring\.(?:config\.activate\.on(?:profile|cloudplatform)|profiles)(?:\.[0-9]+)?"
)
_IMPORT = re.compile(r"spring\.config\.import|(?:smallrye|quarkus)\.config\.locations")
_DEEPEST = 8
#: no key that is looked for comes near it
_LONGEST = 1000


@dataclass(frozen=True, slots=True)
class Property:
    """A setting; ``text`` is ``None`` for what is no plain value."""

    key: str
    text: str | None
    place: Place


@dataclass(slots=True)
class Document:
    """Settings that hold together; later ones of the same key replace earlier ones."""

    #: the profiles that they need one of; empty: none
    profiles: frozenset[str] = frozenset()
    properties: list[Property] = field(default_factory=list)


def relaxed(key: str) -> str:
    """A key as Spring compares it: max-concurrency, maxConcurrency and MAX_CONCURRENCY are one."""
    if len(key) > _LONGEST:
        return key
    return _BRACKETS.sub(r".\1", key).replace("-", "").replace("_", "").lower()


def documents(file: SourceFile) -> list[Document]:
    """Its documents, the keys of SmallRye's profiles apart.

    Raises ``Unparsable`` and ``Templated`` for YAML that is none.
    """
    found = _of_properties(file) if file.path.endswith(".properties") else _of_yaml(file)
    return [part for document in found for part in _parts(document)]


def _of_properties(file: SourceFile) -> list[Document]:
    found = [Document()]
    for line in properties_text.settings(file.lines):
        if not line.key:
            found.append(Document())
            continue
        place = file.place(line.line, line.column)
        found[-1].properties.append(Property(line.key, line.value, place))
    return found


def _of_yaml(file: SourceFile) -> list[Document]:
    from prefetch_advisor.lint.kinds import yaml_text

    found = []
    for root in yaml_text.documents(file.text):
        twice = next(again(root), None)
        if twice is not None and isinstance(root, Table) and "spring" in root.entries:
            message = f"the key {twice.text!r} is there again, which Spring Boot refuses"
            raise Unparsable(message, twice.line, twice.column)
        found.append(Document(properties=list(_flat(file, "", root))))
    return found


def _flat(file: SourceFile, key: str, node: Node) -> Iterator[Property]:
    if isinstance(node, Table):
        for name, entry in node.entries.items():
            yield from _flat(file, f"{key}.{name}" if key else name, entry.value)
    elif isinstance(node, Items):
        for index, item in enumerate(node.items):
            yield from _flat(file, f"{key}[{index}]", item)
    elif isinstance(node, Scalar) and key:
        number = integer(node) if node.plain else None
        text = string(node) if number is None else str(number)
        yield Property(key, text, file.place(node.line, node.column))


def _parts(document: Document) -> Iterator[Document]:
    """The document without SmallRye's prefixed keys, and one for each of their prefixes."""
    own = Document(_profiles(document))
    prefixed: dict[frozenset[str], Document] = {}
    for each in document.properties:
        prefix = _PREFIX.fullmatch(each.key) if each.key.startswith("%") else None
        if prefix is None:
            own.properties.append(each)
            continue
        names = _names(prefix[1] or prefix[2])
        part = prefixed.setdefault(names, Document(names))
        part.properties.append(replace(each, key=prefix[3]))
    yield own
    yield from prefixed.values()


def _profiles(document: Document) -> frozenset[str]:
    return frozenset(
        name
        for each in document.properties
        if _ACTIVATED.fullmatch(relaxed(each.key))
        for name in _names(each.text or "?")
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in re.split(r"[,|]", text) if name.strip())


class Settings:
    """The settings in force for one profile, or for none."""

    def __init__(self, documents: Iterable[Document], profile: str | None = None) -> None:
        self.profile = profile
        self.exact: dict[str, Property] = {}
        for each in documents:
            if not each.profiles or profile in each.profiles:
                self.exact.update((one.key, one) for one in each.properties)
        self.relaxed: Mapping[str, Property] = {
            relaxed(key): one for key, one in self.exact.items()
        }
        #: a file that is read besides, and not here, may say otherwise
        self.imports = any(map(_IMPORT.match, self.relaxed))

    def text(self, one: Property | None) -> Located[str] | None:
        """Its value with placeholders resolved; ``None``: not set, or not to be known here."""
        if one is None or one.text is None:
            return None
        found = self._resolved(one.text, 0)
        if found is None:
            return None
        text, origin = found
        return Located(text, one.place, origin, certain=not origin and not self.imports)

    def _resolved(self, text: str, depth: int) -> tuple[str, str] | None:
        """The value, and what it is the default of."""
        if "#{" in text or depth > _DEEPEST:
            return None
        if "${" not in text:
            return text, ""
        if not (text.startswith("${") and text.endswith("}")) or _closed_at(text) != len(text) - 1:
            return None
        name, colon, default = text[2:-1].partition(":")
        known = self.relaxed.get(relaxed(name))
        if known is not None and known.text is not None:
            return self._resolved(known.text, depth + 1)
        found = self._resolved(default, depth + 1) if colon and known is None else None
        return None if found is None else (found[0], f"the default of ${{{name}}}")


def _closed_at(text: str) -> int:
    """Where the brace that the text begins with is closed; -1: nowhere."""
    depth = 0
    for index, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == "}" and depth == 0:
            return index
    return -1


def number(located: Located[str] | None) -> Located[int] | None:
    """The whole number that stands there."""
    if located is None or not re.fullmatch(r"[-+]?(?:0|[1-9][0-9]{0,18})", located.value.strip()):
        return None
    return Located(int(located.value), located.place, located.origin, located.certain)
