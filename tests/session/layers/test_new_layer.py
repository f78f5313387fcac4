"""A new layer is a module and a flag: it is then in the picture, the legend, the Display panel and the recording."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.recording.data_file import DataFile
from contact_viewer.render.glyphs import OTHER
from contact_viewer.session import layers
from contact_viewer.session.layer import DrawContext
from contact_viewer.session.layers import (
    LAYERS,
    add_volumes,
    display_layers,
    find_layers,
    legend_entries,
    session_glyphs,
)
from contact_viewer.session.session import Session
from contact_viewer.settings import ColorMode, GizmoSettings, ViewState

SLIP = """
from contact_viewer.session.contact_glyphs import ContactArrow
from contact_viewer.session.layer import Layer

def slip(contacts):
    return contacts.pos, 2.0 * contacts.batch.normal

LAYERS = [
    Layer(
        "slip", "Slip", "Where a contact slips to",
        arrows=(ContactArrow("slip", "slip velocity", lambda colors: (1.0, 0.0, 1.0, 1.0), slip),),
    )
]
"""
PIN = """
from contact_viewer.render.glyphs import GizmoList
from contact_viewer.session.layer import Layer, LegendEntry

def pin(context):
    gizmos = GizmoList()
    gizmos.draw_arrow((0, 0, 2), (0, 0, 1), (0, 1, 1))
    return gizmos.pop_glyphs()

LAYERS = [
    Layer("pin", "Pin", "Where the origin is", glyphs=pin,
          legend=lambda context: [LegendEntry((0.0, 1.0, 1.0, 1.0), "origin", True)])
]
"""


@dataclass
class MoreSettings(GizmoSettings):
    slip: bool = False
    pin: bool = False


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """A box on a slope, with two more modules among the layers."""
    (tmp_path / "slip.py").write_text(SLIP)
    (tmp_path / "pin.py").write_text(PIN)
    monkeypatch.setattr(layers, "__path__", [*layers.__path__, str(tmp_path)])
    found = find_layers()
    assert found[: len(LAYERS)] == LAYERS
    more = found[len(LAYERS) :]
    LAYERS.extend(more)
    session = Session(open_engine("slope"), ViewState(gizmos=MoreSettings()))
    session.engine.step(500)
    session.forget()
    yield session
    del LAYERS[-len(more) :]
    for name in ("slip", "pin"):
        del sys.modules[f"{layers.__name__}.{name}"]


def texts(session: Session) -> list[str]:
    return [entry.text for entry in legend_entries(session)]


def test_arrows_at_contacts_are_drawn_while_their_flag_is_on(session: Session) -> None:
    plain, legend = session_glyphs(session), texts(session)
    session.settings.gizmos = MoreSettings(slip=True)
    glyphs = session_glyphs(session)
    new = (glyphs.arrows[:, 8:] == (1, 0, 1, 1)).all(axis=1)
    assert new.sum() == session.contact_count == 4
    # Those that leave the picture have two marks each.
    assert len(glyphs.arrows) - 2 * session.cut.arrows == len(plain.arrows) + 4
    assert glyphs.arrow_owner[new].tolist() == [[0, slot, OTHER] for slot in range(4)]
    batch = session.reading("box_on_slope").batch
    assert batch.normal is not None
    np.testing.assert_allclose(glyphs.arrows[new, 4:7], 2 * batch.normal[batch.filled], rtol=1e-6)
    assert texts(session) == [*legend[:-1], "slip velocity", legend[-1]]
    session.settings.gizmos.color_mode = ColorMode.SENSOR
    assert "slip velocity" not in texts(session)


def test_arrows_elsewhere_are_drawn_while_their_flag_is_on(session: Session) -> None:
    plain, legend = session_glyphs(session), texts(session)
    session.settings.gizmos = MoreSettings(pin=True)
    glyphs = session_glyphs(session)
    assert len(glyphs.arrows) - 2 * session.cut.arrows == len(plain.arrows) + 1
    assert texts(session) == [*legend[:-1], "origin", legend[-1]]


def test_the_display_panel_lists_them(session: Session) -> None:
    assert [layer.label for layer in display_layers(session)][-2:] == ["Pin", "Slip"]


def test_rerun_has_their_arrows(session: Session, tmp_path: Path) -> None:
    from rerun.chunk import RrdReader

    session.settings.gizmos = MoreSettings(slip=True, pin=True, tangents=False)
    with DataFile(tmp_path / "c.rrd", session) as file:
        for step in range(5):
            file.write(step, session.engine.time)
            session.engine.step()
            session.forget()
        file.finish()
    arrows: dict[str, list[list[list[float]]]] = {}
    for chunk in RrdReader(tmp_path / "c.rrd").stream():
        batch = chunk.to_record_batch()
        if not chunk.is_static and "Arrows3D:vectors" in batch.schema.names:
            arrows.setdefault(str(chunk.entity_path), []).extend(batch["Arrows3D:vectors"].to_pylist())
    assert [len(vectors) for vectors in arrows["/contacts/box_on_slope/slip"]] == [4] * 5
    assert arrows["/layers/Pin"][0] == [[0, 0, -1]]
    assert "/contacts/box_on_slope/normal" in arrows
    assert "/contacts/box_on_slope/tangent0" not in arrows


def test_the_layers_that_a_user_can_turn_on_are_known() -> None:
    session = Session(open_engine("slope"), ViewState())
    labels = ["Points", "Forces", "Normal", "Tangents", "Total", "Torque", "Friction cones", "Balance"]
    labels += ["Forces by kind", "Support", "Pressure centre", "Slip velocity", "Dropped"]
    assert [layer.label for layer in display_layers(session)] == [*labels, "Labels"]
    assert all(layer.tooltip for layer in display_layers(session))


def test_flags_are_settings() -> None:
    known = {field.name for field in fields(GizmoSettings) if field.type is bool}
    for layer in LAYERS:
        assert {layer.flag, layer.needs, layer.unless} - {None} <= known


def test_layers_that_are_off_are_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(open_engine("touch"), ViewState())

    def fail(*_: object) -> None:
        raise AssertionError("built")

    for layer in LAYERS:
        if layer.glyphs is not None and layer.flag is not None:
            monkeypatch.setitem(layer.__dict__, "glyphs", fail)
    session_glyphs(session)
    assert DrawContext(session).shown


def test_volumes_come_from_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    session, seen = Session(open_engine("touch"), ViewState()), []
    for layer in LAYERS:
        if layer.geoms is not None:
            monkeypatch.setitem(layer.__dict__, "geoms", lambda context, scene: seen.append(scene))
    scene = object()
    add_volumes(session, scene)
    # Of touch sensors, and bodies of runs beside: support polygons are off.
    assert seen == [scene, scene]
