"""Touch sensors against the reference's tables and hand-worked numbers."""

import math

import numpy as np
import pytest
from contact_viewer.touch.device import DEFAULT_TABLE, TouchSensor, TouchType
from numpy.typing import ArrayLike, NDArray

from .devices import UP, WEIGHT, X_DOWN, read, sample, sensor

# The reference's table of types, row by row.


@pytest.mark.parametrize(("type", "expected"), [("bumper", [1]), ("force", [0]), ("force-3d", [0, 0, 0])])
def test_types_physics_is_not_required_for_bumpers(type: str, expected: list[float]) -> None:
    assert sample(sensor(type), force=np.zeros(3), found=2).tolist() == expected


@pytest.mark.parametrize(("type", "is_used"), [("bumper", False), ("force", True), ("force-3d", True)])
def test_types_lookup_table(type: str, is_used: bool) -> None:
    tables: tuple[list[list[float]], ...] = ([], [[0, 0, 0], [1, 7, 0]], [[0, 3, 1], [1, 50, 1]])
    reports = {tuple(sample(sensor(type, lookup_table=table), UP)) for table in tables}
    assert len(reports) == (3 if is_used else 1)


def test_types_return_value() -> None:
    for found, expected in ((0, 0.0), (1, 1.0), (7, 1.0), (0.4, 1.0)):
        assert sample(sensor("bumper"), UP, found=found).tolist() == [expected]
    scalar, vector = sensor("force"), sensor("force-3d")
    sample(scalar, UP)
    sample(vector, UP)
    assert isinstance(scalar.get_value(), float)
    assert vector.get_values().shape == (3,)


@pytest.mark.parametrize(
    ("type", "right", "wrong"),
    [
        ("bumper", "get_value", "get_values"),
        ("force", "get_value", "get_values"),
        ("force-3d", "get_values", "get_value"),
    ],
)
def test_types_api_function(type: str, right: str, wrong: str) -> None:
    device = sensor(type)
    getattr(device, right)()
    with pytest.raises(TypeError, match=rf"{type} sensor .* call {right}\(\)"):
        getattr(device, wrong)()


@pytest.mark.parametrize(
    ("type", "constant"),
    [("bumper", TouchSensor.BUMPER), ("force", TouchSensor.FORCE), ("force-3d", TouchSensor.FORCE3D)],
)
def test_get_type(type: str, constant: TouchType) -> None:
    assert TouchSensor(type=type).get_type() is constant
    assert len({TouchSensor.BUMPER, TouchSensor.FORCE, TouchSensor.FORCE3D}) == 3


def test_defaults_are_the_reference_s() -> None:
    device = TouchSensor()
    assert device.get_type() is TouchSensor.BUMPER
    assert device.get_lookup_table().tolist() == [[0, 0, 0], [5000, 50000, 0]]
    assert device.get_lookup_table_size() == 2
    assert device.resolution == -1
    assert device.measure == "contact"
    assert device.get_sampling_period() == 0
    assert TouchSensor(lookup_table=[]).get_lookup_table().shape == (0, 3)
    assert TouchSensor(lookup_table=[]).get_lookup_table_size() == 0


def test_a_controller_written_for_webots_finds_its_names() -> None:
    force, vector = sensor("force", lookup_table=[[0, 0, 0], [100, 1000, 0.5]]), sensor("force-3d", lookup_table=[])
    assert math.isnan(force.getValue())
    assert all(map(math.isnan, vector.getValues()))
    sample(force, WEIGHT)
    sample(vector, WEIGHT)
    assert force.getValue() == force.get_value()
    assert vector.getValues() == vector.get_values().tolist() == pytest.approx([-49.05, 0, 0])
    assert force.getType() is TouchSensor.FORCE
    assert vector.getType() is TouchSensor.FORCE3D
    assert TouchSensor().getType() is TouchSensor.BUMPER
    assert force.getLookupTable() == [0, 0, 0, 100, 1000, 0.5]
    assert (force.getLookupTableSize(), vector.getLookupTableSize(), vector.getLookupTable()) == (2, 0, [])
    force.enable(32)
    assert force.getSamplingPeriod() == 32
    force.disable()
    assert force.getSamplingPeriod() == 0


# Force.


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, 490.5),
        ({"lookup_table": []}, 49.05),
        ({"lookup_table": [], "resolution": 5}, 50),
        ({"resolution": 100}, 500),
    ],
)
def test_force_of_a_standing_robot(settings: dict[str, object], expected: float) -> None:
    assert sample(sensor("force", **settings), WEIGHT) == pytest.approx([expected])


def test_force_3d_of_a_standing_robot() -> None:
    assert sample(sensor("force-3d", lookup_table=[]), WEIGHT) == pytest.approx([-49.05, 0, 0])
    assert sample(sensor("force-3d"), WEIGHT) == pytest.approx([-490.5, 0, 0])
    assert sample(sensor("force-3d", lookup_table=[], resolution=5), WEIGHT).tolist() == [-50, 0, 0]


@pytest.mark.parametrize(("degrees", "expected"), [(0, 100), (60, 50), (90, 0), (120, 0), (180, 0)])
@pytest.mark.parametrize("around", [0.0, 1.0, 4.0])
def test_force_by_angle_to_x(degrees: float, around: float, expected: float) -> None:
    angle = math.radians(degrees)
    push = -100 * np.array([math.cos(angle), math.sin(angle) * math.cos(around), math.sin(angle) * math.sin(around)])
    assert sample(sensor("force", lookup_table=[]), push, np.eye(3)) == pytest.approx([expected], abs=1e-12)


def test_force_3d_keeps_length_and_axes() -> None:
    force = np.array([3.0, -4.0, 12.0])
    report = sample(sensor("force-3d", lookup_table=[]), force)
    assert report.tolist() == [-12, -4, 3]
    assert np.linalg.norm(report) == pytest.approx(13)


@pytest.mark.parametrize("settings", [{}, {"lookup_table": []}, {"resolution": 5}])
def test_nothing_is_reported_as_negative_zero(settings: dict[str, object]) -> None:
    for type in ("force", "force-3d"):
        assert not np.signbit(sample(sensor(type, **settings), [0.0, -0.0, -0.0], np.eye(3))).any()
    assert not np.signbit(sample(sensor("force-3d", resolution=5), [-0.1, 0, 0], np.eye(3))).any()


def test_ideal_force_is_before_the_device() -> None:
    device = sensor("force", resolution=1000)
    assert device.project(WEIGHT, X_DOWN) == pytest.approx(49.05)
    with pytest.raises(ValueError, match=r"rotation \(\.\.\., 3, 3\), not \(3,\) and \(9,\)"):
        device.project(WEIGHT, np.eye(3).ravel())


# Lookup table and resolution.

CURVE = [[10, 100, 0], [20, 300, 0], [40, 200, 0]]


@pytest.mark.parametrize(
    ("newtons", "expected"),
    [(0, 100), (9.9, 100), (10, 100), (15, 200), (20, 300), (30, 250), (40, 200), (41, 200), (1e9, 200)],
)
def test_table_is_linear_between_rows_and_saturates_outside(newtons: float, expected: float) -> None:
    assert sample(sensor("force", lookup_table=CURVE), newtons * UP) == pytest.approx([expected])
    backward = sample(sensor("force-3d", lookup_table=CURVE), -newtons * UP - 15 * np.eye(3)[1])
    assert backward == pytest.approx([expected, -200, 100])


def test_default_table_saturates_at_5000_newtons() -> None:
    assert sample(sensor("force"), 6000 * UP).tolist() == [50000]
    assert sample(sensor("force-3d"), 6000 * UP).tolist() == [-50000, 0, 0]


@pytest.mark.parametrize("newtons", [0, 7, 1e6])
def test_table_with_one_row_is_constant(newtons: float) -> None:
    assert sample(sensor("force", lookup_table=[[7, 42, 0]]), newtons * UP).tolist() == [42]


def test_table_with_negative_forces_is_not_mirrored() -> None:
    one_sided = [[-10, -5, 0], [0, 0, 0], [100, 1000, 0]]
    assert sample(sensor("force-3d", lookup_table=one_sided), [0, 50, 50]).tolist() == [-5, 500, 0]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0, 0]], "row 1 must be three numbers.* not 2"),
        ([[0, 0, 0, 0]], "row 1 must be three numbers.* not 4"),
        ([[]], "row 1 must be three numbers.* not 0"),
        ([0, 0, 0], "row 1 must be a sequence"),
        ("0 0 0", "must be a sequence"),
        (None, "must be a sequence"),
        ([[0, 0, 0], [0, 1, 0]], "row 2 must have a larger force"),
        ([[0, 0, 0], [5, 1, 0], [4, 2, 0]], "row 3 must have a larger force"),
        ([[0, 0, 0], [5, 1, 1.01]], "row 2 must have a noise level from 0 to 1, not 1.01"),
        ([[0, 0, -0.1]], "noise level from 0 to 1, not -0.1"),
        ([[0, "1", 0]], "row 1: expected a finite number, not '1'"),
        ([[0, None, 0]], "row 1: expected a finite number, not None"),
        ([[0, True, 0]], "row 1: expected a finite number, not True"),
        ([[0, math.nan, 0]], "row 1: expected a finite number, not nan"),
        ([[0, 0, 0], [math.inf, 0, 0]], "row 2: expected a finite number, not inf"),
        ([[0, 10**400, 0]], "row 1: expected a finite number"),
        (["abc"], "row 1 must be a sequence"),
    ],
)
def test_wrong_tables_are_refused(table: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sensor("force", lookup_table=table)


def test_an_unknown_type_is_a_bumper_with_a_warning_as_in_webots() -> None:
    with pytest.warns(
        UserWarning, match="unknown type 'forcé': choose from bumper, force, force-3d; taken as a"
    ) as seen:
        device = TouchSensor("forcé")
    assert device.get_type() is TouchSensor.BUMPER
    assert seen[0].filename == __file__


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"measure": "weight"}, "unknown measure 'weight': choose from contact, mount"),
        ({"resolution": 0}, "resolution must be -1 .* or greater than 0, not 0"),
        ({"resolution": -2}, "resolution must be -1 .* or greater than 0, not -2"),
        ({"resolution": math.inf}, "resolution: expected a finite number"),
        ({"sampling_period": -1}, "sampling_period must be 0 or at least 1e-06 ms, not -1"),
        ({"sampling_period": 1e-320}, "sampling_period must be 0 or at least"),
        ({"sampling_period": "10"}, "sampling_period: expected a finite number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 1.5}, "seed must be a whole number"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sensor(**{"type": "force", **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("newtons", "resolution", "expected"),
    [(2.4, 5, 0), (2.5, 5, 5), (7.4, 5, 5), (7.5, 5, 10), (0.37, 0.25, 0.25), (1e300, 1e-300, 1e300)],
)
def test_resolution_rounds_to_the_nearest_step(newtons: float, resolution: float, expected: float) -> None:
    device = sensor("force-3d", lookup_table=[], resolution=resolution)
    assert sample(device, [-newtons, newtons, 0], np.eye(3)).tolist() == [-expected, expected, 0]


def test_edits_show_without_a_new_sample() -> None:
    device = sensor("force", lookup_table=[])
    sample(device, WEIGHT)
    device.lookup_table = DEFAULT_TABLE
    assert device.get_value() == pytest.approx(490.5)
    device.resolution = 100
    assert device.get_value() == pytest.approx(500)
    with pytest.raises(ValueError, match="larger force"):
        device.lookup_table = ((1, 0, 0), (0, 0, 0))
    assert device.get_value() == pytest.approx(500)
    table = device.get_lookup_table()
    table[:] = 0
    assert device.get_value() == pytest.approx(500)


@pytest.mark.parametrize("type", ["bumper", "force", "force-3d"])
def test_held_samples_can_be_read_again_with_other_settings(type: str) -> None:
    device = sensor(type, lookup_table=[[0, 0, 0.5], [100, 1000, 0.5]], resolution=7)
    assert np.isnan(device.values).all()
    kept = []
    for time in range(5):
        device.update(time, force=[3, 5 * time, 10 + time], rotation=X_DOWN, found=time)
        kept.append((read(device), device.save()))
    reports, states = (np.array(column) for column in zip(*kept, strict=True))
    assert np.array_equal(device.respond_to(states), reports, equal_nan=True)
    assert np.array_equal(device.values, read(device))
    device.lookup_table, device.resolution = (), -1
    if type == "force":
        assert device.respond_to(states)[1:, 0] == pytest.approx([11, 12, 13, 14])


def test_a_sample_of_another_sensor_is_held() -> None:
    device = sensor("force", lookup_table=[[0, 0, 1], [10, 100, 1]])
    device.hold(2.5)
    assert device.get_value() == 25
    # Noise is that of its own samples, and goes with them.
    run(device, 3)
    assert device.get_value() != 100
    device.hold(2.5)
    assert device.get_value() == 25
    device.disable()
    device.hold(2.5)
    assert math.isnan(device.get_value())


# Noise.


def run(device: TouchSensor, count: int, force: ArrayLike = 50 * UP) -> NDArray[np.float64]:
    """Reports of `count` samples of a constant force, (count, 1 or 3)."""
    device.update(0.0, force=force, rotation=X_DOWN, found=1)
    reports = []
    for i in range(1, count + 1):
        device.update(i / 1000, force=force, rotation=X_DOWN, found=1)
        reports.append(read(device))
    return np.array(reports)


@pytest.mark.parametrize(
    ("table", "mean", "deviation"),
    [
        ([[0, 0, 0.1], [100, 1000, 0.1]], 500, 50),
        ([[0, 100, 0], [100, 100, 0.2]], 100, 10),
        ([[0, 0, 0], [10, 30, 1]], 30, 30),
        ([[60, 200, 0.5], [70, 200, 0]], 200, 100),
        ([[0, 0, 0], [100, -400, 0.1]], -200, 10),
    ],
)
def test_noise_is_a_fraction_of_the_output(table: list[list[float]], mean: float, deviation: float) -> None:
    reports = run(sensor("force", lookup_table=table, seed=3), 10_000)
    assert reports.std() == pytest.approx(deviation, rel=0.05)
    assert reports.mean() == pytest.approx(mean, abs=4 * deviation / 100)


def test_noise_of_components_is_independent() -> None:
    device = sensor("force-3d", lookup_table=[[0, 0, 0.1], [100, 1000, 0.1]])
    reports = run(device, 10_000, force=[50, -20, 10])
    assert reports.std(axis=0) == pytest.approx([10, 20, 50], rel=0.05)
    assert reports.mean(axis=0) == pytest.approx([-100, -200, 500], rel=0.01)
    assert np.abs(np.corrcoef(reports.T) - np.eye(3)).max() < 0.05


NOISY = [[0, 0, 0.1], [100, 1000, 0.1]]


def test_noise_is_reproducible() -> None:
    first = run(sensor("force", lookup_table=NOISY, seed=1), 50)
    assert np.unique(first).size == 50
    assert np.array_equal(first, run(sensor("force", lookup_table=NOISY, seed=1), 50))
    assert not np.isin(run(sensor("force", lookup_table=NOISY, seed=2), 50), first).any()
    assert not np.isin(run(sensor("force", lookup_table=NOISY, seed=1, name="left"), 50), first).any()


def test_noise_repeats_after_a_reset() -> None:
    device = sensor("force", lookup_table=NOISY)
    assert np.array_equal(run(device, 20), run(device, 20))


def test_level_0_adds_no_noise() -> None:
    assert set(run(sensor("force"), 100).flat) == {500.0}
    # 0 at 50 N, though the rows around it are noisy
    assert set(run(sensor("force", lookup_table=[[0, 5, 1], [50, 9, 0], [60, 7, 1]]), 100).flat) == {9.0}


def test_reading_twice_gives_the_same_value() -> None:
    device = sensor("force", lookup_table=NOISY)
    run(device, 3)
    assert device.get_value() == device.get_value()
