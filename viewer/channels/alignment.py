"""Aligns measured curves with simulated ones: shift and rate of clocks, matching touchdowns, agreement of values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
_LOW, _HIGH = 0.15, 0.3
"""Levels below which contact ends and above which it begins, as parts of the range between the usual smallest and
largest value."""
_USUAL = 2.0
"""Part of the values that may lie below the usual smallest, and above the usual largest value [%]."""
_SPREAD = 0.03
"""Largest difference between the shifts of two touchdowns that count as the same shift [s]."""
_MATCHED = 0.1
"""Longest time between a simulated touchdown and its measured one, once clocks are aligned [s]."""
_FEWEST, _FEWEST_FOR_DRIFT = 3, 6
"""Least number of matching touchdowns for a shift, and for a drift of the clocks."""
_DRIFT_SPAN, _MOST_DRIFT = 5.0, 2e-3
"""Shortest time over which a drift is found [s], and largest drift."""
_REFINED, _ROUNDS = 3, 7
"""Number of best shifts that are refined, and number of times that the search range is halved."""
_SCORED = 10_000
"""Most values from which the score of a shift is computed."""
_TRIED = 12
"""Number of shifts, those with the most votes, that are tried."""
_GRID = 2**20
"""Largest number of values of a curve that is shifted over another one."""
_LEAST_CORRELATION = 0.3
_BETTER = 0.15
"""Least gain in mean correlation for which another mapping than the given one is reported."""
_MOST_SWAPPED = 6
"""Most curves for which all mappings are tried; for more, only those with two curves swapped."""


class Curve(NamedTuple):
    """Values over time."""

    times: Numbers
    """Times in ascending order [s], (n,)."""
    values: Numbers
    """Values at these times, (n,)."""

    @property
    def period(self) -> float:
        """Usual time between two values [s]."""
        return float(np.median(np.diff(self.times))) if len(self.times) > 1 else np.inf


Pair = tuple[Curve, Curve]
"""A simulated curve, and a measured one in the same unit and sign, as far as that is known."""


@dataclass(frozen=True)
class Alignment:
    """Relation of measured time to simulated time."""

    offset: float
    """Simulated time at the measured time 0 [s]."""
    drift: float
    """Part by which the measuring clock is slower than simulated time."""
    method: str
    """Method of the alignment: `touchdowns`, `cross-correlation` or `by hand`."""
    matched: int = 0
    """Number of touchdowns that match."""

    def apply(self, curve: Curve) -> Curve:
        """Return a measured curve with simulated times."""
        return Curve(self.offset + (1.0 + self.drift) * curve.times, curve.values)


@dataclass(frozen=True)
class Agreement:
    """Differences between an aligned measured curve and a simulated one."""

    rms: float
    """Root of the mean squared difference, in the unit of the values."""
    correlation: float
    count: int
    """Number of measured values within the simulated time."""
    delays: tuple[tuple[float, float], ...]
    """Simulated time of each common touchdown, and the delay of the measured one [s]."""
    only_simulated: tuple[float, ...]
    """Simulated times of touchdowns that the measured curve does not have [s]."""
    only_measured: tuple[float, ...]


def touchdowns(curve: Curve) -> Numbers:
    """Return the times at which a curve rises from its usual low to its usual high values [s]; none if it is flat."""
    known = np.isfinite(curve.values)
    times, values = curve.times[known], curve.values[known]
    if len(values) < 4:
        return np.empty(0)
    low, high = np.percentile(values, [_USUAL, 100.0 - _USUAL])
    noise = 1.4826 * float(np.median(np.abs(np.diff(values)))) / np.sqrt(2.0)
    if high - low <= max(8.0 * noise, 1e-12 * max(abs(low), abs(high))):
        return np.empty(0)
    off, on = low + _LOW * (high - low), low + _HIGH * (high - low)
    state = np.where(values > on, 1, np.where(values < off, 0, -1))
    decided = np.flatnonzero(state >= 0)
    rises = decided[1:][(state[decided[1:]] == 1) & (state[decided[:-1]] == 0)]
    # Between two values the curve is a straight line.
    before, after = values[rises - 1], values[rises]
    part = np.clip((on - before) / np.where(after > before, after - before, 1.0), 0.0, 1.0)
    return np.asarray(times[rises - 1] + part * (times[rises] - times[rises - 1]))


def align(pairs: Sequence[Pair]) -> Alignment | None:
    """Return the measuring clock's shift and rate: by matching touchdowns, else by cross-correlation; None if neither
    finds one."""
    events = [(touchdowns(simulated), touchdowns(measured)) for simulated, measured in pairs]
    tried = [_fit_clock(events, shift) for shift in _voted_shifts(events)]
    scored = [(_mean_correlation(pairs, each), each) for each in tried if each.matched >= _FEWEST]
    scored = sorted(scored, key=lambda each: -each[0] * np.sqrt(each[1].matched))[:_REFINED]
    # Where steps repeat, several shifts are nearly as good.
    refined = [_refine(pairs, each) for score, each in scored if score >= _LEAST_CORRELATION]
    if refined:
        return max(refined, key=lambda each: _mean_correlation(pairs, each))
    correlated = _correlated_shift(pairs)
    if correlated is None:
        return None
    found = Alignment(correlated, 0.0, "cross-correlation")
    return _refine(pairs, found) if _mean_correlation(pairs, found) >= _LEAST_CORRELATION else None


def agree(simulated: Curve, measured: Curve, alignment: Alignment) -> Agreement:
    """Return how well a measured curve agrees with a simulated one."""
    aligned = alignment.apply(measured)
    ours, theirs = _common(simulated, aligned)
    begins, seen = touchdowns(simulated), touchdowns(aligned)
    start, stop = max(simulated.times[0], aligned.times[0]), min(simulated.times[-1], aligned.times[-1])
    begins, seen = (times[(times >= start) & (times <= stop)] for times in (begins, seen))
    first, second = _match(begins, seen, _MATCHED)
    rms = float(np.sqrt(np.mean((ours - theirs) ** 2))) if len(ours) else np.nan
    delays = tuple(zip(begins[first].tolist(), (seen[second] - begins[first]).tolist(), strict=True))
    return Agreement(
        rms,
        correlation(ours, theirs),
        len(ours),
        delays,
        tuple(np.delete(begins, first).tolist()),
        tuple(np.delete(seen, second).tolist()),
    )


def find_swap(pairs: Sequence[Pair]) -> tuple[tuple[int, ...], float, float] | None:
    """Return a mapping under which the measured curves fit clearly better, and the mean correlations as given and with
    the mapping; None if there is none. The mapping has the index of the measured curve for each simulated one."""
    count = len(pairs)
    if count < 2:
        return None
    own, summed = align(pairs), align([_sum(pairs)])
    given = _mean_correlation(pairs, own) if own is not None else 0.0
    # The sum of all curves is the same under every mapping.
    best: tuple[float, tuple[int, ...]] | None = None
    for clock in (own, summed):
        if clock is None:
            continue
        fits = np.array([[_mean_correlation([(ours, theirs)], clock) for _, theirs in pairs] for ours, _ in pairs])
        for order in _mappings(count):
            score = float(fits[np.arange(count), order].mean())
            if best is None or score > best[0]:
                best = score, order
    if best is None or best[0] < given + _BETTER:
        return None
    order = best[1]
    other = align([(ours, pairs[place][1]) for (ours, _), place in zip(pairs, order, strict=True)])
    if other is None:
        return None
    score = _mean_correlation([(ours, pairs[place][1]) for (ours, _), place in zip(pairs, order, strict=True)], other)
    return (order, given, score) if score >= given + _BETTER else None


def _sum(pairs: Sequence[Pair]) -> Pair:
    """Return the sums of all simulated and of all measured curves, where all are known."""
    sums = []
    for side in (0, 1):
        curves = [pair[side] for pair in pairs]
        times = max(curves, key=lambda curve: curve.period).times
        values = sum((sample(curve, times) for curve in curves), np.zeros(len(times)))
        known = np.isfinite(values)
        sums.append(Curve(times[known], values[known]))
    return sums[0], sums[1]


def correlation(first: Numbers, second: Numbers) -> float:
    """Return the correlation of two arrays of values; 0 where one is constant."""
    if len(first) < 3 or not np.ptp(first) or not np.ptp(second):
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def sample(curve: Curve, times: Numbers) -> Numbers:
    """Return the values of a curve at some times, with linear interpolation; NaN outside of the curve."""
    return np.asarray(np.interp(times, curve.times, curve.values, np.nan, np.nan))


def _mappings(count: int) -> list[tuple[int, ...]]:
    same = tuple(range(count))
    if count <= _MOST_SWAPPED:
        return [order for order in permutations(same) if order != same]
    swaps = []
    for a in range(count):
        for b in range(a + 1, count):
            order = list(same)
            order[a], order[b] = b, a
            swaps.append(tuple(order))
    return swaps


def _common(simulated: Curve, aligned: Curve, most: int | None = None) -> tuple[Numbers, Numbers]:
    """Return simulated and measured values where both are known, at `most` times of the curve with fewer values."""
    slow, fast = (aligned, simulated) if aligned.period >= simulated.period else (simulated, aligned)
    if most is not None and len(slow.times) > most:
        every = -(-len(slow.times) // most)
        slow_values = Curve(slow.times[::every], slow.values[::every])
        aligned, slow = (slow_values, slow_values) if slow is aligned else (aligned, slow_values)
    other = sample(fast, slow.times)
    known = np.isfinite(other) & np.isfinite(slow.values)
    found = slow.values[known], other[known]
    return (found[1], found[0]) if slow is aligned else found


def _mean_correlation(pairs: Sequence[Pair], alignment: Alignment) -> float:
    scores = []
    for simulated, measured in pairs:
        aligned = alignment.apply(measured)
        ours, theirs = _common(simulated, aligned, _SCORED)
        # A short overlap fits easily.
        span = min(np.ptp(simulated.times), np.ptp(aligned.times))
        overlap = min(simulated.times[-1], aligned.times[-1]) - max(simulated.times[0], aligned.times[0])
        scores.append(correlation(ours, theirs) * min(max(2.0 * overlap / max(span, 1e-9), 0.0), 1.0))
    return float(np.mean(scores)) if scores else 0.0


def _voted_shifts(events: Sequence[tuple[Numbers, Numbers]]) -> list[float]:
    """Return the shifts by which most touchdowns match, the best first."""
    shifts = np.concatenate([(ours[:, None] - theirs[None]).ravel() for ours, theirs in events] or [np.empty(0)])
    if len(shifts) < _FEWEST:
        return []
    shifts = np.sort(shifts)
    votes = np.searchsorted(shifts, shifts + _SPREAD, side="right") - np.arange(len(shifts))
    chosen: list[float] = []
    for place in np.argsort(-votes, kind="stable"):
        centre = float(np.median(shifts[place : place + votes[place]]))
        if all(abs(centre - other) > _SPREAD for other in chosen):
            chosen.append(centre)
        if len(chosen) >= _TRIED or votes[place] < _FEWEST:
            break
    return chosen


def _fit_clock(events: Sequence[tuple[Numbers, Numbers]], shift: float) -> Alignment:
    """Return the shift and rate that match touchdowns best, starting from a shift that matches many."""
    offset, drift, matched = shift, 0.0, 0
    for reach in (_MATCHED, _MATCHED, 0.5 * _MATCHED):
        ours, theirs = [], []
        for simulated, measured in events:
            first, second = _match(simulated, offset + (1.0 + drift) * measured, reach)
            ours.append(simulated[first])
            theirs.append(measured[second])
        x, y = np.concatenate(theirs), np.concatenate(ours)
        matched = len(x)
        if not matched:
            break
        # What is far from the others is another event.
        late = y - (1.0 + drift) * x - offset
        near = np.abs(late - np.median(late)) <= max(
            3.0 * 1.4826 * float(np.median(np.abs(late - np.median(late)))), 2e-3
        )
        x, y = x[near], y[near]
        if len(x) >= _FEWEST_FOR_DRIFT and np.ptp(x) >= _DRIFT_SPAN:
            slope, level = np.polyfit(x - x.mean(), y, 1)
            if abs(slope - 1.0) <= _MOST_DRIFT:
                drift = float(slope - 1.0)
                offset = float(level - slope * x.mean())
                continue
        offset = float(np.median(y - (1.0 + drift) * x))
    return Alignment(offset, drift, "touchdowns", matched)


def _match(first: Numbers, second: Numbers, reach: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices of events in two arrays that are each other's nearest, at most a time `reach` [s] apart."""
    if not len(first) or not len(second):
        none = np.empty(0, np.intp)
        return none, none
    forth, back = _nearest(first, second), _nearest(second, first)
    mine = np.arange(len(first))
    good = (back[forth] == mine) & (np.abs(second[forth] - first) <= reach)
    return mine[good], forth[good]


def _nearest(times: Numbers, others: Numbers) -> NDArray[np.intp]:
    after = np.clip(np.searchsorted(others, times), 1, max(len(others) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(others) - 1)
    return np.where(np.abs(others[after] - times) < np.abs(others[before] - times), after, before)


def _correlated_shift(pairs: Sequence[Pair]) -> float | None:
    """Return the shift at which the curves correlate best; None if they are too short."""
    step = max(min(curve.period for curve in pair) for pair in pairs)
    spans = [np.ptp(curve.times) for pair in pairs for curve in pair]
    if not spans or min(spans) < 4 * step:
        return None
    step = max(step, sum(sorted(spans)[-2:]) / _GRID)
    total: Numbers | None = None
    start_ours, start_theirs = (min(float(pair[side].times[0]) for pair in pairs) for side in (0, 1))
    counts = [
        int(max(float(pair[side].times[-1]) for pair in pairs) / step - start / step) + 1
        for side, start in ((0, start_ours), (1, start_theirs))
    ]
    size = 1 << int(np.ceil(np.log2(sum(counts))))
    for simulated, measured in pairs:
        rows = []
        for curve, start, count in ((simulated, start_ours, counts[0]), (measured, start_theirs, counts[1])):
            values = sample(curve, np.asarray(start + step * np.arange(count), np.float64))
            values = np.where(np.isfinite(values), values - np.nanmean(values), 0.0)
            rows.append(np.fft.rfft(values / max(float(np.sqrt((values**2).sum())), 1e-300), size))
        product = np.fft.irfft(rows[0] * np.conj(rows[1]), size)
        total = product if total is None else total + product
    assert total is not None
    place = int(np.argmax(total))
    lag = place if place < size // 2 else place - size
    return start_ours - start_theirs + lag * step


def _refine(pairs: Sequence[Pair], found: Alignment) -> Alignment:
    """Return the alignment with which the curves correlate best; its ends are moved by less than two sampling periods
    of the slower curve."""
    reach = 2.0 * max(max(curve.period for curve in pair) for pair in pairs)
    start, stop = min(pair[1].times[0] for pair in pairs), max(pair[1].times[-1] for pair in pairs)
    has_drift = stop - start >= _DRIFT_SPAN

    def moved(first: float, last: float) -> Alignment:
        slope = (last - first) / (stop - start) if stop > start else 0.0
        return replace(found, offset=found.offset + first - slope * start, drift=found.drift + slope)

    first = last = 0.0
    for _ in range(_ROUNDS):
        moves = np.linspace(-reach, reach, 5)
        ends = [(first + a, last + b) for a in moves for b in (moves if has_drift else [a + first - last])]
        first, last = max(ends, key=lambda end: _mean_correlation(pairs, moved(*end)))
        reach *= 0.5
    return moved(first, last)
