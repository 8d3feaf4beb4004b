"""What the kind of queue or channel makes of a prefetch: global QoS, quorum, single active."""

from __future__ import annotations

from collections.abc import Iterator

from prefetch_advisor.config import QUORUM_UNLIMITED
from prefetch_advisor.findings import consumers as rules
from prefetch_advisor.hints.judged import LONG_BUFFER, Judged
from prefetch_advisor.limits import version_of
from prefetch_advisor.model.advice import Finding, Severity, Verdict
from prefetch_advisor.model.observation import Consumer
from prefetch_advisor.units import duration


def global_qos(judged: Judged) -> Iterator[Finding]:
    case = judged.case
    active = case.force.active
    if len(active) < 2 and case.force.limit.kind == "per-consumer":
        return
    shared = {channel.row.global_prefetch for channel in case.channels} - {0, None}
    if shared:
        limits = ", ".join(sorted(map(str, shared)))
        message = f"the channel's limit of {limits} is shared by its consumers"
        yield rules.GLOBAL_QOS.finding(judged.name, message)
    elif case.force.limit.source == "inferred" and case.force.limit.kind == "channel":
        message = f"prefetch 0 is listed, yet unacked stands at {case.force.limit.value}"
        yield rules.GLOBAL_QOS.finding(judged.name, message)
    elif (version_of(case.observation.broker.version) or (0,)) >= (4, 3):
        together: dict[str, list[Consumer]] = {}
        for consumer in case.force.active:
            if consumer.row.channel and consumer.row.prefetch:
                together.setdefault(consumer.row.channel, []).append(consumer)
        for listed in together.values():
            values = {c.row.prefetch for c in listed}
            if len(listed) > 1 and len(values) == 1:
                n = values.pop()
                message = (
                    f"{len(listed)} consumers on one channel hold {n} each; if the code asks for a "
                    f"shared (global) {n}, this broker ignores that"
                )
                yield rules.GLOBAL_QOS.finding(judged.name, message, None, Severity.INFO)
                return


def queue_kind(judged: Judged) -> Iterator[Finding]:
    case = judged.case
    zero = []
    if case.row is not None and case.row.type == "quorum":
        zero = [c for c in case.force.active if c.row.prefetch == 0 and c.row.ack == "manual"]
    if zero:
        listed = "consumer lists" if len(zero) == 1 else "consumers list"
        message = f"{len(zero)} {listed} prefetch 0: each may hold {QUORUM_UNLIMITED:,}"
        buffered = judged.current.buffered_time
        if buffered is not None:
            message += f", {duration(buffered)} of work"
        advised = judged.recommended.prefetch
        help_ = f"Set prefetch {advised}." if advised else None
        yield rules.QUORUM_2000.finding(judged.name, message, help_)
    known = case.observation.consumers or ()
    if case.force.single_active and (len(known) > 1 or case.saturated):
        message = f"1 of {len(known)} consumers is active"
        if case.saturated:
            message += ", and it is at its limit: more consumers cannot help"
        yield rules.SINGLE_ACTIVE.finding(judged.name, message)
    if case.row is not None and "max-priority" in case.row.settings:
        buffered = judged.current.buffered_time
        deep = case.force.unlimited or judged.outcome.verdict is Verdict.HOARDING
        if deep or (buffered is not None and buffered > LONG_BUFFER):
            priorities = case.row.settings["max-priority"]
            message = f"x-max-priority {priorities} with prefetch {judged.prefetch_now}"
            yield rules.PRIORITIES_DEFEATED.finding(judged.name, message)
