"""Consumers of SmallRye's RabbitMQ connector, in Quarkus and elsewhere, out of their settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prefetch_advisor.findings import apps
from prefetch_advisor.lint.kinds.jvm.documents import Property, Settings, number
from prefetch_advisor.model.lint import Consumer, LintFinding, Located

_CONNECTOR = "smallrye-rabbitmq"
_ATTRIBUTE = re.compile(r'mp\.messaging\.incoming\.(?:"([^"]+)"|([^."]+))\.(.+)')
_LIMIT = "max-outstanding-messages"
_QUEUE = "max-incoming-internal-queue-size"
#: the client's own default of the latter
_QUEUE_DEFAULT = 500_000


def consumers(settings: Settings, limited: frozenset[str]) -> Iterator[Consumer | LintFinding]:
    """What these settings say of incoming channels; ``limited``: with a limit in some profile."""
    channels: dict[str, dict[str, Property]] = {}
    for key, each in settings.exact.items():
        found = _ATTRIBUTE.fullmatch(key)
        if found:
            channels.setdefault(found[1] or found[2], {})[found[3]] = each
    for name, own in channels.items():
        channel = _Channel(settings, name, own)
        if channel.is_rabbit():
            yield channel.consumer(name in limited)
            yield from channel.dropped()


def limited_channels(properties: Iterable[Property]) -> frozenset[str]:
    """Channels for which some document says a limit."""
    found = (_ATTRIBUTE.fullmatch(each.key) for each in properties)
    return frozenset(each[1] or each[2] for each in found if each and each[3] == _LIMIT)


class _Channel:
    def __init__(self, settings: Settings, name: str, own: dict[str, Property]) -> None:
        self.settings = settings
        self.name = name
        self.own = own

    def _get(self, attribute: str) -> Property | None:
        """An attribute of the channel, or else of the connector."""
        common = f"mp.messaging.connector.{_CONNECTOR}.{attribute}"
        return self.own.get(attribute) or self.settings.exact.get(common)

    def _text(self, attribute: str) -> Located[str] | None:
        return self.settings.text(self._get(attribute))

    def is_rabbit(self) -> bool:
        """Whether it is enabled and of this connector; Quarkus attaches an only one by itself."""
        enabled, connector = self._text("enabled"), self.own.get("connector")
        if enabled and enabled.value.lower() == "false":
            return False
        if connector is None:
            return _LIMIT in self.own
        named = self.settings.text(connector)
        return named is not None and named.value == _CONNECTOR

    def consumer(self, limited_elsewhere: bool) -> Consumer:
        """The channel's consumer; without a limit the connector sends none."""
        acked = self._text("auto-acknowledgement")
        automatic = acked is not None and acked.value.lower() == "true"
        limit = number(self._text(_LIMIT))
        at = self.own.get("connector") or self.own[_LIMIT]
        if self._get(_LIMIT) is None and not automatic and not limited_elsewhere:
            limit = Located(0, at.place, f"without {_LIMIT} no limit is sent", certain=False)
        queue, copies = self._text("queue.name"), number(self._text("concurrency"))
        unnamed = self._get("queue.name") is None
        return Consumer(
            subject=self.name,
            client="SmallRye",
            place=at.place,
            queue=queue.value if queue else self.name if unnamed else None,
            prefetch=limit if limit and limit.value >= 0 else None,
            ack=Located("auto" if automatic else "manual", acked.place, certain=acked.certain)
            if acked
            else None,
            consumers=copies if copies and copies.value > 0 else None,
            setting=_LIMIT,
        )

    def dropped(self) -> Iterator[LintFinding]:
        """Deliveries that find the client's own queue full are lost to the consumer."""
        limit, size = number(self._text(_LIMIT)), number(self._text(_QUEUE))
        kept = self._text("auto-acknowledgement")
        if kept is not None and kept.value.lower() == "true":
            return
        room = size.value if size else _QUEUE_DEFAULT
        if size is None and self._get(_QUEUE) is not None:
            return
        if limit is None and (size is None or self._get(_LIMIT) is not None):
            return
        if limit is not None and 0 < limit.value <= room:
            return
        if limit is not None and limit.value <= 0 and size is None:
            return
        allowed = (
            "no limit of deliveries" if limit is None or limit.value <= 0 else str(limit.value)
        )
        place = (limit or size or Located(0, self.own["connector"].place)).place
        message = f"{allowed} unacknowledged, but the client keeps {room} and drops further ones"
        finding = apps.INTERNAL_QUEUE_BELOW_PREFETCH.finding(
            self.name, message, f"Set {_LIMIT} to {room} or less."
        )
        yield LintFinding(finding, place)
