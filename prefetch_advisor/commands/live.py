"""A running broker in place of input: the management API, else ``rabbitmqctl``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from prefetch_advisor.commands import output
from prefetch_advisor.commands.live_options import CONNECTION
from prefetch_advisor.commands.selection import Selection
from prefetch_advisor.errors import AdvisorError, UsageError
from prefetch_advisor.model.figures import FigureSource, RoundTrip
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.model.record import record
from prefetch_advisor.units import duration

if TYPE_CHECKING:
    from prefetch_advisor.probe import QueueType
    from prefetch_advisor.sources.connection import Connection

#: seconds that rabbitmqctl is sampled unless said otherwise
WINDOW = 30.0
_CONNECT_TIMEOUT = 5.0


@record
class LiveOptions:
    """Everything the command line said of a running broker."""

    #: management, rabbitmqctl; ``None``: the API, else the program
    kind: str | None
    #: by their names without dashes; never printed
    settings: Mapping[str, object] = field(repr=False)
    program: str = "rabbitmqctl"
    ctl_node: str | None = None
    #: seconds; ``None``: the default
    window: float | None = None
    #: the AMQP URI and its TLS options, for a probe
    uri: str | None = field(default=None, repr=False)

    @property
    def asked_for(self) -> bool:
        """Whether an option names a broker, or how to ask it."""
        given = any(self.settings.get(name) for name in CONNECTION)
        return given or self.kind is not None or self.ctl_node is not None


def build(options: Mapping[str, Any]) -> LiveOptions:
    """The options object from click's parameters.

    Raises:
        UsageError: options that exclude each other.
    """
    live = LiveOptions(
        kind=options["live"],
        settings={name: options[name] for name in (*CONNECTION, "vhost")},
        program=options["program"],
        ctl_node=options["ctl_node"],
        window=options["window"],
        uri=options["uri"],
    )
    if live.asked_for and options["inputs"]:
        raise UsageError("files were given, and a running broker was asked for: one or the other")
    if live.window is not None and live.kind != "rabbitmqctl":
        raise UsageError("--window goes with --live rabbitmqctl: the API keeps its history")
    return live


def connection(options: LiveOptions) -> Connection:
    """Where the management API is, by option, environment, file or default.

    Raises:
        UsageError, InputError: settings that cannot be meant.
    """
    from prefetch_advisor.sources.connection import resolve

    return resolve(options.settings, os.environ, Path.home())


def observe(options: LiveOptions, selection: Selection, there: Connection | None) -> list[Intake]:
    """What the broker shows now: its API ``there``, or the program where there is none to ask.

    Raises:
        AdvisorError: it cannot be asked; one line that says why.
    """
    if there is None:
        return _by_program(options, selection)
    from prefetch_advisor.sources import live_management
    from prefetch_advisor.sources.http import Client
    from prefetch_advisor.sources.http_errors import Unreachable
    from prefetch_advisor.sources.live_rabbitmqctl import available

    vhost = selection.vhost if selection.vhost is not None else there.vhost
    try:
        with Client(there) as client:
            return live_management.observe(client, vhost, selection.queues)
    except Unreachable as error:
        if options.kind is not None or options.asked_for or not available(options.program):
            raise
        output.remark([str(error), f"asking {options.program} instead (--live rabbitmqctl)"])
        return _by_program(options, selection)


def _by_program(options: LiveOptions, selection: Selection) -> list[Intake]:
    from prefetch_advisor.progress import progress_bar
    from prefetch_advisor.sources.live_rabbitmqctl import CtlOptions
    from prefetch_advisor.sources.live_rabbitmqctl import observe as watch

    asked = CtlOptions(
        program=options.program,
        node=options.ctl_node,
        vhost=selection.vhost,
        queues=selection.queues,
        window=WINDOW if options.window is None else options.window,
    )
    with progress_bar(f"sampling {options.program}") as progress:
        return watch(asked, progress)


def connect_bound(there: Connection) -> RoundTrip | None:
    """The TCP connect to the broker from here: R is at least that. ``None``: not to be had."""
    from prefetch_advisor.sources.tcp import connect_time, described

    try:
        seconds = connect_time(there.host, there.port, _CONNECT_TIMEOUT)
    except AdvisorError:
        return None
    origin = described(there.host, there.port)
    return RoundTrip(seconds, FigureSource.BOUND, origin, side="at least")


def probe(options: LiveOptions, queue_type: QueueType) -> RoundTrip:
    """R, measured from here on a queue of its own; on a quorum queue it takes longer.

    Raises:
        AdvisorError: the broker cannot be probed.
    """
    from prefetch_advisor.commands.probe import where
    from prefetch_advisor.probe import ProbePlan
    from prefetch_advisor.probe_run import measure_round_trip

    settings = {name: options.settings.get(name) for name in _TLS}
    if options.uri is None and options.asked_for:
        there = connection(options)
        uri, _ = where({"uri": _amqp_uri(there), **(settings if there.tls else {})}, {})
    else:
        uri, _ = where({"uri": options.uri, **settings}, os.environ)
    kind = "" if queue_type == "classic" else f" on a {queue_type} queue"
    output.remark([f"probing {uri.shown} for the round trip{kind}"])
    trip = measure_round_trip(ProbePlan(uri=uri, queue_type=queue_type))
    return replace(trip, origin=f"{trip.origin}: {duration(trip.mean)} on average")


_TLS = ("tls_ca_cert_file", "tls_cert_file", "tls_key_file", "insecure")


def _amqp_uri(there: Connection) -> str:
    """The broker's AMQP port, where only its management API was named."""
    scheme, port = ("amqps", 5671) if there.tls else ("amqp", 5672)
    user = f"{quote(there.username, safe='')}:{quote(there.password.reveal(), safe='')}"
    host = f"[{there.host}]" if ":" in there.host else there.host
    return f"{scheme}://{user}@{host}:{port}/{quote(there.vhost or '/', safe='')}"
