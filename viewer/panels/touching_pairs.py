"""Part of the sensor editor that lists what touches now, each pair a click away from a sensor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imgui_bundle import ImVec2, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ..engines.mujoco.proposals import Proposals, TouchingPair
from ..sensors.contact_declaration import ContactDeclaration, ContactTarget
from .theme import dim_color
from .widgets import dim_text, fit_text, format_number, icon_button, number_font, paragraph, text_right, tooltip

_ROWS = 8
"""Pairs that the list shows at once."""

Sides = frozenset[ContactTarget]


@dataclass(frozen=True)
class PairClick:
    """A pair that a person clicked."""

    pair: TouchingPair
    sensor: str | None
    """A sensor that matches these two already."""


def watched_sides(declared: Mapping[str, ContactDeclaration]) -> dict[Sides, str]:
    """The two sides of each sensor, in any order, and its name."""
    return {frozenset((sensor.first, sensor.second)): name for name, sensor in declared.items()}


def show_pairs(pairs: Sequence[TouchingPair], proposals: Proposals, watched: Mapping[Sides, str]) -> PairClick | None:
    """The list; what was clicked in it."""
    if not pairs:
        paragraph("Nothing touches now.")
        return None
    line = imgui.get_text_line_height() + 2 * imgui.get_style().frame_padding.y
    row = line + 2 * imgui.get_style().cell_padding.y
    size = ImVec2(0, (min(len(pairs), _ROWS) + 1) * row + 2)
    flags = imgui.TableFlags_
    if not imgui.begin_table("##pairs", 4, flags.scroll_y | flags.row_bg | flags.no_pad_outer_x, size):
        return None
    number_font()
    count_width, force_width = imgui.calc_text_size("000").x, imgui.calc_text_size("0000.00").x
    imgui.pop_font()
    imgui.table_setup_scroll_freeze(0, 1)
    imgui.table_setup_column("geoms", imgui.TableColumnFlags_.width_stretch)
    imgui.table_setup_column("contacts", imgui.TableColumnFlags_.width_fixed, count_width)
    imgui.table_setup_column("force", imgui.TableColumnFlags_.width_fixed, force_width)
    imgui.table_setup_column("make", imgui.TableColumnFlags_.width_fixed, imgui.get_frame_height())
    _show_headings()
    clicked = None
    clipper = imgui.ListClipper()
    clipper.begin(len(pairs), row)
    while clipper.step():
        for i in range(clipper.display_start, clipper.display_end):
            pair = pairs[i]
            # By its geoms: rows come and go while the scene runs.
            imgui.push_id(f"{pair.labels[0]} x {pair.labels[1]}")
            first, second = (proposals.target_of_geom(geom) for geom in pair.geoms)
            clicked = _show_row(pair, first, second, watched.get(frozenset((first, second)))) or clicked
            imgui.pop_id()
    imgui.end_table()
    return clicked


def _show_headings() -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    dim_text("geoms")
    tooltip("Object 1 and object 2; forces act on the second")
    for text, help_text in (("n", "Contacts between them"), ("N", "Sum of their normal forces [N]")):
        imgui.table_next_column()
        text_right(text, dim_color())
        tooltip(help_text)
    imgui.table_next_column()


def _show_row(pair: TouchingPair, first: ContactTarget, second: ContactTarget, sensor: str | None) -> PairClick | None:
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.align_text_to_frame_padding()
    label = f"{pair.labels[0]} × {pair.labels[1]}"
    imgui.text_unformatted(fit_text(label, imgui.get_content_region_avail().x))
    tooltip(label)
    number_font()
    for text in (str(pair.count), format_number(pair.force, 2)):
        imgui.table_next_column()
        imgui.align_text_to_frame_padding()
        text_right(text)
    imgui.pop_font()
    imgui.table_next_column()
    nameless = not first.name and not second.name
    imgui.begin_disabled(nameless)
    pressed = icon_button(icons.ICON_FA_EYE if sensor else icons.ICON_FA_PLUS, "make")
    imgui.end_disabled()
    if nameless:
        tooltip("Neither of them has a name that a sensor could go by")
    elif sensor:
        tooltip(f"Sensor {sensor} matches these two: select it")
    else:
        tooltip(f"Make a sensor: {first} × {second}")
    return PairClick(pair, sensor) if pressed else None
