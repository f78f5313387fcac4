"""Reads a controller from a Python file, and reads it again when the file was saved."""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from itertools import count, pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from ..errors import ControlError
from ..mjmodel.variation import Randomisation
from .controller import Controller, control_error

_numbers = count()


class ControllerFile:
    """A file with `control(model, data)`, and, if it has them, `reset(model, data, rng)` and `vary(model, rng)`."""

    def __init__(
        self,
        text: str,
        params: Mapping[str, Any] | None = None,
        seed: int = 0,
        randomisation: Randomisation | None = None,
    ) -> None:
        """`text`: a path, or a path and the name of the function that is called in place of `control`, as
        `walk.py:trot`. `params`: values of constants of the file, by their names."""
        path, _, name = text.rpartition(":")
        if not path or not name.isidentifier():
            path, name = text, "control"
        self.path = Path(path)
        self.name = name
        self.params = dict(params or {})
        self.seed = seed
        self.randomisation = randomisation or Randomisation()
        self.module = ModuleType("controller")
        """Module as it was read last."""
        self.descriptions: dict[str, str] = {}
        """Descriptions of the file's constants, each from the string below it, by name."""

    def load(self) -> Controller:
        """Read the file. If that fails, raise ControlError and keep the functions read before."""
        module, functions = self._read()
        control = functions[self.name]
        if control is None:
            raise ControlError(f"{self.path} has no function {self.name}(model, data)")
        self.module = module
        return Controller(control, functions["reset"], functions["vary"], self.seed, self.randomisation, file=self)

    def unload(self) -> None:
        """Free the loaded module, for programs that read a great number of files."""
        sys.modules.pop(self.module.__name__, None)

    def copy(self) -> "ControllerFile":
        """Return a controller of the same file for another engine, with a module of its own."""
        return ControllerFile(f"{self.path}:{self.name}", self.params, self.seed, self.randomisation)

    @property
    def constants(self) -> dict[str, float | int]:
        """Numbers of the file whose names are in capitals, as they are now."""
        values = {name: value for name, value in vars(self.module).items() if name.isupper()}
        return {name: value for name, value in values.items() if type(value) in (int, float)}

    def set_constant(self, name: str, value: float) -> None:
        """Set a constant from the next step on; it keeps the value when the file is read again."""
        self.params[name] = value
        setattr(self.module, name, value)

    def _read(self) -> tuple[ModuleType, dict[str, Any]]:
        try:
            source = self.path.read_bytes()
            tree = ast.parse(source, str(self.path))
            descriptions = dict(_descriptions(tree))
            self._insert_params(tree)
            code = compile(tree, str(self.path), "exec")
        except OSError as error:
            raise ControlError(f"{self.path}: cannot be read ({error.strerror or error})") from None
        except SyntaxError as error:
            where = f"{self.path}, line {error.lineno}" if error.lineno else str(self.path)
            raise ControlError(f"{where}: {type(error).__name__}: {error.msg}") from None
        except ControlError:
            raise
        except (ValueError, RecursionError, MemoryError) as error:
            raise ControlError(f"{self.path}: is not Python ({error})") from None
        module = ModuleType(f"controller_{self.path.stem}_{next(_numbers)}")
        module.__file__ = str(self.path)
        folder = str(self.path.absolute().parent)
        if folder not in sys.path:
            # Modules beside it, now and when they are imported later.
            sys.path.append(folder)
        sys.modules[module.__name__] = module
        try:
            exec(code, module.__dict__)
        except Exception as error:
            sys.modules.pop(module.__name__, None)
            raise control_error(error, SimpleNamespace(__code__=code)) from None
        except SystemExit as error:
            raise ControlError(f"{self.path} ended the program ({error.code})") from None
        self.descriptions = descriptions
        wanted = {self.name: ("model", "data"), "reset": ("model", "data", "rng"), "vary": ("model", "rng")}
        return module, {name: self._function(module, name, names) for name, names in wanted.items()}

    def _function(self, module: ModuleType, name: str, parameters: tuple[str, ...]) -> Any:
        function = getattr(module, name, None)
        if function is None:
            return None
        try:
            inspect.signature(function).bind(*parameters)
        except (TypeError, ValueError):
            raise ControlError(f"{self.path}: {name} has to take ({', '.join(parameters)})") from None
        return function

    def _insert_params(self, tree: ast.Module) -> None:
        """Replace the file's values by the chosen ones, so that values computed from them change too."""
        missing = set(self.params)
        for statement in tree.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else None
            if name in self.params and isinstance(statement, ast.Assign | ast.AnnAssign):
                given = ast.parse(repr(self.params[name]), mode="eval").body
                statement.value = ast.copy_location(given, statement)
                for node in ast.walk(given):
                    ast.copy_location(node, statement)
                missing.discard(name)
        if missing:
            raise ControlError(f"{self.path} has no constant {', '.join(sorted(missing))}")


def _descriptions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that a module's statements assign, with the string that follows."""
    for statement, below in pairwise(tree.body):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
        if isinstance(text, str) and isinstance(targets[0], ast.Name):
            yield targets[0].id, inspect.cleandoc(text)


def read_param(text: str) -> tuple[str, Any]:
    """Return name and value of `key=value`; a value that is not a Python literal is a text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ControlError(f"{text!r} is not a parameter such as KP=40")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return name, value
