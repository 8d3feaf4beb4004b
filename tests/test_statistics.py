import math
import random
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefetch_advisor.statistics import (
    drawn_indices,
    erlang_b,
    erlang_c,
    erlang_servers,
    lognormal_sample,
    mean_interval,
    permutation,
    tandem_busy_share,
)


def _erlang_b_exactly(servers: int, load: Fraction) -> Fraction:
    terms = [Fraction(1)]
    for n in range(1, servers + 1):
        terms.append(terms[-1] * load / n)
    return terms[-1] / sum(terms)


def _tandem_exactly(prefetch: int, ratio: Fraction, workers: int) -> Fraction:
    """By summing the product form over every number of messages at the station."""
    total = work = Fraction(0)
    for here in range(prefetch + 1):
        away = prefetch - here
        weight = ratio**away / math.factorial(away)
        for n in range(1, here + 1):
            weight /= min(n, workers)
        total += weight
        work += weight * min(here, workers)
    return work / total / workers


@given(st.integers(0, 60), st.fractions(Fraction(1, 50), 80, max_denominator=50))
@settings(deadline=None, max_examples=60)
def test_erlang_b_is_the_truncated_poisson(servers: int, load: Fraction) -> None:
    assert erlang_b(servers, float(load)) == pytest.approx(
        float(_erlang_b_exactly(servers, load)), rel=1e-11
    )


def test_erlang_b_of_published_tables() -> None:
    assert erlang_b(10, 4.461) == pytest.approx(0.01, abs=1e-5)
    assert erlang_b(100, 84.06) == pytest.approx(0.01, abs=1e-5)
    assert erlang_b(0, 5.0) == 1.0
    assert erlang_b(3, 0.0) == 0.0


def test_erlang_b_takes_any_size_without_overflow_or_nan() -> None:
    assert erlang_b(65_535, 0.001) == 0.0
    assert erlang_b(1, 1e9) == pytest.approx(1.0, rel=1e-8)
    assert 0.003 < erlang_b(60_000, 60_000.0) < 0.0035
    for servers, load in ((-1, 1.0), (1, -1.0), (1, math.nan), (1, math.inf)):
        with pytest.raises(ValueError, match="no queue has"):
            erlang_b(servers, load)


@given(st.floats(0, 300), st.floats(0.001, 0.5))
@settings(deadline=None, max_examples=60)
def test_erlang_servers_is_the_first_that_loses_little_enough(load: float, loss: float) -> None:
    n = erlang_servers(load, loss, 1000)
    assert erlang_b(n, load) <= loss * (1 + 1e-9)
    assert n == 0 or erlang_b(n - 1, load) > loss * (1 - 1e-9)


def test_erlang_c_of_one_worker_is_its_load_and_of_an_overload_is_one() -> None:
    assert erlang_c(1, 0.7) == pytest.approx(0.7)
    assert erlang_c(2, 1.0) == pytest.approx(1 / 3)
    assert erlang_c(8, 8.0) == erlang_c(8, 9.0) == 1.0


@given(
    st.integers(1, 30),
    st.fractions(Fraction(0), 40, max_denominator=20),
    st.integers(1, 12),
)
@settings(deadline=None, max_examples=100)
def test_tandem_is_the_product_form(prefetch: int, ratio: Fraction, workers: int) -> None:
    exact = float(_tandem_exactly(prefetch, ratio, workers))
    assert tandem_busy_share(prefetch, 0.02, 0.02 * float(ratio), workers) == pytest.approx(
        exact, rel=1e-10
    )


def test_tandem_of_one_worker_is_one_minus_erlang_b() -> None:
    for n, ratio, expected in ((2, 0.2, 0.984), (2, 1, 0.8), (6, 5, 0.808), (21, 20, 0.869)):
        share = tandem_busy_share(n, 0.003, 0.003 * ratio)
        assert share == pytest.approx(1 - erlang_b(n, ratio))
        assert share == pytest.approx(expected, abs=5e-4)
    assert tandem_busy_share(16, 0.02, 0.02, 8) == pytest.approx(0.9205, abs=5e-5)


def test_tandem_is_finite_at_every_extreme() -> None:
    for n in (1, 64, 65_535):
        for processing in (1e-300, 1e-9, 1.0, 1e6):
            for rtt in (0.0, 1e-300, 1.0, 1e6):
                for workers in (1, 64):
                    share = tandem_busy_share(n, processing, rtt, workers)
                    assert 0 <= share <= 1, (n, processing, rtt, workers)
    with pytest.raises(ValueError, match="no busy share"):
        tandem_busy_share(1, 0.0, 1.0)


def test_the_interval_of_a_mean_is_students() -> None:
    low, high = mean_interval(0.02, 0.5, 10) or (0, 0)
    half = 2.262157 * 0.5 * 0.02 / math.sqrt(10)
    assert (low, high) == pytest.approx((0.02 - half, 0.02 + half), rel=1e-6)
    assert mean_interval(0.02, 3.0, 3) is not None
    assert (mean_interval(0.02, 3.0, 3) or (1, 0))[0] == 0.0
    assert mean_interval(0.02, 0.5, 1) is None
    assert mean_interval(math.nan, 0.5, 10) is None
    assert mean_interval(0.02, 0.0, 10) == (0.02, 0.02)


@given(st.floats(1e-6, 1e3), st.floats(0, 5), st.integers(1, 3000), st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_lognormal_samples_have_the_mean_and_repeat(
    mean: float, cv: float, count: int, seed: int
) -> None:
    values = lognormal_sample(mean, cv, count, seed)
    assert values.mean() == pytest.approx(mean, rel=1e-9)
    assert (values >= 0).all()
    assert (values == lognormal_sample(mean, cv, count, seed)).all()


def test_lognormal_samples_have_the_spread_and_the_shape() -> None:
    values = lognormal_sample(0.02, 3.0, 20_000, 1)
    assert values.std() / values.mean() == pytest.approx(3.0, rel=0.05)
    sigma = math.sqrt(math.log(10))
    assert np.median(values) == pytest.approx(0.02 * math.exp(-(sigma**2) / 2), rel=0.001)
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.03


def _words(seed: int, count: int) -> list[int]:
    data = random.Random(seed).randbytes(8 * count)
    return [int.from_bytes(data[8 * i : 8 * i + 8], "little") for i in range(count)]


def test_shuffles_and_draws_are_the_same_everywhere() -> None:
    words = _words(1, 50)
    assert permutation(50, 1).tolist() == sorted(range(50), key=words.__getitem__)
    assert permutation(8, 1).tolist()[:4] == [2, 3, 7, 6]
    assert sorted(permutation(500, 3)) == list(range(500))
    drawn = drawn_indices(50, 7, random.Random(1)).tolist()
    assert drawn == [word % 7 for word in words]


def test_scipy_and_numpy_stay_out_until_they_are_needed() -> None:
    code = "import sys, prefetch_advisor.sizing, prefetch_advisor.consumer_count as c; print(" + (
        "sorted({'numpy', 'scipy'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
