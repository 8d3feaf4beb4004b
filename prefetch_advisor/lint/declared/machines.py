"""Queues whose consumers run on unequal machines: judged kind by kind, and as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from prefetch_advisor import unequal
from prefetch_advisor.bounds import ConflictError
from prefetch_advisor.config import MAX_PREFETCH
from prefetch_advisor.hints import consumers
from prefetch_advisor.lint.declared import DeclaredQueue
from prefetch_advisor.lint.declared.observed import alike, judged_as, policy, where
from prefetch_advisor.lint.declared.placing import told
from prefetch_advisor.lint.declared.rules import of_prefetch
from prefetch_advisor.lint.declared.words import numbers
from prefetch_advisor.model.lint import LintFinding, Located, Place
from prefetch_advisor.units import duration


def of_machines(queue: DeclaredQueue) -> Iterator[LintFinding]:
    """The prefetch of each kind of machine; or that one for all of them is none for any."""
    unlike = list(_one_for_all(queue))
    if unlike:
        yield from unlike
        return
    # what is said once for all of them is told once, and first what no machine decides
    before = [replace(queue, machines=None)] if alike(queue.prefetch) is not None else []
    known: set[tuple[str, Place]] = set()
    for part in (*before, *parts(queue)):
        for found in of_prefetch(part):
            if (found.finding.code, found.place) not in known:
                known.add((found.finding.code, found.place))
                yield found


def _one_for_all(queue: DeclaredQueue) -> Iterator[LintFinding]:
    """A prefetch that is one for machines that need different ones, by the sizing of each."""
    limit, machines = alike(queue.prefetch), queue.machines or {}
    if limit is None or not 0 < limit.value <= MAX_PREFETCH or queue.rtt is None:
        return
    if queue.ack is not None and queue.ack.value == "auto":
        return
    try:
        judged, _ = judged_as(whole(replace(queue, prefetch=None)))
    except ConflictError:
        return
    if judged.case.client != "workers" or judged.case.batch > 1:
        return
    times = {name: time.value for name, time in machines.items()}
    own = unequal.of_times(
        times, queue.rtt.value, judged.case.concurrency, policy(queue), limit.value
    )
    said = ", ".join(
        f"{name} {duration(time.value)} ({where(queue, time)})" for name, time in machines.items()
    )
    for found in consumers.unequal(replace(judged, own=own)):
        yield told(found, queue, f"; {said}{numbers(queue, ('rtt',))}")


def parts(queue: DeclaredQueue) -> list[DeclaredQueue]:
    """A queue for each kind of machine, with the values of its consumers there."""
    found = []
    for machine, time in (queue.machines or {}).items():
        found.append(
            replace(
                queue,
                name=replace(queue.name, value=f"{queue.name.value} ({machine})"),
                machines=None,
                processing_time=time,
                prefetch=_there(queue.prefetch, machine),
                consumers=_there(queue.consumers, machine, shared=False),
                arrival_rate=None,
            )
        )
    return found


def _there(
    value: Located[int] | Mapping[str, Located[int]] | None, machine: str, shared: bool = True
) -> Located[int] | None:
    if isinstance(value, Mapping):
        return value.get(machine)
    return value if shared else None


def whole(queue: DeclaredQueue) -> DeclaredQueue:
    """All machines as one: busy ones share the work by their speeds, so P = c / sum(c_i / P_i).

    Where it is not said how many consumers each has, as if all were of the fastest kind: what they
    do not carry, none do.
    """
    machines, counts = queue.machines, queue.consumers
    if machines is None:
        return queue
    times = {name: time.value for name, time in machines.items()}
    first = next(iter(machines.values()))
    total = alike(counts)
    if isinstance(counts, Mapping):
        if counts.keys() != machines.keys():
            return replace(queue, machines=None, consumers=None)
        every = [count.value for count in counts.values()]
        one = next(iter(counts.values()))
        total = replace(one, value=sum(every), origin=" + ".join(map(str, every)))
        done = sum(count.value / times[name] for name, count in counts.items())
        mean, origin = sum(every) / done, "of all machines together"
    else:
        mean, origin = min(times.values()), "if all were of the fastest kind"
    time = Located(mean, first.place, origin)
    return replace(queue, machines=None, processing_time=time, consumers=total)
