"""`help()` of everything that a program calls explains each parameter, the result and the errors."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import contact_viewer
import pytest
from contact_viewer import gymnasium, metrics

MADE_BY_FUNCTIONS = ("PassiveViewer", "BatchViewer")
"""Classes that a program gets from `launch_passive` and `launch_batch`, which explain their parameters."""
NEVER_RAISE = ("ContactEvents.update_pairs",)


def _public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions, and the methods of classes, that users call, by name."""
    named = {name: getattr(contact_viewer, name) for name in contact_viewer.__all__}
    named |= {"gymnasium.ContactViewer": gymnasium.ContactViewer}
    here = {name: each for name, each in vars(metrics).items() if getattr(each, "__module__", "") == metrics.__name__}
    named |= {f"metrics.{name}": each for name, each in here.items() if not name.startswith("_")}
    for name, each in named.items():
        if inspect.isfunction(each):
            yield name, each
        elif inspect.isclass(each):
            for method in dir(each):
                member = inspect.getattr_static(each, method)
                function = getattr(member, "__func__", member)
                is_called = not method.startswith("_") or (method == "__init__" and name not in MADE_BY_FUNCTIONS)
                # Those that dataclasses make have no file.
                is_ours = str(getattr(function, "__module__", "")).startswith("contact_viewer.")
                if is_called and is_ours and inspect.isfunction(function) and function.__code__.co_filename[0] != "<":
                    yield f"{name}.{method}", function


FUNCTIONS = dict(_public())


def _parameters(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def test_every_public_function_says_what_it_does() -> None:
    assert len(FUNCTIONS) > 60
    assert not [name for name, function in FUNCTIONS.items() if not inspect.getdoc(function) and "__" not in name]


@pytest.mark.parametrize("name", [name for name, each in FUNCTIONS.items() if len(_parameters(each)) > 3])
def test_many_parameters_are_explained_one_by_one(name: str) -> None:
    function = FUNCTIONS[name]
    text = inspect.getdoc(function) or ""
    _, _, rest = text.partition("\nArgs:\n")
    arguments = rest.partition("\n\n")[0].splitlines()
    explained = [line.partition(":")[0].strip() for line in arguments if line[4:5] != " "]
    assert explained == _parameters(function)
    signature = inspect.signature(function)
    returns = signature.return_annotation not in (None, "None") and not name.endswith("__init__")
    assert ("\nReturns:\n" in text) is returns
    assert ("\nRaises:\n" in text) is (name not in NEVER_RAISE)
