"""MujocoDiagnostics behind the arrays, of a session without a window."""

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.mjmodel.force_kinds import ForceKind
from contact_viewer.sensors.friction import ContactState


@pytest.mark.parametrize("name", ["lower_on_base", "middle_on_lower", "base_on_table"])
def test_each_mode_is_what_switching_to_it_reports(name: str) -> None:
    engine = open_engine("stack")
    engine.step(700)
    diagnostics = engine.diagnostics
    assert diagnostics is not None
    previews = diagnostics.in_each_mode(name)
    for mode, preview in previews.items():
        engine.set_reduce(name, mode)
        reported = engine.contacts(name).net_force
        assert preview.net_force is not None
        assert reported is not None
        np.testing.assert_allclose(preview.net_force, reported, atol=1e-9)
        assert preview.found == engine.contacts(name).found


def test_the_weight_of_the_quadruped_is_on_its_feet() -> None:
    engine = open_engine("quadruped")
    engine.step(1500)
    diagnostics = engine.diagnostics
    assert diagnostics is not None
    body = diagnostics.balanced_body("foot_FL")
    assert body is not None
    assert diagnostics.body_name(body) == "trunk"
    forces = diagnostics.forces(body)
    assert forces is not None
    np.testing.assert_allclose(forces.sum(), forces.inertia, atol=1e-6)
    assert forces.sum(ForceKind.CONTACT)[2] == pytest.approx(-forces.sum(ForceKind.GRAVITY)[2], rel=0.05)


def test_the_box_slides_when_friction_is_used_up() -> None:
    engine = open_engine("slope")
    diagnostics = engine.diagnostics
    assert diagnostics is not None
    seen = set()
    for _ in range(300):
        engine.step(10)
        batch = engine.contacts("box_on_slope")
        cones = diagnostics.cones(batch)
        assert cones is not None
        for use, state in zip(cones.use, cones.states, strict=True):
            seen.add(int(state))
            if state == ContactState.SLIDING:
                assert use > 0.9
    assert {int(ContactState.STICKING), int(ContactState.SLIDING)} <= seen


def test_why_zero_names_what_is_apart() -> None:
    engine = open_engine("quadruped")
    diagnostics = engine.diagnostics
    assert diagnostics is not None
    sentence = diagnostics.why_zero("belly", engine.contacts("belly"))
    assert sentence is not None
    assert "floor" in sentence
    assert "trunk" in sentence
    engine.step(500)
    assert diagnostics.why_zero("foot_FL", engine.contacts("foot_FL")) is None
