"""The names of Celery's settings that concern workers: today's, and those before Celery 4."""

from __future__ import annotations

#: today's names, with that before Celery 4 where it is not the rule's
_OLD = {
    "broker_url": "BROKER_URL",
    "broker_read_url": "",
    "broker_transport": "BROKER_TRANSPORT",
    "broker_transport_options": "BROKER_TRANSPORT_OPTIONS",
    "task_acks_late": "CELERY_ACKS_LATE",
    "task_always_eager": "CELERY_ALWAYS_EAGER",
    "task_default_exchange_type": "CELERY_DEFAULT_EXCHANGE_TYPE",
    "task_default_queue_type": "",
    "task_queues": "CELERY_QUEUES",
    "task_soft_time_limit": "CELERYD_TASK_SOFT_TIME_LIMIT",
    "task_time_limit": "CELERYD_TASK_TIME_LIMIT",
    "worker_concurrency": "CELERYD_CONCURRENCY",
    "worker_detect_quorum_queues": "",
    "worker_disable_prefetch": "",
    "worker_eta_task_limit": "",
    "worker_pool": "CELERYD_POOL",
    "worker_prefetch_multiplier": "CELERYD_PREFETCH_MULTIPLIER",
}
NAMES = frozenset(_OLD)
TODAYS = {old: new for new, old in _OLD.items() if old}
#: names that nothing but Celery has: what has one of them is a collection of its settings
_DISTINCTIVE = frozenset(
    {
        "task_acks_late",
        "task_default_queue_type",
        "worker_detect_quorum_queues",
        "worker_disable_prefetch",
        "worker_eta_task_limit",
        "worker_prefetch_multiplier",
    }
)
#: what people write and Celery reads under no namespace
MISTAKEN = {
    "CELERY_PREFETCH_MULTIPLIER": "worker_prefetch_multiplier",
    "CELERYD_WORKER_PREFETCH_MULTIPLIER": "worker_prefetch_multiplier",
    "CELERYD_ACKS_LATE": "task_acks_late",
}
_UPPER = {name.upper(): name for name in NAMES}


def interesting(name: str) -> bool:
    """Whether a name at the top of a module may be such a setting, under any namespace."""
    if name in NAMES or name in TODAYS or name in MISTAKEN:
        return True
    return any(
        name == upper or name.endswith((f"_{upper}", f"_{new}")) for upper, new in _UPPER.items()
    )


def app_setting(name: str) -> bool:
    """Whether it is a setting where names stand as they are: on the app, in a mapping for it."""
    return name in NAMES or name in TODAYS


def distinctive(name: str) -> bool:
    """Whether nothing but Celery has such a name."""
    if name.isupper():
        return interesting(name) and name.startswith("CELERY")
    return name in _DISTINCTIVE


def canonical(name: str, namespaces: frozenset[str] | None) -> str | None:
    """Today's name of the setting that Celery takes ``name`` for; ``None``: it does not read it.

    ``namespaces`` are those the app reads the module under, the empty one for none; ``None``: not
    known, so that the usual one counts too. Under a namespace Celery reads the bare names as well.
    """
    if name in NAMES:
        return name
    if name in TODAYS:
        return TODAYS[name]
    for namespace in {"CELERY"} if namespaces is None else namespaces - {""}:
        prefix = namespace if namespace.endswith("_") else f"{namespace}_"
        rest = name.removeprefix(prefix) if name.startswith(prefix) else ""
        # the case of the namespace is that of the whole name
        found = _UPPER.get(rest) if prefix.isupper() else rest if rest in NAMES else None
        if found:
            return found
    return None


def meant(name: str) -> str | None:
    """What a name is for that Celery does not read; ``None``: something else's."""
    if name in MISTAKEN:
        return MISTAKEN[name]
    return _UPPER.get(name.removeprefix("CELERY_")) if name.startswith("CELERY_") else None
