"""Layouts from what declares them: a model, an element, an engine, another layout."""

from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from contact_viewer import ContactLayout
from contact_viewer.sensors.motrix_frames import PairOrder

FIELDS = ["found", "force", "torque", "dist", "pos", "normal", "tangent"]


def known(array: Any) -> np.ndarray:
    assert array is not None
    return np.asarray(array)


def test_from_mujoco_reads_the_model() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom name="a" size="1"/><body><freejoint/><geom name="b" size="1"/></body></worldbody>
        <sensor><clock/><contact name="c" geom1="a" geom2="b" data="found force tangent" num="3" reduce="maxforce"/>
        <contact data="dist" num="2" reduce="netforce"/></sensor></mujoco>"""
    )
    assert ContactLayout.from_mujoco(model, "c") == ContactLayout("found force tangent", 3, "maxforce")
    assert ContactLayout.from_mujoco(model, 1) == ContactLayout.from_mujoco(model, "c")
    assert ContactLayout.from_mujoco(model, 2) == ContactLayout("dist", 2, "netforce")
    with pytest.raises(ValueError, match="not a contact sensor"):
        ContactLayout.from_mujoco(model, 0)


def test_from_mjcf_reads_an_element_or_its_text() -> None:
    text = '<contact name="c" geom1="a" geom2="b" data="found force pos" num="5" reduce="maxforce"/>'
    expected = ContactLayout("found force pos", 5, "maxforce")
    assert ContactLayout.from_mjcf(text) == expected
    assert ContactLayout.from_mjcf(ElementTree.fromstring(text)) == expected
    assert ContactLayout.from_mjcf(text, "documented").size == 31
    assert ContactLayout.from_mjcf("<contact/>") == ContactLayout("found", 1, "none")
    for wrong, words in (
        ("<touch/>", "<touch>"),
        ("<contact", "not an XML"),
        ('<contact num="x"/>', "'x'"),
        ('<contact num="0"/>', "at least 1"),
        ('<contact data="fource"/>', "fource"),
    ):
        with pytest.raises(ValueError, match=words):
            ContactLayout.from_mjcf(wrong)


def test_from_motrix_reads_the_engines_own_words() -> None:
    report = SimpleNamespace(**{field: field in ("force", "dist") for field in FIELDS})
    sensors = [
        SimpleNamespace(name=name, report=report, reduce=reduce, max_num=6, collider_pairs=pairs)
        for name, reduce, pairs in (
            ("n", "none", [(0, 1), (0, 2)]),
            ("r", "netforce", [(2, 1)]),
            ("m", "mindist", [(2, 1), (0, 1)]),
        )
    ]
    model = SimpleNamespace(low=SimpleNamespace(low_contact_sensors=sensors))
    assert ContactLayout.from_motrix(model, "n") == ContactLayout("force dist", 6, "none", "motrix")
    assert ContactLayout.from_motrix(model, "r") == ContactLayout("force dist", 1, "netforce", "motrix", "reversed")
    assert ContactLayout.from_motrix(model, "m").pair_order is PairOrder.MIXED
    with pytest.raises(ValueError, match=r"'x'.*n, r, m"):
        ContactLayout.from_motrix(model, "x")


def test_restyled_keeps_what_the_style_can_hold() -> None:
    layout = ContactLayout("found force linvel", 4)
    assert layout.restyled("documented") == ContactLayout("found force", 4, style="documented")
    assert ContactLayout("linvel", 4).restyled("motrix") == ContactLayout("found", 4, style="motrix")


def test_take_cuts_a_smaller_array_out() -> None:
    whole = ContactLayout(FIELDS, 3, style="motrix")
    part = ContactLayout("found dist pos", 2, style="motrix")
    array = np.random.default_rng(3).normal(size=(4, whole.size))
    array[:, 0] = 2
    cut = whole.take(array, part)
    assert cut.shape == (4, part.size)
    np.testing.assert_array_equal(known(part.decode(cut).pos), known(whole.decode(array).pos)[:, :2])
