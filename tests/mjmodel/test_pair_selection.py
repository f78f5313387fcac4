"""Pairs to track against the contacts that MuJoCo makes when everything overlaps."""

from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.errors import SceneError
from contact_viewer.mjmodel.pair_selection import (
    MAX_PAIRS,
    PairSource,
    all_pairs,
    named_pairs,
    pairs_of_body,
    pairs_of_sensors,
    split_names,
)

# Everything at one place: whatever can collide does.
CROWD = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <geom name="table" size=".1"/>
    <site name="spot" size=".1"/>
    <body name="arm">
      <joint axis="1 0 0"/>
      <geom name="upper" size=".1"/>
      <body name="fore"><joint axis="0 1 0"/><geom name="lower" size=".1"/><geom name="skin" size=".1"/>
        <body name="hand"><geom name="palm" size=".1"/>
          <body name="finger"><joint axis="0 0 1"/><geom name="tip" size=".1"/></body>
        </body>
      </body>
    </body>
    <body name="box"><freejoint/><geom name="box, red" type="box" size=".1 .1 .1"/></body>
    <body name="ghost"><freejoint/><geom name="ghost" size=".1" contype="0" conaffinity="0"/></body>
    <body name="shy"><freejoint/><geom name="shy" size=".1" contype="2" conaffinity="4"/></body>
    <body name="bold"><freejoint/><geom name="bold" size=".1" contype="4" conaffinity="0"/></body>
  </worldbody>
  <contact>
    <exclude body1="box" body2="fore"/>
    <pair geom1="ghost" geom2="box, red"/>
    <pair geom1="upper" geom2="lower"/>
  </contact>
  <sensor>{sensors}</sensor>
</mujoco>
"""


def crowd(sensors: str = "") -> Any:
    return mujoco.MjModel.from_xml_string(CROWD.format(sensors=sensors))


def touching(model: Any, matches: Any = None) -> set[frozenset[str]]:
    """The pairs among MuJoCo's contacts, or those that a sensor in slot order found."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return {frozenset(model.geom(int(geom)).name for geom in geoms) for geoms in data.contact.geom}


def names(labels: tuple[tuple[str, str], ...]) -> set[frozenset[str]]:
    found = [frozenset(pair) for pair in labels]
    assert len(found) == len(set(found))
    return set(found)


def test_all_pairs_are_those_that_mujoco_lets_collide() -> None:
    model = crowd()
    choice = all_pairs(model)
    assert names(choice.labels) == touching(model)
    assert len(choice.labels) > 15
    assert (choice.source, choice.total, choice.dropped) == (PairSource.ALL, len(choice.labels), 0)
    assert choice.able.all()


@pytest.mark.parametrize(
    ("target", "first", "second"),
    [
        ('geom1="floor" geom2="tip"', {"floor"}, {"tip"}),
        ('geom1="tip"', {"tip"}, None),
        ('body1="fore" body2="box"', {"lower", "skin"}, {"box, red"}),
        ('body1="fore"', {"lower", "skin"}, None),
        ('subtree1="fore"', {"lower", "skin", "palm", "tip"}, None),
        ('subtree1="arm" geom2="table"', {"upper", "lower", "skin", "palm", "tip"}, {"table"}),
        ('subtree1="arm" subtree2="arm"', *[{"upper", "lower", "skin", "palm", "tip"}] * 2),
        ('site="spot" body2="box"', None, {"box, red"}),
        ("", None, None),
    ],
)
def test_pairs_of_sensors(target: str, first: set[str] | None, second: set[str] | None) -> None:
    model = crowd(f'<contact name="c" {target} data="found" num="500"/>')
    everything = {model.geom(i).name for i in range(model.ngeom)}
    first, second = first or everything, second or everything
    expected = {
        pair for pair in touching(model) if any({a} | {b} == set(pair) and a != b for a in first for b in second)
    }
    choice = pairs_of_sensors(model)
    assert names(choice.labels) == expected
    assert choice.source is PairSource.SENSORS


def test_pairs_of_sensors_are_there_once() -> None:
    model = crowd(
        '<contact name="c" geom1="floor" geom2="tip" data="found"/><contact name="d" body2="finger" data="found"/>'
        '<contact name="e" geom2="floor" geom1="tip" data="found"/>'
    )
    assert names(pairs_of_sensors(model).labels) == {pair for pair in touching(model) if "tip" in pair}
    assert pairs_of_sensors(crowd()).total == 0


def test_pairs_of_a_body() -> None:
    model = crowd()
    choice = pairs_of_body(model, model.body("fore").id)
    assert names(choice.labels) == {pair for pair in touching(model) if pair & {"lower", "skin"}}
    assert pairs_of_body(model, model.body("ghost").id).labels == (("ghost", "box, red"),)


def test_named_pairs() -> None:
    model = crowd()
    choice = named_pairs(model, [("tip", "floor"), ("floor", "tip"), ("fore", "table")])
    assert choice.labels == (("tip", "floor"), ("lower", "table"), ("skin", "table"))
    assert choice.able.all()
    apart = named_pairs(model, [("ghost", "floor"), ("ghost", "box, red")])
    assert apart.able.tolist() == [False, True]
    with pytest.raises(SceneError, match="no geom or body named 'nobody'"):
        named_pairs(model, [("tip", "nobody")])
    with pytest.raises(SceneError, match="can collide"):
        named_pairs(model, [("hand", "finger")])
    with pytest.raises(SceneError, match="can collide"):
        named_pairs(model, [("tip", "tip")])


def test_names_with_commas() -> None:
    model = crowd()
    assert split_names(model, "tip,floor") == ("tip", "floor")
    assert split_names(model, "box, red, tip") == ("box, red", "tip")
    assert split_names(model, "a,b,c") == ("a", "b,c")
    with pytest.raises(SceneError, match="two names with a comma"):
        split_names(model, "tip")


def test_too_many_pairs_are_left_out() -> None:
    bodies = "".join('<body><freejoint/><geom size=".01"/></body>' for _ in range(80))
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    choice = all_pairs(model)
    assert (choice.total, len(choice.labels), choice.dropped) == (80 * 79 // 2, MAX_PAIRS, 80 * 79 // 2 - MAX_PAIRS)
    assert choice.geoms.shape == (MAX_PAIRS, 2)
    assert np.unique(np.sort(choice.geoms, axis=1), axis=0).shape == (MAX_PAIRS, 2)
