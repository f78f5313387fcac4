"""The program of a batch's window: started by the user's process, with what they share as descriptors."""

import os
import socket
import sys
from collections.abc import Callable

# Before MuJoCo, so that both use one GLFW library.
from ..window.main_loop import run_window  # isort: skip
from ..window.window import Window  # isort: skip

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..engines.abilities import ArrivedStep, StepKind
from ..engines.mujoco.arrivals import STATE
from ..engines.mujoco.batch import BatchEngine, BatchState
from ..scene_files.scene import engine_warnings
from .batch import EXTRA
from .shared_memory import SharedMemory, Word
from .window_loop import WindowLoop
from .window_process import Run, open_window
from .window_process import main as run_process


class BatchLoop(WindowLoop):
    """The window's half of the link to a program that steps many environments, of which one is shown."""

    def __init__(self, link: socket.socket, shared: SharedMemory, engine: BatchEngine) -> None:
        super().__init__(link, shared, engine)
        self._engine = engine
        self._size = mujoco.mj_stateSize(engine.model, STATE)
        self.environments = int(shared.words[Word.ENVIRONMENTS])
        self._last: tuple[int, float] | None = None
        """Environment and time [s] of the last row."""
        self.when_switched: Callable[[], None] = lambda: None
        """Called when the first state of another environment has arrived."""

    @property
    def waiting(self) -> bool:
        return False

    def show_environment(self, env: int) -> None:
        self._words[Word.ENVIRONMENT] = env

    def pull(self, body: int, force: NDArray[np.float64] | None) -> None:
        """Nothing: the program's arrays are not ours to change."""

    def take(self) -> ArrivedStep | None:
        while (row := self.next_row()) is not None:
            env, said = row.state[self._size : self._size + EXTRA]
            if env != self._words[Word.ENVIRONMENT]:
                # Of the one that was shown before.
                continue
            self.versions.use(row.version)
            state = row.state[: self._size]
            self._engine.arrive(BatchState(state, row.state[self._size + EXTRA :] if said else None))
            before, self._last = self._last, (int(env), float(state[0]))
            if before is None or before[0] != env:
                self.when_switched()
            if before is None or before[0] != env or state[0] < before[1]:
                return ArrivedStep(kind=StepKind.START)
            return ArrivedStep(kind=StepKind.MOVED if state[0] == before[1] else StepKind.EXACT)
        return None


def main(arguments: list[str], run: Run = run_window) -> int:
    """Show the chosen environment until the window is closed or the program ends; the exit code."""
    return run_process(arguments, run, open_batch)


def open_batch(
    connection: socket.socket, model: int, ring: int, state_size: int, rows: int
) -> tuple[Window, WindowLoop]:
    """A window, not yet open, on the model in a file and the states that arrive in another."""
    mujoco.set_mju_user_warning(engine_warnings.append)
    engine = BatchEngine(mujoco.MjModel.from_binary_path(f"/dev/fd/{model}"))
    os.close(model)
    shared = SharedMemory(ring, state_size, rows, engine.allow_model_changes().size)
    loop = BatchLoop(connection, shared, engine)
    window = open_window(engine, loop)
    # Environments may be metres apart.
    loop.when_switched = lambda: window.app.session.view.show_moving(engine.model, engine.data)
    return window, loop


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    # Freeing a large model takes time for nothing.
    os._exit(code)
