"""Finds the physics step of each frame of a video, exactly: both are counted, and times are never summed up."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..engines.contract import Engine
from ..engines.steps import Step
from ..session.session import Session


@dataclass(frozen=True)
class SlowMotion:
    """A part of a video that shows a short time slowly."""

    begin: Fraction
    """Simulated time at which the slow part begins, after the scene's start [s]."""
    end: Fraction
    speed: Fraction
    """Simulated time per video time, in the slow part."""

    @classmethod
    def around(cls, time: float, speed: float, seconds: float) -> "SlowMotion":
        """Return slow motion around a simulated time [s], which takes `seconds` of the video."""
        half = exact(seconds) * exact(speed) / 2
        return cls(max(exact(time) - half, Fraction(0)), exact(time) + half, exact(speed))


@dataclass(frozen=True)
class Schedule:
    """Physics step that each frame shows."""

    timestep: Fraction
    """Simulated time of one step [s]."""
    fps: Fraction
    """Frames per second of the video."""
    frame_count: int
    speed: Fraction = Fraction(1)
    """Simulated time per video time."""
    start: Fraction = Fraction(0)
    """Simulated time of the first frame, after the scene's start [s]."""
    slow: SlowMotion | None = None

    @classmethod
    def plan(
        cls, timestep: float, duration: float, fps: Fraction, speed: float = 1.0, start: float = 0.0
    ) -> "Schedule":
        """Return a schedule for a video of `duration` seconds, with at least one frame."""
        count = max(1, round(exact(duration) * fps))
        return cls(exact(timestep), fps, count, exact(speed), exact(start))

    @classmethod
    def every_step(cls, timestep: float, duration: float, start: float = 0.0) -> "Schedule":
        """Return a schedule with a frame per physics step, from the start to `duration` seconds later, both
        included."""
        step = exact(timestep)
        return cls(step, 1 / step, int(exact(duration) // step) + 1, start=exact(start))

    def step(self, frame: int) -> int:
        """Return the last physics step at or before the time of a frame."""
        return int(self._time(frame / self.fps) // self.timestep)

    def speed_at(self, frame: int) -> Fraction:
        """Return the simulated time per video time, at a frame."""
        slow = self.slow
        is_slow = slow is not None and slow.begin <= self._time(frame / self.fps) < slow.end
        return slow.speed if slow is not None and is_slow else self.speed

    def _time(self, seconds: Fraction) -> Fraction:
        """Return the simulated time after the scene's start [s] at a video time [s]."""
        time = self.start + seconds * self.speed
        slow = self.slow
        if slow is None or time <= (begin := max(slow.begin, self.start)) or slow.end <= begin:
            return time
        # The slow part has begun: the time since then runs at its speed, and after its end as before.
        since = (time - begin) / self.speed
        length = (slow.end - begin) / slow.speed
        return begin + since * slow.speed if since < length else slow.end + (since - length) * self.speed

    def _seconds(self, time: Fraction) -> Fraction:
        """Return the video time [s] at a simulated time after the scene's start [s]."""
        slow = self.slow
        if slow is None or time <= (begin := max(slow.begin, self.start)) or slow.end <= begin:
            return (time - self.start) / self.speed
        before, inside = (begin - self.start) / self.speed, min(time, slow.end) - begin
        return before + inside / slow.speed + max(time - slow.end, Fraction(0)) / self.speed

    def frame(self, step: int) -> int | None:
        """Return the first frame that shows a step; None if no frame does."""
        frame = max(0, math.ceil(self._seconds(step * self.timestep) * self.fps))
        return frame if frame < self.frame_count and self.step(frame) == step else None

    @property
    def lead(self) -> int:
        """Number of frames that fit between the scene's start and the first frame; they are numbered -1, -2, ..."""
        return int(self.start * self.fps / self.speed)

    # Asked at every step, and fractions are slow.
    @cached_property
    def first_step(self) -> int:
        return self.step(0)

    @cached_property
    def last_step(self) -> int:
        return self.step(self.frame_count - 1)

    @property
    def simulated(self) -> float:
        """Simulated time that the video covers [s]."""
        return float(self._time(self.frame_count / self.fps) - self.start)

    @property
    def duration(self) -> float:
        """Length of the video [s]."""
        return float(self.frame_count / self.fps)


def exact(value: float) -> Fraction:
    """Return a float as a simple fraction: 0.002 is 1/500."""
    return Fraction(value).limit_denominator(10**9)


def frame_rate(fps: float | Fraction) -> Fraction:
    """Return frames per second as containers store them: 29.97 as 2997/100, 30000/1001 as itself."""
    return Fraction(fps).limit_denominator(1001)


OnStep = Callable[[int, float], None]
"""Function that is called with the number of a physics step and its simulated time [s], at that step."""


class StepCounter:
    """Observer that counts the steps of a session's simulation."""

    def __init__(self, session: Session, schedule: Schedule, calls: Sequence[OnStep] = ()) -> None:
        """Begin to count. Each of `calls` is called at every step, beginning with the step of the schedule's first
        frame."""
        self._engine = session.engine
        self.step = 0
        """Number of steps taken."""
        self._schedule = schedule
        self._calls = calls
        self._counts = not session.source.replays
        # A keyframe may begin at another time than 0.
        self._origin = session.engine.time
        session.simulation.observers.append(self)
        self._call()

    @property
    def time(self) -> float:
        """Simulated time [s], bit for bit the engine's own, so that tables can be joined by it."""
        return self._engine.time

    def after_step(self, step: Step) -> None:
        # A log may have left out steps.
        self.step = self.step + 1 if self._counts else self._step_at(step.time)
        self._call()

    def after_reset(self, engine: Engine) -> None:
        """Do nothing: recordings only go forward."""

    def _step_at(self, time: float) -> int:
        return round((time - self._origin) / float(self._schedule.timestep))

    def _call(self) -> None:
        if self.step >= self._schedule.first_step:
            for call in self._calls:
                call(self.step, self.time)
