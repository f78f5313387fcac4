"""Touch sensors against the reference's tables, hand-worked numbers, and MuJoCo standing on its feet."""

import itertools
import math
from dataclasses import replace
from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np
import pytest
from contact_viewer.sensors.touch import (
    DEFAULT_TABLE,
    Measure,
    TouchDeclaration,
    TouchSensor,
    TouchType,
    parse_touch,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

TYPES = ("bumper", "force", "force-3d")
X_DOWN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""Columns are the sensor's axes: x to the ground, y left, z ahead, as under a foot."""
UP = np.array([0.0, 0.0, 1.0])


def sensor(type: str, **settings: object) -> TouchSensor:
    """A sensor that samples every millisecond."""
    return TouchSensor(type=type, **{"sampling_period": 1, **settings})  # type: ignore[arg-type]


def sample(
    device: TouchSensor, force: ArrayLike, rotation: ArrayLike = X_DOWN, found: float = 1
) -> NDArray[np.float64]:
    """What the device reports of one state, as an array of one or three values."""
    device.enable(1)
    for time in (0.0, 0.001):
        device.update(time, force=force, rotation=rotation, found=found)
    return read(device)


def read(device: TouchSensor) -> NDArray[np.float64]:
    is_vector = device.get_type() is TouchType.FORCE3D
    return np.asarray(device.get_values() if is_vector else [device.get_value()], np.float64)


# The reference's table of types, row by row.


@pytest.mark.parametrize("type", TYPES)
def test_types_bounding_object_is_required(type: str) -> None:
    reports = [
        settle(ROBOT.format(collide=collide, xyaxes=DOWN, height=0.02), sensor(type), until=0.1) for collide in (0, 1)
    ]
    assert [report.any() for report in reports] == [False, True]


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


# Force.

WEIGHT = 5 * 9.81 * UP


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
    with pytest.raises(ValueError, match=r"rotation \(3, 3\), not \(3,\) and \(9,\)"):
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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"type": "forcé"}, "unknown type 'forcé': choose from bumper, force, force-3d"),
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


# Sampling.


def changes(device: TouchSensor, times: ArrayLike) -> list[tuple[float, float]]:
    """Times of updates and of the samples then held, wherever the value changes: the force is the time."""
    held, seen = math.nan, []
    for time in np.asarray(times, np.float64):
        device.update(time, force=time * UP, rotation=X_DOWN, found=1)
        value = device.get_value()
        if value != held and not (math.isnan(value) and math.isnan(held)):
            seen.append((float(time), value))
        held = value
    return seen


def accumulate(step: float, count: int) -> list[float]:
    """Times as engines make them, by adding up steps."""
    return list(itertools.accumulate(itertools.repeat(step, count - 1), initial=0.0))


def test_samples_at_multiples_of_the_period() -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=10)
    seen = changes(device, accumulate(0.002, 100_001))
    assert [round(time * 1000) for time, _ in seen] == list(range(10, 200_001, 10))
    assert all(value == pytest.approx(time) for time, value in seen)


def test_no_value_before_the_first_period() -> None:
    for type in TYPES:
        device = TouchSensor(type=type, sampling_period=10)
        assert np.isnan(read(device)).all()
        for time in (0.0, 0.002, 0.004, 0.006, 0.008, 0.0099):
            device.update(time, force=UP, rotation=X_DOWN, found=1)
            assert np.isnan(read(device)).all()
        device.update(0.01, force=UP, rotation=X_DOWN, found=1)
        assert np.isfinite(read(device)).all()


def test_period_counts_from_the_first_update_after_enable() -> None:
    device = TouchSensor(type="force", lookup_table=[])
    device.update(0.5, force=UP, rotation=X_DOWN, found=1)
    device.enable(10)
    assert [time for time, _ in changes(device, 1.001 + 0.001 * np.arange(25))] == pytest.approx([1.011, 1.021])
    device.enable(20)
    assert math.isnan(device.get_value())
    assert [time for time, _ in changes(device, 1.026 + 0.001 * np.arange(25))] == pytest.approx([1.046])


def test_period_between_steps_is_kept_on_average() -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=5)
    seen = [round(time * 1000) for time, _ in changes(device, accumulate(0.002, 1001))]
    assert seen[:4] == [6, 10, 16, 20]
    assert len(seen) == 400


@given(
    period=st.floats(0.5, 50),
    step=st.floats(0.1, 5),
    start=st.floats(0, 1e4),
    count=st.integers(2, 300),
)
def test_sampling_of_any_period(period: float, step: float, start: float, count: int) -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=period)
    times = start + 0.001 * step * np.arange(1, count)
    seen = changes(device, times)
    elapsed = (count - 2) * step
    expected = elapsed / period if period > step else count - 2
    assert abs(len(seen) - expected) <= 1
    for k, (time, _) in enumerate(seen, start=1):
        assert (time - times[0]) * 1000 >= k * min(period, step) - 0.02 * step


def test_steps_longer_than_the_period_are_all_sampled() -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=1)
    times = [0.0, 1.0, 2.0, 2.002, 2.004, 2.006]
    assert [time for time, _ in changes(device, times)] == times[1:]


def test_time_going_backwards_restarts() -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=10)
    changes(device, accumulate(0.002, 200))
    assert math.isfinite(device.get_value())
    device.update(0.0, force=UP, rotation=X_DOWN, found=1)
    assert math.isnan(device.get_value())
    assert [time for time, _ in changes(device, accumulate(0.002, 11))] == pytest.approx([0.01, 0.02])


def test_a_paused_clock_changes_nothing() -> None:
    device = TouchSensor(type="force", lookup_table=[], sampling_period=10)
    changes(device, accumulate(0.002, 6))
    for _ in range(20):
        device.update(0.01, force=7 * UP, rotation=X_DOWN, found=1)
    assert device.get_value() == pytest.approx(0.01)


def test_enable_and_disable() -> None:
    device = TouchSensor(type="force", lookup_table=[])
    assert device.get_sampling_period() == 0
    device.enable(32)
    assert device.get_sampling_period() == 32
    changes(device, accumulate(0.002, 50))
    assert math.isfinite(device.get_value())
    device.disable()
    assert device.get_sampling_period() == 0
    assert math.isnan(device.get_value())
    with pytest.raises(ValueError, match=r"greater than 0 ms; disable\(\)"):
        device.enable(0)


def test_a_disabled_sensor_looks_at_nothing() -> None:
    class Untouchable:
        def __array__(self, *_: object, **__: object) -> NDArray[np.float64]:
            raise AssertionError("a disabled sensor read its input")

    device = TouchSensor(type="force-3d")
    for time in (0.0, 1.0, math.nan):
        device.update(time, force=Untouchable(), rotation=Untouchable(), found=1)
    device.enable(10)
    device.update(0.0, force=Untouchable(), rotation=Untouchable(), found=1)
    with pytest.raises(AssertionError, match="read its input"):
        device.update(0.01, force=Untouchable(), rotation=Untouchable(), found=1)


def test_broken_physics_shows_as_nan() -> None:
    assert np.isnan(sample(sensor("force"), [math.nan] * 3)).all()
    assert np.isnan(sample(sensor("force-3d", resolution=1), [math.nan] * 3)).all()
    with pytest.raises(ValueError, match="time must be a finite number"):
        sensor("force").update(math.nan, force=UP, rotation=X_DOWN, found=1)


# Declarations in MJCF.


def test_declaration_of_every_key() -> None:
    text = """site="the sole" type=force-3d table='0 0 0, 500 5e3 .01' resolution=5
              period=2.5 measure=mount seed=7"""
    assert parse_touch("foot", text) == TouchDeclaration(
        "foot",
        type=TouchType.FORCE3D,
        site="the sole",
        lookup_table=((0, 0, 0), (500, 5000, 0.01)),
        resolution=5,
        sampling_period=2.5,
        measure=Measure.MOUNT,
        seed=7,
    )


def test_declaration_defaults() -> None:
    declaration = parse_touch("nose", "body=head")
    assert declaration == TouchDeclaration("nose", body="head", sampling_period=10)
    assert declaration.to_text() == "type=bumper body=head"
    assert parse_touch("nose", "body=head table=''").lookup_table == ()


def test_declaration_text_is_readable() -> None:
    declaration = TouchDeclaration(
        "foot", TouchType.FORCE, site="sole", lookup_table=((0, 0, 0), (500, 5000, 0.01)), sampling_period=20
    )
    assert declaration.to_text() == "type=force site=sole table='0 0 0, 500 5000 0.01' period=20"


def test_declaration_builds_the_device() -> None:
    device = parse_touch("foot", "type=force site=sole table='' resolution=5 period=1 measure=mount seed=4").build()
    assert (device.name, device.measure, device.seed) == ("foot", "mount", 4)
    assert device.get_sampling_period() == 1
    assert sample(device, WEIGHT).tolist() == [50]
    assert parse_touch("foot", "site=sole period=0").build().get_sampling_period() == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs either a site or a body"),
        ("type=force", "needs either a site or a body"),
        ("site=a body=b", "needs either a site or a body"),
        ("site=", "needs either a site or a body"),
        ("site=a type=Force", "unknown type 'Force': choose from bumper, force, force-3d"),
        ("site=a measure=x", "unknown measure 'x': choose from contact, mount"),
        ("site=a tabel=''", "unknown key 'tabel': choose from type, site, body, table, resolution, "),
        ("site=a site=b", "site is given twice"),
        ("site a", "expected key=value, not 'site'"),
        ("site='a", "a quote is not closed"),
        ("site=a table='0 0'", "row 1 must be three numbers: force, output, noise level; not 2"),
        ("site=a table='0 0 0,'", "row 2 must be three numbers"),
        ("site=a table='0 0 zero'", "table: expected a number, not 'zero'"),
        ("site=a table='0 0 0, 0 1 0'", "row 2 must have a larger force"),
        ("site=a table='0 0 nan'", "row 1: expected a finite number, not nan"),
        ("site=a period=fast", "period: expected a number, not 'fast'"),
        ("site=a period=-3", "sampling_period must be 0 or at least"),
        ("site=a resolution=0", "resolution must be -1"),
        ("site=a seed=1.5", "seed must be a whole number of at least 0, not 1.5"),
        ("site=a seed=-1", "seed must be a whole number of at least 0, not -1"),
    ],
)
def test_wrong_declarations_say_what_is_wrong_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^touch:foot: ") as error:
        parse_touch("foot", text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_declarations_are_checked_whoever_makes_them() -> None:
    declaration = TouchDeclaration("foot", site="sole", lookup_table=[[0, 0, 0], [5, 5, 0]])  # type: ignore[arg-type]
    assert declaration.lookup_table == ((0, 0, 0), (5, 5, 0))
    with pytest.raises(ValueError, match="resolution"):
        replace(declaration, resolution=0)
    with pytest.raises(ValueError, match="needs a name"):
        replace(declaration, name="")


NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)
NAMES = st.text(st.characters(blacklist_categories=["Cc", "Cs"]), min_size=1)


@given(
    name=NAMES,
    target=NAMES,
    is_site=st.booleans(),
    type=st.sampled_from(TouchType),
    inputs=st.lists(NUMBERS, unique=True, max_size=5),
    data=st.data(),
    resolution=st.just(-1.0) | st.floats(1e-9, 1e9),
    period=st.just(0.0) | st.floats(1e-3, 1e6),
    measure=st.sampled_from(Measure),
    seed=st.integers(0, 2**70),
)
def test_declarations_survive_text_and_mjcf(
    name: str,
    target: str,
    is_site: bool,
    type: TouchType,
    inputs: list[float],
    data: st.DataObject,
    resolution: float,
    period: float,
    measure: Measure,
    seed: int,
) -> None:
    rows = tuple((force, data.draw(NUMBERS), data.draw(st.floats(0, 1))) for force in sorted(inputs))
    site, body = (target, None) if is_site else (None, target)
    declaration = TouchDeclaration(name, type, site, body, rows, resolution, period, measure, seed)
    assert parse_touch(name, declaration.to_text()) == declaration
    entry = f"<mujoco><custom><text name='t' data={quoteattr(declaration.to_text())}/></custom></mujoco>"
    model = mujoco.MjModel.from_xml_string(entry)
    text = bytes(model.text_data).rstrip(b"\0").decode()
    assert parse_touch(name, text) == declaration


# MuJoCo.

ROBOT = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body pos="0 0 {height}">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1" pos="0 0 0.12" mass="4" contype="0" conaffinity="0"/>
      <body name="sensor">
        <geom type="box" size="0.1 0.1 0.02" mass="1" contype="{collide}" conaffinity="0"/>
        <site name="sensor" xyaxes="{xyaxes}"/>
      </body>
    </body>
  </worldbody>
  <sensor>
    <contact body2="sensor" data="found force" reduce="netforce"/>
    <force site="sensor"/>
  </sensor>
</mujoco>
"""
BOXES = ROBOT.replace('mass="4"', 'mass="100"').replace('mass="1"', 'mass="100"')


def settle(xml: str, device: TouchSensor, until: float = 3.0) -> NDArray[np.float64]:
    """Run a scene up to `until` [s], feeding the device after every step; what it reports at the end.

    MuJoCo's force sensor reports what the parent does to the sensor: the opposite of what is passed on.
    """
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    while data.time < until:
        mujoco.mj_step(model, data)
        rotation = data.site("sensor").xmat.reshape(3, 3)
        found, force = data.sensordata[0], data.sensordata[1:4]
        if device.measure is Measure.MOUNT:
            force = -rotation @ data.sensordata[4:7]
        device.update(data.time, force=force, rotation=rotation, found=found)
    return read(device)


DOWN, SLANTED, ALOFT = "0 0 -1 0 1 0", f"{math.sqrt(3) / 2} 0 -0.5 0 1 0", "0 0 1 0 1 0"
EMPTY: dict[str, object] = {"lookup_table": []}


@pytest.mark.parametrize(
    ("type", "settings", "xyaxes", "expected"),
    [
        ("bumper", {}, DOWN, [1]),
        ("force", {}, DOWN, [490.5]),
        ("force", EMPTY, DOWN, [49.05]),
        ("force", {**EMPTY, "resolution": 5}, DOWN, [50]),
        ("force", EMPTY, SLANTED, [49.05 / 2]),
        ("force", EMPTY, ALOFT, [0]),
        ("force-3d", EMPTY, DOWN, [-49.05, 0, 0]),
        ("force", {**EMPTY, "measure": "mount"}, DOWN, [39.24]),
        ("force-3d", {**EMPTY, "measure": "mount"}, DOWN, [-39.24, 0, 0]),
    ],
)
def test_mujoco_robot_on_one_foot(type: str, settings: dict[str, object], xyaxes: str, expected: list[float]) -> None:
    report = settle(ROBOT.format(collide="1", xyaxes=xyaxes, height=0.02), sensor(type, **settings))
    assert report == pytest.approx(expected, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(("measure", "expected"), [("mount", 981), ("contact", 1962)])
def test_mujoco_two_boxes(measure: str, expected: float) -> None:
    xml = BOXES.format(collide="1", xyaxes=DOWN, height=0.5)
    assert settle(xml, sensor("force", lookup_table=[], measure=measure), until=0.2) == pytest.approx([0], abs=1e-6)
    assert settle(xml, sensor("force", lookup_table=[], measure=measure)) == pytest.approx([expected], abs=1)


def test_mujoco_samples_every_10_ms() -> None:
    model = mujoco.MjModel.from_xml_string(ROBOT.format(collide="1", xyaxes=DOWN, height=0.02))
    data = mujoco.MjData(model)
    times = [data.time]
    for _ in range(2500):
        mujoco.mj_step(model, data)
        times.append(data.time)
    device = TouchSensor(type="force", lookup_table=[], sampling_period=10)
    assert [time for time, _ in changes(device, times)] == pytest.approx(0.01 * np.arange(1, 501))
