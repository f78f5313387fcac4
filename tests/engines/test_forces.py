"""World forces of every kind of sensor on both engines, judged by each engine's own account of its contacts."""

from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import ContactLayout, open_engine
from contact_viewer.engines.contract import Engine
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.settings import Reduce

from .contact_cases import CASES, MATCHES, TARGETS, Case, scene_text

STEPS = 60
"""Long enough to rest, and friction is still at work in all directions."""


@pytest.fixture(scope="module", params=["mujoco", "motrix"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    path = tmp_path_factory.mktemp("touching") / "touching.xml"
    path.write_text(scene_text())
    engine = open_engine(path, request.param)
    if request.param == "motrix":
        engine._motrix.reports.contact_forces = True
    engine.step(STEPS)
    return engine  # type: ignore[no-any-return]


def forces_on_thing(engine: Any, kind: str) -> np.ndarray:
    """World forces of the contacts that a sensor of this kind should match, on the thing: one by one, or their sum."""
    if engine.name.startswith("MotrixSim"):
        model = engine._motrix
        links = [model.get_link_index(name) for name in (("thing", "toe") if kind == "subtree" else ("thing",))]
        return np.asarray(model.get_link_net_contact_forces(engine._state)[links, :3])
    geoms = {"top", "foot"} if kind != "subtree" else {"top", "foot", "leaf", "toe"}
    ids = {engine.model.geom(name).id for name in geoms}
    forces, wrench = [], np.zeros(6)
    for i in range(engine.data.ncon):
        contact = engine.data.contact[i]
        if set(contact.geom) <= ids:
            mujoco.mj_contactForce(engine.model, engine.data, i, wrench)
            force = contact.frame.reshape(3, 3).T @ wrench[:3]
            # The engine's force acts on the second geom.
            forces.append(force if engine.model.geom(contact.geom[1]).name in ("foot", "toe") else -force)
    return np.array(forces)


def tolerance(engine: Engine, kind: str) -> float:
    if engine.name.startswith("MotrixSim"):
        return 1e-5 * float(np.linalg.norm(forces_on_thing(engine, kind).sum(axis=0)))
    return 1e-9


def test_the_scene_tests_what_it_should(engine: Engine) -> None:
    total = forces_on_thing(engine, "subtree").sum(axis=0)
    assert (np.abs(total) > 1).all()
    for kind, count in MATCHES.items():
        name = next(case.name for case in CASES if case.kind == kind and case.num > count and "found" in case.data)
        assert engine.contacts(name).found == count


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_contacts_add_up_to_the_engines_own_forces(engine: Engine, case: Case) -> None:
    batch = engine.contacts(case.name)
    force_world, net_force = batch.force_world, batch.net_force
    assert force_world is not None
    assert net_force is not None
    assert batch.found == MATCHES[case.kind]
    total = case.sign * forces_on_thing(engine, case.kind).sum(axis=0)
    if case.reduce == "netforce" or case.num >= MATCHES[case.kind]:
        np.testing.assert_allclose(net_force, total, rtol=0, atol=tolerance(engine, case.kind))
        return
    assert batch.filled.all()
    # One contact is left out; with it the sum is complete.
    dropped = engine.dropped(case.name)
    assert dropped.filled.sum() == 1
    assert dropped.net_force is not None
    np.testing.assert_allclose(net_force + dropped.net_force, total, rtol=0, atol=tolerance(engine, case.kind))
    left_out = np.linalg.norm(dropped.net_force)
    if case.reduce == "maxforce":
        norms = np.linalg.norm(force_world, axis=1)
        assert (np.diff(norms) <= 0).all()
        assert left_out <= norms[-1]
    if case.reduce == "mindist":
        assert batch.dist is not None
        assert dropped.dist is not None
        assert (np.diff(batch.dist) >= 0).all()
        assert dropped.dist[0] >= batch.dist[-1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_sensors_own_array_says_the_same(engine: Engine, case: Case) -> None:
    """The array alone, without the companions of the engine: what it knows is right, and what it cannot is None."""
    array, contacts = engine.array(case.name), engine.contacts(case.name)
    layout = engine.sensors[case.name].layout
    if engine.name.startswith("MuJoCo"):
        assert layout == ContactLayout.from_mujoco(engine.model, case.name)
    assert array.shape == (layout.size,)
    batch = layout.decode(array)
    assert batch.filled.sum() == contacts.filled.sum()
    fields = case.data.split()
    directed = {"normal", "tangent"} <= set(fields)
    if "force" not in fields:
        assert batch.force is None
    elif directed or (case.reduce == "netforce" and engine.name.startswith("MuJoCo")):
        assert batch.net_force is not None
        assert contacts.net_force is not None
        np.testing.assert_allclose(batch.net_force, contacts.net_force, rtol=0, atol=tolerance(engine, case.kind))
    else:
        assert batch.force_world is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_magnitudes_mean_the_same_on_both_engines(engine: Engine, case: Case) -> None:
    magnitude = engine.get_contact_force_magnitude(case.name)
    assert magnitude.shape == (1,)
    contacts = engine.contacts(case.name)
    assert contacts.force_world is not None
    if case.reduce == "maxforce":
        expected = np.linalg.norm(contacts.force_world, axis=1).max()
    elif case.reduce == "netforce" or case.num >= MATCHES[case.kind]:
        expected = np.linalg.norm(forces_on_thing(engine, case.kind).sum(axis=0))
    else:
        expected = np.linalg.norm(contacts.force_world.sum(axis=0))
    np.testing.assert_allclose(magnitude[0], expected, rtol=0, atol=tolerance(engine, case.kind))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_documented_values_are_safe_to_loop_over(engine: Engine, case: Case) -> None:
    value = engine.get_sensor_value(case.name)
    assert value.dtype == np.float32
    layout = ContactLayout(case.data, case.num, case.reduce, "documented")
    assert value.shape == (layout.size,)
    reported = 1 if case.reduce == "netforce" else min(case.num, MATCHES[case.kind])
    assert value[0] == reported
    if "normal" in case.data.split():
        net_force = layout.decode(value).net_force
        contacts = engine.contacts(case.name).net_force
        assert net_force is not None
        assert contacts is not None
        np.testing.assert_allclose(net_force, contacts, rtol=0, atol=1e-4)


@pytest.mark.parametrize("kind", TARGETS)
def test_normals_run_from_object_1_to_object_2(engine: Engine, kind: str) -> None:
    for case in CASES:
        if case.kind == kind and case.reduce != "netforce":
            normal = engine.contacts(case.name).normal
            assert normal is not None
            assert (case.sign * normal[:3, 2] > 0.9).all()


@pytest.mark.parametrize("scene", ["quadruped", "gripper", "pile", "bounce"])
def test_the_force_on_a_sensor_without_a_companion_is_that_of_its_contacts(scene: str) -> None:
    """It is computed alone, in a fraction of the time."""
    engine = open_engine(mujoco.MjModel.from_xml_path(str(find_scene(scene))))
    engine.watch_all()
    pressed = 0
    for mode in Reduce:
        for name in engine.sensors.names:
            engine.set_reduce(name, mode)
        for _ in range(15):
            engine.step(20)
            for name in engine.sensors.names:
                expected = engine.contacts(name).force_magnitude(mode)
                assert expected is not None
                np.testing.assert_allclose(engine.get_contact_force_magnitude(name), [expected], rtol=1e-9, atol=1e-9)
                pressed += bool(expected)
    assert pressed > 50
