"""Findings window: the model is checked after opening, runs on request; a click goes there, a fix can be undone."""

from pathlib import Path
from typing import Any

from ..driver import drive, make_window, wait

JAMMED = """<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="base" pos="0 0 1"><geom name="base" type="box" size=".1 .1 .1"/>
      <body name="link" pos="0 0 .19"><joint axis="0 1 0"/>
        <geom name="link" type="box" size=".08 .08 .1"/></body></body>
    <body name="ball" pos="1 0 .1"><freejoint/><geom name="ball" size=".1" contype="2" conaffinity="2"/></body>
  </worldbody>
  <sensor><contact name="hit" geom1="floor" geom2="ball"/></sensor>
</mujoco>
"""


def test_findings_are_shown_and_fixed_and_the_fix_is_undone(tmp_path: Path) -> None:
    path = tmp_path / "jammed.xml"
    path.write_text(JAMMED)
    window = make_window(path)
    app = window.app

    def rules() -> list[str]:
        return [finding.rule for finding in app.findings.found]

    def test(ctx: Any) -> None:
        # Static rules need no request, and nothing is stepped for them.
        wait(ctx, lambda: rules() == ["never-collides"])
        assert [finding.rule for finding in app.findings.of_sensor("hit")] == ["never-collides"]
        ctx.window_focus("//Findings")
        ctx.yield_(2)
        ctx.item_click("//Findings/Check runs")
        wait(ctx, lambda: "self-contact-at-rest" in rules())
        place = rules().index("self-contact-at-rest")
        ctx.item_click(f"//Findings/{place}/###finding")
        ctx.yield_(2)
        assert app.session.paused
        assert app.session.view.selected_body == app.session.engine.model.body("link").id
        ctx.item_click(f"//Findings/{place}/###fix")
        wait(ctx, lambda: "<exclude" in path.read_text() and app.session.engine.model.nexclude == 1)
        app.undo()
        wait(ctx, lambda: path.read_text() == JAMMED and app.session.engine.model.nexclude == 0)

    drive(window, test)


def test_bundled_scene_has_no_findings() -> None:
    window = make_window("slope")
    app = window.app

    def test(ctx: Any) -> None:
        wait(ctx, lambda: not app.findings.is_busy)
        assert not app.findings.found
        assert not app.findings.trouble

    drive(window, test)
