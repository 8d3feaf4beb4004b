"""The rules: each judge sees the facts of all files at once, never syntax, and yields findings."""

from collections.abc import Callable, Iterable, Sequence

from prefetch_advisor.lint.judges import buffer_queues, consumers, declared
from prefetch_advisor.model.lint import LintFinding

Judge = Callable[[Sequence[object]], Iterable[LintFinding]]

#: each module below this one adds its own here
JUDGES: tuple[Judge, ...] = (
    declared.judge,
    consumers.judge,
    buffer_queues.judge,
)
