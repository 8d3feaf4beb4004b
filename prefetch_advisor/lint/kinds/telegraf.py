"""Telegraf's amqp_consumer input."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from prefetch_advisor.findings import apps
from prefetch_advisor.lint import toml_places
from prefetch_advisor.lint.files import SourceFile
from prefetch_advisor.lint.kinds.kind import Kind, Skipped, Unparsable
from prefetch_advisor.model.lint import Consumer, LintFinding, Located, Place

#: the plugin's own, also for 0
_PREFETCH = 50
_UNDELIVERED = 1000
#: the agent's
_BUFFER = 10_000
#: Telegraf puts variables in before it reads the TOML
_VARIABLE = re.compile(r"\$\{?\w|\{\{")
_AT = re.compile(r"\(at line (\d+), column (\d+)\)")


def _named(path: PurePosixPath) -> bool:
    return path.suffix in (".conf", ".toml")


def _holds(data: bytes) -> bool:
    return b"inputs.amqp_consumer" in data


def _read(file: SourceFile) -> Iterator[object]:
    try:
        data = tomllib.loads(file.text)
        offsets = toml_places.offsets(file.text)
    except tomllib.TOMLDecodeError as error:
        if _VARIABLE.search(file.text):
            yield Skipped(file.place(1), "variables stand where TOML has values")
            return
        at = _AT.search(str(error))
        message = str(error).partition(" (at ")[0]
        raise Unparsable(message, *(map(int, at.groups()) if at else ())) from None
    except RecursionError:
        raise Unparsable("its values are nested too deeply") from None
    inputs = data.get("inputs")
    tables = inputs.get("amqp_consumer") if isinstance(inputs, dict) else None
    for index, table in enumerate(tables if isinstance(tables, list) else ()):
        if isinstance(table, dict):
            yield from _Input(file, offsets, index, table).said(_room(data))


def _room(data: Mapping[str, object]) -> int | None:
    """The metrics that the outputs' buffers hold; ``None``: another file has the agent's."""
    agent, outputs = data.get("agent"), data.get("outputs")
    if not isinstance(agent, dict):
        return None
    plugins = [
        plugin
        for tables in (outputs.values() if isinstance(outputs, dict) else ())
        for plugin in (tables if isinstance(tables, list) else ())
        if isinstance(plugin, dict) and "metric_buffer_limit" in plugin
    ]
    limits = [agent.get("metric_buffer_limit", _BUFFER)]
    limits += [plugin["metric_buffer_limit"] for plugin in plugins]
    known = [limit for limit in limits if type(limit) is int and limit > 0]
    return max(known) if len(known) == len(limits) else None


class _Input:
    def __init__(
        self,
        file: SourceFile,
        offsets: Mapping[toml_places.KeyPath, toml_places.Offsets],
        index: int,
        table: Mapping[str, object],
    ) -> None:
        self.file = file
        self.offsets = offsets
        self.path: toml_places.KeyPath = ("inputs", "amqp_consumer", index)
        self.table = table

    def _place(self, *key: str) -> Place:
        found = self.offsets.get((*self.path, *key))
        return self.file.place_at(found.value) if found else self.file.place(1)

    def _number(self, key: str, default: int) -> Located[int] | None:
        value = self.table.get(key, 0)
        if type(value) is not int or value < 0:
            return None
        if value > 0:
            return Located(value, self._place(key))
        return Located(default, self._place(*((key,) if key in self.table else ())), "the default")

    def said(self, room: int | None) -> Iterator[Consumer | LintFinding]:
        """The consumer, and where its three limits do not go together."""
        prefetch = self._number("prefetch_count", _PREFETCH)
        undelivered = self._number("max_undelivered_messages", _UNDELIVERED)
        queue = self.table.get("queue")
        subject = queue if isinstance(queue, str) and queue else "amqp_consumer"
        yield Consumer(
            subject,
            "Telegraf",
            self._place(),
            queue=queue if isinstance(queue, str) and queue else None,
            prefetch=prefetch,
            ack=Located("manual", self._place()),
        )
        if prefetch is None or undelivered is None:
            return
        if not undelivered.origin and undelivered.value > prefetch.value:
            message = (
                f"max_undelivered_messages {undelivered.value} is never reached: "
                f"the broker sends {prefetch.value}"
            )
            finding = apps.UNDELIVERED_ABOVE_PREFETCH.finding(subject, message)
            yield LintFinding(finding, undelivered.place)
        held = min(prefetch, undelivered, key=lambda each: each.value)
        if room is not None and held.value > room:
            message = f"up to {held.value} messages are held, but the buffer has {room} metrics"
            finding = apps.PREFETCH_ABOVE_BUFFER.finding(subject, message)
            yield LintFinding(finding, held.place)


KIND = Kind("Telegraf's settings", _named, _holds, _read)
