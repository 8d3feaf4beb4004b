"""A RabbitMQ node of the suite's own: own name, ports, epmd, cookie, data; loopback only."""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import certificates

START_SECONDS = 120
STOP_SECONDS = 30
#: where the broker's programs live when sbin is not in the PATH of an ordinary user
EXTRA_PATH = ("/usr/sbin", "/usr/local/sbin")


class NotInstalled(Exception):
    """No RabbitMQ on this machine."""


def find_programs() -> Path:
    """The directory that holds ``rabbitmq-server`` and ``rabbitmqctl``.

    Debian puts a wrapper in the PATH that insists on root and changes to the user rabbitmq; it
    sits in one directory with links to the real scripts, which run as anybody.

    Raises:
        NotInstalled: the broker, or the Erlang it needs, is missing.
    """
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *EXTRA_PATH])
    found = shutil.which("rabbitmq-server", path=path)
    if found is None:
        raise NotInstalled("rabbitmq-server is not installed")
    if shutil.which("erl") is None or shutil.which("epmd") is None:
        raise NotInstalled("rabbitmq-server is installed, but Erlang's erl and epmd are not")
    directory = Path(found).resolve().parent
    for program in ("rabbitmq-server", "rabbitmqctl"):
        if not (directory / program).exists():
            raise NotInstalled(f"{directory} has rabbitmq-server but not {program}")
    return directory


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on; all are held until the last is known, so they differ."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@dataclass(frozen=True)
class Ports:
    amqp: int
    distribution: int
    epmd: int
    management: int
    prometheus: int
    #: with TLS, where there are certificates; a client has to show one
    amqps: int
    management_tls: int


class Node:
    """A running node. Use :func:`running_node`."""

    def __init__(self, programs: Path, home: Path) -> None:
        self.programs = programs
        self.home = home
        self.ports = Ports(*free_ports(7))
        self.name = f"prefetch-advisor-{os.getpid()}@localhost"
        #: ``None``: there is nothing to make them with, and no port with TLS
        self.certificates: certificates.Certificates | None = None
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def environment(self) -> dict[str, str]:
        loopback = "-kernel inet_dist_use_interface {127,0,0,1}"
        home = self.home
        # nothing of the caller's: a RABBITMQ_* variable or a file in /etc/rabbitmq must not leak in
        return {
            "PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), *EXTRA_PATH]),
            "HOME": str(home),  # the Erlang cookie is made here
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "ERL_EPMD_PORT": str(self.ports.epmd),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": self.name,
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.ports.amqp),
            "RABBITMQ_DIST_PORT": str(self.ports.distribution),
            "RABBITMQ_MNESIA_BASE": str(home / "data"),
            "RABBITMQ_LOG_BASE": str(home / "log"),
            "RABBITMQ_CONFIG_FILE": str(home / "rabbitmq.conf"),
            "RABBITMQ_CONFIG_FILES": str(home / "conf.d" / "*.conf"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(home / "advanced.config"),
            "RABBITMQ_CONF_ENV_FILE": str(home / "rabbitmq-env.conf"),
            "RABBITMQ_GENERATED_CONFIG_DIR": str(home / "generated"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "enabled_plugins"),
            "RABBITMQ_PLUGINS_EXPAND_DIR": str(home / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": loopback,
            "RABBITMQ_CTL_ERL_ARGS": loopback,
        }

    def _configure(self) -> None:
        for name in ("data", "log", "conf.d", "generated"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        (self.home / "rabbitmq-env.conf").write_text("")
        (self.home / "advanced.config").write_text("[].\n")
        plugins = "[rabbitmq_management,rabbitmq_prometheus].\n"
        (self.home / "enabled_plugins").write_text(plugins)
        (self.home / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.ports.amqp}\n"
            "management.tcp.ip = 127.0.0.1\n"
            f"management.tcp.port = {self.ports.management}\n"
            "prometheus.tcp.ip = 127.0.0.1\n"
            f"prometheus.tcp.port = {self.ports.prometheus}\n"
            "collect_statistics_interval = 1000\n"
            "disk_free_limit.absolute = 50MB\n" + self._tls()
        )

    def _tls(self) -> str:
        self.certificates = made = certificates.make(self.home / "tls")
        if made is None:
            return ""
        files = {"cacertfile": made.ca, "certfile": made.cert, "keyfile": made.key}
        asks = {"verify": "verify_peer", "fail_if_no_peer_cert": "true"}
        lines = [f"listeners.ssl.1 = 127.0.0.1:{self.ports.amqps}"]
        lines += ["management.ssl.ip = 127.0.0.1"]
        lines += [f"management.ssl.port = {self.ports.management_tls}"]
        for where in ("ssl_options", "management.ssl"):
            lines += [f"{where}.{name} = {value}" for name, value in {**files, **asks}.items()]
        return "\n".join(lines) + "\n"

    def start(self) -> None:
        """Starts epmd and the node, and waits until both AMQP and the API answer."""
        self._configure()
        # epmd in the foreground, as a child: one that the node starts by itself outlives it
        epmd = shutil.which("epmd", path=self.environment["PATH"]) or "epmd"
        self._spawn([epmd, "-port", str(self.ports.epmd)], "epmd")
        node = self._spawn([str(self.programs / "rabbitmq-server")], "node")
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if node.poll() is not None:
                raise RuntimeError(f"the node ended with {node.returncode}:\n{self.log()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"not up after {START_SECONDS} s:\n{self.log()}")
            time.sleep(0.25)

    def _spawn(self, command: list[str], log: str) -> subprocess.Popen[bytes]:
        with (self.home / "log" / f"{log}.out").open("wb") as out:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=self.environment,
                cwd=self.home,
                # a group of its own: Ctrl-C must reach pytest alone, which then stops the node
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.ports.amqp), timeout=1):
                pass
            self.get("/api/overview")
        except (OSError, urllib.error.URLError):
            return False
        return True

    def stop(self) -> None:
        """Stops the node, then its epmd; kills what does not go."""
        for process in reversed(self._processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
            # the Erlang machine may outlive the script that started it
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(STOP_SECONDS)
        self._processes.clear()

    def log(self) -> str:
        """The end of every log, for a person who has to find out why it did not start."""
        parts = []
        for file in sorted((self.home / "log").iterdir()):
            if file.is_file():
                lines = file.read_text(errors="replace").splitlines()[-40:]
                parts.append("\n".join([f"--- {file.name}", *lines]))
        return "\n".join(parts)

    def rabbitmqctl(self, *arguments: str) -> str:
        """What ``rabbitmqctl ARGUMENTS`` prints."""
        done = subprocess.run(
            [str(self.programs / "rabbitmqctl"), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=self.environment,
            cwd=self.home,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"rabbitmqctl {arguments}: {done.returncode}: {done.stderr!r}")
        return done.stdout.decode()

    def get(self, path: str) -> bytes:
        """The body of a GET to the management API."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.ports.management}{path}")
        credentials = base64.b64encode(b"guest:guest").decode()
        request.add_header("Authorization", f"Basic {credentials}")
        with urllib.request.urlopen(request, timeout=30) as answer:
            body: bytes = answer.read()
        return body


@contextlib.contextmanager
def running_node(home: Path) -> Iterator[Node]:
    """A node that is up inside the block, and gone after it, also on Ctrl-C.

    Raises:
        NotInstalled: there is no RabbitMQ on this machine.
        RuntimeError: it did not start; the message holds its log.
    """
    node = Node(find_programs(), home)
    try:
        node.start()
        yield node
    finally:
        node.stop()
