"""Sections and settings of an INI text (setup.cfg, as configparser reads it) with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Unparsable
from prefetch_advisor.model.lint import Place

_SECTION = re.compile(r"\[(.+)\]")
_SETTING = re.compile(r"([^=:\s][^=]*?|[^=:\s][^:]*?)\s*(?:(?<!:)=|:)\s*(.*)")
#: configparser takes it for part of the value; nobody means that
_OWN_COMMENT = re.compile(r"\s+[#;]\s*prefetch-advisor:.*")


@dataclass(slots=True)
class Setting:
    """A key and its text; what continues on further lines follows a newline."""

    key: str
    text: str
    key_place: Place
    value_place: Place


@dataclass(slots=True)
class Section:
    """A section by its name, in the order of the file."""

    name: str
    place: Place
    settings: dict[str, Setting] = field(default_factory=dict)


def sections(file: SourceFile, wanted: str) -> list[Section]:
    """The sections whose name is ``wanted``, or begins with it and a colon.

    Others are for other programs: nothing in them is an error here.

    Raises:
        Unparsable: a section or key that is there twice, a line that is no setting.
    """
    found: dict[str, Section] = {}
    section: Section | None = None
    setting: Setting | None = None
    for number, line in enumerate(file.lines, 1):
        bare = line.strip()
        if not bare or bare[0] in "#;":
            continue
        header = _SECTION.match(line)
        if header is not None:
            name, setting = header[1].strip(), None
            ours = name == wanted or name.startswith(f"{wanted}:")
            section = Section(name, file.place(number)) if ours else None
            if section is not None:
                if name in found:
                    raise Unparsable(f"expected the section [{name}] once, found it again", number)
                found[name] = section
        elif section is not None and line[0].isspace() and setting is not None:
            setting.text += "\n" + _OWN_COMMENT.sub("", bare)
        elif section is not None:
            setting = _setting(file, number, line)
            if setting.key in section.settings:
                raise Unparsable(f"expected {setting.key!r} once, found it again", number)
            section.settings[setting.key] = setting
    return list(found.values())


def _setting(file: SourceFile, number: int, line: str) -> Setting:
    indent = len(line) - len(line.lstrip())
    parts = _SETTING.fullmatch(line.strip())
    if parts is None:
        raise Unparsable("expected KEY = VALUE, found something else", number, indent + 1)
    text = _OWN_COMMENT.sub("", f" {parts[2]}").strip()
    value = file.place(number, indent + parts.start(2) + 1)
    return Setting(parts[1], text, file.place(number, indent + 1), value)
