"""Certificates of an authority that is made for the run: a server's, a client's, and a stranger."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 60
_COMMANDS = (
    "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=tests",
    "req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.pem -days 2 -subj /CN=other",
    "req -newkey rsa:2048 -nodes -keyout key.pem -out request -subj /CN=localhost",
    "x509 -req -in request -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names"
    " -out cert.pem",
)


@dataclass(frozen=True)
class Certificates:
    """Files in one directory. The server's certificate is for localhost alone, unless said."""

    home: Path

    def file(self, name: str) -> str:
        return str(self.home / name)

    @property
    def ca(self) -> str:
        return self.file("ca.pem")

    @property
    def other_ca(self) -> str:
        """Of an authority that has nothing to do with it."""
        return self.file("other.pem")

    @property
    def cert(self) -> str:
        """Of the server, and of a client too."""
        return self.file("cert.pem")

    @property
    def key(self) -> str:
        return self.file("key.pem")


def make(home: Path, names: str = "DNS:localhost") -> Certificates | None:
    """Certificates in ``home``; ``None`` without the program that makes them."""
    openssl = shutil.which("openssl")
    if openssl is None:
        return None
    home.mkdir(parents=True, exist_ok=True)
    (home / "names").write_text(f"subjectAltName={names}\n")
    for command in _COMMANDS:
        run(openssl, command, home)
    return Certificates(home)


def run(openssl: str, command: str, home: Path) -> None:
    """One command of it."""
    subprocess.run(
        [openssl, *command.split()], cwd=home, check=True, capture_output=True, timeout=_SECONDS
    )
