"""Factors and noise by seed."""

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.controller import Controller, no_control
from contact_viewer.errors import SceneError
from contact_viewer.mjmodel.variation import Variation, find_idle_variations, generator, read_randomisation

XML = """<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="arm" pos="0 0 1">
      <joint name="hinge" axis="0 1 0"/>
      <geom name="rod" type="capsule" fromto="0 0 0 0.5 0 0" size="0.02" mass="1"/>
      <body name="hand" pos="0.5 0 0"><geom name="palm" type="box" size="0.05 0.05 0.05" mass="0.5"/></body>
    </body>
    <body name="ball" pos="0 0 0.1"><freejoint/><geom name="ball" size="0.1" mass="1"/></body>
  </worldbody>
  <contact><pair name="floor_ball" geom1="floor" geom2="ball" friction="0.7 0.7 0.1 0.1 0.1"/></contact>
  <actuator><position name="servo" joint="hinge" kp="20" kv="2"/><motor name="motor" joint="hinge" gear="3"/></actuator>
</mujoco>"""


def varied(*texts: str, seed: int = 5, noise: str | None = None) -> tuple[mujoco.MjModel, mujoco.MjModel]:
    before, after = mujoco.MjModel.from_xml_string(XML), mujoco.MjModel.from_xml_string(XML)
    Controller(no_control, seed=seed, randomisation=read_randomisation(texts, noise)).change(after)
    return before, after


def test_a_pendulum_of_varied_mass_and_gravity_falls_as_the_formula_says() -> None:
    """Twice the mass changes nothing, twice the gravity doubles the acceleration; derived constants follow."""
    accelerations = {}
    for texts in ((), ("mass=2",), ("gravity=2",), ("mass:hand=3",)):
        _, model = varied(*texts)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        accelerations[texts] = data.qacc[0]
        assert model.body_subtreemass[0] == pytest.approx(model.body_mass.sum())
    assert accelerations[("mass=2",)] == pytest.approx(accelerations[()], rel=1e-9)
    assert accelerations[("gravity=2",)] == pytest.approx(2 * accelerations[()], rel=1e-9)
    assert abs(accelerations[("mass:hand=3",)]) != pytest.approx(abs(accelerations[()]), rel=1e-2)


def test_only_what_is_named_is_varied() -> None:
    before, after = varied("friction:palm=2", "mass:hand=3", "gain:servo=1.5", "timestep=0.5")
    palm, hand = before.geom("palm").id, before.body("hand").id
    assert (after.geom_friction[palm] == 2 * before.geom_friction[palm]).all()
    assert (np.delete(after.geom_friction, palm, 0) == np.delete(before.geom_friction, palm, 0)).all()
    assert (after.pair_friction == before.pair_friction).all()
    assert after.body_mass[hand] == 3 * before.body_mass[hand]
    assert (after.body_inertia[hand] == 3 * before.body_inertia[hand]).all()
    assert after.actuator_gainprm[0, 0] == 1.5 * 20
    assert after.actuator_biasprm[0, 1:3].tolist() == [-1.5 * 20, -1.5 * 2]
    assert after.actuator_gainprm[1, 0] == before.actuator_gainprm[1, 0]
    assert after.opt.timestep == 0.5 * before.opt.timestep


def test_friction_of_a_geom_is_also_that_of_its_pairs() -> None:
    before, after = varied("friction:ball=0.5")
    assert (after.pair_friction == 0.5 * before.pair_friction).all()
    before, after = varied("friction:floor_ball=0.5")
    assert (after.pair_friction == 0.5 * before.pair_friction).all()
    assert (after.geom_friction == before.geom_friction).all()


def test_a_larger_geom_touches_earlier() -> None:
    """Also where it has left the boxes of the tree that MuJoCo made for the old size."""
    touching = {}
    for texts in ((), ("size:palm=18",)):
        _, model = varied(*texts)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        palm = model.geom("palm").id
        touching[texts] = any(palm in contact.geom for contact in data.contact)
    assert touching == {(): False, ("size:palm=18",): True}


def test_factors_depend_on_the_seed_and_the_name_alone() -> None:
    friction = Variation("friction", "", 0.5, 1.5)
    drawn = [friction.factor(seed) for seed in range(2000)]
    assert 0.5 <= min(drawn) < 0.51
    assert 1.49 < max(drawn) <= 1.5
    assert np.mean(drawn) == pytest.approx(1.0, abs=0.02)
    mass = [Variation("mass", "torso", 0.5, 1.5).factor(seed) for seed in range(2000)]
    # Independent of each other, and of what a controller draws.
    assert abs(np.corrcoef(drawn, mass)[0, 1]) < 0.07
    for use in (("vary",), ("reset", 0, 0), ("noise", 0, 0)):
        others = [generator(seed, *use).uniform() for seed in range(2000)]
        assert abs(np.corrcoef(drawn, others)[0, 1]) < 0.07
    assert read_randomisation(["friction=0.5:1.5", "mass=2"], None).factors(7) == {
        "friction": friction.factor(7),
        "mass": 2.0,
    }


def test_vary_and_reset_of_a_controller_draw_different_numbers() -> None:
    drawn = []
    controller = Controller(
        lambda model, data: None,
        reset=lambda model, data, rng: drawn.append(rng.uniform()),
        vary=lambda model, rng: drawn.append(rng.uniform()),
        seed=3,
    )
    open_engine("slope", control=controller)
    assert len(set(drawn)) == len(drawn) == 2


def test_noise_keeps_orientations_and_has_its_size() -> None:
    randomisation = read_randomisation((), "qpos=0.02,qvel=0.3")
    states = []
    for seed in range(300):
        engine = open_engine("quadruped", control=Controller(no_control, seed=seed, randomisation=randomisation))
        states.append((engine.data.qpos.copy(), engine.data.qvel.copy()))
    qpos, qvel = (np.array(part) for part in zip(*states, strict=True))
    assert np.linalg.norm(qpos[:, 3:7], axis=1) == pytest.approx(1.0)
    assert qpos[:, :3].std(axis=0) == pytest.approx(0.02, rel=0.2)
    assert qvel.std() == pytest.approx(0.3, rel=0.05)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("friction", "varies nothing"),
        ("colour=1:2", "cannot be varied; choose from friction, mass, gravity, timestep, gain, size"),
        ("friction=a:b", "is not a factor"),
        ("friction=2:1", "the lower one first"),
        ("friction=0:1", "above 0"),
        ("gravity:moon=1:2", "there is one gravity"),
        ("mass:nose=1:2", "no body named 'nose'; the scene has: world, arm, hand, ball"),
        ("friction:nose=1:2", "no geom named 'nose'"),
        ("size:floor=1:2", "floor is no sphere"),
        ("gain:nose=1:2", "no actuator named 'nose'; the scene has: servo, motor"),
    ],
)
def test_what_cannot_be_varied_is_one_line(text: str, reason: str) -> None:
    with pytest.raises(SceneError, match=reason):
        varied(text)


@pytest.mark.parametrize("text", ["qpos", "qpos=-1", "ctrl=1", "qpos=1,qpos=2", "qpos=x", ""])
def test_noise_that_cannot_be_read_is_one_line(text: str) -> None:
    with pytest.raises(SceneError, match="is not noise such as"):
        read_randomisation((), text)


FEET = """<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1" {floor}/>
    <body pos="0 0 .1"><freejoint/><geom name="foot" type="sphere" size=".11" friction=".4" {foot}/></body>
    <body pos="1 0 .1"><freejoint/><geom name="rough" type="sphere" size=".11" friction="1.5"/></body>
    <body pos="2 0 .1"><geom name="post" type="box" size=".1 .1 .1" friction="3"/></body>
  </worldbody>
</mujoco>"""


@pytest.mark.parametrize(
    ("variation", "floor", "foot", "words"),
    [
        ("friction:foot=0.5:2", "", "", "floor's 1.0 wins over foot's 0.4"),
        ("friction:foot=0.5:2.6", "", "", None),
        ("friction:foot=0.5:2", 'friction=".3"', "", None),
        ("friction:foot=0.1:100", 'priority="1"', "", None),
        ("friction:foot=0.1:100", "", 'contype="0" conaffinity="0"', "foot can collide with nothing"),
        ("friction:rough=0.5:2", "", "", None),
        ("friction:floor=0.5", "", "", None),
        ("friction:floor=0.1:1", 'friction=".1"', "", "foot's 0.4 wins over floor's 0.1"),
        ("friction=0.5:2", "", "", None),
        ("mass=0.5:2", "", "", None),
    ],
)
@pytest.mark.parametrize("seed", [None, 3])
def test_a_friction_that_is_varied_in_vain_is_said(
    variation: str, floor: str, foot: str, words: str | None, seed: int | None
) -> None:
    """Of the model before, and after a seed has varied it; the contacts of factors in the range are the judge."""
    model = mujoco.MjModel.from_xml_string(FEET.format(floor=floor, foot=foot))
    chosen = read_randomisation([variation], None).variations
    seen = set()
    for factor in (1.0, *np.linspace(chosen[0].low, chosen[0].high, 9)):
        other = mujoco.MjModel.from_xml_string(FEET.format(floor=floor, foot=foot))
        if chosen[0].quantity == "friction":
            Variation("friction", chosen[0].name, factor, factor).apply(other, 0)
        data, frictions = mujoco.MjData(other), []
        # Each ball on the floor, then both in the post and in each other.
        for qpos in ([], [2, 0, 0.1, 1, 0, 0, 0, 2, 0.05, 0.1, 1, 0, 0, 0]):
            data.qpos[: len(qpos)] = qpos
            mujoco.mj_forward(other, data)
            frictions += sorted((*contact.geom.tolist(), contact.friction[0]) for contact in data.contact)
        seen.add(tuple(np.round(frictions, 12).ravel()))
    if seed is not None:
        chosen[0].apply(model, seed)
    kept = model.geom_friction.copy()
    hints = find_idle_variations(model, chosen, seed)
    np.testing.assert_array_equal(model.geom_friction, kept)
    assert bool(hints) == (words is not None)
    if words is not None:
        assert len(seen) == 1
        assert hints[0].startswith(f"--vary {chosen[0]} changes no contact: ")
        if seed is None:
            assert words in hints[0]
    elif chosen[0].quantity == "friction":
        assert len(seen) > 1
