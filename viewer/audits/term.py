"""Calls a user's function or class at every control step, whatever its parameters are, and returns its values."""

import contextlib
import copy
import inspect
import io
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError, did_you_mean
from ..mjmodel.types import MjData, MjModel

LIBRARIES = ("numpy", "torch", "jax")
_MODEL, _DATA, _ENV = ("model", "m", "mj_model", "mjm"), ("data", "d", "mj_data", "mjd"), ("env", "environment")
_TIME = ("dt", "timestep", "step_dt", "control_dt")
_STEP_METHODS = ("physics_step", "__call__", "reset")
_ROWS = 3
"""Number of environments in the batch on which a term with one array is first tried."""
Values = NDArray[np.float64]


class TermError(SceneError):
    """Error of a term that cannot be audited; its message has one line."""


def load_term(text: str) -> Any:
    """Return the function or class of `FILE.py:NAME`. Raises TermError."""
    path_text, _, name = text.rpartition(":")
    path = Path(path_text)
    if not path_text or not name.isidentifier():
        raise TermError(f"{text}: name the term as FILE.py:FUNCTION")
    if not path.is_file():
        raise TermError(f"{path}: no such file")
    sys.path.insert(0, str(path.absolute().parent))
    module_name = f"audited_{path.stem}"
    spec = util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise TermError(f"{path}: is not a Python file")
    module = util.module_from_spec(spec)
    sys.modules[module_name] = module
    with guarded(f"{path}", 60.0):
        spec.loader.exec_module(module)
    if not hasattr(module, name):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise TermError(f"{path} has no {name}{did_you_mean(name, known) or '; it has ' + ', '.join(known[:8])}")
    return getattr(module, name)


class _Late(BaseException):
    """Exception that is raised inside a term whose time is up."""


@contextlib.contextmanager
def guarded(what: str, seconds: float) -> Iterator[None]:
    """Run a user's code without output; any exception, and the end of a time limit [s], become a TermError of one
    line."""
    previous, timer = None, None
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        previous = signal.signal(signal.SIGALRM, _raise_late)
        started, timer = time.monotonic(), signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            np.errstate(all="ignore"),
        ):
            yield
    except _Late:
        raise TermError(f"{what} did not end within {seconds:.3g} s") from None
    except TermError:
        raise
    except SystemExit as error:
        raise TermError(f"{what} ended the program ({error.code})") from None
    except Exception as error:
        raise TermError(f"{what} raised {_one_line(error)}") from None
    finally:
        if previous is not None or timer is not None:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, previous if previous is not None else signal.SIG_DFL)
            if timer is not None and timer[0]:
                # The limit of the surrounding program goes on.
                signal.setitimer(signal.ITIMER_REAL, max(timer[0] - (time.monotonic() - started), 1e-3), timer[1])


def _raise_late(number: int, frame: Any) -> None:
    raise _Late


def _one_line(error: BaseException) -> str:
    """Return the kind and message of an error, and the line of the user's file that raised it."""
    package = str(Path(__file__).parent)
    frames = [
        each for each in traceback.extract_tb(error.__traceback__) if not each.filename.startswith((package, "<frozen"))
    ]
    own = [each for each in frames if "site-packages" not in each.filename and "dist-packages" not in each.filename]
    if isinstance(error, SyntaxError) and error.lineno:
        where = f" (line {error.lineno})"
    else:
        where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}{where}" if text else f"{type(error).__name__}{where}"


@dataclass(frozen=True)
class Plan:
    """Way to call a term."""

    names: tuple[str, ...]
    """Names of the arguments, in order."""
    library: str
    batched: bool = False
    """True if arrays have a first axis of environments."""

    def __str__(self) -> str:
        kind = {"numpy": "", "torch": " of torch", "jax": " of JAX"}[self.library]
        shown = [f"{name} (environments, ...){kind}" if self.batched else f"{name}{kind}" for name in self.names]
        return f"called with {', '.join(shown) or 'nothing'}"


class View:
    """Wrapper of an mjData whose arrays are those of another library; `batched` adds a first axis of one
    environment."""

    def __init__(self, data: Any, convert: Callable[[Any], Any], batched: bool) -> None:
        self._data, self._convert, self._batched = data, convert, batched

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._data, name)
        if isinstance(value, np.ndarray):
            return self._convert(value[np.newaxis] if self._batched else value)
        return View(value, self._convert, self._batched) if name == "contact" else value


class Caller:
    """Caller of a user's term: finds out its parameters, keeps its state, and converts its results to one shape."""

    def __init__(
        self,
        term: Any,
        model: MjModel,
        control_dt: float,
        call: str | None = None,
        library: str | None = None,
        limit: float = 60.0,
    ) -> None:
        """Prepare calls. `call`: expression of the call in place of the parameters' names. `limit`: wall time of all
        calls [s]."""
        if library is not None and library not in LIBRARIES:
            raise TermError(f"library {library!r} is not one of {', '.join(LIBRARIES)}")
        if not callable(term):
            raise TermError(f"{term!r} is neither a function nor a class")
        self._term, self.model, self._control_dt = term, model, control_dt
        self.name = getattr(term, "__name__", type(term).__name__)
        self._limit, self._spent = limit, 0.0
        self._call = call
        self._library = library or _guess_library(term)
        self._fixed_library = library is not None
        self._is_class = inspect.isclass(term)
        self._env = SimpleNamespace()
        self.stateful = self._is_class or (not inspect.isroutine(term) and hasattr(term, "reset"))
        """True if the result of a call depends on earlier calls."""
        self._instance: Any = None
        self._used = False
        self._data: MjData | None = None
        self._plan: Plan | None = None
        if call is not None:
            try:
                self._code = compile(call, "<call>", "eval")
            except SyntaxError as error:
                raise TermError(f"call {call!r}: {error.msg}") from None

    @property
    def plan(self) -> str:
        """Kind, name and call of the term, in one line."""
        kind = "class" if self._is_class else "object" if self.stateful else "function"
        how = f"called as {self._call}" if self._call else str(self._plan)
        methods = [name for name in ("reset", "physics_step") if hasattr(self._target, name)] if self.stateful else []
        more = f"; {' and '.join(methods)} called too" if methods else ""
        return f"{kind} {self.name}, {how}{more}"

    @property
    def takes_rows(self) -> bool:
        """True if many steps can be given at once, as rows of arrays."""
        return (
            self._plan is not None
            and self._plan.batched
            and not self.stateful
            and self._call is None
            and all(name not in (*_MODEL, *_DATA, *_ENV) for name in self._plan.names)
        )

    @property
    def physics_steps(self) -> bool:
        """True if the term looks at every physics step."""
        return self.stateful and hasattr(self._target, "physics_step")

    @property
    def _target(self) -> Any:
        return self._instance if self._instance is not None else self._term

    def understand(self, data: MjData) -> None:
        """Find out how the term is called, by trying calls on a state. Raises TermError if no way works."""
        self._make()
        if self._call is not None:
            self._plan = Plan((), self._library)
            self.probe(data)
            self._make()
            return
        names = _parameters(self._target if not self._is_class else self._target.__call__, self.name)
        first: TermError | None = None
        for plan in self._plans(names):
            self._plan = plan
            try:
                self._make()
                self._try(plan, data)
                self._make()
                self.restart()
                return
            except TermError as error:
                first = first or error
                if "did not end" in str(error):
                    raise
        assert first is not None
        raise first

    def _plans(self, names: tuple[str, ...]) -> Iterator[Plan]:
        libraries = [self._library] if self._fixed_library else [self._library, *({"numpy"} - {self._library})]
        objects = any(name in (*_DATA, *_ENV) for name in names)
        for library in libraries:
            if objects:
                # mjData as it is, arrays of the library, and as a batch of one environment.
                yield from (
                    Plan(names, library, batched) for batched in (False, True) if library != "numpy" or not batched
                )
            else:
                yield from (Plan(names, library, batched) for batched in (True, False))

    def _try(self, plan: Plan, data: MjData) -> None:
        """Call the term on a state. Raises TermError unless the result fits the plan."""
        if not plan.batched or any(name in (*_DATA, *_ENV) for name in plan.names):
            self.probe(data)
            return
        self.physics_step(data)
        rows = self.inputs(data)
        # A stateful term has room for as many environments as it saw first.
        for count in (1,) if self.stateful else (_ROWS, 1):
            many = [np.repeat(row[np.newaxis], count, 0) if isinstance(row, np.ndarray) else row for row in rows]
            result = _as_array(self._invoke(many), self.name)
            if result.ndim == 0 or len(result) != count:
                raise TermError(f"{self.name} returned shape {result.shape} for {count} environments")

    def probe(self, data: MjData) -> Values:
        """Show the term one physics step, and return its value after it."""
        self.physics_step(data)
        return self.value(data)

    def inputs(self, data: MjData) -> list[Any]:
        """Return copies of the arrays that a term with array parameters uses in a state."""
        assert self._plan is not None
        return [self._argument(name, data, raw=True) for name in self._plan.names]

    def rows(self, inputs: Sequence[Sequence[Any]]) -> Values:
        """Return the values of a batched term for the inputs of many states, (n, ...)."""
        assert self._plan is not None
        columns = [np.stack(each) if isinstance(each[0], np.ndarray) else each[0] for each in zip(*inputs, strict=True)]
        result = _as_array(self._invoke(columns), self.name)
        if result.ndim == 0 or len(result) != len(inputs):
            raise TermError(f"{self.name} returned shape {result.shape} for {len(inputs)} environments")
        return result

    def value(self, data: MjData) -> Values:
        """Return the value in a state, as an array without the axis of environments."""
        assert self._plan is not None
        self._used, self._data = True, data
        if self._call is not None:
            names = {"model": self.model, "data": data, "sensordata": data.sensordata, "env": self._environment(data)}
            names |= {"f": self._target, self.name: self._target, "np": np, "numpy": np, "mujoco": mujoco}
            if self._library == "torch":
                names["torch"] = import_module("torch")
            if self._library == "jax":
                names["jnp"] = import_module("jax.numpy")
            with self._timed(self.name):
                result = eval(self._code, names)
            array = _as_array(result, self.name)
            return array[0] if self._library != "numpy" and array.ndim and len(array) == 1 else array
        arguments = []
        for name in self._plan.names:
            value = self._argument(name, data, raw=False)
            batch = self._plan.batched and isinstance(value, np.ndarray)
            arguments.append(value[np.newaxis] if batch else value)
        array = _as_array(self._invoke(arguments), self.name)
        if self._plan.batched or "env" in self._plan.names:
            array = array[0] if array.ndim and len(array) == 1 else array
        return array

    def physics_step(self, data: MjData) -> None:
        """Show a stateful term one physics step."""
        step = getattr(self._target, "physics_step", None)
        if self.stateful and step is not None:
            assert self._plan is not None
            names = _parameters(step, f"{self.name}.physics_step")
            arguments = []
            for name in names:
                value = self._argument(name, data, raw=False, physics=True)
                batch = self._plan.batched and isinstance(value, np.ndarray)
                arguments.append(self._convert(value[np.newaxis] if batch else value))
            self._used = True
            with self._timed(f"{self.name}.physics_step"):
                step(*arguments)

    def restart(self) -> None:
        """Begin a new episode: call `reset`, or make a new object of a class."""
        if not self.stateful or not self._used:
            return
        reset = getattr(self._target, "reset", None)
        if reset is None:
            if self._is_class:
                self._make()
            return
        names = _required(reset)
        assert self._plan is not None
        ids, done = np.zeros(1, np.int64), np.ones(1, bool)
        arguments: list[Any] = []
        for name in names:
            if name in _MODEL:
                arguments.append(self.model)
            elif name in _DATA:
                arguments.append(self._data)
            else:
                arguments.append(self._convert(done if any(word in name for word in ("done", "mask", "term")) else ids))
        with self._timed(f"{self.name}.reset"):
            reset(*arguments)

    def renew(self) -> None:
        """Restart with a new object, without calling `reset`."""
        if self._is_class:
            self._make()
        else:
            self.restart()

    def fresh(self) -> "Caller":
        """Return a caller of the same term with a new state."""
        twin = copy.copy(self)
        if self._is_class:
            twin._make()
        elif self.stateful:
            try:
                twin._term = copy.deepcopy(self._term)
            except Exception:
                return twin
            twin.restart()
        return twin

    def _make(self) -> None:
        if not self._is_class:
            return
        known = {**dict.fromkeys(_MODEL, self.model), **dict.fromkeys(_TIME, self._control_dt)}
        known |= {"num_envs": 1, "n_envs": 1, "nenv": 1, "batch_size": 1}
        names = _required(self._term)
        data = mujoco.MjData(self.model) if any(name in (*_DATA, *_ENV) for name in names) else None
        known |= dict.fromkeys(_DATA, data)
        if data is not None:
            known |= dict.fromkeys(_ENV, self._environment(data))
        missing = [name for name in names if name not in known]
        if missing:
            raise TermError(f"class {self.name} asks for {', '.join(missing)}: give it a default, or audit a function")
        with self._timed(self.name):
            self._instance = self._term(**{name: known[name] for name in names})
        self._used = False
        if not callable(self._instance):
            raise TermError(f"class {self.name} has no __call__")

    def _argument(self, name: str, data: MjData, raw: bool, physics: bool = False) -> Any:
        assert self._plan is not None
        if name in _MODEL:
            return self.model
        if name in _ENV:
            return self._environment(data)
        if name in _DATA:
            if self._plan.library == "numpy":
                return data
            return View(data, self._convert, self._plan.batched)
        if name in _TIME:
            return self.model.opt.timestep if physics else self._control_dt
        value = getattr(data, name, None) if name in ARRAYS else data.sensordata
        return np.array(value, copy=True)

    def _environment(self, data: MjData) -> Any:
        """Return a stand-in for an environment, with the names that frameworks use for model and data."""
        env, library = self._env, self._plan.library if self._plan is not None else self._library
        batch: Any = data if library == "numpy" else View(data, self._convert, True)
        sim = SimpleNamespace(model=self.model, mj_model=self.model, data=batch, mj_data=data)
        env.model = env.mj_model = self.model
        env.data, env.mj_data, env.sim, env.unwrapped = data, data, sim, env
        env.physics = SimpleNamespace(model=self.model, data=data)
        env.dt = env.step_dt = env.control_dt = self._control_dt
        env.physics_dt, env.num_envs, env.device = self.model.opt.timestep, 1, "cpu"
        return env

    def _invoke(self, arguments: Sequence[Any]) -> Any:
        converted = [self._convert(each) if isinstance(each, np.ndarray) else each for each in arguments]
        self._used = True
        with self._timed(self.name):
            return self._target(*converted)

    def _convert(self, value: Any) -> Any:
        library = self._plan.library if self._plan is not None else self._library
        if library == "numpy" or not isinstance(value, np.ndarray):
            return value
        array = value.astype(np.float32) if value.dtype == np.float64 else value
        if library == "torch":
            return _library("torch").from_numpy(np.array(array))
        return _library("jax.numpy").asarray(array)

    @contextlib.contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        started = time.monotonic()
        left = self._limit - self._spent
        if left <= 0:
            raise TermError(f"{what} did not end within {self._limit:.3g} s")
        try:
            with guarded(what, left):
                yield
        finally:
            self._spent += time.monotonic() - started


ARRAYS = {name for name in dir(mujoco.MjData) if not name.startswith("_")} - {"contact", "model"}
"""Names of the arrays of mjData that can be parameters of a term."""


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except Exception as error:
        raise TermError(f"the term needs {name.partition('.')[0]}, which cannot be imported ({error})") from None


def _as_array(result: Any, name: str) -> Values:
    """Return the result of a term as an array of float64. Raises TermError if it is not numeric."""
    if isinstance(result, Mapping):
        result = list(result.values())
    try:
        if hasattr(result, "detach"):
            result = result.detach().cpu().numpy()
        elif isinstance(result, (list, tuple)):
            result = [each.detach().cpu().numpy() if hasattr(each, "detach") else np.asarray(each) for each in result]
        array = np.asarray(result)
        if array.dtype.kind not in "biuf":
            raise ValueError
        return array.astype(np.float64)
    except TermError:
        raise
    except Exception:
        raise TermError(f"{name} returned {type(result).__name__}, not numbers or booleans of one shape") from None


def _required(function: Any) -> tuple[str, ...]:
    """Return the names of parameters without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(each.name for each in parameters if each.kind in kinds and each.default is inspect.Parameter.empty)


def _parameters(function: Any, name: str) -> tuple[str, ...]:
    """Return the names of the parameters to pass to a term. Raises TermError for unknown ones."""
    names = _required(function)
    known = (*_MODEL, *_DATA, *_ENV, *_TIME)
    unknown = [each for each in names if each not in known and each not in ARRAYS]
    if not names:
        optional = [each for each in inspect.signature(function).parameters if each in known or each in ARRAYS]
        return tuple(optional[:1])
    if len(unknown) > 1 or (unknown and any(each in (*_DATA, *_ENV) for each in names)):
        raise TermError(
            f"{name} takes ({', '.join(names)}): expected (model, data), (data), (env) or one array; "
            "say how with call, such as call='f(data, 0.5)'"
        )
    return names


def _guess_library(term: Any) -> str:
    """Return the library whose arrays a term computes with, by the names in its code."""
    members = [term]
    if inspect.isclass(term) or not inspect.isroutine(term):
        kind = term if inspect.isclass(term) else type(term)
        members += [getattr(kind, name, None) for name in (*_STEP_METHODS, "__init__")]
        members += [value for value in vars(kind).values() if inspect.isfunction(value)]
    found = set()
    for member in members:
        function = inspect.unwrap(member) if callable(member) else None
        function = getattr(function, "__func__", function)
        code: Any = getattr(function, "__code__", None)
        scope: dict[str, Any] = dict(getattr(function, "__globals__", {}))
        cells = getattr(function, "__closure__", None) or ()
        scope |= {name: _content(cell) for name, cell in zip(getattr(code, "co_freevars", ()), cells, strict=False)}
        if code is None:
            continue
        for name in (*code.co_names, *code.co_freevars):
            value = scope.get(name)
            origin = (
                getattr(value, "__name__", "") if inspect.ismodule(value) else getattr(value, "__module__", "") or ""
            )
            found.add(str(origin).partition(".")[0])
            helper: Any = getattr(value, "__code__", None)
            if helper is not None and value.__module__ == getattr(function, "__module__", None):
                for inner in helper.co_names:
                    module = scope.get(inner)
                    if inspect.ismodule(module):
                        found.add(module.__name__.partition(".")[0])
        if type(member).__module__.partition(".")[0] in ("jax", "jaxlib"):
            found.add("jax")
        # Imports inside a function.
        found |= {name for name in code.co_names if name in ("torch", "jax")}
        if member is term and not found & {"numpy", "torch", "jax"}:
            # Only methods of an array are called: it is of what the module imports.
            modules = {value.__name__.partition(".")[0] for value in scope.values() if inspect.ismodule(value)}
            found |= modules & {"torch", "jax"} if "numpy" not in modules else set()
    return "torch" if "torch" in found else "jax" if "jax" in found else "numpy"


def _content(cell: Any) -> Any:
    """Return the value of a closure's cell; None if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
