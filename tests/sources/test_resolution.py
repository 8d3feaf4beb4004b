"""The timer's step."""

import numpy as np
import pytest

from prefetch_advisor.sources.resolution import resolution


def test_step_of_whole_milliseconds():
    assert resolution(np.array([0, 3, 5, 17, 4]) / 1e3, None) == 1e-3


def test_step_of_a_coarse_timer():
    assert resolution(np.array([0, 1, 2, 5]) * 0.015625, None) == pytest.approx(0.015625)


def test_step_is_a_power_of_ten_where_differences_are_larger():
    assert resolution(np.array([0.0051, 0.0083, 0.0092]), None) == pytest.approx(1e-4)


def test_continuous_values_show_no_step():
    assert resolution(np.random.default_rng(1).exponential(0.01, 1_000), 1e-6) is None


def test_equal_values_fall_back_to_what_is_printed():
    assert resolution(np.zeros(50), 1e-3) == 1e-3
    assert resolution(np.zeros(50), None) is None
