"""What can go wrong, with its exit code: raised anywhere, turned into a code in one place."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes; they do not depend on the output format."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    COULD_NOT_RUN = 3
    BUG = 4
    INTERRUPTED = 130


class AdvisorError(Exception):
    """Base of every error that is not a bug. The message is complete: one line for a person."""

    exit_code = ExitCode.COULD_NOT_RUN


class UsageError(AdvisorError):
    """Options or values that cannot be meant: a bad duration, a conflict between two options."""

    exit_code = ExitCode.USAGE


class InputError(AdvisorError):
    """An input that cannot be read or holds nothing usable. The message names file and line."""


class NoQueueError(AdvisorError):
    """A selection that matches no queue; the message lists near names."""
