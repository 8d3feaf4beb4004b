"""Fixtures: the command line in process, and a RabbitMQ node of the suite's own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from own_queue import Line, connections, eventually, queues
from rabbitmq_node import Node, NotInstalled, find_programs, running_node

ROOT = Path(__file__).resolve().parent.parent
CAPTURES = ROOT / "tests" / "data" / "captures"
LEFT_OUT = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-broker",
        action="store_true",
        default=bool(os.environ.get("CI")),
        help="fail, rather than leave tests out, when RabbitMQ is not installed (default with CI)",
    )


@pytest.fixture(scope="session")
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Node]:
    """A node that is started for the first test that asks for it."""
    try:
        find_programs()
    except NotInstalled as reason:
        if request.config.getoption("--require-broker"):
            pytest.fail(f"{reason}; tests/run installs it", pytrace=False)
        request.config.stash[LEFT_OUT] = str(reason)
        pytest.skip(str(reason))
    with running_node(tmp_path_factory.mktemp("rabbitmq")) as node:
        yield node


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    reason = config.stash.get(LEFT_OUT, None)
    if reason is not None:
        count = sum(
            "broker" in report.keywords for report in terminalreporter.getreports("skipped")
        )
        terminalreporter.section("left out")
        terminalreporter.write_line(
            f"{count} tests against a real broker: {reason}. tests/run installs it and runs all."
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
