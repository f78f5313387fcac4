"""A display that nobody looks at, and what programs show on it: frames counted where they arrive, for all alike."""

import os
import select
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from Xlib import X  # type: ignore[import-untyped]
from Xlib.display import Display  # type: ignore[import-untyped]
from Xlib.ext import damage  # type: ignore[import-untyped]

from .measuring import Unavailable

SIZE = (1280, 720)
"""Of every window [px]: two thirds of the screen, which is what simulate opens."""
_SCREEN = (1920, 1080)
_PATIENCE = 60.0
"""Longest wait for a program's first frame [s]."""
_COLORS_OF_A_SCENE = 40
"""A window that has yet to draw its scene shows a few colours, or a line of text."""


@dataclass(frozen=True)
class Frame:
    """A picture that a program put on the display."""

    time: float
    """On the clock of `time.perf_counter` [s]."""
    area: tuple[int, int, int, int]
    """x, y, width, height [px]."""


class VirtualScreen:
    """An X server without a screen. Programs on it have a home of their own, so that nobody's settings are used."""

    def __init__(self, folder: Path) -> None:
        self._home = folder / "home"
        self._home.mkdir(exist_ok=True)
        # -displayfd picks a free display; without -noreset the server resets when the last window closes.
        read_end, write_end = os.pipe()
        try:
            self._server = subprocess.Popen(
                ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "{}x{}x24".format(*_SCREEN), "-noreset"],
                pass_fds=[write_end],
                stderr=subprocess.DEVNULL,
            )
        finally:
            os.close(write_end)
        with os.fdopen(read_end) as pipe:
            self.display = f":{int(pipe.readline())}"

    @property
    def environment(self) -> Mapping[str, str]:
        """For programs that are to open here."""
        home = str(self._home)
        return {**os.environ, "DISPLAY": self.display, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}

    def close(self) -> None:
        self._server.terminate()
        self._server.wait()

    def __enter__(self) -> "VirtualScreen":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def program(self, command: Sequence[str]) -> Iterator["Program"]:
        """A program on this display, for as long as it is watched."""
        server = Display(self.display)
        with (self._home / "said").open("w+") as said:
            program = Program(server, command, self.environment, said)
            try:
                yield program
            finally:
                program.close()
                server.close()


class Program:
    """A running program and the frames that it shows."""

    def __init__(self, server: Any, command: Sequence[str], environment: Mapping[str, str], said: Any) -> None:
        self._server, self._said = server, said
        self._root = server.screen().root
        server.damage_query_version()
        self._root.damage_create(damage.DamageReportRawRectangles)
        server.sync()
        while server.pending_events():
            server.next_event()
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            command, env=environment, cwd=environment["HOME"], stdout=said, stderr=subprocess.STDOUT
        )

    def frames(self, until: float) -> Iterator[Frame]:
        """Frames as they arrive, up to a time. Unavailable if the program ends before."""
        while (left := until - time.perf_counter()) > 0:
            if not self._server.pending_events():
                select.select([self._server.fileno()], [], [], min(left, 0.1))
                if self._process.poll() is not None:
                    raise Unavailable(f"the program ended: {self._last_words()}")
                continue
            event = self._server.next_event()
            if event.type != self._server.extension_event.DamageNotify:
                continue
            area = event.area
            # A cursor or a tooltip is no frame.
            if area.width * area.height >= SIZE[0] * SIZE[1] // 2:
                yield Frame(time.perf_counter(), (area.x, area.y, area.width, area.height))

    def first_frame(self) -> Frame:
        """Wait for the first frame that shows a scene."""
        for frame in self.frames(self.started + _PATIENCE):
            if self._shows_scene(frame):
                return frame
        raise Unavailable(f"no scene within {_PATIENCE:.0f} s")

    @property
    def processor_time(self) -> float:
        """That the program has taken so far [s]."""
        # The name, in parentheses, may hold spaces.
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _shows_scene(self, frame: Frame) -> bool:
        """Whether the middle of the window, where every viewer has the scene, is more than a plain colour."""
        x, y, width, height = frame.area
        part = self._root.get_image(x + width // 3, y + height // 3, width // 3, height // 3, X.ZPixmap, 0xFFFFFFFF)
        return len(np.unique(np.frombuffer(part.data, np.uint32))) >= _COLORS_OF_A_SCENE

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = [line.strip() for line in self._said if line.strip()]
        return lines[-1] if lines else f"exit code {self._process.returncode}"
