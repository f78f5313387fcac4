"""Signals, peaks and means of recorded steps against a simulation that is read step by step."""

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.sensors.contacts import ContactBatch
from contact_viewer.sensors.friction import Cone
from contact_viewer.sensors.layout import ContactLayout
from contact_viewer.sensors.signals import Signal, mean, measure_signals, peak

MU = 0.4
FIELDS = "found force torque dist pos normal tangent linvel angvel"
NET_FIELDS = "found force torque dist pos normal tangent"
SCENE = f"""
<mujoco>
  <option cone="elliptic" gravity="2 1 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1" friction="{MU}"/>
    <body pos="0 0 .3" euler="20 10 0"><freejoint/><geom name="box" type="box" size=".1 .2 .05" friction="{MU}"/></body>
  </worldbody>
  <sensor>
    <contact name="all" geom1="floor" geom2="box" num="6" data="{FIELDS}"/>
    <contact name="net" geom1="floor" geom2="box" reduce="netforce" data="{NET_FIELDS}"/>
  </sensor>
</mujoco>"""
STEPS = 600


@pytest.fixture(scope="module")
def simulated() -> dict[str, np.ndarray]:
    """Both sensors' arrays and, from MuJoCo's contact list, what the signals should be."""
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    rows, truth = [], np.full((STEPS, len(Signal)), np.nan)
    wrench = np.zeros(6)
    for step in range(STEPS):
        mujoco.mj_step(model, data)
        rows.append(data.sensordata.copy())
        forces, net, uses = np.zeros((data.ncon, 3)), np.zeros(3), []
        for i, contact in enumerate(data.contact):
            mujoco.mj_contactForce(model, data, i, wrench)
            forces[i] = wrench[:3]
            net += contact.frame.reshape(3, 3).T @ wrench[:3]
            if wrench[0] > 1e-9:
                uses.append(np.hypot(wrench[1], wrench[2]) / (MU * wrench[0]))
        truth[step, :3] = forces.sum(axis=0)
        truth[step, 3], truth[step, 4] = np.linalg.norm(net), data.ncon
        if data.ncon:
            truth[step, 5] = min(contact.dist for contact in data.contact)
        if uses:
            truth[step, 7] = max(uses)
    return {"rows": np.array(rows), "truth": truth}


def batches(simulated: dict[str, np.ndarray]) -> tuple[Any, Any]:
    layout = ContactLayout(FIELDS, 6)
    net = ContactLayout(NET_FIELDS, 1, "netforce")
    rows = simulated["rows"]
    return layout.decode(rows[:, : layout.size]), net.decode(rows[:, layout.size :])


def test_signals_are_what_mujocos_contacts_say(simulated: dict[str, np.ndarray]) -> None:
    batch, net = batches(simulated)
    truth = simulated["truth"]
    signals = measure_signals(batch, MU, Cone.ELLIPTIC)
    assert signals.shape == (len(Signal), STEPS)
    assert signals.dtype == np.float32
    for signal, values, wanted in zip(Signal, signals, truth.T, strict=True):
        if signal is not Signal.SLIP:
            np.testing.assert_allclose(values, wanted, rtol=1e-5, atol=1e-5, err_msg=signal)
    assert np.isfinite(signals).all(axis=0).sum() > 100
    assert np.isnan(signals[:, batch.found == 0]).sum(axis=0).tolist() == [3] * int((batch.found == 0).sum())
    world = measure_signals(net, MU)
    np.testing.assert_allclose(world[3], signals[3], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(world[:3].T, net.force[:, 0], rtol=1e-6, atol=1e-6)
    assert np.isnan(world[5:]).all()


def test_slip_speed_is_the_bodys_when_it_slides() -> None:
    layout = ContactLayout(FIELDS, 2)
    row = np.zeros((3, layout.size))
    slots = row.reshape(3, 2, -1)
    slots[1, :, 0] = 2
    slots[1, 0, 17:20] = 9, 0.3, 0.4
    slots[1, 1, 17:20] = 9, 0.6, -0.8
    slip = measure_signals(layout.decode(row))[list(Signal).index(Signal.SLIP)]
    np.testing.assert_allclose(slip, [np.nan, 1.0, np.nan])


def test_what_a_sensor_does_not_report_is_unknown() -> None:
    signals = measure_signals(ContactLayout("found", 2).decode(np.array([[1.0, 0.0], [0.0, 0.0]])), MU)
    np.testing.assert_array_equal(signals[4], [1, 0])
    assert np.isnan(np.delete(signals, 4, axis=0)).all()
    # Without directions the components of all contacts are added up as they are.
    signals = measure_signals(ContactLayout("found force", 2).decode(np.array([[2.0, 1, 2, 0, 2.0, 2, 2, 0]])))
    np.testing.assert_array_equal(signals[:5, 0], [3, 4, 0, 5, 2])
    # One direction does not make a frame; nor do two of which it is not known whether the forces are along them.
    facing, across = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    for fields, directions in (("normal", facing), ("tangent", facing), ("normal tangent", facing + across)):
        layout = ContactLayout(f"found force {fields}", 2)
        turned = np.roll(directions, 1)
        batch = layout.decode(np.array([[2.0, 1, 2, 0, *directions, 2.0, 2, 2, 0, *turned]]))
        signals = measure_signals(replace(batch, frame_known=" " not in fields))
        np.testing.assert_array_equal(signals[:5, 0], [3, 4, 0, 5, 2])


def test_netforce_is_labelled_along_the_world() -> None:
    assert [signal.label(True) for signal in Signal][:4] == ["force x", "force y", "force z", "force"]
    assert Signal.NORMAL.label(False) == "normal force"
    assert (Signal.NORMAL.unit, Signal.DISTANCE.unit, Signal.SLIP.unit, Signal.USE.unit) == ("N", "m", "m/s", "")


def test_the_peak_is_one_instant_of_the_run(simulated: dict[str, np.ndarray]) -> None:
    batch, net = batches(simulated)
    strongest = int(np.argmax(np.linalg.norm(batch.force, axis=-1).sum(axis=-1)))
    for start, stop in ((0, STEPS), (strongest, strongest + 1), (strongest - 3, strongest + 5)):
        shown: Any = peak(_part(batch, start, stop))
        np.testing.assert_array_equal(shown.force, batch.force[strongest])
        np.testing.assert_array_equal(shown.pos, batch.pos[strongest])
        assert shown.found == batch.found[strongest]
    assert simulated["truth"][strongest, 3] > 3 * np.median(simulated["truth"][-50:, 3])
    shown = peak(net)
    assert np.linalg.norm(shown.force) == pytest.approx(simulated["truth"][:, 3].max(), rel=1e-9)


def test_without_contact_the_peak_is_the_present() -> None:
    layout = ContactLayout("found force pos", 2)
    rows = np.zeros((4, layout.size))
    rows[:, 4] = np.arange(4)
    shown: Any = peak(layout.decode(rows))
    assert shown.pos[0, 0] == 3


def test_means_sum_to_the_mean_net_force(simulated: dict[str, np.ndarray]) -> None:
    batch, net = batches(simulated)
    for start in range(0, STEPS - 8, 8):
        part = _part(batch, start, start + 8)
        shown: Any = mean(part)
        np.testing.assert_allclose(shown.net_force, part.net_force.mean(axis=0), atol=1e-9)
        shown_net: Any = mean(_part(net, start, start + 8))
        np.testing.assert_allclose(shown_net.force[0], shown.net_force, atol=1e-9)
        np.testing.assert_array_equal(shown.filled, part.filled.any(axis=0))
        assert shown.found == part.found.mean()
        for slot in np.flatnonzero(shown.filled):
            where = part.pos[part.filled[:, slot], slot]
            assert (where.min(axis=0) - 1e-12 <= shown.pos[slot]).all()
            assert (shown.pos[slot] <= where.max(axis=0) + 1e-12).all()
        assert (shown.pos[~shown.filled] == 0).all()


def test_the_mean_of_one_step_is_that_step(simulated: dict[str, np.ndarray]) -> None:
    batch, _ = batches(simulated)
    for step in (0, 200, 599):
        shown = mean(_part(batch, step, step + 1))
        for field in ("force", "torque", "pos", "normal", "dist"):
            np.testing.assert_allclose(getattr(shown, field), getattr(batch, field)[step], atol=1e-12)


def test_a_mean_without_directions_averages_components() -> None:
    layout = ContactLayout("found force", 1)
    shown: Any = mean(layout.decode(np.array([[1.0, 2, 0, 0], [0.0, 0, 0, 0], [1.0, 4, 3, 0]])))
    np.testing.assert_allclose(shown.force, [[2, 1, 0]])


def test_the_mean_of_a_contact_that_was_lost_is_drawn_in_the_frame_that_it_had_last() -> None:
    layout = ContactLayout("found force normal tangent", 1)
    along_y, along_z = [0, 1, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0]
    rows = np.array([[1.0, 8, 0, 0, *along_y], [1.0, 4, 0, 0, *along_z], [0.0] * 10, [0.0] * 10])
    shown: Any = mean(layout.decode(rows))
    np.testing.assert_array_equal(shown.normal, [[0, 0, 1]])
    np.testing.assert_allclose(shown.net_force, [0, 2, 1])


def test_a_mean_position_is_nearest_to_where_it_pressed_hardest() -> None:
    layout = ContactLayout("found force pos", 2)
    steps = np.zeros((3, 2, 7))
    # The first slot presses with 1, 3 and 0 N at three places; the second touches twice and never presses.
    steps[:, :, 0] = [[2, 2], [2, 2], [1, 0]]
    steps[:, 0, 1] = 1, 3, 0
    steps[:, 0, 4:] = [[0, 0, 1], [4, 8, 1], [9, 9, 9]]
    steps[:2, 1, 4:] = [[2, 0, 0], [4, 0, 6]]
    for strength in (1.0, 1e-3):
        scaled = steps * np.where(np.isin(np.arange(7), (1, 2, 3)), strength, 1.0)
        shown: Any = mean(layout.decode(scaled.reshape(3, -1)))
        np.testing.assert_allclose(shown.pos, [[3, 6, 1], [3, 0, 3]])
    # Where no forces are reported, all steps count alike.
    bare = ContactLayout("found pos", 1)
    shown = mean(bare.decode(np.array([[1.0, 2, 0, 0], [0.0, 0, 0, 0], [1.0, 4, 6, 0]])))
    np.testing.assert_allclose(shown.pos, [[3, 3, 0]])


def _part(batch: ContactBatch, start: int, stop: int) -> Any:
    names = ("found", "filled", "force", "torque", "dist", "pos", "normal", "tangent0", "linvel", "angvel")
    parts = {name: getattr(batch, name) for name in names}
    sliced = {name: value[start:stop] for name, value in parts.items() if value is not None}
    return ContactBatch(**sliced, in_world_frame=batch.in_world_frame)
