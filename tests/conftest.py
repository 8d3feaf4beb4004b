"""Fixtures: the command line in process, and a RabbitMQ node of the suite's own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
from own_queue import Line, connections, eventually, queues
from rabbitmq_node import Node, NotInstalled, find_programs, running_node

ROOT = Path(__file__).resolve().parent.parent
CAPTURES = ROOT / "tests" / "data" / "captures"
#: what is not there, by the marker of the tests that need it
LEFT_OUT = pytest.StashKey[dict[str, str]]()
NEEDED = {"broker": "a real broker", "browser": "a real browser"}


def pytest_addoption(parser: pytest.Parser) -> None:
    for name, what in (("broker", "RabbitMQ"), ("browser", "Chromium with its driver")):
        parser.addoption(
            f"--require-{name}",
            action="store_true",
            default=bool(os.environ.get("CI")),
            help=f"fail, rather than leave tests out, where {what} is not installed (default with"
            " CI)",
        )


def leave_out(request: pytest.FixtureRequest, marker: str, reason: str) -> NoReturn:
    """Skip a test for what this machine lacks, and tell so at the end; or fail."""
    if request.config.getoption(f"--require-{marker}"):
        pytest.fail(f"{reason}; tests/run installs it", pytrace=False)
    request.config.stash.setdefault(LEFT_OUT, {})[marker] = reason
    pytest.skip(reason)


@pytest.fixture(scope="session")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Node]:
    """A node that is started for the first test that asks for it."""
    try:
        find_programs()
    except NotInstalled as reason:
        leave_out(request, "broker", str(reason))
    with running_node(tmp_path_factory.mktemp("rabbitmq")) as node:
        yield node


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    left_out = config.stash.get(LEFT_OUT, {})
    if left_out:
        terminalreporter.section("left out")
    for marker, reason in left_out.items():
        count = sum(marker in report.keywords for report in terminalreporter.getreports("skipped"))
        terminalreporter.write_line(
            f"{count} tests against {NEEDED[marker]}: {reason}. tests/run installs it and runs all."
        )


@dataclass(frozen=True)
class Run:
    """What one run of the command line did."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        assert self.code in (0, 1), f"exit {self.code}: {self.err}"
        report: dict[str, Any] = json.loads(self.out)
        return report

    @property
    def queues(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Advice by vhost and queue."""
        return {(queue["vhost"], queue["queue"]): queue for queue in self.report["queues"]}

    @property
    def only(self) -> dict[str, Any]:
        """The advice for the one queue there is."""
        (queue,) = self.report["queues"]
        advice: dict[str, Any] = queue
        return advice


Advise = Callable[..., Run]
Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of this name and text for one test."""

    def write(name: str, text: str) -> Path:
        file = tmp_path / name
        file.write_text(text)
        return file

    return write


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Advise]:
    """Runs ``prefetch-advisor ARGUMENTS``; standard input is neither a pipe nor a file."""
    from prefetch_advisor.cli import main

    with open(os.devnull) as nothing:
        monkeypatch.setattr("sys.stdin", nothing)

        def run(*arguments: object) -> Run:
            capsys.readouterr()
            code = main([str(argument) for argument in arguments])
            out, err = capsys.readouterr()
            return Run(code, out, err)

        yield run


@pytest.fixture
def advise(cli: Advise) -> Advise:
    """Runs ``prefetch-advisor advise ARGUMENTS --format json``."""

    def run(*arguments: object) -> Run:
        return cli("advise", *arguments, "--format", "json")

    return run


@pytest.fixture(scope="module")
def no_connection_left(broker: Node) -> Iterator[None]:
    yield
    assert eventually(lambda: not connections(broker)), "a probe's connection is left"


@pytest.fixture
def clean(broker: Node, no_connection_left: None) -> Iterator[Node]:
    """The broker, which has to have the queues of before after the test."""
    before = queues(broker)
    yield broker
    assert eventually(lambda: queues(broker) == before), f"left: {queues(broker) - before}"


@pytest.fixture
def line(broker: Node) -> Iterator[Line]:
    made = Line(broker.ports.amqp)
    yield made
    made.close()
