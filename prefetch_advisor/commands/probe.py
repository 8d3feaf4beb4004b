"""``probe``: measure the round trip to a broker, and report it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prefetch_advisor.commands import output
from prefetch_advisor.errors import ExitCode, UsageError
from prefetch_advisor.probe import ProbePlan
from prefetch_advisor.probe_queue import check_name
from prefetch_advisor.sources import amqp_uri
from prefetch_advisor.sources.amqp_uri import AmqpUri

_STDOUT = "-"
_TLS = {
    "tls_ca_cert_file": "--tls-ca-cert-file",
    "tls_cert_file": "--tls-cert-file",
    "tls_key_file": "--tls-key-file",
    "insecure": "--insecure",
}


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """Everything the command line said."""

    plan: ProbePlan
    format: str
    output: Path | None
    #: where the URI came from: "--uri", the name of a variable, "default"
    origin: str = "default"


def build(options: dict[str, Any]) -> ProbeOptions:
    """The options object from click's parameters.

    Raises:
        UsageError: a URI that is none, options that exclude each other.
    """
    if options["output"] == "":
        raise UsageError("--output is empty: give a value, or leave the option out")
    name = options["queue_name"]
    if name is not None:
        check_name(name)
    uri, origin = where(options, os.environ)
    to = options["output"]
    return ProbeOptions(
        plan=ProbePlan(
            uri=uri,
            queue_type=options["queue_type"],
            queue_name=name,
            message_size=options["message_size"],
            duration=options["duration"],
            count=options["count"],
            timeout=options["timeout"],
        ),
        format=options["format_"],
        output=None if to in (None, _STDOUT) else Path(to),
        origin=origin,
    )


def where(options: Mapping[str, Any], environment: Mapping[str, str]) -> tuple[AmqpUri, str]:
    """The broker to probe, by option, environment or default, and which of them said so.

    ``options`` may hold ``uri``, ``tls_ca_cert_file``, ``tls_cert_file``, ``tls_key_file`` and
    ``insecure``.

    Raises:
        UsageError: no AMQP URI, several that differ, TLS options without TLS.
    """
    text = options.get("uri")
    if text is not None:
        uri, origin = amqp_uri.parse(text), "--uri"
    else:
        found = amqp_uri.from_environment(environment)
        origin, text = found or ("default", amqp_uri.DEFAULT)
        try:
            uri = amqp_uri.parse(text)
        except UsageError as error:
            raise UsageError(f"{origin}: {error}") from None
    return _with_tls_options(uri, options), origin


def _with_tls_options(uri: AmqpUri, options: Mapping[str, Any]) -> AmqpUri:
    given = {name: options[name] for name in _TLS if options.get(name)}
    if given and not uri.tls:
        raise UsageError(f"{_TLS[next(iter(given))]} goes with an amqps:// URI")
    return replace(
        uri,
        ca_file=given.get("tls_ca_cert_file", uri.ca_file),
        cert_file=given.get("tls_cert_file", uri.cert_file),
        key_file=given.get("tls_key_file", uri.key_file),
        verify=uri.verify and not given.get("insecure", False),
    )


def run(options: ProbeOptions) -> int:
    """Probe, report. Returns the exit code.

    Raises:
        AdvisorError: the broker cannot be probed, an unwritable file.
        KeyboardInterrupt: interrupted before there was anything to report, and all is clean.
    """
    # here: --help needs no client, and no numpy
    from prefetch_advisor.probe_run import measure
    from prefetch_advisor.reports import probe_report

    plan = options.plan
    said = "" if options.origin == "--uri" else f" ({options.origin})"
    output.remark([f"probing {plan.uri.shown}{said}, at most {plan.duration:g} s"])
    if plan.uri.unused:
        output.remark([f"not used of the URI: {', '.join(plan.uri.unused)}"])
    result = measure(plan)
    output.remark(result.notes)
    if options.format == "json":
        text = probe_report.json(result, datetime.now(UTC).isoformat(timespec="seconds"))
    else:
        place = output.report_options(options.output, details=False, all_queues=False)
        text = probe_report.table(result, place)
    output.write(text, options.output)
    if result.interrupted:
        output.remark(["interrupted: the report covers what was measured until then"])
        return ExitCode.INTERRUPTED
    return ExitCode.OK
