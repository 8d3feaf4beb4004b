"""Consumers of Spring Boot and of Spring Cloud Stream's Rabbit binder, out of their settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from prefetch_advisor.findings import apps
from prefetch_advisor.lint.kinds.jvm.documents import Property, Settings, number
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import AckMode, Consumer, LintFinding, Located

_LISTENER = "spring.rabbitmq.listener."
_STREAM = "spring.cloud.stream."
_BINDING = re.compile(r"spring\.cloud\.stream\.rabbit\.bindings\.(.+)\.consumer\.[a-z]+")
#: of a container; "auto" is the container's own ack, after the listener has returned
_ACKS: dict[str, AckMode] = {"none": "auto", "manual": "manual", "auto": "manual"}


def consumers(settings: Settings, elsewhere: frozenset[str]) -> Iterator[Consumer | LintFinding]:
    """What these settings say of consumers, and what of it no consumer sees.

    ``elsewhere`` are the keys that profiles set: what one of them may put right is left alone.
    """
    yield from _listeners(settings, f"{_LISTENER}type" in elsewhere)
    yield from _bindings(settings)
    if not any(key.startswith(_STREAM) and key.endswith(".prefetch") for key in elsewhere):
        yield from _not_for_bindings(settings)


def _listeners(settings: Settings, unsettled: bool) -> Iterator[Consumer | LintFinding]:
    kind = settings.text(settings.relaxed.get(f"{_LISTENER}type"))
    set_here = f"{_LISTENER}type" in settings.relaxed
    used = (kind.value.lower() if kind else "") if set_here else "simple"
    for name in ("simple", "direct"):
        own = _own(settings, f"{_LISTENER}{name}.")
        if own and used == name:
            found = _Container(settings, f"{_LISTENER}{name}.", direct=name == "direct")
            yield found.consumer(f"listener.{name}", "Spring AMQP", own[0], None)
        elif own and used and not unsettled and (prefetch := _prefetch_of(own)):
            message = f"containers are {used}, and do not read listener.{name}.prefetch"
            help_ = f"Set {_LISTENER}{used}.prefetch, or spring.rabbitmq.listener.type={name}."
            # a factory of the application's own may still be configured from it
            finding = apps.UNUSED_PREFETCH.finding(
                f"listener.{name}", message, help_, Severity.INFO
            )
            yield LintFinding(finding, prefetch.place)


def _prefetch_of(properties: list[Property]) -> Property | None:
    """The setting of a prefetch among these."""
    return next((each for each in properties if each.key.lower().endswith("prefetch")), None)


def _own(settings: Settings, prefix: str) -> list[Property]:
    """Settings of a container that say something of its consumers, below ``prefix``."""
    keys = ("prefetch", "acknowledgemode", "concurrency", "maxconcurrency", "consumersperqueue")
    found = (settings.relaxed.get(prefix + key) for key in (*keys, "batchsize"))
    return [each for each in found if each is not None]


class _Container:
    """A listener container and the settings that it reads, the first prefix before the next."""

    def __init__(self, settings: Settings, *prefixes: str, direct: bool) -> None:
        self.settings = settings
        self.prefixes = prefixes
        self.direct = direct

    def _set(self, key: str) -> Property | None:
        found = (self.settings.relaxed.get(prefix + key) for prefix in self.prefixes)
        return next((each for each in found if each is not None), None)

    def number(self, key: str) -> Located[int] | None:
        """Its number; ``None`` also when it cannot be resolved."""
        return number(self.settings.text(self._set(key)))

    def prefetch(self) -> Located[int] | None:
        """As the container asks for it: a simple one for its batch size, or 1, at least."""
        found = self.number("prefetch")
        if found is None or found.value < 0 or self.direct:
            return found if found and found.value >= 0 else None
        batch = self.number("batchsize")
        if batch is None and self._set("batchsize") is not None:
            return None
        least = max(1, batch.value if batch else 1)
        if found.value >= least:
            return found
        origin = f"{found.value} raised to the batch size" if least > 1 else "0 counts as 1"
        return replace(found, value=least, origin=origin)

    def consumer(
        self, subject: str, client: str, at: Property, queue: str | None, *more: str
    ) -> Consumer:
        """The consumer that it makes; ``more``: where its number of consumers stands besides."""
        ack = self.settings.text(self._set("acknowledgemode"))
        mode = _ACKS.get(ack.value.lower()) if ack else None
        own = ("consumersperqueue",) if self.direct else ("maxconcurrency", "concurrency")
        counts = [*map(self._set, own), *map(self.settings.relaxed.get, more)]
        return Consumer(
            subject=subject,
            client=client,
            place=at.place,
            queue=queue,
            prefetch=self.prefetch(),
            ack=Located(mode, ack.place, ack.value, ack.certain) if ack and mode else None,
            setting=f"{self.prefixes[0]}prefetch",
            consumers=self._most([each for each in counts if each is not None]),
        )

    def _most(self, counts: list[Property]) -> Located[int] | None:
        """The largest; ``None``: none is set, or one cannot be resolved."""
        known = [number(self.settings.text(each)) for each in counts]
        found = [each for each in known if each is not None and each.value > 0]
        return max(found, key=lambda each: each.value) if found and None not in known else None


def _bindings(settings: Settings) -> Iterator[Consumer]:
    names: dict[str, Property] = {}
    for key, each in settings.relaxed.items():
        found = _BINDING.fullmatch(key)
        if found:
            names.setdefault(found[1], each)
    default = f"{_STREAM}rabbit.default.consumer."
    for name, first in names.items():
        prefix = f"{_STREAM}rabbit.bindings.{name}.consumer."
        own = _own(settings, prefix)
        kind = settings.relaxed.get(f"{prefix}containertype") or settings.relaxed.get(
            f"{default}containertype"
        )
        used = settings.text(kind)
        if not own or (kind and (used is None or used.value.lower() == "stream")):
            continue
        direct = used is not None and used.value.lower() == "direct"
        container = _Container(settings, prefix, default, direct=direct)
        more = (
            f"{_STREAM}bindings.{name}.consumer.concurrency",
            f"{_STREAM}default.consumer.concurrency",
        )
        yield container.consumer(
            _written(first.key), "Spring Cloud Stream", own[0], _queue(settings, name), *more
        )


def _written(key: str) -> str:
    """The name of a binding as its key has it."""
    found = re.search(r"bindings\.?\[?(.+?)\]?\.consumer\.", key, re.IGNORECASE)
    return found[1] if found else key


def _queue(settings: Settings, name: str) -> str | None:
    """The binder's queue is called destination.group."""
    parts = [
        settings.text(settings.relaxed.get(f"{_STREAM}bindings.{name}.{key}"))
        for key in ("destination", "group")
    ]
    known = [part.value for part in parts if part]
    return ".".join(known) if len(known) == 2 else None


def _not_for_bindings(settings: Settings) -> Iterator[LintFinding]:
    """A prefetch for listeners where only bindings have consumers, whose prefetch it is not."""
    listener = settings.relaxed.get(f"{_LISTENER}simple.prefetch")
    consumer = [
        key
        for key in settings.relaxed
        if _BINDING.fullmatch(key) or key.startswith(f"{_STREAM}rabbit.default.consumer.")
    ]
    if listener is None or not consumer or any(key.endswith(".prefetch") for key in consumer):
        return
    finding = apps.UNUSED_PREFETCH.finding(
        "listener.simple",
        "bindings of Spring Cloud Stream do not read listener.simple.prefetch: theirs is 1",
        f"Set {_STREAM}rabbit.bindings.NAME.consumer.prefetch, "
        f"or {_STREAM}rabbit.default.consumer.prefetch for all of them.",
    )
    yield LintFinding(finding, listener.place)
