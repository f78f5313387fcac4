"""What creeps in an open scene: cones, sentences and colours, now and in the past."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer.engines.registry import open_engine
from contact_viewer.render.style import palette_colors
from contact_viewer.sensors.friction import ContactState
from contact_viewer.session.layer import DrawContext
from contact_viewer.session.layers import LAYERS
from contact_viewer.session.session import Session
from contact_viewer.settings import Palette, ViewState

SLOPE = """<mujoco><option gravity="2.5 0 -9.5"/><worldbody><geom name="floor" type="plane" size="9 9 .1"/>
<body pos="0 0 .05"><freejoint/><geom name="box" type="box" size=".05 .05 .05"/></body></worldbody>
<sensor><contact name="held" geom1="floor" geom2="box" num="4"/></sensor></mujoco>"""


@pytest.fixture(params=["creeps", "sticks"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Session:
    path = tmp_path / f"{request.param}.xml"
    path.write_text(SLOPE if request.param == "creeps" else SLOPE.replace("2.5 0", "0 0"))
    session = Session(open_engine(path), ViewState())
    session.keep_history()
    session.track_events()
    session.take_steps(500)
    return session


def states(session: Session) -> set[int]:
    cones = session.cones(session.engine.contacts("held"))
    assert cones is not None
    return set(cones.states.tolist())


def test_cones_and_sentences_say_what_creeps_now_and_in_the_past(session: Session) -> None:
    creeps = session.engine.path is not None and session.engine.path.stem == "creeps"
    wanted = {int(ContactState.CREEPING if creeps else ContactState.STICKING)}
    assert states(session) == wanted
    assert len(session.reasons("held")) == creeps
    assert session.history is not None
    session.go_to(300)
    assert states(session) == wanted
    assert ["friction acts as a damper" in text for text in session.reasons("held", 0)] == [True] * creeps


@pytest.mark.parametrize("palette", Palette)
def test_creep_has_a_colour_of_its_own(palette: Palette, session: Session) -> None:
    colors = palette_colors(session.engine.model, palette)
    for other in (colors.sticking, colors.sliding, colors.open):
        assert np.abs(np.subtract(colors.creeping, other))[:3].max() > 0.3


def test_the_centre_of_pressure_of_a_sensor_is_where_its_load_is(session: Session) -> None:
    session.settings.gizmos.pressure = True
    (layer,) = (each for each in LAYERS if each.flag == "pressure")
    assert layer.glyphs is not None
    drawn = layer.glyphs(DrawContext(session))
    assert drawn is not None
    model, data, force = session.engine.model, session.engine.data, np.zeros(6)
    moment, load = np.zeros(3), 0.0
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, force)
        moment, load = moment + force[0] * data.contact.pos[i], load + force[0]
    np.testing.assert_allclose(drawn.spheres[0, :3], moment / load, atol=1e-6)
    assert layer.legend is not None
    assert [entry.text for entry in layer.legend(DrawContext(session))] == ["centre of pressure"]
