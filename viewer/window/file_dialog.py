"""Let the user choose a file or a folder, drawn by ImGui alone: no external dialog program is needed."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from imgui_bundle import ImVec2, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ..files import printable, size_text
from . import widgets as ui
from .theme import dim_color, warning_color

_SIZE, _CHANGED = "0000.0 MB", "0000-00-00 00:00"
"""Widest texts of the columns size and date."""
_POPUP = "###files"


class Purpose(StrEnum):
    """Kind of choice; its value is the label of the button that confirms it."""

    OPEN = "Open"
    """Choose a file that exists."""
    SAVE = "Save"
    """Choose a path to write to; the file may exist already."""
    FOLDER = "Choose"
    """Choose a folder that exists."""


@dataclass(frozen=True)
class Entry:
    """A file or a folder in the list."""

    path: Path
    text: str
    """Name as far as it can be shown: the name of a file may be any bytes."""
    is_folder: bool
    size: int
    """Size of a file [bytes]."""
    changed: float
    """Time of the last change [s since 1970]."""


class FileDialog:
    """File dialog over the window; at most one is open."""

    def __init__(self) -> None:
        self.folder = Path(os.sep)
        self.entries: list[Entry] = []
        """Files and folders in the folder, before the filters."""
        self.name = ""
        """Typed text: a name, a path, or a part of names."""
        self.trouble = ""
        """Reason why the last choice was not possible; empty if it was."""
        self._purpose = Purpose.OPEN
        self._title = ""
        self._suffixes: tuple[str, ...] = ()
        self._every_file = self._hidden = False
        self._then: Callable[[Path], None] = lambda _: None
        self._wanted = self._typed = self._replaces = False

    def ask(
        self,
        purpose: Purpose,
        title: str,
        folder: Path,
        then: Callable[[Path], None],
        suffixes: tuple[str, ...] = (),
        name: str = "",
    ) -> None:
        """Open the dialog in a folder, or in the nearest one above it that exists.

        Args:
            purpose: Kind of choice.
            title: Title of the dialog.
            folder: Folder that is listed first.
            then: Function that is called with the chosen path.
            suffixes: Suffixes of the files that are listed at first; all files if empty.
            name: File name that is filled in at first.
        """
        self._purpose, self._title, self._then, self._suffixes = purpose, title, then, suffixes
        self.name, self._every_file, self._typed, self._replaces = name, not suffixes, False, False
        folder = folder.absolute()
        while not folder.is_dir() and folder != folder.parent:
            folder = folder.parent
        self.go_to(folder)
        self._wanted = True

    def show(self) -> None:
        """Draw the dialog while it is open. Call it once a frame."""
        if self._wanted:
            self._wanted = False
            imgui.open_popup(_POPUP)
        em = imgui.get_font_size()
        screen = imgui.get_main_viewport().size
        size = ImVec2(min(46 * em, 0.95 * screen.x), min(32 * em, 0.9 * screen.y))
        imgui.set_next_window_size(size, imgui.Cond_.appearing)
        imgui.set_next_window_pos(imgui.get_main_viewport().get_center(), imgui.Cond_.appearing, ImVec2(0.5, 0.5))
        flags = imgui.WindowFlags_.no_saved_settings | imgui.WindowFlags_.no_docking
        if imgui.begin_popup_modal(f"{self._title}{_POPUP}", True, flags)[0]:
            self._show_place()
            self._show_list(footer=3 * imgui.get_frame_height_with_spacing() + imgui.get_style().item_spacing.y)
            self._show_choice()
            imgui.end_popup()

    def go_to(self, folder: Path) -> None:
        """List another folder; if it cannot be read, show the reason and stay."""
        try:
            entries = [entry for item in os.scandir(folder) if (entry := _entry(item)) is not None]
        except OSError as error:
            self.trouble = f"cannot read {folder} ({error.strerror or error})"
            return
        self.trouble = ""
        self.folder = folder
        self.entries = sorted(entries, key=lambda entry: (not entry.is_folder, entry.text.casefold()))
        if self._purpose is not Purpose.SAVE:
            self.name, self._typed = "", False

    def shown(self) -> list[Entry]:
        """Return the entries that pass the filters."""
        part = self.name.casefold() if self._typed and self._purpose is Purpose.OPEN else ""
        return [entry for entry in self.entries if self._passes(entry) and part in entry.text.casefold()]

    def _passes(self, entry: Entry) -> bool:
        if entry.text.startswith(".") and not self._hidden:
            return False
        if entry.is_folder:
            return True
        if self._purpose is Purpose.FOLDER:
            return False
        return self._every_file or entry.path.suffix.lower() in self._suffixes

    def _show_place(self) -> None:
        if ui.button(f"{icons.ICON_FA_ARROW_UP}###up", "Parent folder"):
            self.go_to(self.folder.parent)
        imgui.same_line(0, 4)
        if ui.button(f"{icons.ICON_FA_HOUSE}###home", "Home folder"):
            self.go_to(Path("~").expanduser())
        imgui.same_line(0, 4)
        if ui.button(f"{icons.ICON_FA_ARROWS_ROTATE}###again", "Read the folder again"):
            self.go_to(self.folder)
        imgui.same_line()
        imgui.align_text_to_frame_padding()
        ui.fitted_text(printable(str(self.folder)), imgui.get_content_region_avail().x)

    def _show_list(self, footer: float) -> None:
        flags = imgui.TableFlags_.scroll_y | imgui.TableFlags_.row_bg | imgui.TableFlags_.borders_outer
        with ui.number_font():
            headings = (
                ui.Heading("name", "", left=True),
                ui.Heading("size", imgui.calc_text_size(_SIZE).x),
                ui.Heading("changed", imgui.calc_text_size(_CHANGED).x),
            )
        entries = self.shown()
        for i in ui.table_rows("##list", headings, len(entries), flags, ImVec2(0, -footer)):
            self._show_entry(entries[i])

    def _show_entry(self, entry: Entry) -> None:
        imgui.table_next_column()
        icon = icons.ICON_FA_FOLDER if entry.is_folder else icons.ICON_FA_FILE
        flags = imgui.SelectableFlags_
        spans = flags.span_all_columns | flags.allow_double_click | flags.no_auto_close_popups
        if imgui.selectable(
            f"{icon}  {ui.literal(entry.text)}###{ui.literal(entry.text)}", entry.text == self.name, spans
        )[0]:
            double = imgui.is_mouse_double_clicked(0)
            if double and entry.is_folder:
                self.go_to(entry.path)
            elif double:
                self._accept(entry.path)
            elif not entry.is_folder or self._purpose is not Purpose.SAVE:
                self.name, self._typed, self.trouble, self._replaces = entry.text, False, "", False
        with ui.number_font():
            imgui.table_next_column()
            if not entry.is_folder:
                ui.text_right(size_text(entry.size), dim_color())
            imgui.table_next_column()
            ui.text_right(time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.changed)), dim_color())

    def _show_choice(self) -> None:
        em = imgui.get_font_size()
        if imgui.is_window_appearing():
            imgui.set_keyboard_focus_here()
        hints = {
            Purpose.OPEN: "name or path; typing filters the list",
            Purpose.SAVE: "name or path of the file",
            Purpose.FOLDER: "this folder, or the path of another",
        }
        imgui.set_next_item_width(-1)
        flags = imgui.InputTextFlags_.enter_returns_true | imgui.InputTextFlags_.auto_select_all
        entered, name = imgui.input_text_with_hint("##name", hints[self._purpose], self.name, flags)
        ui.tooltip("Enter confirms")
        if name != self.name:
            self.name, self._typed, self.trouble, self._replaces = name, True, "", False
        if self._suffixes:
            text = f"all files, not only {' '.join(self._suffixes)}"
            self._every_file = ui.checkbox(text, self._every_file, "List all files")
            imgui.same_line()
        self._hidden = ui.checkbox("hidden", self._hidden, "List names that begin with a dot")
        imgui.same_line()
        width = 6 * em
        imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x - 2 * width - em)
        if ui.button("Cancel", "Cancel (Esc)", width):
            imgui.close_current_popup()
        imgui.same_line()
        label = "Replace" if self._replaces else str(self._purpose)
        if ui.button(f"{label}###accept", "Confirm (Enter)", width) or entered:
            self._confirm()
        if self.trouble:
            ui.paragraph(self.trouble, warning_color())

    def _confirm(self) -> None:
        """Accept the typed or selected path, a name in the folder, or a part that only one listed name contains."""
        if not self.name.strip():
            if self._purpose is Purpose.FOLDER:
                self._accept(self.folder)
            return
        listed = next((entry.path for entry in self.entries if entry.text == self.name), None)
        path = listed or self.folder / Path(self.name.strip()).expanduser()
        found = self.shown()
        if self._purpose is Purpose.OPEN and not _exists(path) and len(found) == 1:
            path = found[0].path
        self._accept(path)

    def _accept(self, path: Path) -> None:
        """Close the dialog with a path, if it fits the purpose; else show the reason, or list the folder."""
        try:
            is_folder, exists = path.is_dir(), path.exists()
        except OSError as error:
            self.trouble = f"cannot read {printable(str(path))} ({error.strerror or error})"
            return
        if self._purpose is Purpose.FOLDER and not is_folder:
            self.trouble = f"{printable(str(path))} is not a folder"
        elif self._purpose is not Purpose.FOLDER and is_folder:
            self.go_to(path)
        elif self._purpose is Purpose.OPEN and not exists:
            self.trouble = f"{printable(str(path))} does not exist"
        elif self._purpose is Purpose.SAVE and not path.parent.is_dir():
            self.trouble = f"{printable(str(path.parent))} is not a folder"
        elif self._purpose is Purpose.SAVE and exists and not self._replaces:
            self.trouble, self._replaces = f"{printable(path.name)} exists", True
        else:
            imgui.close_current_popup()
            self._then(path)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _entry(item: "os.DirEntry[str]") -> Entry | None:
    """Return an entry of a folder; None if it is neither a file nor a folder, or does not exist any more."""
    try:
        status = item.stat()
        is_folder = item.is_dir()
        if not is_folder and not item.is_file():
            return None
    except OSError:
        return None
    return Entry(Path(item.path), printable(item.name), is_folder, status.st_size, status.st_mtime)
