"""Rows of names and sliders, limb by limb, in the Controls window."""

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

from imgui_bundle import imgui, imgui_ctx

from ...mjmodel.actuators import Actuator, Joint
from ..widgets import number_font, tooltip

T = TypeVar("T", Actuator, Joint)
_GROUPED_FROM = 10
"""Rows from which on limbs have a heading each."""


def by_limb(rows: Sequence[T], total: int) -> Iterator[tuple[list[T], list[str]]]:
    """Rows limb by limb, each under a heading that is open, with a short name for each; all together where they are
    few of `total`."""
    limbs = dict.fromkeys(each.limb for each in rows)
    if total < _GROUPED_FROM or len(limbs) < 2:
        if rows:
            yield list(rows), [each.name for each in rows]
        return
    for limb in limbs:
        members = [each for each in rows if each.limb == limb]
        title = f"{limb or 'others'} ({len(members)})###limb {limb}"
        if imgui.collapsing_header(title, imgui.TreeNodeFlags_.default_open):
            yield members, short_names([each.name for each in members])


def short_names(names: Sequence[str]) -> list[str]:
    """Names without the words that all of them begin or end with: `left_hip_joint`, `left_knee_joint` are hip, knee."""
    words = [name.split("_") for name in names]
    shortest = min((len(parts) for parts in words), default=0)
    if len(words) < 2:
        return list(names)
    start = 0
    while start < shortest - 1 and len({parts[start] for parts in words}) == 1:
        start += 1
    end = 0
    while end < shortest - 1 - start and len({parts[-1 - end] for parts in words}) == 1:
        end += 1
    return ["_".join(parts[start : len(parts) - end]) for parts in words]


def begin_rows(name: str, columns: int) -> bool:
    """A table with names, values, and, with three columns, forces; True if it is to be filled and ended."""
    if not imgui.begin_table(name, columns, imgui.TableFlags_.sizing_stretch_prop | imgui.TableFlags_.pad_outer_x):
        return False
    imgui.table_setup_column("name", imgui.TableColumnFlags_.width_stretch, 0.42)
    imgui.table_setup_column("value", imgui.TableColumnFlags_.width_stretch, 0.58)
    if columns > 2:
        with number_font():
            width = imgui.calc_text_size("-0000.00").x
        imgui.table_setup_column("force", imgui.TableColumnFlags_.width_fixed, width)
    return True


def next_row(name: str) -> None:
    """Begin a row, whose items have ids of their own until `imgui.pop_id`."""
    imgui.push_id(name)
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.align_text_to_frame_padding()


def slider(
    name: str, value: float, low: float, high: float, unit: str, decimals: int | None = None, help_text: str = ""
) -> tuple[bool, float]:
    """A slider as wide as its column; Ctrl+click to type a number, also one out of its range. `decimals`: by its range
    where not given."""
    imgui.set_next_item_width(-1)
    if decimals is None:
        decimals = min(max(4 - math.ceil(math.log10(high - low)), 1), 5)
    value = 0.0 if abs(value) < 0.5 * 10**-decimals else value
    # The number is read over the grab.
    grab = imgui.get_style().color_(imgui.Col_.frame_bg_active)
    with (
        number_font(),
        imgui_ctx.push_style_color(imgui.Col_.slider_grab, grab),
        imgui_ctx.push_style_color(imgui.Col_.slider_grab_active, grab),
    ):
        changed, new = imgui.slider_float(f"###{name}", value, low, high, f"%.{decimals}f {unit}".rstrip())
    about = help_text or f"{low:.4g} to {high:.4g} {unit}".rstrip()
    tooltip(f"{about}\nDrag, or Ctrl+click to type a number")
    return changed, float(new)
