"""A running node watched through ``rabbitmqctl``: depths over a window, consumers at its ends."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass

from prefetch_advisor.errors import InputError, UsageError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources.commands_run import TICK
from prefetch_advisor.sources.rabbitmqctl_calls import Ctl
from prefetch_advisor.sources.rabbitmqctl_failures import NodeError, SlowError, quoted
from prefetch_advisor.sources.rabbitmqctl_seen import WHERE, Host, Seen
from prefetch_advisor.sources.tabular.interrupts import Interrupts
from prefetch_advisor.units import duration, plural

#: seconds done, and seconds in all
Progress = Callable[[float, float], None]
_NODE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*(?:@[A-Za-z0-9_.:-]+)?")
_NAMED_AT_MOST = 5
#: looks after the first one: a level that stands still is one in three samples
_LEAST_LOOKS = 2
#: looks, the first included, without which a node that is lost leaves nothing to judge
_ENOUGH = 3


@dataclass(frozen=True, slots=True)
class CtlOptions:
    """Which program to ask, of which node, for how long."""

    program: str = "rabbitmqctl"
    #: ``None``: the program's own default
    node: str | None = None
    #: ``None``: every virtual host
    vhost: str | None = None
    #: wanted by name: only virtual hosts that have one of them are looked at again; empty: all are
    queues: tuple[str, ...] = ()
    #: seconds from the first look at the depths to the last; 0: one look
    window: float = 30.0
    #: seconds between two looks
    interval: float = 5.0
    #: seconds that one call may take
    timeout: float = 60.0


def available(program: str = "rabbitmqctl") -> bool:
    """Whether there is such a program, by its path or in the PATH, that can be executed."""
    return shutil.which(program) is not None


def observe(options: CtlOptions, progress: Progress) -> list[Intake]:
    """What the node lists: one intake for each virtual host, one for channels and connections.

    The rows of queues carry a series of depths with the time of each answer, in seconds since the
    epoch. Ctrl-C ends the window: what was seen by then is returned, the last intake marked as
    interrupted. So does the end of the node, after three looks, with a note. ``progress`` is called
    ten times a second.

    Raises:
        InputError: the program cannot be run or does not answer, the node does not, there is no
            such virtual host; the message is one line.
        UsageError: no node can have this name.
        KeyboardInterrupt: Ctrl-C before the first list of queues was complete.
    """
    if options.node is not None and not _NODE.fullmatch(options.node):
        raise UsageError(f"expected a node such as rabbit@host, found {quoted(options.node)}")
    with Interrupts() as interrupts:
        watch = _Watch(options, progress, interrupts)
        try:
            watch.begin()
            if options.window > 0:
                watch.look_on()
                watch.list_clients()
        except KeyboardInterrupt:
            if not watch.begun:
                raise
            return watch.seen.intakes(interrupted=True, stale=True)
        except NodeError as error:
            if watch.seen.looks < _ENOUGH:
                raise
            watch.note_lost(error)
            return watch.seen.intakes(interrupted=False, stale=True)
        return watch.seen.intakes(interrupted=False, stale=False)


class _Watch:
    """One window."""

    def __init__(self, options: CtlOptions, progress: Progress, interrupts: Interrupts) -> None:
        self._options = options
        self._progress = progress
        self._interrupts = interrupts
        self._ctl = Ctl(options.program, options.node, options.timeout, self._tick)
        # the clock may be set while we look, and differences are what counts
        self._epoch = time.time() - time.monotonic()
        self._start = self._last = 0.0
        #: pids of several nodes: only tables tell these apart
        self._cluster = False
        #: a list that can be done without took too long: the others might too
        self._slow = False
        #: every virtual host was looked at once
        self.begun = False
        self.seen = Seen()

    def _tick(self) -> None:
        if self._interrupts.happened:
            raise KeyboardInterrupt
        window = self._options.window
        since = time.monotonic() - self._start if self.begun else 0.0
        self._progress(min(since, window), window)

    def begin(self) -> None:
        """Clients, and the first look at every virtual host."""
        self.seen.hosts = [Host(name) for name in self._names()]
        self.list_clients()
        failed: dict[str, InputError] = {}
        for host in self.seen.hosts:
            try:
                latest = self._ctl.intake("queues", host.name)
            except (NodeError, SlowError):
                raise
            except InputError as error:
                failed[host.name] = error
            else:
                host.add(latest, self._epoch + time.monotonic())
        self.seen.hosts = [host for host in self.seen.hosts if host.name not in failed]
        for each in failed.values():
            if not self.seen.hosts:
                raise each
            self.seen.note(f"{each}: this vhost is left out")
        self._start, self.begun = time.monotonic(), True
        self.seen.looks = 1
        self.seen.begun()
        wanted = set(self._options.queues)
        chosen = [host for host in self.seen.hosts if wanted.intersection(host.depths)]
        for host in self.seen.hosts:
            host.watched = host in chosen if chosen else bool(host.depths)

    def _names(self) -> list[str]:
        """The virtual hosts to ask for."""
        names = self._ctl.vhosts()
        wanted = self._options.vhost
        if wanted is not None:
            if wanted not in names:
                raise InputError(f"{WHERE}: no vhost {quoted(wanted)}; there are {_few(names)}")
            names = [wanted]
        refused = {name: why for name in names if (why := self._ctl.unsafe(name)) is not None}
        if len(refused) == len(names):
            raise InputError(f"{WHERE}: vhost {quoted(names[0])}: {refused[names[0]]}")
        for name, why in refused.items():
            self.seen.note(f"{WHERE}: vhost {quoted(name)} is left out: {why}")
        return [name for name in names if name not in refused]

    def look_on(self) -> None:
        """A look at every interval and at the end of the window, two at the least."""
        window = self._options.window
        end = self._start + window
        interval = max(min(self._options.interval, window / _LEAST_LOOKS), TICK)
        looks, longest = 0, 0.0
        while any(host.watched for host in self.seen.hosts):
            past = int((time.monotonic() - self._start) / interval)
            due = min(self._start + (past + 1) * interval, end)
            self._wait(due)
            began = time.monotonic()
            self._look()
            looks += 1
            self.seen.looks += 1
            self._last = time.monotonic()
            longest = max(longest, time.monotonic() - began)
            if looks >= _LEAST_LOOKS and (due >= end or time.monotonic() >= end):
                break
        if longest > interval:
            self._note_slow(longest, interval)
        self._progress(window, window)

    def _wait(self, due: float) -> None:
        while (left := due - time.monotonic()) > 0:
            self._tick()
            time.sleep(min(left, TICK))

    def _look(self) -> None:
        for host in self.seen.hosts:
            if not host.watched:
                continue
            try:
                latest = self._ctl.intake("queues", host.name)
            except NodeError:
                raise
            except InputError as error:
                self.seen.note(f"{error}: it was not looked at again")
                host.watched = False
                if isinstance(error, SlowError):
                    # each of the others might take as long
                    for other in self.seen.hosts:
                        other.watched = False
                    return
            else:
                host.add(latest, self._epoch + time.monotonic())

    def note_lost(self, error: NodeError) -> None:
        """The node went away; what was read until then is judged."""
        window, seen = self._options.window, max(0.0, self._last - self._start)
        self.seen.note(
            f"{WHERE}: the node was lost: {duration(min(seen, window))} of the window of "
            f"{duration(window)} were seen, in {self.seen.looks} looks, and are judged, with "
            f"consumers as they were at its start: {error}"
        )

    def _note_slow(self, took: float, interval: float) -> None:
        watched = sum(host.watched for host in self.seen.hosts)
        hint = ": name one with --vhost" if watched > 1 else ""
        self.seen.note(
            f"{WHERE}: a look at {plural(watched, 'vhost')} takes up to {duration(took)}, longer "
            f"than the {duration(interval)} between two{hint}"
        )

    def list_clients(self) -> None:
        """Channels, consumers and connections, as they are now."""
        seen = self.seen
        seen.channels = self._listed("channels") or seen.channels
        if not self._cluster and seen.nodes > 1:
            self._cluster = True
            seen.channels = self._listed("channels") or seen.channels
        for host in seen.hosts:
            if host.watched:
                host.consumers = self._listed("consumers", host.name) or host.consumers
        seen.connections = self._listed("connections") or seen.connections

    def _listed(self, listed: str, vhost: str | None = None) -> Intake | None:
        """A list that can be done without: what is then unknown is told."""
        if self._slow:
            return None
        as_table = self._cluster and listed != "connections"
        try:
            return (self._ctl.table if as_table else self._ctl.intake)(listed, vhost)
        except NodeError:
            raise
        except InputError as error:
            self._slow = isinstance(error, SlowError)
            self.seen.note(f"{error}: without this list of {listed} less can be judged")
            return None


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED_AT_MOST:,} more" if len(names) > _NAMED_AT_MOST else ""
    return ", ".join(map(quoted, sorted(names)[:_NAMED_AT_MOST])) + more
