"""Rules for contact and grasp: compare booleans with the truth, and explain their mistakes."""

import mujoco
import numpy as np

from ..channels.channel import BOOLEAN
from ..metrics import in_contact
from .causes import (
    EXPLAINED,
    FEW,
    WRONG,
    WRONG_IN,
    Judge,
    Judgement,
    Row,
    Signal,
    difference,
    fit,
    is_contact,
    runs_of,
    share_of,
)
from .truth import Mask, Values

_OPPOSING, _ASIDE = -0.7, -0.1
"""Cosine of the angle between the pushes of two fingers: largest in a clear grasp, smallest where there is clearly
none."""
_SMALL = 1e-9
_LISTS = ("contact list: geoms", "contact list: count")
"""Values that say which contacts are in the list, and nothing else about them."""
_SANE = 0.25
"""Share of the typical force up to which a threshold is a matter of choice."""


class ContactJudge(Judge):
    """Judge of a term that returns contact as a boolean for each target, or one for all."""

    def outputs(self) -> Mask:
        values = self.e.values
        values = values.reshape(len(values), -1)
        values = np.nan_to_num(values)
        if set(np.unique(values).tolist()) <= {0.0, 1.0}:
            return values > 0.5
        # A number in place of a boolean: contact where it is not zero.
        return values > 0

    def masks(self) -> tuple[Mask, Mask]:
        """Return True for steps with clear contact, and for steps clearly without, (n, targets) each."""
        physics = np.linalg.norm(self.e.physics["force"], axis=-1)
        # Touching, or within the margin, without force: neither clear contact nor clearly none.
        self.idle = self.truth["listed"] & (physics == 0).all(axis=1)
        on = (physics > self.high).all(axis=1)
        off = (physics == 0).all(axis=1) & ~self.e.physics["touching"].any(axis=1)
        return on, off

    def decide(self) -> Judgement:
        out, (on, off) = self.outputs(), self.masks()
        pressed = self.size
        if out.shape[1] == 1 and len(self.names) > 1:
            ways = {
                "any": (on.any(axis=1), off.all(axis=1), pressed.max(axis=1), self.idle.any(axis=1)),
                "all": (on.all(axis=1), off.any(axis=1), pressed.min(axis=1), self.idle.all(axis=1)),
            }
            scores = {way: self.mistakes(out[:, 0], a, b)[0].mean() for way, (a, b, *_) in ways.items()}
            way = min(scores, key=lambda each: scores[each])
            self.result.notes.append(
                f"one output for {len(self.names)} targets: true if {way} of {', '.join(self.names)} touch"
            )
            on, off, pressed, self.idle = (each[:, np.newaxis] for each in ways[way])
            self.idle &= pressed == 0
            self.names = (f"{way} of {', '.join(self.names)}",)
            self.compare(out, on, off, pressed, single=True)
        else:
            self.compare(out, on, off, pressed)
        return self.result

    def mistakes(self, out: Mask, on: Mask, off: Mask) -> tuple[Mask, bool]:
        """Return True for clearly wrong steps, and True if there are too many of them."""
        core_on, core_off = self.core(on), self.core(off)
        missed, false = core_on & ~out, core_off & out
        bad = share_of(missed, core_on) > WRONG or share_of(false, core_off) > WRONG
        for block in self.e.blocks():
            for wrong, clear in ((missed[block], core_on[block]), (false[block], core_off[block])):
                bad |= clear.sum() >= 2 * FEW and share_of(wrong, clear) > WRONG_IN
        return missed | false, bool(bad)

    def compare(self, out: Mask, on: Mask, off: Mask, pressed: Values, single: bool = False) -> None:
        wrong, bad = [], []
        for k in range(out.shape[1]):
            true = on[:, k] if self.role == "grasp" else in_contact(pressed[:, k])
            self.shown.append((self.names[k], BOOLEAN, out[:, k], true))
            steps, is_bad = self.mistakes(out[:, k], on[:, k], off[:, k])
            wrong.append(steps)
            if is_bad:
                bad.append(k)
            self.table(k, out[:, k], on[:, k], off[:, k])
        late = {k: self.lateness(out[:, k], pressed[:, k]) for k in range(out.shape[1])}
        if all(late.values()) or (late and all(late[k] for k in bad) and bad):
            steps, of_first = next(each for each in late.values() if each is not None)
            cause = "substep" if of_first else "late"
            self.find(
                cause,
                f"it is what was true {steps} {'physics' if of_first else 'control'} step(s) before.",
                list(late),
                np.any([out[:, k] != self.shifted(out[:, k], -1) for k in late], axis=0),
            )
            return
        if self.reset_differs:
            self.find(
                "reset",
                "after reset, values differ from those of a new object in the same state.",
                list(range(out.shape[1])),
                np.any(wrong, axis=0),
            )
        if bad:
            self.explain(bad, out, on, off, pressed, wrong, single)
        if not self.result.findings and self.role != "grasp":
            self.listed_idle(out, off, single)

    def table(self, k: int, out: Mask, on: Mask, off: Mask) -> None:
        for number, block in enumerate(self.e.blocks()):
            clear = on[block] | off[block]
            right = np.where(on[block], out[block], ~out[block])
            changes = int(np.abs(np.diff(out[block].astype(int))).sum())
            held = np.flatnonzero(clear)
            true = int(np.abs(np.diff(on[block][held].astype(int))).sum()) if len(held) else 0
            self.result.rows.append(
                Row(
                    self.e.situations[number],
                    self.names[k],
                    share_of(right & clear, clear, 1.0),
                    share_of(on[block] & ~out[block], on[block]),
                    share_of(off[block] & out[block], off[block]),
                    self.delay(out[block], on[block], off[block]),
                    max(0, changes - true),
                    float("nan"),
                )
            )

    def delay(self, out: Mask, on: Mask, off: Mask) -> float:
        """Return the time by which a boolean lags behind the truth [s]."""
        best, least = 0, None
        for steps in range(min(12, len(out) - 1)):
            late = out[steps:]
            a, b = on[: len(on) - steps], off[: len(off) - steps]
            errors = int((a & ~late).sum() + (b & late).sum())
            if least is None or errors < least:
                best, least = steps, errors
        return best * self.e.control_dt

    def lateness(self, out: Mask, pressed: Values) -> tuple[int, bool] | None:
        """Return the number of steps by which a boolean exactly lags behind the truth, and True if these are physics
        steps; None if it does not."""
        changes = np.abs(np.diff(out.astype(int))).sum()
        if changes < 4:
            return None
        now = min(fit(out, pressed)[0], difference(out, in_contact(pressed)))
        inner = ~self.near_start(4)
        for steps in (1, 2, 3):
            before = self.shifted(pressed, steps)
            error, threshold, below = fit(out[inner], before[inner])
            held = difference(out[inner], self.shifted(in_contact(pressed), steps)[inner])
            if min(error, held) <= 2e-4 < 0.3 * now and not below and threshold < self.high:
                return steps, False
        if self.e.every > 1 and pressed.shape == self.size[:, 0].shape:
            for k in range(len(self.e.targets.names)):
                if np.array_equal(pressed, self.size[:, k]):
                    first = np.linalg.norm(self.e.physics["force"][:, 0, k], axis=-1)
                    error, threshold, below = fit(out, first)
                    if error <= 2e-4 < 0.3 * now and not below and threshold < self.high:
                        return self.e.every - 1, True
        return None

    def explain(
        self, bad: list[int], out: Mask, on: Mask, off: Mask, pressed: Values, wrong: list[Mask], single: bool
    ) -> None:
        """Add findings with the causes of wrong outputs, or else with the symptom."""
        anywhere = np.any([wrong[k] for k in bad], axis=0)
        true_fit = {k: fit(out[:, k], pressed[:, k]) for k in bad}
        inverted = [k for k in bad if true_fit[k][2] and true_fit[k][0] <= 0.03]
        if len(inverted) == len(bad):
            return self.find("sign", "it is true in the air and false in contact.", bad, anywhere)
        if all(self.mirror_fits(k, out[:, k]) for k in bad) and not single:
            return self.find(
                "sign", "it is never true; with the opposite sign of the force it would be right.", bad, anywhere
            )
        level = self.threshold(bad, out, pressed, single)
        if level is not None:
            typical = np.median(pressed[pressed > self.high])
            text = f"it becomes true at {level:.3g} N, and a typical contact has {typical:.3g} N"
            if level < _SANE * typical:
                self.result.notes.append(text)
                return None
            return self.find("threshold", f"{text}.", bad, anywhere)
        if self.after_contact(bad, out, on, off, wrong):
            return None
        found = self.read_cause(bad, lambda k: [k])
        if found is not None:
            return self.find(found[0], f"{found[1]}.", bad, anywhere)
        if self.listed(bad, out, on, off, wrong, single) or self.elsewhere(bad, out, on, off, wrong, single):
            return None
        if not single and self.explained_by_signals(bad, out, true_fit, wrong, anywhere):
            return None
        return self.symptom(bad, out, on, off, wrong)

    def threshold(self, bad: list[int], out: Mask, pressed: Values, single: bool) -> float | None:
        """Return the force above which outputs are true [N], if it is clear contact; None if none explains them."""
        sources = [pressed] if single else [pressed, self.truth["normal"]]
        fits = [[(k, fit(out[:, k], source[:, k]), source[:, k]) for k in bad] for source in sources]
        best = min(fits, key=lambda each: sum(error for _, (error, _, _), _ in each))
        if any(error > EXPLAINED or below or level <= self.high for _, (error, level, below), _ in best):
            return None
        # Each output brackets the threshold; together they do so more closely.
        low = max(force[~out[:, k]].max() for k, _, force in best)
        high = min(force[out[:, k]].min() for k, _, force in best)
        return float((low + high) / 2 if low <= high else np.mean([level for _, (_, level, _), _ in best]))

    def mirror_fits(self, k: int, out: Mask) -> bool:
        """Return True if a term is never true, but would be right if all forces had the opposite sign."""
        mirrored, pressed = self.e.mirrored, self.e.pressed
        if out.any() or mirrored is None or mirrored.shape[1] != pressed.shape[1]:
            return False
        on, off = pressed[:, k], ~pressed[:, k]
        said = mirrored[:, k] > 0.5
        return bool(on.sum() >= 3 and off.sum() >= 3 and said[on].mean() > 0.8 and said[off].mean() < 0.2)

    def after_contact(self, bad: list[int], out: Mask, on: Mask, off: Mask, wrong: list[Mask]) -> bool:
        """Add a finding if outputs stay true after contact is lost; return False if they do not."""
        latched = 0
        for k in bad:
            false = self.core(off[:, k]) & out[:, k]
            if share_of(self.core(on[:, k]) & ~out[:, k], self.core(on[:, k])) > WRONG or false.sum() < FEW:
                return False
            before, after = np.zeros(len(out), bool), np.zeros(len(out), bool)
            runs = lasting = mixed = falls = 0
            for block in self.e.blocks():
                touched = np.logical_or.accumulate(~off[block, k])
                before[block], after[block] = ~touched, touched & off[block, k]
                held = out[block, k]
                falls += int((held[:-1] & ~held[1:]).sum())
                runs_here = runs_of(after[block])
                for start, stop in runs_here:
                    if stop - start >= 6:
                        runs += 1
                        share = float(held[start:stop].mean())
                        lasting, mixed = lasting + (share > 0.95), mixed + (0.05 < share <= 0.95)
            core_before = before & self.core(off[:, k])
            if share_of(out[:, k] & core_before, core_before) > 0.02 or core_before.sum() < FEW:
                return False
            if lasting < 2 or mixed > 0.1 * runs:
                return False
            latched += falls == 0
        if latched == len(bad):
            self.find(
                "latch",
                "once true it stays true to the end of the episode.",
                bad,
                np.any([wrong[k] for k in bad], axis=0),
            )
        else:
            self.find(
                "stale",
                "it stays true in the air until the next touchdown.",
                bad,
                np.any([wrong[k] for k in bad], axis=0),
            )
        return True

    def explained_by_signals(
        self,
        bad: list[int],
        out: Mask,
        true_fit: dict[int, tuple[float, float, bool]],
        wrong: list[Mask],
        anywhere: Mask,
    ) -> bool:
        chosen: dict[int, Signal] = {}
        for k in bad:
            fitted = [(fit(out[:, k], signal.values)[0], signal) for signal in self.signals(k)]
            # Magnitudes: a norm, or a threshold on both sides.
            fitted += [
                (fit(out[:, k], np.abs(s.values))[0], s) for s in self.signals(k) if s.cause in ("column", "torque")
            ]
            # Many quantities differ from zero where anything touches; that says nothing of one alone.
            plain = fit(out[:, k], self.size[:, k] + self.truth["elsewhere"][:, k])[0]
            most = min(EXPLAINED, 0.2 * true_fit[k][0], 0.5 * plain)
            good = [(error, signal) for error, signal in fitted if error <= most and self.may_read(signal, k)]
            if not good:
                continue
            kinds = {signal.cause for _, signal in good}
            best = min(good, key=lambda each: each[0])
            rivals = [error for error, signal in good if (signal.cause, signal.key) != (best[1].cause, best[1].key)]
            if rivals and len(kinds) > 1 and best[0] > 0.2 * min(rivals):
                return False
            chosen[k] = best[1]
        causes = {signal.cause for signal in chosen.values()}
        if len(causes) != 1:
            return False
        cause = causes.pop()
        if len(chosen) < len(bad):
            shifts = {int(signal.key) - k for k, signal in chosen.items()} if cause == "other" else set()
            if len(chosen) < 2 or shifts not in ({1}, {-1}):
                return False
            shown = ", ".join(
                f"output {k} ({self.names[k]}) is {self.names[int(s.key)]}" for k, s in sorted(chosen.items())
            )
            self.find("index", f"{shown}.", bad, anywhere)
            return True
        if cause == "other":
            mapping = {k: int(signal.key) for k, signal in chosen.items()}
            mapping |= {k: k for k in range(len(self.names)) if k not in bad}
            return self.permutation(mapping, anywhere)
        self.find(
            cause, "; ".join(dict.fromkeys(f"it is {signal.text}" for signal in chosen.values())) + ".", bad, anywhere
        )
        return True

    def listed(self, bad: list[int], out: Mask, on: Mask, off: Mask, wrong: list[Mask], single: bool) -> bool:
        """Add a finding if outputs are wrong exactly while a contact without force is in the list; return False if
        not."""
        listed = self.truth["listed"]
        for k in bad:
            mine: Mask = listed.any(axis=1) if single else listed[:, k]
            core_off = self.core(off[:, k])
            false = core_off & out[:, k]
            apart, away = core_off & mine, core_off & ~mine
            if (
                false.sum() < FEW
                or share_of(false & mine, false) < 0.95
                or share_of(out[:, k] & apart, apart) < 0.9
                or share_of(out[:, k] & away, away) > 0.02
            ):
                return False
            if share_of(self.core(on[:, k]) & ~out[:, k], self.core(on[:, k])) > WRONG:
                return False
        self.find(
            "listed",
            "it is true where a contact is only in the list, within the gap, and no force acts.",
            bad,
            np.any([wrong[k] for k in bad], axis=0),
        )
        return True

    def listed_idle(self, out: Mask, off: Mask, single: bool) -> None:
        """Find a boolean that asks whether a contact is in the list, not whether it has force: it is true as long as
        contacts without force last."""
        names = [read.name for read in self.reads if is_contact(read)]
        if not names or not all(name.startswith(_LISTS) or name.endswith(".found") for name in names):
            return
        alone = self.truth["elsewhere"] == 0
        if single:
            alone = alone.all(axis=1, keepdims=True)
        shown, wrong, longest = [], np.zeros(len(out), bool), 0
        for k in range(out.shape[1]):
            here = self.idle[:, k] & alone[:, k]
            # Overlapping geoms have no force for some steps whenever they part fast; that alone is no error.
            runs = [(b.start + start, b.start + stop) for b in self.e.blocks() for start, stop in runs_of(here[b])]
            runs = [(start, stop) for start, stop in runs if stop - start >= FEW]
            idle = np.zeros(len(out), bool)
            for start, stop in runs:
                idle[start:stop] = True
            away = self.core(off[:, k] & alone[:, k])
            if runs and share_of(out[:, k], idle) > 0.95 and share_of(out[:, k], away) <= 0.02:
                shown.append(k)
                wrong |= idle
                longest = max(longest, *(stop - start for start, stop in runs))
        if shown:
            self.find(
                "listed",
                f"it is true in {int(wrong.sum())} steps in which a contact is in the list and no force acts, "
                f"up to {longest} on end ({1e3 * longest * self.e.control_dt:.3g} ms).",
                shown,
                wrong,
            )

    def elsewhere(self, bad: list[int], out: Mask, on: Mask, off: Mask, wrong: list[Mask], single: bool) -> bool:
        """Add a finding if outputs are wrong exactly while the target touches other objects; return False if not."""
        other = self.truth["elsewhere"]
        for k in bad:
            mine = other.max(axis=1) if single else other[:, k]
            core_off = self.core(off[:, k])
            false = core_off & out[:, k]
            free = core_off & (mine == 0)
            pressed = core_off & self.core(mine > self.high)
            if (
                false.sum() < FEW
                or share_of(false & (mine > 0), false) < 0.9
                or share_of(out[:, k] & pressed, pressed) < 0.9
                or share_of(out[:, k] & free, free) > 0.02
            ):
                return False
            if share_of(self.core(on[:, k]) & ~out[:, k], self.core(on[:, k])) > WRONG:
                return False
        if not self.given_against:
            self.result.notes.append(
                "it also counts contacts with other things than the floor; against='floor' makes that a finding"
            )
            return True
        self.find(
            "others",
            f"it is true where {self.names[bad[0]]} touches something else than {self.e.targets.other}.",
            bad,
            np.any([wrong[k] for k in bad], axis=0),
        )
        return True

    def symptom(self, bad: list[int], out: Mask, on: Mask, off: Mask, wrong: list[Mask]) -> None:
        parts = []
        for k in bad[:2]:
            core_on, core_off = self.core(on[:, k]), self.core(off[:, k])
            if not out[:, k].any() or out[:, k].all():
                parts.append(f"{self.names[k]} is always {'true' if out[0, k] else 'false'}")
            else:
                missed, false = share_of(core_on & ~out[:, k], core_on), share_of(core_off & out[:, k], core_off)
                parts.append(
                    f"{self.names[k]} misses {missed:.0%} of clear contact and is true in {false:.0%} of the rest"
                )
        more = f", and {len(bad) - 2} more outputs" if len(bad) > 2 else ""
        self.find("", f"{'; '.join(parts)}{more}; {self.reading()}.", bad, np.any([wrong[k] for k in bad], axis=0))


class GraspJudge(ContactJudge):
    """Judge of a boolean that is true while fingers hold an object."""

    def masks(self) -> tuple[Mask, Mask]:
        push = self.truth["push"]
        size = np.linalg.norm(push, axis=-1)
        unit = push / np.maximum(size, _SMALL)[..., np.newaxis]
        cosines = np.einsum("nik,njk->nij", unit, unit)
        count = size.shape[1]
        pairs = [(i, j) for i in range(count) for j in range(i)]
        facing = np.min([cosines[:, i, j] for i, j in pairs], axis=0) if pairs else -np.ones(len(size))
        both = (np.sort(size, axis=1)[:, -2:] > 2.0).all(axis=1)
        touching = self.truth["touching"].sum(axis=1)
        self.one, self.none = touching == 1, touching == 0
        self.aside = (touching >= 2) & (facing > _ASIDE) & (np.sort(size, axis=1)[:, -2:] > 2.0).all(axis=1)
        on = both & (facing < _OPPOSING)
        off = self.none | self.one | self.aside
        return on[:, np.newaxis], off[:, np.newaxis]

    def decide(self) -> Judgement:
        out = self.outputs()
        on, off = self.masks()
        fingers = self.names
        self.names = ("grasp",)
        pressed = np.sort(self.size, axis=1)[:, -2:].min(axis=1, keepdims=True)
        if not self.core(on[:, 0]).any():
            self.result.notes.append("no situation is a clear grasp: give --control or --log of a run that grasps")
        self.compare(out[:, :1], on, off, pressed, single=True)
        self.names = fingers
        return self.result

    def explain(
        self, bad: list[int], out: Mask, on: Mask, off: Mask, pressed: Values, wrong: list[Mask], single: bool
    ) -> None:
        steps, true = wrong[0], out[:, 0]
        error, _, below = fit(true, on[:, 0].astype(float))
        if below and error <= 0.05:
            return self.find("sign", "it is true without a grasp and false with one.", [0], steps)
        false = self.core(off[:, 0]) & true
        enough = false.sum() >= FEW
        kinds = {"normals": self.aside, "finger": self.one, "none": self.none}
        shares = {kind: share_of(false & mask, false) for kind, mask in kinds.items()}
        missed = share_of(self.core(on[:, 0]) & ~true, self.core(on[:, 0]))
        by_kind = {kind: share_of(self.core(mask) & true, self.core(mask)) for kind, mask in kinds.items()}
        if enough and missed <= WRONG and shares["normals"] > 0.9 and by_kind["normals"] > 0.5:
            return self.find(
                "normals",
                f"it is true in {by_kind['normals']:.0%} of the steps in which fingers touch and do not oppose.",
                [0],
                steps,
            )
        if enough and missed <= WRONG and by_kind["finger"] > 0.3 and by_kind["none"] < 0.02 and shares["finger"] > 0.5:
            return self.find(
                "finger",
                f"it is true in {by_kind['finger']:.0%} of the steps in which one finger alone touches.",
                [0],
                steps,
            )
        if enough and by_kind["none"] > 0.02 and self.listed_alone(false):
            return self.find(
                "listed",
                "it is true where contacts are only in the list, within the gap, and no force acts.",
                [0],
                steps,
            )
        if enough and self.after_contact([0], out, on, off, wrong):
            return None
        if enough and by_kind["none"] > 0.02 and self.reads and not any(is_contact(read) for read in self.reads):
            distance = self.distance(false & self.none)
            return self.find(
                "position",
                f"it is true while no finger touches (nearest {1e3 * distance:.0f} mm); {self.reading()}.",
                [0],
                steps,
            )
        return self.symptom(bad, out, on, off, wrong)

    def listed_alone(self, false: Mask) -> bool:
        listed = self.truth["listed"].any(axis=1)
        without = false & self.none
        return bool(without.sum() >= FEW and share_of(without & listed, without) > 0.95)

    def distance(self, steps: Mask) -> float:
        """Return the largest distance between the object and the nearest finger in some steps [m]."""
        model, e = self.e.model, self.e
        data, farthest = mujoco.MjData(model), 0.0
        for number, block in enumerate(e.blocks()):
            for step in np.flatnonzero(steps[block])[:: max(1, int(steps[block].sum()) // 3)]:
                place = (int(step) + 1) * e.every - 1
                mujoco.mj_setState(model, data, e.states[number][place], int(mujoco.mjtState.mjSTATE_INTEGRATION))
                mujoco.mj_kinematics(model, data)
                nearest = min(
                    mujoco.mj_geomDistance(model, data, int(a), int(b), 1.0, None)
                    for k in range(len(e.targets.members))
                    for a in np.flatnonzero(e.targets.members[k])
                    for b in np.flatnonzero(e.targets.against[k])[:4]
                )
                farthest = max(farthest, nearest)
        return farthest
