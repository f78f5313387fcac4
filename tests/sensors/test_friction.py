"""Friction use, states and cones on a few numbers worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from contact_viewer.metrics import sliding
from contact_viewer.sensors.friction import (
    Cone,
    ContactState,
    FrictionCones,
    contact_states,
    friction_cones,
    friction_use,
    slip_speed,
)
from contact_viewer.sensors.layout import ContactLayout
from hypothesis import given
from hypothesis import strategies as st

from .cone_outline import cone_outline

LAYOUT = ContactLayout("found force torque dist pos normal tangent linvel", 3)
NAN = np.nan


@pytest.mark.parametrize(
    ("force", "friction", "cone", "use"),
    [
        ((10, 3, 4), (1, 1), Cone.ELLIPTIC, 0.5),
        ((10, 3, -4), (0.5, 0.5), Cone.ELLIPTIC, 1.0),
        ((10, 3, 4), (1, 1), Cone.PYRAMIDAL, 0.7),
        ((10, 0, -4), (1, 1), Cone.PYRAMIDAL, 0.4),
        ((10, 3, 4), (0.6, 1), Cone.ELLIPTIC, np.hypot(0.5, 0.4)),
        ((10, 0, 4), (0, 1), Cone.ELLIPTIC, 0.4),
        ((10, 0, 0), (0, 0), Cone.ELLIPTIC, NAN),
        ((0, 0, 0), (1, 1), Cone.ELLIPTIC, NAN),
        ((-1, 1, 0), (1, 1), Cone.ELLIPTIC, NAN),
    ],
)
def test_use_is_the_share_of_what_the_cone_allows(force, friction, cone, use) -> None:  # type: ignore[no-untyped-def]
    np.testing.assert_allclose(friction_use(np.array(force, float), friction, cone), use)


def test_adhesion_presses_too() -> None:
    use = friction_use(np.array([[-2.0, 3, 0], [10.0, 3, 0]]), (1, 1), Cone.ELLIPTIC, adhesion=np.array([8.0, 0.0]))
    np.testing.assert_allclose(use, [0.5, 0.3])


@pytest.mark.parametrize("missing", ["force", "torque", "pos", "normal", "tangent"])
def test_arrays_without_a_field_have_no_cones(missing: str) -> None:
    fields = [field for field in LAYOUT.fields if field != missing]
    layout = ContactLayout(fields, 3)
    friction = np.full((3, 5), 0.5)
    assert friction_cones(layout.decode(np.ones(layout.size)), friction, Cone.ELLIPTIC) is None
    assert friction_cones(LAYOUT.decode(np.ones(LAYOUT.size)), friction, Cone.ELLIPTIC) is not None


def test_torsion_and_rolling_share_the_cone() -> None:
    wrench = np.array([10.0, 3, 0, 0.2, 0, 0])
    assert friction_use(wrench, (0.5, 0.5, 0.025, 0, 0), Cone.ELLIPTIC) == pytest.approx(1.0)
    assert friction_use(wrench, (0.5, 0.5, 0, 0, 0), Cone.ELLIPTIC) == pytest.approx(0.6)


@given(
    force=st.tuples(st.floats(0.1, 1e3), st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)),
    friction=st.tuples(st.floats(0.01, 5), st.floats(0.01, 5)),
    cone=st.sampled_from(Cone),
)
def test_a_force_scaled_onto_the_cone_is_on_its_outline(force, friction, cone) -> None:  # type: ignore[no-untyped-def]
    use = float(friction_use(np.array(force), friction, cone))
    if use < 1e-6:
        return
    axes = np.eye(3)
    cones = FrictionCones(
        np.zeros((1, 3)), axes[:1], axes[1:2], np.array([friction]), cone, np.array([use]), np.array([1], np.int8)
    )
    outline = cone_outline(cones, 4096)[0]
    # The same normal force with the tangential part that is just allowed.
    limit = np.array([force[0], force[1] / use, force[2] / use]) / force[0]
    assert np.abs(outline - limit).max(axis=1).min() < 0.01 * max(friction)
    np.testing.assert_allclose(outline[:, 0], 1.0)


@pytest.mark.parametrize(
    ("normal", "use", "speed", "state"),
    [
        (0.0, NAN, NAN, ContactState.OPEN),
        (-1.0, NAN, 5.0, ContactState.OPEN),
        (5.0, 0.3, 0.0, ContactState.STICKING),
        (5.0, 0.998, 0.5, ContactState.STICKING),
        (5.0, 1.0, 0.5, ContactState.SLIDING),
        (5.0, 0.999, 0.5, ContactState.SLIDING),
        (5.0, 1.0, 1e-3, ContactState.STICKING),
        (5.0, 1.0, NAN, ContactState.SLIDING),
        (5.0, NAN, 0.5, ContactState.SLIDING),
        (5.0, NAN, 0.0, ContactState.STICKING),
    ],
)
def test_states(normal: float, use: float, speed: float, state: ContactState) -> None:
    assert contact_states(np.array(normal), np.array(use), np.array(speed)) == state


def test_cones_follow_the_filled_slots() -> None:
    slot = [2, 10, 0, 4, 0, 0, 0, -0.01, 1, 2, 3, 0, 0, 1, 1, 0, 0, 7, 0.3, 0.4]
    batch = LAYOUT.decode(np.array([*slot, *slot, *[0] * 20], float))
    friction = np.array([[0.5] * 5, [0.0] * 5, [0.7] * 5])
    cones = friction_cones(batch, friction, Cone.ELLIPTIC)
    assert cones is not None
    np.testing.assert_allclose(cones.use, [0.8, NAN])
    np.testing.assert_array_equal(cones.apex, [[1, 2, 3]] * 2)
    np.testing.assert_array_equal(cones.axis, [[0, 0, 1]] * 2)
    np.testing.assert_array_equal(cones.tangent0, [[1, 0, 0]] * 2)
    np.testing.assert_allclose(slip_speed(batch), [0.5, 0.5, NAN])
    assert cones.states.tolist() == [ContactState.STICKING, ContactState.SLIDING]
    np.testing.assert_array_equal(cones.friction[0], [0.5, 0.5])


def test_a_contact_that_is_held_by_adhesion_does_not_slide() -> None:
    # 3 N along the surface: too much for the 2 N that press it, not for these and the 8 N of adhesion.
    slot = [1, 2, 3, 0, 0, 0, 0, -0.01, 1, 2, 3, 0, 0, 1, 1, 0, 0, 0, 0.5, 0]
    batch = LAYOUT.decode(np.array([*slot, *[0] * 40], float))
    for adhesion, state in ((0.0, ContactState.SLIDING), (8.0, ContactState.STICKING)):
        cones = friction_cones(batch, np.full((3, 5), 0.5), Cone.ELLIPTIC, adhesion)
        assert cones is not None
        assert cones.states.tolist() == [state]


def test_without_velocities_the_slip_is_unknown() -> None:
    assert np.isnan(slip_speed(ContactLayout("found force", 2).decode(np.ones(8)))).tolist() == [True, True]


def test_a_net_force_has_no_cone() -> None:
    layout = ContactLayout("found force torque pos normal tangent", 1, "netforce")
    assert friction_cones(layout.decode(np.ones(layout.size)), np.ones((1, 5)), Cone.ELLIPTIC) is None


def test_a_contact_whose_friction_is_not_known_is_neither_sliding_nor_sticking() -> None:
    """Unless it is too slow to slide. A contact without friction slides as soon as it moves."""
    layout = ContactLayout(LAYOUT.fields, 4)
    batch = layout.decode(np.zeros(layout.size))
    force, linvel = np.zeros((4, 3)), np.zeros((4, 3))
    force[:, 0], linvel[:, 1] = (5.0, 5.0, 5.0, 0.0), (0.5, 1e-4, 0.5, 0.5)
    batch = replace(batch, filled=np.ones(4, bool), force=force, linvel=linvel)
    friction = np.full((4, 5), NAN)
    friction[2] = 0.0
    cones = friction_cones(batch, friction, Cone.ELLIPTIC)
    assert cones is not None
    assert cones.states.tolist() == [
        ContactState.UNKNOWN,
        ContactState.STICKING,
        ContactState.SLIDING,
        ContactState.OPEN,
    ]
    assert sliding(batch, friction[:, :2]).tolist() == [False, False, True, False]
    assert sliding(batch, 0.0).tolist() == [True, False, True, False]
