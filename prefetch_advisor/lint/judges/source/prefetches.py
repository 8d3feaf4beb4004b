"""Where and how the prefetch is set: order, channel, arguments, and whether it is set at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefetch_advisor.config import MAX_PREFETCH
from prefetch_advisor.findings import source as rules
from prefetch_advisor.lint.source.channels import (
    REPLIES,
    Use,
    found,
    is_size,
    met,
    reads,
    too_large,
    uses,
)
from prefetch_advisor.lint.source.facts import Client, Consume, Qos
from prefetch_advisor.model.advice import Severity
from prefetch_advisor.model.lint import LintFinding

#: what a client does with a prefetch that does not fit
_TOO_LARGE = {
    Client.PIKA: "pika raises an error",
    Client.KOMBU: "kombu's own counting turns it into 0, no limit, with a warning",
}
#: a prefetch from which on it is large beside priorities: what is urgent waits for all of it
_DEEP = 10


def judge(facts: Sequence[object]) -> Iterator[LintFinding]:
    """All of it."""
    for fact in facts:
        if isinstance(fact, Qos):
            yield from _arguments(fact)
    every = uses(facts)
    for use in every.values():
        yield from _late(use)
        yield from _auto(use)
        yield from _zero(use)
        yield from _priorities(use)
    yield from _elsewhere(every)
    yield from _absent(every)


def _arguments(qos: Qos) -> Iterator[LintFinding]:
    if is_size(qos):
        size = qos.size.value
        said = "the first argument" if size is None else f"{size:,}"
        also = qos.count is not None and qos.count.value > 0
        order = "it is the size" if qos.positional else "prefetch_size is"
        message = f"{qos.call}: {said}: {order} in bytes, which RabbitMQ refuses"
        if not also:
            message += ", and no count is given"
        severity = Severity.WARNING if size is None else None
        yield found(rules.SWAPPED_ARGUMENTS, qos.call, message, qos.size.place, severity)
        return
    if too_large(qos) and qos.count is not None:
        message = f"prefetch {qos.count.value:,}, the protocol carries at most {MAX_PREFETCH:,}"
        if qos.client in _TOO_LARGE:
            message += f"; {_TOO_LARGE[qos.client]}"
        yield found(rules.ABOVE_PROTOCOL, qos.call, message, qos.count.place)
    whole = qos.whole_channel is not None and qos.whole_channel.value
    if whole and qos.count is not None and 0 < qos.count.value <= MAX_PREFETCH:
        assert qos.whole_channel is not None
        message = f"{qos.call}: {qos.count.value:,} for all consumers of the channel together"
        yield found(rules.GLOBAL_QOS, qos.call, message, qos.whole_channel.place)


def _wrong(qos: Qos) -> bool:
    return is_size(qos) or too_large(qos)


def _late(use: Use) -> Iterator[LintFinding]:
    for qos in use.qos:
        whole = qos.whole_channel is not None and qos.whole_channel.value
        if _wrong(qos) or whole:
            continue
        earlier = [one for one in use.consumes if one.step.before(qos.step)]
        places = {one.place for one in earlier}
        later = [one for one in use.consumes if one.place not in places]
        manual = [one for one in earlier if one.ack is None or one.ack.value != "auto"]
        if not manual or later:
            continue
        first = manual[0]
        message = (
            f"{qos.call} after {first.call} (line {first.place.line}), "
            "which goes on with what it had"
        )
        place = met(qos.step, qos.place, first.step)
        yield found(rules.QOS_AFTER_CONSUME, reads(first), message, place)


def _auto(use: Use) -> Iterator[LintFinding]:
    if any(one.ack is None or one.ack.value != "auto" for one in use.consumes):
        return
    for one in use.consumes:
        limit = use.in_force(one)
        after = [qos for qos in use.qos if one.step.before(qos.step)]
        if limit is None and after and not _wrong(after[-1]):
            limit = after[-1].count
        if one.ack is None or limit is None or not limit.value or one.queue == REPLIES:
            continue
        message = f"automatic ack: the prefetch of {limit.value:,} limits nothing"
        if any(handler.settles for handler in one.handlers) and one.client is not (
            Client.FASTSTREAM
        ):
            message += "; and an ack for what was acked already closes the channel (406)"
        yield found(rules.QOS_WITH_AUTO_ACK, reads(one), message, one.ack.place)


def _is_manual(consume: Consume) -> bool:
    return consume.ack is not None and consume.ack.value == "manual"


def _zero(use: Use) -> Iterator[LintFinding]:
    """A prefetch of 0 is as good as none."""
    for qos in use.qos:
        if is_size(qos) or qos.count is None or qos.count.value != 0:
            continue
        concerned = [
            one for one in use.consumes if _is_manual(one) and use.in_force(one) is qos.count
        ]
        if concerned:
            message = f"prefetch 0 means no limit{_type_note(use, concerned[0])}"
            yield found(rules.CONSUME_WITHOUT_QOS, reads(concerned[0]), message, qos.count.place)


def _type_note(use: Use, consume: Consume) -> str:
    types = dict(use.channel.types) if use.channel is not None else {}
    kind = types.get(consume.queue or "", "")
    if kind == "quorum":
        return "; a quorum queue takes it for 2,000"
    return "; a stream refuses to be read without one" if kind == "stream" else ""


def _elsewhere(every: dict[str, Use]) -> Iterator[LintFinding]:
    """A prefetch on a channel that consumes nothing, beside one that consumes without."""
    bare = [use for use in every.values() if _is_bare(use)]
    for use in every.values():
        if use.consumes or use.channel is None or not use.channel.closed:
            continue
        for qos in use.qos:
            near = [
                one
                for other in bare
                for one in other.consumes
                if one.place.path == qos.place.path and one.client is qos.client
            ]
            if not near or _wrong(qos) or qos.client is Client.FASTSTREAM:
                continue
            message = (
                f"{qos.call} on the channel of line {_line(use)}, "
                f"{near[0].call} on that of line {_line_of(every, near[0])}"
            )
            yield found(rules.QOS_ON_OTHER_CHANNEL, reads(near[0]), message, qos.place)


def _line(use: Use) -> int:
    return use.channel.made.line if use.channel is not None and use.channel.made else 0


def _line_of(every: dict[str, Use], consume: Consume) -> int:
    return _line(every[consume.channel])


def _is_bare(use: Use) -> bool:
    """A channel that the file makes and consumes from, and on which no prefetch is ever set."""
    channel = use.channel
    return (
        channel is not None
        and channel.made is not None
        and channel.closed
        and not use.qos
        and any(_is_manual(one) and one.prefetch is None for one in use.consumes)
    )


def _absent(every: dict[str, Use]) -> Iterator[LintFinding]:
    other = {
        qos.place.path
        for use in every.values()
        if not use.consumes and use.channel is not None and use.channel.closed
        for qos in use.qos
        if not _wrong(qos)
    }
    for use in every.values():
        if not _is_bare(use):
            continue
        for one in use.consumes:
            if not _is_manual(one) or (
                one.place.path in other and one.client is not (Client.FASTSTREAM)
            ):
                continue
            where = "its broker or it" if one.client is Client.FASTSTREAM else "its channel"
            message = f"{one.call}, and no prefetch is set for {where}"
            yield found(
                rules.CONSUME_WITHOUT_QOS,
                reads(one),
                message + _type_note(use, one),
                one.place,
            )


def _priorities(use: Use) -> Iterator[LintFinding]:
    if use.channel is None:
        return
    levels = dict(use.channel.priorities)
    for one in use.consumes:
        limit = use.in_force(one)
        declared = levels.get(one.queue or "")
        if declared is None or limit is None or limit.value <= _DEEP or declared.value < 2:
            continue
        if limit.value > MAX_PREFETCH:
            continue
        message = (
            f"{declared.value} priorities, prefetch {limit.value:,}: an urgent message waits for "
            f"up to {limit.value - 1:,} that were prefetched before it"
        )
        yield found(rules.PRIORITY_BEHIND, reads(one), message, limit.place)
