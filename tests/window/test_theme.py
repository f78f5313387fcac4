"""The look of the window: greys, and one colour for warnings."""

import pytest
from contact_viewer.settings import Theme
from contact_viewer.window.theme import apply_theme, warning_color
from imgui_bundle import imgui


@pytest.mark.parametrize("theme", Theme)
def test_saturated_colour_belongs_to_contacts_alone(theme: Theme) -> None:
    before, context = imgui.get_current_context(), imgui.create_context()
    try:
        imgui.set_current_context(context)
        apply_theme(theme)
        style, warning = imgui.get_style(), warning_color()
        colors = {each.name: style.color_(each) for each in imgui.Col_ if each is not imgui.Col_.count}
        tinted = {name for name, c in colors.items() if max(c.x, c.y, c.z) - min(c.x, c.y, c.z) > 0.001}
        assert {name for name in tinted if colors[name] != warning} == set()
        assert tinted
    finally:
        imgui.destroy_context(context)
        if before is not None:
            imgui.set_current_context(before)
