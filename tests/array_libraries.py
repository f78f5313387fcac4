"""The libraries whose arrays are decoded: one suite of tests for all.

`make test` runs it for numpy, array-api-strict and JAX, `make test-torch` for torch: ARRAY_LIBRARIES names them.
"""

import importlib
import os
from typing import Any

import numpy as np
import pytest

NAMES = os.environ.get("ARRAY_LIBRARIES", "numpy array_api_strict jax").split()
# JAX compiles everything; the tests need no fast code.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
TOLERANCES = {"float64": 1e-12, "float32": 2e-6, "bfloat16": 2e-2}
"""A few times the precision of each type."""


class Library:
    """Makes arrays of a library, and numpy's of them."""

    def __init__(self, name: str) -> None:
        self.name = name

    def load(self) -> Any:
        if os.environ.get("CI") != "true":
            pytest.importorskip(self.name)
        module = importlib.import_module(self.name)
        if self.name == "jax":
            module.config.update("jax_enable_x64", True)
        return module

    @property
    def dtypes(self) -> list[str]:
        return [*list(TOLERANCES)[:2], *(["bfloat16"] if self.name in ("jax", "torch") else [])]

    def run(self, function: Any, *arrays: Any) -> Any:
        """What a function makes of arrays; compiled in JAX, where that is the quicker way."""
        return self.load().jit(function)(*arrays) if self.name == "jax" else function(*arrays)

    def array(self, values: Any, dtype: str = "float64") -> Any:
        module, values = self.load(), np.asarray(values)
        if self.name == "torch":
            return module.tensor(values, dtype=getattr(module, dtype))
        names = module.numpy if self.name == "jax" else module
        if self.name == "array_api_strict":
            # Made of numpy's values, or of their bits.
            return names.asarray(values.astype(dtype))
        return names.asarray(values, dtype=getattr(names, dtype))

    def numpy(self, array: Any) -> np.ndarray:
        """Values as numpy's; of another type only where numpy has none."""
        self.check(array)
        if "bfloat16" in str(array.dtype):
            array = array.float() if self.name == "torch" else array.astype("float32")
        return array.detach().numpy() if self.name == "torch" else np.asarray(array)

    def check(self, array: Any, dtype: str | None = None) -> None:
        """The array is still of this library, and of that type."""
        module = type(array).__module__
        assert module.startswith("numpy" if self.name == "numpy" else self.name), type(array)
        assert dtype is None or str(array.dtype).split(".")[-1] == dtype

    def __str__(self) -> str:
        return self.name


LIBRARIES = [Library(name) for name in NAMES]
each_library = pytest.mark.parametrize("library", LIBRARIES, ids=str)
each_type = pytest.mark.parametrize(
    ("library", "dtype"),
    [(library, dtype) for library in LIBRARIES for dtype in library.dtypes],
    ids=lambda value: str(value),
)


def assert_close(
    library: Library, array: Any, expected: Any, dtype: str = "float64", scale: float | None = None
) -> None:
    """Equal to numpy's values to the precision of the type, relative to the largest value."""
    library.check(array)
    expected = np.asarray(expected)
    largest = scale or max(1.0, np.nanmax(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(library.numpy(array), expected, rtol=0, atol=TOLERANCES[dtype] * largest)
