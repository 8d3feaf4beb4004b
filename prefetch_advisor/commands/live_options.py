"""Options of commands that ask a broker, named as people know them from rabbitmqadmin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from prefetch_advisor.commands.option_types import duration

F = TypeVar("F", bound=Callable[..., Any])

#: of the connection to the management API: the names that settings have in files and environment
CONNECTION = (
    "host",
    "port",
    "username",
    "password",
    "base_uri",
    "path_prefix",
    "use_tls",
    "tls_ca_cert_file",
    "tls_cert_file",
    "tls_key_file",
    "insecure",
    "timeout",
    "config",
    "node",
)


def tls(command: F) -> F:
    """Certificates: for the management API and for AMQP."""
    for option in (
        click.option(
            "-k", "--insecure", is_flag=True, help="Do not check the broker's certificate."
        ),
        click.option("--tls-key-file", metavar="FILE", help="Key of the client certificate."),
        click.option("--tls-cert-file", metavar="FILE", help="Client certificate."),
        click.option("--tls-ca-cert-file", metavar="FILE", help="CA that signed the broker's."),
    ):
        command = option(command)
    return command


def live(command: F) -> F:
    """Where a running broker is, how it is asked, and how it is probed."""
    uri = click.option("--uri", metavar="AMQP-URI", help="Where --rtt probe connects, amqp://...")
    return asked(uri(command), ": the default where there is no input")


def asked(command: F, when: str = "") -> F:
    """Where a running broker is, and how it is asked."""
    for option in (
        click.option(
            "--rabbitmqctl",
            "program",
            default="rabbitmqctl",
            show_default=True,
            metavar="PATH",
            help="The program for --live rabbitmqctl.",
        ),
        click.option("-n", "--ctl-node", metavar="NODE", help="Node that rabbitmqctl asks."),
        click.option(
            "--window",
            type=duration(zero=True),
            metavar="TIME",
            help="How long rabbitmqctl is sampled.  [default: 30s]",
        ),
        click.option("--timeout", metavar="SECONDS", help="For one question.  [default: 60]"),
        click.option("-N", "--node", metavar="ALIAS", help="Section of the configuration file."),
        click.option(
            "-c",
            "--config",
            metavar="FILE",
            help="INI or TOML as rabbitmqadmin has it.  [default: ~/.rabbitmqadmin.conf]",
        ),
        tls,
        click.option("--use-tls", is_flag=True, help="HTTPS."),
        click.option("--path-prefix", metavar="PATH", help="What stands before /api."),
        click.option("--base-uri", metavar="URL", help="In place of host, port and prefix."),
        click.option(
            "-p",
            "--password",
            metavar="PASSWORD",
            help="Others see it in the list of processes: RABBITMQADMIN_PASSWORD or the file.",
        ),
        click.option("-u", "--username", metavar="NAME", help="[default: guest]"),
        click.option("-P", "--port", metavar="PORT", help="[default: 15672, with TLS 15671]"),
        click.option("-H", "--host", metavar="HOST", help="[default: localhost]"),
        click.option(
            "--live",
            "live",
            type=click.Choice(["management", "rabbitmqctl"]),
            help=f"Ask a running broker{when}.",
        ),
    ):
        command = option(command)
    return command
