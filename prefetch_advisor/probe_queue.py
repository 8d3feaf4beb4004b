"""The probe's own queue: made, and gone again whatever happens."""

from __future__ import annotations

import contextlib
import secrets
from typing import TYPE_CHECKING, Any

from prefetch_advisor.errors import AdvisorError, UsageError
from prefetch_advisor.probe_connection import client, close, connect, failures

if TYPE_CHECKING:
    from prefetch_advisor.probe import ProbePlan

#: milliseconds without a consumer after which the broker removes a queue that was left behind
_EXPIRES = 60_000
#: seconds to wait for the broker when a queue is deleted over a new connection
_CLEAN_UP_SECONDS = 5.0
_NAME_BYTES = 255


def check_name(name: str) -> None:
    """Refuse a name that no broker takes.

    Raises:
        UsageError: it is empty, too long, no UTF-8, or one of the broker's own.
    """
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        raise UsageError("--queue-name is not UTF-8") from None
    if not 0 < length <= _NAME_BYTES:
        raise UsageError(f"--queue-name takes 1 to {_NAME_BYTES} bytes, not {length}")
    if name.startswith("amq."):
        raise UsageError("--queue-name: names that start with amq. belong to the broker")


class ProbeQueue:
    """A queue that did not exist before.

    A classic one is exclusive, so that the broker removes it with the connection, however that
    ends. A quorum queue cannot be: it is deleted, over a new connection where the first is lost,
    and expires by itself where that fails too.
    """

    def __init__(self, connection: Any, plan: ProbePlan) -> None:
        self._connection = connection
        self._plan = plan
        self.name = plan.queue_name or f"prefetch-advisor.probe.{secrets.token_hex(8)}"
        #: declared, or asked to be, by this object
        self._ours = False

    def declare(self) -> None:
        """Make the queue.

        Raises:
            AdvisorError: there is one of that name; it is not touched.
            Exception: one of ``probe_connection.failures()``.
        """
        if self._plan.queue_name is not None:
            self._refuse_existing()
        channel = self._connection.channel()
        self._ours = True
        try:
            channel.queue_declare(self.name, **self._kind())
        except client().exceptions.ChannelClosed as error:
            # refused, so what has that name now is not the probe's
            self._ours = False
            if error.reply_code in (405, 406):
                raise AdvisorError(self._exists()) from None
            raise
        channel.close()

    def _kind(self) -> dict[str, Any]:
        if self._plan.queue_type == "classic":
            return {
                "exclusive": True,
                "auto_delete": True,
                "arguments": {"x-queue-type": "classic"},
            }
        # a random part: a queue that somebody else makes between the check and this has other
        # arguments, so that it is refused rather than shared and deleted
        expires = _EXPIRES + secrets.randbelow(10_000)
        return {"durable": True, "arguments": {"x-queue-type": "quorum", "x-expires": expires}}

    def _refuse_existing(self) -> None:
        channel = self._connection.channel()
        try:
            channel.queue_declare(self.name, passive=True)
        except client().exceptions.ChannelClosed as error:
            # the broker also answers 404 for a queue that is there but down
            if error.reply_code == 404 and "no queue" in error.reply_text:
                return
            if error.reply_code in (404, 405):
                raise AdvisorError(self._exists()) from None
            raise
        raise AdvisorError(self._exists())

    def _exists(self) -> str:
        return (
            f"there is a queue {self.name!r} in vhost {self._plan.uri.vhost!r} already: the probe "
            "uses only a queue of its own, with a random name unless --queue-name is given"
        )

    def remove(self) -> str | None:
        """Delete a queue that does not go with its connection; says so where it cannot."""
        if not self._ours or self._plan.queue_type == "classic":
            return None
        if self._connection.is_open:
            with contextlib.suppress(*failures()):
                self._connection.channel().queue_delete(self.name)
                return None
        try:
            second = connect(self._plan.uri, min(self._plan.timeout, _CLEAN_UP_SECONDS))
            try:
                second.channel().queue_delete(self.name)
            finally:
                close(second)
        except failures():
            return (
                f"its queue {self.name!r} could not be deleted: the broker removes it "
                f"{_EXPIRES // 1000} to {_EXPIRES // 1000 + 10} s after the probe's end"
            )
        return None
