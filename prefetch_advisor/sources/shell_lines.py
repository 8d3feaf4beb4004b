"""Shell lines in a paste: prompts, and ``rabbitmqctl`` commands with what they ask for."""

from __future__ import annotations

import re
import shlex

from prefetch_advisor.model.record import record

#: characters of a line that is no row: names, of at most 255 bytes, and a command's columns
LONGEST_PROSE = 4000
_COMMAND = re.compile(
    r"(?:^|[\s/\\\"'`(])rabbitmqctl(?:\.bat)?[\"']?\s+(?:[^\t]*?\s)??(list_\w+)([^\t]*)$"
)
_PROMPT = re.compile(r"(?:\S*[$#>%]|\[?\w+@[\w.\-]+[^\t]*[$#%>])(?: [^\t]*)?")
_OPTIONS_WITH_VALUE = frozenset(
    {"-n", "--node", "-t", "--timeout", "-p", "--vhost", "--formatter", "--file"}
)
_SHELL_ENDS = re.compile(r"\s(?:[|;>&]|2>)|;")


@record
class Asked:
    """What a command line asks ``rabbitmqctl`` for."""

    #: queues, consumers ...
    listed: str
    vhost: str | None = None
    columns: tuple[str, ...] = ()
    formatter: str = "table"


def command(line: str) -> re.Match[str] | None:
    """The ``list_*`` command of a shell line, and what follows it; not that of a usage text."""
    possible = "rabbitmqctl" in line and "\t" not in line and "[--" not in line
    if possible and len(line) <= LONGEST_PROSE:
        return _COMMAND.search(line)
    return None


def is_prompt(line: str) -> bool:
    """Whether a line can be a shell's prompt, with or without a command."""
    return len(line) <= LONGEST_PROSE and _PROMPT.fullmatch(line) is not None


def asked(line: str) -> Asked | None:
    """What the ``list_*`` command of a shell line asks for."""
    found = command(line)
    if found is None:
        return None
    before = line[: found.start(1)].split("rabbitmqctl")[-1]
    if _SHELL_ENDS.search(" " + before):
        return None
    tail = _SHELL_ENDS.split(before + " " + found[2], maxsplit=1)[0]
    try:
        words = shlex.split(tail)
    except ValueError:
        words = tail.split()
    given: dict[str, str] = {}
    columns: list[str] = []
    option = None
    for word in words:
        if option is not None:
            given[option] = word
            option = None
        elif word in _OPTIONS_WITH_VALUE:
            option = word
        elif word.startswith("-"):
            name, _, value = word.partition("=")
            if value:
                given[name] = value
        else:
            columns.extend(word.rstrip(",").split(","))
    return Asked(
        found[1].removeprefix("list_"),
        given.get("--vhost", given.get("-p")),
        tuple(columns),
        given.get("--formatter", "table"),
    )
