"""Application without a GUI toolkit, with everything that a user can do; a window draws it."""

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..assets import is_bundled
from ..engines.contract import Engine
from ..engines.registry import open_engines, open_log
from ..errors import SceneError
from ..files import describe_strays, free_path, naming, printable, save_text
from ..mjmodel.deep_start import find_deep_start
from ..mjmodel.names import read_names, sensor_names
from ..mjmodel.sensor_suggestions import SensorSuggestions
from ..render.glyphs import GizmoList
from ..scene_files.run_file import SUFFIX as RUN_SUFFIX
from ..scene_files.sensor_edits import SensorEdits, UndoStack
from ..scene_files.spec_changes import Exclusion, SensorChange
from ..sensors.contact_declaration import ContactDeclaration
from ..session.carry_over import branched, successor
from ..session.session import Session
from ..session.simulation import Change, StepSource
from ..settings import Options, ViewState
from .controllers import Controllers
from .cure_search import CureSearch
from .findings import Findings
from .keyframes import Keyframes
from .measured_data import MeasuredData
from .notices import Notices
from .recorder import Label, Recorder, RunSaving
from .runs_beside import RunBeside, RunsBeside
from .scene_loader import Engines, SceneLoader

TITLE = "contact-viewer"
_RECENT_MAX = 10
_COMMON_NAMES = ("scene", "model", "robot", "main", "world")
"""Stems of scene files that many robots share."""
_HISTORY_SLACK = 0.5
"""Longest loss of history without a notice [s]."""
PHYSICS_BUDGET = 0.025
"""Longest wall time of the physics in a frame [s]."""


class Application:
    """An open scene, with its sensor edits, recordings, notices, and the next scene while it is being opened.

    A front end calls `start` once, then for every frame `advance`, and `take_picture` with the pixels drawn.
    """

    def __init__(
        self,
        source: StepSource | Engine,
        options: Options | None = None,
        beside: Sequence[Engine] = (),
        controllers: Controllers | None = None,
    ) -> None:
        """Open the application on a source. `beside`: engines whose runs are shown beside. `controllers`: files that
        the engines' controllers were read from."""
        self.options = options
        self.session = Session(source, ViewState(), options, beside)
        """Session of the running scene; `advance` replaces it with another scene."""
        self.controllers = controllers or Controllers.of(self.session.engines)
        self.notices = Notices()
        self.undo_stack = UndoStack()
        """Changes that the user can undo, in the order of doing."""
        self.sensor_edits = SensorEdits(self.undo_stack)
        """Contact sensors that were made or changed here; the scene is reloaded whenever they change."""
        self.loader = SceneLoader(options, self.sensor_edits)
        self.saved: list[Path] = []
        """Completed files, oldest first; a front end with remote viewers sends them the files of this list."""
        self.recorder = Recorder(self.saved)
        self.run_saving = RunSaving()
        self.keyframes = Keyframes(self.sensor_edits)
        """Keyframes made in this program, in addition to those of the scene."""
        watches = options is None or options.watch
        self.beside = RunsBeside(self.session, self.notices, self.sensor_edits, self.controllers, watches)
        """Runs and branches beside the shown run, and their comparison."""
        self.cures = CureSearch(options)
        """Search for the smallest changes of the open scene that avoid given conditions."""
        self.measured = MeasuredData(self.notices)
        """Measured data beside the open run."""
        self.findings = Findings(self.sensor_edits)
        """Findings of the contact rules in the open scene."""
        self.gizmos = GizmoList()
        """Gizmos of a user's own program; they last one frame."""
        self.add_geoms: Callable[[Any], object] = lambda scene: None
        """Function that puts geoms of a user's own program into an MjvScene before it is drawn."""
        self.physics_budget = PHYSICS_BUDGET
        """Longest wall time for the steps of a frame [s]."""
        size = (options.width, options.height) if options else (Options.width, Options.height)
        self.scene_size = size
        """Width and height of the scene in the window [px], kept up to date by the front end."""
        self.window_size = size
        """Width and height of the whole window [px], kept up to date by the front end."""
        self._reported: StepSource | None = None
        """Source whose exactness was reported already."""
        self._closed = False
        self._folder = Path(os.environ.get("PWD", os.sep))
        self._folder = self.working_folder

    @property
    def title(self) -> str:
        """Title of the window: scene file with its folder, and the program's name."""
        path = self.session.engine.path
        if path is None:
            return TITLE
        return f"{path.name} ({'bundled' if is_bundled(path) else _short(path.parent)}) - {TITLE}"

    @property
    def idle(self) -> bool:
        """True if the frame changes only when the user acts."""
        outdated = self.notices.has_expired or self.loader.is_busy(self.session.engine)
        source = self.session.source
        busy = (
            self.recorder.is_busy
            or self.findings.is_running
            or self.measured.is_busy
            or outdated
            or self.run_saving.is_busy
            or self.beside.is_busy
            or self.cures.is_running
            or source.reads_ahead
            or self.session.filling is not None
        )
        return source.quiet and not busy

    def start(self, settings: ViewState | None = None) -> None:
        """Show the scene, with settings that were saved earlier."""
        if settings is not None:
            self.session.settings = settings
        self._begin_scene()
        self.beside.attach(self.session, self.controllers, True)
        if self.options is not None and self.options.data is not None:
            self.measured.open(self.options.data, self.options.maps)
        if self.options is not None and self.options.go_to is not None:
            self.session.run_to(self.options.go_to)

    def advance(self) -> bool:
        """Do a frame's work that needs no input: switch to a scene that is ready, then step the physics, or show the
        next frame of a retake. Returns True if another scene runs now."""
        replaced = not self.recorder.retaking and self._replace_scene()
        session = self.session
        self._poll_controllers()
        self.findings.poll()
        self.measured.poll(session)
        if self.recorder.retaking:
            self.recorder.show_next()
        else:
            session.advance(self.physics_budget)
            self.beside.poll()
        if session.trouble:
            self.notices.add(session.trouble, warning=True)
            session.trouble = None
        self._report_runs()
        return replaced

    def close(self) -> None:
        """Stop opening scenes, and complete recordings and files that are being saved. Calling it twice is safe."""
        self.loader.close()
        self.findings.close()
        self.measured.close()
        self.beside.close()
        self.cures.close()
        self._save_last_run()
        self.finish_recording()

    def open_scene(self, scene: str) -> None:
        """Open another scene. The running scene continues until the other is ready, and stays if opening fails."""
        self.notices.attempt(lambda: self.loader.open(scene))

    def reload(self) -> None:
        """Reload the same file."""
        path = self.session.engine.path
        if path is not None:
            self.open_scene(str(path))

    def switch_engine(self, choice: str) -> None:
        """Reload the same file on another engine, if that engine can load it."""
        self.loader.choice = choice
        self.reload()

    def undo(self) -> None:
        """Undo the last action: a change by hand since the last step, or of keyframes and sensors, in the file too."""
        undone = self.notices.attempt(self.undo_stack.undo)
        if undone is not None:
            self.notices.add(f"undone: {undone}")

    def show_all_contacts(self) -> ContactDeclaration | None:
        """Make a sensor of all contacts. Returns its declaration if the scene is reloaded with it; else None, and the
        viewer computes all contacts at once."""
        session = self.session
        if session.why_not(Change.SENSORS) is not None:
            session.watch_all()
            return None
        model = session.engine.model
        names = {*sensor_names(model), *self.sensor_edits.unsaved}
        declaration = SensorSuggestions(model).for_everything(session.engine.contact_data(), names)
        self.sensor_edits.make([SensorChange(declaration)])
        return declaration

    def why_not_exclude(self, bodies: Sequence[str]) -> str | None:
        """Return why contacts between two bodies cannot be excluded here, as a sentence; None if they can."""
        model = self.session.engine.model
        names = read_names(model, "body")
        if (reason := self.session.why_not(Change.PAIRS)) is not None:
            return reason
        for name in bodies:
            if name not in names:
                return f"{name} has no name in the scene, but <exclude> needs names: name the body in the file."
        first, second = (names.index(name) for name in bodies)
        if first == second:
            return "Both geoms belong to one body, so they never collide."
        pairs = np.sort(model.geom_bodyid[np.stack([model.pair_geom1, model.pair_geom2], axis=1)], axis=1)
        if (pairs == sorted((first, second))).all(axis=1).any():
            return "A <pair> makes them collide despite any <exclude>: remove the <pair> from the file."
        return None

    def exclude(self, bodies: tuple[str, str], save: bool = False) -> None:
        """Exclude contacts between two bodies from now on; with `save` in the scene's file too."""
        exclusion, path = Exclusion(bodies), self.session.engine.path
        self.sensor_edits.exclude(exclusion)
        if save and path is not None:
            model = self.session.engine.model
            self.notices.attempt(lambda: self.sensor_edits.save(path, model, [exclusion]))

    @property
    def working_folder(self) -> Path:
        """Working folder of the program; if it was removed, its former path, for messages."""
        with suppress(FileNotFoundError):
            self._folder = Path.cwd()
        return self._folder

    @property
    def next_recording(self) -> Path:
        """Return the path of a new recording."""
        return self._free_path(self.session.settings.record_suffix)

    @property
    def recording_size(self) -> tuple[int, int]:
        """Width and height of a new recording [px]."""
        settings = self.session.settings
        width, height = self.window_size if settings.record_panels else self.scene_size
        wanted = round(settings.record_height)
        return (max(2, round(width * wanted / max(height, 1) / 2) * 2), wanted) if wanted else (width, height)

    def start_recording(self, path: Path | None = None) -> None:
        """Start recording into a file; None for the next free path."""
        self._record(path, None)

    def toggle_recording(self) -> None:
        """Stop the running recording, or start one."""
        self.recorder.stop() if self.recorder.running is not None else self.start_recording()

    def record_last(self, path: Path | None = None) -> None:
        """Record the last seconds of the history; their number is a setting."""
        self._record(path, self.session.settings.record_last)

    def save_screenshot(self) -> None:
        """Save the next frame as PNG: the scene, or the whole window if recordings show the panels."""
        with naming(self._recording_folder):
            path = self._free_path(".png")
            panels = self.session.settings.record_panels
            self.notices.attempt(lambda: self.recorder.request_screenshot(path, self.session, panels))

    def save_curves(self, text: str) -> None:
        """Save curves as CSV beside the recordings."""
        with naming(self._recording_folder):
            path = self._free_path(".csv")
            saved = self.notices.attempt(lambda: save_text(path, text))
        if saved is not None:
            self.saved.append(path)
            self.notices.add(f"saved {path}")

    @property
    def next_run(self) -> Path:
        """Return the path of a new saved run."""
        return self._free_path(RUN_SUFFIX)

    def save_run(self, path: Path | None = None) -> None:
        """Save the history as a file that opens as a scene; without a path, beside the recordings."""
        with naming(self._recording_folder):
            target = self.working_folder / path if path is not None else self.next_run
            self.notices.attempt(lambda: self.run_saving.start(self.session.simulation, target, self.sensor_edits))

    @property
    def next_page(self) -> Path:
        """Return the path of a new page."""
        return self._free_path(".html")

    def save_page(self, path: Path | None = None) -> None:
        """Save the history as one HTML page that starts at the shown step; without a path, beside the recordings."""
        from ..recording.talk import scene_title

        session = self.session
        camera, shown = session.view.camera, [sensor.name for sensor in session.shown_sensors]
        options = ["--at", repr(session.engine.time)]
        if session.view.camera_name is not None:
            options += ["--camera", session.view.camera_name]
        else:
            options += [f"--lookat={','.join(map(repr, camera.lookat.tolist()))}", f"--distance={camera.distance}"]
            options += [f"--azimuth={camera.azimuth}", f"--elevation={camera.elevation}"]
        if len(shown) < len(session.engine.sensors):
            options += [word for name in shown for word in ("--sensor", name)]
        if session.engine.path is not None:
            options += ["--title", scene_title(session)]
        with naming(self._recording_folder):
            target = self.working_folder / path if path is not None else self.next_page
            edits = self.sensor_edits
            self.notices.attempt(lambda: self.run_saving.start_page(session.simulation, target, edits, options))

    def _report_runs(self) -> None:
        """Report a saved run, and once how exactly the shown run was re-simulated."""
        if (saved := self.notices.attempt(self.run_saving.poll)) is not None:
            self.saved.append(saved[0])
            self.notices.add(saved[1])
        source = self.session.source
        if source.finished and source.exactness is not None and source is not self._reported:
            self._reported = source
            self.notices.add("; ".join([source.summary(), *source.notes]), warning=source.exactness.first is not None)

    def _save_last_run(self) -> None:
        """Complete a run that is being saved; save the last run too if the command line asks for it."""
        path = self.options.save_run if self.options is not None else None
        try:
            saved = self.run_saving.wait()
            if path is not None and not self._closed:
                self._closed = True
                self.run_saving.start(self.session.simulation, path, self.sensor_edits)
                saved = self.run_saving.wait()
                if saved is not None:
                    print(printable(saved[1].removeprefix("saved ")), flush=True)
        except SceneError as error:
            with suppress(OSError):  # The terminal may be closed.
                print(printable(str(error)), file=sys.stderr, flush=True)

    def take_picture(
        self, read: Callable[[], NDArray[np.uint8]], *, whole_window: bool, labels: Sequence[Label] = ()
    ) -> None:
        """Record the frame drawn now, or save it as a screenshot, if one is due.

        Args:
            read: Returns the pixels, RGB, (height, width, 3).
            whole_window: True for the whole window, False for the scene alone.
            labels: Labels beside contacts: x and y in the frame [px] and text.
        """
        time = self.session.engine.time
        done = self.notices.attempt(lambda: self.recorder.take_picture(read, whole_window, time, labels))
        if done is not None:
            self.notices.add(done)

    def begin_closing(self) -> bool:
        """Stop all recordings. Returns True if closing has to wait for files; a notice and a line on the terminal name
        them."""
        for path in (paths := self.recorder.begin_closing()):
            self.notices.add(f"completing {path.name}; the window closes afterwards")
            with suppress(OSError):  # The terminal may be closed.
                print(printable(f"completing {path.absolute()} ..."), file=sys.stderr, flush=True)
        return bool(paths)

    def finish_recording(self) -> None:
        """Complete the recording when the program ends."""
        self.begin_closing()
        done, errors = self.recorder.close()
        with suppress(OSError):  # The terminal may be closed.
            for line in done:
                print(printable(line), flush=True)
            for error in errors[1:]:
                print(printable(str(error)), file=sys.stderr, flush=True)
        if errors:
            raise errors[0]

    def _record(self, path: Path | None, last: float | None) -> None:
        """Start a recording from now on, or of the last seconds of the history."""
        settings = self.session.settings
        size = self.recording_size
        with naming(self._recording_folder):
            path = self.working_folder / path if path is not None else self.next_recording
            strays = describe_strays(path.parent)
            started = self.notices.attempt(
                lambda: self.recorder.start(
                    path,
                    size,
                    self.session,
                    settings.record_panels,
                    last,
                    round(settings.record_fps),
                    settings.record_style,
                )
            )
        if started:
            self.notices.add(f"Recording to {path}")
            settings.record_folder, settings.record_suffix = str(path.parent), path.suffix
            if strays is not None:
                self.notices.add(strays, warning=True)

    @property
    def _recording_folder(self) -> Path:
        """Folder of the last recording, if it exists."""
        folder = Path(self.session.settings.record_folder or self.working_folder)
        return folder if os.path.isdir(folder) else self.working_folder

    def _free_path(self, suffix: str) -> Path:
        """Return a new path named after the scene, with its folder if scenes of other robots have the same name."""
        scene = self.session.engine.path
        name = scene.stem if scene else "scene"
        if scene is not None and name.startswith(_COMMON_NAMES) and scene.resolve().parent.name:
            name = f"{scene.resolve().parent.name}-{name}"
        return free_path(self._recording_folder, name, suffix)

    def _warn_of_deep_start(self) -> None:
        """Warn of bodies that start inside each other, and offer a keyframe in which they do not."""
        session = self.session
        engine = session.engine
        if not engine.has_contact_list or session.source.replays or engine.time > 0.0:
            return
        deep = find_deep_start(engine.model, engine.contact_data())
        if deep is None or session.why_not(Change.KEYFRAME) is not None or not deep.keys:
            if deep is not None:
                self.notices.add(deep.text)
            return
        key = deep.keys[0]
        self.notices.add(f"{deep.text}. Keyframe {key}:", offer=("go there", lambda: session.reset(key)))

    def _replace_scene(self) -> bool:
        """Switch to a scene that was opened in the background; if opening failed, the running scene stays."""
        engines = self.notices.attempt(lambda: self.loader.poll(self.session.engine))
        if engines is None:
            return False
        path, notes = self.session.engine.path, self.session.engine.notes
        watched_all = self.session.watches_by_itself
        self._keep_controllers(engines)
        kept = self.session.history.seconds if self.session.history is not None else 0.0
        # What was done by hand refers to the session, and its history is large.
        self.undo_stack.forget(self.session.drive)
        self.session = successor(self.session, engines)
        # Sessions and engines refer to each other, and a history is large.
        gc.collect()
        same = self.session.engine.path == path
        self._begin_scene(notes if same else ())
        self.beside.attach(self.session, self.controllers, same)
        now = self.session.history.seconds if self.session.history is not None else 0.0
        if watched_all and not self.session.watches_by_itself and same:
            self.notices.add("now showing the contacts of the sensors; all others are faint points")
        if same and now < kept - _HISTORY_SLACK:
            text = f"Kept the last {now:.1f} s of {kept:.1f} s of history"
            self.notices.add(f"{text}; recomputing the rest would take too long.")
        return True

    def go_on_with(self, entry: RunBeside) -> None:
        """Replace the shown run by a branch: the branch's steps become the past, and its values hold from now on. The
        replaced run stays beside."""
        before = self.session
        if (reason := before.why_not(Change.SCENE)) is not None:
            self.notices.add(reason, warning=True)
            return
        session = self.notices.attempt(lambda: branched(before, entry.run))
        if session is None:
            return
        self.controllers.continue_on(session.engines, before.engines)
        if (asked := entry.run.engine.controller) is not None:
            session.simulation.engine.controller = asked
            self.controllers.adopt(asked)
        self.undo_stack.forget(before.drive)
        self.session = session
        self.beside.replace_by_past(entry, before.simulation)
        self._begin_scene(session.engine.notes)
        self.beside.attach(session, self.controllers, True)
        self.notices.add(f"this run continues with {entry.title}; the file is not changed")

    def _keep_controllers(self, engines: Engines) -> None:
        """Give the controller to a reloaded scene; another scene needs another controller."""
        before = self.session.engines
        if engines[0].path == before[0].path:
            self.controllers.continue_on(engines, before)
            return
        if before[0].controller is not None and not is_bundled(before[0].path):
            self.notices.add("this is another scene: the controller does not drive it")
        self.controllers = Controllers.of(engines)

    def _poll_controllers(self) -> None:
        """Reload a controller whose file was saved."""
        engines = self.session.engines
        if (said := self.notices.attempt(lambda: self.controllers.poll(engines))) is not None:
            if self.controllers.file is not None:
                self.notices.drop_about(str(self.controllers.file.path))
            self.notices.add(said)

    def _begin_scene(self, known_notes: tuple[str, ...] = ()) -> None:
        """Track a scene's events, watch its files, and show its notes except those that were shown before."""
        session, engine = self.session, self.session.engine
        session.drive.undo_stack = self.undo_stack
        self.gizmos.width = session.scale.width
        if session.settings.watch_all and (self.options is None or self.options.watch_all):
            session.watch_without_sensors()
        if session.source.watches_all:
            session.watch_all()
        self.loader.watch_files(engine)
        self.keyframes.attach(session)
        self.findings.attach(session)
        self.cures.attach(session)
        if engine.path is not None and not is_bundled(engine.path):
            others = [line for line in session.settings.recent_scenes.splitlines() if line != str(engine.path)]
            session.settings.recent_scenes = "\n".join([str(engine.path), *others][:_RECENT_MAX])
        for note in engine.notes:
            if note not in known_notes:
                self.notices.add(note)
        self._warn_of_deep_start()
        if session.events is None:
            session.track_events()
        for problem in engine.touch_sensors.problems if engine.touch_sensors is not None else ():
            self.notices.add(problem, warning=True)


def _short(folder: Path) -> str:
    """Return a folder's path, with ~ for the user's own."""
    with suppress(ValueError, RuntimeError):
        return str("~" / folder.relative_to(Path.home()))
    return str(folder)


def open_application(options: Options) -> Application:
    """Return an application on the scene, engine and controller of the options."""
    controllers = Controllers(options if options.log is None else None)
    loaded = controllers.load()
    engine, *beside = open_engines(options.scene, options.engine, options.envs, *loaded, options.watched)
    if options.log is not None:
        open_log(engine, options.log, options.episode, options.period)
    app = Application(engine, options, beside, controllers)
    if options.beside is not None:
        app.beside.open_now(options.beside)
    return app
