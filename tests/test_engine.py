import csv
import math
import random
import statistics
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.engine import busy_share, busy_shares, circulate, span
from prefetch_advisor.statistics import lognormal_sample, permutation, tandem_busy_share

CURVES = Path(__file__).parent / "data" / "curves"


def exponential_sample(count: int, seed: int) -> np.ndarray:
    """Means of equal strata of an exponential of mean 1, shuffled."""
    edges = -np.log1p(-np.arange(count) / count)
    survive = 1 - np.arange(count) / count
    partial = survive * (1 + edges)
    values = count * (partial - np.append(partial[1:], 0.0))
    return values[permutation(count, seed)]


@pytest.mark.parametrize(
    ("processing", "rtt", "prefetch", "workers", "share"),
    [
        (5.0, 1.0, 2, 1, 1.0),
        (0.2, 1.0, 6, 1, 1.0),
        (0.2, 1.0, 5, 1, 5 / 6),
        (0.2, 1.0, 1, 1, 1 / 6),
        (0.004, 0.1, 26, 1, 1.0),
        (0.004, 0.1, 25, 1, 25 / 26),
        (0.00005, 0.04, 785, 1, 785 / 801),
        (0.02, 0.02, 16, 8, 1.0),
        (0.02, 0.02, 15, 8, 15 / 16),
        (0.02, 0.02, 7, 8, 7 / 16),
        (0.02, 0.0, 8, 8, 1.0),
    ],
)
def test_constant_times_come_out_exactly(
    processing: float, rtt: float, prefetch: int, workers: int, share: float
) -> None:
    assert busy_share([processing], rtt, prefetch, workers) == pytest.approx(share, abs=1e-9)
    length = span(prefetch)
    assert circulate([processing], rtt, prefetch, workers, length) == pytest.approx(share, abs=1e-9)
    if share == 1.0:
        assert busy_share([processing], rtt, prefetch, workers) == 1.0


@given(
    st.lists(st.floats(0, 5), min_size=1, max_size=60),
    st.floats(0, 30),
    st.integers(1, 140),
)
@settings(deadline=None, max_examples=60)
def test_the_fast_paths_of_one_worker_equal_the_general_one(
    times: list[float], rtt: float, prefetch: int
) -> None:
    length = span(prefetch, 500, 10)
    general = circulate(times, rtt, prefetch, 1, length)
    assert busy_share(times, rtt, prefetch, 1, length) == pytest.approx(general, abs=1e-8)
    rows = np.array([times, times[::-1]])
    side_by_side = busy_shares(rows, rtt, prefetch, length)
    assert side_by_side[0] == pytest.approx(general, abs=1e-8)
    other = circulate(times[::-1], rtt, prefetch, 1, length)
    assert side_by_side[1] == pytest.approx(other, abs=1e-8)


def _by_events(
    times: list[float], trips: list[float], prefetch: int, workers: int, total: int
) -> list[float]:
    """Start times, by a calendar of events: slow, and written another way."""
    calendar = [(0.0, 1, "arrive")] * prefetch  # at one moment, workers become free first
    waiting, idle, starts, number = [], workers, [], 0
    while len(starts) < total:
        calendar.sort()
        now, _, what = calendar.pop(0)
        if what == "arrive":
            waiting.append(now)
        else:
            idle += 1
        while waiting and idle and len(starts) < total:
            waiting.pop(0)
            idle -= 1
            done = now + times[number % len(times)]
            starts.append(now)
            calendar.append((done, 0, "free"))
            calendar.append((done + trips[number % len(trips)], 1, "arrive"))
            number += 1
    return starts


@given(
    st.lists(st.floats(0.01, 5), min_size=1, max_size=20),
    st.lists(st.floats(0, 20), min_size=1, max_size=20),
    st.integers(1, 12),
    st.integers(1, 5),
)
@settings(deadline=None, max_examples=60)
def test_any_workers_and_round_trips_equal_a_calendar_of_events(
    times: list[float], trips: list[float], prefetch: int, workers: int
) -> None:
    length = span(prefetch, 40, 3)
    starts = _by_events(times, trips, prefetch, workers, length.total + 1)
    begin, end = starts[length.warm], starts[length.total]
    work = 0.0
    for number, start in enumerate(starts[: length.total]):
        done = start + times[number % len(times)]
        work += max(0.0, min(done, end) - max(start, begin))
    if end > begin:
        share = busy_share(times, trips, prefetch, workers, length)
        assert share == pytest.approx(work / (workers * (end - begin)), abs=1e-8)


@pytest.mark.parametrize("ratio", [0.2, 1.0, 5.0, 20.0])
def test_one_worker_with_exponential_times_loses_what_erlang_b_says(ratio: float) -> None:
    times = exponential_sample(20_000, 1)
    rule = 1 + math.ceil(ratio)
    for prefetch in (max(1, rule // 2), rule, rule + 4):
        expected = tandem_busy_share(prefetch, 1.0, ratio)
        assert busy_share(times, ratio, prefetch) == pytest.approx(expected, abs=0.01)


def test_one_worker_with_exponential_times_does_not_mind_how_round_trips_vary() -> None:
    times = exponential_sample(20_000, 1)
    trips = 5 * lognormal_sample(1.0, 1.0, 20_000, 2)
    assert busy_share(times, trips, 6) == pytest.approx(0.808, abs=0.01)


def test_eight_workers_return_messages_in_order_of_completion() -> None:
    exponential = busy_share(exponential_sample(20_000, 1), 1.0, 16, 8)
    assert exponential == pytest.approx(0.9205, abs=0.005)
    lognormal = busy_share(lognormal_sample(1.0, 3.0, 20_000, 1), 1.0, 16, 8)
    assert lognormal == pytest.approx(0.905, abs=0.01)


def test_no_time_at_all_is_never_idle_and_never_nan() -> None:
    assert busy_share([0.0], 0.0, 3) == 1.0
    assert busy_share([0.0], 0.0, 3, 2) == 1.0
    assert busy_shares(np.zeros((2, 5)), 0.0, 3, span(3)).tolist() == [1.0, 1.0]
    assert busy_share([0.0], 1.0, 3) == 0.0


def test_a_simulation_is_long_enough_and_a_fifth_of_it_unmeasured() -> None:
    for prefetch in (1, 7, 300, 1000):
        length = span(prefetch)
        assert length.total >= max(20_000, 50 * prefetch)
        assert length.total % prefetch == length.warm % prefetch == 0
        assert 0.2 <= length.warm / length.total < 0.23


@dataclass
class Curve:
    """Measured points of one client, queue type, distribution and delay."""

    work: float
    rtt: float
    #: messages per second by prefetch, drift of the work taken out
    rates: dict[int, float]
    times: list[float]

    @property
    def cost(self) -> float:
        """What the client itself spends on a message: the plateau is fitted, the rise predicted."""
        return max(0.0, 1 / max(self.rates.values()) - self.work)

    def predicted(self, prefetch: int) -> float:
        """Share of the time inside the work."""
        whole = [time + self.cost for time in self.times]
        mean = sum(whole) / len(whole)
        return busy_share(whole, self.rtt, prefetch) / mean * self.work

    def least(self, share: float) -> int:
        best = max(self.rates.values())
        return min(n for n, rate in self.rates.items() if rate >= share * best)


def _times(distribution: str, mean: float, scale: float) -> list[float]:
    if distribution == "constant":
        return [mean * scale]
    cv = float(distribution.removeprefix("lognormal_cv"))
    variance = math.log(1 + cv * cv)
    draw = random.Random(7)  # the very sequence that the consumer slept through
    values = [
        draw.lognormvariate(math.log(mean) - variance / 2, math.sqrt(variance)) for _ in range(500)
    ]
    return [value * mean / statistics.fmean(values) * scale for value in values]


def measured_curves() -> dict[tuple[str, ...], Curve]:
    """The blocking client with work of 0.2 ms or more and added delay."""
    rows = defaultdict(list)
    for path in sorted(CURVES.glob("*.csv")):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                if row["client"] == "pika_blocking" and float(row["one_way_ms"]) > 0:
                    names = ("broker", "queue_type", "service_dist", "service_ms_mean")
                    rows[(*(row[name] for name in names), row["one_way_ms"])].append(row)
    curves = {}
    for key, points in rows.items():
        mean = float(key[3]) / 1000
        if mean < 0.0002:
            continue
        work = statistics.median(float(p["service_ms_measured"]) for p in points) / 1000
        rates = defaultdict(list)
        for p in points:
            cycle = 1 / float(p["throughput"]) - float(p["service_ms_measured"]) / 1000 + work
            rates[int(p["prefetch"])].append(1 / cycle)
        curves[key] = Curve(
            work=work,
            rtt=statistics.median(float(p["rtt_ms_measured"]) for p in points) / 1000,
            rates={n: statistics.fmean(found) for n, found in sorted(rates.items()) if n > 0},
            times=_times(key[2], mean, work / mean),
        )
    return curves


def test_two_real_brokers_are_predicted() -> None:
    """Classic and quorum, constant and lognormal, round trips of 1.3 to 21 ms."""
    errors = sorted(
        abs(curve.rates[n] * curve.work - curve.predicted(n))
        for curve in measured_curves().values()
        for n in curve.rates
    )
    assert len(errors) == 244
    assert statistics.fmean(errors) < 0.010
    assert errors[int(len(errors) * 0.95)] < 0.032
