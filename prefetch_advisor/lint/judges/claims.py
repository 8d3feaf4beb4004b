"""Declared buffers: sized as ``advise`` sizes a prefetch, and held against what was declared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from prefetch_advisor.findings import buffers, claims
from prefetch_advisor.findings.rule import Rule
from prefetch_advisor.lint.declared import Buffer
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding, Located
from prefetch_advisor.units import duration, percent, plural, rate

#: what only rows claimed from a table have
_CLAIMED = ("claim_latency", "batch", "lease", "poll_interval", "connections")
#: seconds that a claimed row may wait without anybody asking why, and times what feeding needs
_LONG_WAIT, _MUCH = 1.0, 10
_VERY_LONG_WAIT = 60.0
_MARGIN = 0.5
#: a share of the workers' time this far below what the advised capacity gives
_SLACK = 0.03


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """What is wrong with the buffers that settings declare."""
    for fact in facts:
        if isinstance(fact, Buffer):
            yield from _of_buffer(fact)


def _of_buffer(buffer: Buffer) -> Iterator[LintFinding]:
    capacity, workers, connections = buffer.capacity, buffer.workers, buffer.connections
    if capacity is not None and capacity.value == 0:
        yield _unlimited(buffer, capacity)
    if workers and connections and connections.value < workers.value:
        message = f"{connections.value:,} connections{_line(connections)} for"
        message += f" {plural(workers.value, 'worker')}{_line(workers)}"
        yield _finding(claims.POOL_BELOW_WORKERS, buffer, message, connections)
    if workers is None or buffer.processing_time is None:
        return
    # here: sizing is a large import
    from prefetch_advisor import claims as sizing
    from prefetch_advisor.model.figures import FigureSource, ProcessingTime

    time = buffer.processing_time
    declared = sizing.ClaimBuffer(
        workers.value,
        ProcessingTime(time.value, FigureSource.GIVEN, f"processing-time{_line(time)}"),
        _value(buffer.claim_latency, 0.0),
        _value(buffer.batch, 1),
        _value(buffer.lease, None),
        _value(buffer.shutdown_grace, None),
        _value(buffer.item_bytes, None),
        _value(buffer.memory_budget, None),
    )
    yield from _polling(buffer, declared)
    if capacity is not None and capacity.value:
        yield from _of_capacity(buffer, capacity, declared)


def _of_capacity(buffer: Buffer, capacity: Located[int], declared: Any) -> Iterator[LintFinding]:
    from prefetch_advisor import claims as sizing
    from prefetch_advisor.sizing import NotSized

    costs = sizing.cost(declared, capacity.value)
    advice = sizing.size_claims(declared, present=capacity.value)
    lease = declared.lease
    if lease is not None and costs.slowest >= _MARGIN * lease:
        message = (
            f"the last of {capacity.value:,} rows is done {duration(costs.slowest)} after its"
            f" claim, {percent(costs.slowest / lease)} of the lease of {duration(lease)}"
        )
        severity = Severity.ERROR if costs.slowest >= lease else Severity.WARNING
        yield _finding(claims.BEYOND_LEASE, buffer, message, capacity, _lower(advice), severity)
    if isinstance(advice, NotSized):
        bound = advice.conflict[1].name if advice.conflict is not None else ""
        if bound != "lease":  # said above
            yield _finding(claims.TOO_LARGE, buffer, advice.reason, capacity)
        return
    # a claim of fewer rows may be enough, and a smaller buffer for them
    batch = min(declared.batch, advice.least_batch)
    lean = sizing.size_claims(replace(declared, batch=batch), present=capacity.value)
    least = lean if isinstance(lean, sizing.ClaimSizing) else advice
    feeding = sizing.cost(declared, least.capacity).buffered_time
    need = max(feeding, declared.processing.mean)
    longest = min(max(_LONG_WAIT, _MUCH * need), max(_VERY_LONG_WAIT, need))
    if costs.buffered_time > longest and least.capacity < capacity.value:
        stranded = f"a crash strands {costs.stranded:,} rows"
        stranded += f" for up to {duration(lease)}" if lease is not None else ""
        message = (
            f"the last of {capacity.value:,} rows waits {duration(costs.buffered_time)} for a"
            f" worker; {stranded}, a clean stop takes {duration(costs.shutdown)}; {least.reason}"
        )
        help_ = f"Set capacity {least.capacity:,}"
        help_ += f" and claim {batch:,} together." if batch < declared.batch else "."
        yield _finding(claims.TOO_LARGE, buffer, message, capacity, help_)
        return
    yield from _starving(buffer, capacity, declared, advice)


def _starving(
    buffer: Buffer, capacity: Located[int], declared: Any, advice: Any
) -> Iterator[LintFinding]:
    if not declared.latency:
        return
    share = advice.busy_share_at(capacity.value, declared.workers)
    claimed = min(1.0, declared.batch / advice.least_batch) if advice.least_batch > 1 else 1.0
    if share < advice.busy_share - _SLACK and advice.capacity > capacity.value:
        message = (
            f"{plural(capacity.value, 'row')} beside {plural(declared.workers, 'worker')} keep them"
            f" busy {percent(share)} of the time; {advice.reason}"
        )
        help_ = f"Set capacity {advice.capacity:,}."
        yield _finding(claims.STARVES, buffer, message, capacity, help_)
    elif claimed < advice.busy_share - _SLACK:
        rows = f"{plural(declared.batch, 'row')} each {duration(declared.latency)}"
        done = rate(declared.workers / declared.processing.mean)
        message = (
            f"one claim after the other brings {rows}: {rate(declared.batch / declared.latency)};"
            f" the workers can do {done}"
        )
        help_ = f"Claim {advice.least_batch:,} rows together, or several claims at once."
        yield _finding(claims.STARVES, buffer, message, buffer.batch or buffer.claim_latency, help_)


def _polling(buffer: Buffer, declared: Any) -> Iterator[LintFinding]:
    interval = buffer.poll_interval
    if interval is None or not interval.value:
        return
    room = declared.workers + _value(buffer.capacity, 0)
    rows = min(buffer.batch.value, room) if buffer.batch else room
    can, does = declared.workers / declared.processing.mean, rows / interval.value
    if does >= can:
        return
    message = (
        f"a claim of {plural(rows, 'row')} once in {duration(interval.value)} is {rate(does)}; its"
        f" workers can do {rate(can)}"
    )
    # one that buffers may well ask again as soon as there is room
    severity = Severity.INFO if buffer.capacity else Severity.WARNING
    yield _finding(claims.POLL_BOUND, buffer, message, interval, None, severity)


def _unlimited(buffer: Buffer, capacity: Located[int]) -> LintFinding:
    if any(getattr(buffer, name) is not None for name in _CLAIMED):
        message = "capacity 0 is no limit: the first worker claims all that is due"
        return _finding(claims.WITHOUT_LIMIT, buffer, message, capacity)
    message = "capacity 0 is no limit: all that comes lies in memory"
    help_ = "Give it a capacity, and wait when it is full."
    return _finding(buffers.UNBOUNDED_HANDOFF, buffer, message, capacity, help_)


def _lower(advice: Any) -> str | None:
    capacity = getattr(advice, "capacity", None)
    return None if capacity is None else f"Set capacity {capacity:,}."


def _finding(
    rule: Rule,
    buffer: Buffer,
    message: str,
    at: Located[Any] | None,
    help_: str | None = None,
    severity: Severity | None = None,
) -> LintFinding:
    found = rule.finding(buffer.name.value, f"{buffer.name.value}: {message}", help_, severity)
    if at is not None and not at.certain:
        found = replace(found, severity=min(found.severity, Severity.WARNING))
    return LintFinding(found, at.place if at is not None else buffer.place)


def _line(said: Located[Any]) -> str:
    return f" (line {said.place.line})"


def _value(said: Located[Any] | None, otherwise: Any) -> Any:
    return otherwise if said is None else said.value
