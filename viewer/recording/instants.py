"""A session at a physics step to what its sensors say there."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..engines.contract import ContactSensor
from ..engines.touch import SceneTouch
from ..sensors.contacts import Array, ContactBatch
from ..session import Session
from .columns import NO_FRAME


@dataclass(frozen=True)
class ContactSample:
    """One contact sensor."""

    sensor: ContactSensor
    batch: ContactBatch
    geoms: Sequence[tuple[str, str]]
    """Names of the two geoms of each slot; empty strings where unknown."""


@dataclass(frozen=True)
class TouchSample:
    """One touch sensor."""

    name: str
    values: Array
    """What the device reports, (1,), or (3,) along its x, y, z; NaN before its first sample."""
    force: Array
    """What an ideal device would report [N], of the same shape."""
    found: int
    """Contacts of its body."""


@dataclass(frozen=True)
class Instant:
    """All sensors at one step."""

    step: int
    time: float
    """Simulated time [s]."""
    video_frame: int
    """The first video frame that shows this step, or NO_FRAME."""
    contacts: list[ContactSample]
    touches: list[TouchSample]


def shown_sensors(session: Session) -> list[ContactSensor]:
    """Contact sensors that go into a file."""
    return [sensor for sensor in session.engine.sensors if session.visible[sensor.name]]


def running_touches(session: Session) -> list[SceneTouch]:
    """Touch sensors that go into a file: those that are enabled."""
    return [touch for touch in session.engine.touch_sensors or () if touch.enabled]


def take_instant(session: Session, step: int, time: float, video_frame: int = NO_FRAME) -> Instant:
    """What the sensors say now."""
    engine = session.engine
    contacts = [
        ContactSample(sensor, engine.contacts(sensor.name), session.details(sensor.name).geoms)
        for sensor in shown_sensors(session)
    ]
    touches: list[TouchSample] = []
    sensors = engine.touch_sensors
    if sensors is not None:
        touches = [
            # No negative zeros.
            TouchSample(touch.name, sensors.value(touch.name), sensors.true(touch.name) + 0.0, touch.found)
            for touch in running_touches(session)
        ]
    return Instant(step, time, video_frame, contacts, touches)
