"""Findings window: problems of the scene's contacts, and fixes for them."""

from imgui_bundle import ImVec4, imgui

from ...checks.finding import Finding, Severity
from .. import widgets as ui
from ..shell import Dock, Panel, Shell

_COLORS = {
    Severity.ERROR: ImVec4(0.93, 0.35, 0.3, 1.0),
    Severity.WARNING: ImVec4(0.9, 0.65, 0.2, 1.0),
    Severity.NOTE: ImVec4(0.55, 0.6, 0.65, 1.0),
}


class FindingsPanel:
    """Content of the Findings window, the worst finding first."""

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        findings = shell.app.findings
        reason = findings.why_not()
        with ui.disabled(findings.is_busy or reason is not None):
            text = "Simulate one second from each keyframe in another process, and check the contacts"
            if ui.button("Check runs", reason or text):
                findings.check()
        imgui.same_line()
        ui.dim_text("checking…" if findings.is_busy else _state(shell))
        if findings.trouble:
            ui.paragraph(findings.trouble, _COLORS[Severity.WARNING])
        for place, finding in enumerate(findings.found):
            imgui.push_id(str(place))
            _show(shell, finding)
            imgui.pop_id()
        for line in findings.unchecked:
            ui.paragraph(f"Not checked: {line}")


def _state(shell: Shell) -> str:
    findings = shell.app.findings
    if not findings.found:
        return "nothing found" if findings.ran else "nothing found in the model; runs not checked yet"
    count = f"{len(findings.found)} finding{'s' * (len(findings.found) > 1)}"
    return count if findings.ran else f"{count} in the model"


def _show(shell: Shell, finding: Finding) -> None:
    app = shell.app
    with ui.text_color(_COLORS[finding.severity]):
        chosen = imgui.selectable(f"{finding.severity.word} {finding.rule}###finding", False)[0]
    ui.tooltip("Go to the start, step and contact that show it")
    if chosen:
        app.findings.go_to(app.session, finding)
    ui.paragraph(finding.text)
    if finding.remedy:
        ui.paragraph(finding.remedy)
    if (fix := finding.fix) is not None:
        ui.dim_text(f"{fix.before} before, {fix.after} after")
        if fix.edits and ui.button("Apply###fix", f"Write {fix.description} into the scene's file (Ctrl+Z undoes it)"):
            app.notices.attempt(lambda: app.findings.apply(finding))
    imgui.spacing()


PANEL = Panel("Findings", Dock.BOTTOM, FindingsPanel)
