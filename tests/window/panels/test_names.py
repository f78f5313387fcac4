"""Names with `##`, which ImGui takes for the beginning of an id: labels show all of them."""

from pathlib import Path
from typing import Any

import pytest
from contact_viewer.window.widgets import literal
from imgui_bundle import imgui

from ..driver import drive, make_window

SCENE = """<mujoco><worldbody><geom name="floor##low" type="plane" size="1 1 1"/><camera name="near##low" pos="0 0 3"/>
<body name="box##low" pos="0 0 .1"><freejoint name="free##low"/><geom name="ball##low" size=".1"/>
<body pos="0 0 .2"><joint name="hinge##low" axis="0 1 0"/><geom size=".05"/></body></body></worldbody>
<actuator><motor name="turn##low" joint="hinge##low" ctrlrange="-1 1" ctrllimited="true"/></actuator>
<sensor><contact name="touch##low" geom1="ball##low" geom2="floor##low" data="found force"/></sensor>
<keyframe><key name="start##low"/></keyframe></mujoco>"""
LABELLED = ("selectable", "menu_item_simple", "begin_combo", "checkbox", "radio_button", "collapsing_header")


def test_names_with_two_hashes_are_whole_in_lists_and_menus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = tmp_path / "scene##low.xml"
    scene.write_text(SCENE)
    window = make_window(scene, steps=20)
    shown: set[str] = set()
    for name in (*LABELLED, "separator_text"):
        real = getattr(imgui, name)

        def note(label: str, *rest: Any, real: Any = real, name: str = name, **more: Any) -> Any:
            texts = [label, rest[0]] if name == "begin_combo" else [label]
            # What ImGui draws of a label.
            shown.update(text.partition("##")[0].replace("\r", "") for text in texts)
            return real(label, *rest, **more)

        monkeypatch.setattr(imgui, name, note)

    def test(ctx: Any) -> None:
        for menu in ("Camera", "Keyframe"):
            for place in ("View", "Simulation"):
                ctx.item_click(f"//##MainMenuBar/##MenuBar/{place}")
                if ctx.item_exists(f"//$FOCUSED/{menu}"):
                    ctx.item_click(f"//$FOCUSED/{menu}")
                ctx.yield_(2)
                ctx.popup_close_all()
        ctx.window_focus("//Controls")
        ctx.yield_(3)
        for name, wide in (("#", imgui.calc_text_size("ball##low")), ("###", imgui.calc_text_size("a###b"))):
            text = "ball##low" if name == "#" else "a###b"
            hidden = imgui.calc_text_size(literal(text), hide_text_after_double_hash=True)
            assert (hidden.x, hidden.y) == (wide.x, wide.y)

    drive(window, test)
    for name in ("near", "start", "turn"):
        assert f"{name}##low" in shown, (name, sorted(shown))
        assert name not in shown
