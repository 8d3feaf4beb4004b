"""P, R, k and A of a queue, each with its source: option, timings, broker, assumption.

P may still be unknown here: where a queue is saturated the diagnosis infers it.
"""

import math

from prefetch_advisor.client_cost import with_cost
from prefetch_advisor.config import Given
from prefetch_advisor.limits import version_of
from prefetch_advisor.model.figures import (
    Concurrency,
    Estimates,
    Figure,
    FigureSource,
    ProcessingTime,
    RoundTrip,
)
from prefetch_advisor.model.observation import QueueObservation
from prefetch_advisor.model.timing import Distribution, TimingRow
from prefetch_advisor.statistics import mean_interval
from prefetch_advisor.units import duration, number, plural, rate, size
from prefetch_advisor.window import Window, busiest_minute

#: publish rate and departures + growth may differ by this share before it is said
CROSS_CHECK = 0.10
#: a queue this near to its length limit drops or refuses
_FULL = 0.98
#: departures from which an unsaturated queue bounds P
LEAST_DEPARTURES = 30
_MINUTE = 60.0


def estimate(observation: QueueObservation, window: Window, given: Given) -> Estimates:
    """Every estimate of one queue that needs no verdict."""
    timings = observation.timings
    return Estimates(
        processing=with_cost(_processing(timings, given), given.client_cost)
        or _bound_on_processing(window),
        rtt=_round_trip(timings, given),
        concurrency=_concurrency(timings, given),
        arrival_rate=_arrival_rate(observation, window, given),
        redelivered_share=_redelivered_share(window),
        message_bytes=_message_bytes(observation, given),
        ack_timeout=_ack_timeout(observation, given),
        batch=given.batch or 1,
    )


def arrival_disagrees(observation: QueueObservation, window: Window) -> tuple[float, float] | None:
    """(publish rate, departures + growth) where they differ by more than 10 %."""
    published, gone = window.rates.publish, window.departures
    if published is None or gone is None or window.growth is None:
        return None
    if observation.row is not None and observation.row.type == "stream":
        return None
    arrived = gone + window.growth
    if abs(published - arrived) <= CROSS_CHECK * max(published, arrived) or (
        abs(published - arrived) * window.span < 10
    ):
        return None
    return published, arrived


def _processing(timings: TimingRow | None, given: Given) -> ProcessingTime | None:
    if given.processing_time is not None:
        return ProcessingTime(
            mean=given.processing_time,
            source=FigureSource.GIVEN,
            origin=given.origin("processing_time"),
            cv=given.cv,
        )
    if timings is None or timings.processing is None:
        return None
    seen = timings.processing
    if seen.mean == 0:
        return _below_resolution(timings, seen)
    return ProcessingTime(
        mean=seen.mean,
        source=FigureSource.MEASURED,
        origin=f"{seen.count:,} row{'s' * (seen.count != 1)} of {timings.where}",
        samples=seen.count,
        ci95=mean_interval(seen.mean, seen.cv, seen.count),
        cv=seen.cv,
        p50=seen.p50,
        p95=seen.p95,
        p99=seen.p99,
        quantile_error=seen.quantile_error,
        runs=timings.runs,
        shuffle=timings.sorted_by_duration,
    )


def _below_resolution(timings: TimingRow, seen: Distribution) -> ProcessingTime:
    """Every time is 0: the timer's resolution is an upper bound, and a bound sizes nothing."""
    resolution = timings.resolution or 0.001
    return ProcessingTime(
        mean=resolution,
        source=FigureSource.BOUND,
        side="at most",
        origin=(
            f"all {seen.count:,} times of {timings.where} are 0: below the timer's resolution"
            f" of {duration(resolution)}"
        ),
        samples=seen.count,
    )


def _bound_on_processing(window: Window) -> ProcessingTime | None:
    """Mean unacked / finished (Little's law): the time a message is in the client, so P too."""
    gone = window.handled
    if not gone or window.finished < LEAST_DEPARTURES:
        return None
    held = window.mean_unacked
    if held is None or held < 1:
        return None
    if window.rates.deliver_no_ack and window.rates.deliver_no_ack > 0.01 * gone:
        return None  # auto-acked messages are never unacked: the ratio says nothing of them
    return ProcessingTime(
        mean=held / gone,
        source=FigureSource.BOUND,
        side="at most",
        origin=f"{number(held)} unacked / {rate(gone)} finished",
    )


def _round_trip(timings: TimingRow | None, given: Given) -> RoundTrip | None:
    if given.rtt is not None:
        return RoundTrip(given.rtt, FigureSource.GIVEN, given.origin("rtt"))
    if given.round_trip is not None and given.round_trip.usable:
        return given.round_trip
    if timings is None or timings.rtt is None:
        return given.round_trip
    import numpy as np

    parts = [run.rtt for run in timings.runs if run.rtt is not None]
    values = np.concatenate(parts) if parts else np.empty(0)
    values = values[np.isfinite(values)]
    return RoundTrip(
        mean=timings.rtt.mean,
        source=FigureSource.MEASURED,
        origin=f"{timings.rtt.count:,} rows of {timings.where}",
        samples=values if len(values) and timings.rtt.cv > 0 else None,
    )


def _concurrency(timings: TimingRow | None, given: Given) -> Concurrency:
    if given.client == "async":
        origin = f"{given.origin('concurrency')} async: as many as the prefetch"
        return Concurrency(None, FigureSource.GIVEN, origin, "async")
    if given.client == "loop":
        origin = f"{given.origin('concurrency')} loop: one, which holds the acks up"
        return Concurrency(1, FigureSource.GIVEN, origin, "loop")
    if given.concurrency is not None:
        return Concurrency(given.concurrency, FigureSource.GIVEN, given.origin("concurrency"))
    if timings is not None and timings.concurrency is not None:
        seen = max(1, round(timings.concurrency))
        return Concurrency(seen, FigureSource.MEASURED, f"started/finished of {timings.where}")
    origin = f"one message at a time; {given.origin('concurrency')} if it is more"
    return Concurrency(1, FigureSource.ASSUMED, origin)


def _message_bytes(observation: QueueObservation, given: Given) -> Figure | None:
    """Mean bytes of a body: given, timed, or of what lies in the queue."""
    if given.message_bytes is not None:
        return Figure(given.message_bytes, FigureSource.GIVEN, given.origin("message_bytes"))
    timings, row = observation.timings, observation.row
    if timings is not None and timings.mean_bytes is not None:
        return Figure(timings.mean_bytes, FigureSource.MEASURED, f"bytes of {timings.where}")
    if row is None or not row.message_bytes:
        return None
    count = row.messages if row.messages is not None else (row.ready or 0) + (row.unacked or 0)
    if not count:
        return None
    origin = f"{size(row.message_bytes)} in {plural(count, 'message')} of the queue"
    return Figure(row.message_bytes / count, FigureSource.MEASURED, origin)


def _ack_timeout(observation: QueueObservation, given: Given) -> Figure | None:
    """The delivery acknowledgement timeout in force, seconds; ``None`` where there is none.

    Since 3.8.15 15 min, since 3.8.17 30 min, by default, for every queue; since 4.3 for quorum
    queues alone (release notes of these versions). Queues may set their own since 3.12.
    """
    if given.consumer_timeout == math.inf:
        return None  # switched off
    if given.consumer_timeout is not None:
        origin = given.origin("consumer_timeout")
        return Figure(given.consumer_timeout, FigureSource.GIVEN, origin)
    row, version = observation.row, version_of(observation.broker.version)
    kind = row.type if row is not None else None
    if version is not None and version >= (4, 3) and kind not in (None, "quorum"):
        return None
    if version is not None and version < (3, 8, 15):
        return None
    listed = [c.row.ack_timeout for c in observation.consumers or () if c.row.ack_timeout]
    if listed:
        return Figure(min(listed), FigureSource.MEASURED, "consumer_timeout of its consumers")
    own = row.settings.get("consumer-timeout") if row is not None else None
    if isinstance(own, int) and own > 0:
        return Figure(own / 1000, FigureSource.MEASURED, "consumer-timeout of the queue")
    minutes = 15 if version is not None and version < (3, 8, 17) else 30
    origin = f"the broker's default; {given.origin('consumer_timeout')} if it is set otherwise"
    return Figure(minutes * _MINUTE, FigureSource.ASSUMED, origin)


def _arrival_rate(observation: QueueObservation, window: Window, given: Given) -> Figure | None:
    if given.arrival_rate is not None:
        return Figure(given.arrival_rate, FigureSource.GIVEN, given.origin("arrival_rate"))
    throttled = _throttled(observation)
    published = window.rates.publish
    row = observation.row
    if row is not None and row.type == "stream":  # it keeps what was acked: growth is arrivals
        growth = window.ready_growth if published is None else published
        return None if growth is None else _arrival(growth, "publish rate", throttled)
    gone = window.departures
    if gone is not None and window.growth is not None and window.rates_span > 5:
        arrived = max(0.0, gone + window.growth)
        busiest = busiest_minute(window)
        if busiest is not None and busiest > arrived:
            origin = "busiest minute of the history"
            return _arrival(busiest, origin, throttled)
        if published is not None and published > arrived * (1 + CROSS_CHECK):
            origin = (
                f"publish rate over {duration(window.rates_span)}: not all of it stays to be read"
            )
            return _arrival(published, origin, throttled)
        origin = f"departures + growth over {duration(window.rates_span)}"
        return _arrival(arrived, origin, throttled)
    if published is not None and (published > 0 or not window.ready):
        return _arrival(published, "publish rate of the last seconds", throttled)
    return _departures_of_timings(observation.timings)


def _arrival(value: float, origin: str, throttled: str | None) -> Figure:
    if throttled is None:
        return Figure(value, FigureSource.INFERRED, origin)
    return Figure(value, FigureSource.BOUND, f"{origin}, while {throttled}", "at least")


def _throttled(observation: QueueObservation) -> str | None:
    """Why what arrives is less than what is wanted, if it is."""
    if observation.broker.alarms:
        return f"the {observation.broker.alarms[0]} alarm holds publishers back"
    row = observation.row
    if row is None:
        return None
    if row.state == "flow":
        return "flow control holds publishers back"
    if not row.settings:
        return None
    bounds = (("max-length", row.ready), ("max-length-bytes", row.ready_bytes))
    for setting, there in bounds:
        longest = row.settings.get(setting)
        if isinstance(longest, int) and there is not None and there >= _FULL * longest > 0:
            return f"the queue is at its {setting} of {longest}"
    return None


def _departures_of_timings(timings: TimingRow | None) -> Figure | None:
    """Timestamps tell when messages were worked off, not when they arrived: "at least"."""
    if timings is None or timings.first_at is None or timings.last_at is None:
        return None
    span = timings.last_at - timings.first_at
    if span <= 0 or timings.rows < 2:
        return None
    origin = f"timestamps of {timings.where}: departures, not arrivals"
    return Figure((timings.rows - 1) / span, FigureSource.BOUND, origin, "at least")


def _redelivered_share(window: Window) -> float:
    """Redeliveries for each message that leaves: r / (d - r), at most 9.

    Of d deliveries, r redeliveries among them, d - r are of new messages; each message is thus
    delivered d / (d - r) times. But never more than d / a, of a acks: after a restart all messages
    that were kept are redeliveries, and each is delivered once.
    """
    again, delivered = window.rates.redeliver, window.rates.deliver
    if not again or not delivered:
        return 0.0
    share = min(9.0, again / max(delivered - again, 0.1 * delivered))
    acked = window.rates.ack
    return min(share, max(0.0, delivered / acked - 1)) if acked else share
