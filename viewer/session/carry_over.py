"""Carries state, history and choices of a session over to a new session on the same scene, as far as they apply."""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.abilities import Past
from ..engines.contract import Engine
from ..errors import EngineError, SceneError, UnstableError
from ..events.contact_events import SensorEvent
from ..events.tracker import ContactTracker
from ..touch.touch_sensors import TouchSensors
from .branch import visiting
from .past_filling import fill_past
from .session import Session
from .simulation import Simulation, StepSource

_RETRACE_TIME = 0.5
"""Wall time for re-simulating the newest steps at once [s]; older ones are filled in later."""
_TRIAL_STEPS = 40
"""Number of steps that are re-simulated first: they distinguish most models, and show how long a step takes."""


def successor(before: Session, engines: Sequence[Engine]) -> Session:
    """Return a session on another scene, or on the same file read again, that keeps what applies of the session before.

    `engines`: the engine of the scene, then those of the runs that are shown beside it.
    """
    engine, *beside = engines
    source = before.source.successor(engine)
    session = Session(source, before.settings, beside=beside)
    session.pace.speed = before.pace.speed
    if engine.path == before.engine.path:
        _carry_over(session, before)
    source.attach()
    return session


def branched(before: Session, branch: Simulation) -> Session:
    """Return a session on the same scene that continues from the last step of a branch, with the branch's steps as its
    past. Raises SceneError if an engine cannot be copied."""
    engine = branch.engine.copy()
    engine.notes, engine.files = before.simulation.engine.notes, before.simulation.engine.files
    session = Session(StepSource(engine), before.settings)
    session.pace.speed = before.pace.speed
    if branch.history is not None:
        branch.go_to(branch.history.last)
    _carry_over(session, before, branch)
    return session


def _carry_over(session: Session, before: Session, run: Simulation | None = None) -> None:
    """Keep what applies in a new session. `run`: its steps become the past; by default the run of `before`."""
    engine, run = session.simulation.engine, run or before.simulation
    if before.simulation.episode is not None:
        before.simulation.show_episode(None)
    session.key = before.key if before.key in engine.keys else None
    session.view.copy_from(before.view, engine.model)
    session.force_scale.carry_over(before.force_scale)
    session.paused = before.paused
    if before.watches_by_itself:
        session.watch_without_sensors()
    elif any(sensor.virtual for sensor in before.engine.sensors) and session.engine.can_watch_all:
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
    if before.events is not None:
        session.track_events()
        assert session.events is not None
        if session.events.options != before.events.options:
            session.events.configure(before.events.options)
        history = run.history
        branched_at = np.inf if history is None or run is before.simulation else history.time(history.first)
        _keep_log(session.events, before.events, branched_at)
    if not session.source.replays and not _keep_history(session.simulation, run):
        if session.events is not None:
            session.events.select(session.events.pairs.choice)
        if engine.adopt_state(run.engine) or engine.controller is None:
            session.simulation.restart()
        else:
            session.simulation.reset(session.key)
    if (history := session.history) is not None and history.unread > history.first:
        session.filling = fill_past(history, session.simulation.engine)
    session.drive.set_noise(before.drive.noise.deviation, before.drive.noise.rate)
    _keep_channels(session, before)
    session.forget()
    if before.events is not None and session.events is not None:
        _keep_breaks(session.events, before.events)
    if 0 < before.env < engine.num_envs:
        session.show_environment(before.env)


def _keep_history(simulation: Simulation, before: Simulation) -> bool:
    """Re-simulate the newest steps, if that leads to the same states, and make older steps reachable for new sensors.

    Afterwards the same step is shown as before. Returns False if the physics differ.
    """
    old = before.history
    if simulation.history is None or old is None or not (simulation.history.can_resume and old.can_resume):
        return False
    current, stop = old.current, old.last
    # Steps before the last inexact one cannot be reached again.
    first = max([old.first, *list(old.marks)[-1:]])
    start = max(first, stop - _TRIAL_STEPS)
    try:
        began = perf_counter()
        if not retrace(simulation, before, start, stop):
            return False
        count = round(_RETRACE_TIME * (stop - start) / (perf_counter() - began))
        start = max(first, stop - count)
        if not retrace(simulation, before, start, stop):
            return False
        # A step that is shown by its own state is no start: the steps after the next state are kept.
        kept = first if not old.marks else min([start, *old.states_between(first, stop)]) + 1
        simulation.history.reach_back(kept)
    except (EngineError, UnstableError):
        # A simulation that diverged diverges again.
        return False
    if current >= simulation.history.first:
        simulation.go_to(current)
        _copy_changes(simulation, before)
    return True


def retrace(simulation: Simulation, before: Simulation, start: int, stop: int) -> bool:
    """Begin a history with steps `start` to `stop` of another simulation; return True if they lead to the same state.

    Changes of the other simulation's state between its steps are repeated. Afterwards that simulation is as it was.
    """
    engine, past, old = simulation.shown, before.shown.past, before.history
    assert old is not None
    with visiting(before):
        old.go_to(start)
        if not engine.adopt_state(before.shown):
            return False
        simulation.restart((old, start))
        for step, following in pairwise([start, *old.states_between(start, stop), stop]):
            old.show_left(step)
            _copy_changes(simulation, before)
            inputs = old.inputs(step, following)
            simulation.step(following - step, _repeat(engine.past, inputs))
        old.go_to(stop)
        return engine.past.equals(past)


def _repeat(past: Past, inputs: NDArray[np.float64] | None) -> Callable[[], object]:
    """Return a function that sets the recorded inputs before each step; without recorded inputs it does nothing."""
    rows = iter(()) if inputs is None else iter(inputs)

    def drive() -> None:
        for row in rows:
            past.inputs[:] = row
            return

    return drive


def _copy_changes(simulation: Simulation, before: Simulation) -> None:
    """Copy a change of the other simulation's state since its last step, if there was one."""
    if not simulation.shown.past.equals(before.shown.past):
        simulation.shown.adopt_state(before.shown)


def _keep_reduce(session: Session, before: Session) -> None:
    """Keep the reduce modes that a user switched, of sensors whose declaration is the same."""
    sensors = session.engine.sensors
    session.set_reduce_modes(
        {
            sensor.name: sensor.reduce
            for sensor in before.engine.sensors
            if sensor.modified
            and sensors.has(sensor.name)
            and sensors[sensor.name].declared.reduce is sensor.declared.reduce
        }
    )


def _keep_touch(touch: TouchSensors, before: TouchSensors) -> None:
    """Keep touch sensors that were made or changed in the viewer, unless their declaration in the file has changed."""
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
                touch.change(
                    sensor.name, **{name: value for name, value in vars(declaration).items() if name != "name"}
                )


def _keep_log(tracker: ContactTracker, before: ContactTracker, until: float) -> None:
    """Keep events up to a time [s] of pairs and sensors that still exist; re-simulated steps add their events."""
    pairs = {label: i for i, label in enumerate(tracker.pairs.labels)}
    sensors = {name: i for i, name in enumerate(tracker.sensors.names)}
    for entry in before.log:
        event = entry.event
        if isinstance(event, SensorEvent):
            place = sensors.get(entry.subject)
            kept: Any = None if place is None else event._replace(sensor=place)
        else:
            place = pairs.get(entry.subject)
            kept = None if place is None else event._replace(pair_id=place)
        if kept is not None and entry.time <= until:
            tracker.log.add(entry._replace(event=kept))


def _keep_channels(session: Session, before: Session) -> None:
    """Keep values of the program up to the present step, chosen quantities that still exist, and limits."""
    channels, old = session.simulation.channels, before.simulation.channels
    names = [name for name in before.model_channels.chosen if name in session.model_channels.quantities]
    for samples in old.samples(-np.inf, session.engine.time):
        if samples.channel.name not in before.model_channels.chosen and samples.channel.name not in channels:
            channels.open(samples.channel, old[samples.channel.name].is_whole).extend(samples.times, samples.values)
    session.model_channels.choose(names)
    for limit in old.limits:
        session.add_limit(limit)


def _keep_breaks(tracker: ContactTracker, before: ContactTracker) -> None:
    """Keep breaks on sensors and pairs that still exist."""
    sensors, pairs = list(tracker.sensors.names), list(tracker.pairs.labels)
    for each in before.breaks:
        # What it was on may be gone.
        with contextlib.suppress(ValueError):
            sensor = None if each.sensor is None else sensors.index(before.sensors.names[each.sensor])
            pair_id = None if each.pair_id is None else pairs.index(before.pairs.labels[each.pair_id])
            tracker.breaks.append(dataclasses.replace(each, sensor=sensor, pair_id=pair_id))
