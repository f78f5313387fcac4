"""Measured curves beside simulated ones, made by known clocks and devices."""

from typing import Any

import numpy as np
import pytest
from contact_viewer.channels.alignment import Alignment, Curve, agree, align, find_swap
from contact_viewer.channels.device_fit import FitError, fit_device

FAST, SLOW = 0.002, 0.02
Numbers = Any


def gait(seed: int, seconds: float = 60.0, phase: float = 0.0) -> Curve:
    """The force under a foot that steps at irregular times: rises in 10 ms, carries with ripple, falls."""
    rng = np.random.default_rng(seed)
    times = np.arange(0.0, seconds, FAST)
    force, start = np.zeros(len(times)), 0.3 + phase
    while start < seconds - 1.0:
        length, load = rng.uniform(0.25, 0.45), rng.uniform(60, 140)
        inside = (times >= start) & (times < start + length)
        local = (times[inside] - start) / length
        shape = np.minimum(np.minimum(local * length / 0.01, 1.0), (1.0 - local) * length / 0.02)
        force[inside] = load * np.clip(shape, 0, 1) * (1.0 + 0.2 * np.sin(2 * np.pi * local))
        start += length + rng.uniform(0.2, 0.35)
    return Curve(times, force)


def measure(
    truth: Curve,
    *,
    offset: float,
    period: float,
    drift: float = 0.0,
    gain: float = 1.0,
    bias: float = 0.0,
    noise: float = 0.0,
    dropped: float = 0.0,
    most: float = np.inf,
    step: float = 0.0,
    seed: int = 0,
) -> Curve:
    """What a device reports of a force: its clock reads (time - offset) / (1 + drift)."""
    rng = np.random.default_rng(seed + 99)
    times = np.arange(truth.times[0] + 0.37 * period, truth.times[-1], period)
    values = np.minimum(gain * np.interp(times, *truth) + bias, most) + noise * rng.normal(size=len(times))
    values = np.rint(values / step) * step if step else values
    kept = rng.random(len(times)) >= dropped
    return Curve((times[kept] - offset) / (1.0 + drift), values[kept])


@pytest.mark.parametrize(
    ("offset", "period", "drift", "noise", "dropped"),
    [
        (-8.25, FAST, 1e-4, 3.0, 0.0),
        (1234.567, SLOW, 1e-4, 3.0, 0.1),
        (3.0, SLOW, -1e-4, 0.0, 0.0),
    ],
)
def test_the_clock_is_found_to_one_sample(
    offset: float, period: float, drift: float, noise: float, dropped: float
) -> None:
    pairs = []
    for foot in range(2):
        truth = gait(foot, 40.0, phase=0.3 * foot)
        pairs.append(
            (truth, measure(truth, offset=offset, period=period, drift=drift, noise=noise, dropped=dropped, seed=foot))
        )
    found = align(pairs)
    assert found is not None
    assert found.method == "touchdowns"
    for truth, measured in pairs:
        exact = offset + (1.0 + drift) * measured.times
        error = found.apply(measured).times - exact
        assert np.abs(error).max() < max(period, truth.period)
        agreement = agree(truth, measured, found)
        assert agreement.correlation > 0.95
        assert len(agreement.delays) >= 0.9 * len(agreement.only_simulated + agreement.delays)
        assert abs(float(np.median([delay for _, delay in agreement.delays]))) < max(period, truth.period)


def test_curves_without_touchdowns_are_shifted_over_each_other() -> None:
    """A foot that always touches, with a load that wanders."""
    rng = np.random.default_rng(3)
    times = np.arange(0, 30, FAST)
    load = 50 + np.cumsum(rng.normal(size=len(times)))
    load = np.convolve(load, np.ones(50) / 50, "same")
    truth = Curve(times, load)
    found = align([(truth, measure(truth, offset=7.0, period=SLOW, gain=3.0, bias=10))])
    assert found is not None
    assert abs(found.offset - 7.0) < SLOW


def test_what_does_not_belong_together_is_not_aligned() -> None:
    rng = np.random.default_rng(0)
    times = np.arange(0, 20, FAST)
    assert align([(gait(0, 20.0), Curve(times, rng.normal(size=len(times))))]) is None
    assert align([(gait(0, 20.0), Curve(times, np.zeros(len(times))))]) is None


def test_events_that_only_one_has_are_named() -> None:
    truth = gait(1, 20.0)
    measured = measure(truth, offset=2.0, period=FAST)
    hidden = (truth.times > 4.0) & (truth.times < 6.0)
    values = measured.values.copy()
    values[np.interp(measured.times + 2.0, truth.times, hidden) > 0.5] = 0.0
    found = align([(truth, measured)])
    assert found is not None
    agreement = agree(truth, Curve(measured.times, values), found)
    assert agreement.only_simulated
    assert all(3.5 < time < 6.0 for time in agreement.only_simulated)


def test_swapped_curves_are_noticed() -> None:
    feet = [gait(foot, 15.0, 0.3 * foot) for foot in range(3)]
    measured = [measure(foot, offset=5.0, period=FAST, noise=2.0, seed=i) for i, foot in enumerate(feet)]
    assert find_swap(list(zip(feet, measured, strict=True))) is None
    order = [1, 0, 2]
    swapped = find_swap([(foot, measured[place]) for foot, place in zip(feet, order, strict=True)])
    assert swapped is not None
    assert list(swapped[0]) == order
    assert swapped[2] > 0.9 > swapped[1]


@pytest.mark.parametrize(
    ("period", "gain", "bias", "noise", "most", "step"),
    [
        (FAST, 2.5, 12.0, 4.0, np.inf, 0.0),
        (SLOW, 2.5, 12.0, 4.0, np.inf, 0.0),
        (FAST, 0.08, -1.0, 0.05, np.inf, 0.0),
        (SLOW, 10.0, 30.0, 2.0, 1100.0, 0.0),
        (FAST, 1.0, 0.0, 0.0, np.inf, 0.5),
    ],
)
def test_a_device_is_found(period: float, gain: float, bias: float, noise: float, most: float, step: float) -> None:
    truth = gait(5, 60.0)
    device: dict[str, Any] = {"gain": gain, "bias": bias, "noise": noise, "most": most, "step": step}
    measured = measure(truth, offset=-3.0, period=period, drift=1e-4, **device)
    found = align([(truth, measured)])
    assert found is not None
    fit = fit_device(truth, measured, found)
    assert fit.gain == pytest.approx(gain, rel=0.02)
    assert fit.bias == pytest.approx(bias, abs=0.02 * max(abs(bias), gain * 100))
    assert fit.period == pytest.approx(period, rel=0.02)
    if noise:
        assert fit.noise == pytest.approx(noise, rel=0.1)
        assert fit.resolution is None
    if most < np.inf:
        assert fit.saturation == pytest.approx(most, rel=0.01)
    else:
        assert fit.saturation is None
    if step:
        assert fit.resolution == pytest.approx(step, rel=0.01)


def test_a_device_that_holds_its_values_has_the_period_of_the_samples() -> None:
    truth = gait(5)
    slow = measure(truth, offset=0.0, period=SLOW, noise=1.0)
    times = np.arange(slow.times[0], slow.times[-1], FAST)
    held = Curve(times, slow.values[np.searchsorted(slow.times, times + 1e-9, side="right") - 1])
    fit = fit_device(truth, held, Alignment(0.0, 0.0, "by hand"))
    assert fit.period == pytest.approx(SLOW, rel=0.02)
    assert fit.gain == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (lambda t, f: np.random.default_rng(0).normal(size=len(t)), "do not follow the force"),
        (lambda t, f: f[:20], "only 20 measured values"),
    ],
)
def test_a_device_that_cannot_be_known_is_refused(values: Any, words: str) -> None:
    truth = gait(5, 20.0)
    output = values(*truth)
    with pytest.raises(FitError, match=words):
        fit_device(truth, Curve(truth.times[: len(output)], output), Alignment(0.0, 0.0, "by hand"))


def test_a_constant_load_says_neither_gain_nor_bias() -> None:
    rng = np.random.default_rng(1)
    times = np.arange(0, 20, FAST)
    truth = Curve(times, 100.0 + 0.5 * np.sin(times))
    with pytest.raises(FitError, match=r"cannot be separated|bias cannot be known|do not follow"):
        fit_device(
            truth, Curve(times, 2 * truth.values + 0.2 * rng.normal(size=len(times))), Alignment(0, 0, "by hand")
        )
