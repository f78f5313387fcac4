"""Describes a layer: something that can be drawn of a session, the setting that turns it on, and its legend."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engines.contact_sensor import ContactSensor
from ..mjmodel.force_kinds import ForceTable
from ..mjmodel.support import Support
from ..render.glyphs import Glyphs
from ..render.style import RGBA, GlyphScale, PaletteColors, palette_colors
from ..settings import GizmoSettings
from .contact_glyphs import ColorOf, ContactArrow, SensorGlyphs
from .session import Session


class LegendEntry(NamedTuple):
    """A colour and its meaning."""

    color: RGBA
    text: str
    is_arrow: bool


class DrawContext:
    """A session with what its layers share while they are drawn."""

    def __init__(self, session: Session, scale: GlyphScale | None = None) -> None:
        """Begin drawing a session. `scale`: sizes of gizmos; by default those of the session's last frame."""
        self.session = session
        self.gizmos = session.settings.gizmos
        self._scale = scale

    @cached_property
    def scale(self) -> GlyphScale:
        return self._scale or self.session.scale

    @cached_property
    def colors(self) -> PaletteColors:
        return palette_colors(self.session.engine.model, self.gizmos.palette)

    @cached_property
    def balance(self) -> ForceTable | None:
        """Forces on the tree of the selected sensor's body; None where they are not known."""
        diagnostics, name = self.session.diagnostics, self.session.selected
        body = None if diagnostics is None or name is None else diagnostics.balanced_body(name)
        return None if diagnostics is None or body is None else diagnostics.forces(body)

    @cached_property
    def forces(self) -> ForceTable | None:
        """Forces by kind on the body that is explained; None where they are not known."""
        diagnostics, body = self.session.diagnostics, self.session.explained_body
        if diagnostics is None or body is None:
            return None
        return diagnostics.forces(body, self.gizmos.body_alone)

    @cached_property
    def support(self) -> Support | None:
        """Support polygon and centre of pressure of the explained body's robot; None where they are not known."""
        diagnostics, body = self.session.diagnostics, self.session.explained_body
        return None if diagnostics is None or body is None else diagnostics.support(body)

    @cached_property
    def visible(self) -> NDArray[np.intp]:
        """Indices of the visible sensors among all, (visible,)."""
        return np.flatnonzero(self.session.are_visible)

    @property
    def shown(self) -> Iterator[tuple[int, ContactSensor]]:
        """Visible sensors, each with its index among all."""
        sensors = self.session.engine.sensors
        return ((i, sensors[i]) for i in self.visible.tolist())

    @cached_property
    def nets(self) -> set[bool]:
        """Kinds of contact that the visible sensors report: True for net contacts, False for others."""
        net = self.session.engine.sensors.is_net[self.visible]
        return {kind for kind, is_there in ((True, net.any()), (False, not net.all())) if is_there}


@dataclass(frozen=True)
class Layer:
    """Kind of drawing that can be switched on in a session.

    It is drawn by one of `point`, `arrows`, `contacts`, `glyphs` and `geoms`; without any of these only the window
    draws it, or it is a switch that other layers need.
    """

    flag: str | None = None
    """Field of `GizmoSettings` that turns the layer on; None if the layer is always on."""
    label: str = ""
    """Name in the Display panel; empty if the user cannot turn the layer on."""
    tooltip: str = ""
    needs: str | None = None
    """Field of `GizmoSettings` without which the layer draws nothing."""
    unless: str | None = None
    """Field of `GizmoSettings` that turns the layer off."""
    applies: Callable[[Session], bool] = lambda session: True
    """Function that returns False for a session in which the layer has nothing to draw."""
    own_row: bool = False
    """True if the label leaves no room for another label beside it."""
    legend: Callable[[DrawContext], Sequence[LegendEntry]] | None = None
    """Function that returns the legend; None if the arrows give the legend, or if there is none."""
    point: ColorOf | None = None
    """Colour of a sphere at every contact."""
    arrows: tuple[ContactArrow, ...] = ()
    """Arrows at every contact."""
    contacts: Callable[[DrawContext], list[SensorGlyphs]] | None = None
    """Function that returns contacts, which get spheres and arrows."""
    glyphs: Callable[[DrawContext], Glyphs | None] | None = None
    """Function that returns glyphs at any place."""
    strongest: Callable[[DrawContext], float] | None = None
    """Function that returns the strongest force that the layer draws elsewhere than at contacts [N], for the scale."""
    geoms: Callable[[DrawContext, Any], None] | None = None
    """Function that adds shapes to an updated `MjvScene`."""

    @property
    def colored_by_sensor(self) -> bool:
        """True if `ColorMode.SENSOR` draws the layer in the colours of sensors."""
        return self.point is not None or bool(self.arrows)

    def is_on(self, gizmos: GizmoSettings) -> bool:
        if self.flag is not None and not getattr(gizmos, self.flag):
            return False
        if self.needs is not None and not getattr(gizmos, self.needs):
            return False
        return self.unless is None or not getattr(gizmos, self.unless)

    def legend_entries(self, context: DrawContext) -> Sequence[LegendEntry]:
        """Return the meaning of each colour of a layer that is on."""
        if self.legend is not None:
            return self.legend(context)
        arrows = [arrow for arrow in self.arrows if arrow.net in (None, *context.nets)]
        return [LegendEntry(arrow.color(context.colors), arrow.text, True) for arrow in arrows]
