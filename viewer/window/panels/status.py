"""Status bar: who steps, who draws, and whether they keep up."""

from imgui_bundle import hello_imgui, imgui

from ...engines.logged_steps import LoggedSteps
from ...session.loop import Loop
from ...session.session import Session
from ..shell import Shell
from ..theme import warning_color
from ..widgets import dim_text, tooltip
from .log_band import log_text

SOLVED = "solved again by MuJoCo"
SOLVED_AGAIN = (
    "Solved again by MuJoCo: your engine has not said where these contacts are, or with which forces. They may differ"
    " from those that acted."
)
"""What the screen says of contacts that are not those of the engine that took the step."""
_SEPARATOR = "  ·  "
UNPROVEN = (
    "Taken again here, these steps lead to another state than in your program: it changes states or inputs after its"
    " steps, or has callbacks. Contacts shown there may differ from those of the step"
)


def show_status(shell: Shell) -> None:
    """The bar's content."""
    session = shell.app.session
    engines = session.engine.name + (f" and {session.ghost.name} as ghosts" if session.ghost else "")
    if session.num_envs > 1:
        engines += f", environment {session.env + 1} of {session.num_envs}"
    dim_text(f"{engines}{_SEPARATOR}{shell.renderer}, {shell.quality} quality")
    ignored = session.engine.ignored or (session.ghost.ignored if session.ghost else ())
    tooltip(
        "Engine; renderer and quality. --quality low or high overrides"
        + (f"\nThis engine does not know: {', '.join(ignored)}" if ignored else "")
    )
    imgui.same_line(0, 0)
    dim_text(_SEPARATOR)
    imgui.same_line(0, 0)
    _show_pace(session)
    imgui.same_line(0, 0)
    # Those who watch from elsewhere see another rate than is drawn.
    rate = f"{_SEPARATOR}{hello_imgui.frame_rate():4.0f} fps" if shell.audience is None else ""
    dim_text(f"{rate}{_SEPARATOR}{_contacts_text(session)}")
    tooltip("Frames per second; contacts that the shown sensors report, each counted once")
    labels, wanted = shell.label_count
    if labels < wanted:
        imgui.same_line(0, 0)
        imgui.text_colored(warning_color(), f", {labels} of {wanted} labels")
        tooltip("There is no room for all labels: go nearer, or hide some of the sensors")
    if shell.audience is not None and shell.audience.text:
        imgui.same_line(0, 0)
        dim_text(f"{_SEPARATOR}{shell.audience.text}")
        tooltip("Browsers that watch; pictures a second that they show; from a picture to its sight there")
    if session.history is not None:
        imgui.same_line(0, 0)
        history = session.history
        dim_text(f"{_SEPARATOR}history {history.seconds:.0f} s, {history.bytes / 2**20:.0f} MB")
        tooltip("What is kept to go back to. Click the time to change how much")


def posed_text(session: Session) -> str:
    """What the screen says of a pose that no step has led to."""
    if session.engine.has_contact_list:
        return "posed by hand: contacts are as found, forces are known from the next step on"
    engine = session.engine.name.split()[0]
    return f"posed by hand: {engine} finds contacts in steps alone, those shown are of the last one"


def _show_pace(session: Session) -> None:
    if session.loop is not None:
        _show_loop(session, session.loop)
    elif session.logged is not None:
        _show_log(session, session.logged)
    elif session.paused and session.drive.is_posed:
        imgui.text_colored(warning_color(), posed_text(session))
    elif session.paused:
        dim_text("paused")
    elif session.pace.behind or session.pace.achieved < 0.9 * session.pace.speed:
        imgui.text_colored(warning_color(), f"{session.pace.achieved:.2f}x real time, cannot keep up")
        tooltip("Physics takes longer than real time at this speed; the window stays responsive")
    else:
        dim_text(f"{session.pace.achieved:.2f}x real time")


def _show_log(session: Session, logged: LoggedSteps) -> None:
    state = "paused" if session.paused else f"{session.pace.achieved:.2f}x real time"
    dim_text(f"{log_text(session, logged)}, {state}")
    tooltip("The steps are those of this file, taken again and compared with it")
    verdicts = logged.verdicts
    if verdicts.first is not None:
        imgui.same_line(0, 0)
        inexact = [f"{verdicts.close} steps close"] if verdicts.close else []
        inexact += [f"{verdicts.unknown} not reached"] if verdicts.unknown else []
        imgui.text_colored(warning_color(), f", {', '.join(inexact)}")
        tooltip(logged.summary())


def _show_loop(session: Session, loop: Loop) -> None:
    history = session.history
    unproven = len(history.marks) if history is not None else 0
    state = "paused" if loop.paused else "waiting for your loop" if loop.quiet else "your loop"
    dim_text(state if session.live else f"{state}, a past step is shown")
    tooltip("Your program takes the steps; Space holds it in its next sync(), Right lets one through")
    if loop.skipped:
        imgui.same_line(0, 0)
        imgui.text_colored(warning_color(), f", {loop.skipped} steps skipped")
        tooltip("Your program was faster than its steps could be taken again here: these are not in the history")
    if any(sensor.solved_again for sensor in session.shown_sensors):
        imgui.same_line(0, 0)
        imgui.text_colored(warning_color(), f", {SOLVED}")
        tooltip(SOLVED_AGAIN)
    if unproven:
        imgui.same_line(0, 0)
        imgui.text_colored(warning_color(), f", {unproven} steps not exact")
        tooltip(UNPROVEN)


def _contacts_text(session: Session) -> str:
    """How many contacts there are to see."""
    count, net = session.distinct_contacts
    text = f"{count} contact{'' if count == 1 else 's'}"
    if net:
        text = f"{text} and {net} net" if count else f"{net} net contact{'' if net == 1 else 's'}"
    gizmos = session.settings.gizmos
    if (count or net) and not gizmos.points and not gizmos.forces:
        text += ", points and forces are off (C, F)"
    return text
