"""JSON pasted below the shell line that printed it, among tables or alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefetch_advisor.model.record import record
from prefetch_advisor.sources.shell_lines import LONGEST_PROSE, asked, command, is_prompt

_OTHER_TOOLS = re.compile(r"(?:^|[\s/\\\"'`(])(?:curl|wget|http|rabbitmqadmin)\s")
_TOOLS = ("rabbitmqctl", "curl", "wget", "http", "rabbitmqadmin")
_JSON = re.compile(r"""\{\s*(?:"|\}|$)|\[\s*(?:[\]\["{\-\d]|null|true|false|$)""")
_ERLANG = re.compile(r"\[{1,3}\s*\{\w+,")
#: what a line of JSON begins with
_INSIDE = tuple('[]{},"')


@record
class Segment:
    """Lines of a text; blank lines stand in front of them, so that they keep their numbers."""

    text: str
    json: bool = False
    #: as the command line names it
    vhost: str | None = None


def looks_like_json(start: str) -> bool:
    """A list or object; not a queue called "[bold" nor a row of Erlang terms."""
    return _JSON.match(start) is not None and _ERLANG.match(start) is None


def segments(text: str) -> list[Segment]:
    """The JSON below shell lines that ask for it, and the text around it, in order."""
    if not any(tool in text for tool in _TOOLS):
        return [Segment(text)]
    lines = text.split("\n")
    found: list[Segment] = []
    start = 0
    for at, end, vhost in _documents(lines):
        found.append(_segment(lines, start, at))
        found.append(_segment(lines, at + 1, end, json=True, vhost=vhost))
        start = end
    found.append(_segment(lines, start, len(lines)))
    return [one for one in found if one.json or len(found) == 1 or _says_something(one.text)]


def _documents(lines: list[str]) -> Iterator[tuple[int, int, str | None]]:
    """Of each JSON: the shell line above it, the line after it, and the vhost asked for."""
    at = 0
    while at < len(lines):
        asks, vhost = _asks_for_json(lines[at])
        if asks and _json_follows(lines, at + 1):
            end = at + 1
            while end < len(lines) and not _is_shell(lines[end]):
                end += 1
            yield at, end, vhost
            at = end
        else:
            at += 1


def _asks_for_json(line: str) -> tuple[bool, str | None]:
    """Whether a line asks some tool for JSON, and of which vhost, if it names one."""
    if line.lstrip().startswith(_INSIDE) or len(line) > LONGEST_PROSE or "\t" in line:
        return False, None
    wanted = asked(line)
    if wanted is not None:
        return wanted.formatter.startswith("json"), wanted.vhost
    return _OTHER_TOOLS.search(line) is not None, None


def _json_follows(lines: list[str], at: int) -> bool:
    while at < len(lines) and not lines[at].strip():
        at += 1
    return looks_like_json("\n".join(lines[at : at + 3]).lstrip())


def _is_shell(line: str) -> bool:
    if not line.strip() or line.lstrip().startswith(_INSIDE):
        return False
    return command(line) is not None or is_prompt(line.strip())


def _segment(
    lines: list[str], start: int, end: int, json: bool = False, vhost: str | None = None
) -> Segment:
    return Segment("\n" * start + "\n".join(lines[start:end]), json, vhost)


def _says_something(text: str) -> bool:
    return any(line.strip() and not is_prompt(line.strip()) for line in text.split("\n"))
