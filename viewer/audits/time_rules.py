"""Rules for time in the air, and for rewards of that time."""

import numpy as np

from ..metrics import contact_times
from .causes import FEW, Judgement, Row, scale_of, share_of
from .contact_rules import ContactJudge
from .truth import Mask, Values


class TimeJudge(ContactJudge):
    """Judge of a term that returns the time in the air of each target, or a reward of it."""

    def decide(self) -> Judgement:
        values = np.nan_to_num(self.e.values.reshape(len(self.e.values), -1))
        count = len(self.names)
        self.on, self.off = self.masks()
        low, high = self.bands()
        self.low, self.high_band = low, high
        if values.shape[1] == 1 and count > 1:
            ways = {
                "sum": (low.sum(axis=1), high.sum(axis=1)),
                "mean": (low.mean(axis=1), high.mean(axis=1)),
                "largest": (low.max(axis=1), high.max(axis=1)),
                "smallest": (low.min(axis=1), high.min(axis=1)),
            }
            good = max(self.inside(values[:, 0], *band) for band in ways.values())
            scores = {0: max(good, self.single_stance(values[:, 0]))}
            on, off = self.on.all(axis=1), self.off.any(axis=1)
        else:
            scores = {k: self.inside(values[:, k], low[:, k], high[:, k]) for k in range(values.shape[1])}
            on, off = self.on, self.off
        names, bad = self.names, []
        self.slope: float | None = None
        if values.shape[1] == 1 and count > 1:
            self.names = ("all of " + ", ".join(names),)
        for k in range(values.shape[1]):
            self.shown.append(
                (self.names[k], "s", values[:, k], low[:, k] if len(self.names) == count else low.sum(axis=1))
            )
            slope = self.reward_slope(values[:, k], k if values.shape[1] == count else None)
            reward = slope is not None and 0.9 < slope < 1.1
            if slope is not None and not reward:
                self.slope = slope
            last = count == values.shape[1] and self.is_last(values[:, k], k)
            if scores[k] < 0.97 and not reward and not last:
                bad.append(k)
            for number, block in enumerate(self.e.blocks()):
                v, t = values[block, k], (low[block, k] if values.shape[1] == count else low[block].sum(axis=1))
                share = (
                    1.0
                    if reward or last
                    else float(
                        np.mean(
                            self.within(
                                values[:, k],
                                *(
                                    (low[:, k], high[:, k])
                                    if values.shape[1] == count
                                    else (low.sum(axis=1), high.sum(axis=1))
                                ),
                            )[block]
                        )
                    )
                )
                self.result.rows.append(
                    Row(
                        self.e.situations[number],
                        self.names[k],
                        share,
                        float("nan"),
                        float("nan"),
                        0.0,
                        0,
                        scale_of(v, t)[0] if t.any() else float("nan"),
                    )
                )
        if self.reset_differs:
            self.find(
                "reset",
                "after reset, times differ from those of a new object in the same state.",
                list(range(len(self.names))),
                np.ones(len(values), bool),
            )
        if bad:
            self.explain_times(bad, values, on, off, count)
        self.names = names if not self.result.findings else self.names
        return self.result

    def bands(self) -> tuple[Values, Values]:
        """Return the least and largest time in the air [s], (n, targets), over several thresholds of contact."""
        e = self.e
        found = []
        physics = np.linalg.norm(e.physics["force"], axis=-1)
        for level in (1e-9, 1.0, self.high / 2, self.high):
            for pressed in ((physics > level).any(axis=1), physics[:, -1] > level):
                times = np.zeros(pressed.shape)
                for block in e.blocks():
                    times[block] = np.asarray(contact_times(pressed[block], e.control_dt, like=self.size).air_time)
                found.append(times)
        touching: Mask = e.physics["touching"].any(axis=1)
        times = np.zeros(touching.shape)
        for block in e.blocks():
            times[block] = np.asarray(contact_times(touching[block], e.control_dt, like=self.size).air_time)
        found.append(times)
        return np.min(found, axis=0), np.max(found, axis=0)

    def within(self, v: Values, low: Values, high: Values) -> Mask:
        room = 1.6 * self.e.control_dt + 1e-6
        cap = float(v.max())
        if cap > 0.05 and (v == cap).sum() >= 8:
            # Some terms clip.
            low, high = np.minimum(low, cap), np.minimum(high, cap)
        near = low - self.shifted(low, 1)
        # At a touchdown the time of before may still be there for a step.
        top = np.maximum(high, np.where(np.abs(near) > 0, self.shifted(high, 1), 0.0))
        return (v >= low - room) & (v <= top + room)

    def inside(self, v: Values, low: Values, high: Values) -> float:
        return float(self.within(v, low, high).mean())

    def single_stance(self, v: Values) -> float:
        """Return the share of steps in which a value fits a reward of single stance: the smallest time since a change
        of contact of any target, while exactly one is in contact; else 0."""
        fitting = np.zeros(len(v), bool)
        physics = np.linalg.norm(self.e.physics["force"], axis=-1)
        for level in (1e-9, 1.0, self.high / 2, self.high):
            pressed = physics[:, -1] > level
            mode = np.zeros(pressed.shape)
            for block in self.e.blocks():
                times = contact_times(pressed[block], self.e.control_dt, like=self.size)
                mode[block] = np.where(pressed[block], times.contact_time, times.air_time)
            expected = np.where(pressed.sum(axis=1) == 1, mode.min(axis=1), 0.0)
            fitting |= np.abs(v - np.minimum(expected, v.max())) <= 2.1 * self.e.control_dt
        return float(fitting.mean()) if np.ptp(v) > 0.05 else 0.0

    def settled(self, k: int | None) -> Mask:
        """Return True for steps well within contact or the air, of target `k` or of all; steps soon after a landing are
        left out."""
        on, off = (self.core(self.core(mask)) for mask in (self.on, self.off))
        before = on.copy()
        for steps in range(1, 6):
            before &= self.shifted(on, steps)
        each = before | off
        return each[:, k] if k is not None else each.all(axis=1)

    def reward_slope(self, v: Values, k: int | None) -> float | None:
        """Return the slope over the time in the air of a value that is paid only at touchdowns; None for other values.

        The slope is 1 if there are too few touchdowns to decide.
        """
        paid, settled = np.abs(v) > 1e-7, self.settled(k)
        if not paid.any() or share_of(paid & settled, settled) > 0.002:
            return None
        times = self.high_band if k is None else self.high_band[:, k : k + 1]
        air = np.max([self.shifted(times, steps) for steps in (0, 1, 2)], axis=0)
        long = paid & (air.max(axis=1) > 0.05)
        if long.sum() < 6 or (k is None and times.shape[1] > 1) or np.ptp(air[long]) < 0.05:
            return 1.0
        slope, offset = np.polyfit(air[long, 0], v[long], 1)
        rest = v[long] - slope * air[long, 0] - offset
        return float(slope) if np.std(rest) < 0.1 * np.std(v[long]) else 1.0

    def is_last(self, v: Values, k: int) -> bool:
        """Return True if a value is the duration of the last complete time in the air."""
        best = 0.0
        physics = np.linalg.norm(self.e.physics["force"], axis=-1)[..., k]
        for level in (1e-9, 1.0, self.high):
            pressed = (physics > level).any(axis=1)
            times = np.zeros(len(v))
            for block in self.e.blocks():
                times[block] = np.asarray(
                    contact_times(pressed[block], self.e.control_dt, like=self.size).last_air_time
                )
            best = max(best, float((np.abs(v - times) <= 2.1 * self.e.control_dt).mean()))
        return best > 0.95

    def explain_times(self, bad: list[int], values: Values, on: Mask, off: Mask, count: int) -> None:
        dt, each = self.e.control_dt, values.shape[1] == count
        wrong = np.zeros(len(values), bool)
        standing = self.core(self.on.all(axis=1))
        for _ in range(2):
            standing = self.core(standing)
        for k in bad:
            band = (
                (self.low[:, k], self.high_band[:, k]) if each else (self.low.sum(axis=1), self.high_band.sum(axis=1))
            )
            wrong |= ~self.within(values[:, k], *band)
        true = {k: self.low[:, k] if each else self.low.sum(axis=1) for k in bad}
        scales = [scale_of(values[:, k], true[k]) for k in bad]
        if self.slope is not None:
            scales = [(self.slope, 0.0)] * len(bad)
        if all(left < 0.12 for _, left in scales) and np.ptp([s for s, _ in scales]) < 0.1 * abs(scales[0][0]):
            scale, every, h = float(np.mean([s for s, _ in scales])), self.e.every, self.e.timestep
            known = (
                {
                    "physics steps are counted with the control step's time": ("substep", every),
                    "control steps are counted with the physics step's time": ("substep", 1 / every),
                }
                if every > 1
                else {}
            )
            known |= {
                "steps, not seconds": ("unit", 1 / dt),
                "physics steps, not seconds": ("unit", 1 / h),
                "milliseconds": ("unit", 1e3),
                "the opposite sign": ("sign", -1.0),
            }
            for text, (cause, factor) in known.items():
                if abs(scale / factor - 1) < 0.06:
                    return self.find(cause, f"it is the time in the air times {scale:.3g}: {text}.", bad, wrong)
            if abs(scale - 1) > 0.1:
                return self.find(
                    "", f"it is the time in the air times {scale:.3g}, always; {self.reading()}.", bad, wrong
                )
        pays = [v for v in (values[standing, k] for k in bad) if len(v) >= FEW]
        if pays and all(
            share_of(v > 1e-9, np.ones(len(v), bool)) > 0.8
            and np.median(v) <= 3.1 * dt * (1 if each else count)
            and np.ptp(v) < 1e-3 + 2 * dt
            for v in pays
        ):
            return self.find(
                "standing",
                f"in contact it pays {np.median(pays[0]):.3g} in every control step ({dt:.3g} s).",
                bad,
                wrong | standing,
            )
        if each:
            lasting = [contact_times_of(self, k) for k in bad]
            if all(np.mean(np.abs(values[:, k] - t) <= 3 * dt) > 0.93 for k, t in zip(bad, lasting, strict=True)):
                return self.find("contact-time", "it is the time since contact began.", bad, wrong)
            mapping = {
                k: [j for j in range(count) if self.inside(values[:, k], self.low[:, j], self.high_band[:, j]) > 0.97]
                for k in range(count)
            }
            if all(len(mapping[k]) == 1 and mapping[k] != [k] for k in bad) and self.permutation(
                {k: j[0] for k, j in mapping.items() if len(j) == 1}, wrong
            ):
                return None
        falls = [(values[1:, k] < values[:-1, k] - 1e-9)[~self._start[1:]] for k in bad]
        if all(share_of(f, np.ones(len(f), bool)) == 0 for f in falls) and all(
            (values[standing, k] > 3 * dt).any() for k in bad
        ):
            return self.find("latch", "it never returns to zero at touchdown.", bad, wrong)
        # A timer that is right but for its contacts is judged by them.
        grows = []
        for k in bad:
            v, before = values[:, k], self.shifted(values[:, k], 1)
            running = (v > 1e-9) & (before > 1e-9) & (v != before)
            grows.append(
                share_of(running & (np.abs(v - before - dt) < 0.01 * dt + 1e-6), running) > 0.9 and running.sum() > FEW
            )
        if each and all(grows):
            timers = values <= 1e-9
            steps = [self.mistakes(timers[:, k], self.on[:, k], self.off[:, k]) for k in range(count)]
            if all(steps[k][1] for k in bad):
                return ContactJudge.explain(
                    self, bad, timers, self.on, self.off, self.size, [s for s, _ in steps], False
                )
        parts = [f"{self.names[k]} is {np.mean(values[:, k] - true[k]):+.3g} s off on average" for k in bad[:2]]
        paid = f", {np.mean(values[standing][:, bad]):.3g} while standing" if standing.any() else ""
        return self.find("", f"{'; '.join(parts)}{paid}; {self.reading()}.", bad, wrong)


def contact_times_of(judge: TimeJudge, k: int) -> Values:
    """Return the time since contact began [s], (n,)."""
    times = np.zeros(len(judge.size))
    for block in judge.e.blocks():
        pressed = judge.size[block, k] > 1.0
        times[block] = np.asarray(contact_times(pressed, judge.e.control_dt, like=judge.size).contact_time)
    return times
