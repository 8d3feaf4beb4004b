"""What ``init`` writes: a settings file with every key and what it means, and the queues seen."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from prefetch_advisor.lint.declared.keys import BUFFER, DEFAULTS, QUEUE, Key
from prefetch_advisor.lint.declared.schema import LINT

_WIDTH = 100
_HEAD = (
    "What is known of the consumers, for `prefetch-advisor lint`. Every key may be left out but a "
    "queue's name: what is not said is not judged. Times have units (20ms, 5s, 30min), and so may "
    "rates (180/s, 30/min) and sizes (20KB, 256MiB)."
)
_EXAMPLES: Mapping[str, object] = {
    "select": ["PA"],
    "ignore": ["PA312"],
    "per-file-ignores": {"tests/": ["PA3"]},
    "exclude": ["vendor/"],
    "baseline": "prefetch-advisor-baseline.json",
    "fail-on": "warning",
}
#: what no broker shows of a queue, and a team knows
_ASKED = ("processing-time", "rtt", "arrival-rate")


@dataclass(frozen=True, slots=True)
class SeenQueue:
    """A queue as a running broker showed it."""

    #: by the names of the keys, in TOML's types
    values: Mapping[str, object]
    #: what could not be said in a value
    remarks: Sequence[str] = ()


def template(
    seen: Iterable[SeenQueue] = (),
    defaults: Mapping[str, object] | None = None,
    remarks: Iterable[str] = (),
) -> str:
    """The text of a settings file; what was seen is said, everything else is a comment."""
    queues = list(seen)
    lines = [*_comment(_HEAD), ""]
    lines += [*_comment("What lint looks at and tells."), "# [lint]"]
    for name, key in LINT.items():
        lines += _known(name, str(key["description"]), _EXAMPLES[name])
    lines.append("")
    lines += _comment("What holds for every queue that does not say otherwise.")
    said = defaults or {}
    lines.append("[defaults]" if said else "# [defaults]")
    lines += [f"{name} = {toml(value)}" for name, value in said.items()]
    lines += ['# rtt = "1ms"', ""] if said else ['# broker-version = "4.1.0"', ""]
    for remark in remarks:
        lines += _comment(remark)
    if queues:
        for queue in queues:
            lines += [*_queue(queue), ""]
        lines += _comment("All that may be said of a queue:")
    else:
        lines += _comment("A queue and its consumers; a table like this for each.")
    lines += _table("queues", QUEUE)
    lines += ["", *_comment("A buffer in a process, or of rows claimed from a table.")]
    lines += _table("buffers", BUFFER)
    return "\n".join(lines) + "\n"


def _queue(queue: SeenQueue) -> list[str]:
    lines = [line for remark in queue.remarks for line in _comment(remark)]
    lines.append("[[queues]]")
    order = [key.name for key in QUEUE]
    said = sorted(queue.values, key=order.index)
    lines += [f"{name} = {toml(queue.values[name])}" for name in said]
    examples = {key.name: key.example for key in DEFAULTS}
    lines += [f"# {name} = {toml(examples[name])}" for name in _ASKED if name not in queue.values]
    return lines


def _table(name: str, keys: Sequence[Key]) -> list[str]:
    lines = [f"# [[{name}]]"]
    for key in keys:
        lines += _known(key.name, key.doc, key.example)
    return lines


def _known(name: str, doc: str, example: object) -> list[str]:
    return [*(f"# {line}" for line in _comment(doc)), f"# {name} = {toml(example)}"]


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _WIDTH - 4)]


def toml(value: object) -> str:
    """A value as TOML writes it, on one line; whatever a text holds, nothing ends it early."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{"".join(map(_character, value))}"'
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(name)} = {toml(each)}' for name, each in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return str(value)


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else toml(name)


def _character(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
