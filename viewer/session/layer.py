"""Describes a layer: something that can be drawn of a session, what turns it on, and what its colours mean."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engines.contact_sensor import ContactSensor
from ..mjmodel.balance import Balance
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
        """`scale`: sizes of gizmos, if not those of the session's last picture."""
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
    def balance(self) -> Balance | None:
        """The balance of the selected sensor's body, where the engine reports it."""
        session = self.session
        if session.diagnostics is None or session.selected is None:
            return None
        return session.diagnostics.balance(session.selected)

    @cached_property
    def forces(self) -> ForceTable | None:
        """The forces by kind on the body that is explained, where they are known."""
        diagnostics, body = self.session.diagnostics, self.session.explained_body
        if diagnostics is None or body is None:
            return None
        return diagnostics.forces(body, self.gizmos.body_alone)

    @cached_property
    def support(self) -> Support | None:
        """What the robot of the explained body stands on, where that is known."""
        diagnostics, body = self.session.diagnostics, self.session.explained_body
        return None if diagnostics is None or body is None else diagnostics.support(body)

    @cached_property
    def visible(self) -> NDArray[np.intp]:
        """Places of the visible sensors among all."""
        return np.flatnonzero(self.session.are_visible)

    @property
    def shown(self) -> Iterator[tuple[int, ContactSensor]]:
        """The visible sensors, each with its position among all."""
        sensors = self.session.engine.sensors
        return ((i, sensors[i]) for i in self.visible.tolist())

    @cached_property
    def nets(self) -> set[bool]:
        """What the visible sensors report: True for net contacts, False for others."""
        net = self.session.engine.sensors.is_net[self.visible]
        return {kind for kind, is_there in ((True, net.any()), (False, not net.all())) if is_there}


@dataclass(frozen=True)
class Layer:
    """Something that can be drawn of a session.

    What draws it is one of `point`, `arrows`, `contacts`, `glyphs` and `geoms`; without any of them it is drawn by the
    window alone, or is a switch that others need.
    """

    flag: str | None = None
    """Field of `GizmoSettings` that turns it on; None if it is always on."""
    label: str = ""
    """In the Display panel; empty if a person cannot turn it on."""
    tooltip: str = ""
    needs: str | None = None
    """Field of `GizmoSettings` without which it draws nothing."""
    unless: str | None = None
    """Field of `GizmoSettings` that turns it off."""
    applies: Callable[[Session], bool] = lambda session: True
    """False for a session in which there is nothing that it could draw."""
    own_row: bool = False
    """True if its label leaves no room for another one beside it."""
    legend: Callable[[DrawContext], Sequence[LegendEntry]] | None = None
    """What its colours mean; None if its arrows have it, or nothing."""
    point: ColorOf | None = None
    """A sphere at every contact."""
    arrows: tuple[ContactArrow, ...] = ()
    """Arrows at every contact."""
    contacts: Callable[[DrawContext], list[SensorGlyphs]] | None = None
    """Contacts that are to have spheres and arrows."""
    glyphs: Callable[[DrawContext], Glyphs | None] | None = None
    """Glyphs anywhere."""
    strongest: Callable[[DrawContext], float] | None = None
    """The strongest of the forces that it draws elsewhere than at contacts [N], for the choice of a scale."""
    geoms: Callable[[DrawContext, Any], None] | None = None
    """Adds shapes to an updated `MjvScene`."""

    @property
    def colored_by_sensor(self) -> bool:
        """True if `ColorMode.SENSOR` draws it in the colours of sensors."""
        return self.point is not None or bool(self.arrows)

    def is_on(self, gizmos: GizmoSettings) -> bool:
        if self.flag is not None and not getattr(gizmos, self.flag):
            return False
        if self.needs is not None and not getattr(gizmos, self.needs):
            return False
        return self.unless is None or not getattr(gizmos, self.unless)

    def legend_entries(self, context: DrawContext) -> Sequence[LegendEntry]:
        """What its colours mean, given that it is on."""
        if self.legend is not None:
            return self.legend(context)
        arrows = [arrow for arrow in self.arrows if arrow.net in (None, *context.nets)]
        return [LegendEntry(arrow.color(context.colors), arrow.text, True) for arrow in arrows]
