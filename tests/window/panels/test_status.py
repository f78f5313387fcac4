"""What the status bar, the legend and the Inspector call things, read from the real window."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

from imgui_bundle import imgui

from ..driver import drive, make_window
from ..text_room import recorded_text

FINGER = """
<mujoco>
  <worldbody>
    <geom name="table" type="plane" size="1 1 1"/>
    <body name="wrist" pos="0 0 .1">
      <joint name="lift" type="slide" axis="0 0 1"/>
      <geom type="box" size=".05 .05 .02" mass="1"/>
      <body name="tip" pos=".1 0 -.05"><joint axis="0 1 0" range="-10 10"/><geom size=".05" mass=".1"/></body>
    </body>
  </worldbody>
  <sensor>
    <contact name="tip_table" body2="tip" num="4"/>
    <contact name="tip_any" body1="tip" num="4"/>
  </sensor>
</mujoco>
"""
"""A fingertip that bears its hand; its geom has no name, and two sensors report its one contact."""


def test_contacts_are_counted_once_and_the_balance_names_what_moves_together(tmp_path: Path) -> None:
    path = tmp_path / "finger.xml"
    path.write_text(FINGER)
    window = make_window(path, steps=300)

    def texts(ctx: Any) -> list[str]:
        with recorded_text() as drawn, patch.object(imgui, "collapsing_header", wraps=imgui.collapsing_header) as head:
            ctx.yield_(2)
            drawn.clear()
            ctx.yield_(1)
        return [*(each.text for each in drawn), *(call.args[0].split("###")[0] for call in head.call_args_list)]

    def has_legend() -> bool:
        legend = imgui.internal.find_window_by_name("##legend")
        return legend is not None and legend.active

    def test(ctx: Any) -> None:
        session = window.app.session
        assert session.contact_count == 2
        told = "\n".join(texts(ctx))
        assert "1 contact" in told
        assert "2 contact" not in told
        assert "are off" not in told
        assert "Balance of wrist and its tree" in told
        assert "geom geom" not in told.lower()
        assert has_legend()
        for key in (imgui.Key.c, imgui.Key.f):
            ctx.key_press(key)
        assert "1 contact, points and forces are hidden (C, F)" in "\n".join(texts(ctx))
        assert not has_legend()

    drive(window, test)
