"""Shows what simulate's users look for with F2 and F3: figures of the simulation, and where a frame's time goes."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from imgui_bundle import ImVec2, hello_imgui, imgui

from ...session.session import Session
from ..viewport import Viewport
from ..widgets import begin_overlay, dim_text, number_font, text_right

_MARGIN = 12
_FRAMES = 120
"""Frames that the profiler looks back."""


def show_info(session: Session, viewport: Viewport) -> None:
    """Time, speed and sizes of the simulation, in the scene's upper left corner."""
    engine, data = session.engine, session.engine.data
    facts = {
        "Time": f"{engine.time:.3f} s",
        "Speed": "paused" if session.paused else f"{session.pace.achieved:.2f} x",
        "Frames": f"{hello_imgui.frame_rate():.0f} /s",
        "Time step": f"{1000 * engine.timestep:g} ms",
        "Contacts": str(data.ncon),
    }
    if engine.has_contact_list:
        iterations = int(data.solver_niter[: max(int(data.nisland), 1)].sum())
        facts |= {"Constraints": str(data.nefc), "Solver": f"{iterations} iteration{'' if iterations == 1 else 's'}"}
        facts |= {"Memory": f"{data.maxuse_arena / 2**20:.1f} of {data.narena / 2**20:.0f} MB"}
    _begin_corner("info", viewport, right=False)
    with number_font():
        right = imgui.calc_text_size("Constraints 000 iterations").x
        for name, value in facts.items():
            dim_text(name)
            imgui.same_line()
            text_right(value, right=right)
    imgui.end()


class Profiler:
    """Measures the parts of frames, and shows them."""

    def __init__(self) -> None:
        self._parts: dict[str, deque[float]] = {}
        """Time that each part took [ms], newest last."""
        self._frame_begin = 0.0

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Measure a part of this frame."""
        begin = time.perf_counter()
        yield
        self._add(name, time.perf_counter() - begin)

    def begin_frame(self) -> None:
        """Measure the whole of the frame before."""
        now = time.perf_counter()
        if self._frame_begin:
            self._add("whole frame", now - self._frame_begin)
        self._frame_begin = now

    def _add(self, name: str, seconds: float) -> None:
        self._parts.setdefault(name, deque(maxlen=_FRAMES)).append(1000 * seconds)

    def show(self, viewport: Viewport) -> None:
        """Mean and longest time of each part, in the scene's upper right corner."""
        _begin_corner("profiler", viewport, right=True)
        with number_font():
            heading = "[ms]           mean  longest"
            dim_text(heading)
            for name, values in self._parts.items():
                times = np.array(values, np.float32)
                imgui.text_unformatted(f"{name:<11}{times.mean():8.2f}{times.max():9.2f}")
                size = ImVec2(imgui.calc_text_size(heading).x, 1.6 * imgui.get_font_size())
                imgui.plot_lines(f"##{name}", times, scale_min=0.0, graph_size=size)
        imgui.end()


def _begin_corner(name: str, viewport: Viewport, right: bool) -> None:
    left, top, end, _ = viewport.rect
    x = end - _MARGIN if right else left + _MARGIN
    imgui.set_next_window_pos(ImVec2(x, top + _MARGIN), 0, ImVec2(float(right), 0))
    imgui.set_next_window_bg_alpha(0.8)
    begin_overlay(name)
