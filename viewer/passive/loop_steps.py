"""Brings the steps of a user's loop, which are taken in another process, to the run of a window."""

from time import perf_counter

from ..engines.abilities import ArrivedStep, StepKind
from ..engines.contract import Engine
from ..errors import UnstableError
from ..render.view import View
from ..session.simulation import FOREIGN_MODEL, Change, Player, Simulation, StatusPart, StepSource
from .loop_connection import LoopConnection

_LONGEST = 0.1
"""Longest wall time in a frame for the steps of a loop [s]."""
_UNPROVEN = (
    "Re-simulated here, these steps lead to another state than in your program: it changes states or inputs after its"
    " steps, or has callbacks. Contacts shown there may differ from those of the step"
)


class LoopSteps(StepSource):
    """Source of the steps of a user's loop, re-simulated from the states that arrive."""

    continues_from_shown = False

    def __init__(self, engine: Engine, loop: LoopConnection) -> None:
        super().__init__(engine)
        self.loop = loop
        self._done = perf_counter()
        self._behind = False
        """True if more steps wait than were taken in the last frame."""
        self._break: int | None = None
        """Step at which a break holds the loop, which may take one more step before its next `sync`."""

    @property
    def paused(self) -> bool:
        return self.loop.paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        self.loop.paused = paused

    def stop(self) -> None:
        # A loop that nobody watches would wait for ever.
        if self.loop.is_watched():
            self.paused = True

    @property
    def quiet(self) -> bool:
        return self.loop.quiet

    @property
    def environments(self) -> int:
        return self.loop.environments

    def why_not(self, change: Change) -> str | None:
        if change is Change.PULL or (change is Change.SENSORS and self.loop.makes_sensors):
            return None
        return {
            Change.KEYFRAME: "your own loop steps this scene: it cannot start from a keyframe here",
            Change.CONTROLS: "Your own loop drives the scene: values can be seen, but not changed.",
            Change.SENSORS: FOREIGN_MODEL,
            Change.FILE: "The scene has no file to write into: copy the element",
        }.get(change, "Your own program steps this scene: change it there.")

    def status(self, player: Player) -> list[StatusPart]:
        loop, history = self.loop, player.simulation.history
        state = "paused" if loop.paused else "waiting for your loop" if loop.quiet else "your loop"
        state += "" if history is None or history.at_end else ", a past step is shown"
        who = "Your program takes the steps; Space holds it in its next sync(), Right lets one through"
        parts = [StatusPart(state, who)]
        if loop.skipped:
            faster = "Your program was faster than its steps could be re-simulated here: these are not in the history"
            parts.append(StatusPart(f", {loop.skipped} steps skipped", faster, is_warning=True))
        if history is not None and history.marks:
            parts.append(StatusPart(f", {len(history.marks)} steps not exact", _UNPROVEN, is_warning=True))
        return parts

    def advance(self, player: Player, budget: float) -> None:
        """Record the steps that have arrived, for about `budget` seconds of wall time. A past step stays shown."""
        loop, simulation = self.loop, player.simulation
        loop.begin_frame()
        history, began = simulation.history, perf_counter()
        # If drawing takes long, steps get as much time as drawing.
        until = began + (_LONGEST if self._behind else min(max(budget, began - self._done), _LONGEST))
        shown = None if history is None or history.at_end else history.current
        if not loop.paused:
            self._break = None
        elif history is not None and shown is None and self._break == history.last:
            shown = self._break
        if shown is None:
            simulation.begin_frame()
        taken, trouble, ended = 0, "", simulation.episodes.count
        while (step := self.observe_next(simulation)) is not None:
            if simulation.episodes.count > ended:
                ended, trouble = simulation.episodes.count, step.trouble
                if simulation.episode is None and (trouble or shown is not None):
                    # A step of the ended episode stays shown, or its last step is shown.
                    simulation.episode = simulation.episodes[-1]
                    shown = simulation.episode.history.last if shown is None else shown
            taken += 1
            if trouble:
                break
            if simulation.halted and shown is None and history is not None:
                # The loop is ahead of the window: show the step of the break, whatever came after it.
                shown = self._break = history.last
            if perf_counter() > until:
                loop.catch_up()
                break
        trouble = trouble or loop.pop_trouble()
        for samples in loop.pop_values():
            simulation.live_channels.add(samples)
        simulation.halted_at = None
        simulation.live_channels.check()
        if simulation.halted_at is not None and shown is None and simulation.live_history is not None:
            shown = self._break = simulation.live_history.step_at(simulation.halted_at)
        # Fewer frames are then drawn, rather than fewer steps recorded.
        self._behind = loop.pending > taken
        history = simulation.history
        if history is not None and loop.waiting and shown is None:
            shown = history.last
        if (
            (taken or loop.waiting or simulation.halted_at is not None)
            and shown is not None
            and history is not None
            and shown <= history.last
        ):
            # The loop, and with it the history, may have been reset.
            simulation.go_to(shown)
        _pull(loop, simulation, player.view)
        self._done = perf_counter()
        if trouble:
            self.stop()
            raise UnstableError(trouble, "this is the last step before")

    def observe_next(self, simulation: Simulation) -> ArrivedStep | None:
        """Pass the next arrived step to the run, and return it; None if there is none.

        Before the first step of an episode, the remaining channel values of the episode before are passed on.
        """
        step = self.loop.next_step()
        if step is None:
            return None
        if step.kind is StepKind.START:
            for samples in self.loop.pop_values(self.engine.time):
                simulation.live_channels.add(samples)
        simulation.observe(step)
        if step.kind is StepKind.START:
            self.loop.begin_episode(self.engine.time)
        return step

    def step_once(self, player: Player) -> None:
        """Let a held loop do one `sync`, and show the step that it takes."""
        self._break = None
        self.loop.let_one_through()

    def hold(self, simulation: Simulation) -> bool:
        # A loop that is paused already has taken this step before it waited.
        return False if self.paused else super().hold(simulation)

    def reset(self, simulation: Simulation, key: str | None) -> None:
        """Do nothing: the window never resets a user's loop."""

    def environment(self, simulation: Simulation) -> int:
        return self.loop.environment

    def show_environment(self, simulation: Simulation, env: int) -> None:
        self.loop.show_environment(env)

    def successor(self, engine: Engine) -> StepSource:
        return LoopSteps(engine, self.loop)

    def attach(self) -> None:
        self.loop.attach(self.engine)


def _pull(loop: LoopConnection, simulation: Simulation, view: View) -> None:
    """Pull a body of the loop with the mouse, unless a past step is shown."""
    if not view.perturbing or (simulation.history is not None and not simulation.history.at_end):
        loop.pull(0, None)
        return
    model, data = simulation.shown.model, simulation.shown.data
    applied = data.xfrc_applied.copy()
    view.apply_perturb(model, data, paused=False)
    loop.pull(view.selected_body, data.xfrc_applied[view.selected_body].copy())
    # The loop applies the force; it comes back with the steps.
    data.xfrc_applied[:] = applied
