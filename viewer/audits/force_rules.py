"""Rules for forces: compare numbers and vectors with the truth, and explain their mistakes."""

import numpy as np

from .causes import FEW, WRONG, AuditFinding, Judge, Judgement, Row, Signal, relative_error, scale_of, share_of, size_of
from .evidence import sensor_units
from .truth import Mask, Values

_SMALL = 1e-9


class ForceJudge(Judge):
    """Judge of a term that returns a number or a vector for each target."""

    def decide(self) -> Judgement:
        e, values = self.e, np.nan_to_num(self.e.values, posinf=1e9, neginf=-1e9)
        n, count = len(values), len(self.names)
        vector = (
            values.ndim >= 2
            and values.shape[-1] == 3
            and values.size == 3 * count * n
            and not (self.role == "force" and values.ndim == 2 and count == 3)
        )
        if not vector and values.size == 3 * count * n:
            vector, values = True, values.reshape(n, count, 3)
        if self.role == "force-world" and not vector and values.size != 3 * n:
            self.result.findings.append(
                AuditFinding(
                    "",
                    f"a world force has three components for each target, and the term returned {values.shape[1:]}.",
                )
            )
            return self.result
        truths = self.accepted(vector or (values.size == 3 * n and self.role == "force-world"))
        if self.role == "force-world" and not vector:
            vector, count = True, 1
            truths = {name: truth.sum(axis=1, keepdims=True) for name, truth in truths.items()}
            self.names = ("all of " + ", ".join(self.names),)
        values = values.reshape(n, count, 3) if vector else values.reshape(n, -1)
        if not vector and values.shape[1] == 1 and count > 1:
            self.result.notes.append(f"one output for {count} targets: their sum, mean or largest")
            truths = {
                f"{how} {name}": each
                for name, truth in truths.items()
                for how, each in (
                    ("sum of", truth.sum(axis=1, keepdims=True)),
                    ("mean", truth.mean(axis=1, keepdims=True)),
                    ("largest", truth.max(axis=1, keepdims=True)),
                )
            }
            self.names = ("all of " + ", ".join(self.names),)
        self.v, self.truths = values, truths
        errors = {
            name: [relative_error(values[:, k], truth[:, k]) for k in range(values.shape[1])]
            for name, truth in truths.items()
        }
        best = min(errors, key=lambda name: float(np.mean(errors[name])))
        self.best = truths[best]
        for k in range(values.shape[1]):
            v, t = values[:, k].reshape(n, -1), self.best[:, k].reshape(n, -1)
            for part, label in enumerate((" x", " y", " z") if vector else ("",)):
                self.shown.append((self.names[k] + label, "N", v[:, part], t[:, part]))
            for number, block in enumerate(e.blocks()):
                v, t = values[block, k], self.best[block, k]
                error = relative_error(v, t)
                on, off = size_of(t) > self.high, size_of(t) == 0
                self.result.rows.append(
                    Row(
                        e.situations[number],
                        self.names[k],
                        max(0.0, 1.0 - error) if on.any() or off.any() else 1.0,
                        share_of(on & (size_of(v) < 0.05 * size_of(t)), on),
                        share_of(off & (size_of(v) > self.tiny), off),
                        0.0,
                        0,
                        scale_of(v, t)[0] if on.any() else float("nan"),
                    )
                )
        bad = [k for k in range(values.shape[1]) if errors[best][k] > self.rel or self.noisy(k)]
        if self.reset_differs:
            self.find(
                "reset",
                "after reset, values differ from those of a new object in the same state.",
                list(range(len(self.names))),
                np.ones(n, bool),
            )
        if bad:
            self.result.notes.append(f"compared with {best}")
            self.explain(bad, vector)
        return self.result

    @property
    def tiny(self) -> float:
        """Force below which a value in the air counts as zero [N]."""
        return max(0.5, 0.005 * self.e.weight)

    def noisy(self, k: int) -> bool:
        off = self.core(size_of(self.best[:, k]) == 0)
        return share_of(off & (size_of(self.v[:, k]) > self.tiny), off) > WRONG

    def accepted(self, vector: bool) -> dict[str, Values]:
        """Return the quantities that count as right answers, by name."""
        t = self.truth
        if self.role == "force-world":
            return {"the force on the target, world": t["force"], **self.over_substeps("force", vector=True)}
        if vector:
            return {"the force on the target, world": t["force"], "the force in the contact frame": t["frame_force"]}
        up = -np.asarray(self.e.model.opt.gravity)
        up = up / max(float(np.linalg.norm(up)), _SMALL) if up.any() else np.array([0.0, 0.0, 1.0])
        return {
            "the net force": self.size,
            "the sum of normal forces": t["normal"],
            "the vertical force": t["force"] @ up,
            "the largest normal force": t["frame_max"][..., 0],
            **self.over_substeps("normal", vector=False),
        }

    def over_substeps(self, name: str, vector: bool) -> dict[str, Values]:
        if self.e.every == 1:
            return {}
        physics = self.e.physics
        found = {f"the mean of {name} over the control step": physics[name].mean(axis=1)}
        if not vector:
            size = np.linalg.norm(physics["force"], axis=-1)
            found |= {
                "the peak of the control step": size.max(axis=1),
                "the mean force of the control step": size.mean(axis=1),
                "the peak of normal force of the control step": physics["normal"].max(axis=1),
            }
        return found

    def explain(self, bad: list[int], vector: bool) -> None:
        v, e = self.v, self.e
        wrong = np.any(
            [
                size_of(v[:, k] - self.best[:, k]) > np.maximum(self.rel * size_of(self.best[:, k]), self.tiny)
                for k in bad
            ],
            axis=0,
        )
        if self.factor(bad, wrong):
            return
        for steps in (1, 2, 3):
            for truth in self.truths.values():
                inner = ~self.near_start(steps + 1)
                if all(relative_error(v[inner, k], self.shifted(truth, steps)[inner, k]) < 0.02 for k in bad):
                    self.find("late", f"it is the force of {steps} control step(s) before.", bad, wrong)
                    return
        if e.every > 1:
            first = {"force": e.physics["force"][:, 0], "normal": e.physics["normal"][:, 0]}
            tries = [first["force"]] if vector else [first["normal"], np.linalg.norm(first["force"], axis=-1)]
            if any(
                all(relative_error(v[:, k], each[:, k]) < 0.01 for k in bad)
                for each in tries
                if each.shape[1] == v.shape[1]
            ):
                self.find(
                    "substep",
                    "it is the force of the first physics step of the control step, not of the last.",
                    bad,
                    wrong,
                )
                return
        if self.stale(bad, wrong):
            return
        found = self.read_cause(bad, (lambda k: range(3 * k, 3 * k + 3)) if vector else (lambda k: [k]))
        if vector and (shift := self.column_shift(bad)):
            self.find(
                "column",
                f"its columns begin {shift:+d} from those of the force; {self.reading()}.",
                bad,
                wrong,
            )
            return
        if found is not None and not vector:
            self.find(found[0], f"{found[1]}.", bad, wrong)
            return
        if self.v.shape[1] == len(e.targets.names) and (
            self.vector_signals(bad, wrong) if vector else self.scalar_signals(bad, wrong)
        ):
            return
        worst = max(bad, key=lambda k: relative_error(v[:, k], self.best[:, k]))
        scale, left = scale_of(v[:, worst], self.best[:, worst])
        self.find(
            "",
            f"{self.names[worst]} is off by {min(relative_error(v[:, worst], self.best[:, worst]), 99):.0%} "
            f"({scale:.3g} times the truth, {left:.0%} left); {self.reading()}.",
            bad,
            wrong,
        )

    def column_shift(self, bad: list[int]) -> int:
        """Return the number of columns in sensordata between the force and the values that a term reads; 0 if it is not
        the same for all."""
        shifts = set()
        starts = {
            sensor: min(places)
            for _, sensor, column, places in sensor_units(self.e.model)
            if column in ("force.x", "force.normal")
        }
        for k in bad:
            for part in range(3):
                mine = [read for read in self.reads if 3 * k + part in read.outputs]
                if len(mine) != 1 or mine[0].sensor not in starts:
                    return 0
                shifts.add(min(mine[0].addresses) - starts[mine[0].sensor] - part)
        return shifts.pop() if len(shifts) == 1 else 0

    def factor(self, bad: list[int], wrong: Mask) -> bool:
        """Add a finding if the values are a right quantity times a constant factor; return False if there is no such
        factor."""
        for name, truth in self.truths.items():
            scales = [scale_of(self.v[:, k], truth[:, k]) for k in bad]
            if any(left > 0.02 for _, left in scales) or np.ptp([s for s, _ in scales]) > 0.02 * abs(scales[0][0]):
                continue
            scale = float(np.mean([s for s, _ in scales]))
            if abs(scale - 1) < 0.02:
                continue
            if abs(scale + 1) < 0.02:
                self.find(
                    "sign",
                    f"it is {name} with the opposite sign: the force of the target on the other side.",
                    bad,
                    wrong,
                )
                return True
            dt, every, g = self.e.timestep, self.e.every, float(np.linalg.norm(self.e.model.opt.gravity)) or 9.81
            known = {
                "kilograms in place of newtons (a factor of 1/g)": ("unit", 1 / g),
                "newtons multiplied by g": ("unit", g),
                "a share of the weight, not newtons": ("unit", 1 / self.e.weight),
                "kilonewtons": ("unit", 1e-3),
                "millinewtons": ("unit", 1e3),
                "an impulse of a physics step (a factor of the timestep)": ("unit", dt),
                "divided by the timestep": ("unit", 1 / dt),
                "an impulse of a control step": ("unit", dt * every),
            }
            if every > 1:
                known |= {
                    "added up over the physics steps of a control step": ("substep", every),
                    "divided by the number of physics steps": ("substep", 1 / every),
                }
            for text, (cause, factor) in known.items():
                if abs(abs(scale) / factor - 1) < 0.02:
                    self.find(cause, f"it is {name} times {scale:.4g}: {text}.", bad, wrong)
                    return True
            self.find("", f"it is {name} times {scale:.4g}, always; {self.reading()}.", bad, wrong)
            return True
        return False

    def stale(self, bad: list[int], wrong: Mask) -> bool:
        """Add a finding if values are right in contact and stay unchanged after contact is lost; return False if they
        do not."""
        for k in bad:
            v, t = self.v[:, k], self.best[:, k]
            on, off = size_of(t) > self.high, size_of(t) == 0
            if on.sum() < FEW or relative_error(v[on], t[on]) > 0.1:
                return False
            left = off & (size_of(v) > self.tiny)
            same = size_of(v - self.shifted(v, 1)) == 0
            if left.sum() < FEW or share_of(left & same, left) < 0.95:
                return False
            mine = size_of(v - t) > np.maximum(self.rel * size_of(t), self.tiny)
            if share_of(mine & left, mine) < 0.8:
                return False
        self.find("stale", "in the air it keeps the last value of contact.", bad, wrong)
        return True

    def scalar_signals(self, bad: list[int], wrong: Mask) -> bool:
        chosen: dict[int, Signal] = {}
        for k in bad:
            signals = [*self.signals(k)]
            signals += [
                Signal(s.cause, np.abs(s.values), s.text, s.key) for s in signals if s.cause in ("column", "torque")
            ]
            friction = np.linalg.norm(self.truth["frame_force"][:, k, 1:], axis=-1)
            signals.append(Signal("column", friction, f"the tangential force of {self.names[k]}, not the normal one"))
            good = [(each, s) for s in signals if (each := relative_error(self.v[:, k], s.values)) < 0.02]
            if not good or len({s.cause for _, s in good}) > 1:
                return False
            chosen[k] = min(good, key=lambda each: each[0])[1]
        if len({s.cause for s in chosen.values()}) != 1:
            return False
        cause = next(iter(chosen.values())).cause
        if cause == "other":
            mapping = {k: int(s.key) for k, s in chosen.items()} | {
                k: k for k in range(len(self.names)) if k not in chosen
            }
            return self.permutation(mapping, wrong)
        self.find(cause, "; ".join(dict.fromkeys(f"it is {s.text}" for s in chosen.values())) + ".", bad, wrong)
        return True

    def vector_signals(self, bad: list[int], wrong: Mask) -> bool:
        t, v = self.truth, self.v
        local = np.einsum("nkji,nkj->nki", t["rotation"], t["force"])
        both = (("shifted", "column"), ("shifted_back", "column"))
        tries: list[tuple[str, Values, str]] = [
            (
                "frame",
                t["frame_force"],
                "it is the force in the contact frame (normal, tangent, tangent), not in the world's",
            ),
            ("frame", local, "it is the force in the frame of the target's body, not in the world's"),
            ("frame", -local, "it is the force in the frame of the target's body, with the opposite sign"),
            ("frame", t["untransposed"], "it was rotated by the transpose of the contact's frame"),
            ("torque", t["cfrc"][..., :3], "it is the first three values of cfrc_ext, which are torque"),
            ("torque", t["frame_torque"], "it is the torque of the contacts"),
        ]
        for name, cause in both:
            tries.append(
                (cause, t[name], "the columns of the contact's frame are shifted: its first row is the normal")
            )
            tries.append(
                (cause, -t[name], "the columns of the contact's frame are shifted: its first row is the normal")
            )
        for order in ((1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)):
            axes = "".join("xyz"[each] for each in order)
            tries.append(("column", t["force"][..., order], f"its components are those of the world's {axes}"))
            if order in ((1, 2, 0), (2, 0, 1)):
                tries.append(
                    (
                        "column",
                        t["frame_force"][..., order],
                        "it is the force in the contact frame with shifted columns",
                    )
                )
        good = [
            (cause, text)
            for cause, signal, text in tries
            if all(relative_error(v[:, k], signal[:, k]) < 0.02 for k in bad)
        ]
        if good and len({cause for cause, _ in good}) == 1:
            self.find(good[0][0], f"{good[0][1]}.", bad, wrong)
            return True
        mapping = {}
        for k in range(v.shape[1]):
            fits = [j for j in range(len(self.names)) if relative_error(v[:, k], t["force"][:, j]) < 0.02]
            mapping[k] = fits[0] if len(fits) == 1 else -1
        if all(mapping[k] >= 0 for k in bad):
            return self.permutation({k: j for k, j in mapping.items() if j >= 0}, wrong)
        if all(relative_error(v[:, k], -t["push"][:, k]) < 0.02 for k in bad):
            self.find("column", "it is the normal force alone: friction is left out.", bad, wrong)
            return True
        return False
