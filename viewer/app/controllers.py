"""Reads the file of a controller, and again whenever it was saved; tells of one that is too slow."""

from dataclasses import replace

from ..engines.contract import Engine
from ..engines.controller import Controller, no_control
from ..engines.controller_file import ControllerFile
from ..mjmodel.variation import Randomisation, read_randomisation
from ..scene_files.file_watch import FileWatch, take_stamp
from ..settings import Options

_SLOW_CALLS = 200
"""Calls over which the time of a controller is averaged."""


class Controllers:
    """What drives the scene that runs, and the second engine that is stepped along, each with a state of its own."""

    def __init__(self, options: Options | None) -> None:
        self.file: ControllerFile | None = None
        """Where the controller comes from; None without one, and for a function of a user's own program."""
        self._ghost_file: ControllerFile | None = None
        self._watch: FileWatch | None = None
        self._declared: dict[str, float] = {}
        self._told_slow = False
        self._measured = (0, 0.0)
        self._stopped: tuple[Controller | None, Controller | None] | None = None
        """The controllers of both engines while they do not drive."""
        self._without_file: Controller | None = None
        randomisation = Randomisation() if options is None else read_randomisation(options.vary, options.noise)
        if options is not None and options.control is None and randomisation:
            self._without_file = Controller(no_control, seed=options.seed, randomisation=randomisation)
        if options is not None and options.control is not None:
            self.file = ControllerFile(options.control, dict(options.params), options.seed, randomisation)
            self._ghost_file = self.file.copy()
            if options.watch:
                self._watch = FileWatch({self.file.path: take_stamp(self.file.path)})

    @classmethod
    def of(cls, engine: Engine, ghost: Engine | None) -> "Controllers":
        """Of engines that were opened with a controller each, such as those of a bundled scene."""
        controllers = cls(None)
        if (file := _file_of(engine)) is not None:
            controllers.file, controllers._ghost_file = file, _file_of(ghost) or file.copy()
        return controllers

    def load(self) -> tuple[Controller | None, Controller | None]:
        """The controller and that of the second engine; raises ControlError."""
        if self.file is None or self._ghost_file is None:
            controller = self._without_file
            return controller, None if controller is None else replace(controller)
        return self.file.load(), self._ghost_file.load()

    def poll(self, engine: Engine, ghost: Engine | None) -> str | None:
        """Read the file again if it was saved: the state of the scene is kept, that of the controller starts again.

        What there is to say of that, for a person, once. Raises ControlError where the file cannot be used; then the
        controller stays as it is. Call it once a frame.
        """
        if self._watch is not None and self._watch.poll():
            controllers = self.load()
            if self._stopped is not None:
                self._stopped = controllers
            else:
                for each, controller in zip((engine, ghost), controllers, strict=True):
                    if each is not None:
                        replace_controller(each, controller)
            assert self.file is not None
            return f"read {self.file.path} again"
        return self._slow(engine)

    def label(self, engine: Engine) -> str | None:
        """The controller in a word, whether it drives or was stopped; None if there is none."""
        if self.file is not None:
            return self.file.path.name
        drives = engine.controller is not None and engine.controller.control is not no_control
        return "The controller" if drives or self._stopped is not None else None

    @property
    def drives(self) -> bool:
        """True unless a person has stopped the controller."""
        return self._stopped is None

    def set_drives(self, on: bool, engine: Engine, ghost: Engine | None) -> None:
        """Stop the controller, so that sliders keep what they are set to, or let it go on."""
        if on and self._stopped is not None:
            for each, controller in zip((engine, ghost), self._stopped, strict=True):
                if each is not None:
                    replace_controller(each, controller)
            self._stopped = None
        elif not on and self._stopped is None:
            self._stopped = engine.controller, None if ghost is None else ghost.controller
            for each in (engine, ghost):
                if each is not None and each.controller is not None:
                    # It still says where a reset leads.
                    each.controller = replace(each.controller, control=no_control)

    def continue_on(self, engines: tuple[Engine, Engine | None], before: tuple[Engine, Engine | None]) -> None:
        """Let what drives engines drive those that replace them on the same scene; a second one may be new."""
        engine, ghost = engines
        engine.controller = before[0].controller
        if ghost is None:
            return
        if before[1] is not None:
            ghost.controller = before[1].controller
        else:
            ghost.controller = self._ghost_file.load() if self._ghost_file is not None else None
            if self._stopped is not None and ghost.controller is not None:
                self._stopped = self._stopped[0], ghost.controller
                ghost.controller = replace(ghost.controller, control=no_control)

    @property
    def declared(self) -> dict[str, float]:
        """The numbers of the file as they were when it was first read, by name."""
        if not self._declared and self.file is not None:
            self._declared = dict(self.file.constants)
        return self._declared

    def set_constant(self, name: str, value: float) -> None:
        """Give a constant of the file another value from the next step on."""
        for file in (self.file, self._ghost_file):
            if file is not None:
                file.set_constant(name, value)

    def _slow(self, engine: Engine) -> str | None:
        """Why the scene does not run in real time, if that is its controller's doing."""
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


def _file_of(engine: Engine | None) -> ControllerFile | None:
    """What an engine's controller was read from."""
    file = None if engine is None or engine.controller is None else engine.controller.file
    return file if isinstance(file, ControllerFile) else None


def replace_controller(engine: Engine, controller: Controller | None) -> None:
    """Let another controller drive an engine from its next step on; random draws continue as they were."""
    if controller is not None and engine.controller is not None:
        controller.continue_from(engine.controller)
    engine.controller = controller
