"""What files say of Celery workers: settings, apps, tasks, command lines, versions."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Literal

from prefetch_advisor.model.lint import Located, Place
from prefetch_advisor.model.record import record


class Unknown(Enum):
    """What stands where a value is said but cannot be known without running the program."""

    UNKNOWN = "unknown"


UNKNOWN = Unknown.UNKNOWN
#: a value that Python text says; a broker's URL is never kept, its scheme is a fact of its own
Value = int | float | bool | str | Unknown | None
#: which sort of broker an address is of; AMQP's rules hold for one only
Broker = Literal["amqp", "other"]


class Form(StrEnum):
    """Where in Python text a setting stands; it decides which names Celery reads there."""

    MODULE = "module"
    CLASS = "class"
    #: on the app: an attribute of ``conf``, an argument of ``Celery``, a mapping for ``update``
    APP = "app"


@record
class Setting:
    """A setting that concerns workers, as a Python file says it."""

    #: as it is written
    name: str
    value: Located[Value]
    form: Form
    #: the class it stands in; empty: none
    scope: str = ""


@record
class Loads:
    """A source of settings that an app reads."""

    #: dotted name, or ``:name`` of a class of the same file; ``None``: not known
    module: str | None
    #: ``None``: not known; empty: names as they are
    namespace: str | None = ""


@record
class CeleryApp:
    """A file in which an app is made or configured."""

    place: Place
    #: it is made here, not only configured
    made: bool
    loads: tuple[Loads, ...] = ()
    #: no setting can come from where lint does not see it
    closed: bool = True


@record
class PythonFile:
    """A Python file that was read: a source of settings which says none is known to say none."""

    path: str


@record
class CeleryTask:
    """The options of a task that differ from the app's."""

    name: str
    place: Place
    acks_late: Located[bool] | None = None
    #: seconds after which it is ended, the soft limit where there is one
    limit: Located[float] | None = None


@record
class DelayedCall:
    """A task that is sent now to run later: ``countdown`` or ``eta``."""

    place: Place
    argument: str


@record
class QuorumQueue:
    """A queue that the app declares as a quorum queue."""

    place: Place
    #: its exchange's type; ``None``: not known; empty: the app's default
    exchange_type: str | None


@record
class BrokerSaid:
    """An address of the app's broker, or only the one that is taken when nothing is set."""

    kind: Broker
    place: Place


@record
class WorkerCommand:
    """A command line that starts workers."""

    place: Place
    program: Literal["celery", "dramatiq"]
    #: where it stands, for a person: a process type, a service, a unit
    subject: str
    #: options by their long names without dashes; value ``None``: there, but not known
    options: tuple[tuple[str, Located[str | None]], ...] = ()
    #: what the file sets in its environment
    environment: tuple[tuple[str, Located[str | None]], ...] = ()
    #: options that are not known may be among it
    complete: bool = True

    def option(self, name: str) -> Located[str | None] | None:
        """The last one with this name, else what the environment says in its place."""
        found = [value for key, value in self.options if key == name]
        if found:
            return found[-1]
        # click reads the options of a command from variables with its name
        variable = f"CELERY_WORKER_{name.upper().replace('-', '_')}"
        said = [value for key, value in self.environment if key == variable]
        return said[-1] if said and said[-1].value != "" else None


@record
class Variable:
    """An environment variable that a file sets, of those that frameworks read."""

    name: str
    value: Located[str | None]


@record
class AirflowSetting:
    """A setting of Airflow, from airflow.cfg or from the environment."""

    section: str
    key: str
    value: Located[str | None]


@record
class Package:
    """Versions of a package that the repository may install."""

    name: str
    place: Place
    #: inclusive; empty: no bound
    at_least: tuple[int, ...] = ()
    #: exclusive; empty: no bound
    below: tuple[int, ...] = ()


@record
class RabbitVersion:
    """The version of a RabbitMQ image that the repository runs."""

    place: Place
    version: tuple[int, ...]
