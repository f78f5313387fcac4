"""MJCF text with only some of a scene's contact sensors."""

from xml.etree import ElementTree

from contact_viewer.scene_files.mjcf import count_contact_sensors, keep_contact_sensors

SCENE = """<mujoco><contact><exclude body1="a" body2="b" /></contact><sensor><contact name="p" /><clock name="c" />\
<contact name="q" /></sensor><sensor><contact name="r" /></sensor></mujoco>"""


def test_sensors_are_left_out_of_the_text_and_stay_in_the_scene() -> None:
    root = ElementTree.fromstring(SCENE)
    assert count_contact_sensors(root) == 3
    for keep, left_out in (([0, 1, 2], []), ([1], ["p", "r"]), ([2, 0], ["q"]), ([], ["p", "q", "r"])):
        expected = SCENE
        for name in left_out:
            expected = expected.replace(f'<contact name="{name}" />', "")
        # A section without content closes itself.
        assert keep_contact_sensors(root, keep) == expected.replace("<sensor></sensor>", "<sensor />")
    assert ElementTree.tostring(root, encoding="unicode") == SCENE
