"""Holds the scene that rules check: its model, names, pairs that can collide, and the places of its elements."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..mjmodel.declarations import Declaration, declared_sensors
from ..mjmodel.names import body_names, geom_names, key_names, read_names
from ..mjmodel.pairs import PAIRS_MAX, Obstacle, find_obstacles
from ..mjmodel.types import MjData, MjModel
from ..scene_files.element_places import ElementPlaces, Place, place_of
from ..scene_files.scene import LoadedScene, load_scene
from ..scene_files.xml_edits import Edit, insert_elements, make_edit, with_attributes

if TYPE_CHECKING:
    from ..engines.contract import Engine

_STARTS_MAX = 4
"""Largest number of keyframes that runs begin from."""
_RANGE_SLACK = 1e-6
_FLATS = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
_GRAVITY = 9.81
_SCALAR_JOINTS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_OFF = int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
DEFAULT_STATE = "default state"
GIVEN_STATE = "given state"


@dataclass(frozen=True)
class Start:
    """State that runs begin with."""

    label: str
    """Label of the start, such as `key home`."""
    key: int | None = None
    """Number of the keyframe; None for another state."""
    data: MjData | None = None
    """State that the caller has passed; None for another state."""


class Subject:
    """Compiled scene with the data that several rules need."""

    def __init__(self, scene: LoadedScene, data: MjData | None = None) -> None:
        """Prepare a scene. `data`: state that runs begin with, in place of keyframes."""
        self.scene, self.model = scene, scene.model
        self.data = data
        path = scene.path
        self.path = path
        is_text = path is not None and path.suffix.lower() in (".xml", ".mjcf") and scene.owned
        self._places = ElementPlaces(path, scene.model) if is_text and path is not None else None
        self.hidden: frozenset[int] = frozenset((*scene.companions.values(), *scene.hidden))
        self.engine: Engine | None = None
        """Engine of the runs; None before the first run."""
        self.versions: tuple[str, str] | None = None
        """Versions of MuJoCo to compare, the older one first; None to compare none."""
        self.other_engine: str | None = None
        """Other engine that the scene is checked for; None for none."""

    @property
    def contacts_off(self) -> bool:
        """True if the scene switches contacts off: no rule applies then."""
        return bool(self.model.opt.disableflags & _OFF)

    @cached_property
    def geoms(self) -> list[str]:
        """Names of all geoms."""
        return geom_names(self.model)

    @cached_property
    def bodies(self) -> list[str]:
        """Names of all bodies."""
        return body_names(self.model)

    @cached_property
    def sites(self) -> list[str]:
        """Names of all sites."""
        return [name or f"site {i}" for i, name in enumerate(read_names(self.model, "site"))]

    @cached_property
    def declared(self) -> list[Declaration]:
        """Contact sensors of the scene."""
        return declared_sensors(self.model, self.hidden)

    @cached_property
    def able(self) -> NDArray[np.bool_]:
        """True for geoms that can collide by contype and conaffinity, or by a <pair>, (ngeom,)."""
        model = self.model
        able = (model.geom_contype | model.geom_conaffinity) != 0
        able[model.pair_geom1] = able[model.pair_geom2] = True
        return able

    @cached_property
    def pairs(self) -> NDArray[np.intp]:
        """Pairs of geoms that can collide, (k, 2); in a very large scene only the first ones."""
        able = np.flatnonzero(self.able)
        limit = int((2 * PAIRS_MAX) ** 0.5)
        # What does not move is first in nearly all scenes, and meets all the others.
        one, other = np.triu_indices(min(len(able), limit), 1)
        pairs = np.stack([able[one], able[other]], axis=1)
        return pairs[find_obstacles(self.model, pairs) == Obstacle.NONE]

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """True for bodies that the simulation does not move, (nbody,)."""
        model = self.model
        return np.asarray(model.body_dofnum[model.body_weldid] == 0)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Weight of the tree of each body [N]; infinite for bodies that do not move, (nbody,)."""
        model = self.model
        gravity = float(np.linalg.norm(model.opt.gravity)) or _GRAVITY
        return np.where(self.fixed, np.inf, model.body_subtreemass[model.body_rootid] * gravity)

    @cached_property
    def driven(self) -> NDArray[np.bool_]:
        """True for bodies of trees with an actuator, (nbody,)."""
        model = self.model
        roots = {int(model.body_rootid[body]) for body in self._driven_bodies()}
        return np.isin(model.body_rootid, list(roots))

    def _driven_bodies(self) -> Iterable[int]:
        model, kinds = self.model, mujoco.mjtTrn
        for kind, target in zip(model.actuator_trntype.tolist(), model.actuator_trnid[:, 0].tolist(), strict=True):
            if kind in (kinds.mjTRN_JOINT, kinds.mjTRN_JOINTINPARENT):
                yield int(model.jnt_bodyid[target])
            elif kind in (kinds.mjTRN_SITE, kinds.mjTRN_SLIDERCRANK):
                yield int(model.site_bodyid[target])
            elif kind == kinds.mjTRN_TENDON:
                start = int(model.tendon_adr[target])
                for wrap in range(start, start + int(model.tendon_num[target])):
                    if model.wrap_type[wrap] == mujoco.mjtWrap.mjWRAP_JOINT:
                        yield int(model.jnt_bodyid[model.wrap_objid[wrap]])
                    elif model.wrap_type[wrap] == mujoco.mjtWrap.mjWRAP_SITE:
                        yield int(model.site_bodyid[model.wrap_objid[wrap]])

    @property
    def spec(self) -> object | None:
        """Specification of the scene, parsed but not compiled; None if the scene is not MJCF."""
        return None if self._places is None else self._places.spec

    @property
    def is_text(self) -> bool:
        """True if the scene is MJCF that can be edited."""
        return self._places is not None

    # Where runs begin

    def starts(self) -> tuple[list[Start], list[str]]:
        """Return the states that runs begin with, and notes on states that are left out."""
        model = self.model
        if self.contacts_off:
            return [], ["contacts are switched off: nothing was checked"]
        if not model.nv:
            return [], ["nothing moves: no run"]
        if self.data is not None:
            return [Start(GIVEN_STATE, data=self.data)], []
        if model.nkey:
            names = key_names(model)
            starts = [Start(f"key {name.removeprefix('key ')}", key) for key, name in enumerate(names)][:_STARTS_MAX]
            skipped = [f"{len(starts)} of {model.nkey} keys"] if model.nkey > len(starts) else []
            return starts, skipped
        if not self.has_ground:
            return [], ["fragment without a floor and keyframe: no run"]
        if (joint := self._illegal_joint()) is not None:
            return [], [f"default state skipped: {joint} out of range; a keyframe would be checked"]
        return [Start(DEFAULT_STATE)], []

    @property
    def has_ground(self) -> bool:
        """True if there is something to stand on: a plane, a height field, or a colliding geom of the world."""
        model = self.model
        grounds = self.able & (
            np.isin(model.geom_type, _FLATS) & self.fixed[model.geom_bodyid] | (model.geom_bodyid == 0)
        )
        return bool(grounds.any())

    def _illegal_joint(self) -> str | None:
        """Return the name of a joint whose range the default state violates; None if there is none."""
        model = self.model
        names = read_names(model, "jnt")
        for joint in np.flatnonzero(model.jnt_limited).tolist():
            if int(model.jnt_type[joint]) in _SCALAR_JOINTS:
                low, high = model.jnt_range[joint]
                if not low - _RANGE_SLACK <= model.qpos0[model.jnt_qposadr[joint]] <= high + _RANGE_SLACK:
                    return names[joint] or f"joint {joint}"
        return None

    # Places and edits

    def place(self, kind: str, index: int) -> Place | None:
        """Return the place where the element of an object begins; None if it is not known."""
        return None if self._places is None else self._places.place(kind, index)

    def option_place(self, attribute: str) -> Place | None:
        """Return the place where an option is set; None if it is not set."""
        found = self._option_elements(attribute)
        return place_of(found[-1]) if found else None

    def _option_elements(self, attribute: str) -> list:  # type: ignore[type-arg]
        if self._places is None:
            return []
        options = self._places.all_of("option", "mujoco")
        return [each for each in options if attribute in each.tag.attributes]

    def edit_options(self, values: Mapping[str, str]) -> tuple[Edit, ...]:
        """Return the edit that sets attributes of <option>; empty if the scene is not MJCF. Raises SceneError."""
        if self._places is None or self.path is None:
            return ()
        options = self._places.all_of("option", "mujoco")
        if not options:
            written = " ".join(f'{name}="{value}"' for name, value in values.items())
            return (_insert_section(self.path, f"<option {written}/>"),)
        edits = _Edits()
        for name, value in values.items():
            # The last element that sets an attribute decides.
            owner = (self._option_elements(name) or options)[-1]
            edits.change(owner.path, owner.text, owner.tag.start, {name: value})
        return edits.made()

    def edit_elements(self, kind: str, indices: Collection[int], values: Mapping[str, str]) -> tuple[Edit, ...]:
        """Return the edits that set attributes of objects; empty if an element is not known. Raises SceneError."""
        if self._places is None:
            return ()
        edits, found = _Edits(), [self._places.element(kind, index) for index in indices]
        for element in found:
            if element is None:
                return ()
            edits.change(element.path, element.text, element.tag.start, values)
        return edits.made()

    def edit_excludes(self, pairs: Collection[tuple[int, int]]) -> tuple[Edit, ...]:
        """Return the edit that excludes pairs of bodies; empty if a body has no name. Raises SceneError."""
        names = read_names(self.model, "body")
        if self._places is None or self.path is None or not all(names[body] for pair in pairs for body in pair):
            return ()
        elements = [exclude_element(names[one], names[other]) for one, other in pairs]
        return (insert_elements(self.path, "contact", elements),)

    def try_elements(
        self, kind: str, indices: Collection[int], values: Mapping[str, str]
    ) -> "tuple[tuple[Edit, ...], Subject | None]":
        """Return the edits that set attributes of objects, and the edited scene; None if they are not possible."""
        try:
            edits = self.edit_elements(kind, indices, values)
            return edits, self.with_edits(edits) if edits else None
        except SceneError:
            return (), None

    def with_edits(self, edits: Iterable[Edit]) -> "Subject":
        """Return the scene that edits of its files give; the files are not changed. Raises SceneError."""
        assert self.path is not None
        texts = {each.path: each.after for each in edits}
        changed = load_scene(self.path, (), texts)
        return Subject(changed, self.data)

    def with_options(self, values: Mapping[str, float]) -> "Subject":
        """Return the scene with other values of its options, by their names in `MjModel.opt`."""
        import copy

        model: MjModel = copy.copy(self.model)
        for name, value in values.items():
            setattr(model.opt, name, value)
        return Subject(replace(self.scene, path=None, model=model), self.data)


def exclude_element(body1: str, body2: str) -> str:
    """Return the MJCF that excludes contacts of two bodies."""
    return f'<exclude body1="{body1}" body2="{body2}"/>'


class _Edits:
    """Changes of attributes in several files, collected into one edit for each file."""

    def __init__(self) -> None:
        self._texts: dict[Path, str] = {}
        self._changes: dict[Path, dict[int, dict[str, str]]] = {}

    def change(self, path: Path, text: str, start: int, values: Mapping[str, str]) -> None:
        """Set attributes of the element that begins at an offset in the text."""
        self._texts[path] = text
        self._changes.setdefault(path, {}).setdefault(start, {}).update(values)

    def made(self) -> tuple[Edit, ...]:
        from ..scene_files.xml_tags import find_tags

        edits = []
        for path, changes in self._changes.items():
            before = after = self._texts[path]
            tags = {tag.start: tag for tag in find_tags(before) if tag.start in changes}
            for start in sorted(changes, reverse=True):
                after = with_attributes(after, tags[start], changes[start])
            edits.append(make_edit(path, before, after))
        return tuple(edits)


def _insert_section(path: Path, element: str) -> Edit:
    """Return the edit that puts an element right after the root's opening tag."""
    from ..scene_files.xml_edits import find_sections
    from ..scene_files.xml_tags import read_text

    text = read_text(path)
    root, _ = find_sections(path, text)
    if root.close is None:
        raise SceneError(f"{path}: an empty scene has nothing to fix")
    newline = "\r\n" if "\r\n" in text else "\n"
    return make_edit(path, text, text[: root.open.end] + f"{newline}  {element}" + text[root.open.end :])
