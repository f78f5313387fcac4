"""Events of pairs that MuJoCo lists before they touch, by margins and gaps that no geom declares."""

import math

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.steps import Step
from contact_viewer.events.tracker import ContactTracker, TrackingOptions

SCENE = """
<mujoco>
  <option gravity="0 0 0" {option}><flag override="{override}"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><geom name="ball" size=".1"/></body>
  </worldbody>
</mujoco>"""


def events_of_a_ball_moved_up_and_down(
    model: mujoco.MjModel, precise: bool = False, gap_from: float = math.inf
) -> tuple[list[str], list[str]]:
    """Kinds of the events, and those that follow from the signs of its height, 20 mm up and down.

    `gap_from`: the step from which on geoms have a gap, in which the whole motion takes place.
    """
    engine = open_engine(model)
    tracker = ContactTracker(engine, options=TrackingOptions(precise=precise), limit=None)
    heights = 0.02 * np.sin(np.arange(500) / 20 + 0.3)
    for step, height in enumerate(heights):
        if step == gap_from:
            engine.model.geom_gap[:] = 0.05
        engine.data.qpos[0], engine.data.qvel[0] = height, 0
        engine.step()
        tracker.after_step(Step(engine))
    changes = np.diff(np.sign(heights))
    return [str(entry.kind) for entry in tracker.log], ["begin" if c < 0 else "end" for c in changes[changes != 0]]


@pytest.mark.parametrize("precise", [False, True])
def test_a_margin_of_the_options_hides_no_event(precise: bool) -> None:
    model = mujoco.MjModel.from_xml_string(SCENE.format(option='o_margin="0.05"', override="enable"))
    found, expected = events_of_a_ball_moved_up_and_down(model, precise)
    assert len(expected) == 8
    assert found == expected


@pytest.mark.parametrize("step", [1, 80, 150], ids=["at the start", "in contact", "apart"])
def test_a_gap_that_a_program_sets_hides_no_event(step: int) -> None:
    model = mujoco.MjModel.from_xml_string(SCENE.format(option="", override="disable"))
    found, expected = events_of_a_ball_moved_up_and_down(model, gap_from=step)
    assert found == expected
