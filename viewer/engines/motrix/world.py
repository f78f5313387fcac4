"""Turns a scene file into a MotrixSim model: parts named as in the MuJoCo model, contact sensors with companions."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import SceneError
from ...mjmodel.declarations import Declaration
from ...mjmodel.names import geom_names, read_names
from ...mjmodel.types import MjModel
from ...sensors.layout import ContactLayout, Style
from ...sensors.motrix_frames import PairOrder
from ...settings import Reduce
from .calls import import_motrixsim, loading_calls
from .portability import UNNAMED, VISUAL, predict

_SPARE_SLOTS = 256
"""Slots of a companion: more than most sensors request, so that contacts that these drop are read too."""
_SPARE_VALUES = 2**18
"""Number of values over all environments up to which a companion has spare slots."""
_MAX_VALUES = 2**24
"""Most values of one sensor over all environments; with more, the engine crashes."""
_MODES = {
    Reduce.NONE: "None_",
    Reduce.MINDIST: "MinDist",
    Reduce.MAXFORCE: "MaxForce",
    Reduce.NETFORCE: "NetForce",
}
"""MotrixSim's names of the reduce modes."""


@dataclass(frozen=True)
class MotrixSensor:
    """A contact sensor that MotrixSim reads."""

    declared: Declaration
    layout: ContactLayout
    """Layout of the sensor's own array."""
    companions: dict[Reduce, tuple[str, ContactLayout]]
    """Name and layout of a sensor with all fields and spare slots, for each reduce mode."""
    turned: tuple[tuple[str, ContactLayout], ...]
    """Names and layouts of sensors of the reversed pairs, where only some of the pairs are reversed."""
    geoms: tuple[tuple[str, str], ...]
    """Names of the two geoms of each pair that the sensor matches."""


@dataclass(frozen=True)
class MotrixScene:
    """A scene that MotrixSim has loaded."""

    model: Any
    joints: list[str]
    """Names of the joints in the MuJoCo model's order; empty for those that MotrixSim lacks."""
    links: list[str]
    """Names of the bodies in the MuJoCo model's order, the world's first."""
    colliders: dict[int, str]
    """Name of the geom that each collider belongs to."""
    sensors: list[MotrixSensor]
    unread: dict[str, str]
    """Reasons why MotrixSim does not have some contact sensors, by their names."""
    log: list[str]
    """Messages of the engine while it loaded the scene."""

    @property
    def ignored(self) -> tuple[str, ...]:
        """Physics settings of the scene that MotrixSim ignores, by its own messages, such as `option@cone`."""
        words = (line.split(" at line:")[0].strip() for line in self.log if " at line:" in line)
        return tuple(sorted({word for word in words if "@" in word and word.split("@")[0] not in VISUAL}))


def load_motrix(
    path: Path, picture: MjModel, declared: list[Declaration], num_envs: int, text: str | None = None
) -> MotrixScene:
    """Load a scene; `picture` is its MuJoCo model, `declared` are that model's contact sensors, `text` is MJCF that is
    loaded in place of the file."""
    motrixsim = import_motrixsim()
    with loading_calls(path) as log:
        msd = motrixsim.msd
        world = msd.from_file(str(path)) if text is None else msd.from_str(text, "mjcf", str(path))
        joints, links = _name_parts(world, picture)
        own, unread = _name_sensors(world, picture, declared)
        slots = {name: _companion_slots(declaration, num_envs) for name, (_, declaration) in own.items()}
        sensors = [sensor for sensor, _ in own.values()]
        for name, (sensor, _) in own.items():
            for mode in Reduce:
                sensors.append(_companion(motrixsim, _companion_name(name, mode), sensor.match_, slots[name], mode))
        _set_sensors(world, sensors)
        model = world.build()
        geoms = _collider_geoms(model)
        pairs = {sensor.name: sensor.collider_pairs for sensor in model.low.low_contact_sensors if sensor.name in own}
        turned = {name: _turned_geoms(pairs[name], geoms) for name in own}
        for name in [name for name, named in turned.items() if any("" in pair for pair in named)]:
            unread[name] = "some of its pairs are reversed, and geoms without names leave no way to see which"
            del own[name], turned[name]
        if any(turned.values()):
            # Which collider of a pair comes first is known only from a model that was built.
            for name, named in turned.items():
                for pair in named:
                    match = motrixsim.msd.ContactMatch.geom_pair(*pair)
                    sensors.append(_companion(motrixsim, _companion_name(name, *pair), match, slots[name]))
            _set_sensors(world, sensors)
            model = world.build()
    layouts = {sensor.name: ContactLayout.from_low_motrix(sensor) for sensor in model.low.low_contact_sensors}

    def named_layout(*words: str) -> tuple[str, ContactLayout]:
        name = _companion_name(*words)
        return name, layouts[name]

    return MotrixScene(
        model=model,
        joints=joints,
        links=links,
        colliders=geoms,
        sensors=[
            MotrixSensor(
                declared=declaration,
                layout=layouts[name],
                companions={mode: named_layout(name, mode) for mode in Reduce},
                turned=tuple(named_layout(name, *pair) for pair in turned[name]),
                geoms=tuple(sorted({(geoms[first], geoms[second]) for first, second in pairs[name]})),
            )
            for name, (_, declaration) in own.items()
        ],
        unread=unread,
        log=log,
    )


def _companion_slots(declared: Declaration, num_envs: int) -> int:
    if declared.num * 16 * num_envs > _MAX_VALUES:
        raise SceneError(
            f"contact sensor {declared.name!r} asks for {declared.num} contacts in {num_envs} environment(s): "
            "more than MotrixSim can be asked for"
        )
    return max(declared.num + 1, min(_SPARE_SLOTS, _SPARE_VALUES // (16 * num_envs)))


def _name_sensors(
    world: Any, picture: MjModel, declared: list[Declaration]
) -> tuple[dict[str, tuple[Any, Declaration]], dict[str, str]]:
    """Name the contact sensors that the scene leaves unnamed; return those that MotrixSim has, and the reasons for
    the others."""
    found = list(world.sensors.contact)
    verdicts = {declaration.name: predict(picture, declaration) for declaration in declared}
    # It has the unnamed ones that only their missing name keeps from being read, in the file's order.
    unnamed = [declaration for declaration in declared if verdicts[declaration.name].reason == UNNAMED]
    without_name = [sensor for sensor in found if not sensor.name]
    if len(without_name) == len(unnamed):
        for sensor, declaration in zip(without_name, unnamed, strict=True):
            sensor.name = declaration.name
    by_name = {sensor.name: sensor for sensor in found}
    own, unread = {}, {}
    for declaration in declared:
        if declaration.name in by_name:
            own[declaration.name] = (by_name[declaration.name], declaration)
        else:
            unread[declaration.name] = verdicts[declaration.name].reason or "it leaves the sensor out"
    return own, unread


def _set_sensors(world: Any, contact: list[Any]) -> None:
    sensors = world.sensors
    sensors.contact = contact
    world.sensors = sensors


def _companion(motrixsim: Any, name: str, match: Any, slots: int, mode: Reduce = Reduce.NONE) -> Any:
    companion = motrixsim.msd.ContactSensor()
    companion.name = name
    companion.match_ = match
    companion.max_num = slots
    companion.reduce = getattr(motrixsim.msd.ContactSensorReduce, _MODES[mode])
    report = motrixsim.msd.ContactSensorReport()
    for field in Style.MOTRIX.fields:
        setattr(report, field, True)
    companion.report = report
    return companion


def _collider_geoms(model: Any) -> dict[int, str]:
    """Return the name of the geom that each collider belongs to."""
    return {
        collider: name or ""
        for index, name in enumerate(model.geom_names)
        for collider in model.low.get_collider_indices(index) or []
    }


def _turned_geoms(pairs: list[tuple[int, int]], geoms: dict[int, str]) -> list[tuple[str, str]]:
    """Return the geoms of the reversed pairs of a sensor of mixed order; none for other sensors."""
    if PairOrder.of(pairs) is not PairOrder.MIXED:
        return []
    return sorted({(geoms[first], geoms[second]) for first, second in pairs if first > second})


def _companion_name(sensor: str, *what: str) -> str:
    return "/".join(("contact_viewer", sensor, *what))


def _name_parts(world: Any, picture: MjModel) -> tuple[list[str], list[str]]:
    """Name unnamed parts of the scene; return the names of joints and links in the MuJoCo model's order.

    Both engines read the scene in the file's order, so an unnamed part is identified by its place.
    """
    links: list[Any] = []
    joints: list[Any] = []
    geoms = list(world.hierarchy.geoms)
    for body in world.hierarchy.bodies:
        for i, link in enumerate(_walk(body.link)):
            links.append(link)
            joints += [body.free] if i == 0 and body.free is not None else link.joints
            geoms += link.geoms
    joint_names = _fill_names(joints, [name or f"joint {i}" for i, name in enumerate(read_names(picture, "jnt"))])
    link_names = _fill_names(links, [name or f"body {i}" for i, name in enumerate(read_names(picture, "body"))][1:])
    _fill_names(geoms, geom_names(picture))
    return joint_names, ["", *link_names]


def _walk(link: Any) -> Iterator[Any]:
    yield link
    for child in link.children:
        yield from _walk(child)


def _fill_names(parts: list[Any], names: list[str]) -> list[str]:
    """Name unnamed parts after `names` in order; return the names, each empty if no part has it."""
    if len(parts) == len(names):
        for part, name in zip(parts, names, strict=True):
            part.name = part.name or name
    known = {part.name for part in parts}
    return [name if name in known else "" for name in names]
