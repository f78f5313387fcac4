"""Explains why a contact sensor reports nothing, in one sentence with the names."""

from collections import Counter
from collections.abc import Iterator, Sequence

import mujoco
import numpy as np

from ..sensors.contacts import ContactBatch
from .distances import distance_bounds
from .matching import ContactMatcher, are_forces_hidden, contact_forces
from .names import body_names, flex_names, geom_names, sensor_targets, target_label, with_kind
from .pairs import Indices, Obstacle, possible_pairs, sensor_pairs, sensor_sides
from .sleep import are_asleep, is_sensor_asleep

_DISABLE = mujoco.mjtDisableBit
_SWITCHES = (
    (_DISABLE.mjDSBL_SENSOR, "Sensors are", "sensor"),
    (_DISABLE.mjDSBL_CONTACT, "Contacts are", "contact"),
    (_DISABLE.mjDSBL_CONSTRAINT, "All constraints are, and contacts with them,", "constraint"),
)
_DISTANCE_TESTS = 200
"""Most pairs whose distance is computed; of more pairs, the nearest of these is reported."""


class Diagnosis:
    """Explains the zeros of one sensor. Pairs that can collide are found once: make a new object when the model
    changes."""

    def __init__(self, model: mujoco.MjModel, sensor_id: int | None) -> None:
        """Explain a sensor; without one, a sensor that matches every contact."""
        self._model = model
        self._sensor_id = sensor_id
        self._matcher = ContactMatcher(model, sensor_id)
        self._pairs = sensor_pairs(model, sensor_id)
        self._geoms = geom_names(model)
        self._bodies = body_names(model)
        self._flexes = flex_names(model)
        self._targets = sensor_targets(model, sensor_id)
        self._site = self._targets[0][1] if self._targets[0][0] == mujoco.mjtObj.mjOBJ_SITE else None
        self._static = next(self._static_reasons(), None)

    @property
    def never(self) -> str | None:
        """Reason why the sensor can never report a contact; None if it can."""
        return self._static

    def explain(self, data: mujoco.MjData, batch: ContactBatch) -> str | None:
        """Return why a sensor with the contacts `batch` has no force now; None if it has a force."""
        if are_forces_hidden(data) and not batch.filled.any():
            return "The step that led here was not reached: its forces are not known."
        if batch.force is not None and batch.force.any():
            return None
        for flag, subject, name in _SWITCHES:
            if self._model.opt.disableflags & flag:
                return f'{subject} switched off: <flag {name}="disable"/>.'
        if self._static:
            return self._static
        if self._sensor_id is not None and is_sensor_asleep(self._model, data, self._sensor_id):
            return f"{self._subject} sleep, and had no force when they fell asleep."
        return self._explain_contacts(data, batch) or self._explain_absence(data)

    def _static_reasons(self) -> Iterator[str]:
        """Yield the reasons that hold in every state."""
        for label, geoms in zip(self._labels, sensor_sides(self._model, self._sensor_id), strict=True):
            if not geoms.any() and not self._model.nflex:
                yield f"{_capital(label)} has no geoms that could touch anything."
        if self._pairs.complete and not len(self._pairs.possible) and not self._model.nflex:
            yield f"{self._subject} can never collide: {self._obstacles()}."

    def _explain_contacts(self, data: mujoco.MjData, batch: ContactBatch) -> str | None:
        """Return why existing contacts are not reported, or have no force; None if they are reported and have a
        force."""
        contacts = self._matcher.match(data).contacts
        if not len(contacts):
            return self._explain_site(data)
        forces = contact_forces(self._model, data, contacts)[:, :3]
        pressed = forces.any(axis=1)
        names = self._touching(data, contacts[pressed] if pressed.any() else contacts)
        if not batch.filled.any():
            return f"{names} now, but {self._lateness()}."
        if not pressed.any():
            return self._explain_no_force(data, contacts)
        if batch.in_world_frame and batch.found > 1:
            return f"The forces of its {len(contacts)} contacts cancel out."
        return f"{names} now, but {self._lateness()}."

    def _explain_site(self, data: mujoco.MjData) -> str | None:
        """Return a sentence on contacts of the right geoms outside the site; None if there are none."""
        if self._site is None:
            return None
        fitting = self._matcher.match(data, anywhere=True).contacts
        if not len(fitting):
            return None
        distances = np.linalg.norm(data.contact.pos[fitting] - data.site_xpos[self._site], axis=1)
        count = f"{len(fitting)} contacts lie" if len(fitting) > 1 else "A contact lies"
        nearest = _length(float(distances.min()))
        return f"{count} outside the volume of {self._labels[0]}; the nearest is {nearest} from its centre."

    def _explain_no_force(self, data: mujoco.MjData, contacts: Indices) -> str:
        contact = data.contact
        nearest = contacts[np.argmin(contact.dist[contacts])]
        one, other = self._sides(data, int(nearest))
        distance = float(contact.dist[nearest])
        # Constraints exist for contacts nearer than this.
        limit = float(contact.includemargin[nearest])
        if contact.exclude[nearest] == 1 and distance > limit:
            apart = f"{_capital(one)} and {other} are {_length(distance)} apart"
            return f"{apart}, in the gap zone: forces begin below {_length(limit)}."
        if contact.efc_address[nearest] < 0:
            return f"{_capital(one)} touches {other}, but MuJoCo had no memory left for the force."
        depth = f"{_length(distance)} apart" if distance > 0 else f"{_length(-distance)} deep"
        return f"{_capital(one)} and {other} touch ({depth}), but nothing presses them."

    def _explain_absence(self, data: mujoco.MjData) -> str:
        distance, pair = self._nearest(data)
        if pair is None:
            return "Nothing that it matches touches now."
        one, other = (with_kind("geom", self._geoms[geom]) for geom in pair)
        if distance <= 0:
            full = data.warning[mujoco.mjtWarning.mjWARN_CONTACTFULL].number
            why = "MuJoCo had no memory left for the contact" if full else "the next step will show"
            if are_asleep(self._model, data, pair):
                why = "MuJoCo does not list contacts of what sleeps"
            return f"{_capital(one)} overlaps {other}, but {why}."
        labels = [label for label in self._labels if label not in ("anything", one, other)]
        whose = f" (the nearest of {' and '.join(labels)})" if labels else ""
        return f"{_capital(one)} is {_length(distance)} away from {other}{whose}."

    def _nearest(self, data: mujoco.MjData) -> tuple[float, Indices | None]:
        """Return the smallest distance between geoms that can collide, and these two geoms."""
        pairs = self._pairs.possible
        if not len(pairs):
            return np.inf, None
        bounds = distance_bounds(self._model, data, pairs)
        order = np.argsort(bounds, kind="stable")[:_DISTANCE_TESTS]
        best, nearest = np.inf, None
        for bound, pair in zip(bounds[order], pairs[order], strict=True):
            if bound > best:
                break
            distance = mujoco.mj_geomDistance(self._model, data, int(pair[0]), int(pair[1]), min(best, 1e6), None)
            if distance < best:
                best, nearest = distance, pair
        return best, nearest

    def _obstacles(self) -> str:
        """Return the obstacles that keep the pairs of geoms from colliding."""
        obstacles = self._pairs.obstacles
        counts = Counter(Obstacle(int(value)) for value in obstacles)
        parts = []
        for obstacle, count in counts.most_common():
            example = self._pairs.geoms[np.flatnonzero(obstacles == obstacle)[0]]
            share = f"{count} of {len(obstacles)} pairs of geoms: " if len(counts) > 1 else ""
            parts.append(share + self._obstacle(obstacle, example))
        return "; ".join(parts)

    def _obstacle(self, obstacle: Obstacle, pair: Indices) -> str:
        model = self._model
        one, other = (self._geoms[geom] for geom in pair)
        body1, body2 = (with_kind("body", self._bodies[model.geom_bodyid[geom]]) for geom in pair)
        if obstacle is Obstacle.SAME_BODY:
            return f"{one} and {other} belong to the same {body1}"
        if obstacle is Obstacle.WELDED:
            return f"there is no joint between {body1} and {body2}"
        if obstacle is Obstacle.UNMOVED:
            return f"neither {one} nor {other} is moved by the simulation"
        if obstacle is Obstacle.PARENT:
            return f"{body1} and {body2} are parent and child, which filterparent leaves out"
        if obstacle is Obstacle.EXCLUDE:
            return f"<exclude> leaves out {body1} with {body2}"
        if obstacle is Obstacle.NO_FUNCTION:
            return f"{one} and {other} are planes or height fields, which meet only solids"
        bits = " and ".join(
            f"{name} has contype {model.geom_contype[geom]}, conaffinity {model.geom_conaffinity[geom]}"
            for name, geom in zip((one, other), pair, strict=True)
        )
        return f"{bits}, which have no common bit"

    @property
    def _labels(self) -> list[str]:
        """Return descriptions of the two sides."""
        return [
            "anything" if kind == mujoco.mjtObj.mjOBJ_UNKNOWN else target_label(self._model, kind, index)
            for kind, index in self._targets
        ]

    @property
    def _subject(self) -> str:
        first, second = self._labels
        if first == "anything":
            first, second = second, first
        if second == "anything":
            return f"{_capital(first)} and other geoms"
        return f"{_capital(first)} and {second}"

    def _touching(self, data: mujoco.MjData, contacts: Indices) -> str:
        one, other = self._sides(data, int(contacts[0]))
        return f"{_capital(one)} touches {other}"

    def _sides(self, data: mujoco.MjData, contact: int) -> list[str]:
        """Return the two objects that touch in a contact."""
        return [
            with_kind("geom", self._geoms[geom]) if geom >= 0 else with_kind("flex", self._flexes[flex])
            for geom, flex in zip(data.contact.geom[contact], data.contact.flex[contact], strict=True)
        ]

    def _lateness(self) -> str:
        """Return the reason why a sensor's array does not have contacts that exist already."""
        arrays, sensor = (self._model.sensor_delay, self._model.sensor_interval), self._sensor_id
        delay, interval = (0.0 if sensor is None else float(np.max(array[sensor])) for array in arrays)
        reasons = [f"reports {delay:g} s late"] if delay else []
        reasons += [f"samples every {interval:g} s"] if interval else []
        if reasons:
            return f"the sensor {' and '.join(reasons)}"
        return "the sensor has not been computed since"


def never_matching(model: mujoco.MjModel, sensor_ids: Sequence[int]) -> dict[int, str]:
    """Return the reasons why some contact sensors can never report a contact, by their ids; fast for many sensors."""
    if model.nflex or not len(sensor_ids):
        return {}
    found = possible_pairs(model, sensor_ids)
    alive = set(found.sensors.tolist()) | set(np.flatnonzero(~found.complete).tolist())
    dead = [sensor for place, sensor in enumerate(sensor_ids) if place not in alive]
    # A site can have anything inside.
    reasons = {i: Diagnosis(model, i).never for i in dead if model.sensor_objtype[i] != mujoco.mjtObj.mjOBJ_SITE}
    return {sensor: why for sensor, why in reasons.items() if why is not None}


def _length(metres: float) -> str:
    """Return a length [m] as text, in a suitable unit."""
    if abs(metres) < 1e-5:
        return f"{metres * 1e6:.3g} µm"
    return f"{metres * 1e3:.3g} mm" if abs(metres) < 0.1 else f"{metres:.3g} m"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
