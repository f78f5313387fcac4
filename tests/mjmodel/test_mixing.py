"""Where the parameters of a contact come from, against the contacts that MuJoCo makes."""

import mujoco
import numpy as np
import pytest
from contact_viewer.mjmodel.mixing import (
    FRICTIONS,
    Mixing,
    Rule,
    contact_sides,
    explain_mixing,
    mix_parameters,
)
from contact_viewer.mjmodel.pairs import pair_friction

PAIRS = 240
_NAMES = ("condim", "friction", "solref", "solreffriction", "solimp", "margin", "gap")


def _random_attributes(rng: np.random.Generator) -> dict[str, str]:
    """Random contact parameters of a geom, those that decide between rules often equal."""

    def join(values: object) -> str:
        return " ".join(f"{value:.6g}" for value in np.atleast_1d(np.asarray(values, float)))

    solref = (
        [-rng.uniform(100, 1e4), -rng.uniform(1, 100)] if rng.random() < 0.2 else rng.uniform([0.004, 0.2], [0.1, 2])
    )
    friction = rng.choice([0.0, 1e-6, 0.4, 1.0], 3) if rng.random() < 0.5 else rng.uniform(0, 2, 3)
    return {
        "condim": str(rng.choice([1, 3, 4, 6])),
        "priority": str(rng.choice([0, 0, 0, 1, 2])),
        "friction": join(friction),
        "solmix": join(rng.choice([0.0, 1e-16, 1.0, rng.uniform(0, 5)])),
        "solref": join(solref),
        "solimp": join(
            [rng.uniform(0.5, 0.9), rng.uniform(0.9, 0.99), rng.uniform(1e-4, 0.01), 0.5, rng.uniform(1, 4)]
        ),
        "margin": join(rng.choice([0.0, rng.uniform(0, 0.05)])),
        "gap": join(rng.choice([0.0, rng.uniform(0, 0.05)])),
    }


def _random_model(seed: int, override: bool) -> mujoco.MjModel:
    """Two overlapping geoms with random parameters at each place; about a third of these pairs is declared."""
    rng = np.random.default_rng(seed)
    bodies, pairs = [], []
    for i in range(PAIRS):
        for side in "ab":
            words = " ".join(f'{name}="{value}"' for name, value in _random_attributes(rng).items())
            geom = f'<geom name="{side}{i}" size=".4" {words}/>'
            place = f"{2 * i} 0 {0.5 if side == 'b' else 0}"
            joint = "<freejoint/>" if side == "b" else ""
            bodies.append(f'<body pos="{place}">{joint}{geom}</body>')
        if rng.random() < 0.3:
            given = _random_attributes(rng)
            frictions = " ".join(f"{value:.6g}" for value in rng.uniform(0, 2, 5))
            words = " ".join(f'{name}="{given[name]}"' for name in ("condim", "solref", "solimp", "margin", "gap"))
            more = 'solreffriction="0.03 1"' if rng.random() < 0.5 else ""
            pairs.append(f'<pair geom1="a{i}" geom2="b{i}" friction="{frictions}" {words} {more}/>')
    option = (
        '<option o_margin="0.2" o_solref="0.05 0.7" o_friction="0.3 0.4 0.1 0.01 0.02">'
        '<flag override="enable"/></option>'
        if override
        else ""
    )
    xml = f"<mujoco>{option}<worldbody>{''.join(bodies)}</worldbody><contact>{''.join(pairs)}</contact></mujoco>"
    return mujoco.MjModel.from_xml_string(xml)


def _forwarded(model: mujoco.MjModel) -> mujoco.MjData:
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return data


@pytest.mark.parametrize(("seed", "override"), [(0, False), (1, False), (2, True)])
def test_parameters_of_random_pairs_are_those_of_their_contacts_to_the_bit(seed: int, override: bool) -> None:
    model = _random_model(seed, override)
    data = _forwarded(model)
    contact = data.contact
    sides = contact_sides(model, data, np.arange(data.ncon))
    assert len(sides) == PAIRS
    mixed = mix_parameters(model, sides)
    for name, measured in (
        ("condim", contact.dim),
        ("friction", contact.friction),
        ("solref", contact.solref),
        ("solreffriction", contact.solreffriction),
        ("solimp", contact.solimp),
        ("margin", contact.includemargin),
    ):
        np.testing.assert_array_equal(getattr(mixed, name), measured, name)
    rules = set()
    for number, (one, other) in enumerate(sides.tolist()):
        mixing = explain_mixing(model, one, other)
        rules |= {origin.rule for origin in mixing.origins}
        _check_origins(mixing, {name: getattr(mixed, name)[number] for name in _NAMES}, override)
    assert rules == (set(Rule) - ({Rule.OVERRIDE} if not override else {Rule.SMALLER, Rule.SOLMIX}))


def _check_origins(mixing: Mixing, mixed: dict[str, np.ndarray], override: bool) -> None:
    """Each origin has the value of the contact, and a winner gives just that value."""
    values = {name: mixed[name] for name in ("condim", "solref", "solimp", "margin", "gap")}
    values |= {name: mixed["friction"][i] for i, name in enumerate(FRICTIONS)}
    assert {origin.name for origin in mixing.origins} == set(values)
    for origin in mixing.origins:
        np.testing.assert_array_equal(np.squeeze(origin.value), values[origin.name])
        if origin.winner is not None and min(origin.value) > 1e-5:
            assert origin.given[origin.winner] == origin.value
        assert mixing.origin_text(origin)
    assert (mixing["sliding, tangent0"].rule is Rule.OVERRIDE) == override
    assert mixing.consequence.endswith(".")


def test_the_gap_is_the_distance_beyond_the_margin_at_which_contacts_are_listed() -> None:
    xml = """<mujoco><worldbody><geom name="a" size="1" margin="0.02" gap="0.03"/>
    <body><freejoint/><geom name="b" size="1" margin="0.01" gap="0.005"/></body></worldbody>{}</mujoco>"""
    declared = '<contact><pair geom1="a" geom2="b" margin="0.04" gap="0.01"/></contact>'
    for text, margin, gap in ((xml.format(""), 0.03, 0.035), (xml.format(declared), 0.04, 0.01)):
        model = mujoco.MjModel.from_xml_string(text)
        data = mujoco.MjData(model)
        mixed = mix_parameters(model, np.array([[0, 1]]))
        assert (mixed.margin[0], mixed.gap[0]) == pytest.approx((margin, gap))
        for distance, listed in ((margin + gap - 1e-6, 1), (margin + gap + 1e-6, 0)):
            data.qpos[2] = 2 + distance
            mujoco.mj_forward(model, data)
            assert data.ncon == listed


def test_a_flex_gives_parameters_as_a_geom_does() -> None:
    xml = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.2"/>
      <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 0.004" radius="0.01" dim="2">
      <contact friction="0.6" condim="4" selfcollide="none" solref="0.03 1" margin="0.001"/></flexcomp></worldbody>
    </mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = _forwarded(model)
    sides = contact_sides(model, data, np.arange(data.ncon))
    mixed = mix_parameters(model, sides)
    assert data.ncon
    np.testing.assert_array_equal(mixed.friction, data.contact.friction)
    np.testing.assert_array_equal(mixed.solref, data.contact.solref)
    np.testing.assert_array_equal(mixed.margin, data.contact.includemargin)
    assert "flex cloth's 0.6 wins over floor's 0.2" in explain_mixing(model, *sides[0].tolist()).consequence


FOOT = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" {floor}/>
  <body pos="0 0 .09"><freejoint/><geom name="foot" size=".1" {foot}/></body></worldbody>
  <contact>{pair}</contact></mujoco>"""


def _foot(foot: str = "", floor: str = "", pair: str = "") -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(FOOT.format(foot=foot, floor=floor, pair=pair))


@pytest.mark.parametrize(
    ("scene", "sentence", "idle"),
    [
        (
            ('friction="0.4"',),
            "floor's 1.0 wins over foot's 0.4 (equal priority: the larger counts): changing foot's friction has no"
            ' effect until it exceeds 1.0; priority="1" on foot makes it count.',
            (1,),
        ),
        (
            ('friction="0.4" priority="1"',),
            "foot's 0.4 counts, not floor's 1.0 (priority 1 over 0): changing floor's friction has no effect.",
            (0,),
        ),
        (
            ('friction="0.4"', "", '<pair name="sole" geom1="foot" geom2="floor" friction="0.7"/>'),
            "0.7 is of <pair> sole: the friction of floor and foot has no effect there.",
            (0, 1),
        ),
        (('condim="1"', 'condim="1"'), "No friction acts: condim is 1 (the larger of both geoms').", (0, 1)),
        (
            (),
            "floor and foot both have 1.0 (equal priority: the larger counts): lowering one of them alone has no"
            ' effect; priority="1" on it makes it count.',
            (),
        ),
    ],
)
def test_the_sentence_is_true_of_the_contact(scene: tuple[str, ...], sentence: str, idle: tuple[int, ...]) -> None:
    """The friction of an idle side can be lowered and raised a little, and the contact's stays."""
    model = _foot(*scene)
    mixing = explain_mixing(model, 0, 1)
    assert mixing.consequence == sentence
    assert mixing.idle == idle
    before = _forwarded(model).contact.friction.copy() * (not mixing.frictionless)
    acts = set()
    for side in (0, 1):
        for factor in (0.5, 1.1):
            kept = model.geom_friction[side].copy()
            model.geom_friction[side, 0] *= factor
            after = _forwarded(model).contact.friction * (not mixing.frictionless)
            acts |= set() if (after == before).all() else {side}
            model.geom_friction[side] = kept
    assert acts == {0, 1} - set(idle)


def test_override_decides_for_all_pairs_also_in_what_sensors_know_of_friction() -> None:
    model = _random_model(3, override=True)
    sides = np.array([[0, 1]])
    assert explain_mixing(model, 0, 1).idle == (0, 1)
    condim = int(mix_parameters(model, sides).condim[0])
    expected = np.array([0.3, 0.4, 0.1, 0.01, 0.02]) * (np.arange(1, 6) < condim)
    np.testing.assert_array_equal(pair_friction(model, sides)[0], expected)


def test_friction_of_the_second_tangent_is_listed_where_it_differs() -> None:
    """A <pair> alone can have another one; coefficients that condim leaves out are not used."""
    xml = """
    <mujoco>
      <worldbody><geom name="floor" type="plane" size="1 1 .1"/>
        <body><freejoint/><geom name="foot" size=".1" condim="4"/></body></worldbody>
      <contact>{}</contact>
    </mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml.format(""))
    mixing = explain_mixing(model, 0, 1)
    listed = ["condim", "sliding", "torsional", "rolling", "solref", "solimp", "margin", "gap"]
    assert [origin.name for origin in mixing.distinct] == listed
    assert [origin.name for origin in mixing.distinct if not mixing.is_used(origin)] == ["rolling"]
    pair = '<pair geom1="floor" geom2="foot" condim="3" friction="1 2 .1 .2 .2"/>'
    mixing = explain_mixing(mujoco.MjModel.from_xml_string(xml.format(pair)), 0, 1)
    listed[1:2] = ["sliding, tangent0", "sliding, tangent1"]
    assert [origin.name for origin in mixing.distinct] == listed
    assert [origin.name for origin in mixing.distinct if not mixing.is_used(origin)] == ["torsional", "rolling"]
