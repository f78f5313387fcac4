"""Writes stubs/mujoco/*.pyi, from which mypy knows MuJoCo: python stubs/make_mujoco_stubs.py [FOLDER]

MuJoCo has no type information, but pybind11 writes the signature of every function and property into its docstring.
This script translates these signatures. Run it in the development environment after MuJoCo was updated, and commit what
it writes: the same MuJoCo gives the same text.
"""

import ast
import inspect
import keyword
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
from mujoco import _callbacks, _constants, _enums, _errors, _functions, _render, _rollout, _specs, _structs

MODULES = (_callbacks, _constants, _enums, _errors, _functions, _render, _rollout, _specs, _structs)
BUILTINS = {"bool", "bytes", "dict", "float", "int", "list", "object", "slice", "str", "tuple"}
# What every class of pybind11 has and no caller needs.
HIDDEN = {"__doc__", "__module__", "__dict__", "__weakref__", "__new__", "__entries", "_pybind11_conduit_v1_"}

TYPES = '''\
"""Types that the signatures of MuJoCo share. They exist for type checkers only."""

from collections.abc import Sequence
from typing import Any, Generic, SupportsFloat, SupportsIndex, TypeAlias, TypeVar

from numpy.typing import NDArray

# MuJoCo's docstrings add SupportsInt, but a float is refused.
Integer: TypeAlias = SupportsIndex
Real: TypeAlias = SupportsFloat | SupportsIndex
Numbers: TypeAlias = Sequence[Real] | NDArray[Any]

_Get_co = TypeVar("_Get_co", covariant=True)
_Set_contra = TypeVar("_Set_contra", contravariant=True)

class Field(Generic[_Get_co, _Set_contra]):
    """A value that is read as one type and may be set to a wider one."""
    def __get__(self, instance: object, owner: type | None = None, /) -> _Get_co: ...
    def __set__(self, instance: object, value: _Set_contra, /) -> None: ...
'''

# What a docstring says wrongly: an object without a name has None.
RESULTS = {"mj_id2name": "str | None"}
IMPORTS = {
    "import builtins": ("builtins.",),
    "from collections.abc import {}": ("Callable", "Iterator", "Mapping", "Sequence"),
    "from typing import {}": ("Any", "ClassVar", "Self", "overload"),
    "import numpy as np": ("np.",),
    "from numpy.typing import {}": ("ArrayLike", "NDArray"),
    "from mujoco._stub_types import {}": ("Field", "Integer", "Numbers", "Real"),
}
# A signature of C++ may break rules of Python: operators of enums and numbers overlap, and keywords follow defaults.
QUIET = '# mypy: disable-error-code="misc, overload-overlap, overload-cannot-match, override"'


class Types:
    """Translates the types of one class's docstrings, as they are called inside a module."""

    def __init__(self, module: types.ModuleType, members: frozenset[str] = frozenset()) -> None:
        self._module = module
        self._members = members  # names that hide a builtin inside the class

    def text(self, node: ast.expr, parameter: bool) -> str:
        """Write a type; a parameter may accept more than a result of the same name is."""
        if isinstance(node, ast.BinOp):
            return self._union([self.text(part, parameter) for part in _alternatives(node)])
        if isinstance(node, ast.Subscript):
            arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return self._generic(ast.unparse(node.value), arguments, parameter)
        if isinstance(node, ast.Constant) and node.value is None:
            return "None"
        return self._name(ast.unparse(node))

    def _name(self, name: str) -> str:
        if name in BUILTINS:
            plain = f"builtins.{name}" if name in self._members else name
            return plain + {"list": "[Any]", "dict": "[Any, Any]", "tuple": "[Any, ...]"}.get(name, "")
        if name.startswith("mujoco."):
            _, source, name = name.split(".", 2)
            return name if f"mujoco.{source}" == self._module.__name__ else f"{source}.{name}"
        if name.startswith("numpy."):
            return {"numpy.ndarray": "NDArray[Any]", "numpy.typing.ArrayLike": "ArrayLike"}.get(name, "np" + name[5:])
        for module in (self._module, _structs, _specs):  # a name of C++, which says no module
            if hasattr(module, name):
                return self._name(f"{module.__name__}.{name}")
        return {
            "typing.SupportsInt": "SupportsInt",
            "typing.SupportsIndex": "Integer",
            "typing.SupportsFloat": "Real",
        }.get(name, "Any")

    def _union(self, parts: list[str]) -> str:
        kept = list(dict.fromkeys(part for part in parts if part != "SupportsInt"))
        return " | ".join(part for part in kept if not (part == "Integer" and "Real" in kept))

    def _generic(self, name: str, arguments: list[ast.expr], parameter: bool) -> str:
        if name == "typing.Annotated":
            if parameter and ast.unparse(arguments[0]).startswith("numpy.") and not _has(arguments, "flags.writeable"):
                return "ArrayLike"  # copied where it is no array of this kind
            return self.text(arguments[0], False)
        if name == "numpy.typing.NDArray":
            return f"NDArray[{self.text(arguments[0], parameter)}]"
        inner = [self.text(argument, parameter) for argument in arguments]
        if name == "collections.abc.Sequence" and inner[0] in ("Real", "Integer"):
            return "Numbers"
        short = name.rpartition(".")[2]
        return f"{f'builtins.{short}' if short in self._members else short}[{', '.join(inner)}]"


def _alternatives(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return _alternatives(node.left) + _alternatives(node.right)
    return [node]


def _has(arguments: list[ast.expr], flag: str) -> bool:
    return any(isinstance(argument, ast.Constant) and argument.value == flag for argument in arguments)


def _signatures(doc: str) -> list[ast.FunctionDef]:
    """Read the signatures in a docstring of pybind11: one, or those of an overloaded function, which are numbered."""
    lines = doc.splitlines()
    if "Overloaded function." in lines[:2]:
        lines = [re.sub(r"^\d+\. ", "", line) for line in lines if re.match(r"\d+\. .*->", line)]
    else:
        lines = lines[:1]
    found = []
    for line in lines:
        line = re.sub(r"mujoco::python::_impl::MjWrapper<mj(\w+)_>", r"Mj\1", line)
        line = re.sub(r"mujoco::python::(\w+Views)", r"_\1", line)
        line = re.sub(r"mujoco::python::|std::", "", line)
        line = re.sub(r"\bmjs(\w+)_\b", r"Mjs\1", line)
        line = re.sub(r"= <[^>]*>", "= ...", line)
        name, rest = re.fullmatch(r"(\w*)(\(.*)", line).groups()  # type: ignore[union-attr]
        found.append(ast.parse(f"def {name or 'get'}{_ordered(rest)}: ...").body[0])
    return found  # type: ignore[return-value]


def _ordered(rest: str) -> str:
    """Make parameters keywords where one without a default follows one with a default: Python has no such order."""
    try:
        ast.parse(f"def f{rest}: ...")
        return rest
    except SyntaxError:
        start = max(match.start() for match in re.finditer(r", \w+: ", rest[: rest.index(" = ")]))
        return f"{rest[:start]}, *{rest[start:]}"


def _parameter(argument: ast.arg, default: ast.expr | None, types_: Types) -> str:
    annotation = types_.text(argument.annotation, True) if argument.annotation else "Any"
    if default is not None and ast.unparse(default) == "None" and "None" not in annotation:
        annotation += " | None"
    return f"{argument.arg}: {annotation}" + (" = ..." if default is not None else "")


def _parameters(function: ast.FunctionDef, types_: Types) -> str:
    arguments = function.args
    positional = arguments.posonlyargs + arguments.args
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    parts = []
    for index, (argument, default) in enumerate(zip(positional, defaults, strict=True)):
        if index == 0 and argument.arg == "self":
            parts.append("self")
        else:
            parts.append(_parameter(argument, default, types_))
        if arguments.posonlyargs and index == len(arguments.posonlyargs) - 1:
            parts.append("/")
    if arguments.vararg:
        parts.append(f"*{arguments.vararg.arg}: Any")
    elif arguments.kwonlyargs:
        parts.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parts.append(_parameter(argument, default, types_))
    if arguments.kwarg:
        parts.append(f"**{arguments.kwarg.arg}: Any")
    return ", ".join(parts)


def _function(name: str, doc: str, types_: Types, result: str | None = None, decorator: str = "") -> Iterator[str]:
    """Write a function with its overloads; `result` replaces what the docstring says that it returns."""
    if name in ("__eq__", "__ne__"):
        yield f"def {name}(self, other: object, /) -> bool: ..."
        return
    signatures = list(
        dict.fromkeys(
            f"def {name}({_parameters(each, types_)}) -> {result or types_.text(_returns(each), False)}: ..."
            for each in _signatures(doc)
        )
    )
    for signature in signatures:
        if len(signatures) > 1:
            yield "@overload"
        if decorator:
            yield decorator
        yield signature


def _returns(function: ast.FunctionDef) -> ast.expr:
    return function.returns or ast.Constant(None)


def _python_function(name: str, function: Callable[..., Any], module: types.ModuleType, cls: type | None = None) -> str:
    """Write a function that is written in Python, from its annotations."""
    signature = inspect.signature(function)
    parts, keywords = [], False
    for index, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            parts.append("*")
            keywords = True
        star = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
        text = f"{star}{parameter.name}: {_annotation(parameter.annotation, module)}"
        if index == 0 and ("." in function.__qualname__ or (cls and parameter.annotation is cls)):
            text = "self"
        parts.append(text + (" = ..." if parameter.default is not parameter.empty else ""))
    returned = _annotation(signature.return_annotation, module)
    if name in ("__init__", "close", "__exit__"):
        returned = "None"
    elif name == "__enter__":
        returned = "Self"
    static = "@staticmethod\n" if cls and parts[:1] != ["self"] else ""
    return f"{static}def {name}({', '.join(parts)}) -> {returned}: ..."


def _annotation(annotation: Any, module: types.ModuleType) -> str:
    """Write an annotation of Python; Any where it says more than a stub needs."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is None or annotation is type(None):
        return "None"
    if annotation is np.ndarray:
        return "NDArray[Any]"
    if origin in (typing.Union, types.UnionType):
        parts = list(dict.fromkeys(_annotation(argument, module) for argument in arguments))
        return "Any" if "Any" in parts else " | ".join(parts)
    if origin is tuple:
        return f"tuple[{', '.join(_annotation(argument, module) for argument in arguments)}]"
    if origin is not None and getattr(origin, "__module__", "") == "collections.abc":
        return f"{origin.__name__}[{', '.join(_annotation(argument, module) for argument in arguments)}]"
    if isinstance(annotation, type) and annotation is not inspect.Parameter.empty:
        if annotation.__module__ == "builtins" and annotation.__name__ in BUILTINS:
            return Types(module).text(ast.parse(annotation.__name__).body[0].value, False)  # type: ignore[attr-defined]
        if annotation.__module__ == module.__name__:
            return annotation.__name__
        if annotation.__module__.startswith("mujoco._"):
            return f"{annotation.__module__.removeprefix('mujoco.')}.{annotation.__name__}"
    return "Any"


def _elements() -> dict[str, str]:
    """The class of the elements in a list of a specification, such as MjsBody in `bodies`, from `add_body`."""
    found = {}
    for cls in (_specs.MjSpec, _specs.MjsBody):
        for name in vars(cls):
            if name.startswith("add_"):
                made = ast.unparse(_returns(_signatures(getattr(cls, name).__doc__)[0])).rpartition(".")[2]
                single = name.removeprefix("add_")
                for plural in (f"{single}s", f"{single}es", f"{single[:-1]}ies"):
                    found[plural] = made
    return found


def _may_be_absent(cls: type, name: str) -> bool:
    """Whether a lookup of a specification returns None where there is no such element: tried on an empty one."""
    if cls not in (_specs.MjSpec, _specs.MjsBody):
        return False
    signature = _signatures(getattr(cls, name).__doc__)[0]
    given = [ast.unparse(argument.annotation) for argument in signature.args.args[1:] if argument.annotation]
    if not ast.unparse(_returns(signature)).startswith("mujoco._specs.Mjs"):
        return False
    if not (given == ["str"] or (not given and name.startswith("first_"))):
        return False
    spec = mujoco.MjSpec()
    target = spec if cls is _specs.MjSpec else spec.worldbody
    try:
        return getattr(target, name)(*["no such name"] * len(given)) is None
    except (KeyError, ValueError, RuntimeError):
        return False


def _result(cls: type, name: str, elements: dict[str, str]) -> str | None:
    """Name the kind of object that a member of a specification returns where its docstring does not."""
    if cls is _specs.MjSpec and name == "compile":
        return "_structs.MjModel"
    if cls is _specs.MjSpec and name == "recompile":
        return "builtins.tuple[_structs.MjModel, _structs.MjData]"
    if name in elements and cls.__name__ in ("MjSpec", "MjsBody", "MjsFrame"):
        return f"list[{elements[name]}]"
    return None


def _property(name: str, value: property, types_: Types, result: str | None) -> Iterator[str]:
    read = result or types_.text(_returns(_signatures(value.fget.__doc__)[0]), False)  # type: ignore[arg-type]
    if value.fset is None or not value.fset.__doc__:
        yield "@property"
        yield f"def {name}(self) -> {read}: ..."
        return
    annotation = _signatures(value.fset.__doc__)[0].args.args[1].annotation
    written = types_.text(annotation, True) if annotation else "object"
    if written == "object":
        written = "ArrayLike" if read.startswith("NDArray") else "Any"
    yield f"{name}: {read}" if written == read else f"{name}: Field[{read}, {written}]"


def _class(cls: type, module: types.ModuleType, elements: dict[str, str]) -> Iterator[str]:
    """Write the members of a class in the order of their names."""
    types_ = Types(module, frozenset(vars(cls)) & BUILTINS)
    for name, value in sorted(vars(cls).items()):
        result = _result(cls, name, elements)
        if name in HIDDEN or keyword.iskeyword(name) or isinstance(value, types.WrapperDescriptorType):
            continue
        if isinstance(value, cls):
            yield f"{name}: ClassVar[{cls.__name__}]"
        elif isinstance(value, type):
            yield f"class {name}:"
            yield from (f"    {line}" for line in _class(value, module, elements))
        elif name == "__hash__" and value is None:
            yield "__hash__: ClassVar[None]  # type: ignore[assignment]"
        elif type(value).__name__ == "pybind11_static_property":
            kept = (
                f"dict[str, {cls.__name__}]"
                if name == "__members__"
                else types_.text(_returns(_signatures(value.fget.__doc__)[0]), False)
            )
            yield f"{name}: ClassVar[{kept}]"
        elif isinstance(value, property):
            yield from _property(name, value, types_, result)
        elif isinstance(value, types.FunctionType):
            yield from _python_function(name, value, module, cls).split("\n")
        elif isinstance(value, staticmethod):
            yield from _function(name, value.__func__.__doc__, types_, result, "@staticmethod")  # type: ignore[arg-type]
        elif callable(value) or hasattr(value, "__func__"):
            doc = getattr(cls, name).__doc__
            lines = list(_function(name, doc, types_, result))
            if _may_be_absent(cls, name):
                lines = [line.replace(": ...", " | None: ...") if line.startswith("def") else line for line in lines]
            yield from lines
    if hasattr(cls, "__getitem__") and not hasattr(cls, "__iter__"):
        item = types_.text(_returns(_signatures(cls.__getitem__.__doc__)[0]), False)
        yield f"def __iter__(self) -> Iterator[{item}]: ..."


def _enum_base(enums: list[type]) -> tuple[list[str], dict[type, list[str]]]:
    """The members that all enums share, and the others of each."""
    texts = {cls: [line.replace(cls.__name__, "Self") for line in _groups(_class(cls, _enums, {}))] for cls in enums}
    shared = [text for text in texts[enums[0]] if all(text in other for other in texts.values())]
    own = {
        cls: [text.replace("Self", cls.__name__) for text in lines if text not in shared]
        for cls, lines in texts.items()
    }
    return shared, own


def _groups(lines: Iterator[str]) -> list[str]:
    """Join the lines of decorators with those that they decorate."""
    found: list[str] = []
    for line in lines:
        if found and found[-1].rpartition("\n")[2].startswith("@"):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def _describe(value: object) -> str:
    """The type of a constant."""
    if isinstance(value, tuple):
        return f"tuple[{_describe(value[0])}, ...]"
    return type(value).__name__


def _module(module: types.ModuleType) -> str:
    """Write the stub of a compiled module."""
    names = sorted(name for name in vars(module) if not re.fullmatch(r"__\w+__", name))
    elements = _elements()
    body: list[str] = []
    enums = [vars(module)[name] for name in names] if module is _enums else []
    if enums:
        enums = [cls for cls in enums if isinstance(cls, type)]
        shared, own = _enum_base(enums)
        body += ["class _Enum:", *_indented(shared), ""]
        for cls in enums:
            body += [f"class {cls.__name__}(_Enum):", *_indented(own[cls]), ""]
    for name in names:
        value = vars(module)[name]
        if isinstance(value, type) and value not in enums:
            base = "(Exception)" if issubclass(value, Exception) else ""
            lines = [] if base else list(_class(value, module, elements))
            body += [f"class {name}{base}:", *_indented(lines), ""]
        elif callable(value) and not isinstance(value, type):
            result = "Callable[..., Any] | None" if module is _callbacks and name.startswith("get_") else None
            body += _function(name, value.__doc__, Types(module), RESULTS.get(name, result))
        elif not isinstance(value, type):
            body.append(f"{name}: {_describe(value)}")
    return _page(module, body)


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for text in lines for line in text.split("\n")] or ["    ..."]


def _page(module: types.ModuleType, body: list[str]) -> str:
    """Put a header and the imports that the text uses before it."""
    text = "\n".join(body).rstrip()
    lines = [f"# Made by stubs/make_mujoco_stubs.py from MuJoCo {mujoco.__version__}.", QUIET, ""]
    others = [each.__name__.removeprefix("mujoco.") for each in MODULES if each is not module]
    for statement, names in {**IMPORTS, "from mujoco import {}": tuple(f"{name}." for name in others)}.items():
        used = [name.rstrip(".") for name in names if re.search(rf"\b{re.escape(name)}", text)]
        lines += [statement.format(", ".join(used))] if used else []
    return "\n".join([*lines, "", text, ""])


def _rollout_page() -> str:
    """Write the stub of mujoco.rollout, which is written in Python."""
    module = mujoco.rollout
    body: list[str] = []
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, type):
            methods = [(key, each) for key, each in sorted(vars(value).items()) if inspect.isfunction(each)]
            body += [f"class {name}:", *_indented([_python_function(key, each, module) for key, each in methods]), ""]
        elif inspect.isfunction(value):
            body.append(_python_function(name, value, module))
    return _page(module, body)


def _package() -> str:
    """Write the stub of the package: what of its modules has a name in it."""
    lines = [f"# Made by stubs/make_mujoco_stubs.py from MuJoCo {mujoco.__version__}.", ""]
    for module in MODULES:
        names = [
            name
            for name, value in sorted(vars(module).items())
            if not name.startswith("_") and getattr(mujoco, name, None) is value
        ]
        if names:
            lines += [f"from mujoco.{module.__name__.removeprefix('mujoco.')} import ("]
            lines += [*(f"    {name} as {name}," for name in names), ")"]
    return "\n".join([*lines, "", "__version__: str"]) + "\n"


def make() -> dict[str, str]:
    """Make the text of every stub by its file name."""
    stubs = {f"{module.__name__.removeprefix('mujoco.')}.pyi": _module(module) for module in MODULES}
    return {**stubs, "__init__.pyi": _package(), "_stub_types.pyi": TYPES, "rollout.pyi": _rollout_page()}


def main(folder: Path) -> None:
    """Write all stubs into a folder, and remove those of modules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    stubs = make()
    for path in set(folder.glob("*.pyi")) - {folder / name for name in stubs}:
        path.unlink()
    for name, text in stubs.items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "mujoco")
