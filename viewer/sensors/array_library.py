"""Finds the functions of the library that an array belongs to: numpy, torch, JAX, or any of the array API standard.

Only numpy is imported here: a program that passes a tensor has imported its library.
"""

import sys
from collections.abc import Callable
from dataclasses import fields
from types import SimpleNamespace
from typing import Any, Generic, TypeVar, overload

import numpy as np

_NUMPY_TYPES = (np.ndarray, np.generic)

# numpy has the standard's names from 2.1 on only.
NUMPY = SimpleNamespace(
    abs=np.abs,
    any=np.any,
    astype=lambda array, dtype: array.astype(dtype, copy=False),
    concat=np.concatenate,
    cumulative_sum=np.cumsum,
    floor=np.floor,
    int32=np.int32,
    isfinite=np.isfinite,
    isnan=np.isnan,
    max=np.max,
    ones_like=np.ones_like,
    reshape=np.reshape,
    sqrt=np.sqrt,
    stack=np.stack,
    sum=np.sum,
    where=np.where,
    zeros=np.zeros,
    zeros_like=np.zeros_like,
)


def is_numpy(array: Any) -> bool:
    """Return True for arrays and single values of numpy."""
    return isinstance(array, _NUMPY_TYPES)


def is_torch(array: Any) -> bool:
    """Return True for a tensor of torch, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def is_array(value: Any) -> bool:
    """Return True for an array of any library, False for numbers and lists."""
    return is_numpy(value) or is_torch(value) or hasattr(value, "__array_namespace__")


def namespace(array: Any) -> Any:
    """Return the functions of an array's library, named as in the array API standard."""
    if is_numpy(array):
        return NUMPY
    if is_torch(array):
        from . import torch_names

        return torch_names
    return array.__array_namespace__()


def is_real(array: Any) -> bool:
    """Return True for floating-point numbers, bfloat16 included."""
    if is_numpy(array):
        return array.dtype.kind == "f" or array.dtype.name == "bfloat16"
    return bool(namespace(array).isdtype(array.dtype, "real floating"))


def as_real(array: Any) -> Any:
    """Return an array of real numbers as it is, numbers and lists of numbers as numpy's; TypeError for anything
    else."""
    if not is_array(array):
        array = np.asarray(array)
        if array.dtype.kind in "iub":
            # Whole numbers in a list are as good as others.
            array = array.astype(np.float64)
    if not is_real(array):
        raise TypeError(f"a contact array holds real numbers, not {array.dtype}")
    return array


def as_array_like(values: Any, like: Any) -> Any:
    """Return numbers, or an array, as an array of the library, type and device of another one."""
    if is_numpy(like):
        return np.asarray(values, like.dtype)
    xp = namespace(like)
    if is_numpy(values):
        # The standard takes numbers and lists of them.
        values = values.tolist()
    elif is_array(values):
        return xp.astype(values, like.dtype)
    return xp.asarray(values, dtype=like.dtype, **_beside(like))


def as_default_float(number: float, beside: Any) -> Any:
    """Return a number as an array, (), of the library, device and type of another one."""
    if is_numpy(beside):
        return np.asarray(number, np.float64)
    return namespace(beside).asarray(number, **_beside(beside))


def counting(count: int, like: Any) -> Any:
    """Return 0, 1, 2, ... as an array of the library, type and device of another one, (count,)."""
    if is_numpy(like):
        return np.arange(count, dtype=like.dtype)
    return namespace(like).arange(count, dtype=like.dtype, **_beside(like))


def zeros_beside(shape: tuple[int, ...], like: Any) -> Any:
    """Return zeros of the library, type and device of another array."""
    return namespace(like).zeros(shape, dtype=like.dtype, **({} if is_numpy(like) else _beside(like)))


def _beside(like: Any) -> dict[str, Any]:
    # What JAX makes goes where it is used; an array inside a transformation has no device.
    return {} if type(like).__module__.startswith("jax") else {"device": like.device}


def root(array: Any) -> Any:
    """Return square roots whose gradient at 0 is 0, not infinite: an empty slot must not spoil the gradient of the
    others."""
    if is_numpy(array):
        return np.sqrt(array)
    xp = namespace(array)
    zero = array == 0
    return xp.where(zero, xp.zeros_like(array), xp.sqrt(xp.where(zero, xp.ones_like(array), array)))


def components(vectors: Any) -> tuple[Any, Any, Any]:
    """Return x, y and z, (...) each, of vectors (..., 3)."""
    return vectors[..., 0], vectors[..., 1], vectors[..., 2]


T = TypeVar("T")


class kept_property(Generic[T]):
    """Property that is cached if its value is numpy's, and computed on each read otherwise.

    A value of torch or JAX can belong to a transformation, outside of which it must not be seen.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name = compute, compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: Any) -> "kept_property[T]": ...
    @overload
    def __get__(self, instance: object, owner: Any) -> T: ...
    def __get__(self, instance: object, owner: Any) -> "kept_property[T] | T":
        if instance is None:
            return self
        value = self._compute(instance)
        if is_numpy(value):
            instance.__dict__[self._name] = value
        return value


_trees: dict[type, tuple[str, ...]] = {}
_registered: list[str] = []
"""Libraries with which the dataclasses of `tree` are registered."""


def tree(*constants: str) -> Callable[[type[T]], type[T]]:
    """Return a decorator that lets a dataclass pass through JAX and torch: all fields but `constants` are arrays."""

    def add(kind: type[T]) -> type[T]:
        _trees[kind] = constants
        for library in _registered:
            _register(library, kind)
        return kind

    return add


def register_trees(array: Any) -> None:
    """Register the dataclasses of `tree` with the libraries that are loaded, before an array becomes part of one."""
    if "jax" in sys.modules and "jax" not in _registered:
        _registered.append("jax")
        for kind in _trees:
            _register("jax", kind)
    # torch.compile knows dataclasses by itself, and cannot compile this.
    if "torch" not in _registered and is_torch(array) and not sys.modules["torch"].compiler.is_compiling():
        _registered.append("torch")
        for kind in _trees:
            _register("torch", kind)


def _register(library: str, kind: Any) -> None:
    constants = list(_trees[kind])
    arrays = [field.name for field in fields(kind) if field.name not in constants]
    if library == "jax":
        sys.modules["jax"].tree_util.register_dataclass(kind, arrays, constants)
        return

    def flatten(value: Any) -> tuple[list[Any], Any]:
        # To torch, None is no tensor.
        there = [name for name in arrays if getattr(value, name) is not None]
        return [getattr(value, name) for name in there], (there, [getattr(value, name) for name in constants])

    def unflatten(values: Any, context: Any) -> Any:
        there, rest = context
        missing = {name: None for name in arrays if name not in there}
        return kind(**dict(zip(there, values, strict=True)), **missing, **dict(zip(constants, rest, strict=True)))

    sys.modules["torch"].utils._pytree.register_pytree_node(kind, flatten, unflatten)
