"""What lint sees and says: places in files, facts with their places, findings on a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from prefetch_advisor.model.advice import Finding, Severity
from prefetch_advisor.model.record import record

T = TypeVar("T")
#: when a consumer's messages count as done: after the work, on delivery, before the work
AckMode = Literal["manual", "auto", "early"]


@record
class Place:
    """A place in a file, counted from 1."""

    #: as it is printed: relative to where lint runs, with slashes
    path: str
    line: int
    column: int = 1


@dataclass(frozen=True, slots=True)
class Located(Generic[T]):
    """A value, where it is said, and how it came about when it is not written there as such."""

    value: T
    place: Place
    #: for a person, such as "multiplier 4 x 8 processes"; empty: as written
    origin: str = ""
    #: false for a default that the environment or another file may override: no error rests on it
    certain: bool = True


@record
class Consumer:
    """One consumer, or a group of alike ones, as a file declares it: all that the rules see of it.

    ``None``: the files do not say, or what they say cannot be resolved; nothing is guessed.
    """

    #: queue, listener or worker as the file calls it
    subject: str
    #: library or framework as a person calls it: "Celery", "Spring AMQP"
    client: str
    #: where the consumer itself is declared
    place: Place
    #: the queue it reads, when it is known
    queue: str | None = None
    #: prefetch in force for each consumer; 0: no limit
    prefetch: Located[int] | None = None
    ack: Located[AckMode] | None = None
    #: messages that one consumer works on at once
    concurrency: Located[int] | None = None
    #: consumers of that prefetch in one process
    consumers: Located[int] | None = None
    #: messages that are acked together, or collected before they are worked on
    batch: Located[int] | None = None
    #: the setting of its prefetch as the client calls it, for what to do
    setting: str = ""


@record
class LintFinding:
    """A finding with its place."""

    finding: Finding
    place: Place
    #: the line of the file, without its end, secrets masked; empty where there is none
    text: str = ""
    #: the column of ``text`` that ``place`` is at, which masking may have moved
    caret: int = 1

    @property
    def severity(self) -> Severity:
        """That of the finding."""
        return self.finding.severity


@record
class LintReport:
    """What a run of lint says."""

    #: most severe first, then by path and line
    findings: tuple[LintFinding, ...]
    #: files that were read because they may say something of consumers
    files: int
    #: findings that a comment, the settings or the baseline silenced
    suppressed: int = 0
    #: for standard error: what was skipped and why
    notes: tuple[str, ...] = ()
