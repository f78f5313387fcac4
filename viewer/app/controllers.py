"""Read the file of a controller, reload it when it is saved, and warn if it is too slow."""

from collections.abc import Sequence
from dataclasses import replace

from ..engines.contract import Engine
from ..engines.controller import Controller, no_control
from ..engines.controller_file import ControllerFile
from ..mjmodel.variation import Randomisation, read_randomisation
from ..scene_files.file_watch import FileWatch, read_stamp
from ..settings import Options

_SLOW_CALLS = 200
"""Number of calls over which the time of a controller is averaged."""


class Controllers:
    """Controllers of the shown run and of the runs beside it, each with a state of its own."""

    def __init__(self, options: Options | None) -> None:
        self.file: ControllerFile | None = None
        """File of the controller; None without a controller, and for a function of the user's own program."""
        self._beside_file: ControllerFile | None = None
        self._watch: FileWatch | None = None
        self._declared: dict[str, float] = {}
        self._told_slow = False
        self._measured = (0, 0.0)
        self._stopped: list[Controller | None] | None = None
        """Controllers of all engines while they are stopped; None while they drive."""
        self._without_file: Controller | None = None
        randomisation = Randomisation() if options is None else read_randomisation(options.vary, options.noise)
        if options is not None and options.control is None and randomisation:
            self._without_file = Controller(no_control, seed=options.seed, randomisation=randomisation)
        if options is not None and options.control is not None:
            self.file = ControllerFile(options.control, dict(options.params), options.seed, randomisation)
            self._beside_file = self.file.copy()
            if options.watch:
                self._watch = FileWatch({self.file.path: read_stamp(self.file.path)})

    @classmethod
    def of(cls, engines: Sequence[Engine]) -> "Controllers":
        """Return the controllers of engines that were opened with a controller each, as for a bundled scene."""
        controllers, files = cls(None), [_file_of(engine) for engine in engines]
        if (file := files[0]) is not None:
            controllers.file, controllers._beside_file = file, next(filter(None, files[1:]), None) or file.copy()
        return controllers

    def load(self) -> tuple[Controller | None, Controller | None]:
        """Return the controllers of the first and of the second engine. Raises ControlError."""
        if self.file is None or self._beside_file is None:
            controller = self._without_file
            return controller, None if controller is None else replace(controller)
        return self.file.load(), self._beside_file.load()

    def another(self) -> Controller | None:
        """Return a controller with a state of its own, for a run beside on the same scene; raises ControlError."""
        if self.file is None:
            return None if self._without_file is None else replace(self._without_file)
        return self.file.copy().load()

    @property
    def constants(self) -> dict[str, float]:
        """Constants of the controller's file, by name; empty without a file or while the controller is stopped."""
        return {} if self.file is None or not self.drives else dict(self.file.constants)

    def adopt(self, controller: Controller) -> None:
        """Use the file of a controller, and its constants, for the shown run."""
        if isinstance(controller.file, ControllerFile):
            self.file, self._declared = controller.file, {}

    def poll(self, engines: Sequence[Engine]) -> str | None:
        """Reload the file if it was saved: the scene keeps its state, the controller starts again.

        Returns a message for the user, once. Raises ControlError if the file cannot be used; then the controller stays
        as it is. Call it once a frame.
        """
        if self._watch is not None and self._watch.poll():
            controllers = list(self.load()[: len(engines)])
            if self._stopped is not None:
                self._stopped = controllers
            else:
                for engine, controller in zip(engines, controllers, strict=True):
                    replace_controller(engine, controller)
            assert self.file is not None
            return f"reloaded {self.file.path}"
        return self._slow(engines[0])

    def label(self, engine: Engine) -> str | None:
        """Return the name of the controller, whether it drives or was stopped; None if there is none."""
        if self.file is not None:
            return self.file.path.name
        drives = engine.controller is not None and engine.controller.control is not no_control
        return "The controller" if drives or self._stopped is not None else None

    @property
    def drives(self) -> bool:
        """True unless the user has stopped the controller."""
        return self._stopped is None

    def set_drives(self, on: bool, engines: Sequence[Engine]) -> None:
        """Stop the controller, so that sliders set the controls, or let it drive again."""
        if on and self._stopped is not None:
            for engine, controller in zip(engines, self._stopped, strict=True):
                replace_controller(engine, controller)
            self._stopped = None
        elif not on and self._stopped is None:
            self._stopped = [engine.controller for engine in engines]
            for engine in engines:
                _stop(engine)

    def continue_on(self, engines: Sequence[Engine], before: Sequence[Engine]) -> None:
        """Let the controllers of engines drive the engines that replace them on the same scene. New engines of runs
        beside get new controllers."""
        for engine, old in zip(engines, before, strict=False):
            engine.controller = old.controller
        for engine in engines[len(before) :]:
            engine.controller = self._beside_file.load() if self._beside_file is not None else None
            if self._stopped is not None:
                self._stopped.append(engine.controller)
                _stop(engine)
        if self._stopped is not None:
            del self._stopped[len(engines) :]

    @property
    def declared(self) -> dict[str, float]:
        """Constants of the file as they were when it was first read, by name."""
        if not self._declared and self.file is not None:
            self._declared = dict(self.file.constants)
        return self._declared

    def set_constant(self, name: str, value: float) -> None:
        """Give a constant of the file another value from the next step on."""
        for file in (self.file, self._beside_file):
            if file is not None:
                file.set_constant(name, value)

    def _slow(self, engine: Engine) -> str | None:
        """Return a message, once, if the controller is too slow for real time; else None."""
        controller = engine.controller
        if controller is None or self._told_slow:
            return None
        calls, seconds = self._measured
        if controller.calls < calls:
            self._measured = (0, 0.0)
        elif controller.calls - calls >= _SLOW_CALLS:
            cost = (controller.seconds - seconds) / (controller.calls - calls)
            self._measured = (controller.calls, controller.seconds)
            if cost > engine.timestep:
                self._told_slow = True
                return (
                    f"the controller takes {1e3 * cost:.3g} ms for a step of {1e3 * engine.timestep:.3g} ms: "
                    "too long for real time"
                )
        return None


def _stop(engine: Engine) -> None:
    """Stop an engine's controller from setting controls; it still decides the state after a reset."""
    if engine.controller is not None:
        engine.controller = replace(engine.controller, control=no_control)


def _file_of(engine: Engine) -> ControllerFile | None:
    """Return the file that an engine's controller was read from; None for a function."""
    file = None if engine.controller is None else engine.controller.file
    return file if isinstance(file, ControllerFile) else None


def replace_controller(engine: Engine, controller: Controller | None) -> None:
    """Let another controller drive an engine from its next step on; random draws continue as they were."""
    if controller is not None and engine.controller is not None:
        controller.continue_from(engine.controller)
    engine.controller = controller
