"""Contacts in world axes, added up, and at their peak, against numbers that are known beforehand."""

import numpy as np
import pytest
from contact_viewer.sensors.contacts import ContactBatch
from contact_viewer.sensors.curves import Curves
from contact_viewer.sensors.layout import ContactLayout
from contact_viewer.sensors.motrix_frames import complete_net
from contact_viewer.sensors.signals import Signal, measure_signals, peak
from numpy.typing import NDArray

Values = NDArray[np.float64]


def random_frames(rng: np.random.Generator, shape: tuple[int, ...]) -> Values:
    """Right-handed frames whose rows are normal, tangent0 and tangent1, (*shape, 3, 3)."""
    frames = np.linalg.qr(rng.normal(size=(*shape, 3, 3)))[0]
    frames[..., 2, :] *= np.sign(np.linalg.det(frames))[..., np.newaxis]
    return np.asarray(frames)


# Batches of 64 and more are turned another way, 4096 at a time.
@pytest.mark.parametrize("shape", [(3,), (5, 2), (63, 2), (64, 2), (200, 4), (4097, 1), (70, 3, 2)])
def test_a_force_along_the_axes_of_the_world_has_them_in_any_frame(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    frames, force, torque = random_frames(rng, shape), rng.normal(size=(*shape, 3)), rng.normal(size=(*shape, 3))
    batch = ContactBatch(
        np.full(shape[:-1], shape[-1]),
        np.ones(shape, bool),
        force=np.einsum("...ij,...j->...i", frames, force),
        torque=np.einsum("...ij,...j->...i", frames, torque),
        normal=frames[..., 0, :],
        tangent0=frames[..., 1, :],
    )
    assert batch.force_world == pytest.approx(force, abs=1e-12)
    assert batch.torque_world == pytest.approx(torque, abs=1e-12)
    assert batch.tangent1 == pytest.approx(frames[..., 2, :], abs=1e-12)
    # Contacts in frames of their own add up in the world.
    net = measure_signals(batch)[list(Signal).index(Signal.MAGNITUDE)]
    assert net == pytest.approx(np.linalg.norm(force.sum(axis=-2), axis=-1), rel=1e-5)


FIELDS = "found force torque dist pos normal tangent"


def motrix_contacts(rng: np.random.Generator, found: list[int], slots: int) -> tuple[Values, Values, Values]:
    """Arrays of single contacts of several environments, and the sums of their forces and torques in the world."""
    layout = ContactLayout(FIELDS, slots, style="motrix")
    arrays = np.zeros((len(found), layout.size))
    forces, torques = np.zeros((2, len(found), 3))
    for row, count in enumerate(found):
        arrays[row, 0] = count
        for slot in range(min(count, slots)):
            frame = random_frames(rng, ())
            force, torque = rng.normal(size=(2, 3))
            forces[row] += force
            torques[row] += torque
            values = (*(frame @ force), *(frame @ torque), -0.001, 0, 0, 0, *frame[0], *frame[1])
            start = 1 + slot * len(values)
            arrays[row, start : start + len(values)] = values
    return arrays, forces, torques


def test_where_motrixsim_has_no_sum_it_is_that_of_the_contacts() -> None:
    """Its own is NaN where the normals cancel; where there are more contacts than slots nobody knows it."""
    rng, slots = np.random.default_rng(8), 3
    arrays, forces, torques = motrix_contacts(rng, [3, 1, 2, 7], slots)
    net = ContactLayout(FIELDS, 1, "netforce", "motrix")
    sums = np.zeros((4, net.size))
    sums[:, 0] = [3, 1, 2, 7]
    sums[:, 1:4], sums[:, 4:7] = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    sums[:, 11:14], sums[:, 14:17] = [0, 0, 1], [1, 0, 0]
    lost = [0, 2, 3]
    sums[lost, 1:7] = np.nan
    batch = complete_net(net.decode(sums), ContactLayout(FIELDS, slots, style="motrix").decode(arrays))
    assert batch.in_world_frame
    assert batch.frame_known
    assert batch.force is not None
    assert batch.torque is not None
    assert batch.force.shape == (4, 1, 3)
    for row in (0, 2):
        np.testing.assert_allclose(batch.force[row, 0], forces[row], atol=1e-12)
        np.testing.assert_allclose(batch.torque[row, 0], torques[row], atol=1e-12)
    # Its own is along z, x and y, as normal and tangent say.
    assert batch.force[1, 0].tolist() == [2, 3, 1]
    assert batch.torque[1, 0].tolist() == [5, 6, 4]
    assert np.isnan(batch.force[3]).all()
    assert np.isnan(batch.torque[3]).all()
    assert batch.normal is not None
    assert batch.tangent0 is not None
    assert (batch.normal[:, 0] == [1, 0, 0]).all()
    assert (batch.tangent0[:, 0] == [0, 1, 0]).all()


@pytest.mark.parametrize("missing", ["force", "torque", "normal", "tangent"])
def test_a_sum_of_contacts_that_lack_a_part_is_refused(missing: str) -> None:
    fields = [name for name in FIELDS.split() if name != missing]
    single = ContactLayout(" ".join(fields), 2, style="motrix")
    net = ContactLayout(FIELDS, 1, "netforce", "motrix")
    with pytest.raises(ValueError, match="added up"):
        complete_net(net.decode(np.zeros(net.size)), single.decode(np.zeros(single.size)))


def test_the_peak_is_where_the_contacts_press_hardest_together() -> None:
    """Forces that point against each other press twice, and components of one contact do not add up."""
    layout = ContactLayout("found force", 2)
    steps = np.zeros((5, 2, 4))
    steps[..., 0] = 2
    steps[0, :, 1:] = [[3, 4, 0], [0, 0, 0]]  # 5 N
    steps[1, :, 1:] = [[4, 0, 0], [-4, 0, 0]]  # 8 N
    steps[2, :, 1:] = [[3, 3, 3], [0, 2, 0]]  # 7.2 N, though the components add up to 11
    steps[3, :, 1:] = [[0, 0, 8], [0, 0, 0]]  # 8 N again: the last of equals
    batch = peak(layout.decode(steps.reshape(5, -1)))
    assert batch.force is not None
    assert batch.force.tolist() == [[0, 0, 8], [0, 0, 0]]


def test_the_version_of_curves_changes_with_them() -> None:
    curves, versions = Curves(1, 1000), [-1]

    def changed() -> bool:
        versions.append(curves.version)
        return versions[-1] not in versions[:-1]

    for _ in range(3):
        curves.extend(np.ones((1, 10)))
        assert changed()
        curves.truncate(curves.stop - 5)
        assert changed()
    curves.restart(40)
    assert changed()
    curves.extend(np.ones((1, 10)))
    assert changed()


def test_help_explains_every_value() -> None:
    assert "on object 2 [N], world" in str(ContactBatch.force_world.__doc__)
