"""Compares a term with the truth, and names the cause of a disagreement where one rule alone explains it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..mjmodel.names import body_names, sensor_names
from .evidence import Evidence, Read, sensor_units
from .truth import Mask, Values, sensor_side

ROLES = ("contact", "force", "force-world", "air-time", "grasp")
EXPLAINED = 0.01
"""Largest share of steps, of contact or of none, in which a wrong signal may differ from a term that it explains."""
WRONG, WRONG_IN = 0.03, 0.2
"""Largest share of clear steps that may be wrong: in all situations together, and in one situation."""
FEW = 12
"""Number of clear steps below which no share is computed."""
CAUSES = {
    "column": "the wrong column of the sensor's array",
    "frame": "the wrong frame",
    "sign": "the wrong sign",
    "torque": "torque is taken for force",
    "side": "left and right are swapped",
    "order": "outputs are in another order",
    "index": "an index is off by one",
    "unit": "another unit",
    "substep": "physics steps and control steps are mixed up",
    "late": "the value is late",
    "stale": "the value stays after contact is lost",
    "latch": "once true, it never becomes false",
    "listed": "a contact in the list is taken for one that touches",
    "normals": "normals that do not oppose each other are taken for a grasp",
    "finger": "one finger is taken for a grasp",
    "body": "another body",
    "others": "contacts with other things are counted",
    "position": "position is taken for contact",
    "threshold": "the threshold is too high",
    "standing": "it pays while standing",
    "reset": "state survives the reset",
    "contact-time": "time in contact is taken for time in the air",
}
"""Short description of each cause."""


@dataclass(frozen=True)
class AuditFinding:
    """A disagreement of a term with the truth."""

    cause: str
    """Name of the cause, one of `CAUSES`; empty if only the symptom is known."""
    text: str
    """Description of the disagreement in one or two sentences, with numbers."""
    outputs: tuple[str, ...] = ()
    """Names of the targets whose outputs disagree."""
    situation: str = ""
    """Situation that shows the disagreement best."""
    step: int = 0
    """Physics step of the situation at which the disagreement shows."""

    def __str__(self) -> str:
        head = CAUSES.get(self.cause, "disagrees with the truth")
        return f"{head}: {self.text}"


@dataclass(frozen=True)
class Row:
    """Agreement of one output in one situation."""

    situation: str
    output: str
    agreement: float
    """Share of correct steps among those with clear contact or clearly without; for forces, 1 minus the relative
    error."""
    missed: float
    """Share of steps with clear contact in which the term misses it."""
    false: float
    """Share of steps clearly without contact in which the term reports a value."""
    delay: float
    """Time by which the term is late [s]."""
    chatter: int
    """Number of changes of the term beyond those of the truth."""
    ratio: float
    """Ratio of the value to the true value; NaN if there is none."""


@dataclass
class Judgement:
    """Result of the comparison of a term: rows, findings and notes."""

    rows: list[Row] = field(default_factory=list)
    findings: list[AuditFinding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Signal:
    """Wrong quantity that may explain the values of a term."""

    cause: str
    values: Values
    """Values of the quantity, (n,) or (n, 3)."""
    text: str
    key: Any = None


class Judge:
    """Judge that compares the values of a term with the truth of a role."""

    def __init__(
        self, evidence: Evidence, role: str, reads: Sequence[Read], reset_differs: bool, rel: float, given: bool
    ) -> None:
        self.e, self.role, self.reads, self.rel, self.given_against = evidence, role, reads, rel, given
        self.reset_differs = reset_differs
        self.truth = evidence.truth
        self.names = evidence.targets.names
        self.size = np.linalg.norm(self.truth["force"], axis=-1)
        """Magnitude of the force on each target [N], (n, targets)."""
        self.high = float(np.clip(0.1 * evidence.weight / len(self.names), 1.5, 20.0))
        """Force above which contact is clear [N]."""
        self.shown: list[tuple[str, str, Values, Values]] = []
        """Curves for a user: target, unit, values of the term and the truth of each control step, (n,)."""
        self._start = evidence.starts()
        self.result = Judgement()

    # ------------------------------------------------------------------------------------------------- helpers
    def shifted(self, values: Any, steps: int) -> Any:
        """Return the values of some control steps earlier; at the beginning of a situation, those of its first step."""
        index = np.arange(len(values)) - steps
        for block in self.e.blocks():
            index[block] = np.clip(index[block], block.start, block.stop - 1)
        return values[index]

    def near_start(self, steps: int) -> Mask:
        near = self._start.copy()
        for _ in range(steps - 1):
            near |= np.append(False, near[:-1])
        return near

    def core(self, mask: Mask) -> Mask:
        """Return True for steps whose neighbours are in the mask too, because a difference of one step is not an
        error."""
        width = 2 if self.e.every == 1 else 1
        result = mask.copy()
        for shift in range(1, width + 1):
            result &= self.shifted(mask, shift) & self.shifted(mask, -shift)
        return result

    def place(self, wrong: Mask) -> tuple[str, int]:
        """Return the situation with most wrong steps, and the physics step in the middle of its longest run of wrong
        steps."""
        if not wrong.any():
            return "", 0
        blocks = list(self.e.blocks())
        number = int(np.argmax([wrong[block].sum() for block in blocks]))
        steps = np.flatnonzero(wrong[blocks[number]])
        runs = np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1)
        longest = max(runs, key=len)
        return self.e.situations[number], int(longest[len(longest) // 2] + 1) * self.e.every

    def reading(self, output: int | None = None) -> str:
        """Return a text that names the values that a term reads, for the message on a symptom."""
        names = [read.name for read in self.reads if output is None or output in read.outputs]
        if not names:
            return "it depends on no value that was tried"
        return "it reads " + ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")

    def reads_of(self, output: int) -> list[Read]:
        """Return the reads on which an output depends."""
        return [read for read in self.reads if output in read.outputs]

    def find(self, cause: str, text: str, outputs: Sequence[int], wrong: Mask) -> None:
        """Add a finding, at the situation and step that show it best."""
        situation, step = self.place(wrong)
        self.result.findings.append(
            AuditFinding(cause, text, tuple(self.names[each] for each in outputs), situation, step)
        )

    def decide(self) -> Judgement:
        raise NotImplementedError

    def other_bodies(self) -> Iterator[tuple[str, Values]]:
        """Yield the bodies other than the targets that touch the floor, and their normal forces [N], (n,)."""
        names, pressed = body_names(self.e.model), self.truth["bodies"]
        for body in np.flatnonzero((pressed > 0).any(axis=0)):
            if int(body) not in self.e.targets.bodies:
                yield names[body], pressed[:, body]

    def signals(self, k: int) -> Iterator[Signal]:
        """Yield scalar quantities that a term may use in place of the force on target `k`."""
        t, name = self.truth, self.names[k]
        for part in (1, 2):
            label = f"the tangential force of {name} (tangent{part - 1}), not the normal one"
            for source in ("frame_force", "frame_max", "frame_min"):
                yield Signal("column", t[source][:, k, part], label)
        for part in range(3):
            for source in ("frame_max", "frame_min"):
                yield Signal("torque", t[source][:, k, 3 + part], f"a torque of {name}'s contacts")
            yield Signal("torque", t["frame_torque"][:, k, part], f"a torque of {name}'s contacts")
            yield Signal(
                "torque",
                t["cfrc"][:, k, part],
                f"cfrc_ext[{name}].torque.{'xyz'[part]}: the first three values of cfrc_ext are torque",
            )
        for part in (0, 1):
            yield Signal("column", t["force"][:, k, part], f"the horizontal force of {name} along {'xy'[part]}")
        local = np.einsum("nji,nj->ni", t["rotation"][:, k], t["force"][:, k])
        for part in range(3):
            yield Signal("frame", local[:, part], f"the {'xyz'[part]} component in the frame of {name}'s body")
        for j in range(len(self.names)):
            if j != k:
                for values in (self.size[:, j], t["normal"][:, j], t["force"][:, j, 2]):
                    yield Signal("other", values, f"the force on {self.names[j]}", j)
        for body, pressed in self.other_bodies():
            yield Signal("body", pressed, f"the contact of {body}, not of {name}")

    def may_read(self, signal: Signal, k: int) -> bool:
        """Return False if the values that a term reads show that it cannot use this quantity as the force."""
        names = [read.name for read in self.reads if k in read.outputs or 3 * k in read.outputs]
        if not names or signal.cause not in ("torque", "column"):
            return True
        if any("contact list" in name for name in names):
            return True
        right = (".force.normal", ".force.z", ".found") if signal.cause == "column" else (".force.",)
        return not any(part in name for name in names for part in right)

    def permutation(self, mapping: dict[int, int], wrong: Mask) -> bool:
        """Add a finding on outputs that have the values of other targets; return False if each output has its own
        target."""
        moved = {k: j for k, j in mapping.items() if k != j}
        if not moved:
            return False
        shown = ", ".join(f"output {k} ({self.names[k]}) is {self.names[j]}" for k, j in sorted(moved.items()))
        count = len(self.names)
        if set(moved) == set(moved.values()):
            pairs = all(mapping.get(j) == k for k, j in moved.items())
            steps = {(j - k) % count for k, j in mapping.items()}
            if pairs and all(are_sides(self.names[k], self.names[j]) for k, j in moved.items()):
                self.find("side", f"{shown}.", sorted(moved), wrong)
            elif len(steps) == 1 and len(mapping) == count > 2:
                self.find("order", f"{shown}: every output is {min(steps)} place(s) on.", sorted(moved), wrong)
            else:
                self.find("order", f"{shown}.", sorted(moved), wrong)
        elif {j - k for k, j in moved.items()} <= {1} or {j - k for k, j in moved.items()} <= {-1}:
            if len(moved) > 1:
                self.find("index", f"{shown}.", sorted(moved), wrong)
            else:
                self.find("body", f"{shown}.", sorted(moved), wrong)
        else:
            self.find("body", f"{shown}.", sorted(moved), wrong)
        return True

    def read_cause(self, outputs: Sequence[int], place: Callable[[int], Sequence[int]]) -> tuple[str, str] | None:
        """Return the cause that follows from the values read for all given outputs, and a sentence; None if none does.

        `place`: function that returns the indices of an output in the flattened value of the term.
        """
        causes = []
        for k in outputs:
            mine = [read for read in self.reads if set(place(k)) & read.outputs]
            causes.append(cause_of_reads(self.e, k, mine))
        if not causes or any(each is None or each[0] != (causes[0] or ("",))[0] for each in causes):
            return None
        return causes[0]


def are_sides(one: str, other: str) -> bool:
    """Return True if two names differ only in left and right."""
    one, other = one.lower(), other.lower()
    if "left" in one + other:
        return one != other and (one.replace("left", "right") == other or one.replace("right", "left") == other)
    differing = [{a, b} for a, b in zip(one, other, strict=False) if a != b]
    return len(one) == len(other) and differing == [{"l", "r"}]


def cause_of_reads(e: Evidence, k: int, reads: Sequence[Read]) -> tuple[str, str] | None:
    """Return the cause that follows from the values read for a target, and a sentence; None if none does."""
    if not reads:
        return None
    name, body = e.targets.names[k], e.targets.bodies[k]
    fields = {read.field for read in reads}
    listed = ", ".join(read.name for read in reads[:3])
    if all(read.sensor for read in reads):
        sensors = {read.sensor for read in reads}
        normal = f"{next(iter(sensors))}.slot0.force.normal"
        if fields <= {"force.tangent0", "force.tangent1"}:
            return "column", f"it reads {listed}; the normal force is {normal}"
        if all(each.startswith("torque.") for each in fields):
            return "torque", f"it reads {listed}; the normal force is {normal}"
        single = len(reads) == 1 and len(sensors) == 1
        forces = ("found", "force.normal", "force.z")
        if (
            single
            and reads[0].field not in forces
            and len(reads[0].addresses) == 1
            and (right := beside(e, k, reads[0]))
        ):
            return "index", f"it reads {listed}, one place beside {right}"
        if single and fields <= {"force.x", "force.y"}:
            return "column", f"it reads {listed}, a horizontal component of a force in the world's frame"
        if single and next(iter(fields)).partition(".")[0] in ("pos", "normal", "tangent", "linvel", "angvel"):
            return "column", f"it reads {listed}, which is no force"
        return None
    rows = [read for read in reads if read.name.startswith(("cfrc_ext", "cfrc_int"))]
    if rows and len(rows) == len(reads):
        if all(".torque." in read.name for read in rows) and {read.body for read in rows} == {body}:
            return "torque", f"it reads {listed}; the first three values are torque, the last three force"
        bodies = {read.body for read in rows}
        if bodies in ({body - 1}, {body + 1}):
            (other,) = bodies
            parents = e.model.body_parentid
            # Of a parent and its child nobody can tell a wrong number from a wrong body.
            cause = "body" if parents[other] == body or parents[body] == other else "index"
            return cause, f"it reads {listed}, of body {other}; {name} is body {body}"
    return None


def beside(e: Evidence, k: int, read: Read) -> str:
    """Return the name of a value of the target's own sensor that is next to the value read from another sensor; empty
    if there is none."""
    for name, sensor, column, addresses in sensor_units(e.model):
        if (
            column in ("found", "force.normal", "force.z")
            and sensor != read.sensor
            and abs(addresses[0] - read.addresses[0]) == 1
        ):
            side = (
                sensor_side(e.model, sensor_names(e.model).index(sensor)) if sensor in sensor_names(e.model) else None
            )
            if side is not None and np.array_equal(side, e.targets.members[k]):
                return name
    return ""


def fit(out: Mask, signal: Values) -> tuple[float, float, bool]:
    """Fit a threshold of a signal to a boolean.

    Returns:
        Mean of the shares of missed and of false steps, the threshold, and True if the boolean is true below it.
    """
    count, total = int(out.sum()), len(out)
    if not count or count == total:
        return 1.0, 0.0, False
    order = np.argsort(signal, kind="stable")
    values, hits = signal[order], out[order]
    # A threshold before place i: all from i on are true.
    missed = np.concatenate([[0], np.cumsum(hits)]) / count
    false = (total - count - np.concatenate([[0], np.cumsum(~hits)])) / (total - count)
    valid = np.concatenate([[True], values[1:] > values[:-1], [True]])
    error = np.where(valid, (missed + false) / 2, 1.0)
    below = np.where(valid, 1.0 - (missed + false) / 2, 1.0)
    i, j = int(np.argmin(error)), int(np.argmin(below))
    flipped = bool(below[j] < error[i])
    i = j if flipped else i
    low, high = values[max(i - 1, 0)], values[min(i, total - 1)]
    return float(below[i] if flipped else error[i]), float((low + high) / 2), flipped


def is_contact(read: Read) -> bool:
    """Return True for a value that depends on contacts."""
    return bool(read.sensor) or read.name.startswith(("contact list", "cfrc", "qfrc_constraint", "cacc", "qacc"))


def share_of(part: Mask, whole: Mask, empty: float = 0.0) -> float:
    """Return the share of the steps in `whole` that are in `part` too; `empty` if `whole` has no steps."""
    count = int(whole.sum())
    return float((part & whole).sum() / count) if count else empty


def difference(one: Mask, other: Mask) -> float:
    """Return the share of steps in which two booleans differ."""
    return float(np.mean(one != other))


def runs_of(mask: Mask) -> list[tuple[int, int]]:
    """Return the first step and the end (excluded) of each run of true steps."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def size_of(values: Values) -> Values:
    """Return magnitudes of numbers, (n,), or of vectors, (n, 3)."""
    return np.linalg.norm(values, axis=-1) if values.ndim > 1 else np.abs(values)


def relative_error(v: Values, t: Values) -> float:
    """Return the root mean square error relative to the truth; very large if the truth is zero and the value is not."""
    return float(np.sqrt(np.sum((v - t) ** 2)) / max(float(np.sqrt(np.sum(t**2))), 1e-6))


def scale_of(v: Values, t: Values) -> tuple[float, float]:
    """Return the factor from the second quantity to the first, and the share of the first that the factor does not
    explain."""
    square = float(np.sum(t * t))
    if square < 1e-12 or not np.any(v):
        return 0.0, 1.0
    scale = float(np.sum(v * t)) / square
    return scale, float(np.sqrt(np.sum((v - scale * t) ** 2) / np.sum(v * v)))
