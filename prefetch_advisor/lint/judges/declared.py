"""Declared queues: each sized as ``advise`` would, and held against what was declared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefetch_advisor.lint.declared import DeclaredQueue
from prefetch_advisor.lint.judges import known
from prefetch_advisor.model.lint import LintFinding


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """What is wrong with the queues that settings declare."""
    if not any(isinstance(fact, DeclaredQueue) for fact in facts):
        return
    queues = known.declared(facts)
    # here: most trees declare none, and sizing is a large import
    from prefetch_advisor.lint.declared import kind, load, machines, rules
    from prefetch_advisor.lint.declared.timings import TimingFiles

    files = TimingFiles()
    for queue in queues:
        timings, wrong = files.row(queue)
        yield from wrong
        yield from kind.of_kind(queue)
        if queue.machines is None:
            yield from rules.of_prefetch(queue, timings)
        else:
            yield from machines.of_machines(queue)
        yield from load.of_load(machines.whole(queue), timings)
