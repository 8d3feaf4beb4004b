"""``rabbitmqctl list_*`` asked on the spot: columns a version lacks, and answers not to be read."""

from __future__ import annotations

import math
import os
from collections.abc import Callable

from prefetch_advisor.errors import InputError
from prefetch_advisor.model.observation import Intake
from prefetch_advisor.sources.commands_run import Ran, environment, run
from prefetch_advisor.sources.fields import Doubts
from prefetch_advisor.sources.json_text import decode, documents, repair, unescape
from prefetch_advisor.sources.rabbitmqctl import build, named, read_document
from prefetch_advisor.sources.rabbitmqctl_failures import (
    CtlError,
    NodeError,
    failure,
    found,
    quoted,
    said_first,
    unknown_columns,
)
from prefetch_advisor.sources.rabbitmqctl_rows import Line, parse_rows

#: every list that is ever asked for, and its columns; none of them changes anything. Names that may
#: hold a tab stand at the ends, so that a table shows where they begin and end.
LISTS = {
    "vhosts": "name",
    "queues": "type state exclusive arguments effective_policy_definition messages messages_ready"
    " messages_unacknowledged message_bytes message_bytes_ready message_bytes_unacknowledged"
    " consumers name",
    "consumers": "consumer_tag channel_pid ack_required prefetch_count active activity_status"
    " arguments queue_name",
    "channels": "name pid consumer_count messages_unacknowledged prefetch_count"
    " global_prefetch_count vhost",
    "connections": "state connected_at protocol client_properties name",
}
#: seconds above its own time limit in which the program itself starts and ends
GRACE = 10.0
#: EX_SOFTWARE: what a formatter that cannot print a name or a pid ends with
CRASHED = 70
#: each refusal names all columns that it does not know
_REFUSALS = 3
#: characters of a name that a shell acts on between double quotes
_ACTIVE = frozenset("$`\\")


class Ctl:
    """One node's ``rabbitmqctl``.

    Raises:
        NodeError: there is no such program.
    """

    def __init__(
        self, program: str, node: str | None, timeout: float, tick: Callable[[], None]
    ) -> None:
        self._path = found(program)
        self._node: list[str] = []
        if node is not None:
            self._node = ["-n", node]
            if "." in node.partition("@")[2]:
                # short names have no dots, and without this they are refused
                self._node.append("--longnames")
        self._seconds = max(1, math.ceil(timeout))
        self._tick = tick
        self._environment = environment()
        self._columns = {listed: tuple(columns.split()) for listed, columns in LISTS.items()}
        #: lists whose JSON could not be read
        self._as_table: set[str] = set()
        #: the program prints, and so takes, names in ASCII only
        self._ascii = False

    def vhosts(self) -> list[str]:
        """The names of all virtual hosts.

        Raises:
            CtlError: it did not list them.
        """
        rows = self._documents("vhosts", None)
        if rows is None:
            names: list[object] = [line.text for line in self._lines("vhosts", None)[1]]
        else:
            names = [row.get("name") for row in rows if isinstance(row, dict)]
        known = [name for name in names if isinstance(name, str) and name]
        if not known:
            raise CtlError(f"{self._asked('vhosts', None)}: named no virtual host")
        return known

    def intake(self, listed: str, vhost: str | None = None) -> Intake:
        """One list; its rows have the ``vhost`` that it was asked for.

        Raises:
            CtlError: it did not list them.
        """
        rows = self._documents(listed, vhost)
        if rows is None:
            return self.table(listed, vhost)
        return read_document(rows, listed, f"rabbitmqctl list_{listed}", vhost=vhost)

    def table(self, listed: str, vhost: str | None = None) -> Intake:
        """As :meth:`intake`, from the table, in which pids name their node.

        Raises:
            CtlError: it did not list them.
        """
        columns, lines = self._lines(listed, vhost)
        doubts = Doubts(f"rabbitmqctl list_{listed}")
        rows = parse_rows(lines, listed, columns, doubts)
        return build([row for row in rows if named(row, listed)], listed, vhost, doubts)

    def unsafe(self, vhost: str) -> str | None:
        """Why a virtual host cannot be asked for by its name; ``None``: it can."""
        if "\0" in vhost:
            return "no program can be given a name with a NUL in it"
        if not _ACTIVE.isdisjoint(vhost) and os.geteuid() == 0:
            # packages put a wrapper in the PATH that lets a shell read the arguments of root
            return "for root, rabbitmqctl's wrapper may run a part of its name as a command"
        if self._ascii and not vhost.isascii():
            return "rabbitmqctl cannot be given its name without a UTF-8 locale"
        return None

    def _documents(self, listed: str, vhost: str | None) -> list[object] | None:
        """The rows as JSON; ``None`` where the answer is none, from then on for this list."""
        if listed in self._as_table:
            return None
        ran = self._ask(listed, vhost, "json")
        if ran is not None:
            text, _ = repair(decode(ran.out))
            # a locale without UTF-8 is known by escapes that are no JSON
            self._ascii = self._ascii or b"\\x{" in ran.out
            try:
                document = documents(text, self._asked(listed, vhost))
            except InputError:
                document = []
            if len(document) == 1 and isinstance(document[0], list):
                return document[0]
        self._as_table.add(listed)
        return None

    def _lines(self, listed: str, vhost: str | None) -> tuple[list[str], list[Line]]:
        """The columns as the header names them, and the lines below it.

        Raises:
            CtlError: the answer is no such table.
        """
        ran = self._ask(listed, vhost, "table")
        asked = self._asked(listed, vhost)
        if ran is None:
            raise CtlError(f"{asked}: prints neither JSON nor a table")
        text, escaped = unescape(decode(ran.out))
        self._ascii = self._ascii or escaped
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        while lines and not lines[-1]:
            del lines[-1]
        if not lines:
            return list(self._columns[listed]), []  # an empty list has no header
        header = lines[0].split("\t")
        if set(header) != set(self._columns[listed]):
            raise CtlError(
                f"{asked}: expected its list as JSON or as a table, found "
                f"{quoted(said_first(text))}"
            )
        return header, [Line(number, line) for number, line in enumerate(lines[1:], 2)]

    def _ask(self, listed: str, vhost: str | None, form: str) -> Ran | None:
        """What one call printed, without the columns that this version does not know.

        ``None``: the program crashed while it printed the form asked for.
        """
        for _ in range(_REFUSALS):
            ran = self._run(listed, vhost, form)
            columns = self._columns[listed]
            refused = unknown_columns(ran).intersection(columns)
            if not refused or len(refused) == len(columns):
                break
            self._columns[listed] = tuple(name for name in columns if name not in refused)
        asked = self._asked(listed, vhost)
        if ran.expired or ran.overflowed or ran.code:
            error = failure(ran, asked, self._seconds + GRACE)
            if ran.code == CRASHED and form == "json":
                return None
            raise error
        return ran

    def _run(self, listed: str, vhost: str | None, form: str) -> Ran:
        command = [self._path, *self._node, f"list_{listed}", "-q", "--formatter", form]
        command += ["--timeout", str(self._seconds)]
        if vhost is not None:
            # one word: a name may begin with a dash
            command.append(f"--vhost={vhost}")
        try:
            return run(
                [*command, *self._columns[listed]],
                self._seconds + GRACE,
                self._environment,
                self._tick,
            )
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise NodeError(f"{quoted(self._path)}: cannot be run: {reason}") from error

    def _asked(self, listed: str, vhost: str | None) -> str:
        """A call as messages name it."""
        return f"rabbitmqctl list_{listed}" + ("" if vhost is None else f" -p {quoted(vhost)}")
