"""No password anywhere, by the command line: over every error and every way to give one."""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path
from urllib.parse import quote

import pytest
from misbehaving import reply, says, serving
from rabbitmq_node import free_ports
from test_http import ERRORS, PASSWORD, USER

from prefetch_advisor.errors import ExitCode
from prefetch_advisor.sources import live_management

ENCODED = quote(PASSWORD, safe="")
#: what an output may show it as; without its last letters, in whatever encoding
FORMS = (
    PASSWORD[:10],
    ENCODED,
    base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()[:16],
    base64.b64encode(PASSWORD.encode()).decode()[:12],
)
#: options, environment, and what ~/.rabbitmqadmin.conf holds
WAYS = {
    "option": (["-u", USER, "-p", PASSWORD], {}, ""),
    "base URI": (["--base-uri", f"http://{USER}:{ENCODED}@127.0.0.1:{{port}}"], {}, ""),
    "variable": (["-u", USER], {"RABBITMQADMIN_PASSWORD": PASSWORD}, ""),
    "INI": ([], {}, f"[default]\nusername = {USER}\npassword = {PASSWORD}\n"),
    "TOML": ([], {}, f'[default]\nusername = "{USER}"\npassword = "{PASSWORD}"\n'),
}
URIS = {
    "option": (["--uri", f"amqp://{USER}:{ENCODED}@127.0.0.1:{{port}}"], {}),
    "variable": ([], {"RABBITMQ_URL": f"amqp://{USER}:{ENCODED}@127.0.0.1:{{port}}"}),
    "not encoded": (["--uri", f"amqp://{USER}:{PASSWORD}%@127.0.0.1:{{port}}"], {}),
}


@pytest.fixture
def run(cli, monkeypatch, tmp_path: Path, caplog):
    """Runs the command line with everything logged; looks for the password in all that comes."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PREFETCH_ADVISOR_TRACEBACK", "1")

    def go(*arguments, environment=(), port=0):
        for name, value in dict(environment).items():
            monkeypatch.setenv(name, value.replace("{port}", str(port)))
        words = [str(argument).replace("{port}", str(port)) for argument in arguments]
        report = tmp_path / "report"
        done = cli(*words, "-o", report)
        shown = done.out + done.err + caplog.text + (report.read_text() if report.exists() else "")
        for form in FORMS:
            assert form not in shown
        return done

    return go


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wrong", [*ERRORS, "closed"])
def test_of_the_management_api(run, tmp_path, way, wrong):
    options, environment, text = WAYS[way]
    (tmp_path / ".rabbitmqadmin.conf").write_text(text, "utf-8")
    place = [] if way == "base URI" else ["-H", "127.0.0.1", "-P", "{port}"]
    arguments = ["advise", "--live", "management", *place, *options, "--timeout", "0.4"]
    if wrong == "closed":
        done = run(*arguments, environment=environment, port=free_ports(1)[0])
    else:
        with serving(ERRORS[wrong]) as server:
            done = run(*arguments, environment=environment, port=server.port)
    assert done.code == ExitCode.COULD_NOT_RUN, done.err


@pytest.mark.parametrize("way", WAYS)
def test_of_a_report_and_of_a_bug(run, tmp_path, monkeypatch, way):
    options, environment, text = WAYS[way]
    (tmp_path / ".rabbitmqadmin.conf").write_text(text, "utf-8")
    place = [] if way == "base URI" else ["-H", "127.0.0.1", "-P", "{port}"]
    arguments = ["advise", "--live", "management", *place, *options]
    sent: list[bytes] = []

    def broken(client, *_args, **_more):
        client.get("/api/overview")
        raise RuntimeError("a bug")

    monkeypatch.setattr(live_management, "observe", broken)
    with serving(says(reply(json.dumps({"rabbitmq_version": "4.0.0"}).encode()))) as server:
        done = run(*arguments, environment=environment, port=server.port)
        sent = server.requests
    assert done.code == ExitCode.BUG
    assert "RuntimeError: a bug" in done.err
    # it was given: the search above is not for something that never came
    assert base64.b64encode(f"{USER}:{PASSWORD}".encode()) in b"".join(sent)


@pytest.mark.parametrize("way", URIS)
@pytest.mark.parametrize("wrong", ["closed", "http", "gone", "silent"])
def test_of_an_amqp_uri(run, way, wrong):
    options, environment = URIS[way]
    arguments = ["probe", *options, "--timeout", "0.5s"]
    usage = way == "not encoded"
    if wrong == "closed":
        done = run(*arguments, environment=environment, port=free_ports(1)[0])
    else:
        answers = {
            "http": says(reply(b"{}", "400 Bad Request")),
            "gone": says(b""),
            "silent": lambda end: end.recv(1),
        }
        with serving(answers[wrong], least=8) as server:
            done = run(*arguments, environment=environment, port=server.port)
    assert done.code == (ExitCode.USAGE if usage else ExitCode.COULD_NOT_RUN), done.err


@pytest.mark.broker
@pytest.mark.parametrize("way", [*WAYS, *URIS])
def test_of_a_broker_that_refuses_it(run, broker, tmp_path, way):
    if way in WAYS:
        options, environment, text = WAYS[way]
        (tmp_path / ".rabbitmqadmin.conf").write_text(text, "utf-8")
        place = [] if way == "base URI" else ["-H", "127.0.0.1", "-P", "{port}"]
        arguments = ["advise", "--live", "management", *place, *options]
        done = run(*arguments, environment=environment, port=broker.ports.management)
        assert "refused (401" in done.err
    if way in URIS:
        options, environment = URIS[way]
        done = run("probe", *options, environment=environment, port=broker.ports.amqp)
    assert done.code in (ExitCode.COULD_NOT_RUN, ExitCode.USAGE)
