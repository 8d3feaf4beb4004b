"""What happened to a queue over the window of samples: depth, rates, and whether samples are full.

Rates are (last - first) / time over the window. The broker's own 5-second rates serve only where
there is a single snapshot: they can say 0 beside samples that grow by 30 a second.
"""

import math
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter

from prefetch_advisor.model.observation import (
    LengthSample,
    QueueObservation,
    SourceKind,
    Traffic,
    TrafficSample,
)
from prefetch_advisor.model.record import record

#: how far below the limit a sample still counts as full
FULL_SLACK = 0.02
#: a busiest minute is looked for in windows of at least this many seconds
LONG_WINDOW = 120.0
_COUNTERS = tuple(f.name for f in fields(Traffic))
#: management timestamps are epochs; a series of files counts from 0
_EPOCH = 1e9
_all_counters = attrgetter(*_COUNTERS)
#: seconds by which what the management API shows for a moment may be older: the queue tells of
#: itself every five, is looked at, and the time is rounded to the next five
LAG = 8.0
#: counters and depths are sampled at different moments: flows agree within this share
NOISE = 0.1
NO_TRAFFIC = Traffic()


@record
class Window:
    """Depth samples and rates of one queue, oldest first."""

    lengths: tuple[LengthSample, ...]
    #: seconds between the first and the last depth sample; 0 for one, or without a clock
    span: float
    #: per second; all ``None``: no rates
    rates: Traffic
    #: seconds that ``rates`` cover; 5 for the broker's own average; 0 without rates
    rates_span: float
    #: messages that left the queue for good, per second; ``None`` unknown
    departures: float | None
    #: messages that consumers finished, per second: acked, or given back; ``None`` unknown
    handled: float | None
    #: ready + unacked and ready alone, per second; ``None`` without two timed samples
    growth: float | None
    ready_growth: float | None
    #: timed counters, for the busiest minute
    traffic: tuple[TrafficSample, ...] = ()
    #: samples left out because a consumer connected after them
    dropped: int = 0
    #: the last hour at one minute, where the broker was asked for it
    hour_lengths: tuple[LengthSample, ...] = ()
    hour_traffic: tuple[TrafficSample, ...] = ()
    #: when the newest consumer was there, where that is known; epoch
    since: float | None = None

    @property
    def snapshot(self) -> bool:
        """Whether there is a single sample of the depth."""
        return len(self.lengths) <= 1

    @property
    def finished(self) -> float:
        """Messages that consumers finished within the window."""
        return (self.handled or 0.0) * self.rates_span

    @property
    def ready(self) -> int | None:
        """Messages ready in the last sample."""
        return self.lengths[-1].ready if self.lengths else None

    @property
    def unacked(self) -> int | None:
        """Messages unacked in the last sample."""
        return self.lengths[-1].unacked if self.lengths else None

    @property
    def mean_unacked(self) -> float | None:
        """Messages unacked, averaged over the samples."""
        if len(self.lengths) == 1:
            return self.lengths[0].unacked
        values = [s.unacked for s in self.lengths if s.unacked is not None]
        return sum(values) / len(values) if values else None


@record
class Fill:
    """How the samples stand to a limit."""

    samples: int
    full: int
    open: int
    #: how many samples in a row are full up to and with the last one
    standing: int = 0
    #: the longest such row before, after which a sample had no message ready: worked off
    worked_off: int = 0

    @property
    def full_share(self) -> float:
        """Share of the samples with messages ready and unacked at the limit."""
        return self.full / self.samples if self.samples else 0.0

    @property
    def open_share(self) -> float:
        """Share of the samples with messages ready and room below the limit."""
        return self.open / self.samples if self.samples else 0.0


def departures(traffic: Traffic, manual: bool = False) -> float | None:
    """Acks, auto-ack deliveries and auto-ack gets together; ``None`` when they are not known.

    No acks are no proof of none leaving while the auto-ack deliveries were not asked for, unless
    every consumer is known to ack (``manual``).
    """
    ack, unasked, fetched = traffic.ack, traffic.deliver_no_ack, traffic.get_no_ack
    if (ack is None and unasked is None and fetched is None) or (
        not ack and unasked is None and not manual
    ):
        return None
    return (ack or 0.0) + (unasked or 0.0) + (fetched or 0.0)


def _flows(
    rates: Traffic, filling: float | None, manual: bool
) -> tuple[float | None, float | None]:
    """Departures and finished messages per second; ``filling``: growth of unacked per second.

    No counter shows what consumers reject. But what is delivered and does not stay unacked was
    finished, and what of it was not delivered again has left: a dead-lettered message has, a
    requeued one has not. These count where they exceed the acks by more than sampling noise.
    """
    gone = departures(rates, manual)
    if gone is None or rates.deliver is None or filling is None:
        return gone, gone
    delivered = rates.deliver + (rates.get or 0.0)
    instant = (rates.deliver_no_ack or 0.0) + (rates.get_no_ack or 0.0)
    finished = delivered - filling + instant
    left = finished - (rates.redeliver or 0.0)
    slack = NOISE * max(delivered, gone)
    return (
        left if left > gone + slack else gone,
        finished if finished > gone + slack else gone,
    )


def is_full(unacked: int | None, limit: int) -> bool:
    """Whether so many are at the limit: unacked >= limit - floor(0.02 limit)."""
    return unacked is not None and unacked >= limit - int(FULL_SLACK * limit)


def fill(window: Window, limit: int) -> Fill:
    """Full: ready > 0 and unacked at the limit. Open: ready > 0 and below that."""
    full = opened = known = standing = before = worked_off = 0
    for sample in window.lengths:
        if sample.ready is None or sample.unacked is None:
            continue
        known += 1
        if sample.ready > 0 and is_full(sample.unacked, limit):
            full += 1
            standing += 1
            continue
        before, standing = max(before, standing), 0
        if sample.ready > 0:
            opened += 1
        else:
            worked_off = before
    return Fill(known, full, opened, standing, worked_off)


def trend(window: Window) -> int:
    """Whether the backlog shrinks (-1) or grows (1) over the window; 0: neither, or by chance.

    Ready + unacked must change by more than a tenth of what left, and by more than 3 sqrt(n),
    which n independent arrivals or departures hardly stray by. What falls while nothing leaves
    has expired or was purged.
    """
    growth, gone = window.growth, window.departures
    if not growth or (growth < 0 and gone == 0):
        return 0
    if gone is not None:
        scale = gone * window.span
    else:
        scale = max((s.ready or 0) + (s.unacked or 0) for s in window.lengths)
    if abs(growth) * window.span <= max(NOISE * scale, 3 * math.sqrt(scale)):
        return 0
    return -1 if growth < 0 else 1


def look(observation: QueueObservation, after: float | None = None) -> Window:
    """The window of a queue: samples that do not show its newest consumer yet are dropped.

    ``after``: so are those that are not later than this, seconds.
    """
    row = observation.row
    if row is None:
        return Window((), 0.0, NO_TRAFFIC, 0.0, None, None, None, None)
    timeless = len(row.lengths) == 1 and row.lengths[0].at is None
    since = None if timeless else _newest_connection(observation)
    if since is not None and row.kind is SourceKind.MANAGEMENT:
        since += LAG
    if after is not None:
        since = max(after + LAG, since or 0.0)
    lengths, timed = row.lengths, tuple([s for s in row.traffic if s.at is not None])
    if since is not None:
        lengths = tuple([s for s in lengths if _counts(s.at, since)]) or lengths[-1:]
        timed = tuple([s for s in timed if _counts(s.at, since)])
    timed = _since_reset(timed)
    span, growth, ready_growth = _growth(lengths)
    rates, rates_span = _rates(timed, row.has_stats)
    one_clockless = len(row.lengths) <= 1 or row.lengths[0].at is not None
    if rates_span == 0 and row.rates is not None and one_clockless:
        rates, rates_span = _with_zeros(row.rates, row.has_stats), 5.0
    filling = None if growth is None or ready_growth is None else growth - ready_growth
    gone, handled = _flows(rates, filling, _all_ack(observation))
    return Window(
        lengths=lengths,
        span=span,
        rates=rates,
        rates_span=rates_span,
        departures=gone,
        handled=handled,
        growth=growth,
        ready_growth=ready_growth,
        traffic=timed,
        dropped=len(row.lengths) - len(lengths),
        hour_lengths=row.hour_lengths,
        hour_traffic=row.hour_traffic,
        since=since,
    )


def above(window: Window, limit: int) -> float | None:
    """When unacked was last above a limit that it keeps now: there were more consumers then."""
    most = limit + int(FULL_SLACK * limit)
    if window.unacked is None or window.unacked > most:
        return None
    over = [s.at for s in window.lengths if s.unacked is not None and s.unacked > most]
    at = over[-1] if over else None
    return at if at is not None and at >= _EPOCH else None


def busiest_minute(window: Window) -> float | None:
    """The highest rate of departures + growth of the depth over a minute, messages per second.

    ``None`` where the window is shorter than two minutes or depth and counters share no times.
    """
    lengths, traffic = window.hour_lengths, _since_reset(window.hour_traffic)
    if not lengths or not traffic:
        lengths, traffic = window.lengths, window.traffic
    if _growth(lengths)[0] < LONG_WINDOW:
        return None
    depth = {s.at: s.ready + s.unacked for s in lengths if _known(s)}  # type: ignore[operator]
    points: list[tuple[float, float]] = []
    for sample in traffic:
        gone = departures(sample.totals)
        if sample.at in depth and gone is not None:
            points.append((float(sample.at or 0.0), gone + depth[sample.at]))
    best: float | None = None
    start = 0
    for end, (at, arrived) in enumerate(points):
        while start + 1 < end and at - points[start + 1][0] >= 60:
            start += 1
        since, before = points[start]
        if at - since >= 60:
            rate = (arrived - before) / (at - since)
            best = rate if best is None else max(best, rate)
    return best


def _all_ack(observation: QueueObservation) -> bool:
    for consumer in observation.consumers or ():
        if consumer.row.ack != "manual":
            return False
    return bool(observation.consumers)


def quiet(window: Window) -> float:
    """Seconds up to the last sample in which nothing was acked or delivered.

    The hour counts from the newest consumer's connection on: before that nobody could have acked.
    """
    longest = 0.0
    hour, newest = window.hour_traffic, window.since
    if newest is not None:
        hour = tuple([s for s in hour if _counts(s.at, newest)])
    for samples in (window.traffic, hour):
        if not samples:
            continue
        last = samples[-1]
        since = last.at or 0.0
        for sample in reversed(samples):
            same = sample.totals.ack == last.totals.ack
            if not same or sample.totals.deliver != last.totals.deliver:
                break
            since = sample.at or 0.0
        longest = max(longest, (last.at or 0.0) - since)
    return longest


def _newest_connection(observation: QueueObservation) -> float | None:
    times = [
        c.connection.connected_at
        for c in observation.consumers or ()
        if c.connection is not None and c.connection.connected_at is not None
    ]
    return max(times, default=None)


def _counts(at: float | None, since: float) -> bool:
    return at is None or at < _EPOCH or at >= since


def _known(sample: LengthSample) -> bool:
    return sample.ready is not None and sample.unacked is not None


def _growth(lengths: Sequence[LengthSample]) -> tuple[float, float | None, float | None]:
    if len(lengths) < 2:
        return 0.0, None, None
    timed = [s for s in lengths if s.at is not None and _known(s)]
    if len(timed) < 2:
        return 0.0, None, None
    first, last = timed[0], timed[-1]
    span = (last.at or 0.0) - (first.at or 0.0)
    if span <= 0:
        return 0.0, None, None
    ready = (last.ready or 0) - (first.ready or 0)
    unacked = (last.unacked or 0) - (first.unacked or 0)
    return span, (ready + unacked) / span, ready / span


def _since_reset(samples: tuple[TrafficSample, ...]) -> tuple[TrafficSample, ...]:
    """The samples since counters last went back: a restart of the node or of its statistics."""
    start = 0
    for i in range(1, len(samples)):
        before, after = samples[i - 1].totals, samples[i].totals
        for name in _COUNTERS:
            old, new = getattr(before, name), getattr(after, name)
            if old is not None and new is not None and new < old:
                start = i
                break
    return samples[start:]


def _rates(samples: tuple[TrafficSample, ...], has_stats: bool) -> tuple[Traffic, float]:
    if len(samples) < 2:
        return NO_TRAFFIC, 0.0
    first, last = samples[0], samples[-1]
    span = (last.at or 0.0) - (first.at or 0.0)
    if span <= 0:
        return NO_TRAFFIC, 0.0
    rates = {}
    for name in _COUNTERS:
        now = getattr(last.totals, name)
        if (first.at or 0.0) >= _EPOCH:
            rates[name] = _own_rate(samples, name)
        elif now is not None:
            # a counter that was absent had not counted anything yet
            rates[name] = (now - (getattr(first.totals, name) or 0.0)) / span
        if rates.get(name) is None and now is None and has_stats:
            rates[name] = 0.0
    return Traffic(**rates), span


def _own_rate(samples: Sequence[TrafficSample], name: str) -> float | None:
    """By the samples that show the counter: of a minute, the broker may give each another part."""
    known = [
        (s.at or 0.0, total) for s in samples if (total := getattr(s.totals, name)) is not None
    ]
    if len(known) < 2 or known[-1][0] <= known[0][0]:
        return None
    return float(known[-1][1] - known[0][1]) / (known[-1][0] - known[0][0])


def _with_zeros(rates: Traffic, has_stats: bool) -> Traffic:
    """Absent counters beside present ones have not counted anything."""
    values = _all_counters(rates)
    return Traffic(*(v or 0.0 for v in values)) if has_stats and None in values else rates
