"""What ``rabbitmqctl`` says when it lists nothing, as one line each: what is wrong, what to do."""

from __future__ import annotations

import os
import re
import shutil
import signal

from prefetch_advisor.errors import InputError
from prefetch_advisor.sources.commands_run import Ran
from prefetch_advisor.sources.json_text import decode
from prefetch_advisor.units import duration

#: exit codes of rabbitmqctl, from sysexits.h
_USAGE, _DATA, _UNAVAILABLE, _TEMPORARY, _CONFIG = 64, 65, 69, 75, 78
_SHOWN = 200
#: where packages put it, out of the PATH of ordinary users and of cron
_ASIDE = ("/usr/sbin", "/usr/local/sbin", "/opt/rabbitmq/sbin")
_UNKNOWN_COLUMNS = re.compile(r"Info key\(s\) ([\w, ]+) (?:are|is) not supported")
_NOT_ALLOWED = re.compile(r"^\s*(Only root or .* (?:should|can|may) run .*?)\s*$", re.MULTILINE)
_COOKIE_FILE = re.compile(r"^.*(?:[Cc]ookie file|reading \S*\.erlang\.cookie).*$", re.MULTILINE)
_TELLING = re.compile(r"^(?:Error|\*\* \(|escript:|.*\[error\])")
_LOGGED = re.compile(r"^\d\d:\d\d:\d\d\.\d+ \[\w+\] ")
#: lines of the diagnostics that say why a node cannot be reached
_WHY = re.compile(
    r"^\s*\* (?!connected to epmd|epmd reports node '\S+' uses)"
    r"(epmd reports.*|unable to .*|can't .*|TCP connection .*|.*[Aa]uthentication failed.*)$",
    re.MULTILINE,
)
_REFUSED = re.compile(r"Erlang distribution failed|[Aa]uthentication failed")
_INSTEAD = "or ask the management API (--live management)"


class CtlError(InputError):
    """rabbitmqctl did not list what it was asked for."""


class NodeError(CtlError):
    """It will not answer anything else either."""


class SlowError(CtlError):
    """It did not answer in time."""


def found(program: str) -> str:
    """The path of ``program``.

    Raises:
        NodeError: there is none, or it is not to be executed; the message says where it was sought.
    """
    path = shutil.which(program)
    if path is not None:
        return path
    if os.sep in program:
        why = "is not executable" if os.path.isfile(program) else "is no file"
        raise NodeError(f"--rabbitmqctl {quoted(program)}: {why}")
    places = os.environ.get("PATH", os.defpath).replace(os.pathsep, ", ")
    beside = next((place for place in _ASIDE if shutil.which(program, path=place)), None)
    hint = "give its place with --rabbitmqctl PATH"
    if beside is not None:
        hint = f"there is one in {beside}: --rabbitmqctl {beside}/{program}"
    raise NodeError(f"{quoted(program)} is not in the PATH ({places}): {hint}, {_INSTEAD}")


def unknown_columns(ran: Ran) -> frozenset[str]:
    """Columns that this version refused to list."""
    if ran.code != _USAGE:
        return frozenset()
    refused = _UNKNOWN_COLUMNS.search(decode(ran.err))
    return frozenset() if refused is None else frozenset(re.findall(r"\w+", refused[1]))


def failure(ran: Ran, asked: str, seconds: float) -> CtlError:
    """The error of a call that failed; ``asked``: the command, as messages name it."""
    err, out = decode(ran.err), decode(ran.out)
    if ran.expired:
        return SlowError(f"{asked}: no answer within {duration(seconds)}; it was ended")
    if ran.overflowed:
        return CtlError(f"{asked}: printed more than any list is long; it was ended")
    said = quoted(said_first(err) or said_first(out))
    if killed := _signal(ran.code):
        return CtlError(f"{asked}: was killed ({killed}); it had said {said}")
    refused = _NOT_ALLOWED.search(out) or _NOT_ALLOWED.search(err)
    if refused is not None:
        return NodeError(
            f"{asked}: this user may not run it, it said {quoted(refused[1])}: run as root or as "
            f"the user rabbitmq, {_INSTEAD}"
        )
    if ran.code == _UNAVAILABLE:
        return _unreachable(asked, said, err)
    cookie = _COOKIE_FILE.search(err)
    if ran.code == _CONFIG or cookie is not None:
        said = quoted(said_first(cookie[0])) if cookie is not None else said
        return NodeError(
            f"{asked}: cannot use the Erlang cookie of this user (exit {ran.code}), it said "
            f"{said}: run as root or as the user rabbitmq, {_INSTEAD}"
        )
    if ran.code == _TEMPORARY:
        return SlowError(f"{asked}: timed out (exit {ran.code}), it said {said}")
    if "app to be running" in err:
        return NodeError(f"{asked}: the node runs without RabbitMQ in it, it said {said}")
    if ran.code in (_USAGE, _DATA):
        return NodeError(f"{asked}: did not take its arguments (exit {ran.code}), it said {said}")
    return CtlError(f"{asked}: failed (exit {ran.code}), it said {said}")


def _unreachable(asked: str, said: str, err: str) -> NodeError:
    why = _WHY.search(err)
    because = f": {legible(why[1].strip())}" if why is not None else ""
    if _REFUSED.search(err):
        hint = "is the Erlang cookie of this user that of the node? Run as root or as rabbitmq"
    else:
        hint = "is it running, and its name right (-n)? Run where it runs"
    return NodeError(f"{asked}: cannot reach the node, it said {said}{because}; {hint}, {_INSTEAD}")


def _signal(code: int) -> str | None:
    """The name of the signal that ended a program, or one that a shell ran for it."""
    number = -code if code < 0 else code - 128
    try:
        return signal.Signals(number).name if number > 0 else None
    except ValueError:
        return None


def said_first(text: str) -> str:
    """The first line that says what is wrong; else the first there is."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = next((line for line in lines if _TELLING.match(line)), lines[0] if lines else "")
    return _LOGGED.sub("", line)


def quoted(text: str) -> str:
    """``text`` in quotation marks on one line, nothing invisible in it; "nothing" for none."""
    return f"'{legible(text)}'" if text else "nothing"


def legible(text: str) -> str:
    """``text`` cut to a line's length, with escapes for what has no glyph."""
    cut = text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in cut)
