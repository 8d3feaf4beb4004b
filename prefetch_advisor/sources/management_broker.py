"""What /api/overview, /api/nodes and /api/deprecated-features say of the broker as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prefetch_advisor.model.observation import BrokerRow
from prefetch_advisor.sources.fields import Doubts, flag, number, text


def overview_row(document: object, where: str, doubts: Doubts) -> BrokerRow:
    """Version, rates mode and whether statistics are off; ``rabbitmqctl status`` as JSON too."""
    row = document if isinstance(document, Mapping) else {}
    version = row.get("rabbitmq_version") or row.get("management_version")
    return BrokerRow(
        where,
        text(version, "rabbitmq_version", doubts),
        text(row.get("rates_mode"), "rates_mode", doubts),
        flag(row.get("disable_stats"), "disable_stats", doubts),
    )


def nodes_row(document: object, where: str, doubts: Doubts) -> BrokerRow:
    """Alarms and uptimes of every node; version and rates mode of the first that says them."""
    alarms: list[str] = []
    uptimes: dict[str, float] = {}
    version = mode = None
    for node in _objects(document):
        name = text(node.get("name"), "name", doubts) or "a node"
        if flag(node.get("mem_alarm"), "mem_alarm", doubts):
            alarms.append(f"memory on {name}")
        if flag(node.get("disk_free_alarm"), "disk_free_alarm", doubts):
            alarms.append(f"disk on {name}")
        uptime = number(node.get("uptime"), "uptime", doubts)
        if uptime is not None and uptime >= 0:
            uptimes[name] = uptime / 1000
        mode = mode or text(node.get("rates_mode"), "rates_mode", doubts)
        version = version or text(node.get("rabbitmq_version"), "rabbitmq_version", doubts)
        version = version or _version(node.get("applications"), doubts)
    return BrokerRow(where, version, mode, None, tuple(alarms), uptimes=uptimes)


def _version(applications: object, doubts: Doubts) -> str | None:
    for application in _objects(applications):
        if application.get("name") == "rabbit":
            return text(application.get("version"), "applications.version", doubts)
    return None


def features_row(document: object, where: str, doubts: Doubts) -> BrokerRow:
    """Whether global QoS is permitted; ``None`` where the list does not hold it."""
    permitted = None
    for feature in _objects(document):
        if feature.get("name") == "global_qos":
            state = text(feature.get("state"), "state", doubts)
            permitted = None if state is None else state.startswith("permitted")
    return BrokerRow(where, global_qos_permitted=permitted)


def _objects(document: object) -> Iterable[Mapping[str, object]]:
    if isinstance(document, Mapping):
        return (document,)
    if isinstance(document, list):
        return (item for item in document if isinstance(item, Mapping))
    return ()
