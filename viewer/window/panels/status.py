"""Status bar: engine, renderer, speed, contacts and memory."""

from imgui_bundle import hello_imgui, imgui

from ...session.session import Session
from ...session.simulation import StatusPart
from .. import widgets as ui
from ..shell import Shell
from ..theme import warning_color

PLACED = "placed by MuJoCo"
PLACED_AGAIN = (
    "Forces are those of your engine, whose arrays do not say where they act: drawn where MuJoCo finds the contacts in"
    " the state that was handed over"
)
SOLVED = "re-solved by MuJoCo"
SOLVED_AGAIN = (
    "Re-solved by MuJoCo: your engine did not pass these contacts or their forces, so they may differ from those that"
    " acted. Pass sensordata to `sync` to see your engine's own."
)
"""Tooltip for contacts that MuJoCo re-solved because the engine that took the step did not pass them."""
_BESIDE = 200.0
"""Largest width of the name of a run beside [px]."""
_SEPARATOR = "  ·  "


def show_status(shell: Shell) -> None:
    """Draw the status bar."""
    session = shell.app.session
    engines = session.engine.name + "".join(f", {ui.fit_text(run.title, _BESIDE)} beside" for run in session.beside)
    if session.num_envs > 1:
        engines += f", environment {session.env + 1} of {session.num_envs}"
    ui.dim_text(f"{engines}{_SEPARATOR}{shell.renderer}, {shell.quality} quality")
    ignored = dict.fromkeys(name for engine in session.engines for name in engine.ignored)
    ui.tooltip(
        "Engine; renderer and rendering quality (--quality)"
        + (f"\nNot supported by this engine: {', '.join(ignored)}" if ignored else "")
    )
    imgui.same_line(0, 0)
    ui.dim_text(_SEPARATOR)
    imgui.same_line(0, 0)
    _show_pace(session)
    imgui.same_line(0, 0)
    # Those who watch from elsewhere see another rate than is drawn.
    rate = f"{_SEPARATOR}{hello_imgui.frame_rate():4.0f} fps" if shell.audience is None else ""
    ui.dim_text(f"{rate}{_SEPARATOR}{_contacts_text(session)}")
    ui.tooltip("Frames per second; contacts of the shown sensors, each counted once, of all contacts")
    labels, wanted = shell.label_count
    if labels < wanted:
        imgui.same_line(0, 0)
        imgui.text_colored(warning_color(), f", {labels} of {wanted} labels")
        ui.tooltip("Not enough room for all labels: zoom in, or hide some sensors")
    if shell.audience is not None and shell.audience.text:
        imgui.same_line(0, 0)
        ui.dim_text(f"{_SEPARATOR}{shell.audience.text}")
        ui.tooltip("Viewers; frames per second; latency")
    if session.history is not None:
        imgui.same_line(0, 0)
        history = session.history
        ui.dim_text(f"{_SEPARATOR}history {history.seconds:.0f} s, {history.bytes / 2**20:.0f} MB")
        ui.tooltip("History to go back to. Click the time to change its size")
        if session.filling is not None and (part := session.filling.progress) is not None:
            imgui.same_line(0, 0)
            ui.dim_text(f", filling in curves {100 * part:3.0f} %")
            ui.tooltip("Computing past values of the new sensors, the newest first")


def _show_pace(session: Session) -> None:
    """Draw the source of the steps, their speed and their exactness."""
    parts = session.source.status(session)
    if any(sensor.solved_again for sensor in session.shown_sensors):
        parts.append(StatusPart(f", {SOLVED}", SOLVED_AGAIN, is_warning=True))
    for number, part in enumerate(parts):
        if number:
            imgui.same_line(0, 0)
        if part.is_warning:
            imgui.text_colored(warning_color(), part.text)
        else:
            ui.dim_text(part.text)
        if part.tooltip:
            ui.tooltip(part.tooltip)


def _contacts_text(session: Session) -> str:
    """Return the number of contacts as text."""
    count, net = session.distinct_contacts
    text = f"{count} contact{'' if count == 1 else 's'}"
    if net:
        text = f"{text} and {net} net" if count else f"{net} net contact{'' if net == 1 else 's'}"
    others = len(session.unwatched_contacts)
    if others and not net:
        text = f"{count} of {count + others} contacts watched"
    elif others:
        text += f", {others} not watched"
    gizmos = session.settings.gizmos
    if (count or net) and not gizmos.points and not gizmos.forces:
        text += ", points and forces are hidden (C, F)"
    return text
