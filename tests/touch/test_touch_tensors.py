"""What a touch sensor makes of forces in arrays of any library: as of single ones in numpy, which other tests judge."""

from typing import Any

import numpy as np
import pytest
from contact_viewer import TouchSensor

from ..array_libraries import Library, assert_close, each_library, each_type

TABLES: list[list[list[float]]] = [
    [],
    [[0, 0, 0], [5000, 50000, 0]],
    [[0, 10, 0.1], [20, 300, 0.02], [40, 200, 0.3]],
    [[-50, -7, 0], [50, 7, 0.5]],
    [[3, 4, 0.1]],
]
SAMPLES = np.array([-1e4, -60, -20, -3, -0.0, 0, 0.1, 3, 19.9, 20, 37, 40, 1e4])
NOISE = np.linspace(-2, 2, len(SAMPLES))


@pytest.mark.parametrize("resolution", [-1, 5, 0.3])
@pytest.mark.parametrize("table", TABLES, ids=len)
@each_type
def test_table_noise_and_resolution(library: Library, dtype: str, table: list[list[float]], resolution: float) -> None:
    device = TouchSensor("force", lookup_table=table, resolution=resolution)
    samples, noise = library.array(SAMPLES, dtype), library.array(NOISE, dtype)
    expected = device.respond(*(library.numpy(array).astype(np.float64) for array in (samples, noise)))
    given = library.run(device.respond, samples, noise)
    library.check(given, dtype)
    if resolution > 0:
        # A value near the middle of two steps may go either way.
        error = np.abs(library.numpy(given) - expected)
        assert (error <= resolution + 0.02 * np.abs(expected)).all()
        assert dtype == "bfloat16" or (error > 1e-4 * np.maximum(1, np.abs(expected))).sum() <= 1
    else:
        assert_close(library, given, expected, dtype)


@each_library
def test_outside_and_unknown(library: Library) -> None:
    device = TouchSensor("force", lookup_table=TABLES[2], resolution=0.5)
    given = library.numpy(device.respond(library.array([np.nan, np.inf, -np.inf, 0.0])))
    np.testing.assert_array_equal(given, [np.nan, 200, -200, 10])
    assert not np.signbit(library.numpy(TouchSensor("force", lookup_table=[]).respond(library.array([-0.0])))).any()


@pytest.mark.parametrize("kind", ["force", "force-3d"])
@each_type
def test_projection_of_many(library: Library, dtype: str, kind: str) -> None:
    """Each environment's sensor stands in its own way."""
    rng = np.random.default_rng(4)
    forces, turns = rng.normal(size=(6, 3)), np.linalg.qr(rng.normal(size=(6, 3, 3)))[0]
    device: Any = TouchSensor(kind)
    expected = np.array([device.project(force, turn) for force, turn in zip(forces, turns, strict=True)])
    given = library.run(device.project, library.array(forces, dtype), library.array(turns, dtype))
    assert_close(library, given, expected, dtype)
    with pytest.raises(ValueError, match=r"not \(6, 3\) and \(6, 3\)"):
        device.project(library.array(forces, dtype), library.array(forces, dtype))
