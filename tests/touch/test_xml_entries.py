"""Touch sensors saved into a scene's text: the entry changes, nothing else does, and reloading shows it."""

from pathlib import Path

import pytest
from contact_viewer import open_engine
from contact_viewer.errors import SceneError
from contact_viewer.touch.declaration import TouchDeclaration, parse_touch, save_touch
from contact_viewer.touch.touch_sensors import TouchSensors

WORLD = """<worldbody><!-- a <custom> in a comment -->
    <body name="box"><freejoint/><geom size=".1"/><site name="sole"/></body></worldbody>"""
NEW = parse_touch("new", "type=force-3d site=sole table='0 0 0, 5 50 0.1' resolution=2 seed=3")


def declarations(path: Path) -> dict[str, TouchDeclaration | None]:
    touch = TouchSensors(open_engine(path))
    assert not touch.problems
    return {sensor.name: sensor.saved for sensor in touch}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '<custom>\n    <text name="a" data="b"/>\n  </custom>',
            '<custom>\n    <text name="a" data="b"/>\n    {new}\n  </custom>',
        ),
        ('<custom><text name="a" data="b"/></custom>', '<custom><text name="a" data="b"/>\n    {new}\n  </custom>'),
        ("<custom/>", "<custom>\n    {new}\n  </custom>"),
        ("<custom >\n  </custom>", "<custom >\n    {new}\n  </custom>"),
    ],
)
def test_a_new_entry_goes_to_the_end_of_custom(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(f"<mujoco>\n  {before}\n  {WORLD}\n</mujoco>\n")
    save_touch(path, NEW).save()
    assert path.read_text() == f"<mujoco>\n  {after.format(new=NEW.to_mjcf())}\n  {WORLD}\n</mujoco>\n"
    assert declarations(path) == {"new": NEW}


def test_a_new_section_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_bytes(f"<!-- first -->\r\n<mujoco model='m'>\r\n  {WORLD}\r\n</mujoco>".encode())
    save_touch(path, NEW).save()
    section = f"\r\n  <custom>\r\n    {NEW.to_mjcf()}\r\n  </custom>"
    assert path.read_bytes().decode() == f"<!-- first -->\r\n<mujoco model='m'>{section}\r\n  {WORLD}\r\n</mujoco>"
    assert declarations(path) == {"new": NEW}


@pytest.mark.parametrize(("quote", "inner"), [('"', "'"), ("'", '"')])
def test_an_entry_is_overwritten_in_place(tmp_path: Path, quote: str, inner: str) -> None:
    path = tmp_path / "scene.xml"
    text = f"""<mujoco>
  <custom>
    <!-- <text name="touch:new" data="site=sole"/> -->
    <text data={quote}type=force site=sole table={inner}0 0 0{inner}{quote}
          name="touch:new" /> <text name="touch:other" data="site=sole"/>
  </custom>
  {WORLD}
</mujoco>"""
    path.write_text(text)
    before = declarations(path)
    save_touch(path, NEW).save()
    assert declarations(path) == {**before, "new": NEW}
    start, end = text.index(f"data={quote}type") + 6, text.index(f"{quote}\n          name")
    changed = path.read_text()
    assert changed.startswith(text[:start])
    assert changed.endswith(text[end:])


def test_an_entry_in_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text('<mujoco><custom><text name="touch:new" data="site=sole"/></custom></mujoco>')
    path = tmp_path / "scene.xml"
    path.write_text(f'<mujoco><include file="part.xml"/>{WORLD}</mujoco>')
    text = path.read_text()
    save_touch(path, NEW).save()
    assert path.read_text() == text
    assert declarations(path) == {"new": NEW}
    save_touch(path, parse_touch("second", "site=sole")).save()
    assert set(declarations(path)) == {"new", "second"}


@pytest.mark.parametrize("text", ["<robot name='r'/>", "<mujoco", "no markup"])
def test_what_is_no_scene_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(text)
    with pytest.raises(SceneError, match=r"scene\.xml: "):
        save_touch(path, NEW)
    assert path.read_text() == text
