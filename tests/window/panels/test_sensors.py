"""The Sensors window as a new user uses it: sensors for what touches in one click, and a list that can be filtered."""

import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from ...scenes import write_many_sensors
from ..driver import drive, make_window, wait
from ..text_room import recorded_text

BIPED = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="pelvis" pos="0 0 .501">
      <freejoint/>
      <geom name="trunk" type="box" size=".05 .2 .1" mass="4" pos=".01 0 .1"/>
      <body name="left_foot" pos="0 .15 0"><geom type="box" size=".1 .04 .25" pos="0 0 -.25" mass="1"/></body>
      <body name="right_foot" pos="0 -.15 0"><geom type="box" size=".1 .04 .25" pos="0 0 -.25" mass="1"/></body>
    </body>
  </worldbody>
</mujoco>"""


def write_many(path: Path, count: int) -> Path:
    sensors = "".join(f'<contact name="pad_{i:03d}" geom2="trunk"/>' for i in range(count))
    path.write_text(BIPED.replace("</mujoco>", f"<sensor>{sensors}</sensor></mujoco>"))
    return path


@pytest.mark.parametrize("panel", ["Sensors", "Plots"])
def test_the_force_of_each_foot_takes_one_click(panel: str, tmp_path: Path) -> None:
    path = tmp_path / "biped.xml"
    path.write_text(BIPED)
    window = make_window(path)

    def test(ctx: Any) -> None:
        window.app.session.take_steps(1000)
        ctx.yield_(3)
        # Their curves are there before any sensor is.
        for foot in ("left_foot", "right_foot"):
            window.contents["Plots"].place_of(1.0, foot)
        assert window.app.session.engine.sensors.names == ("all contacts",)
        ctx.item_click(f"//{panel}/###each body")
        wait(ctx, lambda: {"left_foot", "right_foot"} <= set(window.app.session.engine.sensors.names))
        ctx.yield_(3)
        session = window.app.session
        forces = {name: session.reading(name).net_force for name in ("left_foot", "right_foot")}
        data, model = session.engine.data, session.engine.model
        wrench, expected = np.empty(6), np.zeros(model.nbody)
        for i in range(data.ncon):
            mujoco.mj_contactForce(model, data, i, wrench)
            expected[model.geom_bodyid[max(data.contact[i].geom)]] += wrench[0]
        for name, force in forces.items():
            assert force[2] == pytest.approx(expected[model.body(name).id], rel=1e-6)
        assert sum(force[2] for force in forces.values()) == pytest.approx(6 * 9.81, rel=1e-3)
        assert session.visible["left_foot"]

    drive(window, test)


def test_many_sensors_are_filtered_by_name(tmp_path: Path) -> None:
    window = make_window(write_many(tmp_path / "many.xml", 40))

    def test(ctx: Any) -> None:
        names = window.app.session.engine.sensors.names
        ctx.item_input("//Sensors/##filter")
        ctx.key_chars_replace("PAD 03")
        ctx.yield_(2)
        assert [names[i] for i in window.contents["Sensors"].listed(names)] == [
            f"pad_{i:03d}" for i in (3, *range(30, 40))
        ]
        ctx.key_chars_replace("")
        ctx.yield_(2)
        assert len(window.contents["Sensors"].listed(names)) == 40

    drive(window, test)


def test_the_buttons_of_the_list_have_room_beside_the_number_of_ten_thousand(tmp_path: Path) -> None:
    window = make_window(write_many_sensors(tmp_path / "many.xml", 10_000), width=1280, height=720)

    def test(ctx: Any) -> None:
        with recorded_text() as drawn:
            ctx.yield_(2)
            drawn.clear()
            ctx.yield_(1)
            texts = [each for each in drawn if each.panel == "Sensors"]
        assert any(each.text == "10000 of 10000" for each in texts)
        assert not [each.text for each in texts if each.cut]
        for button in ("###each body", "###new"):
            item = ctx.item_info(f"//Sensors/{button}")
            assert item.rect_clipped.get_width() == item.rect_full.get_width() > 0

    drive(window, test)


@pytest.mark.alone
def test_ten_thousand_sensors_are_drawn_and_listed_fifteen_times_a_second(tmp_path: Path) -> None:
    window = make_window(write_many_sensors(tmp_path / "many.xml", 10_000), paused=False, width=1280, height=720)

    def test(ctx: Any) -> None:
        # Until the history, which holds some dozen steps of so many sensors, has taken its memory.
        history = window.app.session.history
        assert history is not None
        wait(ctx, lambda: history.first > 0)
        times = []
        for _ in range(40):
            begin = time.process_time()
            ctx.yield_(1)
            times.append(time.process_time() - begin)
        # By processor time, of all threads: other programs do not count, a second core would make it faster.
        assert np.median(times) < 1 / 15
        assert window.app.session.contact_count == 36
        names = window.app.session.engine.sensors.names
        ctx.item_input("//Sensors/##filter")
        ctx.key_chars_replace("9999")
        ctx.yield_(2)
        assert [names[i] for i in window.contents["Sensors"].listed(names)] == ["s9999"]

    drive(window, test)


def test_bodies_that_touch_are_listed_beside_geoms(tmp_path: Path) -> None:
    path = tmp_path / "biped.xml"
    path.write_text(BIPED)
    window = make_window(path)

    def test(ctx: Any) -> None:
        window.app.session.take_steps(1000)
        window.edit_sensor(None)
        ctx.yield_(4)
        ctx.item_click("//Sensor editor/bodies")
        ctx.yield_(2)
        ctx.item_click("//Sensor editor/**/right_foot/###make")
        wait(ctx, lambda: "right_foot" in window.app.session.engine.sensors.names)
        assert "left_foot" not in window.app.session.engine.sensors.names

    drive(window, test)
