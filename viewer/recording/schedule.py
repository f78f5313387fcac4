"""Frames of a video to physics steps, exactly: both are counted, and time is never summed up."""

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Schedule:
    """Which physics step each frame shows."""

    timestep: Fraction
    """Simulated time of one step [s]."""
    fps: Fraction
    """Frames per second of the video."""
    frame_count: int
    speed: Fraction = Fraction(1)
    """Simulated time per time of the video."""
    start: Fraction = Fraction(0)
    """Simulated time of the first frame, after the scene's start [s]."""

    @classmethod
    def plan(
        cls, timestep: float, duration: float, fps: Fraction, speed: float = 1.0, start: float = 0.0
    ) -> "Schedule":
        """A video of `duration` seconds; at least one frame."""
        count = max(1, round(exact(duration) * fps))
        return cls(exact(timestep), fps, count, exact(speed), exact(start))

    @classmethod
    def every_step(cls, timestep: float, duration: float, start: float = 0.0) -> "Schedule":
        """A frame for each physics step, from the start to `duration` seconds later, both included."""
        step = exact(timestep)
        return cls(step, 1 / step, int(exact(duration) // step) + 1, start=exact(start))

    def step(self, frame: int) -> int:
        """The last physics step at or before the time of a frame."""
        return int((self.start + frame * self.speed / self.fps) // self.timestep)

    def frame(self, step: int) -> int | None:
        """The first frame that shows a step; None if none does."""
        frame = max(0, math.ceil((step * self.timestep - self.start) * self.fps / self.speed))
        return frame if frame < self.frame_count and self.step(frame) == step else None

    def time(self, step: int) -> float:
        """Simulated time after so many steps [s]."""
        return float(step * self.timestep)

    @property
    def first_step(self) -> int:
        return self.step(0)

    @property
    def last_step(self) -> int:
        return self.step(self.frame_count - 1)

    @property
    def duration(self) -> float:
        """Length of the video [s]."""
        return float(self.frame_count / self.fps)


def exact(value: float) -> Fraction:
    """The number that was meant: 0.002 as 1/500, 1/600 as itself, whatever a float makes of them."""
    return Fraction(value).limit_denominator(10**9)


def frame_rate(fps: float | Fraction) -> Fraction:
    """Frames per second as containers store them: 29.97 as 2997/100, 30000/1001 as itself."""
    return Fraction(fps).limit_denominator(1001)
