"""Finds the touch device that makes measured values of simulated forces: gain, bias, noise, saturation, resolution."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .alignment import Alignment, Curve, correlation, sample

Numbers = NDArray[np.float64]
_LEAST_CORRELATION = 0.8
"""Correlation below which no device of this kind explains the values."""
_FEWEST = 50
"""Least number of values to which a device can be fitted."""
_LEAST_RANGE = 5.0
"""Least range of the values in contact, in standard deviations of their noise, from which gain and bias can be
separated."""
_ROUNDS = 6
_SIGMAS = 4.0
"""Number of standard deviations beyond which a difference is an error of the alignment, not noise."""
_STEEP = 0.25
"""Part of the values, where force changes most, that is left out of the noise: a small shift changes them most."""
_FEWEST_STUCK = 5
"""Least number of values at the upper end for which a device counts as saturated."""
_FIRST = 0.8
"""Part of the range of values that the first fit uses."""
_HELD = 1.5
"""Mean number of equal values in a row from which messages are taken to repeat samples."""


class FitError(ValueError):
    """Error: some values do not determine a device. The message is the reason, in one line."""


@dataclass(frozen=True)
class DeviceFit:
    """Fitted device that maps a force to measured values."""

    gain: float
    """Output per newton."""
    bias: float
    """Output without force."""
    noise: float
    """Standard deviation of the output in contact."""
    noise_at_rest: float | None
    """Standard deviation of the output without force; None if there was always some force."""
    period: float
    """Time between two samples [s]."""
    resolution: float | None
    """Smallest change of the output; None if it is too fine to be seen in the values."""
    saturation: float | None
    """Largest output; None if the measured values do not reach it."""
    correlation: float
    count: int
    """Number of values that the fit used."""
    typical: float
    """Median output in contact, of which `noise` is a part in a lookup table."""
    largest: float
    """Largest force that the fit used [N]."""

    def table(self) -> tuple[tuple[float, float, float], ...]:
        """Return the rows of a lookup table: force [N], output, noise as a part of the output."""
        level = min(self.noise / abs(self.typical), 1.0) if self.typical else 0.0
        top = self.saturation
        reach = 2.0 * self.largest if top is None else (top - self.bias) / self.gain
        ends = (0.0, self.bias), (reach, self.bias + self.gain * reach)
        low, high = (tuple(float(f"{value:.6g}") for value in (*end, level)) for end in ends)
        return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def fit_device(force: Curve, measured: Curve, alignment: Alignment) -> DeviceFit:
    """Fit a device to a measured curve, in the device's own unit.

    Args:
        force: Simulated force that the device feels [N].
        measured: Output of the device, by its own clock.
        alignment: Relation of measured time to simulated time.

    Raises:
        FitError: The values do not determine a device; the message is the reason.
    """
    aligned = alignment.apply(measured)
    period, chosen = _sampling(aligned)
    times, output = aligned.times[chosen], aligned.values[chosen]
    force_then = sample(force, times)
    known = np.isfinite(force_then) & np.isfinite(output)
    times, output, force_then = times[known], output[known], force_then[known]
    if len(output) < _FEWEST:
        raise FitError(f"only {len(output)} measured values lie within the simulated time; {_FEWEST} are needed")
    steepness = np.abs(np.gradient(force.values, force.times))
    window = max(period, force.period)
    steep = _largest_near(force.times, steepness, times, window)
    calm = steep <= np.quantile(steep, 1.0 - _STEEP)
    alike = correlation(force_then, output)
    if abs(alike) < _LEAST_CORRELATION:
        raise FitError(f"the values do not follow the force (correlation {alike:.2f}): check mapping and alignment")
    touched = force_then > 0.02 * float(force_then.max())
    # Until it is known whether the device is saturated, without its largest values.
    low, high = float(output.min()), float(output.max())
    used, top = calm & (np.abs(output - low) < _FIRST * (high - low) if alike > 0 else calm), None
    gain = bias = sigma = 0.0
    for _ in range(_ROUNDS):
        if used.sum() < _FEWEST // 2:
            raise FitError("too few values are neither saturated nor in the middle of an impact")
        gain, bias = np.polyfit(force_then[used], output[used], 1).tolist()
        rest = output - (gain * force_then + bias)
        # The mean of what lies within some of them is that of a normal distribution but for a part in a thousand.
        own = rest[used & touched] if (used & touched).sum() >= _FEWEST // 2 else rest[used]
        sigma = 1.4826 * float(np.median(np.abs(own - np.median(own))))
        top = _saturation(output, gain * force_then + bias, sigma)
        open_ = np.ones(len(output), bool) if top is None else (gain * force_then + bias) < top - 3.0 * sigma
        used = calm & open_ & (np.abs(rest) <= max(_SIGMAS * sigma, 1e-12))
    touching = used & touched
    if not gain or np.ptp(force_then[touching], axis=0) * abs(gain) < _LEAST_RANGE * sigma:
        raise FitError("the force hardly changes, so gain and bias cannot be separated: measure with different loads")
    resting = calm & (force_then == 0.0)
    if resting.sum() < 5 and float(force_then[touching].min()) > 0.5 * float(force_then.max()):
        raise FitError("the force is never small, so that the bias cannot be known: measure without contact too")
    rest = output - (gain * force_then + bias)
    spread = float(rest[touching].std())
    still = float(rest[resting].std()) if resting.sum() >= _FEWEST // 2 else None
    return DeviceFit(
        gain,
        bias,
        spread,
        still,
        period,
        _resolution(output),
        top,
        alike,
        int(used.sum()),
        float(np.median(output[touching])),
        float(force_then.max()),
    )


def _sampling(curve: Curve) -> tuple[float, NDArray[np.bool_]]:
    """Return the time between two samples of the device [s], and which values are new samples: messages may repeat
    them."""
    changed = np.append(True, np.diff(curve.values) != 0.0)
    usual = curve.period
    span = np.percentile(curve.values, [5, 95])
    moving = np.abs(curve.values - span[0]) > 0.05 * (span[1] - span[0])
    if changed[moving].sum() < 10 or moving.sum() / changed[moving].sum() < _HELD:
        return usual, np.ones(len(curve.times), bool)
    gaps = np.diff(curve.times[changed & moving])
    return float(np.median(gaps)), changed


def _saturation(output: Numbers, expected: Numbers, sigma: float) -> float | None:
    """Return the largest output, if the output stays there although the force would give more; else None."""
    top = float(output.max())
    over = expected > top + max(3.0 * sigma, 1e-6 * abs(top))
    if over.sum() < _FEWEST_STUCK or float(output[over].std()) > 3.0 * sigma + 1e-6 * abs(top):
        return None
    return float(np.median(output[over]))


def _resolution(output: Numbers) -> float | None:
    """Return the step of which all values are multiples, up to an offset; None if there is none."""
    levels = np.unique(output)
    if len(levels) < 3 or len(levels) > 0.5 * len(output):
        return None
    steps = np.diff(levels)
    step = float(steps[steps > 1e-9 * np.ptp(levels)].min(initial=np.inf))
    if not np.isfinite(step):
        return None
    whole = (levels - levels[0]) / step
    error = np.abs(whole - np.rint(whole))
    if (error > 0.05).any():
        return None
    # The mean of all steps has fewer rounding errors than one of them.
    return float(np.ptp(levels) / np.rint(whole[-1]))


def _largest_near(times: Numbers, values: Numbers, centres: Numbers, reach: float) -> Numbers:
    """Return the largest of some values within a time [s] of each centre."""
    starts, stops = np.searchsorted(times, centres - reach), np.searchsorted(times, centres + reach, side="right")
    stops = np.minimum(np.maximum(stops, starts + 1), len(values))
    starts = np.minimum(starts, len(values) - 1)
    edges = np.stack([starts, np.maximum(stops, starts + 1)], axis=1).ravel()
    padded = np.append(values, 0.0)
    return np.asarray(np.maximum.reduceat(padded, np.minimum(edges, len(values)))[::2])
