"""What the columns of timings mean: their names, units, and the way to P and R they give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.record import record
from prefetch_advisor.sources.cells import unit_named
from prefetch_advisor.sources.tabular.bad_rows import show


class Role(StrEnum):
    """What a column can be."""

    PROCESSING = "processing time"
    RTT = "round trip"
    ACK_DELAY = "ack delay"
    CYCLE = "cycle"
    QUEUE = "queue"
    VHOST = "vhost"
    CONSUMER = "consumer"
    TIMESTAMP = "timestamp"
    STARTED = "started"
    FINISHED = "finished"
    BYTES = "bytes"


NAMES: dict[Role, tuple[str, ...]] = {
    Role.PROCESSING: (
        *("processing_time", "processing", "process_time", "proc_time", "proc", "p", "duration"),
        *("elapsed", "elapsed_time", "service_time", "service", "handler", "handler_time"),
        *("work", "work_time", "runtime", "run_time", "took", "exec_time", "execution_time"),
    ),
    Role.RTT: ("rtt", "round_trip", "round_trip_time", "network", "network_rtt", "rtt_network"),
    Role.ACK_DELAY: ("ack_delay",),
    Role.CYCLE: ("cycle", "cycle_time", "total", "total_time", "round"),
    Role.QUEUE: ("queue", "queue_name", "routing_queue"),
    Role.VHOST: ("vhost", "virtual_host"),
    Role.CONSUMER: ("consumer", "consumer_tag", "host", "hostname", "worker"),
    Role.TIMESTAMP: ("timestamp", "time", "ts", "at", "datetime"),
    Role.STARTED: ("started", "started_at", "start", "start_time"),
    Role.FINISHED: ("finished", "finished_at", "finish", "end", "ended", "end_time"),
    Role.BYTES: ("bytes", "size", "size_bytes", "message_bytes", "message_size", "body_size"),
}
#: names of the processing time that messages offer
_COMMON_NAMES = ("processing_time", "duration", "elapsed", "service_time", "runtime")
#: columns in which a duration stands
DURATIONS = (Role.PROCESSING, Role.RTT, Role.ACK_DELAY, Role.CYCLE)
#: columns with figures as people write them
NUMBERS = (*DURATIONS, Role.BYTES)
_ROLES = {name: role for role, names in NAMES.items() for name in names}
_UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("us", "µs", "μs", "usec", "micros", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("ns", "nsec", "nanos", "nanosecond", "nanoseconds"), "ns"),
}
#: names that are taken for one of ours, and why they are not
_NOT_USED = {
    "ping": "a ping is only a lower bound of the round trip",
    "latency": "latency may hold the wait in the queue: name it processing_time, rtt or cycle",
}


@record
class Column:
    """One column that is used."""

    role: Role
    #: as the input spells it
    name: str
    #: position in a row, or among the names of JSON objects
    index: int
    #: unit of its figures; ``None``: each cell brings its own, or (times) its magnitude tells
    unit: str | None = None


@record
class Layout:
    """The columns of one input."""

    columns: tuple[Column, ...]
    #: names of all columns, in order
    names: tuple[str, ...]

    def of(self, role: Role) -> Column | None:
        return next((column for column in self.columns if column.role is role), None)

    @property
    def consumers(self) -> tuple[Column, ...]:
        """Columns that tell consumers apart, together: host and tag, say."""
        return tuple(column for column in self.columns if column.role is Role.CONSUMER)

    @property
    def has_interval(self) -> bool:
        return self.of(Role.STARTED) is not None and self.of(Role.FINISHED) is not None

    @property
    def from_interval(self) -> bool:
        """P is finished - started."""
        return self.of(Role.PROCESSING) is None and self.has_interval

    @property
    def from_cycle(self) -> bool:
        """P is cycle - R."""
        return self.of(Role.PROCESSING) is None and not self.from_interval


def read_name(name: str) -> tuple[Role | None, str | None, str]:
    """The role and unit that a column's name tells, and the name without its unit."""
    text = name.strip()
    if (opened := _opened(text)) > 0:
        base, written = _plain(text[:opened]), text[opened + 1 : -1].strip()
        return _ROLES.get(base), _UNITS.get(written.lower()) or unit_named(written), base
    base = _plain(text)
    if base in _ROLES:
        return _ROLES[base], None, base
    stem, _, suffix = base.rpartition("_")
    if suffix in _UNITS:
        stem = stem.removesuffix("_in")
        return _ROLES.get(stem), _UNITS[suffix], stem
    return None, None, base


def _opened(text: str) -> int:
    """Where the brackets begin that end a name; -1: it has none, or nothing in them."""
    if text[-1:] not in (")", "]"):
        return -1
    inside = max(text.rfind(")", 0, -1), text.rfind("]", 0, -1)) + 1
    openings = [at for at in (text.find("(", inside), text.find("[", inside)) if at >= 0]
    return min(openings) if openings and min(openings) < len(text) - 2 else -1


def _plain(name: str) -> str:
    """``processingTimeMs`` and ``Processing Time-ms`` alike as ``processing_time_ms``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\s.\-_/:]+", "_", spaced).strip("_@").lower()


def lay_out(names: Sequence[str], where: str) -> Layout:
    """The layout that ``names`` give.

    Raises:
        InputError: two columns mean the same, or there is no way to a processing time.
    """
    columns: list[Column] = []
    for index, name in enumerate(names):
        role, unit, _ = read_name(name)
        if role is None:
            continue
        same = next((column for column in columns if column.role is role), None)
        if same is not None and (role is not Role.CONSUMER or same.name == name):
            raise InputError(
                f"{where}: two columns for the {role}: {show(same.name)} and {show(name)}: "
                "rename or drop one"
            )
        columns.append(Column(role, name, index, unit))
    layout = Layout(tuple(columns), tuple(names))
    _check_processing(layout, where)
    if not layout.from_cycle and (layout.of(Role.RTT) or layout.of(Role.ACK_DELAY)):
        # a cycle beside P and R tells nothing new
        kept = tuple(column for column in columns if column.role is not Role.CYCLE)
        return replace(layout, columns=kept)
    return layout


def _check_processing(layout: Layout, where: str) -> None:
    roles = {column.role for column in layout.columns}
    delay = roles & {Role.RTT, Role.ACK_DELAY}
    if Role.PROCESSING in roles or roles >= {Role.STARTED, Role.FINISHED}:
        return
    if Role.CYCLE in roles and delay:
        return
    hints = "".join(f"; {_NOT_USED[base]}" for base in _bases(layout) if base in _NOT_USED)
    raise InputError(
        f"{where}: no processing time: found {_listed(layout.names)}; expected one of "
        f"{', '.join(_COMMON_NAMES)} (with _s, _ms, _us or _ns; others: see the README), or "
        f"started and finished, or cycle and rtt{hints}"
    )


def unused_note(layout: Layout, where: str) -> str | None:
    """What is told of the columns that nobody reads."""
    read = {column.index for column in layout.columns}
    rest = [name for index, name in enumerate(layout.names) if index not in read]
    if not rest:
        return None
    hints = "".join(f"; {_NOT_USED[base]}" for base in map(_base, rest) if base in _NOT_USED)
    return f"{where}: columns not used: {_listed(rest)}{hints}"


def _base(name: str) -> str:
    return read_name(name)[2]


def _bases(layout: Layout) -> list[str]:
    return [_base(name) for name in layout.names]


def _listed(names: Sequence[str]) -> str:
    told = ", ".join(show(name) for name in names[:10])
    return told + (f" and {len(names) - 10} more" if len(names) > 10 else "")
