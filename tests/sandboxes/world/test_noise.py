"""Noise is the same everywhere and looks random."""

from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.sandboxes.world import noise


def test_the_values_are_fixed_for_all_machines_and_versions() -> None:
    assert noise.bits("rain", "Oslo", 3) == 14306649057708329780
    assert noise.token(8, "abcdefgh", "id") == "hdcfbghh"


def test_fractions_are_spread_evenly_and_normals_normally() -> None:
    fractions = [noise.fraction("spread", i) for i in range(4000)]
    assert fmean(fractions) == pytest.approx(0.5, abs=0.02)
    normals = [noise.normal("bell", i) for i in range(4000)]
    assert fmean(normals) == pytest.approx(0, abs=0.05)
    assert pstdev(normals) == pytest.approx(1, abs=0.05)


def test_different_keys_do_not_run_together() -> None:
    assert noise.bits("a", "bc") != noise.bits("ab", "c")


@given(st.integers(-5, 5), st.integers(0, 50))
def test_integers_and_picks_stay_in_range(low: int, span: int) -> None:
    assert low <= noise.integer(low, low + span, "range", low, span) <= low + span
    assert noise.pick("xyz", low, span) in "xyz"


@given(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))
def test_smooth_noise_is_bounded_and_has_no_steps(x: float, y: float) -> None:
    assert -1 <= noise.value_noise(x, y, "hills") <= 1
    assert -1 <= noise.fractal_noise(x, y, 4, "hills") <= 1
    assert abs(noise.value_noise_1d(x, "tide") - noise.value_noise_1d(x + 1e-3, "tide")) < 0.01
    assert abs(noise.value_noise(x, y, "hills") - noise.value_noise(x, y + 1e-3, "hills")) < 0.01
