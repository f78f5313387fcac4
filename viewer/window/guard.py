"""Contain an error in one part of the window: it becomes a notice, and the frame goes on."""

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from imgui_bundle import imgui, implot

from ..app.notices import Notices

_REPEAT = 30.0
"""Time after which a lasting failure is reported again [s]: a panel that fails does so in every frame."""
_MOST_KEPT = 100


class Guard:
    """Wrap parts of the window so that no exception crosses the C++ frames around them."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._reported: dict[str, float] = {}
        """Time at which a failure was reported last, by its text, on the monotonic clock [s]."""
        self.failures: list[Exception] = []
        """Newest errors, oldest first."""

    def part(self, name: str, draw: Callable[[], None]) -> Callable[[], None]:
        """Return a guarded call that draws controls. ImGui windows and tables that a failure leaves open are
        closed."""

        def guarded() -> None:
            state, window = imgui.internal.ErrorRecoveryState(), imgui.internal.get_current_window()
            imgui.internal.error_recovery_store_state(state)
            alpha = imgui.get_style().alpha
            try:
                draw()
                _recover(state, window)
            except Exception as error:
                _close_plots()
                with _without_asserts():
                    _recover(state, window)
                # Its recovery of `begin_disabled(False)` leaves the window invisible.
                imgui.get_style().alpha = alpha
                # And the end of a window asserts that something was drawn where the cursor was moved to.
                window.dc.is_set_pos = False
                self.report(name, error)

        return guarded

    def call(self, name: str, act: Callable[[], None]) -> Callable[[], None]:
        """Return a guarded call that draws no controls, or runs outside a frame."""

        def guarded() -> None:
            self.attempt(name, act)

        return guarded

    def attempt(self, name: str, act: Callable[[], None]) -> bool:
        """Call something that draws no controls; return False if it failed."""
        try:
            act()
        except Exception as error:
            self.report(name, error)
            return False
        return True

    def report(self, name: str, error: Exception) -> None:
        """Add a notice that a part of the window failed, unless the same one was added in the last 30 s."""
        self.failures = [*self.failures, error][-_MOST_KEPT:]
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        text = f"{name} failed; the simulation continues ({reason})"
        now = time.monotonic()
        if now - self._reported.get(text, -_REPEAT) >= _REPEAT:
            self._reported = {text: now} | {key: then for key, then in self._reported.items() if now - then < _REPEAT}
            self._notices.add(text, warning=True, details="".join(traceback.format_exception(error)))


def _recover(state: imgui.internal.ErrorRecoveryState, window: imgui.internal.Window) -> None:
    """Close ImGui's elements that were opened in a window since `state` was stored. Raises RuntimeError if there were
    any, unless asserts are off."""
    # It would close the menu bar too, whose content is a part of the window.
    in_menu_bar, window.dc.menu_bar_appending = window.dc.menu_bar_appending, False
    try:
        imgui.internal.error_recovery_try_to_recover_state(state)
    finally:
        window.dc.menu_bar_appending = in_menu_bar


def _close_plots() -> None:
    """Close open plots, which ImGui's own recovery does not close."""
    if implot.get_current_context() is None:
        return
    if implot.internal.get_current_plot() is not None:
        with _without_asserts():
            implot.end_plot()
    with suppress(RuntimeError):
        implot.end_aligned_plots()


@contextmanager
def _without_asserts() -> Iterator[None]:
    """Turn off the asserts, tooltips and log of ImGui's recovery: the error is reported already."""
    io = imgui.get_io()
    io.config_error_recovery_enable_assert = False
    io.config_error_recovery_enable_debug_log = io.config_error_recovery_enable_tooltip = False
    try:
        yield
    finally:
        io.config_error_recovery_enable_assert = True
        io.config_error_recovery_enable_debug_log = io.config_error_recovery_enable_tooltip = True
