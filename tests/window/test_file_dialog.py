"""The file dialog in the real window: opened, walked through, cancelled; files that are bad, gone or forbidden."""

import os
from pathlib import Path
from typing import Any

import pytest
from contact_viewer.window.file_dialog import Purpose
from contact_viewer.window.window import Window
from imgui_bundle import imgui

from .driver import drive, make_window, wait

SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body><freejoint/><geom name="box" size=".1" pos="0 0 .1"/></body>
  </worldbody>
  <sensor><contact name="{name}" geom1="floor"/></sensor>
</mujoco>"""
LIST, NAME, ACCEPT = "//###files/##list", "//###files/##name", "//###files/###accept"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "robots").mkdir()
    (tmp_path / ".hidden").mkdir()
    for path in (tmp_path / "first.xml", tmp_path / "second.xml", tmp_path / "robots" / "third.xml"):
        path.write_text(SCENE.format(name=path.stem))
    (tmp_path / "notes.txt").write_text("not a scene")
    (tmp_path / "broken.xml").write_text("<mujoco><worldbody></mujoco>")
    # A name that is no text.
    (Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.xml"))).write_text(SCENE.format(name="bytes"))
    return tmp_path


def is_open() -> bool:
    return imgui.internal.get_top_most_popup_modal() is not None


def running(window: Window) -> str:
    return window.app.session.engine.sensors.names[0]


def listed(window: Window) -> list[str]:
    return [entry.text for entry in window.files.shown()]


def test_a_scene_is_closed_and_another_opened_with_three_clicks(folder: Path) -> None:
    window = make_window(folder / "first.xml", width=800, height=600)

    def test(ctx: Any) -> None:
        ctx.item_click("//##MainMenuBar/##MenuBar/File")
        ctx.item_click("//$FOCUSED/Open...")
        ctx.yield_(3)
        assert is_open()
        assert listed(window) == ["robots", "broken.xml", "caf\ufffd.xml", "first.xml", "second.xml"]
        ctx.item_double_click(f"{LIST}/**/###second.xml")
        wait(ctx, lambda: running(window) == "second")
        assert not is_open()

    drive(window, test)


def test_keys_alone_walk_folders_and_type_paths(folder: Path) -> None:
    window = make_window(folder / "first.xml", width=800, height=600)

    def open_dialog(ctx: Any) -> None:
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.o.value)
        ctx.yield_(3)
        assert is_open()

    def type_name(ctx: Any, text: str) -> None:
        ctx.key_chars_replace(text)
        ctx.key_press(imgui.Key.enter)
        ctx.yield_(3)

    def test(ctx: Any) -> None:
        open_dialog(ctx)
        # A part of one name only, though letters are keys elsewhere.
        type_name(ctx, "sec")
        wait(ctx, lambda: running(window) == "second")
        assert window.app.session.settings.gizmos.points
        open_dialog(ctx)
        # This also presses Enter.
        ctx.item_input_value(NAME, "robots")
        ctx.yield_(2)
        assert window.files.folder == folder / "robots"
        ctx.item_click("//###files/###up")
        assert window.files.folder == folder
        ctx.item_input_value(NAME, str(folder / "robots" / "third.xml"))
        wait(ctx, lambda: running(window) == "third")
        # A name that is no text, which MuJoCo does not take.
        open_dialog(ctx)
        ctx.item_click("//###files/###up")
        ctx.item_double_click(f"{LIST}/**/###caf\ufffd.xml")
        wait(ctx, lambda: any("caf" in notice.text for notice in window.app.notices.items))
        ctx.yield_(3)
        assert running(window) == "third"
        assert window.app.title == f"third.xml ({folder / 'robots'}) - contact-viewer"

    drive(window, test)


def test_what_cannot_be_opened_is_said_and_the_scene_stays(folder: Path) -> None:
    window = make_window(folder / "first.xml", width=800, height=600)
    app, files = window.app, window.files

    def test(ctx: Any) -> None:
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.o.value)
        ctx.yield_(3)
        ctx.item_input_value(NAME, "nowhere.xml")
        ctx.item_click(ACCEPT)
        assert files.trouble == f"{folder / 'nowhere.xml'} does not exist"
        # It goes while it is looked at.
        (folder / "second.xml").unlink()
        ctx.item_input_value(NAME, "")
        ctx.item_double_click(f"{LIST}/**/###second.xml")
        assert "does not exist" in files.trouble
        ctx.item_click("//###files/###again")
        assert "second.xml" not in listed(window)
        (folder / "robots" / "third.xml").unlink()
        (folder / "robots").rmdir()
        ctx.item_double_click(f"{LIST}/**/###robots")
        assert "cannot read" in files.trouble or "does not exist" in files.trouble
        assert files.folder == folder
        ctx.item_click("//###files/hidden")
        assert ".hidden" in listed(window)
        ctx.item_click("//###files/all files, not only .xml .mjcf .urdf .mjb .cvrun")
        assert "notes.txt" in listed(window)
        ctx.item_double_click(f"{LIST}/**/###notes.txt")
        wait(ctx, lambda: app.notices.items)
        assert "notes.txt" in app.notices.items[-1].text
        assert running(window) == "first"
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.o.value)
        ctx.yield_(3)
        ctx.item_double_click(f"{LIST}/**/###broken.xml")
        wait(ctx, lambda: "broken.xml" in app.notices.items[-1].text)
        assert running(window) == "first"

    drive(window, test)


def test_it_is_cancelled_by_button_key_and_cross(folder: Path) -> None:
    window = make_window(folder / "first.xml", width=800, height=600)

    def test(ctx: Any) -> None:
        for cancel in (
            lambda: ctx.item_click("//###files/Cancel"),
            lambda: ctx.key_press(imgui.Key.escape),
            lambda: ctx.item_click("//###files/#CLOSE"),
        ):
            ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.o.value)
            ctx.yield_(3)
            assert is_open()
            cancel()
            ctx.yield_(3)
            assert not is_open()
        ctx.yield_(10)
        assert running(window) == "first"

    drive(window, test)


def test_files_are_named_to_be_saved_and_folders_chosen(folder: Path) -> None:
    window = make_window(folder / "first.xml", width=800, height=600)
    chosen: list[Path] = []

    def test(ctx: Any) -> None:
        window.files.ask(Purpose.SAVE, "Save", folder / "gone" / "too", chosen.append, (".mp4",), "clip.mp4")
        ctx.yield_(3)
        assert window.files.folder == folder
        ctx.item_click(ACCEPT)
        assert chosen == [folder / "clip.mp4"]
        window.files.ask(Purpose.SAVE, "Save", folder, chosen.append, (), "first.xml")
        ctx.yield_(3)
        ctx.item_click(ACCEPT)
        assert len(chosen) == 1
        assert window.files.trouble == "first.xml exists"
        ctx.item_click(ACCEPT)
        assert chosen[1] == folder / "first.xml"
        window.files.ask(Purpose.FOLDER, "Folder", folder, chosen.append)
        ctx.yield_(3)
        assert listed(window) == ["robots"]
        ctx.item_input_value(NAME, "nowhere")
        ctx.item_click(ACCEPT)
        assert "is not a folder" in window.files.trouble
        ctx.item_click(f"{LIST}/**/###robots")
        ctx.item_click(ACCEPT)
        assert chosen[2] == folder / "robots"
        window.files.ask(Purpose.FOLDER, "Folder", folder, chosen.append)
        ctx.yield_(3)
        ctx.item_click(ACCEPT)
        assert chosen[3] == folder

    drive(window, test)
