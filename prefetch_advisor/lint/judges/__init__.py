"""The rules: each judge sees the facts of all files at once, never syntax, and yields findings."""

from collections.abc import Callable, Iterable, Sequence

from prefetch_advisor.lint.judges import buffer_queues, claims, consumers, declared, source
from prefetch_advisor.lint.judges.celery import others, rules, windows
from prefetch_advisor.model.lint import LintFinding

Judge = Callable[[Sequence[object]], Iterable[LintFinding]]
Join = Callable[[Sequence[object]], Iterable[object]]

#: what makes further facts of those of several files, before anything is judged
JOINS: tuple[Join, ...] = (
    windows.consumers,
    others.consumers,
)
#: each module below this one adds its own here
JUDGES: tuple[Judge, ...] = (
    declared.judge,
    consumers.judge,
    buffer_queues.judge,
    rules.judge,
    others.judge,
    source.judge,
    claims.judge,
)
