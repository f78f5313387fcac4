"""What a session leaves to its successor on the same scene: state, choices, and what is not in the file."""

import contextlib
import dataclasses

from .engines.contract import Engine
from .engines.errors import EngineError, SceneError, UnstableError
from .engines.following.tracking import ContactTracker
from .engines.mujoco.engine import MujocoEngine
from .engines.touch import TouchSensors
from .session import Session

_RETRACE_TIME, _RETRACE_TIME_PAUSED = 0.1, 0.4
"""Wall time in which the steps so far are taken again, as many as that allows [s]: while it stands still, nobody sees
that it stops."""


def successor(before: Session, engine: Engine, ghost: Engine | None) -> Session:
    """A session on another scene, or on the same file read again, with what can be kept of the one before."""
    session = Session(engine, before.settings, ghost=ghost)
    session.pace.speed = before.pace.speed
    if engine.path == before.engine.path:
        _inherit(session, before)
    return session


def _inherit(session: Session, before: Session) -> None:
    session.key = before.key if before.key in session.batch.keys else None
    session.view.copy_from(before.view, session.batch.model)
    session.paused = before.paused
    if any(sensor.virtual for sensor in before.engine.sensors) and session.engine.can_watch_all:
        selected = session.selected
        session.watch_all()
        session.selected = selected or session.selected
    session.visible = {name: before.visible.get(name, True) for name in session.visible}
    if before.selected in session.visible:
        session.selected = before.selected
    _keep_reduce(session, before)
    touch, old_touch = session.engine.touch_sensors, before.engine.touch_sensors
    if touch is not None and old_touch is not None:
        _keep_touch(touch, old_touch)
        if len(touch) and touch not in session.watchers:
            session.watchers.append(touch)
    if before.events is not None:
        session.track_events()
        assert session.events is not None
        if session.events.options != before.events.options:
            session.events.configure(before.events.options)
    if not _keep_history(session, before):
        if session.events is not None:
            session.events.watch(session.events.pairs.choice)
        if _keep_state(session, before):
            session.keep_history()
        _start_watching(session)
    session.forget()
    if before.events is not None and session.events is not None:
        _keep_breaks(session.events, before.events)
    if 0 < before.env < session.batch.num_envs:
        session.show_environment(before.env)


def _keep_history(session: Session, before: Session) -> bool:
    """Take the steps so far again, where that leads to the same states: new sensors then have a past too."""
    timeline, old = session.timeline, before.timeline
    if timeline is None or old is None:
        return False

    def watch() -> None:
        for watcher in session.watchers:
            watcher.after_step(session.engine)

    seconds = _RETRACE_TIME_PAUSED if before.paused else _RETRACE_TIME
    try:
        return timeline.retrace(old, seconds, lambda: _start_watching(session), watch if session.watchers else None)
    except (EngineError, UnstableError):
        # It has diverged, and does so again.
        return False


def _start_watching(session: Session) -> None:
    for watcher in session.watchers:
        watcher.after_reset(session.engine)


def _keep_state(session: Session, before: Session) -> bool:
    engine, old = session.batch, before.batch
    return isinstance(engine, MujocoEngine) and isinstance(old, MujocoEngine) and engine.adopt_state(old)


def _keep_reduce(session: Session, before: Session) -> None:
    """Reduce modes that were switched, of sensors that are still declared as they were."""
    for sensor in before.engine.sensors:
        if not sensor.modified or sensor.name not in session.engine.sensors.names:
            continue
        new = session.engine.sensors[sensor.name]
        if new.declared.reduce is sensor.declared.reduce:
            session.set_reduce(sensor.name, sensor.reduce)


def _keep_touch(touch: TouchSensors, before: TouchSensors) -> None:
    """Touch sensors that were made or changed in the viewer, unless the file says something new of them."""
    names = {sensor.name for sensor in touch}
    for sensor in before:
        declaration = sensor.declaration
        known = touch[sensor.name] if sensor.name in names else None
        if declaration is None or not sensor.modified or (known.saved if known else None) != sensor.saved:
            continue
        # What it was on may be gone.
        with contextlib.suppress(SceneError):
            if known is None:
                touch.add(declaration)
            else:
                touch.change(sensor.name, **{
                    field.name: getattr(declaration, field.name)
                    for field in dataclasses.fields(declaration)
                    if field.name != "name"
                })  # fmt: skip


def _keep_breaks(tracker: ContactTracker, before: ContactTracker) -> None:
    """Breaks on sensors and pairs that are still there."""
    sensors, pairs = list(tracker.sensors.names), list(tracker.pairs.labels)
    for each in before.breaks:
        sensor = None if each.sensor is None else before.sensors.names[each.sensor]
        pair = None if each.pair_id is None else before.pairs.labels[each.pair_id]
        if (sensor is None or sensor in sensors) and (pair is None or pair in pairs):
            tracker.breaks.append(
                dataclasses.replace(
                    each,
                    sensor=None if sensor is None else sensors.index(sensor),
                    pair_id=None if pair is None else pairs.index(pair),
                )
            )
