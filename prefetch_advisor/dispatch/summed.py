"""What became of the messages, added up when all are done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prefetch_advisor.dispatch.outcome import Dealt, Share

if TYPE_CHECKING:
    from prefetch_advisor.dispatch.consumer import Consumer
    from prefetch_advisor.dispatch.dealing import Dealing


def outcome(dealing: Dealing) -> Dealt:
    """The figures of a run that is over."""
    dealing.flush()
    waits, queue_waits, buffer_waits, held = (spread.summary() for spread in dealing.spreads)
    makespan = max(0.0, dealing.end - dealing.first)
    shares = tuple(_share(dealing, consumer) for consumer in dealing.consumers)
    done = sum(share.messages for share in shares)
    places = sum(c.places for c in dealing.consumers)
    work = sum(share.work for share in shares)
    busy = _ratio(work, places * makespan)
    throughput, steady = _ratio(done, makespan), busy
    span = dealing.measured_until - dealing.measured_from
    if dealing.ended and span > 0 and dealing.warm:
        count = dealing.dealt - dealing.warm
        throughput = count / span
        steady = min(1.0, _ratio(dealing.measured_work, places * span))
    span = max(dealing.last_ack, dealing.end) - dealing.first
    return Dealt(
        waits=waits,
        queue_waits=queue_waits,
        buffer_waits=buffer_waits,
        held=held,
        busy=busy,
        throughput=throughput,
        steady=steady,
        makespan=makespan,
        messages=dealing.spreads[0].count,
        done=done,
        redelivered=dealing.redelivered,
        most_unacked=dealing.most_unacked,
        mean_unacked=_ratio(dealing.held_time + dealing.unacked * dealing.end, span),
        left_waiting=dealing.left,
        consumers=shares,
    )


def _share(dealing: Dealing, consumer: Consumer) -> Share:
    came = max(consumer.server.joins, dealing.first)
    time = min(consumer.dies, dealing.end) - came
    busy = _ratio(consumer.work, consumer.places * time) if time > 0 else 0.0
    return Share(consumer.messages, consumer.work, min(1.0, busy), len(consumer.lost))


def _ratio(value: float, of: float) -> float:
    return value / of if of > 0 else 0.0
