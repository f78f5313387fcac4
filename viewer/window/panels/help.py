"""Shows first steps, and what this program is."""

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from imgui_bundle import ImVec2, imgui

from ...version import __version__
from ..shell import Shell
from ..widgets import button, dim_text, paragraph

_FIRST_STEPS = (
    (
        "Play",
        "Space plays and pauses, Right and Left step, Backspace resets. Drag the slider below to go back in time.",
    ),
    (
        "Look",
        "Left drag orbits, right drag pans, the wheel zooms. A double click selects a body; Ctrl+right drag pulls it.",
    ),
    (
        "Read",
        "White spheres are contacts, green arrows normal forces, red and blue friction. Point at one for its numbers; "
        "the Inspector names every value of a sensor's array.",
    ),
    (
        "Measure",
        "The + of the Sensors panel makes a sensor: from what touches now, or from a body that you right-click.",
    ),
    ("Find", "Plots and Events show when contacts began and how hard they were: click a row to go there."),
    ("Keep", "F9 records a video, Ctrl+P a screenshot; `contact-viewer export` writes tables."),
)
_DOCUMENTATION = (
    ("In this window", "F1 lists keys and mouse. Point at a control to read what it does."),
    (
        "On the command line",
        "`contact-viewer --help` lists the commands and the options of the window, `contact-viewer COMMAND --help` "
        "those of a command, its file formats and the columns of its tables.",
    ),
    (
        "Scenes",
        "`contact-viewer scenes` lists the bundled ones. `contact-viewer inspect SCENE` describes the contact sensors "
        "of a scene and every value of their arrays.",
    ),
    (
        "In Python",
        "`help(contact_viewer)` lists what a program can use, `help(contact_viewer.launch)` explains one of them.",
    ),
)
FIRST_STEPS, DOCUMENTATION, ABOUT = "First steps", "Documentation", "About"


def show_help_page(shell: Shell) -> None:
    """The page that is open, if there is one."""
    if shell.help_page is None:
        return
    imgui.set_next_window_pos(imgui.get_main_viewport().get_center(), imgui.Cond_.appearing, ImVec2(0.5, 0.5))
    imgui.set_next_window_size(ImVec2(32 * imgui.get_font_size(), 0))
    flags = imgui.WindowFlags_.no_docking | imgui.WindowFlags_.no_collapse | imgui.WindowFlags_.no_saved_settings
    expanded, opened = imgui.begin(f"{shell.help_page}###help page", True, flags)
    if expanded:
        if shell.help_page == ABOUT:
            _show_about()
        else:
            _show_subjects(_FIRST_STEPS if shell.help_page == FIRST_STEPS else _DOCUMENTATION)
    imgui.end()
    if not opened:
        shell.help_page = None


def show_help_menu(shell: Shell) -> None:
    """Entries of the Help menu."""
    if imgui.menu_item_simple(FIRST_STEPS):
        shell.help_page = FIRST_STEPS
    if imgui.menu_item_simple("Keys and mouse", "F1"):
        shell.help_shown = True
    if imgui.menu_item_simple(DOCUMENTATION):
        shell.help_page = DOCUMENTATION
    if imgui.menu_item_simple(ABOUT):
        shell.help_page = ABOUT


def about_text() -> str:
    """Versions of this program and of what it stands on, one a line."""
    lines = [f"contact-viewer {__version__}, Apache-2.0"]
    for package in ("mujoco", "motrixsim", "imgui-bundle", "numpy"):
        try:
            lines.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return "\n".join(lines)


def _show_subjects(subjects: Iterable[tuple[str, str]]) -> None:
    for title, text in subjects:
        imgui.text_unformatted(title)
        paragraph(text)
        imgui.spacing()


def _show_about() -> None:
    imgui.text_unformatted("See what a scene's contact sensors say.")
    imgui.spacing()
    dim_text(about_text())
    imgui.spacing()
    if button("Copy", "Versions, for a report of a problem"):
        imgui.set_clipboard_text(about_text())
