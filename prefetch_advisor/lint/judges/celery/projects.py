"""Facts of Celery put together: what belongs to which app, and which value is in force."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from prefetch_advisor.lint.kinds.broker.facts import NodeTimeout
from prefetch_advisor.lint.kinds.celery import names
from prefetch_advisor.lint.kinds.celery.facts import (
    UNKNOWN,
    Broker,
    BrokerSaid,
    CeleryApp,
    CeleryTask,
    DelayedCall,
    Form,
    Loads,
    Package,
    PythonFile,
    QuorumQueue,
    RabbitVersion,
    Setting,
    Value,
    WorkerCommand,
)
from prefetch_advisor.model.lint import Located, Place

#: of the facts that belong to a project
Fact = (
    Setting
    | WorkerCommand
    | CeleryTask
    | DelayedCall
    | QuorumQueue
    | BrokerSaid
    | NodeTimeout
    | Package
    | RabbitVersion
    | PythonFile
)
#: the broker's delivery acknowledgement timeout, in seconds, where nothing sets it
ACK_TIMEOUT = 1800
_DJANGO = ("django.conf:settings", "django.conf.settings")


@dataclass
class Project:
    """An app with all that configures and starts it; or a file of which that is not known."""

    #: empty: no file makes one
    apps: list[CeleryApp] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    #: what the whole repository says; else these are facts of one file alone
    whole: bool = True

    @cached_property
    def settings(self) -> list[tuple[str, Setting]]:
        """Settings that Celery reads, by today's names."""
        said = [fact for fact in self.facts if isinstance(fact, Setting)]
        found = [(names.canonical(each.name, self.namespaces(each)), each) for each in said]
        return [(name, each) for name, each in found if name is not None]

    def namespaces(self, setting: Setting) -> frozenset[str] | None:
        """Those under which the apps read where it stands; ``None``: not known."""
        loads = [
            load
            for app in self.apps
            for load in app.loads
            if self._loaded(load, app, setting.value.place.path)
        ]
        known = frozenset(load.namespace for load in loads if load.namespace is not None)
        return known if loads and len(known) == len({load.namespace for load in loads}) else None

    def _loaded(self, load: Loads, app: CeleryApp, path: str) -> bool:
        if load.module is None:
            return True
        if load.module.startswith(":"):
            return app.place.path == path
        if load.module in _DJANGO:
            return "settings" in path
        return any(_is_module(path, module) for module in _modules(load.module))

    @cached_property
    def closed(self) -> bool:
        """No setting can come from where lint does not see it."""
        files = [fact.path for fact in self.facts if isinstance(fact, PythonFile)]
        return (
            self.whole
            and any(app.made for app in self.apps)
            and all(app.closed for app in self.apps)
            and all(
                load.module is not None and any(self._loaded(load, app, path) for path in files)
                for app in self.apps
                for load in app.loads
            )
        )

    def value(self, name: str) -> Located[Value] | None:
        """What is in force; ``UNKNOWN`` where files differ or do not tell, ``None``: not said."""
        said = [each for known, each in self.settings if known == name]
        # what is set on the app itself wins over what it reads
        first = [each for each in said if each.form is Form.APP] or said
        if not first:
            return None
        values = {str(each.value.value) for each in first}
        one = first[0].value
        return one if len(values) == 1 else Located(UNKNOWN, one.place)

    def whole_number(self, name: str) -> Located[int] | None:
        """The setting if it is a whole number that is known."""
        said = self.value(name)
        number = None if said is None else whole(said.value)
        return None if said is None or number is None else Located(number, said.place)

    def truth(self, name: str, default: bool | None) -> Located[bool | None] | None:
        """The setting if it is known; its default where nothing can set it."""
        said = self.value(name)
        if said is None:
            return None if default is None or not self.closed else Located(default, Place("", 0))
        if said.value is UNKNOWN or said.value is None:
            return None
        text = str(said.value).lower()
        known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        return Located(known[text], said.place) if text in known else None

    @cached_property
    def broker(self) -> Broker | None:
        """``None``: no file tells, or they do not agree."""
        kinds = {fact.kind for fact in self.facts if isinstance(fact, BrokerSaid)}
        return kinds.pop() if len(kinds) == 1 else None

    @cached_property
    def commands(self) -> list[WorkerCommand]:
        """Command lines that start Celery's workers."""
        commands = [fact for fact in self.facts if isinstance(fact, WorkerCommand)]
        return [each for each in commands if each.program == "celery"]

    @cached_property
    def quorum(self) -> QuorumQueue | None:
        """The first of its queues that is declared as a quorum queue."""
        kind = self.value("task_default_queue_type")
        # it makes the default queue, where no queues are declared
        if kind is not None and kind.value == "quorum":
            return QuorumQueue(kind.place, "")
        return next((fact for fact in self.facts if isinstance(fact, QuorumQueue)), None)

    def versions(self, package: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """From which version on, and below which; empty: no bound is known."""
        said = [f for f in self.facts if isinstance(f, Package) and f.name == package]
        low = max((each.at_least for each in said), default=())
        high = min((each.below for each in said if each.below), default=())
        return ((), ()) if high and low >= high else (low, high)

    def since(self, package: str, version: tuple[int, ...]) -> bool:
        """It is certainly of this version or newer."""
        low = self.versions(package)[0]
        return bool(low) and low >= version

    def before(self, package: str, version: tuple[int, ...]) -> bool:
        """It is certainly older."""
        high = self.versions(package)[1]
        return bool(high) and high <= version

    def rabbit_since(self, version: tuple[int, ...]) -> bool:
        """Every broker that is known is of this version or newer, and one is known."""
        known = [fact.version for fact in self.facts if isinstance(fact, RabbitVersion)]
        return bool(known) and all(each >= version for each in known)

    def rabbit_before(self, version: tuple[int, ...]) -> bool:
        """Every broker that is known is older, and one is known."""
        known = [fact.version for fact in self.facts if isinstance(fact, RabbitVersion)]
        return bool(known) and all(each < version for each in known)

    @cached_property
    def ack_timeout(self) -> float:
        """Seconds that the broker waits for an ack; infinite where it may wait for ever."""
        if self.rabbit_since((4, 3)) and self.quorum is None:
            return math.inf  # of quorum queues only
        said = [fact.seconds.value for fact in self.facts if isinstance(fact, NodeTimeout)]
        return max(said, default=ACK_TIMEOUT)

    @cached_property
    def static(self) -> str:
        """Why the window cannot change while a worker runs; empty: it can, or it is not known."""
        detects = self.truth("worker_detect_quorum_queues", default=None)
        if self.quorum and not self.before("celery", (5, 5)) and (detects is None or detects.value):
            return "a queue of the app is a quorum queue"
        if self.rabbit_since((4, 3)):
            return "RabbitMQ 4.3 has no window of a whole channel"
        kombu = self.since("kombu", (5, 7)) or self.since("celery", (5, 7))
        if kombu and self.rabbit_since((4, 0)):
            return "kombu 5.7 asks RabbitMQ 4 for a window of each consumer"
        return ""

    @cached_property
    def subject(self) -> str:
        """The app as its files call it."""
        made = [app for app in self.apps if app.made] or self.apps
        said = [fact.value.place for fact in self.facts if isinstance(fact, Setting)]
        path = PurePosixPath((made[0].place if made else said[0] if said else Place("", 0)).path)
        generic = path.stem in ("celery", "celery_app", "celeryapp", "app", "__init__", "settings")
        return (path.parent.name if generic else "") or path.stem or "celery"


def whole(value: Value) -> int | None:
    """A whole number, also as text: Celery converts it."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value) if len(value) < 12 else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not math.isfinite(value) or abs(value) > 10**12:
        return None
    return int(value) if value == int(value) else None


def projects(facts: Sequence[object]) -> Iterator[Project]:
    """One for each app; where a fact may belong to several, one for its file alone."""
    apps = [fact for fact in facts if isinstance(fact, CeleryApp)]
    known = [fact for fact in facts if isinstance(fact, Fact)]
    made = [app for app in apps if app.made]
    if len(made) <= 1:
        yield Project(apps, known)
        return
    ours: dict[str, Project] = {app.place.path: Project() for app in made}
    alone: dict[str, Project] = {}
    for each in [*apps, *known]:
        path = _path(each)
        owner = _named_app(each, made) or _nearest(path, made)
        if owner is not None:
            project = ours[owner.place.path]
        else:
            project = alone.setdefault(path, Project(whole=False))
        if isinstance(each, CeleryApp):
            project.apps.append(each)
        else:
            project.facts.append(each)
    yield from ours.values()
    yield from alone.values()


def _path(fact: Fact | CeleryApp) -> str:
    if isinstance(fact, PythonFile):
        return fact.path
    if isinstance(fact, NodeTimeout):
        return fact.seconds.place.path
    return fact.value.place.path if isinstance(fact, Setting) else fact.place.path


def _named_app(fact: Fact | CeleryApp, apps: Iterable[CeleryApp]) -> CeleryApp | None:
    """The app that a command line names, if it is one of these."""
    said = fact.option("app") if isinstance(fact, WorkerCommand) else None
    if said is None or not said.value:
        return None
    named = [
        app
        for app in apps
        if any(_is_module(app.place.path, module) for module in _modules(said.value))
    ]
    return named[0] if len(named) == 1 else None


def _nearest(path: str, apps: Sequence[CeleryApp]) -> CeleryApp | None:
    """The only one that shares most directories with the file."""
    shared = [(_shared(path, app.place.path), app) for app in apps]
    most = max(count for count, _ in shared)
    nearest = [app for count, app in shared if count == most]
    return nearest[0] if len(nearest) == 1 else None


def _shared(one: str, other: str) -> int:
    ones, others = PurePosixPath(one).parent.parts, PurePosixPath(other).parent.parts
    count = 0
    for mine, theirs in zip(ones, others, strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _modules(name: str) -> Iterator[str]:
    """Modules that ``a.b:c`` or ``a.b.c`` may name: the last part may be a name in one."""
    module, colon, _ = name.partition(":")
    yield module
    yield f"{module}.celery"
    if not colon and "." in module:
        yield module.rpartition(".")[0]


def _is_module(path: str, module: str) -> bool:
    stem = "/" + path.removesuffix(".py").removesuffix("/__init__")
    return bool(module) and stem.endswith("/" + module.replace(".", "/"))
